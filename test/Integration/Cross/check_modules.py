#!/usr/bin/env python3
"""Compile drawn functions for another processor, and check them in an emulator of it.

    check_modules.py SOURCE BUILD ARCH [--count 16] [--seed 1]

The runtime and nm-run are built for ARCH by scripts/build-runtime in BUILD/ARCH. Each
module has COUNT products, of drawn sizes, patterns, types and layouts, with an epilogue
or without, and as many again without schedule=amx: of weights kept anywhere, of quantized
weights, and convolutions in turn. nm-run --check compares them with the reference in float64
that the module carries. Exits with 77 and the reason where the emulator or libraries of ARCH are missing.
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# Options of nm-compile, the processor that the emulator is to be: the least one that
# has the features, so that an instruction beyond them is a fault, and the types whose words
# the processor multiplies, by strategy amx.
PROCESSORS = {
    "aarch64": [
        ([], "cortex-a57", []),
        (["--mcpu=neoverse-n1"], "neoverse-n1", ["i8"]),
        (["--mattr=+fullfp16,+fp16fml,+dotprod,+i8mm,+bf16"], "max,sve=off", ["i8", "bf16"]),
        (["--mcpu=neoverse-v1"], "max", ["i8", "bf16"]),
        # Whatever length SVE's vectors have.
        (["--mcpu=neoverse-v1"], "max,sve-max-vq=2", ["i8", "bf16"]),
    ],
    # Without vectors: QEMU 7.2 ends with a failed assertion of its own on some of V.
    "riscv64": [([], "rv64", [])],
}
# Modules of one processor that another refuses, and what it says.
REFUSED = {"aarch64": (["--mcpu=neoverse-n1"], "cortex-a57",
                       "expected a processor with ")}
PATTERNS = ["2:4", "1:4", "2:8", "8:16", "16:32", "8:32", "3:24", "1:1"]
BLOCKS = ["", "1x4", "1x16", "1x32", "4x4", "16x16"]
# Those of strategy amx.
WORD_BLOCKS = ["1x16", "1x32", "2x16", "4x64", "6x32", "16x16"]
SUMS = {"f32": "f32", "f16": "f16", "bf16": "bf16", "i8": "i32"}
ROWS = [1, 2, 5, 16, 33, 40, 130]


def draw(number, types, generator, blocks=tuple(BLOCKS)):
    """A function @f<number> of one product."""
    element = types[number % len(types)]
    total = SUMS[element]
    pattern, block = generator.choice(PATTERNS), generator.choice(blocks)
    height, width = (int(size) for size in (block or "1x1").split("x"))
    window = int(pattern.split(":")[1]) * height
    m = generator.choice(ROWS)
    k = window * generator.choice([1, 2, 3, 5])
    n = width * generator.choice([1, 3, 4, 9])
    by_rows = generator.random() < 0.5
    m_major = generator.random() < 0.3
    encoding = f"{pattern}, block = {block}" if block else pattern
    if by_rows:
        encoding += ", dim = 1"
    dynamic = not m_major and generator.random() < 0.3
    rows = "?" if dynamic else m
    a = f"tensor<{k}x{rows}x{element}>" if m_major else f"tensor<{rows}x{k}x{element}>"
    w = f"tensor<{f'{n}x{k}' if by_rows else f'{k}x{n}'}x{element}, #nm.encoding<{encoding}>>"
    c = f"tensor<{rows}x{n}x{total}>"
    maps = (f"affine_map<(m, n, k) -> ({'k, m' if m_major else 'm, k'})>, "
            f"affine_map<(m, n, k) -> ({'n, k' if by_rows else 'k, n'})>, "
            "affine_map<(m, n, k) -> (m, n)>")
    body = (f"  %r = linalg.matmul indexing_maps = [{maps}]\n"
            f"    ins(%a, %w : {a}, {w}) outs(%c : {c}) -> {c}\n")
    if element == "i8" or generator.random() < 0.5:
        return (f"func.func @f{number}(%a: {a}, %w: {w}, %c: {c}) -> {c} {{\n{body}"
                f"  return %r : {c}\n}}\n", element)
    body += (f"  %t = math.tanh %r : {c}\n  %u = math.exp %t : {c}\n")
    return (f"func.func @f{number}(%a: {a}, %w: {w}, %c: {c}) -> {c} {{\n{body}"
            f"  return %u : {c}\n}}\n", element)


def draw_anywhere(name, element, generator):
    """A product of weights that are kept anywhere."""
    m, k, n = generator.choice(ROWS), generator.randint(3, 150), generator.randint(1, 80)
    kept = generator.randint(1, k * n)
    a, c = f"tensor<{m}x{k}x{element}>", f"tensor<{m}x{n}x{SUMS[element]}>"
    w = f"tensor<{k}x{n}x{element}, #nm.encoding<unstructured, kept = {kept}>>"
    return (f"func.func @{name}(%a: {a}, %w: {w}, %c: {c}) -> {c} {{\n"
            f"  %r = linalg.matmul ins(%a, %w : {a}, {w}) outs(%c : {c}) -> {c}\n"
            f"  return %r : {c}\n}}\n")


def draw_quantized(name, element, generator):
    """A product of weights of 4 or 8 bits, which groups of rows of k share scales of."""
    m, n = generator.choice(ROWS), generator.randint(1, 80)
    group = generator.choice([32, 64])
    k = group * generator.choice([1, 2, 3])
    pattern = generator.choice(["2:4", "1:4", "16:32", "8:32, block = 1x4"])
    n *= 4 if "block" in pattern else 1
    a, c = f"tensor<{m}x{k}x{element}>", f"tensor<{m}x{n}x{SUMS[element]}>"
    q = f"tensor<{k}x{n}xi8, #nm.encoding<{pattern}>>"
    scales, w = f"tensor<{k // group}x{n}x{element}>", f"tensor<{k}x{n}x{element}>"
    elements = "affine_map<(k, n) -> (k, n)>"
    maps = f"{elements}, affine_map<(k, n) -> (k floordiv {group}, n)>, {elements}"
    is_four = generator.random() < 0.5
    bits = "    %bits = arith.trunci %value : i8 to i4\n" if is_four else ""
    exact = "%bits : i4" if is_four else "%value : i8"
    return (f"func.func @{name}(%a: {a}, %q: {q}, %s: {scales}, %c: {c}) -> {c} {{\n"
            f"  %e = tensor.empty() : {w}\n"
            f"  %w = linalg.generic {{indexing_maps = [{maps}],\n"
            '    iterator_types = ["parallel", "parallel"]}\n'
            f"    ins(%q, %s : {q}, {scales}) outs(%e : {w}) {{\n"
            f"  ^bb0(%value: i8, %scale: {element}, %out: {element}):\n{bits}"
            f"    %exact = arith.sitofp {exact} to {element}\n"
            f"    %weight = arith.mulf %exact, %scale : {element}\n"
            f"    linalg.yield %weight : {element}\n  }} -> {w}\n"
            f"  %r = linalg.matmul ins(%a, %w : {a}, {w}) outs(%c : {c}) -> {c}\n"
            f"  return %r : {c}\n}}\n")


def draw_convolution(name, element, generator):
    """A convolution of images with channels last by a matrix of filters."""
    images, side, channels = generator.randint(1, 3), generator.randint(3, 12), 16
    taps, out, total = generator.choice([1, 3]), generator.randint(1, 40), SUMS[element]
    pattern = generator.choice(["2:4", "1:4", "8:16"])
    left = side - taps + 1
    image = f"tensor<{images}x{side}x{side}x{channels}x{element}>"
    w = f"tensor<{taps * taps * channels}x{out}x{element}, #nm.encoding<{pattern}>>"
    filters = f"tensor<{taps}x{taps}x{channels}x{out}x{element}>"
    c = f"tensor<{images}x{left}x{left}x{out}x{total}>"
    return (f"func.func @{name}(%a: {image}, %w: {w}, %c: {c}) -> {c} {{\n"
            "  %f = tensor.expand_shape %w [[0, 1, 2], [3]] "
            f"output_shape [{taps}, {taps}, {channels}, {out}] : {w} into {filters}\n"
            f"  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %f : {image}, {filters})\n"
            f"    outs(%c : {c}) -> {c}\n  return %r : {c}\n}}\n")


def draw_others(first, count, types, generator):
    """COUNT functions, @f<first> and what follows, of the three kinds above."""
    halves = [element for element in types if element in ("f16", "bf16")]
    floats = [element for element in types if element != "i8"]
    kinds = [(draw_anywhere, types), (draw_quantized, halves), (draw_convolution, floats)]
    functions = []
    for i in range(count):
        kind, elements = kinds[i % len(kinds)]
        element = elements[i // len(kinds) % len(elements)]
        functions.append(kind(f"f{first + i}", element, generator))
    return functions


def run(command, expected=0):
    """What the command says; ends the program where its status is another one."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != expected:
        sys.exit(f"expected status {expected}, but got {done.returncode}: "
                 f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Machine:
    """An emulated processor, with the programs that were built for it."""

    def __init__(self, emulator, architecture, build):
        self.emulator, self.build = emulator, build
        self.libraries = f"/usr/{architecture}-linux-gnu"

    def nm_run(self, processor, arguments, expected=0):
        return run([self.emulator, "-cpu", processor, "-L", self.libraries,
                    "-E", f"LD_LIBRARY_PATH={self.build / 'lib'}",
                    self.build / "bin/nm-run", *arguments], expected)


def check(machine, compiler, target, count, seed):
    """Compiles and checks COUNT functions for each processor."""
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        module, source = pathlib.Path(folder, "m.so"), pathlib.Path(folder, "m.mlir")

        def build(options, functions):
            source.write_text("".join(functions), encoding="utf-8")
            run([compiler, f"--target={target}", "--with-reference", *options, source,
                 "-o", module])

        def check_functions(options, processor, functions):
            build(options, functions)
            for number in range(len(functions)):
                machine.nm_run(processor, [
                    module, f"--function=f{number}", "--random", "--check",
                    f"--random-seed={seed + number}",
                    f"--dynamic-size={generator.choice(ROWS)}"])
            print(f"{target} {' '.join(options) or 'generic'} on {processor}: "
                  f"{len(functions)} functions are accurate", flush=True)

        architecture = target.split(":")[1]
        for options, processor, words in PROCESSORS[architecture]:
            # RISC-V has f16 with vectors alone.
            types = [element for element in SUMS
                     if element != "f16" or architecture != "riscv64"]
            functions = [draw(i, types, generator)[0] for i in range(count)]
            functions += draw_others(count, count, types, generator)
            check_functions(options, processor, functions)
            if words:
                functions = [draw(i, words, generator, WORD_BLOCKS)[0] for i in range(count)]
                check_functions([*options, "--schedule=amx"], processor, functions)
        if architecture in REFUSED:
            options, processor, message = REFUSED[architecture]
            build(options, [draw(0, ["f16"], generator)[0]])
            text = machine.nm_run(processor, [module, "--random"], expected=1)
            if message not in text:
                sys.exit(f"expected '{message}', but got: {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("architecture", choices=sorted(PROCESSORS))
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    name = f"qemu-{arguments.architecture}"
    emulator = shutil.which(f"{name}-static") or shutil.which(name)
    if not emulator:
        print(f"skipped: found no {name}-static, which Debian has in qemu-user-static")
        return SKIPPED
    folder = arguments.build / arguments.architecture
    built = subprocess.run([arguments.source / "scripts/build-runtime",
                            arguments.architecture, folder], capture_output=True,
                           text=True, check=False)
    if built.returncode:
        print(built.stdout, built.stderr, sep="")
        return built.returncode
    machine = Machine(emulator, arguments.architecture, folder)
    check(machine, arguments.build / "bin/nm-compile",
          f"cpu:{arguments.architecture}", arguments.count, arguments.seed)
    return 0


if __name__ == "__main__":
    os.environ.pop("NM_SCHEDULE_TABLE", None)
    sys.exit(main())
