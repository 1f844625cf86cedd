"""Breaks one thing of a kernel at the NVVM level.

usage: mutate.py MUTATION [WHICH] < module > broken module

Reads what nm-compile --emit=nvvm prints, and adds a @main that calls its
@matmul with arguments of the right types. WHICH counts what can be broken,
from 0; the script fails where there is no such.
"""

import re
import sys


def drop_lines(pattern):
    def mutate(lines, at):
        del lines[at]
    return re.compile(pattern), mutate


def replace(pattern, text):
    def mutate(lines, at):
        lines[at] = re.sub(pattern, text, lines[at], count=1)
    return re.compile(pattern), mutate


def make_endless(lines, at):
    """The loop's condition holds whatever it counts."""
    condition = re.search(r"cond_br (%\w+)", lines[at])[1]
    lines[at] = lines[at].replace(condition, "%always")
    lines.insert(at, "      %always = llvm.mlir.constant(true) : i1")


def end_early(lines, at):
    """One thread goes where the loop ends."""
    condition = re.search(r"cond_br (%\w+)", lines[at])[1]
    lines[at] = lines[at].replace(condition, "%stays")
    lines[at:at] = [
        "      %me = nvvm.read.ptx.sreg.tid.x : i32",
        "      %seven = llvm.mlir.constant(7 : i32) : i32",
        '      %other = llvm.icmp "ne" %me, %seven : i32',
        f"      %stays = llvm.and {condition}, %other : i1",
    ]


# A condition of a loop compares what its block is given.
LOOP = re.compile(r"llvm\.cond_br %\w+, \^bb\d+, \^bb\d+ .*// loop")

MUTATIONS = {
    "no-change": (re.compile("gpu.module"), lambda lines, at: None),
    "drop-barrier": drop_lines(r"nvvm\.barrier"),
    "drop-wait": drop_lines(r"nvvm\.cp\.async\.wait\.group"),
    "drop-copy": drop_lines(r"nvvm\.cp\.async\.shared\.global"),
    # How much of a copy is filled with zeros instead.
    "drop-copy-predicate": replace(
        r"(nvvm\.cp\.async\.shared\.global .*), %\w+ (: .*), i32", r"\1 \2"),
    "drop-branch-predicate": replace(
        r"llvm\.cond_br %\w+, (\^bb\d+), \^bb\d+$", r"llvm.br \1"),
    # Where one of the buffers of shared memory is.
    "shift-buffer": replace(r"(llvm\.getelementptr %\w+)\[\d+\](.*ptr<3>, i8)",
                            r"\1[1048576]\2"),
    "misalign-buffer": replace(
        r"(llvm\.getelementptr %\w+)\[\d+\](.*ptr<3>, i8)", r"\1[4]\2"),
    "endless-loop": (LOOP, make_endless),
    "end-early": (LOOP, end_early),
}


def mark_loops(lines):
    """Says of each loop's condition that it is one: its block has arguments."""
    header = None
    for at, line in enumerate(lines):
        if match := re.match(r"\s*(\^bb\d+)(\(.*\))?:", line):
            header = match[2]
        elif header and "llvm.cond_br" in line:
            lines[at] = line + " // loop"


def make_main(lines):
    """@main, which the runner calls."""
    signature = next(l for l in lines if "func.func @matmul(" in l)
    types = re.findall(r"%\w+: (memref<[^>]*>)", signature)
    body = ["func.func @main() {",
            "  %one = arith.constant 1.0 : f32",
            "  %index = arith.constant 1 : i8"]
    for i, kind in enumerate(types):
        value = "%index : i8" if "i8" in kind else "%one : f32"
        body += [f"  %m{i} = memref.alloc() {{alignment = 128 : i64}} : {kind}",
                 f"  linalg.fill ins({value}) outs(%m{i} : {kind})"]
    names = ", ".join(f"%m{i}" for i in range(len(types)))
    body += [f"  call @matmul({names}) : ({', '.join(types)}) -> ()",
             "  return", "}"]
    return body


def main():
    pattern, mutate = MUTATIONS[sys.argv[1]]
    which = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    lines = sys.stdin.read().rstrip("\n").split("\n")
    mark_loops(lines)
    found = [at for at, line in enumerate(lines) if pattern.search(line)]
    if which >= len(found):
        sys.exit(f"{sys.argv[1]}: expected {which + 1}, but found {len(found)}")
    mutate(lines, found[which])
    # The last line closes the module.
    end = max(at for at, line in enumerate(lines) if line == "}")
    lines[end:end] = make_main(lines)
    print("\n".join(lines))


main()
