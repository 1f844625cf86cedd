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
    kernels = re.findall(rb'gpu\.binary @(\w+).*?assembly = "(.*?)"', sys.stdin.buffer.read(), re.S)
    if not kernels:
        sys.exit("expected at least one gpu.binary that holds PTX")
    for name, ptx in kernels:
        with tempfile.NamedTemporaryFile(suffix=".ptx") as source:
            source.write(unescape(ptx).rstrip(b"\0"))
            source.flush()
            command = [ptxas, "-v", "-arch=" + chip, source.name, "-o", "/dev/null"]
            report = subprocess.run(command, capture_output=True, text=True)
        if report.returncode:
            sys.exit(f"{name.decode()} on {chip}: {report.stderr}")
        registers = re.search(r"Used (\d+) registers", report.stderr)[1]
        local = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", report.stderr)
        print(f"{name.decode()} on {chip}: {registers} registers, {local[1]} bytes of stack, {local[2]} bytes spilled")


main()
