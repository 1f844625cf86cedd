"""python -m nm convert"""

from __future__ import annotations

import argparse
import sys

from .. import convert
from .._checkpoint import FORMATS, Converted, ConvertReport
from .._progress import ProgressLine
from .common import (add_weight_arguments, given_pattern, print_json, print_table,
                     shape_text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_weight_arguments(parser, pattern_required=False)
    parser.add_argument("-o", "--output", required=True,
                        help=".safetensors with the weights condensed and the other "
                        "tensors as they are; a folder where FILE is one, which gets "
                        "the model's other files, too")
    parser.add_argument("--skip", action="store_true",
                        help="leave weights dense that break the pattern, in place "
                        "of failing")
    parser.add_argument("--format", default="nm", choices=FORMATS,
                        help="what condensed weights are written as (default nm); "
                        "dense is the way back")


def run(args: argparse.Namespace) -> int:
    with ProgressLine(sys.stderr) as line:
        report = convert(args.file, args.output, given_pattern(args),
                         names=args.name or ("*",), axis=args.axis, skip=args.skip,
                         format=args.format, progress=line.show)
    if args.json:
        print_json(_to_json(report))
        return 0
    if report.weights:
        print_table(["weight", "shape", "pattern", "bytes", "of dense"],
                    [[name, shape_text(w.shape), _describe(w), str(w.bytes),
                      f"{100 * w.bytes / w.dense_bytes:.1f} %"]
                     for name, w in report.weights.items()])
    for name, parts in report.joined.items():
        print(f"{name} is {parts}")
    for name, w in report.weights.items():
        if w.bytes >= w.dense_bytes:
            print(f"larger than dense: {name} takes {100 * w.bytes / w.dense_bytes:.1f} "
                  "% of it")
    for name, reason in report.left_dense.items():
        print(f"left dense {name}: {reason}")
    others = f"with {len(report.kept)} other" if report.weights else (
        f"{len(report.kept)} dense")
    print(f"\nwritten to {args.output}, {others} tensors")
    return 0


def _describe(w: Converted) -> str:
    form = f", {w.index_form}" if w.pattern.is_unstructured and w.index_form else ""
    return w.pattern.describe() + form


def _to_json(report: ConvertReport) -> dict:
    return {"weights": {
        name: {"pattern": str(w.pattern), "shape": w.shape, "dtype": w.dtype,
               "bytes": w.bytes, "dense_bytes": w.dense_bytes, "index_form": w.index_form}
        for name, w in report.weights.items()}, "left_dense": report.left_dense,
        "joined": report.joined,
        "kept": report.kept, "files": report.files}
