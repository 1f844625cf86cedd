"""Runs the IR in the documentation, so that it cannot rot.

usage: examples.py NM_OPT FILE.md ...

Every ```mlir block with a function has to parse. Where a paragraph that names
`nm-opt FLAGS` stands between two such blocks, the first run through these flags
has to give the second.
"""

import re
import subprocess
import sys


def nm_opt(tool, ir, *flags):
    result = subprocess.run([tool, "-", *flags], input=ir, text=True,
                            capture_output=True)
    if result.returncode:
        raise ValueError(result.stderr + ir)
    return result.stdout


def failures(tool, text):
    before = None
    between = ""
    for part in re.split(r"(^```mlir\n.*?^```$)", text, flags=re.M | re.S):
        if not part.startswith("```mlir"):
            between = part
            continue
        ir = part.removeprefix("```mlir\n").removesuffix("```")
        if "func.func" not in ir:
            continue
        try:
            parsed = nm_opt(tool, ir)
            flags = re.search(r"`nm-opt ([^`]*)`", between)
            if before and flags:
                got = nm_opt(tool, before, *flags.group(1).split())
                if got != parsed:
                    yield f"expected\n{parsed}but `{flags.group(0)}` gave\n{got}"
        except ValueError as error:
            yield str(error)
        before = ir


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
