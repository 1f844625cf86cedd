"""same_files.py A B: whether two wheels have the same files of the package."""

import sys
import zipfile


def files(path):
    with zipfile.ZipFile(path) as wheel:
        return {name for name in wheel.namelist()
                if name.startswith("nm/") and not name.endswith("/")}


first, second = map(files, sys.argv[1:])
if first != second:
    sys.exit(f"only in one of both: {', '.join(sorted(first ^ second))}")
