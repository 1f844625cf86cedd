"""What was chosen for each product of a function, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._pattern import Pattern, read_pattern


@dataclass(frozen=True)
class Alternative:
    """One way to make a product that was compared with others.

    Attributes:
        name: ``"own"``, ``"dense"``, ``"widened, coarsened"``, ...
        strategy: whose schedule it would have; empty where no strategy takes it.
        estimate_us: the time of all that it takes at each call, in microseconds.
        extra_us: the time of the kernels before the product, which
            `estimate_us` includes.
        chosen: whether it was taken.
        why_not: why it cannot be taken, whatever its estimate.
    """

    name: str = ""
    strategy: str = ""
    estimate_us: float | None = None
    extra_us: float | None = None
    chosen: bool = False
    why_not: str = ""


@dataclass(frozen=True)
class ProductRecord:
    """How one product C[m x n] = A[m x k] * B[k x n] was compiled.

    Attributes:
        op: ``"nm.spmm"`` or ``"nm.spmv"``.
        pattern: of the weights B.
        m, n, k: sizes, None where they are dynamic.
        dtype: MLIR's name of the elements of A.
        case: the product as nm.tune and nm-bench take it, with ``?`` for a dynamic m;
            empty where no table of schedules can have it.
        strategy: ``"vector"``, ``"simt"``, ...
        schedule: as the option `schedule` takes it: ``"#nm.simt<...>"``.
        parameters: the schedule's parameters by name: sizes are lists, and
            packings and schedules inside it are dicts.
        source: who chose the schedule: ``"model"`` (the cost model),
            ``"option"`` (the caller, in part or whole), ``"op"`` (the op came
            with it), ``"table"`` (it was measured; `reason` names the table), or
            ``"only"`` where no other strategy has the product.
        chip: the GPU whose model it was; None for a CPU.
        threads: the threads that estimates are for; None for a GPU.
        typical_m: the rows that stand for a dynamic m in estimates.
        estimate_us: the time of the product in microseconds. None where the cost
            model has none for this very schedule, as for sizes that were given.
        dense_us: the time of the dense product in microseconds, by a BLAS on a
            CPU and by cuBLAS on a GPU; None where they do not have it.
        multiply_floor_us, memory_floor_us: the least that a GPU's multipliers,
            and its memory, allow, in microseconds; None where not known.
        shared_bytes: shared memory of a thread block in bytes; None where not
            known.
        registers: of a thread of a GPU's kernel; None where not known.
        registers_from: who counted them: ``"ptxas"`` or ``"estimate"``, the model.
        occupancy: the share of a multiprocessor's threads that resident blocks have.
        intensity_registers, intensity_shared, intensity_l2, intensity_memory:
            operations for each byte that registers, shared memory, the second-level
            cache and memory hand on, by the schedule's tiles.
        compute_to_loads: multiply-adds for each number loaded from shared memory.
        bound: ``"compute"``, ``"shared"``, ``"l2"`` or ``"memory"``: what takes the
            longest at least; empty where not known.
        falls_back: whether dense weights took the sparse ones' place.
        reason: why they did, or did not, or why no model was asked.
        alternatives: the ways to make the product that were compared, each an
            nm.Alternative; none on a CPU.
        loc: ``file:line:column``.
        remark: all of it in a sentence, for people to read.
    """

    op: str = ""
    pattern: Pattern | None = None
    m: int | None = None
    n: int | None = None
    k: int | None = None
    dtype: str = ""
    case: str = ""
    strategy: str = ""
    schedule: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    chip: str | None = None
    threads: int | None = None
    typical_m: int | None = None
    estimate_us: float | None = None
    dense_us: float | None = None
    multiply_floor_us: float | None = None
    memory_floor_us: float | None = None
    shared_bytes: int | None = None
    registers: int | None = None
    registers_from: str = ""
    occupancy: float | None = None
    intensity_registers: float | None = None
    intensity_shared: float | None = None
    intensity_l2: float | None = None
    intensity_memory: float | None = None
    compute_to_loads: float | None = None
    bound: str = ""
    falls_back: bool = False
    reason: str = ""
    alternatives: tuple[Alternative, ...] = ()
    loc: str = ""
    remark: str = ""

    @property
    def speedup(self) -> float | None:
        """The estimated time of the dense product over that of this one."""
        if not self.estimate_us or self.dense_us is None:
            return None
        return self.dense_us / self.estimate_us

    def as_dict(self) -> dict[str, Any]:
        """What is known, in types that JSON has; times are in microseconds."""
        entries = dict(vars(self), pattern=self.pattern and str(self.pattern),
                       alternatives=[{key: value for key, value in vars(way).items()
                                      if value is not None}
                                     for way in self.alternatives] or None)
        return {key: value for key, value in entries.items() if value is not None}


def read_record(entry: dict[str, Any]) -> ProductRecord:
    """The record of a product in a manifest, which may leave fields out."""
    known = {key: value for key, value in entry.items()
             if key in ProductRecord.__dataclass_fields__ and value is not None}
    for size in ("m", "n", "k"):
        if known.get(size, 0) < 0:
            del known[size]
    if "pattern" in known:
        known["pattern"] = read_pattern(known["pattern"])
    if "alternatives" in known:
        known["alternatives"] = tuple(map(_read_alternative, known["alternatives"]))
    return ProductRecord(**known)


def _read_alternative(entry: dict[str, Any]) -> Alternative:
    return Alternative(**{key: value for key, value in entry.items()
                          if key in Alternative.__dataclass_fields__ and value is not None})
