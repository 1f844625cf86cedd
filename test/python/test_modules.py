"""nm.compile, nm.load, nm.lower, and the cache."""

import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import nm
import numpy as np
import pytest
from conftest import ROOT, reference, relative_error
from nm.cli import main

TEXT = """
func.func @linear(%x: tensor<?x64xf32>, %w: tensor<64x48xf32, #nm.encoding<2:4>>,
                  %y: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %r = linalg.matmul
    ins(%x, %w : tensor<?x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
    outs(%y : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}
"""
TWO = """
func.func @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
    outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.mul ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
    outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %s, %m : tensor<4xf32>, tensor<4xf32>
}
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
"""


def test_records_of_given_schedules():
    module = nm.compile(TEXT, schedule="vector<thread = [4, 16]>")
    (given,) = module["linear"].ops
    assert given.source == "option" and given.parameters["thread"] == [4, 16]
    assert given.estimate_us is None and given.speedup is None
    assert given.dense_us > 0 and "with sizes that were given" in given.remark
    (gpu,) = nm.compile(TEXT, target="sim:sm_90")["linear"].ops
    assert gpu.chip == "sm_90" and gpu.threads is None and gpu.shared_bytes > 0
    assert 0 < max(gpu.multiply_floor_us, gpu.memory_floor_us) <= gpu.estimate_us
    (taken,) = (each for each in gpu.alternatives if each.chosen)
    assert (taken.name, taken.strategy) == ("own", gpu.strategy)
    assert taken.estimate_us == gpu.estimate_us and not taken.why_not
    assert "transposed: own" in {each.name for each in gpu.alternatives}
    assert not given.alternatives
    assert gpu.as_dict()["alternatives"][0]["name"] == "own"


def test_compile_text(draw):
    dense = draw.weight((64, 48), "2:4")
    x, y = draw.array(5, 64), draw.array(5, 48)
    module = nm.compile(TEXT)
    assert module.target == "cpu"
    assert any("2:4" in remark for remark in module.remarks)
    (op,) = module["linear"].ops
    assert (op.op, op.m, op.n, op.k, op.dtype) == ("nm.spmm", None, 48, 64, "f32")
    assert str(op.pattern) == "2:4" and op.source == "model"
    assert op.strategy == "vector" and op.schedule.startswith("#nm.vector<")
    assert len(op.parameters["block"]) == 3 and op.parameters["packing"]["panel"]
    assert op.estimate_us > 0 and op.speedup == op.dense_us / op.estimate_us
    assert op.threads >= 1 and op.typical_m >= 1 and op.chip is None
    assert op.shared_bytes is None and op.memory_floor_us is None
    assert not op.falls_back and op.reason in op.remark
    assert op.schedule in op.remark
    function = module["linear"]
    assert str(function) == (
        "@linear(tensor<?x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>, "
        "tensor<?x48xf32>) -> (tensor<?x48xf32>)")
    w = nm.compress(dense, "2:4", axis=0)
    expected = reference(x, dense, 0) + y
    for weight in (dense, w, (w.values, w.indices)):
        assert relative_error(module(x, weight, y), expected) < 1e-6
    bound = function.bind(w)
    out = np.empty((5, 48), np.float32)
    assert bound(x, y, out=out) is out
    assert relative_error(out, expected) < 1e-6
    prepared = bound.prepare(x, y)
    assert relative_error(prepared(x, y), expected) < 1e-6
    with pytest.raises(nm.ShapeError, match="prepared for"):
        prepared(x[:4], y)


def test_several_results(draw):
    module = nm.compile(TWO)
    x = draw.array(4)
    added, squared = module["twice"](x)
    np.testing.assert_allclose(added, x + x)
    np.testing.assert_allclose(squared, x * x)
    outs = np.empty(4, np.float32), np.empty(4, np.float32)
    assert module["twice"](x, out=outs) is outs
    np.testing.assert_allclose(outs[1], x * x)
    with pytest.raises(nm.ShapeError, match="2 arrays in out"):
        module["twice"](x, out=outs[:1])
    with pytest.raises(nm.Error, match="one function, but it has twice, same"):
        module(x)
    with pytest.raises(KeyError, match="twice, same"):
        module["none"]


def test_simulator(draw):
    """GPU kernels on arrays of the host."""
    dense = draw.weight((64, 48), "2:4")
    x, y = draw.array(5, 64), draw.array(5, 48)
    module = nm.compile(TEXT.replace("?x", "5x"), target="sim:sm_90a")
    assert module.target == "sim"
    assert relative_error(module(x, dense, y), reference(x, dense, 0) + y) < 1e-6


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="not x86-64")
def test_bfloat16_without_instructions_for_it(draw):
    kind = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    dense = draw.weight((64, 48), "2:4", dtype=kind)
    x, y = draw.array(5, 64, dtype=kind), draw.array(5, 48, dtype=kind)
    y[1, 3], y[2, 5] = np.nan, np.inf
    module = nm.compile(TEXT.replace("f32", "bf16"), mcpu="x86-64-v3")
    result = module(x, dense, y).astype(np.float64)
    exact = reference(x.astype(np.float64), dense.astype(np.float64), 0) + y
    assert np.array_equal(np.isnan(result), np.isnan(exact))
    finite = np.isfinite(exact)
    assert relative_error(result[finite], exact[finite]) < 1e-2


def test_rounding_to_bfloat16(rng):
    """What compiled code calls, whose result is in the low bits of a float."""
    kind = pytest.importorskip("ml_dtypes").bfloat16
    import ctypes
    from nm import _library
    function = getattr(_library.runtime, "__truncsfbf2")
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float]
    bits = rng.integers(0, 2 ** 32, 2000, dtype=np.uint32)
    halves = np.array([0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x80000000, 0x00008000,
                       0x7F800000, 0xFF800000, 0x7F800001], np.uint32)
    values = np.concatenate([bits, halves]).view(np.float32)
    got = np.array([function(value) for value in values.tolist()], np.float32)
    got = got.view(np.uint32).astype(np.uint16).view(kind)
    with np.errstate(invalid="ignore"):
        expected = values.astype(kind)
    assert np.array_equal(got.astype(np.float32), expected.astype(np.float32),
                          equal_nan=True)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="not x86-64")
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_rounding_from_f64(rng, element):
    """What compiled code calls where the processor cannot, and what it then makes."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    import ctypes
    from nm import _library
    kind = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[element]
    function = getattr(_library.runtime, {"f16": "__truncdfhf2",
                                          "bf16": "__truncdfbf2"}[element])
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_double]
    narrow = rng.integers(0, 2 ** 16, 2000, dtype=np.uint16).view(kind)
    with np.errstate(invalid="ignore"):
        exact = narrow.astype(np.float64)
    exact = exact[np.isfinite(exact)]
    spread = np.ldexp(rng.standard_normal(4000), rng.integers(-150, 140, 4000))
    # Between two neighbours, and a little to either side of there.
    halves = exact + np.spacing(exact.astype(kind)).astype(np.float64) / 2
    values = np.concatenate([exact, spread, halves, np.nextafter(halves, np.inf),
                             np.nextafter(halves, -np.inf),
                             [np.inf, -np.inf, np.nan, 0.0, -0.0, 5e-324, 1e308]])
    got = np.array([function(value) for value in values.tolist()], np.float32)
    got = got.view(np.uint32).astype(np.uint16).view(kind).astype(np.float64)
    expected = round_to(values, 11, -24, 65504.0) if element == "f16" else round_to(
        values, 8, -133, float(ml_dtypes.finfo(kind).max))
    assert np.array_equal(got, expected, equal_nan=True)
    assert np.array_equal(np.signbit(got), np.signbit(expected))
    module = nm.compile(f"""
        func.func @narrow(%x: tensor<?xf64>) -> tensor<?x{element}> {{
          %r = arith.truncf %x : tensor<?xf64> to tensor<?x{element}>
          return %r : tensor<?x{element}>
        }}""", mcpu="x86-64-v3")
    assert np.array_equal(module(values).astype(np.float64), expected, equal_nan=True)


def round_to(values, bits, least, largest):
    """float64 rounded to `bits` of a significand, of which the last is worth at
    least 2^least, ties to even; past `largest` infinite."""
    with np.errstate(invalid="ignore", over="ignore"):
        place = np.maximum(np.frexp(values)[1] - bits, least)
        rounded = np.ldexp(np.rint(np.ldexp(values, -place)), place)
        huge = np.isfinite(values) & (np.abs(rounded) > largest)
        return np.where(huge, np.copysign(np.inf, values), rounded)


def test_save_and_load(draw, tmp_path):
    dense = draw.weight((64, 48), "2:4")
    x, y = draw.array(5, 64), draw.array(5, 48)
    nm.compile(TEXT).save(tmp_path / "model.so")
    module = nm.load(tmp_path / "model.so")
    assert relative_error(module(x, dense, y), reference(x, dense, 0) + y) < 1e-6
    # A function keeps its module.
    function = nm.load(tmp_path / "model.so")["linear"]
    assert relative_error(function(x, dense, y),
                          reference(x, dense, 0) + y) < 1e-6
    with pytest.raises(nm.Error, match="no-such.so"):
        nm.load(tmp_path / "no-such.so")
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(nm.Error, match="text.so"):
        nm.load(tmp_path / "text.so")


SCALED = """
func.func @scale(%x: tensor<?xf32>) -> tensor<?xf32> {{
  %c = arith.constant {factor}.0 : f32
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {{
  ^bb0(%in: f32, %out: f32):
    %y = arith.mulf %in, %c : f32
    linalg.yield %y : f32
  }} -> tensor<?xf32>
  return %r : tensor<?xf32>
}}
"""


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80"])
@pytest.mark.parametrize("replaces", ["by a new file", "in place"])
def test_a_module_is_the_file_it_was_loaded_from(tmp_path, target, replaces):
    path, x, modules = tmp_path / "same.so", np.ones(3, np.float32), []
    for factor in (2, 3, 2, 5):
        compiled = nm.compile(SCALED.format(factor=factor), target)
        if replaces == "in place":
            path.write_bytes(compiled.path.read_bytes())
        else:
            compiled.save(path)
        modules.append((factor, nm.load(path)))
        assert [float(module(x)[0]) for _, module in modules] == [
            factor for factor, _ in modules]
    # What is saved is what was loaded, not what is there now.
    path.write_text("another file")
    modules[1][1].save(tmp_path / "copy.so")
    assert nm.load(tmp_path / "copy.so")(x)[0] == 3
    path.unlink()
    modules[0][1].save(path)
    assert nm.load(path)(x)[0] == 2


def test_commands_write_outputs_whole(tmp_path):
    (tmp_path / "f.mlir").write_text(SCALED.format(factor=2))
    output = tmp_path / "out.so"
    for factor in (2, 3):
        (tmp_path / "f.mlir").write_text(SCALED.format(factor=factor))
        for emit in ("so", "obj", "llvm"):
            before = output.stat().st_ino if output.exists() else None
            assert main(["compile", str(tmp_path / "f.mlir"), "-o", str(output),
                         "--emit", emit]) == 0
            assert output.stat().st_ino != before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["f.mlir", "out.so"]


def test_call_errors(draw):
    module, w = nm.compile(TEXT), draw.weight((64, 48), "2:4")
    x, y = draw.array(5, 64), draw.array(5, 48)
    with pytest.raises(nm.Error, match="expected 3 arguments, but got 2"):
        module(x, w)
    with pytest.raises(nm.DTypeError, match="argument 0 of @linear"):
        module(x.astype("f8"), w, y)
    with pytest.raises(nm.ShapeError, match="argument 0 of @linear"):
        module(x[:, :60], w, y)
    with pytest.raises(nm.Error, match="dimension 0"):
        module(x, w, y[:4])
    with pytest.raises(nm.PatternError, match="argument 1 of @linear"):
        module(x, draw.array(64, 48), y)
    with pytest.raises(nm.PatternError, match="argument 1 of @linear"):
        module(x, nm.compress(draw.weight((64, 48), "1:4"), "1:4", axis=0), y)


def test_compile_errors(tmp_path):
    with pytest.raises(nm.CompileError, match="module.mlir:1:1: error: ") as caught:
        nm.compile("func @f(")
    assert caught.value.diagnostics[0].severity == "error"
    with pytest.raises(nm.CompileError, match="expected opt-level between"):
        nm.compile(TEXT, opt_level=9)
    with pytest.raises(nm.CompileError, match="unknown option 'speed'"):
        nm.compile(TEXT, speed=9)
    with pytest.raises(nm.CompileError, match="target.*tpu"):
        nm.compile(TEXT, target="tpu")
    with pytest.raises(FileNotFoundError):
        nm.compile(tmp_path / "none.mlir")
    (tmp_path / "bytes.mlir").write_bytes(b"\xff\xfe")
    with pytest.raises(nm.CompileError, match="expected a text"):
        nm.compile(tmp_path / "bytes.mlir")


def test_compile_errors_go_to_other_processes():
    with pytest.raises(nm.CompileError) as caught:
        nm.compile("func.func @f(")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.diagnostics == caught.value.diagnostics


def test_lower_and_options(tmp_path):
    path = tmp_path / "linear.mlir"
    path.write_text(TEXT)
    assert "nm.spmm <2:4>" in nm.lower(path)
    assert "schedule #nm.vector<" in nm.lower(str(path), emit="schedule")
    assert nm.lower(TEXT, emit="obj")[:4] == b"\x7fELF"
    assert "0..3" in nm.compile_options()["opt_level"]


def records(folder):
    return sorted(folder.glob("*/*.json"))


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("NM_CACHE_DIR", str(folder))
    return folder


def test_cache_is_used(own_cache, monkeypatch):
    nm.compile(TEXT)
    assert len(records(own_cache)) == 1
    monkeypatch.setattr("nm._compile._run", None)
    assert nm.compile(TEXT).functions
    record = json.loads(records(own_cache)[0].read_text())
    assert record["compiler"] == nm.compiler_build()
    monkeypatch.undo()


def test_cache_keys(own_cache, monkeypatch):
    nm.compile(TEXT)
    nm.compile(TEXT, opt_level=1)
    nm.compile(TEXT + "\n")
    assert len(records(own_cache)) == 3
    monkeypatch.setattr("nm._compile.compiler_build", lambda: "another build")
    nm.compile(TEXT)
    nm.compile(TEXT, cache=False)
    assert nm.clear_cache() >= 3
    assert not records(own_cache)


@pytest.mark.parametrize("damage", [
    lambda record, artifact: artifact.write_bytes(artifact.read_bytes()[:999]),
    lambda record, artifact: artifact.unlink(),
    lambda record, artifact: record.write_text("{"),
    lambda record, artifact: record.write_text("[]"),
    lambda record, artifact: record.write_text("[" * 100000),
])
def test_damaged_cache(own_cache, damage):
    nm.compile(TEXT)
    record = records(own_cache)[0]
    digest = json.loads(record.read_text())["sha256"]
    damage(record, record.parent / f"{digest}.so")
    assert nm.compile(TEXT).functions
    assert nm.compile(TEXT).path.exists()


def test_clearing_the_cache_deletes_what_is_its_own(draw, tmp_path, monkeypatch):
    monkeypatch.setenv("NM_CACHE_DIR", str(tmp_path))
    assert nm.clear_cache() == 0
    nm.matmul(draw.array(3, 64), nm.compress(draw.weight((64, 8), "2:4"), "2:4", axis=0))
    own, = tmp_path.iterdir()
    record, = own.glob("*.json")
    others = [tmp_path / "project" / "package.json", tmp_path / "project" / "main.py",
              own / "settings.json", own / f"{'0' * 64}.so",
              tmp_path / ("a" * 40) / record.name.replace(record.name[0], "f", 1),
              tmp_path / ("b" * 40) / f"{'1' * 40}.json", tmp_path / "notes.json"]
    for file in others:
        file.parent.mkdir(exist_ok=True)
        file.write_text(record.read_text() if file.parent.name[0] == "b" else "{}")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / record.name).write_text(record.read_text())
    (tmp_path / ("c" * 40)).symlink_to(outside)
    assert nm.clear_cache() == 1
    assert not record.exists() and all(file.exists() for file in others)
    assert (outside / record.name).exists()
    assert sorted(file.name for file in own.iterdir()) == sorted(
        file.name for file in others if file.parent == own)
    for file in others[2:4]:
        file.unlink()
    nm.matmul(draw.array(3, 64), nm.compress(draw.weight((64, 8), "2:4"), "2:4", axis=0))
    damaged, = own.glob("*.so")
    damaged.write_bytes(b"")
    assert nm.clear_cache() == 1 and not own.exists()


def test_unwritable_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NM_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr("nm._cache._fallback", None)
    with pytest.warns(nm.CacheWarning, match="cannot write the cache folder"):
        assert nm.compile(TEXT).functions
    assert nm.compile(TEXT).functions


def test_no_home(monkeypatch):
    for name in ("NM_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("nm._cache.Path.home", no_home)
    assert nm.cache_dir() == Path("/.cache/nm")


def test_folder_that_may_not_be_looked_into(own_cache, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("nm._cache.Path.glob", refuse)
    monkeypatch.setattr("nm._cache._fallback", None)
    assert nm.compile(TEXT).functions


def run_python(code, **environment):
    # The package that is tested here, in a checkout or installed.
    folder = str(Path(nm.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": folder, **environment})


def test_two_processes_at_once(own_cache):
    code = f"""
        import nm
        for n in range(8, 40, 8):
            nm.compile({TEXT!r}.replace("48", str(n)))
        print(len(nm.compile({TEXT!r}).functions))
    """
    processes = [run_python(code) for _ in range(3)]
    for process in processes:
        output, error = process.communicate()
        assert (process.returncode, output) == (0, "1\n"), error
    assert len(records(own_cache)) == 5


FAKE = Path(os.environ.get("NM_LIBRARY_DIR", ROOT / "build" / "lib"))


@pytest.mark.skipif(not (FAKE / "NMFakeCuda.so").exists(),
                    reason="the fake CUDA driver of the C++ tests is not here")
def test_device_arrays_of_unknown_libraries():
    """The runtime copies what is strided or at an odd address."""
    process = run_python(f"""
        import ctypes, numpy as np, nm
        from nm import _dlpack, _library
        runtime = _library.runtime
        runtime.mgpuMemAlloc.restype = ctypes.c_void_p
        runtime.mgpuMemAlloc.argtypes = [ctypes.c_uint64, ctypes.c_void_p,
                                         ctypes.c_bool]
        runtime.mgpuMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p,
                                       ctypes.c_size_t, ctypes.c_void_p]
        memory = runtime.mgpuMemAlloc(64, None, False)
        numbers = np.arange(16, dtype=np.float32)

        class Device:
            "Floats on the device, from one of them on."
            def __init__(self, first, count, stride):
                self.first, self.count = first, count
                self.strides = (ctypes.c_int64 * 1)(stride)
            def __dlpack_device__(self):
                return _dlpack.K_DL_CUDA, 0
            def __dlpack__(self, **unused):
                capsule = np.empty(self.count, np.float32).__dlpack__()
                tensor = _dlpack._managed(capsule).tensor
                tensor.data = memory + 4 * self.first
                tensor.device_type = _dlpack.K_DL_CUDA
                tensor.strides = self.strides
                return capsule

        twice = nm.load({str(FAKE / "NMFakeCudaModel.so")!r})["twice"].bind()
        for first, stride, to in ((0, 1, 8), (1, 1, 8), (0, 2, 9), (3, -1, 12)):
            runtime.mgpuMemcpy(memory, numbers.ctypes.data, 64, None)
            twice(Device(first, 4, stride), out=Device(to, 4, 1))
            result = np.empty(16, np.float32)
            runtime.mgpuMemcpy(result.ctypes.data, memory, 64, None)
            expected = numbers.copy()
            expected[to:to + 4] = 2 * (first + stride * np.arange(4))
            np.testing.assert_array_equal(result, expected)
        print("passed")
        """, NM_CUDA_LIBRARY=str(FAKE / "NMFakeCuda.so"))
    output, error = process.communicate()
    assert (process.returncode, output) == (0, "passed\n"), error


def test_without_a_compiler(own_cache, draw, tmp_path):
    """Loading, running and what is cached need no compiler."""
    w = nm.compress(draw.weight((64, 48), "2:4"), "2:4", axis=0)
    x, y = draw.array(3, 64), draw.array(3, 48)
    w.save(tmp_path / "w.safetensors")
    np.save(tmp_path / "x.npy", x)
    nm.matmul(x, w)
    nm.precompile(w, None, activation="silu")
    nm.compile(TEXT).save(tmp_path / "model.so")
    from nm import _library
    runtime = next(folder / "libnm_runtime.so" for folder in _library.folders()
                   if (folder / "libnm_runtime.so").exists())
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libnm_runtime.so").symlink_to(runtime.resolve())
    code = f"""
        import nm, numpy as np
        assert not nm.has_compiler()
        w = nm.SparseTensor.load({str(tmp_path / "w.safetensors")!r})
        x = np.load({str(tmp_path / "x.npy")!r})
        y = np.zeros((3, 48), np.float32)
        loaded = nm.load({str(tmp_path / "model.so")!r})(x, w, y)
        assert np.array_equal(loaded, nm.matmul(x, w))
        # Of any number of rows, as a machine with a compiler left it.
        assert nm.matmul(np.ones((2, 64), np.float32), w, activation="silu").shape
        try:
            nm.matmul(x, w, activation="relu")
        except nm.CompilerNotFoundError as error:
            print(error)
    """
    process = run_python(code, NM_LIBRARY_DIR=str(tmp_path / "lib"))
    output, error = process.communicate()
    assert process.returncode == 0, error
    assert "expected libnm_compiler.so" in output
    assert "no kernel for 3 rows in the cache" in output
    assert y.shape == (3, 48)


def test_relative_library_folder(own_cache):
    folder = os.path.relpath(Path(nm._library.runtime._name).parent)
    process = run_python(f"import nm; nm.compile({TEXT!r})", NM_LIBRARY_DIR=folder)
    _, error = process.communicate()
    assert process.returncode == 0, error


@pytest.mark.parametrize("value", ["no", "false", 1, None])
def test_flags_take_no_values(value):
    with pytest.raises(nm.Error, match="with-reference to be True or False"):
        nm.compile(TEXT, with_reference=value)
    for given in (False, True):
        assert nm.compile(TEXT, with_reference=given).functions
    flags = {name for name, text in nm.compile_options().items()
             if not re.match(r"[^ ]+: ", text)}
    assert flags == {"with_reference", "profile"}


def test_missing_llvm_says_what_to_install(monkeypatch):
    def fail(name, functions):
        raise OSError("expected libnm_compiler.so, but found none that loads:\n  "
                      "libMLIR.so.22.1: cannot open shared object file: No such file")
    from nm import _library
    monkeypatch.setattr(_library, "_compiler", None)
    monkeypatch.setattr(_library, "_compiler_error", None)
    monkeypatch.setattr(_library, "_open", fail)
    assert not nm.has_compiler()
    with pytest.raises(nm.CompilerNotFoundError, match="apt-get install libmlir-22"):
        nm.compile(TEXT, cache=False)


def test_graphs_are_for_devices():
    function = nm.compile(TWO)["same"]
    with pytest.raises(nm.Error, match="expected a module for cuda with graphs, but got one for cpu"):
        function.bind(graphs=2)
    with pytest.raises(nm.Error, match="expected 0 graphs or more, but got -1"):
        function.bind(graphs=-1)
    with pytest.raises(nm.Error, match="expected a module for cuda with graphs"):
        function.graphs = 2
    function.graphs = 0
