"""The plot of nm.torch.search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._errors import Error

if TYPE_CHECKING:
    from ._search import LayerChoice, SearchReport


def draw_search(report: SearchReport, path: str) -> None:
    """Error against speed-up, to a file of any format that matplotlib has."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise Error("expected the package matplotlib, but it is not installed: "
                    "pip install matplotlib") from None
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(*zip(*report.front), "o-", color="0.5", markersize=3,
              label="best of each budget", zorder=1)
    for pattern, (speedup, error) in uniform_choices(report).items():
        axes.plot(speedup, error, "s", markersize=5, label=f"all {pattern}", zorder=2)
    axes.plot(report.speedup, report.error, "*", markersize=13, color="black",
              label="chosen", zorder=3)
    axes.set_xlabel("speed-up of the linear layers over dense")
    axes.set_ylabel("relative error of their products")
    axes.legend(fontsize=8, frameon=False)
    axes.grid(color="0.9")
    figure.savefig(path, dpi=200)


def uniform_choices(report: SearchReport) -> dict[str, tuple[float, float]]:
    """Speed-up and error of each pattern for all layers that have it."""
    from ._search import error_of, speedup_of
    patterns = {choice.pattern for each in report.candidates for choice in each
                if choice.pattern is not None}
    found = {}
    for pattern in sorted(patterns, key=lambda pattern: (pattern.sparsity, str(pattern))):
        layers = [_with_pattern(each, pattern) for each in report.candidates]
        name = str(pattern).replace(", dim = 1", "")
        found[name] = speedup_of(layers), error_of(layers)
    return found


def _with_pattern(choices: tuple[LayerChoice, ...], pattern: object) -> LayerChoice:
    return next((choice for choice in choices if choice.pattern == pattern), choices[0])
