"""Products whose last blocks would run alone, which become two products of some columns
each, on a simulated GPU beside PyTorch in float64."""

import copy

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

ROWS, WIDTH = 256, 1536


class Gated(nn.Module):
    """17408 columns in all, of which 16896 are whole rounds of blocks."""

    def __init__(self):
        super().__init__()
        self.gate, self.up = (nn.Linear(WIDTH, 8704, bias=False) for _ in range(2))

    def forward(self, x):
        return F.silu(self.gate(x)) * self.up(x)


class Added(nn.Module):
    """17152 columns of one product, with what epilogues read of rows and of columns."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, 17152)
        self.scale = nn.Parameter(torch.rand(17152))

    def forward(self, x):
        y = self.linear(x)
        return self.scale * y + x.repeat(1, 1, 12)[..., :17152]


@pytest.mark.parametrize("make,dtype,tolerance", [
    (Gated, torch.float16, 2e-3), (Added, torch.bfloat16, 1e-2)])
def test_two_products(make, dtype, tolerance, monkeypatch, capfd):
    torch.manual_seed(0)
    model = make().to(dtype)
    for layer in model.children():
        layer.weight.data = nm.prune(layer.weight.data, "2:4", axis=1).weight
    x = torch.randn(1, ROWS, WIDTH).to(dtype)
    with torch.no_grad():
        expected = copy.deepcopy(model).double()(x.double()).numpy()
    nm.torch.sparsify(model, "2:4", x, force=True)
    compiled = nm.torch.export(model, x).compile(target="sim:sm_90a")
    assert len(compiled.remarks) == 2
    assert "n = 16896" in compiled.remarks[0]
    monkeypatch.setenv("NM_SIM_PRINT", "1")
    capfd.readouterr()
    with torch.no_grad():
        y = compiled(x)
    # Each product writes its columns of the result, which nothing copies.
    assert capfd.readouterr().err.count("simulated ") == (2 if make is Gated else 3)
    assert relative_error(y.double().numpy(), expected) < tolerance
