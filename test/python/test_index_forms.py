"""Unstructured weights whose places are a bitmap, or offsets and gaps."""

import json
import pickle

import nm
import numpy as np
import pytest
from conftest import reference, relative_error, write_tensors
from nm.cli import main
from test_files import rewrite

KINDS = ("float32", "float16", "bfloat16", "float8_e4m3fn", "int8")


def kind_of(name):
    if name in ("bfloat16", "float8_e4m3fn"):
        return np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    return np.dtype(name)


def draw_weight(rng, n, k, share, kind=np.dtype("float32")):
    """About `share` of ``[n, k]``: a column is empty, another one full, one has the last
    row alone, and there are NaN, infinity and -0.0 where the type has them."""
    dense = rng.integers(1, 9, (n, k)) * np.where(rng.random((n, k)) < 0.5, 1, -1)
    dense = np.where(rng.random((n, k)) < share, dense, 0).astype(kind)
    if n > 4:
        dense[rng.integers(n)] = 0
        dense[0], dense[1, :], dense[1, -1] = 2, 0, 3
    if kind.name == "float8_e4m3fn":
        dense[2 % n, 0] = np.nan
    elif kind != np.int8:
        dense[2 % n, 0], dense[2 % n, k // 2], dense[2 % n, -1] = np.nan, np.inf, -0.0
    return dense


def raw(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def test_the_smaller_form_is_taken(rng):
    """Drawn weights; the form is that of fewer bytes, and both give the same weight."""
    taken, passed = [], 0
    for i in range(60):
        kind = kind_of(KINDS[i % len(KINDS)])
        n, k = int(rng.integers(1, 40)), int(rng.integers(1, 1500))
        share = (0.2, 0.1, 0.05, 0.01, 0.001, 0)[i % 6]
        dense = draw_weight(rng, n, k, share, kind)
        axis = i % 2
        dense = dense if axis else np.ascontiguousarray(dense.T)
        w = nm.compress(dense, "unstructured", axis=axis)
        bitmap, offsets = (nm.compress(dense, "unstructured", axis=axis, index_form=form)
                           for form in ("bitmap", "offsets"))
        assert (bitmap.index_form, offsets.index_form) == ("bitmap", "offsets")
        assert w.index_form == ("offsets" if offsets.nbytes < bitmap.nbytes else "bitmap")
        taken.append(w.index_form)
        passed += int((offsets.indices[4 * (n + 1):] == 255).sum())
        expected = np.where(dense == 0, np.zeros((), kind), dense)
        for each in (w, bitmap, offsets, w.with_index_form("bitmap"),
                     bitmap.with_index_form("offsets"), offsets.with_index_form(),
                     pickle.loads(pickle.dumps(offsets))):
            assert np.array_equal(raw(each.decompress()), raw(expected))
            assert np.array_equal(raw(each.values), raw(w.values))
        assert np.array_equal(bitmap.with_index_form("offsets").indices, offsets.indices)
        assert np.array_equal(offsets.with_index_form("bitmap").indices, bitmap.indices)
        assert offsets.with_index_form("offsets") is offsets
    assert taken.count("offsets") > 10 and taken.count("bitmap") > 10 and passed > 50


@pytest.mark.parametrize("share,form", [(0.14, "bitmap"), (0.11, "offsets")])
def test_an_eighth_divides_them(rng, share, form):
    dense = np.where(rng.random((64, 2048)) < share, 1, 0).astype(np.float16)
    assert nm.compress(dense, "unstructured").index_form == form


def test_bytes(rng):
    """Offsets take a byte for a kept weight and four for a column, but for long gaps."""
    dense = np.where(rng.random((300, 1000)) < 0.05, 1, 0).astype(np.float16)
    w = nm.compress(dense, "unstructured")
    kept = np.count_nonzero(dense)
    assert kept + 4 * 301 <= w.indices.size <= 1.01 * kept + 4 * 301
    assert w.indices.shape == (w.indices.size, 1) and w.nbytes == w.indices.size + 2 * kept
    assert w.nbytes < 0.7 * nm.compress(dense, "unstructured", index_form="bitmap").nbytes
    assert "index_form=offsets" in repr(w)


def test_weights_that_are_all_zero():
    for shape in ((5, 400), (1, 1), (3, 255)):
        w = nm.compress(np.zeros(shape, np.float32), "unstructured", index_form="offsets")
        assert w.pattern.n == 1 and not w.decompress().any()
        assert w.indices.size == 4 * (shape[0] + 1)
        y = nm.matmul(np.ones((2, shape[1]), np.float32), w)
        assert y.shape == (2, shape[0]) and not y.any()


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "int8"])
def test_products(rng, draw, target, kind):
    """The same product of either form, bit by bit."""
    kind = kind_of(kind)
    for rows, n, k in ((1, 33, 700), (7, 20, 261), (40, 5, 300)):
        dense = draw_weight(rng, n, k, 0.04, kind)
        if kind != np.int8:
            dense[2] = 1
        x = draw.array(rows, k, dtype=kind)
        w = nm.compress(dense, "unstructured", index_form="offsets")
        y, z = (nm.matmul(x, each) if target == "cpu" else
                product_of(target, x, each) for each in (w, w.with_index_form("bitmap")))
        assert np.array_equal(raw(y), raw(z))
        exact = reference(x.astype(np.float64), dense.astype(np.float64), 1)
        limits = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 1e-2, "int8": 0}
        assert relative_error(y, exact) <= limits[kind.name]


def product_of(target, x, w):
    """The product by a compiled function, which is given the condensed weight."""
    element, result = w.dtype, "i32" if w.dtype == "i8" else w.dtype
    types = (f"tensor<{len(x)}x{w.k}x{element}>",
             f"tensor<{w.n}x{w.k}x{element}, #nm.encoding<{w.pattern}>>",
             f"tensor<{len(x)}x{w.n}x{result}>")
    zero = "0" if result == "i32" else "0.0"
    compiled = nm.compile(f"""
func.func @product(%a: {types[0]}, %w: {types[1]}) -> {types[2]} {{
  %zero = arith.constant {zero} : {result}
  %e = tensor.empty() : {types[2]}
  %f = linalg.fill ins(%zero : {result}) outs(%e : {types[2]}) -> {types[2]}
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %w : {types[0]}, {types[1]}) outs(%f : {types[2]}) -> {types[2]}
  return %p : {types[2]}
}}""", target)
    return compiled.functions["product"].bind(w)(x)


@pytest.mark.parametrize("block", [(4, 4), (1, 32), (16, 8)])
def test_blocks(rng, draw, block, tmp_path):
    units = rng.random((-(-130 // block[0]), -(-70 // block[1]))) < 0.05
    units[0, 0] = True
    mask = np.kron(units, np.ones(block))[:130, :70]
    dense = np.where(mask, rng.standard_normal((130, 70)), 0).astype(np.float32)
    dense[0, 0] = 0  # A zero that is kept with its unit.
    w = nm.compress(dense, "unstructured", block, 0, index_form="offsets")
    assert np.array_equal(w.decompress(), dense) and w.values.size > np.count_nonzero(dense)
    w.save(tmp_path / "w")
    assert np.array_equal(nm.SparseTensor.load(tmp_path / "w").indices, w.indices)
    x = draw.array(3, 130)
    assert relative_error(nm.matmul(x, w), reference(x, dense, 0)) < 1e-5
    wider = nm.Pattern(w.pattern.n, 0, (block[0], block[1] * 2), 0)
    with pytest.raises(nm.PatternError, match="to be equal"):
        nm.SparseTensor(w.values, w.indices, w.shape, wider)


def test_forms_that_are_refused(rng):
    dense = nm.prune(rng.standard_normal((8, 64)).astype(np.float32), "2:4", axis=1).weight
    with pytest.raises(nm.PatternError, match="None, 'bitmap' or 'offsets', but got 'rows'"):
        nm.compress(dense, "unstructured", index_form="rows")
    with pytest.raises(nm.PatternError, match="unstructured pattern alone"):
        nm.compress(dense, "2:4", axis=1, index_form="offsets")
    w = nm.compress(dense, "2:4", axis=1)
    assert w.index_form == "positions" and w.with_index_form() is w
    with pytest.raises(nm.PatternError, match="unstructured pattern alone"):
        w.with_index_form("bitmap")


#: Damage to offsets of 3 columns with gaps (7), (2, 0, 255, 31) and (), and what is said.
DAMAGE = (
    ("first", 0, 1, "column 0: expected 0, but got 1"),
    ("beyond the gaps", 4, 6, "column 1: expected at most 5, the number of gaps, but got 6"),
    ("far beyond", 7, 255, "the number of gaps, but got"),
    ("descending", 8, 0, "column 2: expected at least the 1 before, but got 0"),
    ("last", 12, 4, "expected the last to be 5, the number of gaps, but got 4"),
    ("beyond k", 20, 41, "column 1: expected rows below k = 300, but its gaps keep row 300"),
    ("no last row", 20, 255, "expected its last gap to keep a row, but got 255"),
)


@pytest.mark.parametrize("place,value,text", [each[1:] for each in DAMAGE],
                         ids=[each[0] for each in DAMAGE])
def test_damaged_offsets(tmp_path, place, value, text):
    dense = np.zeros((3, 300), np.float32)
    dense[0, 7] = dense[1, 2] = dense[1, 3] = dense[1, 290] = 1
    w = nm.compress(dense, "unstructured", index_form="offsets")
    indices = w.indices.copy()
    assert indices.reshape(-1)[16:].tolist() == [7, 2, 0, 255, 31]
    indices[place] = value
    with pytest.raises(nm.PatternError, match=text):
        nm.SparseTensor(w.values, indices, w.shape, w.pattern)
    path = tmp_path / "w.safetensors"
    w.save(path)
    damaged = path.read_bytes().replace(w.indices.tobytes(), indices.tobytes())
    path.write_bytes(damaged)
    with pytest.raises(nm.FileFormatError, match="checksum|damaged"):
        nm.SparseTensor.load(path)
    # Without checksums the indices themselves are looked at.
    rewrite(path, lambda header: None)
    with pytest.raises(nm.FileFormatError, match=text):
        nm.SparseTensor.load(path)


def test_counts_that_disagree(rng, tmp_path):
    w = nm.compress(draw_weight(rng, 9, 400, 0.05), "unstructured", index_form="offsets")
    fewer = nm.Pattern(w.pattern.n - 1, 0, (1, 1), 1)
    with pytest.raises(nm.PatternError, match=f"at most {fewer.n} kept, but got {w.pattern.n}"):
        nm.SparseTensor(w.values[:, :-1], w.indices, w.shape, fewer)
    for indices in (w.indices[:-1], w.indices[:30], w.indices[:3], w.indices.T,
                    w.indices[:, [0, 0]], np.concatenate([w.indices, w.indices[-1:]])):
        with pytest.raises(nm.PatternError, match="expected"):
            nm.SparseTensor(w.values, indices, w.shape, w.pattern)
    path = tmp_path / "w.safetensors"
    w.save(path)
    with pytest.raises(nm.FileFormatError, match="expected"):
        rewrite(path, lambda header: header["weight.indices"].update(
            shape=header["weight.indices"]["shape"][::-1]))
        nm.SparseTensor.load(path)


def test_no_damage_reads_elsewhere(rng):
    """Bytes that are changed at random are refused, or are another weight."""
    w = nm.compress(draw_weight(rng, 12, 600, 0.03), "unstructured", index_form="offsets")
    refused = 0
    for _ in range(400):
        indices = w.indices.copy()
        indices[rng.integers(0, len(indices), 2)] = rng.integers(0, 256)
        try:
            other = nm.SparseTensor(w.values, indices, w.shape, w.pattern)
        except nm.PatternError:
            refused += 1
            continue
        again = other.with_index_form("bitmap").with_index_form("offsets")
        assert np.array_equal(again.indices, indices)
        assert other.decompress().shape == w.shape
    assert 20 < refused < 400


def header_of(path):
    data = path.read_bytes()
    return json.loads(data[8:8 + int.from_bytes(data[:8], "little")])


def test_files(rng, tmp_path):
    path = tmp_path / "w.safetensors"
    dense = draw_weight(rng, 33, 700, 0.03, np.dtype("float16"))
    w = nm.compress(dense, "unstructured")
    assert w.index_form == "offsets"
    windows = nm.compress(nm.prune(rng.standard_normal((4, 8)), "2:4", axis=1).weight.astype(
        np.float32), "2:4", axis=1)
    nm.save_weights(path, {"a": w, "b": w.with_index_form("bitmap"), "c": windows})
    header = header_of(path)
    assert header["__metadata__"]["version"] == "6"
    assert header["a.indices"]["shape"] == [w.indices.size, 1]
    found = nm.load_weights(path)
    assert [each.index_form for each in found.values()] == ["offsets", "bitmap", "positions"]
    for name in ("a", "b"):
        assert found[name].pattern == w.pattern
        assert np.array_equal(raw(found[name].decompress()), raw(w.decompress()))
    # Files without offsets are as they were, for readers that do not know them.
    nm.save_weights(path, {"b": w.with_index_form("bitmap"), "c": windows})
    assert header_of(path)["__metadata__"]["version"] == "4"


def test_conversions(rng, tmp_path, capsys):
    source, old, new, back = (tmp_path / f"{name}.safetensors"
                              for name in ("source", "old", "new", "back"))
    dense = np.where(rng.random((40, 500)) < 0.05, 1, 0).astype(np.float16)
    write_tensors(source, a=dense)
    nm.save_weights(old, {"a": nm.compress(dense, "unstructured", index_form="bitmap")})
    for path in (source, old):
        report = nm.convert(path, new, "unstructured" if path == source else None)
        assert report.weights["a"].index_form == "offsets"
        assert nm.load_weights(new)["a"].index_form == "offsets"
        assert report.weights["a"].bytes < 40 * 500 / 8 + 2 * np.count_nonzero(dense)
    assert main(["convert", str(old), f"--output={new}"]) == 0
    assert ", offsets " in capsys.readouterr().out
    report = nm.convert(new, back, format="dense")
    assert np.array_equal(nm.io.open_weights(back)["a"], dense)


def test_checks_tell(rng, tmp_path, capsys):
    dense = np.where(rng.random((40, 500)) < 0.05, 1, 0).astype(np.float32)
    report = nm.check(dense, "unstructured")
    w = nm.compress(dense, "unstructured")
    assert (report.index_form, report.condensed_bytes) == ("offsets", w.nbytes)
    assert f"with offsets, it takes {w.nbytes} bytes" in str(report)
    assert report.to_dict()["index_form"] == "offsets"
    dense[:20] = 1
    assert nm.check(dense, "unstructured").index_form == "bitmap"
    assert nm.check(dense.astype(np.float64), "unstructured").index_form is None
    assert nm.check(dense, "2:4", axis=1).index_form is None
    dense[:20] = 0
    assert "offsets say where" in nm.detect(dense, axis=1, unstructured=True)[1]
    np.save(tmp_path / "w.npy", dense)
    assert main(["check", str(tmp_path / "w.npy"), "--pattern=unstructured"]) == 0
    assert "with offsets, it takes" in capsys.readouterr().out
