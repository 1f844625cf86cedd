"""Layers with unstructured weights, against dense ones."""

import nm
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402


def draw_layer(share=0.1, inputs=300, outputs=70):
    layer = torch.nn.Linear(inputs, outputs)
    with torch.no_grad():
        layer.weight[torch.rand_like(layer.weight) > share] = 0
        layer.weight[3] = 0
    return layer


@pytest.mark.parametrize("rows", [1, 6, 50])
def test_layers_are_as_dense_ones(rows):
    torch.manual_seed(1)
    dense = draw_layer()
    sparse = nm.torch.NMLinear.from_dense(dense, "unstructured")
    x = torch.randn(rows, 300)
    with torch.no_grad():
        torch.testing.assert_close(sparse(x), dense(x), rtol=1e-4, atol=1e-4)
    assert torch.equal(sparse.dense_weight(), dense.weight)
    again = nm.torch.NMLinear(300, 70, sparse.pattern)
    again.load_state_dict(sparse.state_dict())
    assert torch.equal(again.to_dense().weight, dense.weight)


def test_kept_weights_are_trained():
    torch.manual_seed(2)
    dense = draw_layer()
    sparse = nm.torch.NMLinear.from_dense(dense, "unstructured")
    x = torch.randn(20, 300, requires_grad=True)
    mask = dense.weight.detach() != 0
    grads = []
    for layer in (dense, sparse):
        x.grad = None
        layer(x).square().sum().backward()
        grads.append((layer.weight.grad, x.grad))
    torch.testing.assert_close(grads[1][0], grads[0][0] * mask, rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(grads[1][1], grads[0][1], rtol=1e-4, atol=1e-3)


def test_models_are_sparsified():
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(128, 96), torch.nn.ReLU(),
                                torch.nn.Linear(96, 40))
    with pytest.raises(nm.PatternError, match="expected sparsity"):
        nm.torch.sparsify(model, "unstructured", prune=True, force=True)
    nm.torch.sparsify(model, "unstructured", prune=True, force=True, sparsity=0.9)
    kept = [int((layer.dense_weight() != 0).sum()) for layer in (model[0], model[2])]
    assert kept == [1229, 384]
    x = torch.randn(9, 128)
    dense = torch.nn.Sequential(model[0].to_dense(), torch.nn.ReLU(), model[2].to_dense())
    with torch.no_grad():
        torch.testing.assert_close(model(x), dense(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
@pytest.mark.parametrize("dtype,limit", [(torch.float32, 1e-5), (torch.float16, 2e-3)])
def test_models_are_exported(target, dtype, limit):
    torch.manual_seed(4)
    for rows, sparsity in ((1, 0.9), (8, 0.5), (33, 0.9)):
        model = torch.nn.Sequential(torch.nn.Linear(130, 96)).to(dtype).eval()
        nm.torch.sparsify(model, "unstructured", prune=True, force=True, sparsity=sparsity)
        x = torch.randn(rows, 130).to(dtype)
        layer = model[0].to_dense()
        wanted = x.double() @ layer.weight.double().T + layer.bias.double()
        got = nm.torch.export(model, x).compile(target=target)(x).double()
        assert (got - wanted).norm() < limit * wanted.norm(), (rows, sparsity)
