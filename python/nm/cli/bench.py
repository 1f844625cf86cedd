"""python -m nm bench: nm-bench, which the package carries."""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .. import Error, _library
from .common import add_json_argument, print_json

_STDERR = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--csv", help="write the measurements to this file, for "
                        "python -m nm plot")
    add_json_argument(parser)
    parser.epilog = ("All other options are those of nm-bench, such as "
                     "--preset=cpu or --shape=256x4096x4096 --pattern=2:4; "
                     "--list prints the cases, and `nm-bench --help` all.")


def find_program() -> str:
    """nm-bench beside the libraries, in a build's bin folder, or on PATH.

    Raises:
        Error: it is not there, or may not be run.
    """
    closed = None
    for folder in _library.folders():
        for path in (folder / "nm-bench", folder.parent / "bin" / "nm-bench"):
            if os.access(path, os.X_OK):
                return str(path)
            closed = closed or (path if path.exists() else None)
    found = shutil.which("nm-bench")
    if found is not None:
        return found
    if closed is not None:
        raise Error(f"expected '{closed}' to be executable, but it is not; pip installs "
                    "it so, and other ways of unpacking a wheel may not")
    raise Error("expected nm-bench beside the libraries or on PATH, but found none")


def run(args: argparse.Namespace) -> int:
    if not args.rest:
        args.rest = ["--preset=cpu"]
    with tempfile.TemporaryDirectory(prefix="nm-bench-") as folder:
        path = args.csv or os.path.join(folder, "bench.csv")
        command = [find_program(), *args.rest, f"--csv={path}"]
        # Its table would be in the way of the JSON.
        output = _STDERR if args.json else None
        code = subprocess.run(command, stdout=output, check=False).returncode
        if args.json and Path(path).exists():
            with open(path, newline="", encoding="utf-8") as file:
                print_json(list(csv.DictReader(file)))
    return code
