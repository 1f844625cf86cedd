"""Many threads at once, processes that are forked and spawned, and subinterpreters."""

import multiprocessing
import os
import subprocess
import sys
import threading
import warnings

import nm
import numpy as np
import pytest
from conftest import relative_error
from test_lifetimes import SETUP, run

THREADS = 100


def text_of(n):
    """A product whose n makes it a module of its own."""
    return f"""
      func.func @f(%x: tensor<?x64xf32>, %w: tensor<64x{n}xf32, #nm.encoding<2:4>>,
                   %y: tensor<?x{n}xf32>) -> tensor<?x{n}xf32> {{
        %r = linalg.matmul
          ins(%x, %w : tensor<?x64xf32>, tensor<64x{n}xf32, #nm.encoding<2:4>>)
          outs(%y : tensor<?x{n}xf32>) -> tensor<?x{n}xf32>
        return %r : tensor<?x{n}xf32>
      }}"""


def product_in_a_process(n):
    """Compiles, runs and checks a product; for processes of a pool."""
    rng = np.random.default_rng(n)
    w = nm.prune(rng.standard_normal((64, n)).astype(np.float32), "2:4", axis=0).weight
    x = rng.standard_normal((3, 64)).astype(np.float32)
    y = nm.compile(text_of(n), cache=False, opt_level=0)(x, w, np.zeros((3, n), np.float32))
    return relative_error(y, x.astype(np.float64) @ w), os.getpid()


def at_once(function):
    """Runs `function(i)` in a hundred threads that start together; what they raised."""
    start, failures = threading.Barrier(THREADS), []

    def work(i):
        try:
            start.wait(60)
            function(i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_a_hundred_threads_compile_and_run():
    """Each its own module, and for some of them one that does not compile."""

    def compile_and_run(i):
        if i % 10 == 0:
            with pytest.raises(nm.CompileError, match="oops"):
                nm.compile(f"func.func @f{i}() {{ oops }}", cache=False)
            return
        error, _ = product_in_a_process(16 + i)
        assert error < 1e-5

    assert not at_once(compile_and_run)


def test_a_hundred_threads_fill_one_cache(tmp_path, monkeypatch, draw):
    """Five modules, each wanted by twenty threads at once. The first to come may all
    compile; there is one of each in the end."""
    monkeypatch.setenv("NM_CACHE_DIR", str(tmp_path))
    arrays = [draw.array(8 + n) for n in range(5)]

    def compile_and_run(i):
        x = arrays[i % 5]
        text = """
          func.func @same(%x: tensor<Nxf32>) -> tensor<Nxf32> {
            return %x : tensor<Nxf32>
          }""".replace("N", str(len(x)))
        assert np.array_equal(nm.compile(text, opt_level=0)(x), x)

    assert not at_once(compile_and_run)
    assert nm.clear_cache() == 5


def test_a_hundred_threads_simulate(draw):
    """Kernels of a GPU, by threads that share a weight."""
    w, x = draw.weight((64, 32), "2:4"), draw.array(3, 64)
    module = nm.compile(text_of(32), target="sim:sm_80")
    expected = x.astype(np.float64) @ w

    def simulate(_):
        y = module(x, w, np.zeros((3, 32), np.float32))
        assert relative_error(y, expected) < 1e-5

    assert not at_once(simulate)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(method):
    """The parent has compiled and has threads of its own; its children compile."""
    assert product_in_a_process(40)[0] < 1e-5
    with warnings.catch_warnings():
        # Python 3.12 warns of threads beside a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            results = pool.map_async(product_in_a_process, [16, 17, 40, 41]).get(120)
    assert all(error < 1e-5 for error, _ in results)
    assert os.getpid() not in {pid for _, pid in results}


def test_children_of_children():
    assert run("""
import os, signal
def descend(depth):
    signal.alarm(60)
    y = nm.matmul(x, w)
    if depth == 0:
        os._exit(0 if y[0, 0] == 48 else 1)
    child = os.fork()
    if child == 0:
        descend(depth - 1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if depth < 4:
        os._exit(code)
    print(code)
descend(4)
""").strip() == "0"


def test_a_child_replaced_by_another_program():
    """os.posix_spawn and exec from a process whose threads run."""
    assert run("""
import os, sys
nm.matmul(x, w)
child = os.posix_spawn(sys.executable, [sys.executable, "-c", "raise SystemExit(7)"],
                       os.environ)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""").strip() == "7"


IN_AN_INTERPRETER = SETUP + f"""
y = nm.compile({text_of(32)!r}, cache=False)(x, w, np.zeros((3, 32), np.float32))
assert (y == 48).all() and (nm.matmul(x, w) == 48).all()
"""


REFUSED_OR_DONE = f"""
try:
    exec({IN_AN_INTERPRETER!r})
except ImportError as error:
    assert "NumPy" in str(error) or "more than once" in str(error), error
    print("refused", flush=True)
else:
    print("done", flush=True)
"""
IN_ANOTHER = f"""
try:
    import _xxsubinterpreters as interpreters
    other = interpreters.create(isolated=False)
except ImportError:
    import _interpreters as interpreters
    other = interpreters.create("legacy")
failure = interpreters.run_string(other, {REFUSED_OR_DONE!r})
assert not failure, failure
interpreters.destroy(other)
"""


def interpret(text):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.split()


def test_another_interpreter_alone():
    """As servers have it that run an application in an interpreter of its own, with the
    lock that all share."""
    assert interpret(IN_ANOTHER) == ["done"]


def test_another_interpreter_beside_the_first():
    """NumPy is loaded once for a process, and refuses the second: so do we, and the
    first goes on."""
    (outcome,) = interpret(IN_AN_INTERPRETER + IN_ANOTHER + IN_AN_INTERPRETER)
    assert outcome in ("refused", "done")
