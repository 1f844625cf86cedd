"""Breaks one thing of a kernel at the NVVM level.

usage: mutate.py MUTATION [WHICH] < module > broken module

Reads what nm-compile --emit=nvvm prints, and adds a @main that calls its
@matmul with arguments of the right types and prints C[0, 0]. WHICH counts what
can be broken, from 0; the script fails where there is no such.
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


def skip(lines, at):
    """Half the lanes of each warp go past the instruction."""
    lines[at:at + 1] = [
        "      %me = nvvm.read.ptx.sreg.laneid : i32",
        "      %sixteen = llvm.mlir.constant(16 : i32) : i32",
        '      %takes_part = llvm.icmp "ult" %me, %sixteen : i32',
        "      llvm.cond_br %takes_part, ^takes_part, ^joined",
        "    ^takes_part:",
        lines[at],
        "      llvm.br ^joined",
        "    ^joined:",
    ]


def halve_mask(lines, at):
    """The second half of a warp is not in its own mask."""
    lines[at] = re.sub(r"sync %\w+", "sync %half", lines[at])
    lines.insert(at, "      %half = llvm.mlir.constant(65535 : i32) : i32")


# Where row k of A's tile stands: (k & ~31) + (k >> 2 & 7) + ((k & 3) << 3).
PLACE = re.compile(
    r"(%\w+) = llvm\.zext %\w+ : i8 to i64\n"
    r"\s*(%\w+) = llvm\.and \1, %\w+ : i64\n"
    r"\s*(%\w+) = llvm\.lshr \1, %\w+ : i64\n"
    r"\s*(%\w+) = llvm\.and \3, %\w+ : i64\n"
    r"\s*(%\w+) = llvm\.add \2, \4 : i64\n"
    r"\s*(%\w+) = llvm\.and \1, %\w+ : i64\n"
    r"\s*(%\w+) = llvm\.shl \6, %\w+ : i64\n"
    r"\s*(%\w+ = llvm\.add )\5, \7( : i64)")


def load_in_order(lines, at):
    """Row k of A's tile is read from row k of shared memory."""
    text, count = PLACE.subn(
        lambda place: place[0].replace(f"{place[8]}{place[5]}, {place[7]}",
                                       f"{place[8]}{place[1]}, %nothing"),
        "\n".join(lines))
    if count == 0:
        sys.exit("expected places of interleaved rows")
    lines[:] = text.split("\n")
    at = next(i for i, line in enumerate(lines) if "nvvm.read.ptx" in line)
    lines.insert(at, "      %nothing = llvm.mlir.constant(0 : index) : i64")


def store_in_order(lines, at):
    """Row k of A's tile is written to row k of shared memory.

    A lane has rows 4 * lane + 0, 1, 2 and 3, which it writes to rows
    lane + 0, 8, 16 and 24.
    """
    constants = dict(re.findall(
        r"(%\w+) = llvm\.mlir\.constant\((\d+) : index\)",
        "\n".join(lines)))
    first = re.compile(r"(%\w+) = llvm\.mul (%\w+), (%\w+) : i64")
    for line in lines:
        match = first.search(line)
        if not match or constants.get(match[3]) != "4":
            continue
        row, lane = match[1], match[2]
        others = re.compile(rf"llvm\.add {lane}, (%\w+) : i64")
        found = {constants.get(m[1]): i for i, l in enumerate(lines)
                 if (m := others.search(l))}
        if set(found) == {"8", "16", "24"}:
            break
    else:
        sys.exit("expected rows that a lane writes 8 apart")
    for apart, i in found.items():
        lines[i] = others.sub(f"llvm.add {row}, %after{apart} : i64", lines[i])
    # What is left of the lane's own number is multiplied by a row's length.
    length = re.compile(rf"llvm\.mul {lane}, (?=%\w+ : i64)")
    for i, line in enumerate(lines):
        if length.search(line) and not line.lstrip().startswith(row + " "):
            lines[i] = length.sub(f"llvm.mul {row}, ", line)
    at = next(i for i, line in enumerate(lines) if "nvvm.read.ptx" in line)
    lines[at:at] = [
        f"      %after{apart} = "
        f"llvm.mlir.constant({int(apart) // 8} : index) : i64"
        for apart in found]


def in_order(lines, at):
    load_in_order(lines, at)
    store_in_order(lines, at)


def drop_meeting(lines, at):
    """Arriving at a cluster's barrier and waiting for it."""
    if "nvvm.cluster.wait" not in lines[at + 1]:
        sys.exit("expected a wait after an arrival")
    del lines[at:at + 2]


MODULE = re.compile("gpu.module")

# A condition of a loop compares what its block is given.
LOOP = re.compile(r"llvm\.cond_br %\w+, \^bb\d+, \^bb\d+ .*// loop")

MUTATIONS = {
    "no-change": (MODULE, lambda lines, at: None),
    "drop-barrier": drop_lines(r"nvvm\.barrier"),
    "drop-warp-barrier": drop_lines(r"nvvm\.bar\.warp\.sync"),
    "drop-meeting": (re.compile(r"nvvm\.cluster\.arrive"), drop_meeting),
    "drop-wait": drop_lines(r"nvvm\.cp\.async\.wait\.group"),
    # What roles meet at.
    "drop-phase-wait": drop_lines(r"nvvm\.mbarrier\.try_wait"),
    "drop-arrival": drop_lines(r"nvvm\.mbarrier\.arrive %"),
    "drop-tracking": drop_lines(r"nvvm\.cp\.async\.mbarrier\.arrive"),
    "drop-expectation": replace(r"\.expect_tx (%\w+), %\w+ : (.*), i32",
                                r" \1 : \2"),
    "drop-proxy-fence": drop_lines(r"nvvm\.fence\.proxy"),
    "drop-bulk-wait": drop_lines(r"nvvm\.cp\.async\.bulk\.wait_group"),
    "drop-copy": drop_lines(r"nvvm\.cp\.async\.shared\.global"),
    # How much of a copy is filled with zeros instead.
    "drop-copy-predicate": replace(
        r"(nvvm\.cp\.async\.shared\.global .*), %\w+ (: .*), i32", r"\1 \2"),
    "drop-branch-predicate": replace(
        r"llvm\.cond_br %\w+, (\^bb\d+), \^bb\d+$", r"llvm.br \1"),
    # Rows past the last one are loaded from the last one.
    "drop-load-predicate": replace(
        r"llvm\.intr\.umin\((%\w+), %\w+\) : \(i64, i64\) -> i64",
        r"llvm.or \1, \1 : i64"),
    # Where one of the buffers of shared memory is.
    "shift-buffer": replace(r"(llvm\.getelementptr %\w+)\[\d+\](.*ptr<3>, i8)",
                            r"\1[1048576]\2"),
    "misalign-buffer": replace(
        r"(llvm\.getelementptr %\w+)\[\d+\](.*ptr<3>, i8)", r"\1[4]\2"),
    "endless-loop": (LOOP, make_endless),
    "end-early": (LOOP, end_early),
    "skip-collective": (re.compile(r"nvvm\.bar\.warp\.sync"), skip),
    "halve-mask": (re.compile(r"nvvm\.bar\.warp\.sync"), halve_mask),
    # The rows of A's tile are interleaved, against bank conflicts.
    "load-in-order": (MODULE, load_in_order),
    "store-in-order": (MODULE, store_in_order),
    "in-order": (MODULE, in_order),
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
    """@main, which the runner calls. A[m, k] is k + m, all weights are one.

    So the rows of C differ. A is m-major where its elements have 16 bits.
    """
    signature = next(l for l in lines if "func.func @matmul(" in l)
    types = re.findall(r"%\w+: (memref<[^>]*>)", signature)
    element = "f16" if "xf16" in types[0] else "f32"
    along = 0 if element == "f16" else 1
    body = ["llvm.func @printf(!llvm.ptr, ...) -> i32",
            "llvm.mlir.global internal constant "
            '@format("C[0, 0] = %g\\0A\\00")',
            "func.func @main() {",
            "  %first = arith.constant 0 : index",
            f"  %one = arith.constant 1.0 : {element}",
            "  %index = arith.constant 1 : i8"]
    for i, kind in enumerate(types):
        value = "%index : i8" if "i8" in kind else f"%one : {element}"
        body += [f"  %m{i} = memref.alloc() {{alignment = 128 : i64}} : {kind}",
                 f"  linalg.fill ins({value}) outs(%m{i} : {kind})"]
    names = ", ".join(f"%m{i}" for i in range(len(types)))
    body += ["  linalg.generic "
             "{indexing_maps = [affine_map<(i, k) -> (i, k)>], "
             'iterator_types = ["parallel", "parallel"]} '
             f"outs(%m0 : {types[0]}) {{",
             f"  ^bb0(%before: {element}):",
             f"    %k = linalg.index {along} : index",
             f"    %m = linalg.index {1 - along} : index",
             "    %sum = arith.addi %k, %m : index",
             "    %integer = arith.index_cast %sum : index to i32",
             f"    %float = arith.sitofp %integer : i32 to {element}",
             f"    linalg.yield %float : {element}",
             "  }",
             f"  call @matmul({names}) : ({', '.join(types)}) -> ()",
             f"  %c = memref.load %m{len(types) - 1}[%first, %first] "
             f": {types[-1]}",
             f"  %double = arith.extf %c : {element} to f64",
             "  %format = llvm.mlir.addressof @format : !llvm.ptr",
             "  llvm.call @printf(%format, %double) "
             "vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, f64) -> i32",
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
