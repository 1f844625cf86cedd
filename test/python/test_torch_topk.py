"""torch.topk in exported models, on a CPU and on a simulated GPU, beside a sort."""

import os
import random
import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", random.SystemRandom().randrange(2 ** 31)))


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


class Extreme(nn.Module):
    """One of FINDS, along the last dimension."""

    def __init__(self, name):
        super().__init__()
        self.find = FINDS[name]

    def forward(self, x):
        return self.find(x)


FINDS = {
    "argmax": lambda x: x.argmax(-1), "argmin": lambda x: x.argmin(-1),
    "max": lambda x: torch.max(x, -1), "min": lambda x: torch.min(x, -1),
    "amax and argmax": lambda x: (x.amax(-1), x.argmax(-1)),
    "softmax and argmax": lambda x: (torch.softmax(x.float(), -1).to(x.dtype), x.argmax(-1)),
    "max of absolute values": lambda x: torch.max(x.abs(), -1)}


def expected_extreme(name, x):
    """Results of FINDS[name] by a stable sort in float64, in which a NaN comes first."""
    x = x.abs() if "abs" in name else x
    turned = -x.double() if "min" in name else x.double()
    first = torch.where(turned.isnan(), torch.inf, turned.clamp(max=2. ** 100))
    places = first.sort(stable=True, dim=-1, descending=True).indices[..., :1]
    values = x.gather(-1, places)[..., 0]
    if name.startswith("softmax"):
        values = torch.softmax(x.double(), -1).to(x.dtype)
    return places[..., 0] if name.startswith("arg") else (values, places[..., 0])


def check_extreme(name, found, x, place=""):
    wanted = expected_extreme(name, x)
    if name.startswith("arg"):
        found, wanted = [found], [wanted]
    for got, want in zip(found, wanted):
        assert got.dtype == want.dtype, place
        close = ({"rtol": 1e-2, "atol": 2e-3} if name.startswith("softmax") and
                 got.is_floating_point() else {"rtol": 0, "atol": 0})
        torch.testing.assert_close(got, want, equal_nan=True, msg=lambda m: f"{place}\n{m}",
                                   **close)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("name,shape,dtype", [
    ("argmax", (5, 130), torch.float32), ("argmax", (2, 1500), torch.float16),
    ("argmin", (3, 4, 40), torch.bfloat16), ("argmax", (7, 60), torch.int32),
    ("max", (5, 130), torch.float32), ("min", (2, 1500), torch.float16),
    ("max", (3, 4, 40), torch.bfloat16), ("min", (7, 60), torch.int32),
    ("max", (2, 61), torch.int64), ("min", (2, 61), torch.float64),
    ("amax and argmax", (3, 700), torch.float16), ("max of absolute values", (9, 77), torch.float32),
    ("softmax and argmax", (4, 513), torch.float32),
    ("softmax and argmax", (2, 70001), torch.float32)], ids=str)
def test_extremes(name, shape, dtype, target):
    x = draw(shape, dtype)
    x[..., 30] = x[..., 20]
    if name.startswith("softmax"):
        x = x.clamp(-1, 1).nan_to_num(0)
    compiled = nm.torch.export(Extreme(name).eval(), x).compile(target=target, opt_level=1)
    check_extreme(name, compiled(x), x)
    # All numbers are the last that a search would take.
    end = float("inf") if dtype.is_floating_point else torch.iinfo(dtype).max
    for x in (torch.full_like(x, end if "min" in name else -end), torch.zeros_like(x)):
        if not name.startswith("softmax"):
            check_extreme(name, compiled(x), x)
    if name in ("max", "min"):
        # Not -0, which is what -x of the largest -x is.
        assert not compiled(torch.zeros_like(x))[0].signbit().any()


KINDS = {
    "distinct": lambda rng, size: rng.permutation(size) / 8 - size // 16,
    "few": lambda rng, size: rng.integers(-2, 3, size),
    "equal": lambda rng, size: np.full(size, rng.choice([0, -3, 65000])),
    "ascending": lambda rng, size: np.arange(size) / 64,
    "descending": lambda rng, size: -np.arange(size) / 64,
    "special": lambda rng, size: rng.choice([np.nan, np.inf, -np.inf, 1, -1], size),
    "lowest": lambda rng, size: np.full(size, -np.inf),
    "one NaN": lambda rng, size: np.where(np.arange(size) == rng.integers(size), np.nan, 1),
}
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.int32]
#: Rows and lengths, by what has a row on a chip with clusters.
SHARES = {
    "part of a warp": ([300], [3, 12, 24]), "warp": ([40], [27, 31]),
    "one of many warps": ([150], [2900, 4095]),
    "block": ([2, 30], [700, 1032, 4097]), "cluster": ([1, 3], [40001, 152064]),
    "one of many blocks": ([17, 20], [33000, 40001])}


def rows_of(rng, shape, dtype):
    """Rows of one of KINDS each; integers have their least number for infinities."""
    x = np.stack([KINDS[rng.choice(list(KINDS))](rng, shape[1]) for _ in range(shape[0])])
    if dtype.is_floating_point:
        return torch.from_numpy(x.astype(np.float32)).to(dtype)
    least = np.iinfo(np.int32).min
    return torch.from_numpy(np.where(np.isfinite(x), x * 64, least).astype(np.int32))


def way_of(compiled):
    """What has a row, whether it is kept in registers or read, and how many elements are
    found, as the compiler says."""
    lines = " ".join(str(line) for line in compiled.module.diagnostics)
    found = re.search(r"(\d+) threads? for each row, .*? rows (kept|read).*?, (\d+) "
                      "(?:largest|least)", lines)
    assert found, lines
    threads, kept, count = found.groups()
    share = ("part of a warp" if int(threads) < 32 else "warp" if int(threads) == 32
             else "block" if int(threads) <= 1024 else "cluster")
    return f"{share}, {kept}", int(count)


WAYS = {
    ("top", "sim:sm_90a"): {"part of a warp, kept", "warp, read", "block, read",
                            "cluster, read"},
    ("top", "sim:sm_80"): {"part of a warp, kept", "warp, read", "block, read"},
    **{(name, "sim:sm_90a"): {"part of a warp, kept", "warp, kept", "block, kept",
                              "cluster, kept", "block, read"}
       for name in ("argmax", "min")},
    **{(name, "sim:sm_80"): {"part of a warp, kept", "warp, kept", "block, kept",
                             "block, read"} for name in ("argmax", "min")},
}


@pytest.mark.parametrize("finds,target", list(WAYS))
def test_drawn_rows(finds, target):
    taken = set()
    for i, (share, (rows, lengths)) in enumerate(SHARES.items()):
        rng = np.random.default_rng([SEED, i])
        shape = int(rng.choice(rows)), int(rng.choice(lengths))
        dtype = DTYPES[rng.integers(len(DTYPES))]
        count = int(min(rng.choice([2, 3, 8] if "warp" in share else [2, 8, 17, 40]), shape[1]))
        model = (Top(count, -1, bool(rng.integers(2))) if finds == "top"
                 else Extreme(finds)).eval()
        place = f"NM_TEST_SEED={SEED}, draw {i}: {finds} {count} of {shape}, {dtype}"
        compiled = nm.torch.export(model, rows_of(rng, shape, dtype)).compile(
            target=target, opt_level=1)
        way, found = way_of(compiled)
        assert found == (count if finds == "top" else 1), place
        taken.add(way)
        for _ in range(2):
            x = rows_of(rng, shape, dtype)
            if finds == "top":
                check_found(compiled(x), expected(x, count, -1, model.largest), place)
                continue
            if dtype.is_floating_point:
                # Zeros of both signs are equal.
                x = torch.where(torch.from_numpy(rng.random(shape) < 0.1), -x, x)
            check_extreme(finds, compiled(x), x, place)
    assert taken == WAYS[finds, target]


def check_found(got, wanted, place):
    for a, b in zip(got, wanted):
        if a.is_floating_point():
            a, b = a.nan_to_num(7), b.nan_to_num(7)
        assert torch.equal(a, b), place


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
    # The values and the places are stored by it, too.
    assert ptx.count(".entry ") == 1


@pytest.mark.parametrize("name,barriers", [
    ("max", 1), ("min", 1), ("amax and argmax", 1), ("max of absolute values", 1),
    # The largest element is read again, with the row in registers.
    ("softmax and argmax", 3)])
def test_an_element_and_its_place_are_found_by_one_reduction(name, barriers):
    exported = nm.torch.export(Extreme(name).eval(), torch.randn(512, 4096))
    ptx = nm.lower(exported.text, "ptx", target="cuda:sm_90a")
    assert ptx.count(".entry ") == 1
    # Warps meet once for each result of a row.
    assert len(re.findall(r"^\s*bar", ptx, re.MULTILINE)) == barriers


@pytest.mark.parametrize("x,k,text", [
    (torch.zeros(3, 80), 65, "between 1 and 64 elements, but got 2 dimensions and 65"),
    (torch.zeros(3, 4, dtype=torch.int64), 2, "at most 32 bits, but got i64"),
    (torch.zeros(3, 4, dtype=torch.float64), 2, "at most 32 bits, but got f64")], ids=str)
def test_refusals(x, k, text):
    with pytest.raises(nm.Error, match=text):
        nm.torch.export(Top(k, -1, True).eval(), x)
