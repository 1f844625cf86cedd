"""python -m nm convert"""

from __future__ import annotations

import argparse

from .. import PatternError, compress, detect, save_weights
from .._progress import with_progress
from .common import (add_weight_arguments, check_output, chosen_weights,
                     given_pattern, print_json, print_table, shape_text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_weight_arguments(parser, pattern_required=False)
    parser.add_argument("-o", "--output", required=True,
                        help=".safetensors of condensed weights, for "
                        "nm.load_weights")
    parser.add_argument("--skip", action="store_true",
                        help="leave out weights that break the pattern, in place "
                        "of failing")


def run(args: argparse.Namespace) -> int:
    check_output(args.output)
    given = given_pattern(args)
    source, names = chosen_weights(args)
    weights, skipped = {}, {}
    for name in with_progress(names, len(names), "compressing"):
        dense = source[name]
        pattern, reason = (given, "") if given else detect(dense, axis=args.axis)
        if pattern is None:
            skipped[name] = reason
            continue
        try:
            weights[name] = compress(dense, pattern, name=name)
        except PatternError as error:
            if not args.skip:
                raise
            skipped[name] = str(error)
    if not weights:
        raise PatternError(f"{args.file}: expected weights with an N:M pattern, "
                           f"but of {len(names)} none has one")
    save_weights(args.output, weights)
    _report(args, weights, skipped, source)
    return 0


def _report(args: argparse.Namespace, weights: dict, skipped: dict, source
            ) -> None:
    dense = {name: source[name].nbytes for name in weights}
    if args.json:
        print_json({"weights": {
            name: {"pattern": str(w.pattern), "shape": w.shape, "dtype": w.dtype,
                   "bytes": w.nbytes, "dense_bytes": dense[name]}
            for name, w in weights.items()}, "skipped": skipped})
        return
    print_table(["weight", "shape", "pattern", "bytes", "of dense"],
                [[name, shape_text(w.shape), w.pattern.describe(), str(w.nbytes),
                  f"{100 * w.nbytes / dense[name]:.1f} %"]
                 for name, w in weights.items()])
    for name, reason in skipped.items():
        print(f"left out {name}: {reason}")
    print(f"\nwritten to {args.output}")
