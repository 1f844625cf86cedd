"""The threads that nm's loops run on beside PyTorch's."""

import ctypes
import threading
import time

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm import _library as lib  # noqa: E402
from nm.torch import _threads  # noqa: E402

TEAM_BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
LOOP_BODY = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    nm.set_num_threads(2)
    yield
    torch.set_num_threads(before)
    nm.set_num_threads(0)


def threads_of_torch():
    parallel = ctypes.CFUNCTYPE(None, TEAM_BODY, ctypes.c_void_p, ctypes.c_uint,
                                ctypes.c_uint)(_threads._parallel_function())
    seen = set()
    parallel(TEAM_BODY(lambda _: seen.add(threading.get_native_id())), None, 0, 0)
    return seen


def threads_of_nm():
    """Those of a loop whose indices take long enough for each of them to get one. It is
    the first since the threads are shared: where one came late in a loop before, nm's own
    would run it."""
    _threads.share_threads()
    seen = set()

    def body(index, _):
        seen.add(threading.get_native_id())
        time.sleep(5e-3)

    function = lib.runtime.nmParallelFor
    function(ctypes.c_int64(20), LOOP_BODY(body), None)
    return seen


def test_loops_run_on_torchs_threads(two_threads):
    torch.relu(torch.ones(1 << 20))
    expected = threads_of_torch()
    assert len(expected) == 2
    assert threads_of_nm() == expected


def test_the_fewer_threads_count(two_threads):
    nm.set_num_threads(1)
    assert threads_of_nm() == {threading.get_native_id()}
    nm.set_num_threads(4)
    torch.set_num_threads(1)
    assert threads_of_nm() == {threading.get_native_id()}


def test_own_threads_without_openmp(two_threads, monkeypatch):
    class NoLibrary:
        def __init__(self, path):
            raise OSError(path)

    monkeypatch.setattr(_threads.ctypes, "CDLL", NoLibrary)
    assert not _threads.share_threads()
    monkeypatch.undo()
    assert _threads.share_threads()
