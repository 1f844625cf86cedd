"""python -m nm check"""

from __future__ import annotations

import argparse

from .. import check as check_weight
from .._find import find_pattern, pattern_along
from .._progress import with_progress
from .common import (Chosen, add_weight_arguments, chosen_weights, given_pattern,
                     print_json, print_passed_over, print_table, shape_text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_weight_arguments(parser, pattern_required=False)
    parser.epilog = ("With --pattern the exit code is 1 where it does not hold. "
                     "Without, the sparsest pattern that holds is found.")


def run(args: argparse.Namespace) -> int:
    pattern = given_pattern(args)
    chosen = chosen_weights(args)
    if pattern is None:
        return _find(args, chosen)
    source, names = chosen.source, chosen.names
    reports = {name: check_weight(source.weight(name), pattern_along(
        source, name, pattern, args.axis), name=name)
        for name in with_progress(names, len(names), "checking")}
    if args.json:
        print_json({**{name: report.to_dict() for name, report in reports.items()},
                    **_passed_over_json(chosen, "holds")})
    else:
        print_table(
            ["weight", "shape", "holds", "bad windows", "zeros", "-0.0"],
            [[name, shape_text(report.shape), "yes" if report else "no",
              f"{report.violations} of {report.windows}",
              f"{100 * report.sparsity:.2f} %", str(report.negative_zeros)]
             for name, report in reports.items()])
        print()
        print_passed_over(chosen)
        for text in dict.fromkeys(report.pattern.describe()
                                  for report in reports.values()):
            print(f"pattern {text}: N is kept of every M")
        for report in reports.values():
            if not report:
                print(report.message + report.hint())
            elif report.index_form is not None:
                print(report.message + report.size())
    return 0 if all(reports.values()) else 1


def _passed_over_json(chosen: Chosen, key: str) -> dict:
    return {name: {key: None, "reason": reason, "shape": chosen.source.info(name)[1]}
            for name, reason in chosen.passed_over.items()}


def _find(args: argparse.Namespace, chosen: Chosen) -> int:
    source, names = chosen.source, chosen.names
    found = {name: find_pattern(source, name, args.axis)
             for name in with_progress(names, len(names), "searching")}
    if args.json:
        print_json({**{name: {
            "pattern": str(each.pattern) if each.pattern else None,
            "reason": each.reason, "hint": each.hint, "shape": source.info(name)[1],
            "sparsity": each.zeros} for name, each in found.items()},
            **_passed_over_json(chosen, "pattern")})
        return 0
    print_table(["weight", "shape", "zeros", "pattern"],
                [[name, shape_text(source.info(name)[1]), f"{100 * each.zeros:.2f} %",
                  (each.pattern.describe() if each.pattern else f"none: {each.reason}")
                  + (f"; {each.hint}" if each.hint else "")]
                 for name, each in found.items()])
    print_passed_over(chosen)
    return 0
