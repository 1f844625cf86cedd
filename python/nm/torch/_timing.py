"""Times of two calls side by side, which other programs must not decide."""

from __future__ import annotations

import glob
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

Call = Callable[[], Any]

# What a block of calls of one kind takes at least, and how many of each kind there
# are before the times are looked at.
_BLOCK_SECONDS, _LEAST_BLOCKS = 2e-3, 10
# Fewer do where calls are long: so many seconds of both kinds, where they repeat.
_LEAST_SECONDS = 0.3
# So many blocks must have come as near to the best time as that.
_WITNESSES, _TOLERANCE = 3, 1.15
# The share of a block that threads may have waited for a processor.
_WAITING = 0.05
# What lets libgomp's threads, which spin for up to so long after an operator, go to sleep.
_PAUSE = 30e-3


def host_times(calls: list[Call], budget: float = 2.0) -> list[float] | None:
    """The seconds that each call takes on this machine while no other program holds
    it up: the best of many, in turns.

    A block in which a thread of this process had to wait for a processor does not
    count: where threads wait for each other by spinning, as libgomp's do, one that
    is held up makes a call a hundred times as slow. From then on there is a pause
    before each block of its kind: it may have been the threads of the other one.

    Returns:
        None where the best times do not repeat within `budget` seconds.
    """
    for call in calls:
        call()
    best: list[list[float]] = [[] for _ in calls]
    pauses = [0.0] * len(calls)
    begin, rounds = time.perf_counter(), 0
    while True:
        spent = time.perf_counter() - begin
        if spent > budget and rounds >= _WITNESSES:
            break
        if ((rounds >= _LEAST_BLOCKS or spent > _LEAST_SECONDS)
                and all(map(_repeats, best))):
            break
        rounds += 1
        for i, call in enumerate(calls):
            time.sleep(pauses[i])
            taken = _best_of_block(call)
            if taken is None:
                pauses[i] = _PAUSE
            else:
                best[i].append(taken)
    return [min(times) for times in best] if all(map(_repeats, best)) else None


def _repeats(times: list[float]) -> bool:
    return (len(times) >= _WITNESSES
            and sorted(times)[_WITNESSES - 1] <= _TOLERANCE * min(times))


def _best_of_block(call: Call) -> float | None:
    """None where the block was held up. It has two calls at least: threads of the
    other kind may still spin during the first."""
    waited, begin = _waiting_time(), time.perf_counter()
    best, now, calls = float("inf"), begin, 0
    while now - begin < _BLOCK_SECONDS or calls < 2:
        last = now
        call()
        now, calls = time.perf_counter(), calls + 1
        best = min(best, now - last)
    held_up = _waiting_time() - waited
    return None if held_up > _WAITING * (now - begin) else best


def _waiting_time() -> float:
    """The seconds that the threads of this process have been ready to run and waited
    for a processor; 0 where the system does not tell."""
    total = 0
    for path in glob.glob("/proc/self/task/*/schedstat"):
        try:
            with open(path, encoding="ascii") as file:
                total += int(file.read().split()[1])
        except (OSError, IndexError, ValueError):
            continue  # A thread that has ended.
    return total * 1e-9


def cuda_times(calls: list[Call]) -> list[float] | None:
    """The seconds of each call on the device: the medians of replays of a graph of
    it, in turns."""
    graphs = [_capture(call) for call in calls]
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(_LEAST_BLOCKS):
        for (stream, graph, count), taken in zip(graphs, times):
            taken.append(_replay(stream, graph) / count)
    # Clocks change, and others may use the device.
    halves = [(statistics.median(taken[::2]), statistics.median(taken[1::2]))
              for taken in times]
    if any(max(pair) > _TOLERANCE * min(pair) for pair in halves):
        return None
    return [statistics.median(taken) for taken in times]


def _capture(call: Call, calls: int = 20) -> tuple[Any, Any, int]:
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(calls):
                call()
    return stream, graph, calls


def _replay(stream: Any, graph: Any) -> float:
    with torch.cuda.stream(stream):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record(stream)
        graph.replay()
        end.record(stream)
        end.synchronize()
    return begin.elapsed_time(end) * 1e-3
