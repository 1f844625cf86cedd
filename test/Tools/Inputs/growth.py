"""How compiling grows with the layers of a model, and with the bytes of its weights.

usage: growth.py layers|memory NM_COMPILE READELF FOLDER
"""

import json
import os
import subprocess
import sys
from pathlib import Path

SIZE = 512
# Of a process that compiles a model of few bytes twice, and of the LLVM libraries.
MARGIN_KIB = 48 << 10


def module(layers, weight, rows=64):
    """A chain of layers with ReLU between; `weight` gives the constant of one, or
    none where it is an argument."""
    dense = f"tensor<{SIZE}x{SIZE}xf32>"
    encoded = dense if weight else f"tensor<{SIZE}x{SIZE}xf32, #nm.encoding<2:4>>"
    x = f"tensor<{rows}x{SIZE}xf32>"
    arguments = [f"%r: {x}"]
    lines = ["  %zero = arith.constant 0.0 : f32"]
    last = "%r"
    for i in range(layers):
        if weight:
            lines.append(f"  %w{i} = arith.constant {weight(i)} : {dense}")
        else:
            arguments.append(f"%w{i}: {encoded}")
        lines += [
            f"  %e{i} = tensor.empty() : {x}",
            f"  %f{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {x}) -> {x}",
            f"  %p{i} = linalg.matmul ins({last}, %w{i} : {x}, {encoded})"
            f" outs(%f{i} : {x}) -> {x}",
            f"  %m{i} = linalg.max ins(%p{i}, %f{i} : {x}, {x})"
            f" outs(%e{i} : {x}) -> {x}"]
        last = f"%m{i}"
    return "\n".join([f"func.func @main({', '.join(arguments)}) -> {x} {{", *lines,
                      f"  return {last} : {x}", "}", ""])


def weights(layers, is_sparse):
    """Bytes of layers that are all different."""
    for i in range(layers):
        data = bytearray(os.urandom(4 * SIZE * SIZE))
        # The exponents of numbers near one.
        data[3::4] = bytes([0x3f]) * (SIZE * SIZE)
        if is_sparse:
            row = 4 * SIZE
            for window in range(0, 4 * SIZE * SIZE, 4 * row):
                data[window + 2 * row:window + 4 * row] = bytes(2 * row)
        yield i, bytes(data)


def write_safetensors(path, layers, is_sparse):
    size = 4 * SIZE * SIZE
    header = json.dumps({f"w{i}": {"dtype": "F32", "shape": [SIZE, SIZE],
                                   "data_offsets": [i * size, (i + 1) * size]}
                         for i in range(layers)}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _, data in weights(layers, is_sparse):
            file.write(data)


def compile_model(nm_compile, text, output, *options):
    """The processor seconds and the most KiB that compiling takes."""
    source = Path(f"{output}.mlir")
    source.write_text(text, encoding="ascii")
    process = subprocess.Popen([nm_compile, str(source), "-o", str(output), *options],
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, (output, options)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def count_loops(readelf, path):
    """The functions that are made of loops, and tasks."""
    table = subprocess.run([readelf, "--symbols", "--wide", str(path)],
                           capture_output=True, text=True, check=True).stdout
    return sum(" FUNC " in line and (".equal" in line or ".forall" in line)
               for line in table.splitlines())


def check_layers(nm_compile, readelf, folder):
    """Equal layers are compiled once, and the rest takes a time that grows as they
    do: with the square of their number, twice as many would take four times."""
    for target in "cpu", "cuda:sm_90a", "sim:sm_90a":
        seconds, loops = {}, {}
        # What else a machine does only adds to a time, so that more times are better.
        for _ in range(6):
            for layers in 1, 40, 80:
                path = folder / f"{layers}.o"
                took, _ = compile_model(nm_compile, module(layers, None), path,
                                        f"--target={target}", "--emit=obj")
                seconds[layers] = min(took, seconds.get(layers, took))
                loops[layers] = count_loops(readelf, path)
            one, few, many = (seconds[layers] for layers in (1, 40, 80))
            is_linear = many - one < 3.2 * max(few - one, 0.2)
            if is_linear:
                break
        assert 0 < loops[40] == loops[80], (target, loops)
        assert is_linear, (target, seconds)
        print(target, "grows with the layers")


def check_memory(nm_compile, folder):
    """At most four times the weights beside what a model of small ones takes."""
    layers = 24
    for is_sparse in False, True:
        stored = folder / "weights.safetensors"
        write_safetensors(stored, layers, is_sparse)
        text = module(layers, lambda i: f"dense_resource<w{i}>")
        inline = text + "{-#\n  dialect_resources: {\n    builtin: {\n" + ",\n".join(
            f'      w{i}: "0x04000000{data.hex()}"'
            for i, data in weights(layers, is_sparse)) + "\n    }\n  }\n#-}\n"
        for target, emit in (("cpu", "llvm"), ("cpu", "obj"), ("cuda:sm_90a", "so"),
                             ("cpu", "so")):
            options = [f"--target={target}", f"--emit={emit}"]
            path = folder / "memory"
            _, without = compile_model(nm_compile, module(layers, None), path, *options)
            for name, source, given in (
                    ("a file", text, [f"--resources={stored}"]),
                    ("the module", inline, [])):
                _, most = compile_model(nm_compile, source, path, *options, *given)
                kib = layers * 4 * SIZE * SIZE >> 10
                assert most - without < 4 * kib + MARGIN_KIB, (
                    name, is_sparse, options, most, without, kib)
    print("memory is bounded")


def main():
    what, nm_compile, readelf, folder = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if what == "layers":
        check_layers(nm_compile, readelf, folder)
    else:
        check_memory(nm_compile, folder)


if __name__ == "__main__":
    main()
