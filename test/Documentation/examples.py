"""Runs the IR in the documentation, so that it cannot rot.

usage: examples.py NM_OPT FILE.md ...

Every ```mlir block with a function has to parse. Where a paragraph that names
`nm-opt FLAGS` stands between two such blocks, the first run through these flags
has to give the second. A block with `...` in it is an excerpt: `...` stands for
what is left out of a line, or, alone on one, for lines, and the next block is
made of the whole.
"""

import re
import shlex
import subprocess
import sys


def nm_opt(tool, ir, *flags):
    result = subprocess.run([tool, "-", *flags], input=ir, text=True,
                            capture_output=True)
    if result.returncode:
        raise ValueError(result.stderr + ir)
    return result.stdout


def lines_of(ir):
    return [line.strip() for line in ir.splitlines() if line.strip()]


def matches(line, excerpt):
    parts = [re.escape(part) for part in excerpt.split("...")]
    return re.fullmatch(".*".join(parts), line) is not None


def first_missing(got, excerpt):
    """The first line of the excerpt that `got` lacks, or None."""
    at, may_skip = 0, True
    for wanted in excerpt:
        if wanted == "...":
            may_skip = True
            continue
        end = len(got) if may_skip else min(at + 1, len(got))
        found = [i for i in range(at, end) if matches(got[i], wanted)]
        if not found:
            return wanted
        at, may_skip = found[0] + 1, False
    return None


class Examples:
    """The blocks of one file, each with the text before it."""

    def __init__(self, tool):
        self.tool = tool
        self.before = None

    def run(self, between):
        flags = re.search(r"`nm-opt ([^`]*)`", between)
        if not (self.before and flags):
            return None
        return nm_opt(self.tool, self.before, *shlex.split(flags.group(1)))

    def check_excerpt(self, ir, between):
        got = self.run(between)
        if got is None:
            return None
        self.before = got
        missing = first_missing(lines_of(got), lines_of(ir))
        if missing is None:
            return None
        return f"expected, in this place,\n  {missing}\nbut got\n{got}"

    def check_whole(self, ir, between):
        if "func.func" not in ir:
            return None
        got = self.run(between)
        self.before = ir
        parsed = nm_opt(self.tool, ir)
        if got is None or got == parsed:
            return None
        return f"expected\n{parsed}but got\n{got}"

    def check(self, ir, between):
        try:
            if "..." in ir:
                return self.check_excerpt(ir, between)
            return self.check_whole(ir, between)
        except ValueError as error:
            return str(error)


def failures(tool, text):
    examples = Examples(tool)
    between = ""
    for part in re.split(r"(^```mlir\n.*?^```$)", text, flags=re.M | re.S):
        if not part.startswith("```mlir"):
            between = part
            continue
        ir = part.removeprefix("```mlir\n").removesuffix("```")
        if failure := examples.check(ir, between):
            yield failure


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    failed = 0
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            for failure in failures(sys.argv[1], file.read()):
                print(f"{name}: {failure}")
                failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
