"""python -m nm prune"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from .. import Error, _safetensors
from .. import prune as prune_weight
from .._find import pattern_along
from .._progress import with_progress
from ..io import WeightSource
from ..io._shards import shards_of
from .common import (Chosen, add_weight_arguments, check_output, chosen_weights,
                     given_pattern, print_json, print_passed_over, print_table,
                     shape_text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_weight_arguments(parser, pattern_required=True)
    parser.add_argument("-o", "--output", required=True,
                        help="dense .safetensors, the other tensors included")
    parser.add_argument("--overwrite", action="store_true",
                        help="allow --output to be the file that is read")
    parser.epilog = ("Embeddings, whose rows are looked up, stay as they are unless "
                     "--name names them.")


def run(args: argparse.Namespace) -> int:
    check_output(args.output)
    if not args.overwrite:
        _check_not_input(args.file, args.output)
    pattern = given_pattern(args)
    chosen = chosen_weights(args)
    source = chosen.source
    names = _without_embeddings(args, chosen)
    tensors, reports = {}, {}
    for name in with_progress(source, len(source), "pruning"):
        element, array = source.raw(name)
        if name in names:
            pruned, reports[name] = prune_weight(source.weight(name), pattern_along(
                source, name, pattern, args.axis))
            array = source.of_filter(name, getattr(pruned, "raw", pruned).view(
                array.dtype))
        tensors[name] = element, array
    texts = dict.fromkeys(str(report.pattern) for report in reports.values())
    _safetensors.write(args.output, tensors, {
        "format": "pt", "nm.pattern": "; ".join(texts),
        "nm.pruned": ",".join(names)})
    if args.json:
        print_json({**{name: report.to_dict() for name, report in reports.items()},
                    **{name: {"dropped": None, "reason": reason}
                       for name, reason in chosen.passed_over.items()}})
        return 0
    print_table(["weight", "shape", "non-zeros dropped", "of their energy",
                 "expected error"],
                [[name, shape_text(report.shape),
                  f"{report.dropped} of {report.non_zeros}",
                  f"{100 * report.dropped_energy:.2f} %",
                  f"{report.relative_error:.3f}"]
                 for name, report in reports.items()])
    print_passed_over(chosen)
    for report in list(reports.values())[:1]:
        print(f"\npattern {report.pattern.describe()}: N is kept of every M")
    print(f"written to {args.output}")
    return 0


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
