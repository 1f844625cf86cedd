"""python -m nm compile"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .. import CompileError, Error, lower
from .. import compile as compile_module
from .._compile import compile_to
from .._files import written_whole
from .common import add_json_argument, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a module of MLIR")
    parser.add_argument("-o", "--output", help="the shared object, or the text of "
                        "--emit (default: stdout for a text)")
    parser.add_argument("--target", default="cpu",
                        help="cpu (default), cpu:aarch64, cuda or cuda:sm_90a")
    parser.add_argument("--emit", default="so",
                        help="stop at a phase, as nm-compile does (default so)")
    parser.add_argument("-O", "--option", action="append", default=[],
                        metavar="NAME=VALUE", help="an option of nm-compile, as "
                        "in opt-level=2; may be repeated")
    add_json_argument(parser)


def parse_options(texts: list[str]) -> dict:
    options: dict = {}
    for text in texts:
        name, equals, value = text.partition("=")
        options[name.replace("-", "_")] = value if equals else True
    return options


def run(args: argparse.Namespace) -> int:
    options = parse_options(args.option)
    if args.emit == "so" and args.output is None:
        raise Error("expected --output=FILE for a shared object")
    try:
        if args.emit != "so":
            return _lower(args, options)
        if args.target.startswith("cpu:"):
            return _compile_elsewhere(args, options)
        module = compile_module(Path(args.file), args.target, **options)
    except CompileError as error:
        if not args.json:
            raise
        print_json({"diagnostics": [vars(entry) for entry in error.diagnostics]})
        return 1
    module.save(args.output)
    if args.json:
        print_json({"output": args.output, "target": module.target,
                    "functions": {name: {"type": str(function),
                                         "ops": [op.as_dict() for op in function.ops]}
                                  for name, function in module.functions.items()}})
        return 0
    for function in module.functions.values():
        print(function)
        for op in function.ops:
            print(f"  {op.loc}: {op.remark}")
    return 0


def _compile_elsewhere(args: argparse.Namespace, options: dict) -> int:
    """For a processor that may be another one, on which nothing can be loaded."""
    diagnostics = compile_to(args.output, Path(args.file), args.target, **options)
    if args.json:
        print_json({"output": args.output, "target": args.target,
                    "diagnostics": [vars(entry) for entry in diagnostics]})
        return 0
    for entry in diagnostics:
        print(entry)
    return 0


def _lower(args: argparse.Namespace, options: dict) -> int:
    artifact = lower(Path(args.file), args.emit, args.target, **options)
    if args.output is None:
        stream = sys.stdout.buffer
        stream.write(artifact if isinstance(artifact, bytes)
                     else artifact.encode())
        stream.flush()
        return 0
    with written_whole(args.output) as file:
        file.write(artifact if isinstance(artifact, bytes) else artifact.encode())
    return 0
