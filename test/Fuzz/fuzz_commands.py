"""Gives the tools mutated command lines: none may end a tool by a signal, or find
an internal error.

usage: fuzz_commands.py BIN_DIR [--seed N] [--first N] [--executions N] [--seconds S]

Each command line is drawn from arguments that are valid, some of them mutants. What is
found is printed as it would be typed; those that take longer than a few seconds are
counted. What a command line is follows from the seed and its number alone.
"""

import argparse
import os
import random
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS = 5
BYTES_OF_PROCESS = 8 << 30
BYTES_OF_FILE = 1 << 24

MODULE = """func.func @f(%a: tensor<4x16xf32>, %b: tensor<16x32xf32, #nm.encoding<2:4>>,
                  %c: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x32xf32, #nm.encoding<2:4>>)
                     outs(%c : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %d : tensor<4x32xf32>
}
"""

COMPILER = [
    "--target=cpu", "--target=sim:sm_90a", "--target=cuda:sm_80,sm_90a+ptx", "--emit=nm",
    "--emit=schedule", "--emit=llvm", "--emit=nvvm", "--emit=obj", "--opt-level=0",
    "--opt-level=3", "--threads=3", "--mcpu=x86-64", "--mattr=+avx2,-avx512f",
    "--arithmetic=bf16x3", "--dense-fallback=false", "--detect-weights=true",
    "--with-reference", "--overlap-kernels=false", "--propagate-layouts=false",
    "--schedule=vector<block = [4, 16, 16], packing = <panel = 16, index_bits = 2>>",
    "--schedule=simt<block = [128, 128, 32], stages = 3>", "--schedule=#nm.wgmma<>",
    "--resources=w.safetensors", "--reproducer=r.mlir"]
# The first of each are arguments that make most command lines get further.
TOOLS = {
    "nm-compile": (["model.mlir", "-o", "out.so"], COMPILER),
    "nm-run": (["model.so", "--random"], [
        "--function=f", "--input=a.npy", "--output=y.npy", "--random-seed=7",
        "--dynamic-size=5", "--check", "--tolerance=1e-3", "--bench=0.01", "--threads=2",
        "--target=cpu", "--target=sim:sm_90a", "--device=1", "--list", "model.mlir",
        "--compile-options=opt-level=1 schedule=loops"]),
    "nm-bench": (["--list", "--shape=4x16x32"], [
        "--preset=cpu", "--pattern=8:32, block = 1x32", "--type=bf16", "--m-major",
        "--result-type=f16", "--schedule=simt<stages = 2>", "--ablate", "--filter=.*4x16.*",
        "--target=cuda:sm_90a", "--device=0", "--kernels=.", "--compile-only",
        "--seconds=0.01", "--threads=2", "--blas=none", "--sparse-blas=none", "--seed=3",
        "--tolerance=1e-3", "--csv=out.csv", "--compile-options=opt-level=1"]),
    "nm-opt": (["model.mlir", "-o", "out.mlir"], [
        "--convert-linalg-to-nm", "--nm-materialize-storage", "--nm-select-schedule",
        "--nm-select-schedule=threads=3 schedule=#nm.vector<>",
        "--nm-attach-chip=chip=sm_90a", "--nm-select-gpu-schedule=strategy=wgmma",
        "--nm-to-cpu", "--nm-to-nvvm=chip=sm_90a format=llvm", "--nm-to-sim=chip=sm_90a",
        "--pass-pipeline=builtin.module(func.func(nm-tile-to-blocks,canonicalize))",
        "--nm-tile-to-gpu-blocks", "--nm-pack-weights", "--split-input-file",
        "--verify-diagnostics"]),
}


def mutate(argument, draw):
    text = list(argument)
    for _ in range(draw.choice([1, 1, 2, 4])):
        at = draw.randrange(len(text) + 1)
        how = draw.randrange(5)
        if how == 0:
            # No folder but its own is written to.
            text[at:at + 1] = draw.choice("-=,:<>[](){}#\"'%\\ .@*+0aZ\t\n\x7fé\udcff")
        elif how == 1:
            del text[at:at + draw.choice([1, 2, 8])]
        elif how == 2:
            text[at:at] = draw.choice(["-1", "9" * 20, "0", "2147483648", "[", "<", "1e308",
                                       "nan", "0x10", " ", "--", "a" * 5000])
        elif how == 3:
            text[at:at] = text[draw.randrange(len(text) + 1):][:8]
        else:
            digits = [i for i, c in enumerate(text) if c.isdigit()]
            if digits:
                text[draw.choice(digits)] = draw.choice(["0", "-1", "4294967296", "7"])
    return "".join(text)


def draw_command(draw):
    tool = draw.choice(sorted(TOOLS))
    usual, others = TOOLS[tool]
    arguments = [a for a in usual if draw.randrange(8)]
    arguments += draw.choices(others, k=draw.choice([0, 1, 1, 2, 3]))
    for i, argument in enumerate(arguments):
        if draw.randrange(3) == 0:
            arguments[i] = mutate(argument, draw)
    if draw.randrange(4) == 0:
        draw.shuffle(arguments)
    return [tool, *arguments]


def limit():
    # AddressSanitizer reserves more than there is.
    if "ASAN_OPTIONS" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_PROCESS, BYTES_OF_PROCESS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES_OF_FILE, BYTES_OF_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(bin_dir, command, folder):
    """What is wrong with the way that it ended, or ''; None where it took too long."""
    try:
        done = subprocess.run([os.path.join(bin_dir, command[0]), *command[1:]], cwd=folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=SECONDS, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None
    if b"out of memory" in done.stderr or b"bad_alloc" in done.stderr:
        return None
    if done.returncode < 0:
        return f"signal {-done.returncode}"
    return "an internal error" if b"internal error" in done.stderr else ""


def prepare(bin_dir, folder):
    with open(os.path.join(folder, "model.mlir"), "w") as file:
        file.write(MODULE)
    subprocess.run([os.path.join(bin_dir, "nm-compile"), "model.mlir", "--with-reference",
                    "-o", "model.so"], cwd=folder, check=True, stderr=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--executions", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="start no process after that time")
    options = parser.parse_args()
    options.bin_dir = os.path.abspath(options.bin_dir)
    end, done, slow, found = time.monotonic() + options.seconds, 0, 0, 0
    root = tempfile.mkdtemp(prefix="nm-fuzz-")
    try:
        seed = os.path.join(root, "seed")
        os.mkdir(seed)
        prepare(options.bin_dir, seed)
        for number in range(options.first, options.first + options.executions):
            if time.monotonic() > end:
                break
            # A folder of its own, as a command may write over the inputs.
            folder = shutil.copytree(seed, os.path.join(root, "work"))
            command = draw_command(random.Random(f"{options.seed}/{number}"))
            outcome = run(options.bin_dir, command, folder)
            shutil.rmtree(folder)
            done += 1
            slow += outcome is None
            if outcome:
                found += 1
                print(f"command line {number}: {outcome} by\n"
                      f"{shlex.join(command)}", flush=True)
    finally:
        shutil.rmtree(root)
    print(f"{done} command lines with seed {options.seed}: {found} crashed, "
          f"{slow} took too long")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
