"""Measuring schedules on the device at hand, for tables that compilations look in."""

from __future__ import annotations

import csv
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from ._compile import compile
from ._errors import Error
from ._pattern import Pattern, read_pattern
from ._tables import user_table

_TYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "int8": "i8",
          "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2"}


@dataclass(frozen=True)
class Product:
    """A product C[m x n] = A[m x k] * B[k x n] to tune.

    Attributes:
        m, n, k: its sizes.
        pattern: of B, ``"8:32, block = 1x32"``.
        dtype: of A and B, in MLIR's names: ``"f32"``, ``"f16"``, ``"bf16"``, ``"i8"``,
            ``"f8E4M3FN"``, ``"f8E5M2"``.
        result: of C; None for that of the sums.
        m_major: whether A is stored as [k x m].
    """

    m: int
    n: int
    k: int
    pattern: str
    dtype: str = "f32"
    result: str | None = None
    m_major: bool = False

    @property
    def case(self) -> str:
        """As nm-bench takes and prints it."""
        text = f"{self.m}x{self.n}x{self.k} {self.pattern} {self.dtype}"
        text += " m-major" if self.m_major else ""
        sums = "i32" if self.dtype == "i8" else "f32"
        return text if self.result in (None, sums) else f"{text} to {self.result}"


@dataclass(frozen=True)
class Tuned:
    """The schedule that was found for a product.

    Attributes:
        product: the product, as nm-bench prints it.
        schedule: the fastest schedule of nm's.
        us: its time in microseconds.
        model_us: that of the cost model's choice; None where it was not measured.
        dense_us: that of the dense product; None where no library has it.
        candidates: how many schedules were measured.
    """

    product: str
    schedule: str
    us: float
    model_us: float | None
    dense_us: float | None
    candidates: int


@dataclass(frozen=True)
class TuneReport:
    """The result of tuning.

    Attributes:
        table: the file of schedules.
        measurements: the file of all that was measured.
        products: the products that have a schedule now.
    """

    table: Path
    measurements: Path
    products: tuple[Tuned, ...]

    def __str__(self) -> str:
        lines = []
        for each in self.products:
            beside = [f"{name} {time:.1f}" for name, time in
                      (("model", each.model_us), ("dense", each.dense_us)) if time]
            lines.append(f"{each.product}: {each.us:.1f} us"
                         + (f" ({', '.join(beside)})" if beside else "")
                         + f", {each.schedule}, of {each.candidates}")
        return "\n".join([*lines, f"in {self.table}"])


Tunable = Union[Product, str, os.PathLike, Iterable[Union[Product, str]], Any]


def tune(what: Tunable, example: Any = None, *, target: str = "cpu",
         seconds: float = 300.0, table: str | os.PathLike | None = None,
         rows: int | None = None, arithmetic: str | None = None,
         quiet: bool = False) -> TuneReport:
    """Measures schedules of products on this machine and keeps the fastest, which
    compilations then take.

    Candidates are drawn from the parameters of schedules, compiled in parallel, and
    measured in turns beside the dense product; their results are checked. What was
    measured is kept when the time is over or Ctrl-C is pressed, and the same call goes
    on from there.

    Args:
        what: a Product, the text of one as nm-bench prints it, or several; the path of a
            module of MLIR; or a PyTorch model with NMLinear layers.
        example: an input of the model: a tensor, a tuple of arguments or a dict.
        target: ``"cpu"`` or ``"cuda"``.
        seconds: what it may take in all.
        table: the file of schedules; by default the user's own, in which each
            compilation looks. Another is named by NM_SCHEDULE_TABLE or the option
            ``schedule_table``. Measurements are in a file beside it.
        rows: m of products whose m the module leaves open.
        arithmetic: what products may be computed by, as nm.compile takes it.
        quiet: whether progress is not shown.

    Raises:
        Error: nothing to tune was found, or the measuring failed.
    """
    products = list(_products(what, example, target, rows))
    if not products:
        raise Error("expected products with N:M weights to tune, but found none")
    path = Path(table) if table is not None else user_table()
    measurements = path.with_suffix(".csv")
    from .cli.bench import find_program
    command = [find_program(), "--tune", f"--target={target}", f"--budget={seconds}",
               f"--table={path}", f"--csv={measurements}",
               *(f"--case={case}" for case in dict.fromkeys(products))]
    if arithmetic is not None:
        command.append(f"--arithmetic={arithmetic}")
    code = _run(command, quiet)
    found = _read(measurements, set(products))
    if code != 0 and not found:
        raise Error("expected schedules of the products, but nm-bench, whose messages say "
                    "why, measured none")
    return TuneReport(path, measurements, found)


def _run(command: list[str], quiet: bool) -> int:
    """Runs nm-bench to its end, also where Ctrl-C has it end early: it writes what it
    has then. Gives its exit code."""
    from .cli.bench import _STDERR
    streams = {"stdout": subprocess.DEVNULL if quiet else _STDERR,
               "stderr": subprocess.PIPE if quiet else None}
    try:
        process = subprocess.Popen(command, text=True, **streams)
    except (OSError, ValueError) as error:
        raise Error(f"{command[0]}: cannot be run: {error}") from None
    message = ""
    while True:
        try:
            message = process.communicate()[1] or ""
            break
        except KeyboardInterrupt:
            # The interrupt reached nm-bench, too, which ends by itself.
            continue
    # 1 says that some candidate failed or was not accurate, which none is taken of.
    if process.returncode not in (0, 1):
        raise Error(f"nm-bench ended with {process.returncode}\n{message}".rstrip())
    if process.returncode == 1 and "error: " in message and quiet:
        raise Error(message.rstrip())
    return process.returncode


def _products(what: Tunable, example: Any, target: str, rows: int | None
              ) -> Iterable[str]:
    if isinstance(what, Product):
        return [what.case]
    if hasattr(what, "named_modules"):
        return _of_model(what, example)
    if isinstance(what, os.PathLike) or (isinstance(what, str) and (
            "\n" in what or what.endswith(".mlir") or os.path.exists(what))):
        return _of_module(what, target, rows)
    if isinstance(what, str):
        return [what]
    try:
        return [each.case if isinstance(each, Product) else str(each) for each in what]
    except TypeError:
        raise TypeError("expected products, a module of MLIR or a PyTorch model, but got "
                        f"{type(what).__name__}") from None


def _of_module(source: str | os.PathLike, target: str, rows: int | None
               ) -> Iterable[str]:
    """The products of a module, as the compiler finds them."""
    module = compile(source, target, dense_fallback=False, schedule_table="none")
    for function in module.functions.values():
        for record in function.ops:
            m = record.m or rows
            if m is None:
                raise Error(f"expected rows=, for {record.loc or record.op} leaves m "
                            "open")
            if record.pattern is not None and record.n and record.k:
                yield Product(m, record.n, record.k, _bare(record.pattern),
                              record.dtype).case


def _bare(pattern: Pattern) -> str:
    """The pattern without the axis, which a product does not have."""
    bk, bn = pattern.block
    return f"{pattern.n}:{pattern.m}" + (f", block = {bk}x{bn}" if (bk, bn) != (1, 1)
                                         else "")


def _of_model(model: Any, example: Any) -> Iterable[str]:
    """The products that a model's layers compute for an example."""
    import torch

    from .torch import NMLinear
    if example is None:
        raise Error("expected an example input beside the model")
    found: dict[str, None] = {}

    def note(module, args):
        x = args[0]
        dtype = _TYPES[str(x.dtype).removeprefix("torch.")]
        m = x.numel() // x.shape[-1]
        pattern = read_pattern(str(module.pattern))
        found[Product(m, module.out_features, module.in_features, _bare(pattern),
                      dtype, dtype).case] = None

    handles = [module.register_forward_pre_hook(note) for module in model.modules()
               if isinstance(module, NMLinear)]
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            if isinstance(example, dict):
                model(**example)
            else:
                model(*(example if isinstance(example, tuple) else (example,)))
    finally:
        model.train(training)
        for handle in handles:
            handle.remove()
    return found


def _read(path: Path, wanted: set[str]) -> tuple[Tuned, ...]:
    """The fastest of each product in a file of measurements."""
    times: dict[str, dict[str, list[float]]] = {}
    models: dict[str, list[float]] = {}
    dense: dict[str, list[float]] = {}
    try:
        with open(path, newline="", encoding="utf-8") as file:
            lines = [row for row in csv.DictReader(file) if row["accurate"] == "1"]
    except OSError:
        return ()
    for row in lines:
        block = (f", block = {row['block_k']}x{row['block_n']}"
                 if (row["block_k"], row["block_n"]) != ("1", "1") else "")
        case = Product(int(row["m"]), int(row["n"]), int(row["k"]),
                       f"{row['pattern_n']}:{row['pattern_m']}{block}", row["type"],
                       row["result_type"], row["layout"] == "m-major").case
        if case not in wanted:
            continue
        time = float(row["median_us"])
        if row["blas_median_us"]:
            dense.setdefault(case, []).append(float(row["blas_median_us"]))
        if not row["schedule"]:
            models.setdefault(case, []).append(time)
        if row["as_is"] == "1":
            times.setdefault(case, {}).setdefault(row["mapped_by"], []).append(time)
    found = []
    for case, of_schedules in times.items():
        best = min(of_schedules, key=lambda each: statistics.median(of_schedules[each]))
        found.append(Tuned(case, best, statistics.median(of_schedules[best]),
                           statistics.median(models[case]) if case in models else None,
                           statistics.median(dense[case]) if case in dense else None,
                           len(of_schedules)))
    return tuple(found)
