"""Runs the IR in the documentation, so that it cannot rot.

usage: examples.py NM_OPT FILE.md ...

Every ```mlir block with a function has to parse. Where a paragraph that names
`nm-opt FLAGS` stands between two such blocks, the first run through these flags
has to give the second. A block with `...` in it is an excerpt: `...` stands for
what is left out of a line, or, alone on one, for lines, and the next block is
made of the whole. A ```ptx block is an excerpt of what `nm-compile FLAGS` makes
of the last block that linalg was in. A ```cpp or ```cmake block is an excerpt of
the file that the paragraph before it names, as `test/Embedding/embedder.cpp`, and
so is a ```mlir block where a paragraph names one.
"""

import os
import re
import shlex
import subprocess
import sys


SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def run_tool(tool, ir, *flags):
    result = subprocess.run([tool, "-", *flags], input=ir, text=True,
                            capture_output=True)
    if result.returncode:
        raise ValueError(result.stderr + ir)
    return result.stdout


def flags_of(tool, text):
    """What a paragraph says to run, as `tool FLAGS`, or None."""
    found = re.search(f"`{tool} ([^`]*)`", text)
    return shlex.split(found.group(1)) if found else None


def lines_of(ir):
    return [" ".join(line.split()) for line in ir.splitlines() if line.strip()]


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


def file_of(text):
    """The path of the file that a paragraph names last, or None."""
    names = re.findall(r"`(test/[\w./-]+\.\w+)`", text)
    return os.path.join(SOURCE, names[-1]) if names else None


def compare_excerpt(got, excerpt):
    missing = first_missing(lines_of(got), lines_of(excerpt))
    if missing is None:
        return None
    return f"expected, in this place,\n  {missing}\nbut got\n{got}"


class Examples:
    """The blocks of one file, each with the text before it."""

    def __init__(self, nm_opt):
        self.nm_opt = nm_opt
        self.nm_compile = os.path.join(os.path.dirname(nm_opt), "nm-compile")
        # The block before, whole, and the last that was not compiled at all.
        self.before = None
        self.source = None

    def run_before(self, between):
        flags = flags_of("nm-opt", between)
        if self.before is None or flags is None:
            return None
        return run_tool(self.nm_opt, self.before, *flags)

    def check_excerpt(self, ir, between):
        got = self.run_before(between)
        if got is None:
            return None
        self.before = got
        return compare_excerpt(got, ir)

    def check_whole(self, ir, between):
        if "func.func" not in ir:
            return None
        got = self.run_before(between)
        self.before = ir
        if "linalg." in ir:
            self.source = ir
        parsed = run_tool(self.nm_opt, ir)
        if got is None or got == parsed:
            return None
        return f"expected\n{parsed}but got\n{got}"

    def check_ptx(self, ptx, between):
        flags = flags_of("nm-compile", between)
        if self.source is None or flags is None:
            return "expected a block with linalg, and nm-compile's flags"
        return compare_excerpt(
            run_tool(self.nm_compile, self.source, *flags), ptx)

    def check_file(self, text, between):
        name = file_of(between)
        if name is None:
            return "expected a paragraph that names the file of\n" + text
        with open(name, encoding="utf-8") as file:
            return compare_excerpt(file.read(), text)

    def check(self, language, text, between):
        try:
            if language in ("cpp", "cmake") or file_of(between):
                return self.check_file(text, between)
            if language == "ptx":
                return self.check_ptx(text, between)
            if "..." in text:
                return self.check_excerpt(text, between)
            return self.check_whole(text, between)
        except ValueError as error:
            return str(error)


def failures(tool, text):
    examples = Examples(tool)
    between = ""
    for part in re.split(r"(^```(?:mlir|ptx|cpp|cmake)\n.*?^```$)", text,
                         flags=re.M | re.S):
        block = re.fullmatch(r"```(mlir|ptx|cpp|cmake)\n(.*)```", part, flags=re.S)
        if not block:
            between = part
        elif failure := examples.check(block[1], block[2], between):
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
