"""The command line: python -m nm COMMAND. Every command is a module here with an
`add_arguments` and a `run`, which returns the exit code.

Exit codes: 0; 1 where a check did not hold or something failed; 2 where the command
line is wrong.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Sequence
from importlib import import_module

_COMMANDS = {
    "check": "check weights against a pattern, or find theirs",
    "prune": "prune weights by magnitude",
    "convert": "write weights in condensed form",
    "compile": "compile a module of MLIR",
    "run": "run a function of a module on .npy files",
    "bench": "time products beside a dense BLAS (nm-bench)",
    "tune": "measure schedules on this machine, for tables that compilations look in",
    "plot": "draw speed-up and roofline from a CSV of nm-bench",
}


def make_parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser; only the command `wanted`, if given, is loaded."""
    from .. import __version__
    parser = argparse.ArgumentParser(
        prog="python -m nm",
        description="Products with N:M-sparse weights. N is kept of every M.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True,
                                     metavar="COMMAND")
    for name, summary in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if wanted in (None, name):
            module = import_module(f".{name}", __name__)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _names_error(text: str) -> bool:
    """Whether it says already that it is an error, as what the compiler says does."""
    return re.match(r"([^\n]*: )?(error|remark|warning): ", text) is not None


def main(args: Sequence[str] | None = None) -> int:
    """Runs a command line and returns its exit code."""
    from .. import Error
    given = list(sys.argv[1:] if args is None else args)
    wanted = next((arg for arg in given if arg in _COMMANDS), None)
    # nm-bench has a command line of its own.
    parsed, rest = make_parser(wanted).parse_known_args(given)
    if rest and parsed.command != "bench":
        make_parser(wanted).error(f"unrecognized arguments: {' '.join(rest)}")
    parsed.rest = rest
    # Names in files may hold what the terminal's encoding has not.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return parsed.run(parsed)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except (Error, OSError, KeyError, TypeError, ValueError) as error:
        text = error.args[0] if isinstance(error, KeyError) else error
        print(text if _names_error(str(text)) else f"error: {text}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
