"""python -m nm check"""

from __future__ import annotations

import argparse

import numpy as np

from .. import detect
from .. import check as check_weight
from .._progress import with_progress
from .common import (add_weight_arguments, chosen_weights, given_pattern,
                     print_json, print_table, shape_text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_weight_arguments(parser, pattern_required=False)
    parser.epilog = ("With --pattern the exit code is 1 where it does not hold. "
                     "Without, the sparsest pattern that holds is found.")


def run(args: argparse.Namespace) -> int:
    pattern = given_pattern(args)
    source, names = chosen_weights(args)
    if pattern is None:
        return _find(args, source, names)
    reports = {name: check_weight(source[name], pattern, name=name)
               for name in with_progress(names, len(names), "checking")}
    if args.json:
        print_json({name: report.to_dict() for name, report in reports.items()})
    else:
        print_table(
            ["weight", "shape", "holds", "bad windows", "zeros", "-0.0"],
            [[name, shape_text(report.shape), "yes" if report else "no",
              f"{report.violations} of {report.windows}",
              f"{100 * report.sparsity:.2f} %", str(report.negative_zeros)]
             for name, report in reports.items()])
        print(f"\npattern {pattern.describe()}: N is kept of every M")
        for report in reports.values():
            if not report:
                print(report.message)
    return 0 if all(reports.values()) else 1


def _find(args: argparse.Namespace, source, names: list[str]) -> int:
    found = {}
    for name in with_progress(names, len(names), "searching"):
        weight = source[name]
        zeros = 1 - np.count_nonzero(weight) / weight.size
        found[name] = (*detect(weight, axis=args.axis), weight.shape, zeros)
    if args.json:
        print_json({name: {"pattern": str(pattern) if pattern else None,
                           "reason": reason, "shape": shape, "sparsity": zeros}
                    for name, (pattern, reason, shape, zeros) in found.items()})
    else:
        print_table(["weight", "shape", "zeros", "pattern"],
                    [[name, shape_text(shape), f"{100 * zeros:.2f} %",
                      pattern.describe() if pattern else f"none: {reason}"]
                     for name, (pattern, reason, shape, zeros) in found.items()])
    return 0
