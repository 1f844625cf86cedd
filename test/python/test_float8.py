"""8-bit floats: their conversions, products and files."""

import nm
import numpy as np
import pytest
from product_text import PRODUCT_OPS, text_of
from conftest import relative_error
from test_special_values import exact_product

ml_dtypes = pytest.importorskip("ml_dtypes")
KINDS = {"f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
         "f8E5M2": np.dtype(ml_dtypes.float8_e5m2)}

CONVERSIONS = """
#map = affine_map<(i) -> (i)>
func.func @encode(%x: tensor<?xf32>, %o: tensor<?xKIND>) -> tensor<?xKIND> {
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
    ins(%x : tensor<?xf32>) outs(%o : tensor<?xKIND>) {
  ^bb0(%a: f32, %b: KIND):
    %c = arith.truncf %a : f32 to KIND
    linalg.yield %c : KIND
  } -> tensor<?xKIND>
  return %r : tensor<?xKIND>
}
func.func @decode(%x: tensor<?xKIND>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
    ins(%x : tensor<?xKIND>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: KIND, %b: f32):
    %c = arith.extf %a : KIND to f32
    linalg.yield %c : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
PRODUCT = f"""
func.func @f(%x: tensor<MxKxKIND>, %w: tensor<KxNxKIND, #nm.encoding<PATTERN>>)
    -> tensor<MxNxf32> {{
{PRODUCT_OPS.replace("xKxf32>", "xKxKIND>").replace("KxNxf32", "KxNxKIND")}
  return %r : tensor<MxNxf32>
}}
"""


def chip_of(schedule):
    """A chip that has a schedule's instruction of 8-bit floats."""
    return "sim:sm_89" if schedule == "mma_sp" else "sim:sm_90a"


def all_of(kind):
    return np.arange(256, dtype=np.uint8).view(kind)


def assert_same_numbers(got, expected):
    """Bit by bit, but for NaNs."""
    nans = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), nans)
    word = f"u{expected.dtype.itemsize}"
    np.testing.assert_array_equal(got.view(word)[~nans], expected.view(word)[~nans])


@pytest.fixture(scope="module", params=KINDS)
def conversions(request):
    text = CONVERSIONS.replace("KIND", request.param)
    return nm.compile(text), KINDS[request.param]


def test_every_number_is_decoded(conversions):
    module, kind = conversions
    numbers = all_of(kind)
    result = module["decode"](numbers, np.empty(256, np.float32))
    assert_same_numbers(np.asarray(result), numbers.astype(np.float32))


def test_numbers_are_rounded_to_nearest_even(conversions, rng):
    """Those of the type, the middles between neighbours and what is beside them,
    what overflows, and any bits."""
    module, kind = conversions
    exact = np.sort(all_of(kind).astype(np.float32))
    exact = exact[np.isfinite(exact)]
    beyond = np.float32(2) * exact[-1] - exact[-2]
    exact = np.concatenate([exact, [beyond, -beyond]]).astype(np.float32)
    exact.sort()
    middles = (exact[1:] + exact[:-1]) / 2
    infinity = np.float32(np.inf)
    drawn = rng.integers(0, 1 << 32, 100000, np.uint32).view(np.float32)
    x = np.concatenate([
        exact, middles, np.nextafter(middles, infinity),
        np.nextafter(middles, -infinity), drawn,
        np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38], np.float32)])
    result = module["encode"](x, np.full(x.size, 0x55, np.uint8).view(kind))
    with np.errstate(over="ignore", invalid="ignore"):
        assert_same_numbers(np.asarray(result), x.astype(kind))


OTHERS = """
func.func @of_f64(%x: tensor<?xf64>) -> tensor<?xKIND> {
  %r = arith.truncf %x : tensor<?xf64> to tensor<?xKIND>
  return %r : tensor<?xKIND>
}
func.func @to_f64(%x: tensor<?xKIND>) -> tensor<?xf64> {
  %r = arith.extf %x : tensor<?xKIND> to tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @of_bf16(%x: tensor<?xbf16>) -> tensor<?xKIND> {
  %r = arith.truncf %x : tensor<?xbf16> to tensor<?xKIND>
  return %r : tensor<?xKIND>
}
func.func @to_bf16(%x: tensor<?xKIND>) -> tensor<?xbf16> {
  %r = arith.extf %x : tensor<?xKIND> to tensor<?xbf16>
  return %r : tensor<?xbf16>
}
func.func @add(%x: tensor<?xKIND>, %y: tensor<?xKIND>) -> tensor<?xKIND> {
  %r = arith.addf %x, %y : tensor<?xKIND>
  return %r : tensor<?xKIND>
}
func.func @exp(%x: tensor<?xKIND>) -> tensor<?xKIND> {
  %r = math.exp %x : tensor<?xKIND>
  return %r : tensor<?xKIND>
}
"""


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90"])
@pytest.mark.parametrize("name", KINDS)
def test_other_types_and_arithmetic(name, target):
    """Conversions that pass f32 round once, and arithmetic rounds each result."""
    kind = KINDS[name]
    module = nm.compile(OTHERS.replace("KIND", name), target=target)
    numbers = all_of(kind)
    finite = numbers[np.isfinite(numbers.astype(np.float32))]
    assert_same_numbers(np.asarray(module["to_f64"](numbers)), numbers.astype(np.float64))
    bf16 = np.dtype(ml_dtypes.bfloat16)
    assert_same_numbers(np.asarray(module["to_bf16"](numbers)), numbers.astype(bf16))
    assert_same_numbers(np.asarray(module["of_bf16"](numbers.astype(bf16))), numbers)
    # By less than f32 has beside the middle of two neighbours.
    values = np.sort(np.unique(finite.astype(np.float64)))
    middles = (values[1:] + values[:-1]) / 2
    for factor, toward in ((1 + 2.0**-40, 1), (1 - 2.0**-40, 0)):
        x = middles * factor
        grows = np.abs(values[1:]) > np.abs(values[:-1])
        nearest = np.where(grows == bool(toward), values[1:], values[:-1])
        got = np.asarray(module["of_f64"](x)).astype(np.float64)
        np.testing.assert_array_equal(got, nearest)
    x, y = (grid.ravel() for grid in np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        sums = (x.astype(np.float32) + y.astype(np.float32)).astype(kind)
        powers = np.exp(numbers.astype(np.float32)).astype(kind)
    assert_same_numbers(np.asarray(module["add"](x, y)), sums)
    assert_same_numbers(np.asarray(module["exp"](numbers)), powers)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("schedule, pattern, m, k, n", [
    ("wgmma<copy_a = direct>", "2:4, block = 16x64", 37, 400, 100),
    ("wgmma<copy_a = tensor>", "3:8, block = 64x64", 130, 1040, 100),
    # Widened to f16, in registers and by way of shared memory.
    ("wgmma", "8:32, block = 1x64", 70, 208, 128), ("mma_sync", "2:5, block = 1x8", 33, 101, 40),
    ("mma_sp", "2:4", 37, 204, 100), ("wgmma_sp", "2:4", 37, 204, 100),
    ("wgmma_sp<producers = 4>", "2:4", 130, 512, 100),
    ("gemv", "8:32, block = 1x32", 5, 130, 70), ("gemv", "2:4", 1, 62, 33),
    ("loops", "3:5, block = 4x4", 7, 61, 30)])
@pytest.mark.parametrize("name", KINDS)
def test_products(draw, rng, name, schedule, pattern, m, k, n):
    kind = KINDS[name]
    # No kept weight is rounded to zero.
    w = draw.weight((k, n), pattern, axis=0)
    w = (w + np.copysign(0.25, w) * (w != 0)).astype(kind)
    x = draw.array(m, k).astype(kind)
    specials = [np.inf, -np.inf, np.nan] if name == "f8E5M2" else [np.nan]
    met = np.flatnonzero((w != 0).any(axis=1))
    for value in specials:
        x[rng.integers(m), rng.choice(met)] = value
    text = text_of(m, k, n, pattern, PRODUCT).replace("KIND", name)
    module = nm.compile(text, target=chip_of(schedule), schedule=schedule,
                        dense_fallback=False)
    result = np.asarray(module(x, w))
    exact = exact_product(x.astype(np.float64), w.astype(np.float64))
    finite = np.isfinite(exact)
    assert not finite.all() and finite.any()
    np.testing.assert_array_equal(result[~finite], exact[~finite])
    assert relative_error(result[finite], exact[finite]) < 3e-4


@pytest.mark.filterwarnings("ignore:invalid value")
def test_infinite_and_subnormal_weights(draw):
    """IEEE arithmetic: infinity times zero, and infinities of both signs, are NaN."""
    kind = KINDS["f8E5M2"]
    least = 2.0 ** -16
    w = np.zeros((64, 64), kind)
    w[0, :3] = np.inf, -np.inf, least
    w[1, :3] = 1, np.inf, least
    x = np.zeros((64, 64), kind)
    x[0, :2], x[1, :2], x[2, :2] = (1, 1), (0, 1), (least, -least)
    text = text_of(64, 64, 64, "2:4", PRODUCT).replace("KIND", "f8E5M2")
    results = [np.asarray(nm.compile(text, target=chip_of(schedule), schedule=schedule,
                                     dense_fallback=False)(x, w))[:3, :3]
               for schedule in ("mma_sp", "wgmma_sp", "gemv", "loops")]
    expected = [[np.inf, np.nan, 2 * least], [np.nan, np.nan, least],
                [np.inf, -np.inf, 0]]
    for result in results:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", KINDS)
def test_files(draw, tmp_path, name):
    """What ml_dtypes, this package and nm-run's writer save."""
    w = draw.weight((8, 16), "2:4", axis=1, dtype=KINDS[name])
    np.save(tmp_path / "w.npy", w)
    np.save(tmp_path / "columns.npy", np.asfortranarray(w))
    np.savez(tmp_path / "w.npz", a=w, b=w.T)
    nm.compress(w, "2:4", axis=1).save(tmp_path / "w.safetensors")
    for path in ("w.npy", "columns.npy", "w.npz", "w.safetensors"):
        loaded = nm.io.load_dense(tmp_path / path, "a" if path == "w.npz" else None)
        assert loaded.dtype == w.dtype
        assert loaded.tobytes() == w.tobytes()
    np.testing.assert_array_equal(nm.io.load_dense(tmp_path / "w.npz", "b"), w.T)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "w.npy").read_bytes()[:-1])
    with pytest.raises(nm.FileFormatError, match="is damaged"):
        nm.io.load_dense(tmp_path / "cut.npy")


def test_torch_weights():
    torch = pytest.importorskip("torch")
    for name in KINDS:
        kind = getattr(torch, KINDS[name].name)
        dense = torch.tensor([[1.0, 0, -2, 0, 0, 0.5, 0.25, 0]] * 4).to(kind)
        w = nm.compress(dense, "2:4", axis=1)
        assert w.dtype == name
        back = w.decompress(like=dense)
        assert back.dtype == kind and torch.equal(back.float(), dense.float())
