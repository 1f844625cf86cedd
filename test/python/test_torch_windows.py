"""Depthwise convolutions and pools, exported for CPUs: windows that slide along rows, against
PyTorch in float64."""

import nm
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402, F811
from torch import nn  # noqa: E402

#: Relative errors: of f32, and of results that are rounded to f16 and bf16 once.
BOUNDS = {torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}


def _depthwise(channels, taps, many=1, **options):
    return nn.Conv2d(channels, many * channels, taps, groups=channels, **options)


CASES = {
    "one vector": (_depthwise(14, 3, padding=1), (1, 14, 14, 14)),
    "whole vectors": (_depthwise(3, 3, padding=1, bias=False), (2, 3, 9, 32)),
    "odd sizes": (_depthwise(4, 3, padding=(0, 2)), (3, 4, 11, 37)),
    "a narrow image": (_depthwise(6, 3), (1, 6, 7, 3)),
    "every other pixel": (_depthwise(20, 3, stride=2, padding=1), (1, 20, 28, 28)),
    "every other, whole vectors": (_depthwise(2, 3, stride=2), (1, 2, 9, 65)),
    "every other, odd sizes": (_depthwise(3, 5, stride=2, padding=2), (2, 3, 13, 51)),
    "every other of rows alone": (_depthwise(3, 3, stride=(2, 1)), (1, 3, 12, 19)),
    "every third": (_depthwise(3, 3, stride=3, padding=1), (1, 3, 20, 40)),
    "dilated": (_depthwise(24, 3, dilation=(2, 3), padding=2), (1, 24, 15, 21)),
    "dilated, every other": (_depthwise(4, (3, 2), dilation=2, stride=2), (1, 4, 15, 45)),
    "two for each channel": (_depthwise(20, (2, 5), many=2, padding=(1, 2)), (1, 20, 8, 18)),
    "many taps": (_depthwise(2, 7, padding=3), (1, 2, 12, 20)),
    "one dimension": (nn.Conv1d(6, 6, 5, padding=2, groups=6), (2, 6, 35)),
    "three dimensions": (nn.Conv3d(2, 2, 3, padding=1, groups=2), (1, 2, 4, 6, 17)),
    "the largest": (nn.MaxPool2d(3, 2, 1), (1, 40, 15, 33)),
    "the largest, one by one": (nn.MaxPool2d(3, 1, 1), (2, 3, 6, 17)),
    "the mean": (nn.AvgPool2d((2, 3), (1, 2)), (2, 3, 9, 40)),
}


@pytest.mark.parametrize("dtype", BOUNDS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_windows(case, dtype):
    check(case, dtype)


@pytest.mark.parametrize("case", list(CASES)[::2])
def test_windows_without_avx512(case):
    check(case, torch.float32, mattr="-avx512f")


def check(case, dtype, **options):
    layer, shape = CASES[case]
    layer = nn.Sequential(layer, nn.ReLU6()).to(dtype).eval()
    torch.manual_seed(0)
    x = torch.randn(shape).to(dtype)
    compiled = nm.torch.export(layer, x).compile(**options)
    with torch.no_grad():
        expected = layer.double()(x.double())
        got = compiled(x)
    layer.float()
    assert got.shape == expected.shape and torch.isfinite(got).all()
    error = (got.double() - expected).norm() / expected.norm()
    assert error < BOUNDS[dtype], float(error)
