"""python -m nm tune: measures schedules on this machine for the compiler's tables."""

from __future__ import annotations

import argparse
import subprocess

from .. import Error, tune
from .._tables import user_table
from .bench import find_program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("module", nargs="?", help="a module of MLIR, whose products are "
                        "tuned")
    parser.add_argument("--case", action="append", default=[], metavar="TEXT",
                        help="a product, such as '256x4096x4096 2:4 f16 to f16'; may be "
                        "given several times")
    parser.add_argument("--target", default="cpu", help="cpu (the default) or cuda")
    parser.add_argument("--seconds", type=float, default=300.0,
                        help="what it may take in all (default 300)")
    parser.add_argument("--rows", type=int, help="m of products that leave it open")
    parser.add_argument("--arithmetic", help="what products may be computed by")
    parser.add_argument("--table", help=f"the table to write (default {user_table()})")
    parser.add_argument("--merge", action="append", default=[], metavar="FILE",
                        help="add another table's schedules, and measure nothing")


def run(args: argparse.Namespace) -> int:
    if args.merge:
        command = [find_program(), "--tune", f"--table={args.table or user_table()}",
                   *(f"--merge={file}" for file in args.merge)]
        return subprocess.run(command, check=False).returncode
    what = [*args.case, *([args.module] if args.module else [])]
    if not what or (args.module and args.case):
        raise Error("expected a module of MLIR, or products by --case")
    print(tune(args.module or args.case, target=args.target, seconds=args.seconds,
               table=args.table, rows=args.rows, arithmetic=args.arithmetic))
    return 0
