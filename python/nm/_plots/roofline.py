"""Operations against the bytes they take, below what the device can do."""

from __future__ import annotations

import math
from typing import Any

from .data import UNITS, Measurement, grouped, series_of, title_of
from .style import MARKERS, add_legend, draw_hollow, draw_marks, facets, styled


def draw_roofline(rows: list[Measurement], date: str) -> Any:
    """A facet for each type, whose ceilings differ: Gflop/s of the kept weights against
    flops a byte, each with the range that 80 % of the calls are in."""
    types = grouped(rows, lambda row: row.type)
    names = {name.rpartition(", f")[0] or name: i
             for i, name in enumerate(series_of(rows))}
    with styled():
        figure, axes = facets(len(types), title_of(rows, date))
        for each, (kind, measured) in zip(axes, types.items()):
            each.set_title(kind)
            _draw_facet(each, measured, names)
            each.set_xlabel("flop per byte of A, weights and C")
        _set_scales(axes, rows)
        axes[0].set_ylabel("Gflop/s of the kept weights")
        add_legend(figure, axes)
    return figure


def _draw_facet(axes: Any, measured: list[Measurement], names: dict[str, int]) -> None:
    for name, series in series_of(measured).items():
        i = names.setdefault(name, len(names))
        spread = [[row.gflops * (1 - row.median_us / row.p90_us) for row in series],
                  [row.gflops * (row.median_us / row.p10_us - 1) for row in series]]
        axes.errorbar([row.flops / row.bytes for row in series],
                      [row.gflops for row in series],
                      [[max(0, part) for part in side] for side in spread],
                      linestyle="none", marker=MARKERS[i % len(MARKERS)], markersize=4,
                      capsize=2, color=f"C{i % 10}", label=name, zorder=3)
    draw_hollow(axes, [(row.flops / row.bytes, row.gflops) for row in measured
                       if not row.skips_zeros])
    draw_marks(axes, [(row.flops / row.bytes, row.gflops, row.mark) for row in measured],
               UNITS)
    intensities = [row.flops / row.bytes for row in measured]
    roofs = _roofs(measured)
    for unit, flops, bandwidth in roofs:
        label = f"{flops:,.0f} Gflop/s" + (f", {unit}" if len(roofs) > 1 else "")
        _draw_ceilings(axes, flops, bandwidth, intensities, label)


def _roofs(measured: list[Measurement]) -> list[tuple[str, float, float]]:
    """The units that multiplied, with the most that each can do; units that can do
    the same are one roof."""
    found: dict[float, tuple[str, float]] = {}
    # A CPU's ceilings are measured, and vary: the highest is its roof.
    for unit, rows in grouped(measured, lambda row: row.unit).items():
        flops = max(row.peak_gflops for row in rows)
        bandwidth = max(row.peak_gbytes for row in rows)
        if flops > 0 and bandwidth > 0:
            names = found.get(flops, ("", 0.0))[0]
            found[flops] = (f"{names}, {unit}" if names else unit, bandwidth)
    return [(unit, flops, bandwidth) for flops, (unit, bandwidth) in found.items()]


def _set_scales(axes: list[Any], rows: list[Measurement]) -> None:
    """The facets share the scale of y; above the highest ceiling there is room for what
    it is called."""
    speeds = [row.gflops for row in rows]
    ceilings = [row.peak_gflops for row in rows if row.peak_gflops > 0]
    for each in axes:
        each.set_xscale("log")
        each.set_yscale("log")
        each.set_ylim(min(speeds) / 4, max(speeds + ceilings) * 3)
        for axis in (each.xaxis, each.yaxis):
            axis.set_major_formatter(lambda value, _: (
                f"{value:,.0f}" if value >= 1 else f"{value:g}"))


def _draw_ceilings(axes: Any, flops: float, bandwidth: float,
                   intensities: list[float], label: str) -> None:
    """Points are below the ceilings, so that labels above them are in no one's way; one
    is left of the slope and the other at the right end."""
    ridge = flops / bandwidth
    left, right = min(*intensities, ridge) / 20, max(*intensities, ridge) * 3
    axes.plot([left, ridge, right], [left * bandwidth, flops, flops], color="0.3",
              zorder=1)
    axes.set_xlim(left, right)
    middle = math.sqrt(left * 20 * ridge)
    for text, place, offset in (
            (label, (right, flops), (0, 3)),
            (f"{bandwidth:,.0f} GB/s", (middle, middle * bandwidth), (-6, 0))):
        axes.annotate(text, place, offset, ha="right", va="bottom", fontsize=7,
                      color="0.3", textcoords="offset points")
