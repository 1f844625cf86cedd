"""How all figures look, and how they are written."""

from __future__ import annotations

from typing import Any

#: Told apart also by who sees no colours, and in print.
MARKERS = "osD^vP*X<>"
FORMATS = ("png", "svg", "pdf")
_STYLE = {"font.size": 8, "axes.titlesize": 8, "axes.spines.top": False,
          "axes.spines.right": False, "axes.grid": True, "grid.color": "0.9",
          "axes.axisbelow": True, "legend.frameon": False, "legend.fontsize": 7,
          "svg.fonttype": "none", "svg.hashsalt": "nm", "pdf.fonttype": 42,
          "lines.linewidth": 1}


def styled() -> Any:
    """A context with the style of all figures."""
    import matplotlib
    return matplotlib.rc_context(_STYLE)


def facets(count: int, title: str, columns: int = 3) -> tuple[Any, list[Any]]:
    """A figure with `count` axes, three in a row, as wide as a page's text."""
    from matplotlib.figure import Figure
    across = min(count, columns)
    rows = -(-count // across)
    figure = Figure(figsize=(max(2.6 * across, 4.2), 2.5 * rows + 0.8),
                    layout="constrained")
    figure.suptitle(title, fontsize=9)
    axes = figure.subplots(rows, across, sharey=True, squeeze=False).reshape(-1)
    for unused in axes[count:]:
        unused.set_visible(False)
    return figure, list(axes[:count])


def draw_hollow(axes: Any, points: list[tuple[float, float]]) -> None:
    """A white dot in each of these points: its kernel multiplies the zeros."""
    if points:
        axes.plot(*zip(*points), linestyle="none", marker=".", markersize=3,
                  color="white", markeredgecolor="0.3", markeredgewidth=0.3,
                  label="dot inside: zeros multiplied", zorder=5)


def draw_marks(axes: Any, points: list[tuple[float, float, str]], units: dict[str, str]
               ) -> None:
    """Which unit multiplied beside each of these points, by the letters of Measurement.mark,
    of which there may be several with a stroke between. Where all are alike the legend says
    so alone."""
    marks = {mark for *_, mark in points if mark}
    if not marks:
        return
    if len(marks) > 1:
        for x, y, mark in points:
            axes.annotate(mark, (x, y), (3, -6), textcoords="offset points", fontsize=5,
                          color="0.3", zorder=6)
    used = {each for mark in marks for each in mark.split("/")}
    for letter, name in units.items():
        if any(each[0] == letter for each in used):
            axes.plot([], [], linestyle="none", marker=f"${letter}$", color="0.3", label=name)
    if any(each.endswith("p") for each in used):
        axes.plot([], [], linestyle="none", marker="$p$", color="0.3",
                  label="behind: some zeros multiplied")
    if any(each.endswith("d") for each in used):
        axes.plot([], [], linestyle="none", marker="$d$", color="0.3",
                  label="behind: all zeros multiplied")


def add_legend(figure: Any, axes: list[Any]) -> None:
    """One legend for all facets, below them, each series once."""
    found: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels()):
            found.setdefault(label, handle)
    # A column of block, patterns and type takes two inches.
    figure.legend(found.values(), found, loc="outside lower center",
                  ncols=min(len(found), int(figure.get_figwidth() // 2)))


def save(figure: Any, stem: str) -> list[str]:
    """Writes the figure for screens, for the web with its text as text, and for print;
    gives the files' names. The same figure gives the same bytes."""
    names = []
    for kind in FORMATS:
        undated = {"Date": None} if kind == "svg" else {"CreationDate": None}
        names.append(f"{stem}.{kind}")
        with styled():
            figure.savefig(names[-1], dpi=200,
                           metadata={} if kind == "png" else undated)
    return names
