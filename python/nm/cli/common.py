"""What several commands share: which weights are meant, and how they report."""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
from typing import Any

from .. import Error, io
from .._pattern import Pattern, parse_pattern
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
    parser.add_argument("--axis", type=int, default=1, choices=(0, 1),
                        help="where k is: 1 of [out, in], as checkpoints have "
                        "weights (default), or 0")
    parser.add_argument("--name", action="append", metavar="GLOB",
                        help="only weights with such a name; may be repeated")
    add_json_argument(parser)


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true",
                        help="print one JSON text for machines")


def required_pattern(args: argparse.Namespace) -> Pattern:
    found = given_pattern(args)
    if found is None:
        raise Error("expected --pattern")
    return found


def given_pattern(args: argparse.Namespace) -> Pattern | None:
    if args.pattern is None:
        if args.block:
            raise Error("expected --pattern beside --block")
        return None
    axis = None if "dim" in args.pattern else args.axis
    return parse_pattern(args.pattern, args.block, axis)


def chosen_weights(args: argparse.Namespace) -> tuple[io.WeightSource, list[str]]:
    """The file, and the names of the weights in it that are meant."""
    source = io.open_weights(args.file)
    names = source.matrices()
    if not names:
        raise Error(f"{args.file}: expected weights of two dimensions, but found "
                    "none")
    if args.name:
        names = [name for name in names
                 if any(fnmatch.fnmatchcase(name, glob) for glob in args.name)]
        if not names:
            raise Error(f"{args.file}: expected weights named "
                        f"{' or '.join(args.name)}, but it has "
                        f"{', '.join(source.matrices())}")
    return source, names


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
