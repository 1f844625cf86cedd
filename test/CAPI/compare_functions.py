"""Compares the functions that headers declare with those that a test has cases of.

usage: compare_functions.py null.c FOLDER_OF_HEADERS
"""

import re
import sys
from pathlib import Path


def declared(header):
    """The functions of a header, without its comments."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
    return set(re.findall(r"\b(nm[A-Z]\w*)\s*\(", text))


def main():
    test, folder = map(Path, sys.argv[1:])
    cases = set(re.findall(r"^    call_(\w+),$", test.read_text(encoding="utf-8"),
                           flags=re.M))
    headers = sorted(folder.glob("*.h"))
    expected = set().union(*map(declared, headers))
    for name in sorted(expected - cases):
        print(f"{test.name} has no case of {name}")
    for name in sorted(cases - expected):
        print(f"no header has {name}")
    return expected != cases or not expected


if __name__ == "__main__":
    sys.exit(main())
