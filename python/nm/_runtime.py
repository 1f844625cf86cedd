"""Settings of the runtime."""

from . import _library as lib


def get_num_threads() -> int:
    """The threads that compiled functions use on a CPU."""
    return lib.runtime.nmGetNumThreads()


def set_num_threads(count: int) -> None:
    """Sets it; a count below 1 restores the default: as many as the process may
    use processors, or NM_NUM_THREADS."""
    lib.runtime.nmSetNumThreads(count)
