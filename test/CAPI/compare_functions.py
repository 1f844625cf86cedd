"""Compares the functions that headers declare with those that a test has cases of.

usage: compare_functions.py FOLDER_OF_HEADERS null.c...
"""

import re
import sys
from pathlib import Path


def declared(header):
    """The functions of a header, without its comments."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
    return set(re.findall(r"\b(nm[A-Z]\w*)\s*\(", text))


def main():
    folder, *tests = map(Path, sys.argv[1:])
    cases = {name for test in tests
             for name in re.findall(r"^    call_(\w+),$",
                                    test.read_text(encoding="utf-8"), flags=re.M)}
    headers = sorted(folder.glob("*.h"))
    expected = set().union(*map(declared, headers))
    for name in sorted(expected - cases):
        print(f"no test has a case of {name}")
    for name in sorted(cases - expected):
        print(f"no header has {name}")
    return expected != cases or not expected


if __name__ == "__main__":
    sys.exit(main())
