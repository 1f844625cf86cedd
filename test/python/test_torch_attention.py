"""nn.MultiheadAttention with sparse projections: the same results as PyTorch's own with
pruned weights, whatever it is given, and everything that a model goes through."""

import copy
import io
import itertools
import os

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm import _safetensors  # noqa: E402
from nm.torch import NMLinear, NMMultiheadAttention, densify, sparsify  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))
WEIGHTS = ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight")


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(SEED)


def assert_close(got, expected, limit=1e-5):
    assert got.shape == expected.shape
    assert relative_error(got.detach().double().numpy(),
                          expected.detach().double().numpy()) < limit


def pruned(model, pattern="2:4"):
    """A dense copy, whose weights obey the pattern."""
    model = copy.deepcopy(model)
    for module in model.modules():
        names = ("weight",) if type(module) is nn.Linear else WEIGHTS
        if isinstance(module, nn.MultiheadAttention):
            module.out_proj.weight.data = nm.prune(module.out_proj.weight.data, pattern,
                                                   axis=1).weight
        for name in names:
            weight = getattr(module, name, None)
            if weight is not None:
                weight.data = nm.prune(weight.data, pattern, axis=1).weight
    return model


OPTIONS = [dict(batch_first=True, bias=True), dict(batch_first=False, bias=False),
           dict(batch_first=True, bias=True, add_bias_kv=True, add_zero_attn=True),
           dict(batch_first=False, bias=True, add_zero_attn=True)]


def inputs_of(module, kind):
    batch_first = module.batch_first
    q, k, v = (torch.randn((3, length, size) if batch_first else (length, 3, size))
               for length, size in ((5, 16), (7, module.kdim), (7, module.vdim)))
    if kind == "self":
        k = v = q
    elif kind == "memory":
        v = k
    elif kind == "one":
        q, k, v = (each[0] if batch_first else each[:, 0] for each in (q, k, v))
    return q, k, v


def masks_of(kind, keys, padded):
    """Of 5 queries, 3 sequences and 4 heads."""
    options = {}
    sequences = 1 if kind == "one" else 3
    for mask in (None, "bool", "float", "heads"):
        if mask == "bool":
            options["attn_mask"] = torch.rand(5, keys) < 0.3
            options["attn_mask"][:, 0] = False
        elif mask == "float":
            options["attn_mask"] = torch.randn(5, keys)
        elif mask == "heads":
            options["attn_mask"] = torch.randn(sequences * 4, 5, keys)
        if padded:
            padding = torch.zeros((keys,) if kind == "one" else (3, keys), dtype=torch.bool)
            padding[..., -1] = True
            options["key_padding_mask"] = padding if mask in (None, "bool") else (
                torch.zeros(padding.shape).masked_fill(padding, -torch.inf))
        yield dict(options)


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
def test_attention(options, separate):
    sizes = dict(kdim=12, vdim=8) if separate else {}
    module = nn.MultiheadAttention(16, 4, **options, **sizes).eval()
    if options["bias"]:
        nn.init.normal_(module.in_proj_bias)
    expected = pruned(module)
    names = list(expected.state_dict())
    model = nn.ModuleDict({"attention": module})
    report = sparsify(model, "2:4", prune=True)
    assert all(layer.replaced for layer in report)
    assert len(report.layers) == (4 if separate else 2)
    assert isinstance(module, NMMultiheadAttention)
    for kind in ("all", "one") if separate else ("self", "memory", "all", "one"):
        given = inputs_of(module, kind)
        keys = given[1].shape[1 if module.batch_first and kind != "one" else 0]
        for padded, weights in itertools.product([False, True], repeat=2):
            for masks in masks_of(kind, keys, padded):
                masks.update(need_weights=weights, average_attn_weights=padded)
                with torch.no_grad():
                    got, want = module(*given, **masks), expected(*given, **masks)
                assert_close(got[0], want[0])
                assert (got[1] is None) == (want[1] is None)
                if weights:
                    assert_close(got[1], want[1])
    densify(model)
    assert type(module) is nn.MultiheadAttention and list(module.state_dict()) == names
    for name, tensor in expected.state_dict().items():
        assert torch.equal(module.state_dict()[name], tensor)


@pytest.mark.parametrize("block, dtype, limit", [
    (None, torch.bfloat16, 1e-2), ("4x1", torch.float32, 1e-5),
    ("1x16", torch.float32, 1e-5), ("1x3", torch.float32, 1e-5)])
def test_parts_of_blocks_and_types(block, dtype, limit):
    pattern = "2:4" if block is None else f"2:4, block = {block}"
    module = nn.MultiheadAttention(32, 4, dtype=dtype, batch_first=True).eval()
    expected = pruned(module, pattern).double()
    sparsify(nn.ModuleDict({"a": module}), pattern, prune=True)
    q, k = (torch.randn(2, n, 32).to(dtype) for n in (3, 5))
    for grad in (True, False, False):
        with torch.set_grad_enabled(grad):
            got = module(q, k, k, need_weights=False)[0]
        assert_close(got, expected(q.double(), k.double(), k.double())[0], limit)
    with torch.no_grad():
        module.in_proj.values.mul_(2)
        expected.in_proj_weight.mul_(2)
        assert_close(module(q, k, k)[0],
                     expected(q.double(), k.double(), k.double())[0], limit)


def test_errors():
    module = nn.MultiheadAttention(16, 4, batch_first=True)
    sparsify(nn.ModuleDict({"a": module}), "2:4", prune=True)
    x = torch.randn(2, 5, 16)
    with pytest.raises(nm.ShapeError, match=r"attn_mask of shape \[..., 5, 5\]"):
        module(x, x, x, attn_mask=torch.zeros(1, 5))
    with pytest.raises(nm.Error, match="expected attn_mask where is_causal"):
        module(x, x, x, is_causal=True)
    nested = torch.nested.nested_tensor([x[0], x[1]])
    with pytest.raises(nm.Error, match="no nested tensors"):
        module.eval()(nested, nested, nested)


def test_causal():
    module = nn.MultiheadAttention(16, 4, batch_first=True).eval()
    expected, x = pruned(module), torch.randn(2, 5, 16)
    sparsify(nn.ModuleDict({"a": module}), "2:4", prune=True)
    options = dict(attn_mask=nn.Transformer.generate_square_subsequent_mask(5),
                   is_causal=True)
    for weights in (False, True):
        assert_close(module(x, x, x, need_weights=weights, **options)[0],
                     expected(x, x, x, need_weights=weights, **options)[0])


def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(
        16, 2, 32, batch_first=True, dropout=0.0), 2).eval()


def test_what_stays_dense():
    """Rules name projections; where none is sparse, the module is as it was."""
    model, x = encoder(), torch.randn(2, 5, 16)
    before = copy.deepcopy(model)
    report = sparsify(model, {"*linear1": "2:4"}, prune=True)
    assert {layer.reason for layer in report if "self_attn" in layer.name} == {
        "no rule for it"}
    assert type(model.layers[0].self_attn) is nn.MultiheadAttention
    assert list(model.layers[0].self_attn.state_dict()) == list(
        before.layers[0].self_attn.state_dict())
    sparsify(model, {"*.out_proj": "2:4"}, prune=True)
    attention = model.layers[0].self_attn
    assert isinstance(attention.out_proj, NMLinear)
    assert type(attention.in_proj) is nn.Linear
    state = attention.state_dict()
    assert "in_proj_weight" in state and "in_proj_bias" in state
    attention.load_state_dict(state)
    with pytest.raises(PermissionError):
        with nm.torch._unfold.unfolded(before):
            assert isinstance(before.layers[0].self_attn, NMMultiheadAttention)
            raise PermissionError
    assert type(before.layers[0].self_attn) is nn.MultiheadAttention
    before(x)

    class Own(nn.MultiheadAttention):
        pass

    report = sparsify(nn.ModuleDict({"own": Own(16, 2), "l": nn.Linear(8, 8)}), "2:4",
                      prune=True)
    assert "Own is no plain nn.MultiheadAttention" in report.layers[0].reason


@pytest.mark.parametrize("padded", [False, True])
def test_examples_reach_all_layers(padded):
    """Also where PyTorch has an operator for the whole layer, or nested tensors."""
    x = torch.randn(2, 5, 16)
    example = {"src": x}
    if padded:
        example["src_key_padding_mask"] = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    for prune in (True, "wanda"):
        report = sparsify(encoder(), "2:4", example, prune=prune, force=True)
        assert all(layer.rows == 10 and layer.replaced for layer in report)
    assert torch.backends.mha.get_fastpath_enabled()


def test_a_model_there_and_back(tmp_path, monkeypatch):
    model, x = encoder(), torch.randn(2, 5, 16)
    expected = pruned(model)
    sparsify(model, "2:4", prune=True)
    sparse = [layer for layer in model.modules() if isinstance(layer, NMLinear)]
    assert len(sparse) == 8
    with monkeypatch.context() as patch:
        patch.setattr(NMLinear, "dense_weight", lambda self: pytest.fail("made"))
        with torch.no_grad():
            assert_close(model(x), expected(x))
    with torch.no_grad():
        program = torch.export.export(model, (x,))
        assert str(program.graph).count("nm.linear") == 8
        assert_close(program.module()(x), expected(x))
        assert_close(nm.torch.export(model, (x,)).compile()(x), expected(x))
        assert_close(torch.jit.trace(model, (x,))(x), expected(x))
        want = model(x)
    # Files have the names of the dense module.
    nm.torch.save(model, tmp_path / "sparse")
    with torch.no_grad():
        loaded = nm.torch.load(tmp_path / "sparse", encoder())
        assert torch.equal(loaded(x), want)
        assert isinstance(loaded.layers[0].self_attn.in_proj, NMLinear)
    nm.convert(tmp_path / "sparse", tmp_path / "dense", format="dense")
    file = _safetensors.SafetensorsFile(str(tmp_path / "dense" / "model.safetensors"))
    assert set(file) == set(expected.state_dict())
    assert torch.equal(torch.from_numpy(file["layers.0.self_attn.in_proj_weight"].copy()),
                       expected.layers[0].self_attn.in_proj_weight)
    report = nm.convert(tmp_path / "dense", tmp_path / "again")
    assert "layers.1.self_attn.in_proj_weight" in report.weights
    for folder, rules in (("again", None), ("dense", "2:4"), ("dense", "detect")):
        other = nm.torch.load(tmp_path / folder, encoder(), rules)
        with torch.no_grad():
            assert torch.equal(other(x), want)
    partly = nm.torch.load(tmp_path / "dense", encoder(), {"*linear1": "2:4"})
    assert type(partly.layers[0].self_attn) is nn.MultiheadAttention
    # State dicts and pickles.
    twin, buffer = copy.deepcopy(model), io.BytesIO()
    for parameter in twin.parameters():
        parameter.data.zero_()
    twin.load_state_dict(model.state_dict())
    torch.save(model, buffer)
    buffer.seek(0)
    for each in (twin, torch.load(buffer, weights_only=False)):
        with torch.no_grad():
            assert torch.equal(each(x), want)
    assert "layers.0.self_attn.in_proj" in densify(model)
    assert model.use_nested_tensor and type(model.layers[0].self_attn) is (
        nn.MultiheadAttention)
    with torch.no_grad():
        assert_close(model(x), expected(x))


@pytest.mark.parametrize("train", [False, True])
def test_gradients_keep_zeros(train):
    model = nn.Transformer(16, 2, 1, 1, 32, batch_first=True, dropout=0.0).train(train)
    expected, x, y = pruned(model), torch.randn(2, 5, 16), torch.randn(2, 3, 16)
    sparsify(model, "2:4", prune=True)
    wanted = torch.randn(2, 3, 16)
    for each in (model, expected):
        (each(x, y) * wanted).sum().backward()
    for name in ("encoder.layers.0.self_attn", "decoder.layers.0.self_attn",
                 "decoder.layers.0.multihead_attn"):
        got, want = model.get_submodule(name), expected.get_submodule(name)
        assert_close(got.in_proj.weight.grad,
                     want.in_proj_weight.grad * (want.in_proj_weight != 0))
        assert_close(got.in_proj.bias.grad, want.in_proj_bias.grad)
        assert_close(got.out_proj.weight.grad,
                     want.out_proj.weight.grad * (want.out_proj.weight != 0))
    if train:
        torch.optim.SGD(model.parameters(), 0.1).step()
        weight = model.encoder.layers[0].self_attn.in_proj_weight.detach().clone()
        assert nm.check(weight, "2:4", axis=1)
        assert not torch.equal(weight, expected.encoder.layers[0].self_attn.in_proj_weight)


def test_masks_that_are_trained():
    model, x = encoder().train(), torch.randn(2, 5, 16)
    schedule = nm.torch.mask_layers(model, {"*self_attn*": "2:4"})
    assert "in_proj.mask" in model.layers[0].self_attn.state_dict()
    model(x).sum().backward()
    assert len(schedule.finish()) == 4
    model.eval()
    want = model(x)
    densify(model)
    assert_close(model(x), want)
