"""torch.topk in exported models, on a CPU and on a simulated GPU, beside a sort."""

import os

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402


class Top(nn.Module):
    def __init__(self, k, dim, largest):
        super().__init__()
        self.k, self.dim, self.largest = k, dim, largest

    def forward(self, x):
        return torch.topk(x, self.k, self.dim, self.largest)


def draw(shape, dtype):
    """Numbers of which no two are equal; of floats one is NaN and two infinite."""
    generator = torch.Generator().manual_seed(int(os.environ.get("NM_TEST_SEED", 0)))
    size = torch.Size(shape).numel()
    x = torch.randperm(size, generator=generator) - size // 2
    if not dtype.is_floating_point:
        return x.view(shape).to(dtype)
    x = (x / 8).to(dtype)
    x[torch.randperm(size, generator=generator)[:3]] = torch.tensor(
        [float("nan"), float("inf"), -float("inf")], dtype=dtype)
    return x.view(shape)


def expected(x, k, dim, largest):
    """Values and places by a stable sort in float64, NaN above all numbers."""
    keys = x.double()
    keys = torch.where(keys.isnan(), torch.finfo(torch.float64).max, keys.clamp(-1e9, 1e9))
    places = keys.sort(stable=True, dim=dim, descending=largest).indices.narrow(dim, 0, k)
    return x.gather(dim, places), places


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("k,dim,largest,shape,dtype", [
    (3, -1, True, (5, 130), torch.float32), (8, -1, False, (2, 3, 67), torch.float16),
    (2, 1, True, (3, 40, 5), torch.bfloat16), (7, 0, False, (7, 6), torch.int32),
    (1, -1, True, (200,), torch.int8), (20, -1, True, (2, 1500), torch.float32)], ids=str)
def test_topk(k, dim, largest, shape, dtype, target):
    x = draw(shape, dtype)
    compiled = nm.torch.export(Top(k, dim, largest).eval(), x).compile(
        target=target, opt_level=1)
    for got, want in zip(compiled(x), expected(x, k, dim, largest)):
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


class Argmax(nn.Module):
    def forward(self, x):
        return x.argmax(-1)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("shape,dtype", [
    ((5, 130), torch.float32), ((2, 1500), torch.float16), ((3, 4, 40), torch.bfloat16),
    ((7, 60), torch.int32)], ids=str)
def test_argmax(shape, dtype, target):
    x = draw(shape, dtype)
    x[..., 30] = x[..., 20]
    compiled = nm.torch.export(Argmax().eval(), x).compile(target=target, opt_level=1)
    got = compiled(x)
    assert got.dtype == torch.int64
    torch.testing.assert_close(got, expected(x, 1, -1, True)[1][..., 0], rtol=0, atol=0)


def test_equal_elements_are_found_in_order():
    x = torch.tensor([[1., 3., 3., 2., 3., 1.]]).repeat(4, 1)
    model = Top(6, 1, True).eval()
    compiled = nm.torch.export(model, x, dynamic_batch=True).compile(opt_level=1)
    for batch in (x, x[:3]):
        values, places = compiled(batch)
        assert places.tolist() == [[1, 2, 4, 3, 0, 5]] * len(batch)
        assert values.tolist() == [[3, 3, 3, 2, 1, 1]] * len(batch)


def test_all_elements_are_found_by_one_kernel():
    exported = nm.torch.export(Top(8, -1, True).eval(), torch.randn(512, 128).half())
    ptx = nm.lower(exported.text, "ptx", target="cuda:sm_90a")
    # And one for the values and the places, whose launches are one.
    assert ptx.count(".entry ") == 2


@pytest.mark.parametrize("x,k,text", [
    (torch.zeros(3, 80), 65, "between 1 and 64 elements, but got 2 dimensions and 65"),
    (torch.zeros(3, 4, dtype=torch.int64), 2, "at most 32 bits, but got i64"),
    (torch.zeros(3, 4, dtype=torch.float64), 2, "at most 32 bits, but got f64")], ids=str)
def test_refusals(x, k, text):
    with pytest.raises(nm.Error, match=text):
        nm.torch.export(Top(k, -1, True).eval(), x)
