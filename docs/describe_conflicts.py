#!/usr/bin/env python3
"""Counts the bank conflicts of nm's kernels in the simulator, and writes their table.

usage: describe_conflicts.py NM_RUN [--check] [--only REGEX]

The table stands in BankConflicts.md beside this script, between two comments. With
--check nothing is written: it fails where the table is another, and where a kernel that
is to have no conflicts has some.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "BankConflicts.md"
BEGIN, END = "<!-- conflicts -->\n", "<!-- end of conflicts -->"
COUNT = re.compile(r"shared (loads|stores|asynchronous copies): (\d+) requests, .*?, "
                   r"(\d+) bank conflicts")
SIM = "sim:sm_90a"
IEEE = "arithmetic=ieee"


class Case:
    """A product in a pattern, by a strategy, on a chip."""

    def __init__(self, strategy, kind, pattern, m=128, n=256, k=512, target=SIM,
                 options="", is_m_major=False, may_conflict=False):
        self.strategy, self.kind, self.pattern = strategy, kind, pattern
        self.m, self.n, self.k, self.target = m, n, k, target
        self.options, self.is_m_major = options, is_m_major
        self.may_conflict = may_conflict

    @property
    def name(self):
        layout = ", m-major A" if self.is_m_major else ""
        return (f"{self.strategy} {self.target} {self.kind} {self.pattern} "
                f"{self.m}x{self.n}x{self.k}{layout}")

    def module(self):
        total = {"i8": "i32"}.get(self.kind, "f32")
        zero = "0" if total == "i32" else "0.0"
        a_shape = f"{self.k}x{self.m}" if self.is_m_major else f"{self.m}x{self.k}"
        rows = f"{self.m}x" if self.m > 1 else ""
        a = f"tensor<{a_shape if self.m > 1 else self.k}x{self.kind}>"
        b = f"tensor<{self.k}x{self.n}x{self.kind}, #nm.encoding<{self.pattern}>>"
        c = f"tensor<{rows}{self.n}x{total}>"
        op = "matmul" if self.m > 1 else "vecmat"
        maps = ("indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) "
                "-> (k, n)>, affine_map<(m, n, k) -> (m, n)>] " if self.is_m_major else "")
        return (f"func.func @product(%a: {a}, %b: {b}) -> {c} {{\n"
                f"  %zero = arith.constant {zero} : {total}\n"
                f"  %empty = tensor.empty() : {c}\n"
                f"  %init = linalg.fill ins(%zero : {total}) outs(%empty : {c}) -> {c}\n"
                f"  %c = linalg.{op} {maps}ins(%a, %b : {a}, {b}) "
                f"outs(%init : {c}) -> {c}\n  return %c : {c}\n}}\n")


def cases():
    simt = [("f32", pattern) for pattern in (
        "2:4", "8:32", "8:32, block = 1x4", "8:32, block = 1x32", "8:32, block = 1x64",
        "8:32, block = 1x128", "8:32, block = 4x4", "1:4, block = 64x64")]
    found = [Case("simt", kind, pattern, options=IEEE) for kind, pattern in simt]
    # Indices of M rows spread over more banks than there are where M is beyond 32.
    for kind in ("f32", "f16"):
        for window in (4, 32, 64, 128, 256):
            found.append(Case("gemv", kind, f"{window // 4}:{window}", m=1, k=2048,
                              may_conflict=window > 32))
    found += [*(Case("gemv", "f32", pattern, m=1, k=2048) for pattern in (
                  "8:32, block = 1x4", "8:32, block = 1x32", "8:32, block = 1x128",
                  "2:8, block = 4x4", "1:4, block = 64x64")),
              # A window has 128 rows.
              Case("gemv", "f32", "8:32, block = 4x4", m=1, k=2048, may_conflict=True),
              Case("gemv", "f16", "8:32", m=8, k=2048),
              Case("gemv", "f16", "8:32, block = 1x32", m=8, k=2048),
              # A tenth of the weights, anywhere. Sums of a tile of C change places once.
              *(Case("simt_columns", "f32", "unstructured, kept = 13107", options=IEEE,
                     is_m_major=is_m_major, may_conflict=True)
                for is_m_major in (True, False)),
              # Lanes are at rows of k of their own.
              *(Case("gemv_columns", "f16", f"unstructured, kept = {kept}", m=1, k=2048,
                     may_conflict=True) for kept in (262144, 52429)),
              # Ordered, but for the few whose places are taken.
              Case("gemv_columns", "f16", "unstructured, kept = 52429", m=8, k=2048,
                   may_conflict=True),
              # Threads read A to split it, in the order that tensor cores want.
              Case("wgmma", "f32", "8:32, block = 1x128", may_conflict=True),
              Case("wgmma", "f16", "8:32, block = 1x64", is_m_major=True),
              Case("wgmma", "f16", "8:32, block = 1x128", is_m_major=True),
              Case("wgmma", "f16", "1:4, block = 64x64", is_m_major=True),
              Case("wgmma", "f16", "8:32, block = 1x64"),
              Case("wgmma", "i8", "1:4, block = 64x64"),
              Case("wgmma_sp", "f32", "2:4", may_conflict=True), Case("wgmma_sp", "f16", "2:4"),
              Case("wgmma_sp", "f16", "1:4"), Case("wgmma_sp", "i8", "2:4"),
              Case("wgmma_select", "i8", "2:8, block = 1x64"),
              *(Case("mma_sync", "f16", f"8:32, block = {block}", is_m_major=is_m_major,
                     target="sim:sm_80") for block in ("1x32", "1x64", "1x128")
                for is_m_major in (True, False)),
              Case("mma_sync", "f16", "1:4, block = 64x64", target="sim:sm_80"),
              # Rows of k have 32 and 64 bytes. Those that lists name stay in the
              # order of their list.
              *(Case("mma_sync", "bf16", f"{kept}:32, block = {block}", m=m,
                     is_m_major=True, may_conflict=(kept, block) == (8, "1x32"))
                for m, kept in ((16, 8), (32, 16)) for block in ("1x8", "1x16", "1x32")),
              Case("mma_sp", "f16", "2:4", target="sim:sm_80"),
              Case("mma_sp", "i8", "2:4", target="sim:sm_80"),
              Case("mma_sp", "f16", "2:4", m=16), Case("mma_bitmap", "f16", "4:8", m=16),
              Case("mma_bitmap", "f16", "8:32", m=16),
              *(Case("mma_bitmap", "f16", f"8:32, block = {block}", m=16)
                for block in ("1x4", "1x32", "1x64")),
              # Rows of k have 16 or 32 bytes, and those that an ldmatrix reads share banks.
              *(Case("mma_bitmap", "bf16", "5:8", m=m, is_m_major=True, may_conflict=True)
                for m in (8, 16))]
    return found


def count(nm_run, case):
    """(requests, conflicts) of loads, stores and copies; None where there are none."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "product.mlir"
        source.write_text(case.module(), encoding="utf-8")
        options = f"schedule={case.strategy} {case.options}".strip()
        done = subprocess.run([nm_run, source, f"--target={case.target}", "--random",
                               f"--compile-options={options}"],
                              capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{case.name}: {done.stderr or done.stdout}")
    totals = {}
    for kind, requests, conflicts in COUNT.findall(done.stdout + done.stderr):
        before = totals.get(kind, (0, 0))
        totals[kind] = before[0] + int(requests), before[1] + int(conflicts)
    return totals


def cell(totals, kind):
    if kind not in totals:
        return "-"
    requests, conflicts = totals[kind]
    # Schedules change the counts, and seldom the rate.
    return f"{conflicts / requests:.1g}" if conflicts else "none"


def make_table(found):
    header = ["strategy", "chip", "type", "pattern", "m x n x k", "loads", "stores",
              "copies"]
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join(["---"] * 8) + " |"]
    for case, totals in found:
        shape = f"{case.m}x{case.n}x{case.k}" + (", m-major A" if case.is_m_major else "")
        lines.append("| " + " | ".join([
            f"`{case.strategy}`", case.target.removeprefix("sim:"), case.kind,
            case.pattern.replace(", block =", ","), shape, cell(totals, "loads"),
            cell(totals, "stores"), cell(totals, "asynchronous copies")]) + " |")
    return "\n".join(lines) + "\n"


def unexpected(found):
    return [f"{case.name}: expected no bank conflicts of loads, but got "
            f"{totals['loads'][1]} of {totals['loads'][0]}" for case, totals in found
            if not case.may_conflict and totals.get("loads", (0, 0))[1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("nm_run")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="", help="cases whose names have a match of it")
    args = parser.parse_args()
    chosen = [case for case in cases() if re.search(args.only, case.name)]
    with ThreadPoolExecutor(2) as pool:
        found = list(zip(chosen, pool.map(lambda case: count(args.nm_run, case), chosen)))
    table = make_table(found)
    if args.only:
        print(table, end="")
        return
    wrong = unexpected(found)
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    new = before + BEGIN + table + END + rest.partition(END)[2]
    if not args.check:
        PAGE.write_text(new, encoding="utf-8")
    elif new != text:
        wrong.append(f"{PAGE.name} is not of the kernels; update it by:\n"
                     f"  docs/describe_conflicts.py {args.nm_run}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
