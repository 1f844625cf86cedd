"""nm.matmul and nm.prepare, against float64."""

import threading

import nm
import numpy as np
import pytest
from conftest import reference, relative_error
from nm._matmul_text import Product


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("pattern,block", [("2:4", None), ("1:8", None),
                                           ("8:32", (1, 16)), ("1:2", (4, 4))])
def test_patterns_and_axes(draw, pattern, block, axis):
    k, n = 70, 45
    dense = draw.weight((k, n) if axis == 0 else (n, k), pattern, axis=axis,
                        block=block)
    w = nm.compress(dense, pattern, block, axis)
    for shape in ((k,), (1, k), (7, k), (33, k), (2, 3, k), (0, k)):
        x = draw.array(*shape)
        y = nm.matmul(x, w)
        assert y.shape == (*shape[:-1], n) and y.dtype == np.float32
        assert relative_error(y, reference(x, dense, axis)) < 1e-6


@pytest.mark.parametrize("activation",
                         [None, "relu", "gelu", "gelu_tanh", "silu"])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("scaling", [None, "one", "columns"])
def test_epilogues(draw, activation, with_bias, scaling):
    dense = draw.weight((24, 32), "2:4", axis=1)
    w = nm.compress(dense, "2:4", axis=1)
    bias = draw.array(24) if with_bias else None
    scale = {None: None, "one": 0.5, "columns": draw.array(24)}[scaling]
    for rows in (1, 40):
        x = draw.array(rows, 32)
        y = nm.matmul(x, w, bias, activation, scale=scale)
        expected = reference(x, dense, 1, bias, activation, scale)
        assert relative_error(y, expected) < 2e-6


@pytest.mark.parametrize("dtype,tolerance", [("float16", 2e-3), ("int8", 0),
                                             ("bfloat16", 2e-2)])
@pytest.mark.parametrize("activation", [None, "relu"])
def test_element_types(draw, dtype, tolerance, activation):
    if dtype in ("float16", "int8"):
        kind = np.dtype(dtype)
    else:
        kind = np.dtype(getattr(pytest.importorskip("ml_dtypes"), dtype))
    dense = draw.weight((64, 16), "2:4", dtype=kind)
    x = draw.array(5, 64, dtype=kind)
    y = nm.matmul(x, nm.compress(dense, "2:4", axis=0), activation=activation)
    whole = np.int32 if activation is None else np.float32
    assert y.dtype == {"int8": whole}.get(dtype, kind)
    exact = reference(x.astype(np.float64), dense.astype(np.float64), 0, None,
                      activation)
    assert relative_error(y, exact) <= max(tolerance, 1e-7 * bool(activation))


@pytest.mark.parametrize("dtype,name", [("float8_e4m3fn", "f8E4M3FN"),
                                        ("float8_e5m2", "f8E5M2")])
def test_a_type_that_the_cpu_has_not(draw, dtype, name):
    kind = np.dtype(getattr(pytest.importorskip("ml_dtypes"), dtype))
    w = nm.compress(draw.weight((64, 16), "2:4", dtype=kind), "2:4", axis=0)
    with pytest.raises(nm.CompileError, match=f"but got '{name}'") as caught:
        nm.matmul(draw.array(5, 64, dtype=kind), w)
    assert caught.value.diagnostics[0].place.startswith("module.mlir:")


def test_int8_with_scale_and_bias(draw):
    dense = draw.weight((64, 16), "2:4", dtype=np.int8)
    x, bias = draw.array(5, 64, dtype=np.int8), draw.array(16)
    y = nm.matmul(x, nm.compress(dense, "2:4", axis=0), bias, scale=1e-3)
    assert y.dtype == np.float32
    assert relative_error(y, reference(x, dense, 0, bias, None, 1e-3)) < 1e-6


def test_strided_inputs(draw):
    dense = draw.weight((32, 16), "2:4")
    w = nm.compress(dense, "2:4", axis=0)
    wide = draw.array(6, 4, 64)
    read_only = wide[..., :32]
    read_only.setflags(write=False)
    for x in (wide[..., :32], wide[..., ::2], wide[:, :, 31::-1],
              wide.transpose(1, 0, 2)[..., :32], wide[::2, ::-1, :32], read_only,
              np.asfortranarray(wide[0, :, :32]), np.broadcast_to(
                  wide[:1, :, :32], (6, 4, 32))):
        assert relative_error(nm.matmul(x, w), reference(x, dense, 0)) < 1e-6
    record = np.zeros(5, dtype=[("tag", "i1"), ("x", "f4", 32)])
    record["x"] = draw.array(5, 32)
    assert relative_error(nm.matmul(record["x"], w),
                          reference(record["x"], dense, 0)) < 1e-6


def test_out(draw):
    dense = draw.weight((32, 16), "2:4")
    w, x = nm.compress(dense, "2:4", axis=0), draw.array(5, 32)
    out = np.full((5, 16), np.nan, np.float32)
    assert nm.matmul(x, w, out=out) is out
    expected = reference(x, dense, 0)
    assert relative_error(out, expected) < 1e-6
    # Strided, and over memory that is read.
    wide = np.full((5, 48), 7, np.float32)
    nm.matmul(x, w, out=wide[:, 1:33:2])
    assert relative_error(wide[:, 1:33:2], expected) < 1e-6
    assert (wide[:, 0] == 7).all() and (wide[:, 2::2] == 7).all()
    both = np.zeros((5, 40), np.float32)
    both[:, :32] = x
    nm.matmul(both[:, :32], w, out=both[:, 8:24])
    assert relative_error(both[:, 8:24], expected) < 1e-6


def test_out_errors(draw):
    w, x = nm.compress(draw.weight((32, 16), "2:4"), "2:4", axis=0), draw.array(5, 32)
    with pytest.raises(nm.ShapeError, match=r"\(5, 16\), but got \(5, 15\)"):
        nm.matmul(x, w, out=np.zeros((5, 15), np.float32))
    with pytest.raises(nm.DTypeError, match="expected out of f32"):
        nm.matmul(x, w, out=np.zeros((5, 16)))
    locked = np.zeros((5, 16), np.float32)
    locked.setflags(write=False)
    with pytest.raises(nm.Error, match="read-only"):
        nm.matmul(x, w, out=locked)


@pytest.mark.parametrize("change,error,text", [
    (lambda a: a | {"x": a["x"][:, :30]}, nm.ShapeError, r"\[..., 32\]"),
    (lambda a: a | {"x": np.float32(1)}, nm.ShapeError, r"\[..., 32\]"),
    (lambda a: a | {"x": a["x"].astype("f8")}, nm.DTypeError, "x of f32"),
    (lambda a: a | {"x": a["x"].tolist()}, TypeError, "__dlpack__"),
    (lambda a: a | {"x": a["x"].astype(">f4")}, nm.DTypeError, "byte order"),
    (lambda a: a | {"w": a["x"]}, TypeError, "nm.SparseTensor"),
    (lambda a: a | {"bias": a["x"][0]}, nm.ShapeError, r"bias of shape \(16,\)"),
    (lambda a: a | {"bias": np.zeros(16)}, nm.DTypeError, "bias of f32"),
    (lambda a: a | {"activation": "swish"}, nm.Error, "silu, but got 'swish'"),
    (lambda a: a | {"scale": float("nan")}, nm.Error, "expected a finite scale"),
    (lambda a: a | {"scale": np.full(16, np.inf, np.float32)}, nm.Error,
     "finite.*scale 0 is inf"),
])
def test_errors(draw, change, error, text):
    given = {"x": draw.array(5, 32),
             "w": nm.compress(draw.weight((32, 16), "2:4"), "2:4", axis=0)}
    with pytest.raises(error, match=text):
        nm.matmul(**change(given))


@pytest.mark.parametrize("arithmetic", [None, "f32", "ieee", "bf16x3", "tf32"])
def test_arithmetic(draw, arithmetic):
    dense = draw.weight((32, 16), "2:4")
    w = nm.compress(dense, "2:4", axis=0)
    x = draw.array(5, 32)
    y = nm.matmul(x, w, arithmetic=arithmetic)
    assert relative_error(y, reference(x, dense, 0)) < 1e-6
    assert nm.prepare(x, w, arithmetic=arithmetic)(x).tobytes() == y.tobytes()


def test_arithmetic_is_on_the_product(draw):
    w = nm.compress(draw.weight((32, 16), "2:4"), "2:4", axis=0)
    text = Product(w, 5, None, True, False, "tf32").text(5)
    assert "arithmetic <tf32>" in nm.lower(text)
    assert "arithmetic" not in nm.lower(Product(w, 5, None, True, False).text(5))
    assert "arithmetic <ieee>" in nm.lower(
        Product(w, 5, None, True, False).text(5), arithmetic="ieee")


def test_refused_arithmetic(draw):
    x = draw.array(5, 32)
    w = nm.compress(draw.weight((32, 16), "2:4"), "2:4", axis=0)
    with pytest.raises(nm.Error, match="fast_accum, but got 'fp8'"):
        nm.matmul(x, w, arithmetic="fp8")
    half = nm.compress(draw.weight((32, 16), "2:4").astype("f2"), "2:4", axis=0)
    with pytest.raises(nm.DTypeError, match="weight of f32 for arithmetic tf32"):
        nm.matmul(x.astype("f2"), half, arithmetic="tf32")
    with pytest.raises(nm.DTypeError, match="weight of f8E4M3FN or f8E5M2 for "
                                            "arithmetic fast_accum"):
        nm.matmul(x, w, arithmetic="fast_accum")


def test_fast_accumulation_is_on_the_product(draw):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dense = draw.weight((32, 16), "2:4").astype(ml_dtypes.float8_e4m3fn)
    w = nm.compress(dense, "2:4", axis=0)
    text = Product(w, 5, None, False, False, "fast_accum").text(5)
    assert "arithmetic <fast_accum>" in nm.lower(text)


def test_prepare(draw):
    dense = draw.weight((32, 16), "2:4")
    w, bias = nm.compress(dense, "2:4", axis=0), draw.array(16)
    product = nm.prepare(draw.array(5, 32), w, bias, "relu")
    assert "2:4" in product.remark and "strategy" in product.remark
    for _ in range(3):
        x = draw.array(5, 32)
        expected = reference(x, dense, 0, bias, "relu")
        assert relative_error(product(x), expected) < 1e-6
        out = np.empty((5, 16), np.float32)
        assert product(x, out=out) is out
        assert relative_error(out, expected) < 1e-6
    for other in (draw.array(4, 32), draw.array(5, 32).astype("f2"),
                  draw.array(32, 5).T):
        with pytest.raises(nm.ShapeError, match="prepared for"):
            product(other)


def test_threads(draw):
    dense = draw.weight((64, 48), "2:4")
    w = nm.compress(dense, "2:4", axis=0)
    product = nm.prepare(draw.array(9, 64), w)
    inputs = [draw.array(9, 64) for _ in range(4)]
    wrong = []

    def work(x):
        expected = reference(x, dense, 0)
        for _ in range(200):
            if relative_error(product(x), expected) > 1e-6:
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(x,)) for x in inputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_array_interface(draw):
    dense = draw.weight((32, 16), "2:4")
    x = draw.array(5, 32)

    class Wrapped:
        def __init__(self, array):
            self.array = array
            self.__array_interface__ = array.__array_interface__

    w = nm.compress(Wrapped(dense), "2:4", axis=0)
    y = nm.matmul(Wrapped(x), w)
    assert isinstance(y, np.ndarray)
    assert relative_error(y, reference(x, dense, 0)) < 1e-6


def test_dlpack(draw):
    """An object that speaks DLPack and nothing else."""
    dense = draw.weight((32, 16), "2:4")
    x = draw.array(5, 32)

    class Wrapped:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    w = nm.compress(Wrapped(dense), "2:4", axis=0)
    y = nm.matmul(Wrapped(x), w)
    assert relative_error(y, reference(x, dense, 0)) < 1e-6
    y = nm.matmul(Wrapped(x.T.copy().T), w)
    assert relative_error(y, reference(x, dense, 0)) < 1e-6
    out = np.zeros((5, 16), np.float32)
    nm.matmul(Wrapped(x), w, out=out)
    assert relative_error(out, reference(x, dense, 0)) < 1e-6


def test_kernels_for_every_number_of_rows(draw, monkeypatch):
    """More than are kept: old ones go, and come again."""
    monkeypatch.setattr("nm._kernels._KEPT_BOUND", 6)
    dense = draw.weight((32, 16), "2:4")
    w = nm.compress(dense, "2:4", axis=0)
    for rows in (*range(1, 10), 40, 1, 2, 40):
        x = draw.array(rows, 32)
        assert relative_error(nm.matmul(x, w), reference(x, dense, 0)) < 1e-6
    assert len(w._bound) <= 6
    assert all(call._bound in w._bound.values() for call in w._prepared.values())


def test_precompile(draw, monkeypatch):
    w = nm.compress(draw.weight((36, 20), "2:4"), "2:4", axis=0)
    remarks = nm.precompile(w, [3, 17, None], bias=True)
    assert len(remarks) == 3 and "m = 3" in remarks[0] and "m = ?" in remarks[1]
    monkeypatch.setattr("nm._compile._run", None)
    bias = draw.array(20)
    for rows in (3, 17, 50):
        assert nm.matmul(draw.array(rows, 36), w, bias).shape == (rows, 20)
    with pytest.raises(TypeError):
        nm.matmul(draw.array(4, 36), w, bias)
