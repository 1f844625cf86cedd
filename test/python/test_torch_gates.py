"""Gate and up of a gated feed-forward block, which become one product whose blocks
combine both, on simulated GPUs beside PyTorch in float64."""

import copy

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

TOLERANCES = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
VECTORS = "8:32, block = 1x64"


class Gated(nn.Module):
    def __init__(self, width, inner, bias, activation, residual=False):
        super().__init__()
        self.gate, self.up = (nn.Linear(width, inner, bias=bias) for _ in range(2))
        self.activation, self.residual = activation, residual

    def forward(self, x):
        y = self.activation(self.gate(x)) * self.up(x)
        return y + x if self.residual else y


def pruned(model, pattern):
    for layer in (model.gate, model.up):
        layer.weight.data = nm.prune(layer.weight.data, pattern, axis=1).weight
    return model


def compiled_of(model, x, **options):
    return nm.torch.export(model, x, dynamic_batch=options.pop("dynamic", False)).compile(
        target="sim:sm_90a", **options)


#: Element type, pattern, rows, columns, biases, schedule: fewer rows than a block's, more
#: than one block's, a column more than whole warps, warps that share k and those that do
#: not, and 4 bytes; warpgroups with all columns of a block and with some, with and
#: without warps that copy; and one row by blocks of many columns.
CASES = [
    (torch.float16, "2:4", 1, 512, True, ""),
    (torch.bfloat16, "2:4", 3, 512, True, ""),
    (torch.float32, "2:4", 3, 512, True, ""),
    (torch.float16, "2:4", 16, 512, False, ""),
    (torch.float16, "2:4", 13, 480, True, "mma_sp<block = [16, 96, 64], warp = [16, 48]>"),
    (torch.float16, "2:4", 37, 480, True,
     "mma_sp<block = [32, 32, 128], warp = [16, 32], slice_k = 2>"),
    (torch.bfloat16, "1:4", 37, 480, False,
     "mma_sp<block = [32, 32, 128], warp = [16, 32], slice_k = 2>"),
    (torch.float16, VECTORS, 5, 512, True,
     "mma_sync<block = [16, 128, 256], warp = [16, 64], slice_k = 4>"),
    (torch.bfloat16, VECTORS, 5, 512, False,
     "mma_sync<block = [16, 128, 256], warp = [16, 128], slice_k = 1>"),
    (torch.float16, "2:4", 200, 256, True,
     "wgmma_sp<block = [128, 128, 64], warpgroup = [64, 128], stages = 4, producers = 4"
     ", blocks = 2>"),
    (torch.bfloat16, "2:4", 256, 256, False,
     "wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 4, producers = 4>"),
    (torch.float16, "1:4", 77, 384, True,
     "wgmma_sp<block = [64, 128, 64], warpgroup = [64, 128], producers = 4>"),
    (torch.bfloat16, "2:4", 130, 256, True,
     "wgmma_sp<block = [128, 128, 64], warpgroup = [64, 128]>"),
    (torch.float16, "2:4", 250, 320, True,
     "wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 4, producers = 4>"),
    (torch.float16, "2:4", 1, 448, True,
     "mma_sp<block = [8, 224, 256], warp = [8, 32], stages = 3, slice_k = 1>"),
]


def launches(compiled, x, monkeypatch, capfd):
    """The result, and how many kernels made it: one, where no simulator counts them."""
    monkeypatch.setenv("NM_SIM_PRINT", "1")
    capfd.readouterr()
    with torch.no_grad():
        y = compiled(x)
    simulated = capfd.readouterr().err.count("simulated ")
    return y, simulated if compiled.module.target == "sim" else 1


@pytest.mark.parametrize("dtype,pattern,rows,inner,bias,schedule", CASES, ids=str)
def test_gated(dtype, pattern, rows, inner, bias, schedule, monkeypatch, capfd):
    torch.manual_seed(0)
    model = pruned(Gated(256, inner, bias, F.silu if bias else F.gelu), pattern).to(dtype)
    x = torch.randn(1, rows, 256).to(dtype)
    expected = copy.deepcopy(model).double()(x.double()).detach().numpy()
    nm.torch.sparsify(model, pattern, x, force=True)
    compiled = compiled_of(model, x, schedule=schedule)
    assert len(compiled.remarks) == 1
    y, count = launches(compiled, x, monkeypatch, capfd)
    assert count == 1
    assert relative_error(y.double().numpy(), expected) < TOLERANCES[dtype]


@pytest.mark.parametrize("schedule", [
    "mma_sp<block = [16, 32, 64], warp = [16, 32], slice_k = 2>",
    "wgmma_sp<block = [64, 128, 64], warpgroup = [64, 64], producers = 4>"])
def test_rows_that_are_not_known(schedule, monkeypatch, capfd):
    """With a residual, of which blocks read their rows and columns."""
    torch.manual_seed(0)
    model = pruned(Gated(256, 256, True, F.silu, residual=True), "2:4").half()
    wide = copy.deepcopy(model).double()
    x = torch.randn(4, 5, 256).half()
    nm.torch.sparsify(model, "2:4", x, force=True)
    compiled = compiled_of(model, x, dynamic=True, schedule=schedule)
    for batch in (x, x[:1], torch.cat([x, 2 * x]), torch.cat(18 * [x])):
        y, count = launches(compiled, batch, monkeypatch, capfd)
        assert count == 1
        with torch.no_grad():
            expected = wide(batch.double()).numpy()
        assert relative_error(y.double().numpy(), expected) < 2e-3
