"""Assembles the kernels in the IR on stdin, whose objects are PTX, and prints what each one takes.

usage: assemble.py PTXAS CHIP
"""

import re
import subprocess
import sys
import tempfile

ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|\\)")


def unescape(text):
    return ESCAPE.sub(lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1], 16)]), text)


def main():
    ptxas, chip = sys.argv[1:]
    binaries = re.findall(rb'gpu\.binary @\w+.*?assembly = "(.*?)"', sys.stdin.buffer.read(), re.S)
    if not binaries:
        sys.exit("expected at least one gpu.binary that holds PTX")
    for ptx in binaries:
        with tempfile.NamedTemporaryFile(suffix=".ptx") as source:
            source.write(unescape(ptx).rstrip(b"\0"))
            source.flush()
            command = [ptxas, "-v", "-arch=" + chip, source.name, "-o", "/dev/null"]
            report = subprocess.run(command, capture_output=True, text=True)
        if report.returncode:
            sys.exit(f"{chip}: {report.stderr}")
        # ptxas reports kernels in an order of its own.
        lines = []
        for name, text in re.findall(r"Compiling entry function '(\w+)'(.*?Used \d+ registers)", report.stderr, re.S):
            registers = re.search(r"Used (\d+) registers", text)[1]
            local = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", text)
            lines.append((ptx.index(f".entry {name}(".encode()), f"{name} on {chip}: {registers} registers, {local[1]} bytes of stack, {local[2]} bytes spilled"))
        print("\n".join(text for _, text in sorted(lines)))
        # Such as of wgmmas that wait for each other.
        print("\n".join(line for line in report.stderr.splitlines() if "warning" in line.lower() or "Potential Performance Loss" in line))


main()
