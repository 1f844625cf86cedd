"""Prunes a feed-forward block to N:M patterns, compiles it with nm-compile,
runs it with nm-run, and compares it with OpenBLAS and with float64.

usage: feed_forward.py BUILD_FOLDER
"""

import math
import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import minilm

THREADS = len(os.sched_getaffinity(0))

SOURCE = Path(__file__).parent / "feed-forward.mlir"
# name, N, M, units of bk × bn.
PATTERNS = [("dense", 1, 1, 1, 1), ("2:4", 2, 4, 1, 1),
            ("8:32, block = 1x32", 8, 32, 1, 32)]
ROUNDS = 3
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def prune(w, n, m, bk, bn):
    """W[out × in] with the N units of largest norm kept in every window."""
    rows, k = w.shape
    units = w.reshape(rows // bn, bn, k // (m * bk), m, bk)
    norms = np.square(units).sum(axis=(1, 4))
    kept = np.zeros_like(norms, dtype=bool)
    np.put_along_axis(kept, np.argsort(-norms, axis=-1)[..., :n], True, -1)
    return (units * kept[:, None, :, :, None]).reshape(rows, k)


def reference(x, w1, b1, w2, b2):
    """The block in float64."""
    x, w1, b1, w2, b2 = (part.astype(np.float64) for part in (x, w1, b1, w2, b2))
    h = x @ w1.T + b1
    h *= 0.5 * (1 + np.vectorize(math.erf)(h / math.sqrt(2)))
    return h @ w2.T + b2


def run(*command):
    result = subprocess.run([str(word) for word in command], text=True,
                            capture_output=True,
                            env={**os.environ, "NM_NUM_THREADS": str(THREADS)})
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}{result.stdout}")
    return result.stdout


def others_share():
    """How much of the processors others use, from two looks half a second
    apart."""
    def look():
        with open("/proc/stat", encoding="ascii") as stat:
            ticks = [int(word) for word in stat.readline().split()[1:]]
        return ticks[3] + ticks[4], sum(ticks[:8])

    idle, total = look()
    time.sleep(0.5)
    idle_then, total_then = look()
    return 1 - (idle_then - idle) / (total_then - total)


def time_blas(x, w1, w2, threads):
    """The median time of the two dense products alone, without bias and GELU."""
    with threadpool_limits(threads, "blas"):
        return time_products(x, w1, w2)


def time_products(x, w1, w2):
    h = np.empty((len(x), len(w1)), np.float32)
    y = np.empty((len(x), len(w2)), np.float32)
    times, end = [], time.perf_counter() + 0.3
    while time.perf_counter() < end:
        start = time.perf_counter()
        np.matmul(x, w1.T, out=h)
        np.matmul(h, w2.T, out=y)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


class Variant:
    """The block with weights of one pattern: its files, and what was measured."""

    def __init__(self, tools, work, parts, name, n, m, bk, bn):
        self.name, self.tools = name, tools
        self.sparsity = 1 - n / m
        x, w1, b1, w2, b2 = parts
        self.parts = [x, prune(w1, n, m, bk, bn), b1,
                      prune(w2, n, m, bk, bn), b2]
        folder = work / re.sub(r"\W+", "-", name)
        folder.mkdir(parents=True, exist_ok=True)
        self.inputs = []
        for i, part in enumerate(self.parts):
            np.save(folder / f"{i}.npy", part)
            self.inputs += ["--input", folder / f"{i}.npy"]
        self.output = folder / "out.npy"
        self.module = folder / "feed-forward.so"
        self.source = folder / "feed-forward.mlir"
        text = SOURCE.read_text(encoding="utf-8")
        if n == m:
            text = re.sub(r"#weights = .*\n", "", text).replace(", #weights", "")
        text = re.sub(r"(#weights = #nm.encoding<).*(, dim = 1>)",
                      rf"\g<1>{name}\g<2>", text)
        self.source.write_text(text, encoding="utf-8")
        self.times = []

    def compile(self):
        start = time.perf_counter()
        run(self.tools / "nm-compile", self.source, "--target=cpu",
            "-o", self.module)
        print(f"  {self.name}: compiled in {time.perf_counter() - start:.2f} s")
        for line in run(self.tools / "nm-run", self.module,
                        "--list").splitlines():
            if line.startswith("  "):
                remark = line.strip().replace(f"{self.source}", SOURCE.name)
                print(textwrap.fill(remark, 90, initial_indent="    ",
                                    subsequent_indent="      ",
                                    break_on_hyphens=False))

    def measure(self):
        printed = run(self.tools / "nm-run", self.module, *self.inputs,
                      "--output", self.output, "--bench=0.5")
        median, unit = re.search(r"median ([\d.e+-]+) (\S+)", printed).groups()
        self.times.append(float(median) * UNITS[unit])

    def error(self):
        expected = reference(*self.parts)
        return (np.linalg.norm(np.load(self.output) - expected)
                / np.linalg.norm(expected))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1])
    parts, origin = minilm.load()
    print(f"Feed-forward block, {len(parts[0])} tokens, 384 -> 1536 -> 384, "
          f"f32, {origin}\n")

    variants = [Variant(build / "bin", build / "feed-forward", parts, *pattern)
                for pattern in PATTERNS]
    for variant in variants:
        variant.compile()

    busy = others_share()
    if busy > 0.1:
        print(f"\nNote: other programs use {100 * busy:.0f} % of the processors, "
              "so the times below are not\nthose of a quiet machine.")

    # In turns, so that a change of the machine's load meets all alike.
    blas_times = {1: [], THREADS: []}
    for _ in range(ROUNDS):
        for threads, times in blas_times.items():
            times.append(time_blas(parts[0], parts[1], parts[3], threads))
        for variant in variants:
            variant.measure()

    # On a busy machine OpenBLAS is faster on one thread: its threads wait for
    # each other.
    blas, blas_threads = min((float(np.median(times)), threads)
                             for threads, times in blas_times.items())
    row = "{:<22} {:>8} {:>10} {:>12} {:>12}".format
    print("\n" + row("weights", "sparsity", "time", "vs OpenBLAS",
                     "error vs f64"))
    print(row("OpenBLAS, dense", "0 %", f"{blas * 1e3:.3f} ms", "1.00x", ""))
    for variant in variants:
        median = float(np.median(variant.times))
        print(row(f"nm, {variant.name}", f"{100 * variant.sparsity:.3g} %",
                  f"{median * 1e3:.3f} ms", f"{blas / median:.2f}x",
                  f"{variant.error():.1e}"))
    print(f"\n{THREADS} threads, of which OpenBLAS is fastest on {blas_threads}; "
          f"medians of {ROUNDS} rounds in turns.\nOpenBLAS does the two products "
          "alone, nm the whole block with bias and GELU.\nThe error is that of the "
          "whole block, relative, against float64 on the same\npruned weights.")


if __name__ == "__main__":
    main()
