"""Unstructured weights: formats, files and products, against float64."""

import json
import re

import nm
import numpy as np
import pytest
from conftest import reference, relative_error
from nm.cli import main

SHARES = (0.0, 0.02, 0.1, 0.3, 0.5, 1.0)


def draw_weight(rng, shape, share, dtype=np.float32):
    """About `share` of the weights, anywhere; a column and a row of k are empty, and
    another column is full."""
    dense = rng.standard_normal(shape) + 0.1
    if np.dtype(dtype) == np.int8:
        dense = rng.integers(1, 100, shape)
    dense = np.where(rng.random(shape) < share, dense, 0).astype(dtype)
    if 0 < share < 1:
        dense[rng.integers(shape[0])] = 0
        dense[:, rng.integers(shape[1])] = 0
        dense[rng.integers(shape[0])] = 3
    return dense


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("axis", [0, 1])
def test_products(rng, draw, share, axis):
    for k, n in ((1, 3), (300, 17)):
        dense = draw_weight(rng, (k, n) if axis == 0 else (n, k), share)
        w = nm.compress(dense, "unstructured", axis=axis)
        assert w.values.shape == (1, max(np.count_nonzero(dense), 1))
        assert np.array_equal(w.decompress(), dense)
        for shape in ((k,), (7, k), (130, k), (0, k)):
            x = draw.array(*shape)
            y = nm.matmul(x, w)
            assert y.shape == (*shape[:-1], n) and y.dtype == np.float32
            assert relative_error(y, reference(x, dense, axis)) < 1e-5


@pytest.mark.parametrize("dtype,tolerance", [("float16", 2e-3), ("int8", 0),
                                             ("bfloat16", 1e-2)])
@pytest.mark.parametrize("rows", [1, 5, 40])
def test_element_types(rng, draw, dtype, tolerance, rows):
    if dtype == "bfloat16":
        kind = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    else:
        kind = np.dtype(dtype)
    dense = draw_weight(rng, (530, 41), 0.06, kind)
    x = draw.array(rows, 530, dtype=kind)
    y = nm.matmul(x, nm.compress(dense, "unstructured", axis=0))
    exact = reference(x.astype(np.float64), dense.astype(np.float64), 0)
    assert relative_error(y, exact) <= tolerance


@pytest.mark.parametrize("rows", [1, 40])
def test_epilogues_and_views(rng, draw, rows):
    dense = draw_weight(rng, (48, 200), 0.08)
    w = nm.compress(dense, "unstructured")
    bias = draw.array(48)
    x = draw.array(200, rows).T
    y = nm.matmul(x, w, bias, "relu")
    assert relative_error(y, reference(x, dense, 1, bias, "relu")) < 1e-5


def module(rows, dense, element="f32", transposed=False, result=None):
    """A product whose weights are a constant."""
    k, n = dense.shape
    result = result or element
    text = json.dumps(np.asarray(dense, np.float64).tolist())
    a = f"{k}x{rows}" if transposed else f"{rows}x{k}"
    maps = (", indexing_maps = [affine_map<(m, n, k) -> (k, m)>, "
            "affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]")
    return f"""
func.func @product(%a: tensor<{a}x{element}>) -> tensor<{rows}x{n}x{result}> {{
  %b = arith.constant dense<{text}> : tensor<{k}x{n}x{element}>
  %zero = arith.constant 0.0 : {result}
  %e = tensor.empty() : tensor<{rows}x{n}x{result}>
  %f = linalg.fill ins(%zero : {result}) outs(%e : tensor<{rows}x{n}x{result}>)
    -> tensor<{rows}x{n}x{result}>
  %p = linalg.matmul {maps[2:] if transposed else ""}
    ins(%a, %b : tensor<{a}x{element}>, tensor<{k}x{n}x{element}>)
    outs(%f : tensor<{rows}x{n}x{result}>) -> tensor<{rows}x{n}x{result}>
  return %p : tensor<{rows}x{n}x{result}>
}}"""


@pytest.mark.parametrize("rows", [1, 3, 17, 70])
@pytest.mark.parametrize("transposed", [False, True])
def test_constants_are_detected(rng, draw, rows, transposed):
    dense = draw_weight(rng, (600, 35), 0.05)
    compiled = nm.compile(module(rows, dense, transposed=transposed))
    x = draw.array(*((600, rows) if transposed else (rows, 600)))
    y = compiled(x)
    assert relative_error(y, reference(x.T if transposed else x, dense, 0)) < 1e-5
    (op,) = compiled.functions["product"].ops
    assert "unstructured" in str(op.pattern)


def of_constant(rows, dense, element):
    """As `module`, of weights that are too many to be written as numbers."""
    k, n = dense.shape
    a, b, c = (f"tensor<{shape}x{element}>"
               for shape in (f"{rows}x{k}", f"{k}x{n}", f"{rows}x{n}"))
    return f"""
func.func @product(%a: {a}, %c: {c}) -> {c} {{
  %b = arith.constant dense<"0x{dense.tobytes().hex()}"> : {b}
  %p = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %p : {c}
}}"""


def test_half_of_the_constants(rng):
    """On a GPU estimates say whether the zeros are skipped: for one row they are."""
    dense = draw_weight(rng, (2048, 2048), 0.5)
    chosen = {(target, rows): nm.lower(of_constant(rows, dense, "f32"), "schedule", target)
              for target, rows in (("cuda:sm_90a", 1), ("cuda:sm_90a", 256), ("cpu", 1))}
    assert "schedule #nm.gemv_columns<" in chosen["cuda:sm_90a", 1]
    assert "columns" not in chosen["cuda:sm_90a", 256].split("alternatives")[0]
    assert "unstructured" not in chosen["cpu", 1]


@pytest.mark.parametrize("rows", [1, 3, 17, 70])
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_half_of_the_constants_is_right(rng, draw, rows, element):
    kind = np.float32 if element == "f32" else np.float16
    for share in (0.5, 0.65, 0.85):
        dense = draw_weight(rng, (530, 75), share, kind)
        x, c = draw.array(rows, 530, dtype=kind), draw.array(rows, 75, dtype=kind)
        exact = reference(x, dense, 0) + c
        y = nm.compile(of_constant(rows, dense, element), target="sim:sm_90a")(x, c)
        assert relative_error(y, exact) < (1e-5 if element == "f32" else 2e-3), share


@pytest.mark.parametrize("rows", [1, 40])
def test_pruned_weights_meet_no_activation(rng, rows):
    """An infinite activation makes nothing of columns that do not have its row."""
    dense = draw_weight(rng, (900, 64), 0.02)
    dense[11] = 0
    dense[11, 3] = 1
    x = rng.standard_normal((rows, 900)).astype(np.float32)
    x[0, 11] = np.inf
    y = nm.compile(module(rows, dense), dense_fallback=False)(x)
    assert np.isinf(y[0, 3])
    assert np.isfinite(np.delete(y, 3, axis=1)).all()


@pytest.mark.parametrize("schedule", [
    "simt_columns<block=[128,4,1],warp=[128,1],thread=[4,1],slice_k=1>",
    "simt_columns<block=[64,8,1],warp=[32,1],thread=[1,1],slice_k=2>",
    "simt_columns<block=[64,16,1],warp=[32,8],thread=[1,8],slice_k=2>"])
def test_no_weight_meets_no_activation(rng, schedule):
    """Weights of a column are multiplied several at a time. Where there are fewer, the
    row of the last one is not multiplied by zero: its activation may be infinite."""
    dense = draw_weight(rng, (300, 16), 0.05)
    dense[:, 3] = dense[299] = 0
    dense[[7, 30, 100, 200, 299], 3] = 1
    x = rng.standard_normal((300, 70)).astype(np.float32)
    x[299, 0] = np.inf
    y = nm.compile(module(70, dense, transposed=True), target="sim:sm_90a",
                   schedule=schedule)(x)
    assert y[0, 3] == np.inf
    y[0, 3] = x[299, 0] = 0
    exact = reference(x.T, dense, 0)
    exact[0, 3] = 0
    assert relative_error(y, exact) < 1e-5


def of_argument(rows, w):
    """A product whose weights are an argument."""
    encoding = f", #nm.encoding<{w.pattern}>"
    b = f"tensor<{w.shape[0]}x{w.shape[1]}xf32{encoding}>"
    a, c = f"tensor<{rows}x{w.k}xf32>", f"tensor<{rows}x{w.n}xf32>"
    order = "(n, k)" if w.pattern.axis == 1 else "(k, n)"
    return f"""
func.func @product(%a: {a}, %b: {b}, %bias: tensor<{w.n}xf32>) -> {c} {{
  %e = tensor.empty() : {c}
  %f = linalg.broadcast ins(%bias : tensor<{w.n}xf32>) outs(%e : {c}) dimensions = [0]
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> {order}>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : {a}, {b}) outs(%f : {c}) -> {c}
  return %p : {c}
}}"""


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("schedule", ["wgmma", None])
def test_loaded_weights_are_packed_dense(rng, draw, axis, schedule):
    """As split floats, on the simulator: where that is asked for, and where it is chosen."""
    sizes = ((130, 100, 70), (41, 2100, 129), (1, 33, 64), (70, 61, 5)) if schedule else ((640, 500, 1003),)
    for rows, k, n in sizes:
        dense = draw_weight(rng, (k, n) if axis == 0 else (n, k), rng.choice([0.1, 0.3, 0.5]))
        if not schedule:
            dense = draw_weight(rng, dense.shape, 0.5)
        w = nm.compress(dense, "unstructured", axis=axis)
        x, bias = draw.array(rows, k), draw.array(n)
        options = {"schedule": schedule} if schedule else {}
        compiled = nm.compile(of_argument(rows, w), target="sim:sm_90a", **options)
        (op,) = compiled.functions["product"].ops
        assert op.strategy == "wgmma", op.alternatives
        y = compiled.functions["product"].bind(w)(x, bias)
        assert relative_error(y, reference(x, dense, axis, bias)) < 1e-5, (rows, k, n)


def of_two_products(rows, w, element):
    """Products of different rows with one weight, an argument."""
    b = f"tensor<{w.shape[0]}x{w.shape[1]}x{element}, #nm.encoding<{w.pattern}>>"
    order = "(n, k)" if w.pattern.axis == 1 else "(k, n)"
    arguments, results, products = [], [], []
    for i, m in enumerate(rows):
        a, c = f"tensor<{m}x{w.k}x{element}>", f"tensor<{m}x{w.n}xf32>"
        arguments.append(f"%a{i}: {a}, %c{i}: {c}")
        results.append(c)
        products.append(f"""
  %p{i} = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
    affine_map<(m, n, k) -> {order}>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a{i}, %b : {a}, {b}) outs(%c{i} : {c}) -> {c}""")
    names = ", ".join(f"%p{i}" for i in range(len(rows)))
    return f"""
func.func @product({", ".join(arguments)}, %b: {b}) -> ({", ".join(results)}) {{{"".join(products)}
  return {names} : {", ".join(results)}
}}"""


#: Rows of the products; the schedules that both may have: one form, or one for each.
SHARED = [((40, 40), None), ((1, 70), None), ((3, 150, 17), None), ((130, 1), "simt"),
          ((70, 70), "wgmma")]


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
@pytest.mark.parametrize("element,tolerance", [("f32", 1e-5), ("f16", 2e-3)])
@pytest.mark.parametrize("rows,schedule", SHARED)
def test_one_loaded_weight_of_several_products(rng, draw, rows, schedule, element, tolerance,
                                               target):
    if schedule is not None and (target == "cpu" or (schedule, element) == ("simt", "f16")):
        pytest.skip("no such schedule")
    kind = {"f32": np.float32, "f16": np.float16}[element]
    for axis, share in ((0, 0.1), (1, 0.5)):
        k, n = int(rng.integers(30, 300)), int(rng.integers(3, 100))
        dense = draw_weight(rng, (k, n) if axis == 0 else (n, k), share, kind)
        w = nm.compress(dense, "unstructured", axis=axis)
        options = {} if schedule is None else {"schedule": schedule}
        compiled = nm.compile(of_two_products(rows, w, element), target=target, **options)
        assert not [each for each in compiled.diagnostics if "at each call" in str(each)]
        given = [(draw.array(m, k, dtype=kind), draw.array(m, n)) for m in rows]
        outs = [np.full((m, n), np.nan, np.float32) for m in rows]
        bound = compiled.functions["product"].bind(w)
        bound(*(each for pair in given for each in pair), out=outs)
        for (x, c), y in zip(given, outs):
            exact = reference(x.astype(np.float64), dense.astype(np.float64), axis) + c
            assert relative_error(y, exact) < tolerance, (rows, k, n, axis)


@pytest.mark.parametrize("element,pattern,tolerance,forms", [
    ("f32", "unstructured", 1e-5, 2), ("f16", "unstructured", 2e-3, None),
    ("f32", "2:4", 1e-5, 2), ("f16", "2:4", 2e-3, 2)])
def test_forms_of_one_loaded_weight(rng, draw, element, pattern, tolerance, forms):
    """Schedules that want the weight packed differently have a form each; others share it."""
    kind = {"f32": np.float32, "f16": np.float16}[element]
    dense = draw_weight(rng, (300, 257), 0.5, kind)
    if pattern != "unstructured":
        dense = nm.prune(dense, pattern, axis=0).weight
    w = nm.compress(dense, pattern, axis=0)
    for rows, expected in (((33, 33), 1), ((1, 640), forms)):
        compiled = nm.compile(of_two_products(rows, w, element), target="sim:sm_90a")
        function = compiled.functions["product"]
        found = len(function._entry["pack"]["weights"])
        assert found == (expected or found) <= len(rows), rows
        given = [(draw.array(m, 300, dtype=kind), draw.array(m, 257)) for m in rows]
        for y, (x, c) in zip(function.bind(w)(*(each for pair in given for each in pair)), given):
            exact = reference(x.astype(np.float64), dense.astype(np.float64), 0) + c
            assert relative_error(y, exact) < tolerance, rows


def check_few_rows(draw, rows, dense, element, schedule, tolerance):
    """Multiplies drawn rows by `dense` with `schedule`, on the simulator."""
    compiled = nm.compile(module(rows, dense, element, result="f32"),
                          target="sim:sm_90a", schedule=schedule)
    (op,) = compiled.functions["product"].ops
    assert op.strategy == schedule.partition("<")[0]
    x = draw.array(rows, len(dense), dtype=dense.dtype)
    exact = reference(x.astype(np.float64), dense.astype(np.float64), 0)
    assert relative_error(compiled(x), exact) < tolerance, (dense.shape, schedule)


@pytest.mark.parametrize("rows", [1, 2, 7, 11])
@pytest.mark.parametrize("element,tolerance", [("f32", 1e-5), ("f16", 2e-3), ("bf16", 1e-2)])
def test_few_rows_walk_along_columns(rng, draw, rows, element, tolerance):
    """Constants with gaps of every width and rows, parts and edges, on the simulator."""
    kind = {"f32": np.float32, "f16": np.float16}.get(element)
    if kind is None:
        kind = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    for bits in (2, 4, 8, 16):
        k, n = int(rng.integers(200, 700)), int(rng.integers(20, 80))
        dense = draw_weight(rng, (k, n), rng.choice([0.01, 0.1, 0.2, 0.3]), kind)
        schedule = (f"gemv_columns<gap_bits={bits},slice_k={rng.integers(1, 9)},"
                    f"stages={rng.integers(1, 5)}>")
        check_few_rows(draw, rows, dense, element, schedule, tolerance)


@pytest.mark.parametrize("rows", [2, 7, 11, 19])
@pytest.mark.parametrize("element,tolerance", [("f16", 2e-3), ("bf16", 1e-2)])
def test_few_rows_by_bits(rng, draw, rows, element, tolerance):
    """Constants of which few or many are kept, slices and edges, on the simulator."""
    kind = np.float16
    if element == "bf16":
        kind = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    for share in (0.02, 0.1, 0.3):
        k, n = int(rng.integers(100, 900)), int(rng.integers(20, 80))
        dense = draw_weight(rng, (k, n), share, kind)
        schedule = (f"mma_bitmap<slice_k={rng.integers(1, 9)},"
                    f"stages={rng.integers(2, 4)}>")
        check_few_rows(draw, rows, dense, element, schedule, tolerance)


def test_zeros_between_weights_are_told(rng):
    """They meet activations, which dense_fallback=False forbids."""
    dense = draw_weight(rng, (300, 40), 0.05)
    with pytest.raises(nm.CompileError, match="zeros stand between weights"):
        nm.compile(module(1, dense), target="sim:sm_90a", schedule="gemv_columns",
                   dense_fallback=False)


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("is_loaded", [True, False])
@pytest.mark.parametrize("rows,share", [(3, 0.05), (3, 0.6), (40, 0.1), (40, 0.6)])
def test_no_pruned_weight_meets_an_infinity(rng, rows, share, is_loaded, element):
    """With dense_fallback=False, however many rows there are and weights kept."""
    kind = {"f32": np.float32, "f16": np.float16}[element]
    dense = draw_weight(rng, (300, 90), share, kind)
    text = module(rows, dense, element, result="f32")
    if is_loaded:
        pattern = f"unstructured, kept = {np.count_nonzero(dense)}"
        b = f"tensor<300x90x{element}"
        text = re.sub(r"  %b = arith.constant.*\n", "", text).replace(
            ") -> tensor", f", %b: {b}, #nm.encoding<{pattern}>>) -> tensor", 1).replace(
            f"{b}>)\n", f"{b}, #nm.encoding<{pattern}>>)\n")
    compiled = nm.compile(text, target="sim:sm_90a", dense_fallback=False, cache=False)
    x = rng.standard_normal((rows, 300)).astype(kind)
    x[0, 7], x[1, 9] = np.inf, np.nan
    weights = [nm.compress(dense, pattern, axis=0)] if is_loaded else []
    y = np.asarray(compiled(x, *weights))
    for row, k, wrong in ((0, 7, np.isinf), (1, 9, np.isnan)):
        np.testing.assert_array_equal(wrong(y[row]), dense[k] != 0)
        assert np.isfinite(y[row, dense[k] == 0]).all()
    assert np.isfinite(y[2:]).all()


def test_prunes_to_a_sparsity(rng):
    dense = rng.standard_normal((30, 50)).astype(np.float32)
    pruned, report = nm.prune(dense, "unstructured", sparsity=0.9)
    assert np.count_nonzero(pruned) == 150 and report.dropped == 1350
    assert np.abs(dense[pruned == 0]).max() <= np.abs(pruned[pruned != 0]).min()
    scores = rng.random((30, 50)).astype(np.float32)
    pruned, _ = nm.prune(dense, "unstructured, kept = 7", scores=scores)
    assert set(np.flatnonzero(pruned)) == set(np.argsort(scores.reshape(-1))[-7:])
    with pytest.raises(nm.PatternError, match="with pattern 'unstructured' alone"):
        nm.prune(dense, "2:4", sparsity=0.5)
    with pytest.raises(nm.PatternError, match="from 0 to below 1"):
        nm.prune(dense, "unstructured", sparsity=1.0)
    with pytest.raises(nm.PatternError, match="expected an N:M pattern"):
        nm.prune(dense, "unstructured, kept = 7", permute=True)


def test_check_tells_of_a_near_pattern(rng, tmp_path, capsys):
    dense = nm.prune(rng.standard_normal((64, 256)).astype(np.float32), "2:4", axis=1).weight
    dense[5, 8:12] = 1
    report = nm.check(dense, "unstructured")
    assert report and str(report.near) == "2:4, dim = 1" and report.near_excess == 2
    report = nm.check(dense, "1:4", axis=1)
    assert not report and report.near_excess == 2 and "nearly holds" in str(report)
    assert not nm.check(dense, "unstructured, kept = 8")
    path = tmp_path / "w.npy"
    np.save(path, dense)
    assert main(["check", str(path), "--pattern=1:4", "--axis=1"]) == 1
    assert "pattern 2:4, dim = 1 (50 % sparse) nearly holds: 2 of" in (
        capsys.readouterr().out)


def test_detects_where_asked(rng):
    dense = draw_weight(rng, (90, 120), 0.2)
    assert nm.detect(dense, axis=1)[0] is None
    found, reason = nm.detect(dense, axis=1, unstructured=True)
    assert found.is_unstructured and found.n == np.count_nonzero(dense)
    assert "anywhere" in reason


def test_files(rng, tmp_path):
    w = nm.compress(draw_weight(rng, (33, 70), 0.2, np.float16), "unstructured")
    path = tmp_path / "w.safetensors"
    w.save(path)
    data = path.read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    assert header["__metadata__"]["version"] == "4"
    again = nm.SparseTensor.load(path)
    assert again.pattern == w.pattern and np.array_equal(again.indices, w.indices)
    assert np.array_equal(again.values, w.values)
    with pytest.raises(nm.PatternError, match="bits of"):
        nm.SparseTensor(w.values, np.full_like(w.indices, 255), w.shape, w.pattern)


@pytest.mark.parametrize("text,message", [
    ("unstructured, kept = 0", "expected a pattern like"),
    ("unstructured, block = 4", "expected a pattern like"),
    ("unstructured, block = 0x4", "expected a block of 1x1 to"),
    ("2:0", "expected 1 <= M <= 256"),
])
def test_refuses_other_texts(text, message):
    with pytest.raises(nm.PatternError, match=message):
        nm.check(np.zeros((4, 4), np.float32), text)


def draw_blocks(rng, shape, block, share):
    """Blocks of which about `share` are not zero, of (k, n)."""
    units = rng.random([-(-size // each) for size, each in zip(shape, block)]) < share
    mask = np.kron(units, np.ones(block))[:shape[0], :shape[1]]
    return np.where(mask, rng.standard_normal(shape), 0).astype(np.float32)


@pytest.mark.parametrize("block", [(4, 4), (1, 32), (16, 16), (8, 1)])
@pytest.mark.parametrize("axis", [0, 1])
def test_blocks(rng, draw, block, axis, tmp_path):
    dense = draw_blocks(rng, (130, 70), block, 0.2)
    dense = dense if axis == 0 else dense.T.copy()
    text = f"unstructured, block = {block[0]}x{block[1]}"
    assert nm.check(dense, text, axis=axis).holds
    w = nm.compress(dense, text, axis=axis)
    assert w.pattern.block == block and w.pattern.n == max(np.count_nonzero(dense), 1)
    assert np.array_equal(w.decompress(), dense)
    path = tmp_path / "w.safetensors"
    w.save(path)
    data = path.read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    assert header["__metadata__"]["version"] == "5"
    again = nm.SparseTensor.load(path)
    assert again.pattern == w.pattern and np.array_equal(again.decompress(), dense)
    for rows in (1, 7, 130):
        x = draw.array(rows, 130)
        assert relative_error(nm.matmul(x, w), reference(x, dense, axis)) < 1e-5


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
def test_constant_blocks(rng, draw, target):
    """On a GPU the windows of blocks that hold, on a CPU their columns."""
    dense = draw_blocks(rng, (256, 64), (16, 16), 0.15)
    compiled = nm.compile(module(9, dense), target)
    x = draw.array(9, 256)
    assert relative_error(compiled(x), reference(x, dense, 0)) < 1e-5


def test_detects_blocks():
    dense = draw_blocks(np.random.default_rng(0), (512, 512), (16, 16), 0.15)
    found, reason = nm.detect(dense, axis=0, unstructured=True)
    assert found.is_unstructured and found.block == (16, 16), reason
    assert found.n == np.count_nonzero(dense)


def test_pruning_blocks(rng):
    dense = rng.standard_normal((64, 48)).astype(np.float32)
    pruned, report = nm.prune(dense, "unstructured, block = 4x8", axis=0, sparsity=0.75)
    units = pruned.reshape(16, 4, 6, 8)
    kept = (units != 0).any((1, 3))
    assert kept.sum() == 24 and ((units != 0).sum((1, 3))[kept] == 32).all()
    norms = (dense.reshape(16, 4, 6, 8).astype(np.float64) ** 2).sum((1, 3))
    assert norms[kept].min() >= norms[~kept].max()
    assert report.dropped == dense.size * 3 // 4
    again, _ = nm.prune(dense, nm.Pattern(24 * 32, 0, (4, 8), 0))
    assert np.array_equal(again, pruned)
