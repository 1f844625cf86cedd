"""Memory that stays bounded however often something is done."""

import ctypes
import gc
import os

import nm
import numpy as np
import pytest
from test_modules import TEXT

CALLS = 10_000
# What the allocators of C and Python keep for a while.
MARGIN = 4 << 20

# AddressSanitizer keeps what is freed, to find who uses it.
pytestmark = pytest.mark.skipif("clang_rt.asan" in os.environ.get("LD_PRELOAD", ""),
                                reason="AddressSanitizer keeps freed memory")


def resident():
    """Bytes of memory that the process has, after what can be given back is."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def growth(function, calls, before=200):
    """How much more memory there is after so many calls, from the first few on."""
    for i in range(before):
        function(i)
    start = resident()
    for i in range(calls):
        function(i)
    return resident() - start


@pytest.fixture
def weight(draw):
    return nm.compress(draw.weight((64, 48), "2:4"), "2:4", axis=0)


def test_products(draw, weight):
    x = draw.array(8, 64)
    assert growth(lambda i: nm.matmul(x[:1 + i % 8], weight), CALLS) < MARGIN


def test_prepared_calls(draw, weight):
    x = draw.array(4, 64)
    assert growth(lambda i: nm.prepare(x, weight)(x), CALLS) < MARGIN


def test_functions_of_modules(draw):
    module, w = nm.compile(TEXT), draw.weight((64, 48), "2:4")
    x, y = draw.array(4, 64), draw.array(4, 48)
    bound = module.only_function().bind(w)
    assert growth(lambda i: bound(x, y), CALLS) < MARGIN
    # Packs the weight each time.
    assert growth(lambda i: module(x, w, y), CALLS // 4) < MARGIN


def test_loading(tmp_path, draw):
    path = tmp_path / "model.so"
    nm.compile(TEXT).save(path)
    w, x, y = draw.weight((64, 48), "2:4"), draw.array(4, 64), draw.array(4, 48)
    assert growth(lambda i: nm.load(path)(x, w, y), CALLS // 10, before=50) < MARGIN


def test_errors(tmp_path, draw, weight):
    """What is refused leaves nothing behind, messages among it."""
    x, module = draw.array(4, 63), nm.compile(TEXT)
    path = tmp_path / "model.so"
    path.write_bytes(b"\x7fELF" + bytes(100))

    def fail(i):
        with pytest.raises(nm.ShapeError):
            nm.matmul(x, weight)
        with pytest.raises(nm.Error):
            module(x, x, x)
        with pytest.raises(nm.Error):
            nm.load(path)
        with pytest.raises(nm.PatternError):
            nm.compress(np.ones((8, 8), np.float32), "2:4", axis=0)

    assert growth(fail, CALLS // 4) < MARGIN


def test_weights(tmp_path, draw):
    """Weights that are pruned, compressed, written, mapped and forgotten."""
    dense, path = draw.array(64, 32), tmp_path / "w.safetensors"

    def handle(i):
        w = nm.compress(nm.prune(dense, "2:4", axis=0).weight, "2:4", axis=0)
        w.save(path)
        nm.SparseTensor.load(path).decompress()

    assert growth(handle, CALLS // 10, before=50) < MARGIN


def test_compiling():
    """The compiler, which keeps what LLVM keeps for a process."""
    def compile_one(i):
        nm.lower(TEXT.replace("48", str(32 + i)), "llvm" if i % 2 else "so",
                 opt_level=0)
        with pytest.raises(nm.CompileError):
            nm.lower(f"func.func @f{i}() {{ oops }}", "so")

    assert growth(compile_one, 30, before=10) < 2 * MARGIN
