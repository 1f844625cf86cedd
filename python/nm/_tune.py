"""Measuring schedules on the device at hand, for tables that compilations look in."""

from __future__ import annotations

import csv
import os
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from ._compile import compile
from ._errors import Error
from ._tables import user_table


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
        bits, group: of quantized weights: 4 or 8 bits, and a scale for so many of k.
        epilogue: what is done with the sums: ``"bias + gelu + residual"``, of which each
            may be left out; the activation is relu, gelu or silu.
    """

    m: int
    n: int
    k: int
    pattern: str
    dtype: str = "f32"
    result: str | None = None
    m_major: bool = False
    bits: int | None = None
    group: int = 128
    epilogue: str = ""

    @property
    def case(self) -> str:
        """As nm-bench takes and prints it."""
        text = f"{self.m}x{self.n}x{self.k} {self.pattern} {self.dtype}"
        text += f" x i{self.bits}/{self.group}" if self.bits is not None else ""
        text += " m-major" if self.m_major else ""
        sums = "i32" if self.dtype == "i8" else "f32"
        text += "" if self.result in (None, sums) else f" to {self.result}"
        return f"{text} + {self.epilogue}" if self.epilogue else text


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
            module of MLIR; or a PyTorch model with NMLinear or NMQuantizedLinear layers.
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
    products = list(_products(what, example, target, rows, arithmetic))
    if not products:
        raise Error("expected products with N:M weights to tune, but found none")
    path = Path(table) if table is not None else user_table()
    measurements = path.with_suffix(".csv")
    from .cli.bench import find_program
    with tempfile.TemporaryDirectory() as folder:
        summary = Path(folder) / "summary.csv"
        command = [find_program(), "--tune", f"--target={target}", f"--budget={seconds}",
                   f"--table={path}", f"--csv={measurements}", f"--summary={summary}",
                   *(f"--case={case}" for case in dict.fromkeys(products))]
        if arithmetic is not None:
            command.append(f"--arithmetic={arithmetic}")
        code = _run(command, quiet)
        found = _read(summary)
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


def _products(what: Tunable, example: Any, target: str, rows: int | None,
              arithmetic: str | None) -> Iterable[str]:
    if isinstance(what, Product):
        return [what.case]
    if hasattr(what, "named_modules"):
        return _of_model(what, example, target, arithmetic)
    if isinstance(what, os.PathLike) or (isinstance(what, str) and (
            "\n" in what or what.endswith(".mlir") or os.path.exists(what))):
        return _of_module(what, target, rows, arithmetic)
    if isinstance(what, str):
        return [what]
    try:
        return [each.case if isinstance(each, Product) else str(each) for each in what]
    except TypeError:
        raise TypeError("expected products, a module of MLIR or a PyTorch model, but got "
                        f"{type(what).__name__}") from None


def _of_module(source: str | os.PathLike, target: str, rows: int | None,
               arithmetic: str | None) -> Iterable[str]:
    """The products of a module, as the compiler finds them."""
    options = {} if arithmetic is None else {"arithmetic": arithmetic}
    # As loops a product stays: no dense weights and no library take its place.
    module = compile(source, target, schedule="loops", **options)
    for function in module.functions.values():
        for record in function.ops:
            if record.case.startswith("?") and rows is None:
                raise Error(f"expected rows=, for {record.loc or record.op} leaves m "
                            "open")
            if record.case:
                yield record.case.replace("?", str(rows), 1)


def _of_model(model: Any, example: Any, target: str, arithmetic: str | None
              ) -> Iterable[str]:
    """The products that a model's layers compute for an example."""
    import torch

    from ._arrays import element_name
    from ._matmul_text import Product as LayerProduct
    from ._quantized_matmul import QuantizedProduct
    from .torch import NMLinear, NMQuantizedLinear
    if example is None:
        raise Error("expected an example input beside the model")
    texts: dict[str, None] = {}

    def note(module, args):
        x = args[0]
        rows = x.numel() // x.shape[-1]
        if not rows:
            return
        has_bias = module.bias is not None
        product = (LayerProduct(module._weight(), rows, module.activation, has_bias,
                                scale=False) if isinstance(module, NMLinear) else
                   QuantizedProduct(module.sparse_weight(), rows, has_bias,
                                    element_name(module.scales.dtype), module.bits,
                                    module.group))
        texts[product.text(rows)] = None

    handles = [module.register_forward_pre_hook(note) for module in model.modules()
               if isinstance(module, (NMLinear, NMQuantizedLinear))]
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
    return [case for text in texts for case in _of_module(text, target, None, arithmetic)]


def _read(path: Path) -> tuple[Tuned, ...]:
    """The products in the summary of nm-bench; none where it ended before writing one."""
    if not path.exists():
        return ()
    with open(path, newline="", encoding="utf-8") as file:
        return tuple(Tuned(row["product"], row["schedule"], float(row["us"]),
                           _time(row["model_us"]), _time(row["dense_us"]),
                           int(row["candidates"])) for row in csv.DictReader(file))


def _time(text: str) -> float | None:
    return float(text) if text else None
