"""Measurements of nm-bench, as they are drawn."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from .._errors import Error, reading
from .._files import check_end

_NUMBERS = ("m", "n", "k", "pattern_n", "pattern_m", "block_k", "block_n", "sparsity",
            "speedup", "gflops", "flops", "bytes", "peak_gflops", "peak_gbytes_per_s",
            "median_us", "p10_us", "p90_us", "threads")
_TEXTS = ("device", "type", "accurate", "disturbed", "blas_routine")
# Products of so few rows are bound by the memory of the weights.
FEW_ROWS = 16
_TYPE_BYTES = {"f64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i8": 1,
               "f8E4M3FN": 1, "f8E5M2": 1}
_Key = TypeVar("_Key", bound=Hashable)


#: What multiplied, by the letter that marks it in figures and tables.
UNITS = {"c": "CUDA cores", "t": "tensor cores", "s": "sparse tensor cores",
         "b": "cuBLAS, with dense weights"}
UNITS_BY_NAME = {"cuda cores": "c", "tensor cores": "t", "sparse tensor cores": "s",
                 "cublas": "b"}


@dataclass(frozen=True)
class Measurement:
    """A case of nm-bench; times are in microseconds, and sizes as the file has them."""

    device: str
    threads: int
    type: str
    library: str
    m: int
    n: int
    k: int
    pattern: str
    block: str
    sparsity: float
    speedup: float
    median_us: float
    p10_us: float
    p90_us: float
    flops: float
    bytes: float
    gflops: float
    peak_gflops: float
    peak_gbytes: float
    # cuSPARSELt's time; NaN where it was not there, or has no such product.
    sparse_us: float = math.nan
    # cuSPARSE's, with the weights as CSR or BSR.
    csr_us: float = math.nan
    # "skipped", "partly" or "multiplied"; empty where the file does not say.
    zeros: str = ""
    unit: str = ""

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.m, self.n, self.k

    @property
    def is_cpu(self) -> bool:
        return self.threads > 0

    @property
    def speedup_range(self) -> tuple[float, float]:
        """The speed-ups of our calls that 80 % are between, over the median dense."""
        return (self.speedup * self.median_us / self.p90_us,
                self.speedup * self.median_us / self.p10_us)

    @property
    def sparse_speedup(self) -> float:
        """The speed-up over dense of cuSPARSELt; NaN where it was not timed."""
        return self.speedup * self.median_us / self.sparse_us

    @property
    def csr_speedup(self) -> float:
        """That of cuSPARSE."""
        return self.speedup * self.median_us / self.csr_us

    @property
    def mark(self) -> str:
        """What multiplied, as UNITS names it, with ``d`` behind where all zeros were
        multiplied, and ``p`` where some were; empty where the file does not say."""
        letter = UNITS_BY_NAME.get(self.unit, "")
        zeros = {"multiplied": "d", "partly": "p"}.get(self.zeros, "")
        return letter + zeros if letter not in ("", "b") else letter

    @property
    def skips_zeros(self) -> bool:
        return self.zeros != "multiplied"

    @property
    def ideal(self) -> float:
        """What skipping every zero would bring over dense of the same type: the
        operations; for few rows the bytes, indices included, that have to be read."""
        if self.m > FEW_ROWS:
            return 1 / (1 - self.sparsity)
        size = _TYPE_BYTES.get(self.type, 4)
        operands = (self.m * self.k + self.m * self.n) * size
        return (self.k * self.n * size + operands) / self.bytes


def read_measurements(path: str) -> list[Measurement]:
    """The measurements of a file that are accurate and were not disturbed.

    Raises:
        Error: the file is not one of nm-bench, or has none.
    """
    check_end(path)
    with (reading(path, "a CSV file of nm-bench"),
          open(path, newline="", encoding="utf-8") as file):
        reader = csv.DictReader(file)
        missing = [name for name in (*_NUMBERS, *_TEXTS)
                   if name not in (reader.fieldnames or ())]
        if missing:
            raise Error(f"{path}: expected a CSV file of nm-bench, but it has no "
                        f"column {', '.join(missing)}")
        rows = [_measurement(path, line, row) for line, row in enumerate(reader, start=2)
                if _counts(row)]
    if not rows:
        raise Error(f"{path}: expected accurate measurements beside a dense "
                    "product, but found none")
    return rows


def _counts(row: dict[str, Any]) -> bool:
    """A case without a dense product has no speed-up; an inaccurate or disturbed one
    has no time worth drawing."""
    return (row["accurate"] not in ("0", "") and row["disturbed"] in ("0", "")
            and bool(row["speedup"]))


def _measurement(path: str, line: int, row: dict[str, Any]) -> Measurement:
    try:
        number = {name: float(row[name] or "nan") for name in _NUMBERS}
        sizes = {name: int(number[name]) for name in
                 ("m", "n", "k", "pattern_n", "pattern_m", "block_k", "block_n",
                  "threads")}
    except (TypeError, ValueError):
        raise Error(f"{path}:{line}: expected numbers, but got {row}") from None
    threads = sizes["threads"]
    library = "OpenBLAS" if threads else "cuBLAS"
    return Measurement(
        row["device"], threads, row["type"],
        f"{library} {row['blas_routine']}".strip(), sizes["m"], sizes["n"], sizes["k"],
        f"{sizes['pattern_n']}:{sizes['pattern_m']}" if sizes["pattern_m"] else "anywhere",
        f"{sizes['block_k']}x{sizes['block_n']}", number["sparsity"], number["speedup"],
        number["median_us"], number["p10_us"], number["p90_us"], number["flops"],
        number["bytes"], number["gflops"], number["peak_gflops"],
        number["peak_gbytes_per_s"], float(row.get("sparse_median_us") or "nan"),
        float(row.get("csr_median_us") or "nan"), row.get("zeros") or "",
        row.get("unit") or "")


def grouped(rows: Iterable[Measurement], key: Callable[[Measurement], _Key]
            ) -> dict[_Key, list[Measurement]]:
    """The rows by a key, in its order."""
    found: dict[_Key, list[Measurement]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return dict(sorted(found.items()))  # type: ignore[type-var]


def series_of(rows: list[Measurement]) -> dict[str, list[Measurement]]:
    """What a line is drawn for: a block, with the patterns that it was measured in,
    and a type where there are several."""
    types = {row.type for row in rows}
    found = {}
    for (block, kind), each in grouped(rows, lambda row: (_area(row.block),
                                                          row.type)).items():
        patterns = [row.pattern for row in sorted(each, key=lambda row: row.sparsity)]
        name = f"{each[0].block}: {', '.join(dict.fromkeys(patterns))}"
        found[name + (f", {kind}" if len(types) > 1 else "")] = each
    return found


def _area(block: str) -> tuple[int, str]:
    bk, bn = block.split("x")
    return int(bk) * int(bn), block


def title_of(rows: list[Measurement], date: str) -> str:
    """Device, threads, dense library, types and date."""
    first = rows[0]
    device = first.device if first.device != "cpu" else "CPU"
    if first.is_cpu:
        device += f", {first.threads} thread{'s' if first.threads > 1 else ''}"
    libraries = sorted({row.library.split()[0] for row in rows})
    types = list(dict.fromkeys(row.type for row in rows))
    dense = " and ".join(libraries) + (" in f32" if first.is_cpu else "")
    return f"{device}, {', '.join(types)}, beside {dense}, {date}"
