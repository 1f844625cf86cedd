"""Memory that stays bounded however often something is done."""

import ctypes
import gc
import os

import nm
import numpy as np
import pytest
from conftest import reference, relative_error
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


@pytest.mark.parametrize(("pattern", "block"), [("2:4", None), ("8:32", (1, 32)),
                                                ("1:4", (1, 4)), ("1:3", None)])
def test_one_packed_form_for_all_numbers_of_rows(draw, rng, pattern, block):
    """However many rows come, with and without what is fused."""
    n, k = (int(size) for size in rng.integers((130, 100), (400, 300)))
    dense = draw.weight((n, k), pattern, axis=1, block=block)
    w = nm.compress(dense, pattern, block, axis=1)
    for rows in (1, 2, 3, 5, 8, 15, 16, 17, 40, 130):
        x = draw.array(rows, k)
        assert relative_error(nm.matmul(x, w), reference(x, dense, 1)) < 1e-5
        if rows == 1:
            one = nm.packed_bytes(w)
    nm.matmul(x[:7], w, activation="relu")
    assert nm.packed_bytes(w) == one
    # A panel, and a window, may be longer than what is left.
    assert one <= w.nbytes + 64 * 4 * (k + 32) + 4 * 32 * (n + 64)
    assert nm.free_packed(w) == one
    assert nm.packed_bytes(w) == 0
    assert relative_error(nm.matmul(x, w), reference(x, dense, 1)) < 1e-5


def test_limit_of_packed_forms(draw):
    """What was packed longest ago goes, and comes again."""
    dense = [draw.weight((64, 48), "2:4") for _ in range(3)]
    weights, x = [nm.compress(each, "2:4", axis=0) for each in dense], draw.array(2, 64)
    nm.free_packed()
    try:
        nm.matmul(x, weights[0])
        one = nm.packed_bytes()
        nm.set_packed_limit(2 * one)
        for _ in range(2):
            for each, w in zip(dense, weights):
                assert relative_error(nm.matmul(x, w), reference(x, each, 0)) < 1e-5
                assert one <= nm.packed_bytes() <= 2 * one
        nm.set_packed_limit(0)
        assert nm.packed_bytes() == 0
        # One weight has to be there while it is called.
        nm.matmul(x, weights[0])
        assert nm.packed_bytes() == one
    finally:
        nm.set_packed_limit(None)
    with pytest.raises(nm.Error, match="bytes or None, but got -1"):
        nm.set_packed_limit(-1)
