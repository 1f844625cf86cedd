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


def draw_offsets(dtype=torch.float32, inputs=520, outputs=70):
    """A layer so sparse that its indices are offsets; some gaps are long."""
    dense = draw_layer(0.04, inputs, outputs).to(dtype)
    with torch.no_grad():
        dense.weight[5] = 0
        dense.weight[5, -1] = 1
    sparse = nm.torch.NMLinear.from_dense(dense, "unstructured")
    assert sparse.sparse_weight().index_form == "offsets"
    assert (sparse.indices.reshape(-1)[4 * 71:] == 255).any()
    return dense, sparse


def as_bitmap(layer):
    """The same layer with a bitmap."""
    w = layer.sparse_weight().with_index_form("bitmap")
    return nm.torch.NMLinear.from_sparse(w, layer.bias)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_layers_with_offsets(dtype):
    torch.manual_seed(5)
    dense, sparse = draw_offsets(dtype)
    bitmap = as_bitmap(sparse)
    assert torch.equal(sparse.dense_weight(), dense.weight)
    x = torch.randn(9, 520, requires_grad=True).to(dtype)
    with torch.no_grad():
        assert torch.equal(sparse(x), bitmap(x))
        assert torch.equal(torch.compile(sparse, backend="eager")(x), bitmap(x))
    gradients = []
    for layer in (sparse, bitmap):
        for mode in (True, False):
            layer.train(mode)
            layer.values.grad = None
            gradient, = torch.autograd.grad(layer(x).square().sum(), x)
            layer(x).square().sum().backward()
            gradients.append((gradient, layer.values.grad))
    for train, other in ((0, 2), (1, 3)):
        assert all(map(torch.equal, gradients[train], gradients[other]))
    assert torch.equal(sparse.half().dense_weight(), bitmap.half().dense_weight())


def test_states_with_offsets(tmp_path):
    """A layer takes the form that a state has, whichever it had."""
    torch.manual_seed(6)
    dense, sparse = draw_offsets()
    bitmap, x = as_bitmap(sparse), torch.randn(3, 520)
    for source, form in ((sparse, "offsets"), (bitmap, "bitmap"), (sparse, "offsets")):
        for target in (nm.torch.NMLinear(520, 70, sparse.pattern), bitmap, sparse):
            for assign in (False, True):
                other = nm.torch.NMLinear(520, 70, sparse.pattern)
                other.load_state_dict(target.state_dict())
                other.load_state_dict(source.state_dict(), assign=assign)
                assert other.sparse_weight().index_form == form
                assert torch.equal(other.dense_weight(), dense.weight)
                with torch.no_grad():
                    assert torch.equal(other(x), sparse(x))
    state = sparse.state_dict()
    state["indices"] = state["indices"][:8]
    with pytest.raises(RuntimeError, match="indices"):
        nm.torch.NMLinear(520, 70, sparse.pattern).load_state_dict(state)
    state["indices"] = sparse.indices.clone()
    state["indices"][4] = 255
    with pytest.raises(nm.PatternError, match="offsets of"):
        nm.torch.NMLinear(520, 70, sparse.pattern).load_state_dict(state)


def test_weights_of_another_form_are_assigned():
    torch.manual_seed(7)
    dense, sparse = draw_offsets()
    other = torch.zeros_like(dense.weight)
    other[:, 200] = 1
    kept = sparse.pattern.n
    sparse.weight = other
    assert sparse.pattern.n == kept and torch.equal(sparse.dense_weight(), other)
    x = torch.randn(3, 520)
    with torch.no_grad():
        torch.testing.assert_close(sparse(x), x @ other.T + dense.bias)


def test_models_with_offsets_are_saved(tmp_path):
    torch.manual_seed(8)

    def model():
        return torch.nn.Sequential(
            torch.nn.Conv2d(32, 24, 3), torch.nn.Flatten(), torch.nn.Linear(600, 96),
            torch.nn.ReLU(), torch.nn.Linear(96, 40)).eval()

    def forms(model):
        return [next(each for each in model[i].modules() if isinstance(
            each, nm.torch.NMLinear)).sparse_weight().index_form for i in (0, 2, 4)]

    made = model()
    nm.torch.sparsify(made, "unstructured", prune=True, force=True, sparsity=0.95)
    assert forms(made) == ["offsets"] * 3
    nm.torch.save(made, tmp_path)
    again, x = nm.torch.load(tmp_path, model()), torch.randn(2, 32, 7, 7)
    assert forms(again) == ["offsets"] * 3
    with torch.no_grad():
        assert torch.equal(made(x), again(x))
    # A sparse layer takes the weight of a file, whichever form that has.
    again[2], again[4] = as_bitmap(again[2]), as_bitmap(again[4])
    assert forms(again) == ["offsets", "bitmap", "bitmap"]
    again = nm.torch.load(tmp_path, again)
    assert forms(again) == ["offsets"] * 3
    other = model()
    nm.torch.sparsify(other, "unstructured", prune=True, force=True, sparsity=0.95)
    other.load_state_dict(made.state_dict())
    with torch.no_grad():
        assert torch.equal(made(x), other(x))


def test_loads_that_fail_leave_the_form(tmp_path):
    """A file that lacks a weight of the model leaves a sparse layer as it was."""
    torch.manual_seed(11)
    dense, sparse = draw_offsets()
    nm.torch.save(torch.nn.Sequential(sparse), tmp_path)
    model = torch.nn.Sequential(as_bitmap(sparse), torch.nn.Linear(70, 3))
    with pytest.raises(nm.Error, match="lacks"):
        nm.torch.load(tmp_path, model)
    assert model[0].sparse_weight().index_form == "bitmap"
    assert torch.equal(model[0].dense_weight(), dense.weight)


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "GPT2LMHeadModel"])
def test_transformers_models_with_offsets(name, tmp_path):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(12)
    sizes = dict(vocab_size=48, hidden_size=96, num_hidden_layers=1, num_attention_heads=4,
                 intermediate_size=160, pad_token_id=0) if name[0] == "L" else dict(
        vocab_size=48, n_embd=96, n_layer=1, n_head=4, n_positions=64, pad_token_id=0)
    kind = getattr(transformers, name)
    model = kind(kind.config_class(**sizes)).eval()
    nm.torch.sparsify(model, {"*lm_head*": None, "*": "unstructured"}, prune=True,
                      force=True, sparsity=0.96)
    layers = {name: each for name, each in model.named_modules()
              if isinstance(each, nm.torch.NMLinear)}
    assert layers and {each.sparse_weight().index_form for each in layers.values()} == {
        "offsets"}
    tokens = torch.randint(3, 48, (2, 7))
    with torch.no_grad():
        wanted = model(tokens).logits
    model.save_pretrained(tmp_path)
    for again in (kind.from_pretrained(tmp_path), nm.torch.load(tmp_path)):
        found = {name: each for name, each in again.named_modules()
                 if isinstance(each, nm.torch.NMLinear)}
        assert list(found) == list(layers)
        for name, layer in found.items():
            assert torch.equal(layer.indices, layers[name].indices)
        with torch.no_grad():
            torch.testing.assert_close(again.eval()(tokens).logits, wanted)


def test_memory_of_offsets():
    torch.manual_seed(9)
    dense = draw_layer(0.05, 1024, 512).half()
    sparse = nm.torch.NMLinear.from_dense(dense, "unstructured")
    sizes = [nm.torch.memory(layer).condensed for layer in (sparse, as_bitmap(sparse))]
    # 0.05 x 3 bytes of a weight, and 0.05 x 2 and an eighth.
    assert sizes[0] < 0.69 * sizes[1]


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
def test_models_with_offsets_are_exported(target):
    torch.manual_seed(10)
    _, sparse = draw_offsets()
    x = torch.randn(4, 520)
    got, wanted = (nm.torch.export(torch.nn.Sequential(layer).eval(), x).compile(
        target=target)(x) for layer in (sparse, as_bitmap(sparse)))
    assert torch.equal(torch.as_tensor(got), torch.as_tensor(wanted))


def test_servers_write_other_weights_in_place():
    """The weight of a reload has other gaps, and the tensors that graphs read stay."""
    from nm.torch._serving import ServedLinear

    torch.manual_seed(13)
    layer, method, places = torch.nn.Module(), None, set()
    for step in (1, 7, 60):
        dense = torch.zeros(40, 600)
        dense[torch.arange(40), torch.arange(40) * step % 600] = torch.rand(40) + 1
        assert nm.compress(dense, "unstructured").index_form == "offsets"
        method = method or ServedLinear(
            None, [nm.Pattern(40, 0, (1, 1), 1)], "layer")
        layer.weight = torch.nn.Parameter(dense, requires_grad=False)
        method.process_weights_after_loading(layer)
        places.add((id(layer.nm_values), id(layer.nm_indices), layer.nm_indices.data_ptr()))
        x = torch.randn(3, 600)
        torch.testing.assert_close(method.apply(layer, x), x @ dense.T)
    assert len(places) == 1
