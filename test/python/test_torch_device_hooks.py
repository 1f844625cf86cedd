"""Layers behind accelerate's hooks, as device_map puts them before each layer of a model
on several devices."""

import pytest

torch = pytest.importorskip("torch")
accelerate = pytest.importorskip("accelerate")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm.torch import NMConv2d, NMLinear  # noqa: E402
from torch import nn  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3)
        self.attention = nn.MultiheadAttention(32, 2, batch_first=True)
        self.up, self.down = nn.Linear(32, 48), nn.Linear(48, 32)

    def forward(self, x):
        x = self.conv(x.view(1, 8, 10, -1)).reshape(1, -1, 32)
        x = self.attention(x, x, x)[0]
        return self.down(torch.relu(self.up(x)))


def hooked(model):
    """A hook before each module, on the one device that there is."""
    return accelerate.dispatch_model(model, {"": "cpu"}, force_hooks=True)


def count_calls(module):
    calls, pre_forward = [], module._hf_hook.pre_forward

    def counted(*args, **options):
        calls.append(1)
        return pre_forward(*args, **options)

    module._hf_hook.pre_forward = counted
    return calls


def test_hooks_go_along():
    torch.manual_seed(0)
    model, x = Model().eval(), torch.randn(8 * 10 * 18)
    dense = hooked(Model().eval())
    dense.load_state_dict(model.state_dict())
    for each in (model, dense):
        report = nm.torch.sparsify(each, "2:4", prune=True)
        assert {line.name for line in report if line.replaced} == {
            "conv.product", "attention.in_proj", "attention.out_proj", "up", "down"}
        assert "not kept" not in str(report)
    layers = [layer for layer in dense.modules() if isinstance(layer, (NMLinear, NMConv2d))]
    calls = [count_calls(dense.up), count_calls(dense.conv)]
    with torch.no_grad():
        assert torch.equal(dense(x), model(x))
    assert len(layers) == 6 and calls == [[1], [1]]
    expected = model(x).detach()
    nm.torch.densify(dense)
    assert type(dense.up) is nn.Linear and type(dense.conv) is nn.Conv2d
    assert type(dense.attention) is nn.MultiheadAttention
    with torch.no_grad():
        torch.testing.assert_close(dense(x), expected)
    assert calls == [[1, 1], [1, 1]]
    accelerate.hooks.remove_hook_from_submodules(dense)
    # What is left of hooks is no other forward.
    report = nm.torch.sparsify(dense, "2:4")
    assert sum(line.replaced for line in report) == 5
    with torch.no_grad():
        assert torch.equal(dense(x), expected)


def test_a_convolution_made_of_a_hooked_one_runs_its_own_weight():
    torch.manual_seed(0)
    dense, x = hooked(nn.Sequential(nn.Conv2d(8, 8, 3))), torch.randn(1, 8, 6, 6)
    layer = NMConv2d.from_dense(dense[0], "2:4", prune_weight=True)
    with torch.no_grad():
        expected = nn.functional.conv2d(x.double(), layer.weight.double(),
                                        layer.bias.double())
        assert (layer(x) - expected).norm() < 1e-5 * expected.norm()
    assert hasattr(dense[0], "_hf_hook") and not hasattr(layer, "_hf_hook")


def test_other_forwards_stay_dense(tmp_path):
    model = Model().eval()
    model.up.forward = lambda x: nn.functional.linear(x, model.up.weight.abs())
    accelerate.disk_offload(model.down, tmp_path, execution_device="cpu")
    report = nm.torch.sparsify(model, "2:4", prune=True)
    reasons = {line.name: line.reason for line in report if not line.replaced}
    assert reasons == {"up": "its forward was replaced",
                       "down": "accelerate has offloaded its weight"}


def test_a_model_that_is_pruned_as_it_is_loaded(tmp_path):
    transformers = pytest.importorskip("transformers", minversion="5.17")
    config = transformers.LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1)
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path / "dense")
    where = dict.fromkeys(("model.embed_tokens", "model.norm", "model.rotary_emb", "lm_head",
                           "model.layers.0"), "cpu")
    where["model.layers.1"] = "disk"
    tokens = torch.randint(0, 64, (1, 5))
    with pytest.warns(UserWarning, match="pruned by magnitude"):
        model = transformers.AutoModelForCausalLM.from_pretrained(
            tmp_path / "dense", quantization_config=nm.torch.Config("2:4"),
            device_map=where, offload_folder=tmp_path / "offload")
    assert isinstance(model.model.layers[0].mlp.up_proj, NMLinear)
    # What lies on a disk is not replaced; its report says so.
    assert type(model.model.layers[1].mlp.up_proj) is nn.Linear
    assert "offloaded" in str(model.hf_quantizer.report)
    with torch.no_grad():
        assert torch.isfinite(model(tokens).logits).all()
    with pytest.raises(nm.Error, match=r"layers.1.*meta device.*offloaded it"):
        model.save_pretrained(tmp_path / "sparse")
    assert not (tmp_path / "sparse").exists()
