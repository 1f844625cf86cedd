"""python -m nm prune"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from .. import Error, _safetensors
from .. import prune as prune_weight
from .._checkpoint import change_folder
from .._find import pattern_along
from .._pattern import check_fits
from .._progress import ProgressLine, with_progress
from .._prune import PruneReport
from ..io import WeightSource
from ..io._shards import shards_of
from ..io._source import filter_of_matrix
from .common import (Chosen, add_weight_arguments, check_output, chosen_weights,
                     given_pattern, print_json, print_passed_over, print_table,
                     shape_text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_weight_arguments(parser, pattern_required=True)
    parser.add_argument("--sparsity", type=float, metavar="SHARE",
                        help="of --pattern=unstructured: the share of each weight that is "
                        "pruned, as 0.9")
    parser.add_argument("-o", "--output", required=True,
                        help="dense .safetensors, the other tensors included; a folder "
                        "where FILE is one, which gets the model's other files, too")
    parser.add_argument("--overwrite", action="store_true",
                        help="allow --output to be the file that is read")
    parser.epilog = ("Embeddings, whose rows are looked up, stay as they are unless "
                     "--name names them.")


def run(args: argparse.Namespace) -> int:
    is_folder = os.path.isdir(args.file) and not args.output.endswith(".safetensors")
    if not is_folder:
        check_output(args.output)
    if not args.overwrite:
        _check_not_input(args.file, args.output)
    pruner = _Pruner(given_pattern(args), args.axis, args.sparsity)
    chosen = chosen_weights(args)
    names = _without_embeddings(args, chosen)
    if is_folder:
        with ProgressLine(sys.stderr) as line:
            change_folder(Path(args.file), Path(args.output), names, pruner.prune,
                          pruner.metadata(chosen.source, names), line.show)
    else:
        source = chosen.source
        _safetensors.write(args.output, {
            name: pruner.prune(source, name) if name in names else source.raw(name)
            for name in with_progress(source, len(source), "pruning")},
            {"format": "pt", **pruner.metadata(source, names)})
    if args.json:
        print_json({**{name: report.to_dict() for name, report in pruner.reports.items()},
                    **{name: {"dropped": None, "reason": reason}
                       for name, reason in chosen.passed_over.items()}})
    else:
        _print(args, chosen, pruner.reports)
    return 0


class _Pruner:
    """Prunes weights of files.

    Attributes:
        reports: of what was pruned, by name.
    """

    def __init__(self, pattern: str | None, axis: int | None, sparsity: float | None):
        self.pattern, self.axis, self.sparsity = pattern, axis, sparsity
        self.reports: dict[str, PruneReport] = {}

    def prune(self, source: WeightSource, name: str) -> tuple[str, np.ndarray]:
        element, array = source.raw(name)
        weight = source.weight(name)
        pattern = pattern_along(source, name, self.pattern, self.axis)
        check_fits(pattern, weight.shape, name)
        if pattern.is_unstructured and not pattern.n and self.sparsity is None:
            raise Error("expected --sparsity=SHARE or how many weights are kept, as in "
                        f"'unstructured, kept = 100', but got {pattern}")
        pruned, self.reports[name] = prune_weight(
            weight, pattern, sparsity=self.sparsity)
        array = source.of_filter(name, getattr(pruned, "raw", pruned).view(array.dtype))
        w = source.condensed(name)
        return element, (array if w is None or w._taps is None else
                         filter_of_matrix(array, w._taps))

    def metadata(self, source: WeightSource, names: list[str]) -> dict[str, str]:
        texts = dict.fromkeys(str(pattern_along(source, name, self.pattern, self.axis))
                              for name in names)
        return {"nm.pattern": "; ".join(texts), "nm.pruned": ",".join(names)}


def _print(args: argparse.Namespace, chosen: Chosen, reports: dict[str, PruneReport]) -> None:
    print_table(["weight", "shape", "non-zeros dropped", "of their energy",
                 "expected error"],
                [[name, shape_text(report.shape),
                  f"{report.dropped} of {report.non_zeros}",
                  f"{100 * report.dropped_energy:.2f} %",
                  f"{report.relative_error:.3f}"]
                 for name, report in reports.items()])
    print_passed_over(chosen)
    for report in list(reports.values())[:1]:
        kept = ("any number of weights is kept, anywhere" if report.pattern.is_unstructured
                else "N is kept of every M")
        print(f"\npattern {report.pattern.describe()}: {kept}")
    print(f"written to {args.output}")


def _check_not_input(path: str, output: str) -> None:
    files = [Path(path)]
    if os.path.isdir(path) or path.endswith(".index.json"):
        files = shards_of(Path(path))
    for file in files:
        if os.path.exists(output) and os.path.samefile(file, output):
            raise Error(f"expected an --output other than {file}, which is read; "
                        "--overwrite prunes it in its place")


def _without_embeddings(args: argparse.Namespace, chosen: Chosen) -> list[str]:
    """The weights that are pruned; the others are told of as passed over."""
    if args.name and args.name != ["*"]:
        names = chosen.names
    else:
        names = [name for name in chosen.names if not chosen.source.is_looked_up(name)]
    for name in set(chosen.names) - set(names):
        chosen.passed_over[name] = ("it is an embedding, whose rows are looked up and not "
                                    f"multiplied; --name='{name}' prunes it, too")
    for name in names:
        _check_prunable(chosen.source, name)
    if not names:
        raise Error(f"{args.file}: expected weights that are no embeddings, but got "
                    f"{', '.join(chosen.names)}; --name names those that are meant")
    chosen.names = names
    return names


def _check_prunable(source: WeightSource, name: str) -> None:
    points = source.zero_points(name)
    if points is not None and points.any():
        raise Error(f"{source.path}: {name}: expected zero points of 0, as pruned "
                    "weights are zero")
