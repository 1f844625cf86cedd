"""What several commands share: which weights are meant, and how they report."""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
from dataclasses import dataclass
from typing import Any

from .. import Error, io
from .._pattern import parse_pattern
from .._table import format_table


def add_weight_arguments(parser: argparse.ArgumentParser,
                         pattern_required: bool) -> None:
    parser.add_argument("file", help="weights: .safetensors (also a folder or an "
                        "index of shards), .npy, .npz or .onnx")
    parser.add_argument("--pattern", required=pattern_required,
                        help="N:M, N kept of every M, as in 2:4"
                        + ("" if pattern_required else "; found if not given"))
    parser.add_argument("--block", help="pruning unit bk x bn, as in 1x32 "
                        "(default 1x1)")
    parser.add_argument("--axis", type=int, choices=(0, 1),
                        help="where k is: 1 of [out, in], as checkpoints have "
                        "weights, or 0 (default: what the file says, as ONNX does, "
                        "else 1)")
    parser.add_argument("--name", action="append", metavar="GLOB",
                        help="only weights with such a name; may be repeated")
    add_json_argument(parser)


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true",
                        help="print one JSON text for machines")


def given_pattern(args: argparse.Namespace) -> str | None:
    """The text of the pattern, which parses."""
    if args.pattern is None:
        if args.block:
            raise Error("expected --pattern beside --block")
        return None
    axis = None if "dim" in args.pattern else args.axis
    pattern = parse_pattern(args.pattern, args.block, axis)
    if args.block and "block" not in args.pattern:
        return f"{args.pattern}, block = {pattern.block[0]}x{pattern.block[1]}"
    return args.pattern


@dataclass
class Chosen:
    """The weights that are meant.

    Attributes:
        source: the file.
        names: of those that can have a pattern.
        passed_over: why others of two dimensions and more have none, by name.
    """

    source: io.WeightSource
    names: list[str]
    passed_over: dict[str, str]


def chosen_weights(args: argparse.Namespace) -> Chosen:
    """The weights in the file that the command line means."""
    source = io.open_weights(args.file)
    meant = [name for name in source if not args.name or any(
        fnmatch.fnmatchcase(name, glob) for glob in args.name)]
    reasons = {name: source.why_no_matrix(name) for name in meant}
    names = [name for name, reason in reasons.items() if reason is None]
    passed_over = {name: reason for name, reason in reasons.items() if reason}
    if not names:
        if args.name:
            raise Error(f"{args.file}: expected weights named "
                        f"{' or '.join(args.name)}, but it has "
                        f"{', '.join(source.matrices())}{_told(passed_over)}")
        raise Error(f"{args.file}: expected weights of two dimensions, but found "
                    f"none{_told(passed_over)}")
    return Chosen(source, names, passed_over)


def _told(passed_over: dict[str, str]) -> str:
    return "".join(f"; {name}: {reason}"
                   for name, reason in list(passed_over.items())[:8])


def print_passed_over(chosen: Chosen) -> None:
    """A line for each weight that no pattern could be of, and for each that the file has
    in parts."""
    for name in chosen.names:
        about = chosen.source.describe(name)
        if about:
            print(f"{name} is {about}")
    for name, reason in chosen.passed_over.items():
        shape = shape_text(chosen.source.info(name)[1])
        print(f"passed over {name} ({shape}): {reason}")


def print_table(header: list[str], rows: list[list[str]]) -> None:
    """Columns as wide as they need to be."""
    print(format_table(header, rows))


def print_json(value: Any) -> None:
    """Strict JSON, which has no word for what is not finite but null."""
    print(json.dumps(_finite(value), indent=1))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return value


def check_output(path: str) -> None:
    """Refuses a name that tells of another format than is written."""
    if not path.endswith(".safetensors"):
        raise Error(f"expected --output with a name that ends in .safetensors, but "
                    f"got '{path}'")


def shape_text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
