"""The times that nm.torch.sparsify decides by."""

import csv
import itertools
import os
import subprocess
import sys
import time

import pytest
from conftest import ROOT

pytest.importorskip("torch")
from nm.torch import _timing  # noqa: E402


@pytest.fixture
def times_of(monkeypatch):
    """Has blocks take given times, those of the calls in turns."""
    def set_times(*sequences):
        turns = itertools.cycle([itertools.chain(given, itertools.repeat(given[-1]))
                                 for given in map(list, sequences)])
        monkeypatch.setattr(_timing, "_best_of_block", lambda call: next(next(turns)))
        return [lambda: None] * len(sequences)
    return set_times


def test_the_best_time_counts_where_it_repeats(times_of):
    calls = times_of([9.0, 1.0, 70.0, 1.1, 1.05, 30.0], [None, 2.0, 2.0, 2.0])
    assert _timing.host_times(calls) == [1.0, 2.0]


def test_threads_of_the_other_kind_may_go_to_sleep(times_of, monkeypatch):
    """From a block on that was held up there is a pause before those of its kind."""
    slept = []
    monkeypatch.setattr(_timing.time, "sleep", slept.append)
    _timing.host_times(times_of([1.0], [2.0, None, 2.0, 2.0]))
    assert not any(slept[::2])
    assert slept[1::2][:2] == [0.0, 0.0] and all(slept[5::2])


@pytest.mark.parametrize("times", [
    [100.0, 60.0, 40.0, 25.0, 16.0, 10.0, 7.0, 5.0, 3.0, 2.0, 1.0, None],
    [1.0] + [100.0] * 20 + [None], [None]])
def test_times_that_do_not_repeat_are_rejected(times_of, times):
    assert _timing.host_times(times_of([2.0], times), budget=0.05) is None


def test_blocks_that_were_held_up_do_not_count(monkeypatch):
    def call():
        time.sleep(1e-4)

    for waiting, counts in ((lambda: 0.0, True), (time.perf_counter, False)):
        monkeypatch.setattr(_timing, "_waiting_time", waiting)
        best = _timing._best_of_block(call)
        assert (best is not None and best >= 1e-4) == counts
    assert _timing.host_times([call, call], budget=0.05) is None


def test_waiting_for_a_processor_is_seen():
    """A thread that shares its only processor with another program waits."""
    if not os.path.exists("/proc/self/schedstat"):
        pytest.skip("this system does not tell how long threads wait")
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, [min(allowed)])
    try:
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
            time.sleep(0.2)
            waited, end = _timing._waiting_time(), time.perf_counter() + 0.3
            while time.perf_counter() < end:
                pass
            waited = _timing._waiting_time() - waited
            other.kill()
    finally:
        os.sched_setaffinity(0, allowed)
    assert waited > 0.05


def test_layers_are_measured_by_one_command(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "layer-times" / "layer_times.py"),
         "--type=f32", "--type=bf16", "--rows=4", "--shape=48x64", "--pattern=1:4",
         f"--csv={tmp_path / 'times.csv'}"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "times.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["type"], row["rows"], row["pattern"]) for row in rows] == [
        ("f32", "4", "1:4"), ("bf16", "4", "1:4")]
    assert all(row["kernel"] in ("vector", "amx", "loops") for row in rows)
