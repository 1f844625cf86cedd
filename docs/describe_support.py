#!/usr/bin/env python3
"""Writes the README's table of what runs where, as nm-compile decides it.

usage: describe_support.py NM_COMPILE [--check]

Each cell is a product of 2048 x 4096 x 4096 with a row-major A, compiled as a user
would. With --check it writes nothing, and fails where the table is not what it would be.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- support -->\n", "\n<!-- end of support -->"
# A processor of x86-64-v3 has none of AMX, which not every machine has either.
TARGETS = {"CPU": ["--target=cpu", "--mcpu=x86-64-v3"]} | {
    chip: [f"--target=cuda:{chip}"] for chip in
    ("sm_80", "sm_89", "sm_90a", "sm_100", "sm_120")}
FLOATS = ["2:4", "8:32", "8:32, block = 1x32", "8:32, block = 1x128",
          "8:32, block = 64x64"]
BYTES = ["2:4", "8:32", "2:8, block = 1x64", "8:32, block = 1x64",
         "8:32, block = 64x64"]
# Types that are compiled alike, and the type of their sums.
ROWS = [(("f32",), "f32", FLOATS), (("f16", "bf16"), "f32", FLOATS),
        (("i8",), "i32", BYTES), (("f8E4M3FN", "f8E5M2"), "f32", BYTES)]
TENSOR_CORES = {"mma_sync", "mma_sp", "mma_bitmap", "mma_image", "wgmma", "wgmma_sp",
                "wgmma_select"}


def product(kind, sums, pattern):
    a = f"tensor<2048x4096x{kind}>"
    b = f"tensor<4096x4096x{kind}, #nm.encoding<{pattern}>>"
    c = f"tensor<2048x4096x{sums}>"
    zero = "0" if sums.startswith("i") else "0.0"
    return f"""
func.func @product(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant {zero} : {sums}
  %empty = tensor.empty() : {c}
  %filled = linalg.fill ins(%zero : {sums}) outs(%empty : {c}) -> {c}
  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%filled : {c}) -> {c}
  return %r : {c}
}}"""


def decide(nm_compile, kind, sums, pattern, target):
    """How a product is made on a target, in a word or two."""
    done = subprocess.run(
        [nm_compile, "-", *TARGETS[target], "--emit=schedule", "-o", "-"],
        input=product(kind, sums, pattern), capture_output=True, text=True)
    if done.returncode:
        if "expected operands of element type" not in done.stderr:
            raise RuntimeError(done.stderr)
        return "refused"
    strategy = re.search(r"schedule #nm\.(\w+)", done.stdout)[1]
    if strategy == "cublas":
        return "dense"
    if target == "CPU":
        return "vectors"
    where = "tensor cores" if strategy in TENSOR_CORES else "CUDA cores"
    if "widened to f16" in " ".join(done.stderr.split()):
        where += ", as f16"
    return where


def lines(nm_compile):
    jobs = [(kinds, pattern, [(kind, sums, pattern, target) for kind in kinds])
            for kinds, sums, patterns in ROWS for pattern in patterns
            for target in TARGETS]
    with ThreadPoolExecutor() as pool:
        cells = list(pool.map(
            lambda job: " / ".join(dict.fromkeys(decide(nm_compile, *each)
                                                 for each in job[2])), jobs))
    yield "| type | pattern | " + " | ".join(TARGETS) + " |"
    yield "| --- " * (2 + len(TARGETS)) + "|"
    # Patterns of a type that are made alike share a line.
    alike = {}
    for at in range(0, len(jobs), len(TARGETS)):
        kinds, pattern, _ = jobs[at]
        row = (", ".join(kinds), *cells[at:at + len(TARGETS)])
        alike.setdefault(row, []).append(pattern)
    for (kinds, *each), patterns in alike.items():
        yield f"| {kinds} | {'; '.join(patterns).replace('block = ', '')} | " + " | ".join(each) + " |"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    text = README.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        sys.exit(f"{README.name}: expected the lines {BEGIN!r} and {END!r}")
    before, _, rest = text.partition(BEGIN)
    new = (before + BEGIN + "\n".join(lines(sys.argv[1])) + END
           + rest.partition(END)[2])
    if sys.argv[2:] != ["--check"]:
        README.write_text(new, encoding="utf-8")
    elif new != text:
        sys.exit("the README's table of what runs where is stale; update it by:\n"
                 "  docs/describe_support.py build/bin/nm-compile")


if __name__ == "__main__":
    main()
