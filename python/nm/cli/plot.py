"""python -m nm plot"""

from __future__ import annotations

import argparse
import datetime
import os
import re

from .. import Error
from .._plots.data import grouped, read_measurements
from .._plots.roofline import draw_roofline
from .._plots.speedup import draw_speedup
from .._plots.style import save
from .common import add_json_argument, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("csv", nargs="+", help="measurements of nm-bench --csv")
    parser.add_argument("-o", "--output", default="nm",
                        help="prefix of the files: OUTPUT-speedup.png, .svg and .pdf, "
                        "and OUTPUT-roofline the same (default nm)")
    parser.add_argument("--by-type", action="store_true",
                        help="a figure of the speed-ups for each element type, "
                        "OUTPUT-TYPE-speedup, in place of one with all types")
    parser.add_argument("--date", help="when it was measured, for the title (default "
                        "when the first file was written)")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    rows = [row for path in args.csv for row in read_measurements(path)]
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise Error("expected the package matplotlib, but it is not installed: "
                    "pip install matplotlib") from None
    date = args.date or datetime.date.fromtimestamp(
        os.stat(args.csv[0]).st_mtime).isoformat()
    devices = grouped(rows, lambda row: (row.device, row.threads))
    files = []
    for (device, threads), measured in devices.items():
        prefix = args.output
        if len(devices) > 1:
            prefix += "-" + re.sub(r"\W+", "-", f"{device} {threads or ''}").strip("-")
        parts = grouped(measured, lambda row: f"-{row.type}" if args.by_type else "")
        for kind, part in parts.items():
            files += save(draw_speedup(part, date), f"{prefix}{kind}-speedup")
        files += save(draw_roofline(measured, date), f"{prefix}-roofline")
    if args.json:
        print_json({"files": files, "measurements": len(rows)})
    else:
        print("\n".join(files))
    return 0
