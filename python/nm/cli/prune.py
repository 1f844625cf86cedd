"""python -m nm prune"""

from __future__ import annotations

import argparse

from .. import _safetensors
from .. import prune as prune_weight
from .._progress import with_progress
from .common import (add_weight_arguments, check_output, chosen_weights,
                     print_json, print_table, required_pattern, shape_text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_weight_arguments(parser, pattern_required=True)
    parser.add_argument("-o", "--output", required=True,
                        help="dense .safetensors, the other tensors included")


def run(args: argparse.Namespace) -> int:
    check_output(args.output)
    pattern = required_pattern(args)
    source, names = chosen_weights(args)
    tensors, reports = {}, {}
    for name in with_progress(source, len(source), "pruning"):
        element, array = source.raw(name)
        if name in names:
            pruned, reports[name] = prune_weight(source[name], pattern)
            array = pruned.view(array.dtype)
        tensors[name] = element, array
    _safetensors.write(args.output, tensors, {
        "format": "pt", "nm.pattern": str(pattern),
        "nm.pruned": ",".join(names)})
    if args.json:
        print_json({name: report.to_dict() for name, report in reports.items()})
        return 0
    print_table(["weight", "shape", "non-zeros dropped", "of their energy",
                 "expected error"],
                [[name, shape_text(report.shape),
                  f"{report.dropped} of {report.non_zeros}",
                  f"{100 * report.dropped_energy:.2f} %",
                  f"{report.relative_error:.3f}"]
                 for name, report in reports.items()])
    print(f"\npattern {pattern.describe()}: N is kept of every M; written to "
          f"{args.output}")
    return 0
