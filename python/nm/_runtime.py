"""Settings of the runtime."""

import operator

from . import _library as lib


def get_num_threads() -> int:
    """The threads that compiled functions use on a CPU."""
    return lib.runtime.nmGetNumThreads()


def set_num_threads(count: int) -> None:
    """Sets how many threads compiled functions use on a CPU, 4096 at most; a count
    below 1 restores the default: as many as the process may use processors, or
    NM_NUM_THREADS."""
    lib.runtime.nmSetNumThreads(max(0, min(operator.index(count), 4096)))


def is_deterministic() -> bool:
    """Whether nothing is chosen at run time by how long it takes."""
    return bool(lib.runtime.nmIsDeterministic())


def set_deterministic(on: bool = True) -> None:
    """Has equal calls give equal bits in every process, from the next product on that
    is called for the first time: cuBLASLt's algorithm is the first that it proposes,
    not the fastest of a search. NM_DETERMINISTIC=1 says the same."""
    lib.runtime.nmSetDeterministic(int(bool(on)))
