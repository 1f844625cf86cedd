"""Has one command write a file several times, each by a process of its own, and compares.

usage: compile_repeatedly.py TIMES FILE COMMAND...

The command writes FILE. Every other process may use one processor alone.
"""

import os
import subprocess
import sys

SAID = 400


def use_one_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def write(path, command, turn):
    result = subprocess.run(command, stderr=subprocess.PIPE, check=False,
                            preexec_fn=use_one_processor if turn % 2 else None)
    if result.returncode:
        sys.exit(result.stderr.decode()[-SAID:])
    with open(path, "rb") as file:
        content = file.read()
    os.remove(path)
    return content


def describe(first, other):
    """The first lines that differ."""
    for number, pair in enumerate(zip(first.split(b"\n"), other.split(b"\n")), 1):
        if pair[0] != pair[1]:
            return f"line {number}: {pair[0][:SAID]} and {pair[1][:SAID]}"
    return f"{len(first)} and {len(other)} bytes"


def main():
    times, path, *command = sys.argv[1:]
    first, *others = [write(path, command, turn) for turn in range(int(times))]
    for turn, other in enumerate(others, 1):
        if other != first:
            sys.exit(f"process {turn} wrote another file than process 0: {describe(first, other)}")
    print(f"{times} equal files of {len(first)} bytes")


if __name__ == "__main__":
    main()
