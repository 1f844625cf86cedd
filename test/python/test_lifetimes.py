"""What lives how long: copies, pickles, threads, forks, and a process's end."""

import copy
import gc
import pickle
import subprocess
import sys
import threading

import nm
import numpy as np
import pytest
from conftest import ROOT
from test_modules import TEXT

SETUP = f"""
import sys
sys.path.insert(0, {str(ROOT / "python")!r})
import nm
import numpy as np
w = nm.compress(np.tile(np.array([[1], [0], [2], [0]], np.float32), (16, 32)), "2:4",
                axis=0)
x = np.ones((3, 64), np.float32)
"""


def run(text):
    """Runs a process of its own, which may crash."""
    return subprocess.run([sys.executable, "-c", SETUP + text], check=True,
                          capture_output=True, text=True, timeout=300).stdout


@pytest.fixture
def weight(draw):
    return nm.compress(draw.weight((64, 32), "2:4"), "2:4", axis=0)


def test_weights_are_copied_and_pickled(draw, weight):
    x = draw.array(3, 64)
    y = nm.matmul(x, weight)
    for other in (pickle.loads(pickle.dumps(weight)), copy.copy(weight),
                  copy.deepcopy(weight)):
        assert np.array_equal(nm.matmul(x, other), y)
        assert other.pattern == weight.pattern and other.shape == weight.shape


def test_a_pickled_weight_forgets_its_number(draw, weight):
    torch = pytest.importorskip("torch")
    import nm.torch
    x = torch.from_numpy(draw.array(3, 64))
    y = nm.torch.linear(x, weight)
    other = pickle.loads(pickle.dumps(weight))
    del weight
    gc.collect()
    assert torch.equal(nm.torch.linear(x, other), y)


def test_weights_do_not_change(weight):
    for part in (weight.values, weight.indices):
        with pytest.raises(ValueError, match="read-only"):
            part[0, 0] = 1


def test_loaded_code_is_not_copied(draw, weight):
    module = nm.compile(TEXT)
    call = nm.prepare(draw.array(3, 64), weight)
    for thing in (module, module.only_function(), call):
        for attempt in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="belong to their process"):
                attempt(thing)


def test_modules_go_in_any_order():
    for _ in range(50):
        module = nm.compile(TEXT)
        function = module.only_function()
        # A circle: the collector takes its objects in an order of its own.
        function.module = module
        bound = function.bind(np.zeros((64, 48), np.float32))
        function.bound = bound
        bound.circle = bound.prepare(np.ones((5, 64), np.float32),
                                     np.ones((5, 48), np.float32))
        del module, function, bound
    gc.collect()


def test_threads_share_a_weight(weight):
    """More kinds of calls than are kept, so that threads forget each other's."""
    x = np.ones((4, 64), np.float32)
    expected = nm.matmul(x, weight)
    failures = []

    def call(seed):
        rng = np.random.default_rng(seed)
        try:
            for _ in range(60):
                rows = int(rng.integers(1, 5))
                activation = [None, "relu", "silu"][rng.integers(3)]
                y = nm.matmul(x[:rows], weight, None, activation)
                if activation is None:
                    assert np.array_equal(y, expected[:rows])
        except Exception as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=call, args=(seed,))
                   for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures


def test_a_child_calls():
    run("""
import os
w = nm.compress(np.tile(w.decompress(), (4, 8)), "2:4", axis=0)
x = np.ones((64, 256), np.float32)
y = nm.matmul(x, w)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(nm.matmul(x, w), y) else 1)
assert os.waitpid(child, 0)[1] == 0
""")


def test_a_child_compiles():
    """The parent has compiled, and so has had the linker's threads."""
    run(f"""
import multiprocessing, os, signal
text = {TEXT!r}
os.environ["NM_CACHE_DIR"] = "/dev/null/none"
import warnings
warnings.simplefilter("ignore")
nm.compile(text)
child = os.fork()
if child == 0:
    signal.alarm(60)
    nm.compile(text.replace("64", "128"))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
with multiprocessing.get_context("fork").Pool(1) as pool:
    pool.apply_async(nm.lower, (text, "so")).get(60)
""")


def test_compiling_leaves_signals_to_the_program():
    run(f"""
import signal
def caught():
    with open("/proc/self/status") as file:
        return [line for line in file if line.startswith(("SigCgt", "SigIgn"))]
def number(lines):
    return [int(line.split()[1], 16) for line in lines]
# LLVM's recovery of crashes keeps these.
crashes = sum(1 << (s - 1) for s in (
    signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV,
    signal.SIGTRAP))
# A sanitizer has them before.
before = [n & ~crashes for n in number(caught())]
nm.lower({TEXT!r}, "so")
assert [n & ~crashes for n in number(caught())] == before
""")


def test_threads_call_until_the_end():
    run("""
import threading, time
def call():
    while True:
        nm.matmul(x, w)
for _ in range(3):
    threading.Thread(target=call, daemon=True).start()
time.sleep(0.3)
""")


def test_calls_after_the_exit_handlers():
    """Python's own hands back what weakref.finalize was told of."""
    assert run("""
import atexit, weakref
prepared = nm.prepare(x, w)
atexit.unregister(weakref.finalize._exitfunc)
atexit.register(lambda: print(prepared(x)[0, 0]))
atexit.register(weakref.finalize._exitfunc)
""").strip() == "48.0"


def test_jax_keeps_results_until_the_end():
    pytest.importorskip("jax")
    run("""
import jax
y = nm.matmul(jax.numpy.asarray(x), w)
jax.kept = y, jax.jit(lambda v: v + 1)(y)
""")


class Described:
    """An array interface over memory that nobody else keeps."""

    def __init__(self, array):
        self.array = array

    @property
    def __array_interface__(self):
        return {"data": self.array.tobytes(), "shape": self.array.shape,
                "typestr": self.array.dtype.str, "version": 3}


class Exported:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_options):
        return self.array.copy().__dlpack__()

    def __dlpack_device__(self):
        return 1, 0


@pytest.mark.parametrize("kind", [Described, Exported])
def test_memory_that_lives_as_long_as_its_description(draw, kind):
    """More than malloc keeps, so that memory that goes cannot be read."""
    w = nm.compress(draw.weight((1024, 8), "2:4"), "2:4", axis=0)
    x = draw.array(16384, 1024)
    assert np.array_equal(nm.matmul(kind(x), w), nm.matmul(x, w))


def test_dlpack_of_few_dimensions(draw, weight):
    x = draw.array(64)
    assert np.array_equal(nm.matmul(Exported(x), weight), nm.matmul(x, weight))
    assert nm.matmul(Exported(x[None][:0]), weight).shape == (0, 32)
    with pytest.raises(nm.ShapeError, match="expected x of shape"):
        nm.matmul(Exported(np.array(1, np.float32)), weight)
