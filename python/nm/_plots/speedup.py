"""Speed-up over dense against sparsity."""

from __future__ import annotations

from typing import Any

from .data import UNITS, Measurement, grouped, series_of, title_of
from .style import MARKERS, add_legend, draw_hollow, draw_marks, facets, styled


def draw_speedup(rows: list[Measurement], date: str) -> Any:
    """A facet for each shape: a point for each pattern with the range that 80 % of its
    calls are in, one for cuSPARSELt where it was timed, and for each type what skipping
    every zero would give over dense of that type."""
    names = {name: i for i, name in enumerate(series_of(rows))}
    shapes = grouped(rows, lambda row: row.shape)
    with styled():
        figure, axes = facets(len(shapes), title_of(rows, date))
        for each, (shape, measured) in zip(axes, shapes.items()):
            each.set_title("m × n × k = " + " × ".join(map(str, shape)))
            _draw_facet(each, measured, rows, names)
        for each in axes:
            each.set_xlabel("sparsity in %")
        axes[0].set_ylabel("speed-up over dense")
        add_legend(figure, axes)
    return figure


def _draw_facet(axes: Any, measured: list[Measurement], rows: list[Measurement],
                names: dict[str, int]) -> None:
    _draw_ideal(axes, measured)
    axes.axhline(1, color="0.5", label="dense", zorder=1)
    inside = set(map(id, measured))
    for name, series in series_of(rows).items():
        points = sorted((row for row in series if id(row) in inside),
                        key=lambda row: row.sparsity)
        if not points:
            continue
        i = names[name]
        spread = [[row.speedup - row.speedup_range[0] for row in points],
                  [row.speedup_range[1] - row.speedup for row in points]]
        axes.errorbar([100 * row.sparsity for row in points],
                      [row.speedup for row in points],
                      [[max(0, part) for part in side] for side in spread],
                      marker=MARKERS[i % len(MARKERS)], markersize=4, capsize=2,
                      color=f"C{i % 10}", label=name, zorder=3)
    _draw_peers(axes, measured)
    draw_hollow(axes, [(100 * row.sparsity, row.speedup) for row in measured
                       if not row.skips_zeros])
    draw_marks(axes, [(100 * row.sparsity, row.speedup, row.mark) for row in measured], UNITS)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}×")


def _draw_peers(axes: Any, measured: list[Measurement]) -> None:
    """The libraries' points, without lines: cuSPARSELt's time is that of 2:4, whatever is
    kept."""
    for label, marker, points in (
            ("cuSPARSELt", "x", [(row.sparsity, row.sparse_speedup) for row in measured
                                 if row.sparse_us > 0]),
            ("cuSPARSE", "+", [(row.sparsity, row.csr_speedup) for row in measured
                               if row.csr_us > 0])):
        if points:
            axes.plot([100 * sparsity for sparsity, _ in points],
                      [speedup for _, speedup in points], linestyle="none",
                      marker=marker, markersize=6, color="black", label=label, zorder=4)


def _draw_ideal(axes: Any, measured: list[Measurement]) -> None:
    """The most of each sparsity, by type: blocks share indices."""
    styles = ("--", ":", "-.")
    for i, (kind, rows) in enumerate(grouped(measured, lambda row: row.type).items()):
        best = {sparsity: max(row.ideal for row in each) for sparsity, each in
                grouped(rows, lambda row: row.sparsity).items()}
        axes.plot([0, *(100 * sparsity for sparsity in best)], [1, *best.values()],
                  styles[i % len(styles)], color="0.3", label=f"ideal, {kind}", zorder=2)
