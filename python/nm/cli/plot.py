"""python -m nm plot"""

from __future__ import annotations

import argparse
import csv
import math
import re
from collections import defaultdict

from .. import Error
from .._errors import reading
from .common import add_json_argument, print_json

_NUMBERS = ("m", "n", "k", "sparsity", "speedup", "gflops", "flops", "bytes",
            "peak_gflops", "peak_gbytes_per_s", "median_us")
_TEXTS = ("device", "granularity", "type", "accurate")
# Products of so few rows are bound by the memory of the weights.
_FEW_ROWS = 16
# Told apart also by who sees no colours.
_MARKERS = "osD^vP*X<>"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("csv", nargs="+", help="measurements of nm-bench --csv")
    parser.add_argument("-o", "--output", default="nm",
                        help="prefix of the files: OUTPUT-speedup.png and .svg, "
                        "OUTPUT-roofline.png and .svg (default nm)")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    rows = [row for path in args.csv for row in read_rows(path)]
    try:
        import matplotlib
    except ImportError:
        raise Error("expected the package matplotlib, but it is not installed: "
                    "pip install matplotlib") from None
    matplotlib.use("Agg")
    devices = defaultdict(list)
    for row in rows:
        devices[row["device"]].append(row)
    files = []
    for device, measured in devices.items():
        prefix = args.output
        if len(devices) > 1:
            prefix += "-" + re.sub(r"\W+", "-", device).strip("-")
        files += _save(draw_speedup(device, measured), f"{prefix}-speedup")
        files += _save(draw_roofline(device, measured), f"{prefix}-roofline")
    if args.json:
        print_json({"files": files, "measurements": len(rows)})
    else:
        print("\n".join(files))
    return 0


def read_rows(path: str) -> list[dict]:
    """The measurements of a file that are accurate.

    Raises:
        Error: the file is not one of nm-bench, or has none.
    """
    with (reading(path, "a CSV file of nm-bench"),
          open(path, newline="", encoding="utf-8") as file):
        reader = csv.DictReader(file)
        missing = [name for name in (*_NUMBERS, *_TEXTS)
                   if name not in (reader.fieldnames or ())]
        if missing:
            raise Error(f"{path}: expected a CSV file of nm-bench, but it has no "
                        f"column {', '.join(missing)}")
        rows = []
        for line, row in enumerate(reader, start=2):
            # A case without a dense product has no speed-up; an inaccurate one
            # has no time worth drawing.
            if row["accurate"] in ("0", "") or not row["speedup"]:
                continue
            try:
                rows.append({**row, **{name: float(row[name] or "nan")
                                       for name in _NUMBERS}})
            except (TypeError, ValueError):
                raise Error(f"{path}:{line}: expected numbers, but got "
                            f"{row}") from None
    if not rows:
        raise Error(f"{path}: expected accurate measurements beside a dense "
                    "product, but found none")
    return rows


def _save(figure, stem: str) -> list[str]:
    from matplotlib import pyplot
    names = [f"{stem}.png", f"{stem}.svg"]
    for name in names:
        figure.savefig(name, dpi=160, bbox_inches="tight")
    pyplot.close(figure)
    return names


def _series(rows: list[dict]) -> dict[str, list[dict]]:
    """Rows by what a line is drawn for: granularity, and type where there are
    several, products of few rows apart."""
    types = {row["type"] for row in rows}
    kinds = {row["m"] <= _FEW_ROWS for row in rows}
    found = defaultdict(list)
    for row in rows:
        name = row["granularity"]
        if len(types) > 1:
            name += f", {row['type']}"
        if len(kinds) > 1:
            name += f", m {'≤' if row['m'] <= _FEW_ROWS else '>'} {_FEW_ROWS}"
        found[name].append(row)
    return dict(sorted(found.items()))


def draw_speedup(device: str, rows: list[dict]):
    """Speed-up over dense against sparsity: each measurement, a line through the
    geometric means, and what skipping every zero would give."""
    figure, axes = _axes()
    top = max(row["sparsity"] for row in rows)
    sparsities = [top * i / 100 for i in range(101)]
    axes.plot([100 * s for s in sparsities], [1 / (1 - s) for s in sparsities],
              "--", color="0.35", label="ideal, 1 / (1 - sparsity)", zorder=1)
    axes.axhline(1, color="0.6", linewidth=1, label="dense", zorder=1)
    for i, (name, measured) in enumerate(_series(rows).items()):
        groups = defaultdict(list)
        for row in measured:
            groups[row["sparsity"]].append(row["speedup"])
        means = {s: math.exp(sum(map(math.log, group)) / len(group))
                 for s, group in sorted(groups.items())}
        marker = _MARKERS[i % len(_MARKERS)]
        line, = axes.plot([100 * s for s in means], list(means.values()),
                          marker=marker, label=name, zorder=3)
        axes.scatter([100 * row["sparsity"] for row in measured],
                     [row["speedup"] for row in measured], s=10, alpha=0.4,
                     color=line.get_color(), zorder=2)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axes.set_xlabel("sparsity in %")
    axes.set_ylabel("speed-up over the dense BLAS")
    axes.set_title(f"N:M products on {device}: geometric means over shapes")
    axes.legend(frameon=False, fontsize=8)
    return figure


def draw_roofline(device: str, rows: list[dict]):
    """Gflop/s of the kept weights against flops a byte, below the device's
    ceilings."""
    figure, axes = _axes()
    series = _series(rows)
    for i, (name, measured) in enumerate(series.items()):
        axes.scatter([row["flops"] / row["bytes"] for row in measured],
                     [row["gflops"] for row in measured], s=18,
                     marker=_MARKERS[i % len(_MARKERS)], label=name, zorder=3)
    flops = [row["peak_gflops"] for row in rows if row["peak_gflops"] > 0]
    bandwidth = [row["peak_gbytes_per_s"] for row in rows
                 if row["peak_gbytes_per_s"] > 0]
    intensities = [row["flops"] / row["bytes"] for row in rows]
    if flops and bandwidth:
        _draw_ceilings(axes, max(flops), max(bandwidth), intensities)
    for axis, name in ((axes.xaxis, "x"), (axes.yaxis, "y")):
        getattr(axes, f"set_{name}scale")("log")
        _plain_numbers(axis)
    axes.set_xlabel("flop per byte of A, the packed weights and C")
    axes.set_ylabel("Gflop/s of the kept weights")
    axes.set_title(f"Roofline of N:M products on {device}")
    axes.legend(frameon=False, fontsize=8)
    return figure


def _plain_numbers(axis) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _draw_ceilings(axes, flops: float, bandwidth: float,
                   intensities: list[float]) -> None:
    ridge = flops / bandwidth
    left, right = min(*intensities, ridge) / 2, max(*intensities, ridge) * 2
    axes.plot([left, ridge, right], [left * bandwidth, flops, flops],
              color="0.35", zorder=1)
    axes.annotate(f"{flops:,.0f} Gflop/s", (right, flops), ha="right", va="bottom",
                  fontsize=8, color="0.35")
    axes.annotate(f"{bandwidth:,.0f} GB/s", (left * 1.1, left * bandwidth * 1.1),
                  rotation=0, ha="left", va="top", fontsize=8, color="0.35")


def _axes():
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    axes.grid(True, which="major", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes
