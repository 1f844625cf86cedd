"""Operators that are exported as others, compared with PyTorch: norms of groups and
instances, interpolation, largest and least elements with their places."""

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from test_torch_export_ops import Function, check, draw, every, same  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

INF, NAN = float("inf"), float("nan")


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.group, self.instance = nn.GroupNorm(4, 12), nn.InstanceNorm2d(12, affine=True)
        for each in (self.group, self.instance):
            nn.init.normal_(each.weight)
            nn.init.normal_(each.bias)
        self.batch = nn.BatchNorm2d(12, track_running_stats=False)
        self.plain = nn.GroupNorm(3, 12, affine=False)

    def forward(self, x):
        return (self.group(x), self.instance(x), self.batch(x), self.plain(x[..., 0]),
                F.instance_norm(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_norms(dtype):
    torch.manual_seed(0)
    check(Norms().to(dtype), draw(2, 12, 5, 3, dtype=dtype) + 3)


def test_norms_of_any_batch():
    torch.manual_seed(0)
    model = nn.Sequential(nn.GroupNorm(2, 6), nn.InstanceNorm1d(6))
    check(model, draw(3, 6, 7), dynamic=True)


def test_interpolation():
    check(every({
        "nearest": lambda x: F.interpolate(x, scale_factor=2),
        "nearest, smaller": lambda x: F.interpolate(x, size=(3, 2)),
        "exact": lambda x: F.interpolate(x, scale_factor=(1.5, 2)),
        "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        "corners": lambda x: F.interpolate(x, size=(9, 4), mode="bilinear",
                                           align_corners=True),
        "line": lambda x: F.interpolate(x[:, 0], size=11, mode="linear"),
        "nearest line": lambda x: F.interpolate(x[:, 0], scale_factor=3)}),
        draw(2, 3, 6, 5))


ENDS = {"max": lambda x: tuple(x.max(1)), "min": lambda x: tuple(x.min(1, True)),
        "argmin": lambda x: x.argmin(0), "argmin of all": lambda x: x.argmin(),
        "max of all": torch.max, "min of all": torch.min, "sign": torch.sign,
        "logsumexp": lambda x: x.logsumexp(1), "of all": lambda x: x.logsumexp((0, 1), True), "prod": lambda x: x.prod(1), "product of all": torch.prod}


def test_ends():
    x = draw(4, 5)
    x[0, 2], x[1, 1], x[2, 3], x[3, 4] = INF, -INF, NAN, 0
    x[1, 3] = x[1, 0]
    functions = every(ENDS)
    compiled = nm.torch.export(Function(functions), x).compile(opt_level=1)
    same(compiled(x), functions(x), 1e-5)
    check(functions, torch.tensor([[3, -2, 3], [0, -2, -2 ** 31]], dtype=torch.int32))
