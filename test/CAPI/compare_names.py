"""Compares the names that the C API has with those of the reference.

usage: compare_names.py NMDialect.md < NAMES, which `nm-capi-fields-test names` prints
"""

import re
import sys


def reference(text):
    """The lines that `names` has to print, in any order."""
    lines = set()
    for section in re.split(r"^### ", text, flags=re.M)[1:]:
        op = re.match(r"`(nm\.\w+)`", section)
        if op:
            table = re.search(r"#### Operands:\n\n.*?\n.*?\n((?:\|.*\n)*)",
                              section)
            operands = re.findall(r"^\| `(\w+)`", table.group(1),
                                  flags=re.M) if table else []
            lines.add(" ".join([op.group(1), *operands]))
            continue
        kind = re.match(r"(\w+?)(?:Schedule)?(Attr|Type)\n", section)
        if kind:
            words = re.findall("[A-Z][a-z]*", kind.group(1))
            sigil = "#" if kind.group(2) == "Attr" else "!"
            # An attribute of several mnemonics has a heading for each.
            mnemonics = re.findall(r"^#### `(#nm\.\w+)`", section, flags=re.M)
            lines.update(mnemonics or [sigil + "nm." + "_".join(words).lower()])
    return lines


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        expected = reference(file.read())
    got = set(sys.stdin.read().splitlines())
    for line in sorted(expected - got):
        print("the C API lacks", line)
    for line in sorted(got - expected):
        print("the reference lacks", line)
    return expected != got


if __name__ == "__main__":
    sys.exit(main())
