"""Tuning the layers of a PyTorch model, on the CPU."""

import nm
import pytest

torch = pytest.importorskip("torch")
from nm._tune import _of_model  # noqa: E402
from nm.torch import sparsify  # noqa: E402
from torch import nn  # noqa: E402


def make_model(dtype=torch.float32):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 64)).to(dtype)
    sparsify(model, "2:4", prune=True, force=True)
    return model


def test_a_models_layers_are_tuned(tmp_path, monkeypatch):
    model, x = make_model(), torch.randn(4, 64)
    expected = model(x)
    report = nm.tune(model, x, table=tmp_path / "t.yaml", seconds=25, quiet=True)
    assert {each.product for each in report.products} == {
        "4x96x64 2:4 f32 + bias", "4x64x96 2:4 f32 + bias"}
    # What the layers then compile is by the table.
    monkeypatch.setenv("NM_SCHEDULE_TABLE", str(report.table))
    weight = nm.compress(model[0].dense_weight().detach().numpy(), "2:4", axis=1)
    record = nm.prepare(x.numpy(), weight, model[0].bias.detach().numpy()).record
    assert record.source == "table" and str(report.table) in record.reason
    assert torch.allclose(make_model()(x), expected, atol=1e-5)


@pytest.mark.parametrize("dtype, text", [(torch.float16, "f16 to f16"),
                                         (torch.bfloat16, "bf16 to bf16")])
def test_results_have_the_layers_type(dtype, text):
    example = {"input": torch.randn(2, 3, 64, dtype=dtype)}
    assert f"6x96x64 2:4 {text} + bias" in list(
        _of_model(make_model(dtype), example, "cpu", None))


def test_quantized_layers_are_products():
    model = make_model(torch.float16)
    nm.torch.quantize(model, bits=4, group=32)
    x = torch.randn(4, 64, dtype=torch.float16)
    assert list(_of_model(model, x, "cuda:sm_90a", None)) == [
        "4x96x64 2:4 f16 x i4/32 to f16 + bias", "4x64x96 2:4 f16 x i4/32 to f16 + bias"]


def test_a_model_wants_an_example():
    with pytest.raises(nm.Error, match="expected an example input"):
        nm.tune(make_model())
    with pytest.raises(nm.Error, match="expected products with N:M weights"):
        nm.tune(nn.Linear(4, 4), torch.randn(1, 4))
