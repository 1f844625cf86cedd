"""Checkpoints as they are found: masks, ONNX, types that NumPy has not; checked
and converted with a line for each weight, and nothing lost."""

import json
import sys

import nm
import numpy as np
import pytest
from conftest import relative_error
from conftest import write_tensors as write
from nm import _safetensors
from nm.cli import main
from onnx_bytes import field, four_bits, graph, model, node, sparse, tensor

W24 = "2:4, dim = 1"


def run_json(capsys, *args):
    code = main([*map(str, args), "--json"])
    return code, json.loads(capsys.readouterr().out)


# ONNX.


@pytest.fixture
def onnx(tmp_path):
    def write_model(*nodes, **parts):
        path = tmp_path / "model.onnx"
        path.write_bytes(model(*nodes, **parts))
        return path
    return write_model


LEFT = {"MatMul": {}, "Gemm": {}, "FusedMatMul": {}}


@pytest.mark.parametrize("op,place,attributes,axis", [
    ("MatMul", 1, {}, 0), ("MatMul", 0, {}, 1),
    ("Gemm", 1, {}, 0), ("Gemm", 1, {"transB": 1}, 1), ("Gemm", 1, {"transB": 0}, 0),
    ("Gemm", 0, {}, 1), ("Gemm", 0, {"transA": 1}, 0),
    ("FusedMatMul", 1, {"transB": 1}, 1)])
@pytest.mark.parametrize("through", ["", "Identity", "Cast", "Transpose"])
def test_products_say_the_axis(draw, onnx, tmp_path, capsys, op, place, attributes, axis,
                               through):
    flips = through == "Transpose"
    w = draw.weight((64, 48), "2:4", axis=1 - axis if flips else axis)
    name = "t" if through else "w"
    nodes = [node(through, ["w"], ["t"])] if through else []
    inputs = [name, "x"] if place == 0 else ["x", name]
    path = onnx(*nodes, node(op, inputs, ["y"], **attributes),
                initializers=[tensor("w", w)])
    code, found = run_json(capsys, "check", path)
    expected = "2:4" if (axis == 0) != flips else "2:4, dim = 1"
    assert code == 0 and found["w"]["pattern"] == expected
    assert run_json(capsys, "check", path, "--pattern=2:4")[1]["w"]["holds"]
    out = tmp_path / "out.safetensors"
    code, report = run_json(capsys, "convert", path, "-o", out)
    assert report["weights"]["w"]["pattern"] == expected
    assert report["weights"]["w"]["bytes"] < 0.6 * report["weights"]["w"]["dense_bytes"]
    np.testing.assert_array_equal(nm.load_weights(out)["w"].decompress(), w)
    # Whoever says the axis has it.
    assert not run_json(capsys, "check", path, "--pattern=2:4",
                        f"--axis={1 if (axis == 0) != flips else 0}")[1]["w"]["holds"]


def test_long_chains_of_nodes(draw, onnx):
    w = draw.weight((64, 48), "2:4", axis=0)
    chain = [node("Transpose" if i % 3 == 0 else "Identity", [f"t{i}"], [f"t{i + 1}"])
             for i in range(6000)]
    path = onnx(*chain, node("MatMul", ["x", "t6000"], ["y"]),
                initializers=[tensor("t0", w)])
    assert nm.io.open_weights(path).axis("t0") == 0
    # A circle, as only a damaged file has it.
    path = onnx(node("Identity", ["w"], ["v"]), node("Identity", ["v"], ["w"]),
                initializers=[tensor("w", w)])
    assert nm.io.open_weights(path).axis("w") is None


def test_onnx_of_no_said_axis_hints(draw, onnx, tmp_path, capsys):
    path = onnx(initializers=[tensor("w", draw.weight((64, 48), "2:4", axis=0))])
    assert "axis 0 it is 2:4" in run_json(capsys, "check", path)[1]["w"]["hint"]
    out = tmp_path / "out.safetensors"
    assert main(["convert", str(path), "-o", str(out)]) == 1
    assert not out.exists()


@pytest.mark.parametrize("points,block", [
    (None, 0), (np.zeros(16, np.int8), 0), (np.arange(16, dtype=np.int8) - 3, 0),
    (np.int8(5), 0), ("u8", 0), (np.arange(32, dtype=np.int8).reshape(16, 2), 16)])
def test_quantized_weights(rng, onnx, tmp_path, capsys, points, block):
    kept = nm.prune(rng.integers(1, 60, (16, 32), dtype=np.int8), "2:4", axis=1).weight
    scales = rng.uniform(0.01, 1, (16, 2) if block else 16).astype(np.float32)
    stored = kept
    if isinstance(points, str):
        points = np.uint8(128)
        stored = (kept.astype(int) + 128).astype(np.uint8)
    elif points is not None:
        wide = points.astype(int)
        wide = (np.repeat(wide, block, 1) if block else
                wide.reshape(-1, 1) if wide.ndim else wide)
        stored = (kept + wide).astype(np.int8)
    inputs = ["q", "s"] + ([] if points is None else ["z"])
    parts = [tensor("q", stored), tensor("s", scales)] + (
        [] if points is None else [tensor("z", points)])
    attributes = {"axis": 1 if block else 0, **({"block_size": block} if block else {})}
    path = onnx(node("DequantizeLinear", inputs, ["d"], **attributes),
                node("Gemm", ["x", "d"], ["y"], transB=1), initializers=parts)
    source = nm.io.open_weights(path)
    np.testing.assert_array_equal(source.scale("q"), scales.reshape(-1))
    found = source.zero_points("q")
    if points is None:
        assert found is None
    else:
        np.testing.assert_array_equal(
            stored.astype(int) - found, kept.astype(int))
    assert run_json(capsys, "check", path)[1]["q"]["pattern"] == W24
    out = tmp_path / "out.safetensors"
    code = main(["convert", str(path), "-o", str(out), "--json"])
    if points is None or not np.any(points):
        assert code == 0
        np.testing.assert_array_equal(nm.load_weights(out)["q"].decompress(), kept)
    else:
        assert code == 1 and not out.exists()
        assert main(["convert", str(path), "-o", str(out), "--pattern=2:4"]) == 1
        assert main(["convert", str(path), "-o", str(out), "--format=dense"]) == 0
    # The file still says what the weight is multiplied with, and what its zeros are.
    again = nm.io.open_weights(out)
    np.testing.assert_array_equal(again.scale("q"), source.scale("q"))
    after = again.zero_points("q")
    assert (after is None) == (found is None)
    if found is not None:
        np.testing.assert_array_equal(after, found)
    capsys.readouterr()
    assert run_json(capsys, "check", out)[1]["q"]["pattern"] == W24
    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "q is quantized: scales s, " in printed and (
        "without zero points" if points is None else
        f"zero points z, {'not all' if np.any(points) else 'all'} of them 0") in printed


@pytest.mark.parametrize("in_bytes", [False, True])
@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize("k,n", [(48, 20), (36, 7), (5, 3)])
def test_integers_of_four_bits(rng, onnx, tmp_path, is_signed, in_bytes, k, n):
    """Beside a weight of floats, which is condensed; all is in the file that is written."""
    values = nm.prune(rng.integers(-8, 8, (k, n), dtype=np.int8), "2:4", axis=0).weight
    point = 0 if is_signed else 8
    floats = nm.prune(rng.standard_normal((64, 8), np.float32), "2:4", axis=0).weight
    scales = rng.uniform(0.01, 1, n).astype(np.float32)
    path = onnx(
        node("DequantizeLinear", ["q", "s", "z"], ["d"], axis=1),
        node("MatMul", ["x", "d"], ["y"]), node("MatMul", ["x", "w"], ["v"]), initializers=[
            four_bits("q", values.astype(int) + point, is_signed, in_bytes),
            four_bits("z", np.full(n, point), is_signed, in_bytes), tensor("s", scales),
            tensor("w", floats)])
    out = tmp_path / "out.safetensors"
    nm.convert(path, out, skip=True)
    for source in map(nm.io.open_weights, (path, out)):
        np.testing.assert_array_equal(source["q"].astype(int), values.astype(int) + point)
        np.testing.assert_array_equal(source.weight("q"), values)
        np.testing.assert_array_equal(source.scale("q"), scales)
    np.testing.assert_array_equal(nm.load_weights(out)["w"].decompress(), floats)


def test_damaged_integers_of_four_bits(rng, onnx):
    whole = four_bits("q", np.ones((3, 5), int), True, True)
    shape, _, rest = whole.partition(field(1, 5))
    for size in (4, 7):
        source = nm.io.open_weights(onnx(initializers=[shape + field(1, size) + rest]))
        with pytest.raises(nm.FileFormatError, match=f"q: expected {3 * size} elements"):
            source["q"]


def test_blocks_that_do_not_divide_a_weight(rng, onnx, tmp_path):
    """36 rows in blocks of 16 are three: two of 16, and one of 4."""
    kept = nm.prune(rng.integers(1, 60, (36, 16), dtype=np.int8), "2:4", axis=0).weight
    points, scales = np.array([[1], [2], [3]], np.int8), np.float32([[4], [5], [6]])
    path = onnx(node("DequantizeLinear", ["q", "s", "z"], ["d"], axis=0, block_size=16),
                node("MatMul", ["x", "d"], ["y"]),
                initializers=[tensor("q", (kept + np.repeat(points, 16, 0)[:36]).astype(
                    np.int8)), tensor("s", np.repeat(scales, 16, 1)),
                    tensor("z", np.repeat(points, 16, 1))])
    out = tmp_path / "out.safetensors"
    nm.convert(path, out, format="dense")
    for source in map(nm.io.open_weights, (path, out)):
        np.testing.assert_array_equal(source.zero_points("q")[:, 0], [1] * 16 + [2] * 16 + [3] * 4)
        assert nm.check(source.weight("q"), "2:4", axis=0)
    spread = nm.io.open_weights(out)["q_scale"]
    np.testing.assert_array_equal(spread[:, 0], [4] * 16 + [5] * 16 + [6] * 4)


@pytest.mark.parametrize("linear", [True, False])
def test_sparse_tensors_with_two_values_at_one_place(onnx, linear):
    places = np.array([0, 0, 5] if linear else [[0, 0], [0, 0], [0, 5]], np.int64)
    twice = (field(1, tensor("w", np.float32([1, 2, 3]))) + field(2, tensor("", places))
             + field(3, 4) + field(3, 8))
    source = nm.io.open_weights(onnx(node("MatMul", ["x", "w"], ["y"]),
                                     sparse_initializers=[twice]))
    with pytest.raises(nm.FileFormatError, match="w: .*two values at one place"):
        source["w"]


def test_condensed_weights_keep_their_axis(draw, onnx, tmp_path, capsys):
    """Of an ONNX model [in, out], whose file of condensed weights has no nodes."""
    w = draw.weight((64, 32), "2:4", axis=0)
    path = onnx(node("MatMul", ["x", "w"], ["y"]), initializers=[tensor("w", w)])
    nm.convert(path, tmp_path / "w.safetensors")
    found = run_json(capsys, "check", tmp_path / "w.safetensors")[1]["w"]
    assert found["pattern"] == "2:4" and not found.get("hint")
    out = tmp_path / "out.safetensors"
    assert main(["prune", str(tmp_path / "w.safetensors"), "--pattern=1:4", "-o",
                 str(out)]) == 0
    np.testing.assert_array_equal(nm.io.open_weights(out)["w"],
                                  nm.prune(w, "1:4", axis=0).weight)


def test_a_mask_of_another_shape_is_refused(draw, tmp_path):
    path = tmp_path / "m.safetensors"
    write(path, fc__weight_orig=draw.array(8, 16), fc__weight_mask=draw.array(8, 8))
    with pytest.raises(nm.FileFormatError, match=r"fc.weight_mask \[8, 16\].* got \[8, 8\]"):
        nm.io.open_weights(path)


def test_prune_names_the_weight_that_a_block_does_not_fit(draw, tmp_path, capsys):
    path, out = tmp_path / "m.safetensors", tmp_path / "o.safetensors"
    write(path, a__weight=draw.array(64, 32), narrow__weight=draw.array(16, 32))
    assert main(["prune", str(path), "--pattern=8:32", "--block=1x32", "-o", str(out)]) == 1
    assert "'narrow.weight': expected a block 1x32 to fit" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("op,inputs,scale", [
    ("QLinearMatMul", ["x", "xs", "xz", "q", "s", "z", "ys", "yz"], True),
    ("MatMulInteger", ["x", "q", "xz", "z"], False)])
def test_quantized_products(rng, onnx, capsys, op, inputs, scale):
    kept = nm.prune(rng.integers(1, 60, (32, 16), dtype=np.int8), "2:4", axis=0).weight
    path = onnx(node(op, inputs, ["y"]), initializers=[
        tensor("q", (kept + 7).astype(np.int8)), tensor("s", np.float32(0.5)),
        tensor("z", np.int8(7))])
    source = nm.io.open_weights(path)
    assert (source.scale("q") is not None) == scale
    assert run_json(capsys, "check", path)[1]["q"]["pattern"] == "2:4"


def test_zero_points_of_groups(rng, tmp_path, capsys):
    """As compressed-tensors has them of int-quantized weights."""
    kept = nm.prune(rng.integers(1, 60, (16, 32), dtype=np.int8), "2:4", axis=1).weight
    points = rng.integers(-8, 8, (16, 4), dtype=np.int8)
    path = tmp_path / "m.safetensors"
    write(path, fc__weight=(kept + np.repeat(points, 8, 1)).astype(np.int8),
          fc__weight_zero_point=points,
          fc__weight_scale=rng.uniform(0, 1, (16, 4)).astype(np.float32))
    found = run_json(capsys, "check", path)[1]
    assert found["fc.weight"]["pattern"] == W24
    assert "zero points of fc.weight" in found["fc.weight_zero_point"]["reason"]
    assert main(["convert", str(path), "-o", str(tmp_path / "o.safetensors")]) == 1
    assert main(["prune", str(path), "--pattern=1:4", "-o",
                 str(tmp_path / "o.safetensors")]) == 1


@pytest.mark.parametrize("linear", [True, False])
def test_sparse_and_constant_weights(draw, onnx, tmp_path, capsys, linear):
    w = [draw.weight((8, 32), "2:4", axis=1) for _ in range(4)]
    inner = graph(node("Constant", [], ["inner"], value=tensor("", w[3])),
                  node("Gemm", ["x", "inner"], ["y"], transB=1))
    path = onnx(node("Constant", [], ["dense"], value=tensor("", w[0])),
                node("Constant", [], ["few"], sparse_value=sparse("", w[1], linear)),
                node("Constant", [], ["scalar"], value=tensor("", np.float32(3))),
                node("If", ["c"], ["r"], then_branch=inner),
                sparse_initializers=[sparse("given", w[2], linear)])
    source = nm.io.open_weights(path)
    assert set(source) == {"dense", "few", "given", "inner"}
    for name, array in zip(("dense", "few", "given", "inner"), w):
        np.testing.assert_array_equal(source[name], array)
    found = run_json(capsys, "check", path)[1]
    assert {name: each["pattern"] for name, each in found.items()} == dict.fromkeys(
        source, W24)
    report = run_json(capsys, "convert", path, "-o", tmp_path / "o.safetensors")[1]
    assert set(report["weights"]) == set(source)


@pytest.mark.parametrize("op,attributes,axis", [
    ("MatMul", {}, 0), ("Gemm", {}, 0), ("Gemm", {"transB": 1}, 1)])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("dtype,limit", [(np.float32, 1e-5), (np.float16, 2e-3)])
def test_products_of_unstructured_weights(rng, onnx, tmp_path, capsys, op, attributes,
                                          axis, kind, dtype, limit):
    """From the file to the product, in the simulator, too."""
    w = rng.standard_normal((330, 41) if axis == 0 else (41, 330)).astype(dtype)
    w[rng.random(w.shape) < 0.8] = 0
    given = {"dense": {"initializers": [tensor("w", w)]},
             "sparse": {"sparse_initializers": [sparse("w", w)]}}[kind]
    path = onnx(node(op, ["x", "w"], ["y"], **attributes), **given)
    kept = f"unstructured, kept = {np.count_nonzero(w)}"
    assert run_json(capsys, "check", path, "--pattern=unstructured")[1]["w"]["holds"]
    assert not run_json(capsys, "check", path,
                        "--pattern=unstructured, kept = 9")[1]["w"]["holds"]
    out = tmp_path / "out.safetensors"
    code, report = run_json(capsys, "convert", path, "--pattern=unstructured", "-o", out)
    assert code == 0 and report["weights"]["w"]["pattern"].startswith(kept)
    assert report["weights"]["w"]["bytes"] < 0.4 * report["weights"]["w"]["dense_bytes"]
    condensed = nm.load_weights(out)["w"]
    assert condensed.pattern.axis == axis
    np.testing.assert_array_equal(condensed.decompress(), w)
    w64 = w.astype(np.float64) if axis == 0 else w.astype(np.float64).T
    for rows in (1, 5, 40):
        x = rng.standard_normal((rows, 330)).astype(dtype)
        assert relative_error(nm.matmul(x, condensed), x.astype(np.float64) @ w64) < limit
    # What the file keeps goes on as it is, and less is pruned.
    pruned = tmp_path / "pruned.safetensors"
    assert main(["prune", str(path), "--pattern=unstructured", "--sparsity=0.9", "-o",
                 str(pruned)]) == 0
    capsys.readouterr()
    less = nm.io.open_weights(pruned)["w"]
    assert np.count_nonzero(less) == round(0.1 * w.size)
    np.testing.assert_array_equal(less[less != 0], w[less != 0])
    assert main(["prune", str(path), "--pattern=unstructured", "-o", str(pruned)]) == 1
    assert "expected --sparsity=SHARE" in capsys.readouterr().err


@pytest.mark.parametrize("pattern", ["unstructured", "2:4"])
def test_filters_of_pruned_convolutions(rng, onnx, tmp_path, capsys, pattern):
    """A Conv's filter is the matrix [out, taps and channels] of its product."""
    w = rng.standard_normal((24, 16, 3, 2)).astype(np.float32)
    if pattern == "2:4":
        w[np.argsort(np.abs(w.reshape(24, 4, 4, 6)), axis=2).argsort(axis=2).reshape(
            w.shape) < 2] = 0
    else:
        w[rng.random(w.shape) < 0.85] = 0
    path = onnx(node("Conv", ["x", "w"], ["y"], kernel_shape=(3, 2)),
                initializers=[tensor("w", w)])
    assert run_json(capsys, "check", path, f"--pattern={pattern}")[1]["w"]["holds"]
    out = tmp_path / "out.safetensors"
    report = run_json(capsys, "convert", path, f"--pattern={pattern}", "-o", out)[1]
    assert report["weights"]["w"]["pattern"].startswith(pattern)
    condensed = nm.load_weights(out)["w"]
    matrix = w.transpose(0, 2, 3, 1).reshape(24, -1)
    np.testing.assert_array_equal(condensed.decompress(), matrix)
    # The product of an image's patches is the convolution.
    image = rng.standard_normal((2, 16, 7, 6)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 2), axis=(2, 3))
    patches = np.ascontiguousarray(windows.transpose(0, 2, 3, 4, 5, 1)).reshape(-1, 96)
    exact = np.einsum("bcyxij,fcij->byxf", windows.astype(np.float64), w)
    assert relative_error(nm.matmul(patches, condensed), exact.reshape(-1, 24)) < 1e-5
    back = tmp_path / "dense.safetensors"
    assert run_json(capsys, "convert", out, "--format=dense", "-o", back)[0] == 0
    np.testing.assert_array_equal(nm.io.open_weights(back)["w"], w)


def test_damaged_sparse_tensors(draw, onnx):
    w = draw.weight((8, 32), "2:4", axis=1)
    for change in (lambda text: text.replace(b"\x18\x08", b"\x18\x07"),
                   lambda text: text[:-4] + b"\x18\xff\xff\xff\xff\x0f" + text[-2:]):
        path = onnx(sparse_initializers=[change(sparse("given", w))])
        with pytest.raises(nm.FileFormatError):
            nm.io.open_weights(path)["given"]


def test_embeddings_of_onnx(draw, onnx, tmp_path, capsys):
    w = draw.weight((64, 32), "2:4", axis=1)
    path = onnx(node("Gather", ["w", "i"], ["e"]), node("Gemm", ["e", "v"], ["y"]),
                initializers=[tensor("w", w), tensor("v", w.T.copy())])
    report = run_json(capsys, "convert", path, "-o", tmp_path / "o.safetensors")[1]
    assert set(report["weights"]) == {"v"} and "embedding" in report["left_dense"]["w"]


@pytest.mark.parametrize("place", ["blobs", "folder", "elsewhere"])
def test_external_data_behind_links(draw, tmp_path, place):
    """As Hugging Face lays out its cache."""
    folder = tmp_path / "hub" / "snapshots" / "1a2b"
    folder.mkdir(parents=True)
    w = draw.array(3, 5)
    target = {"blobs": tmp_path / "hub" / "blobs" / "f00", "folder": folder / "f00",
              "elsewhere": tmp_path / "f00"}[place]
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(w.tobytes())
    (folder / "model.onnx_data").symlink_to(target)
    from onnx_bytes import field
    (folder / "model.onnx").write_bytes(model(initializers=[
        field(1, 3) + field(1, 5) + field(2, 1) + field(8, "w")
        + field(13, field(1, "location") + field(2, "model.onnx_data"))]))
    source = nm.io.open_weights(folder / "model.onnx")
    if place == "elsewhere":
        with pytest.raises(nm.FileFormatError, match="model's folder"):
            source["w"]
    else:
        np.testing.assert_array_equal(source["w"], w)


# A line for every weight.


def test_nothing_is_passed_over_in_silence(draw, tmp_path, capsys):
    path, out = tmp_path / "m.safetensors", tmp_path / "out.safetensors"
    half = draw.weight((16, 32), "2:4", axis=1)
    mask = (half != 0).astype(np.float32)
    write(path, fc__weight=half, row__weight=draw.weight((1, 32), "2:4", axis=1),
          experts__weight=draw.array(2, 16, 32), conv__weight=draw.array(4, 4, 3, 3),
          wte__weight=half, conv1d__weight=half.T.copy(), bytes=np.ones((4, 4), np.uint8),
          fc__weight_scale=draw.array(16, 1), doubles=("f64", np.ones((4, 4))),
          pruned__weight_orig=draw.array(16, 32), pruned__weight_mask=mask,
          bias=draw.array(16))
    expected = {
        "fc.weight": W24, "row.weight": W24, "wte.weight": W24, "pruned.weight": W24,
        "experts.weight": "3 dimensions", "conv.weight": "no zeros",
        "bytes": "of u8", "doubles": "of f64", "fc.weight_scale": "scales of fc.weight"}
    found = run_json(capsys, "check", path)[1]
    for name, text in expected.items():
        assert text in (found[name]["pattern"] or found[name]["reason"]), name
    assert "axis 0 it is 2:4" in found["conv1d.weight"]["hint"]
    assert set(found) == {*expected, "conv1d.weight"}
    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr().out
    for name in found:
        assert name in printed
    assert "pruned.weight is pruned.weight_orig times pruned.weight_mask" in printed
    found = run_json(capsys, "check", path, "--pattern=2:4")[1]
    assert found["row.weight"]["holds"] and found["experts.weight"]["holds"] is None

    report = run_json(capsys, "convert", path, "-o", out)[1]
    assert set(report["weights"]) == {"fc.weight", "row.weight", "pruned.weight"}
    assert set(report["left_dense"]) == set(found) - set(report["weights"])
    assert "embedding" in report["left_dense"]["wte.weight"]
    assert "axis 0 it is 2:4" in report["left_dense"]["conv1d.weight"]
    original = nm.io.open_weights(path)["pruned.weight_orig"]
    source = nm.io.open_weights(out)
    np.testing.assert_array_equal(source["pruned.weight"],
                                  np.where(mask, original, 0))
    assert not [name for name in source if name.startswith("pruned.weight_")]
    report = run_json(capsys, "convert", path, "-o", out, "--name=wte*")[1]
    assert set(report["weights"]) == {"wte.weight"}


def test_conv1d_of_a_configuration(draw, tmp_path):
    folder = tmp_path / "gpt2"
    folder.mkdir()
    w = draw.weight((32, 48), "2:4", axis=0)
    write(folder / "model.safetensors", h__0__attn__c_attn__weight=w,
          wpe__weight=draw.weight((16, 32), "2:4", axis=1))
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    report = nm.convert(folder, tmp_path / "out", "2:4")
    assert {name: each.pattern for name, each in report.weights.items()} == {
        "h.0.attn.c_attn.weight": nm.Pattern(2, 4, axis=0)}
    assert set(report.left_dense) == {"wpe.weight"}


def test_no_file_is_larger_than_dense_unsaid(draw, tmp_path, capsys):
    path, out = tmp_path / "m.safetensors", tmp_path / "out.safetensors"
    w = draw.weight((16, 64), "15:16", axis=1, dtype=np.float16)
    write(path, fc__weight=w, half__weight=draw.weight((16, 64), "2:4", axis=1))
    report = run_json(capsys, "convert", path, "-o", out)[1]
    assert set(report["weights"]) == {"half.weight"}
    assert "15:16 it would take 11" in report["left_dense"]["fc.weight"]
    assert main(["convert", str(path), "-o", str(out), "--pattern=15:16",
                 "--name=fc*"]) == 0
    assert "larger than dense: fc.weight takes 11" in capsys.readouterr().out


def test_prune_leaves_its_input_and_embeddings(draw, tmp_path, capsys):
    path = tmp_path / "m.safetensors"
    w, table = draw.array(16, 32), draw.array(50, 32)
    write(path, fc__weight=w, embed_tokens__weight=table, lm_head__weight=table)
    before = path.read_bytes()
    (tmp_path / "link.safetensors").symlink_to(path)
    for output in (path, tmp_path / "link.safetensors", f"{tmp_path}/./m.safetensors"):
        assert main(["prune", str(path), "--pattern=2:4", "-o", str(output)]) == 1
        assert "expected an --output other than" in capsys.readouterr().err
    assert path.read_bytes() == before
    out = tmp_path / "out.safetensors"
    assert main(["prune", str(path), "--pattern=2:4", "-o", str(out)]) == 0
    assert "passed over embed_tokens.weight" in capsys.readouterr().out
    source = nm.io.open_weights(out)
    np.testing.assert_array_equal(source["embed_tokens.weight"], table)
    assert nm.check(source["lm_head.weight"], "2:4", axis=1)
    assert main(["prune", str(path), "--pattern=2:4", "-o", str(path), "--overwrite",
                 "--name=embed*"]) == 0
    source = nm.io.open_weights(path)
    assert nm.check(source["embed_tokens.weight"], "2:4", axis=1)
    np.testing.assert_array_equal(source["fc.weight"], w)


def test_only_weights_of_no_pattern_say_why(tmp_path, capsys):
    path = tmp_path / "m.safetensors"
    write(path, fc__weight=np.ones((4, 4), np.uint8))
    for command in (["check", str(path)],
                    ["prune", str(path), "--pattern=2:4", "-o",
                     str(tmp_path / "o.safetensors")]):
        assert main(command) == 1
        assert "fc.weight: it is of u8, and weights are of f32" in (
            capsys.readouterr().err)


def test_patterns_of_convert_are_texts_too(draw, tmp_path):
    path, out = tmp_path / "m.safetensors", tmp_path / "o.safetensors"
    write(path, a__weight=draw.weight((16, 32), "2:4", axis=1),
          b__weight=draw.weight((16, 32), "2:4", axis=1))
    assert len(nm.convert(path, out, "2:4").weights) == 2
    assert list(nm.convert(path, out, "2:4", names="a.*").weights) == ["a.weight"]
    with pytest.raises(nm.PatternError, match="expected a pattern like"):
        nm.convert(path, out, "two of four")


def test_bf16_and_f8_without_ml_dtypes(rng, tmp_path, monkeypatch, capsys):
    path, out = tmp_path / "m.safetensors", tmp_path / "o.safetensors"
    bits = (rng.standard_normal((16, 32)).astype(np.float32).view(np.uint32) >> 16).astype(
        np.uint16)
    bits[:, 0::4] = 0
    bits[:, 2::4] = 0x8000  # -0.0
    codes = rng.integers(1, 120, (16, 32), dtype=np.uint8)
    codes[:, 1::2] = 0
    write(path, a__weight=("bf16", bits), b__weight=("f8E4M3FN", codes),
          c__weight=rng.standard_normal((4, 8)).astype(np.float32))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    found = run_json(capsys, "check", path, "--pattern=2:4", "--name=[ab]*")[1]
    assert found["a.weight"]["holds"] and found["b.weight"]["holds"]
    assert found["a.weight"]["negative_zeros"] == 128
    for form in ("nm", "compressed-tensors"):
        assert set(run_json(capsys, "convert", path, "-o", out, "--pattern=2:4", "--skip",
                            f"--format={form}")[1]["weights"]) == {"a.weight", "b.weight"}
        back = tmp_path / "back.safetensors"
        nm.convert(out, back, format="dense")
        element, again = nm.io.open_weights(back).raw("a.weight")
        assert element == "bf16"
        np.testing.assert_array_equal(again, np.where(bits == 0x8000, 0, bits))
    assert main(["prune", str(path), "--pattern=1:4", "-o", str(out)]) == 0
    assert nm.check(nm.io.open_weights(out).weight("a.weight"), "1:4", axis=1)
    with pytest.raises(nm.DTypeError, match="the package ml_dtypes for bf16"):
        nm.io.open_weights(path)["a.weight"]


def test_filters(draw, tmp_path):
    """Of convolutions: [out, in, taps], whose matrix is [out, taps and channels]."""
    from onnx_bytes import field, graph, node, tensor

    matrix = draw.weight((32, 9 * 16), "2:4", axis=1)
    sparse = np.ascontiguousarray(matrix.reshape(32, 3, 3, 16).transpose(0, 3, 1, 2))
    # Of groups: [out, channels of a group, taps].
    of_groups = draw.weight((30, 9 * 8), "2:4", axis=1)
    groups = np.ascontiguousarray(of_groups.reshape(30, 3, 3, 8).transpose(0, 3, 1, 2))
    model = field(7, graph(
        node("Conv", ["x", "sparse"], ["a"]), node("Conv", ["a", "groups"], ["b"], group=2),
        node("Conv", ["b", "depthwise"], ["c"], group=32),
        node("Conv", ["c", "point"], ["d"]),
        initializers=[tensor("sparse", sparse), tensor("groups", groups),
                      tensor("depthwise", draw.array(32, 1, 3, 3)),
                      tensor("point", draw.array(16, 32, 1, 1)),
                      tensor("other", draw.array(2, 3, 4, 5))]))
    path = tmp_path / "model.onnx"
    path.write_bytes(model)
    source = nm.io.open_weights(path)
    assert source.matrices() == ["sparse", "groups", "point"]
    assert np.array_equal(source.weight("sparse"), matrix) and source.axis("sparse") == 1
    assert source["sparse"].shape == (32, 16, 3, 3)
    assert np.array_equal(source.weight("groups"), of_groups)
    assert source.why_no_matrix("depthwise") == (
        "it is the filter of 32 groups, each of one channel, which are not summed")
    assert "4 dimensions" in source.why_no_matrix("other")
    target = tmp_path / "model.safetensors"
    nm.convert(path, target)
    again = nm.io.open_weights(target)
    assert again.condensed("sparse").shape == (32, 144)
    assert again.condensed("groups").shape == (30, 72)
    assert np.array_equal(again["groups"], of_groups)
    assert np.array_equal(again["sparse"], matrix)
    assert np.array_equal(again["point"], source["point"])


def test_filters_are_pruned_in_their_shape(draw, tmp_path):
    from nm.cli import main
    from nm import _safetensors

    dense = draw.array(8, 16, 3, 3)
    path, out = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    _safetensors.write(str(path), {"conv.weight": ("f32", dense), "deep.weight": (
        "f32", draw.array(8, 1, 3, 3))}, {})
    assert main(["prune", str(path), "--pattern=4:16", f"--output={out}"]) == 0
    pruned = nm.io.open_weights(out)["conv.weight"]
    assert pruned.shape == dense.shape
    assert ((pruned != 0).sum(1) == 4).all() and np.all((pruned == 0) | (pruned == dense))
