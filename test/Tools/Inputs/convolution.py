"""Writes a convolution of a pruned filter as linalg: convolution.py WHERE PATTERN ORDER.

The filter is an argument with an encoding, or a constant, of a matrix whose rows are
channels of a tap (`taps`) or taps of a channel (`channels`). Without NumPy.
"""

import random
import struct
import sys

TAPS, CHANNELS, OUT = 9, 16, 24


def pack(values):
    return struct.pack(f"<{len(values)}f", *values)


def save(path, shape, values):
    """An .npy file of version 1."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
                   + header.encode() + pack(values))


def draw(pattern):
    """A matrix of which two of each four rows of a column are kept, or a fifth of all."""
    rows = TAPS * CHANNELS
    matrix = [[random.uniform(-1, 1) for _ in range(OUT)] for _ in range(rows)]
    for column in range(OUT):
        for first in range(0, rows, 4):
            kept = random.sample(range(4), 2)
            for row in range(4):
                if row not in kept if pattern == "2:4" else random.random() > 0.2:
                    matrix[first + row][column] = 0.0
    return matrix


def main():
    where, pattern, order = sys.argv[1:]
    matrix = draw(pattern)
    rows = len(matrix)
    values = [value for row in matrix for value in row]
    if pattern != "2:4":
        pattern += f", kept = {sum(value != 0 for value in values)}"
    save(f"{where}.npy", (rows, OUT), values)
    image = (2, CHANNELS, 9, 12)
    save(f"{where}-x.npy", image, [random.uniform(-1, 1) for _ in range(2 * CHANNELS * 108)])
    of_taps = order == "taps"
    shape = [3, 3, CHANNELS, OUT] if of_taps else [CHANNELS, 3, 3, OUT]
    expanded = "tensor<" + "x".join(map(str, shape)) + "xf32>"
    kind = f"tensor<{OUT}x{CHANNELS}x3x3xf32>"
    w = f"tensor<{rows}x{OUT}xf32, #nm.encoding<{pattern}>>"
    given = f"""
  %v = tensor.expand_shape %w [[0, 1, 2], [3]] output_shape {shape} : {w} into {expanded}
  %fe = tensor.empty() : {kind}
  %f = linalg.transpose ins(%v : {expanded}) outs(%fe : {kind})
    permutation = {[3, 2, 0, 1] if of_taps else [3, 0, 1, 2]}"""
    filter_ = [matrix[tap * CHANNELS + channel if of_taps else channel * TAPS + tap][out]
               for out in range(OUT) for channel in range(CHANNELS) for tap in range(TAPS)]
    constant = f'\n  %f = arith.constant dense<"0x{pack(filter_).hex()}"> : {kind}'
    for name, argument, lines in (("given", f", %w: {w}", given), ("constant", "", constant)):
        with open(f"{where}-{name}.mlir", "w", encoding="utf-8") as file:
            file.write(f"""
func.func @convolution(%x: tensor<2x{CHANNELS}x9x12xf32>{argument})
    -> tensor<2x{OUT}x9x5xf32> {{{lines}
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 0] high[0, 0, 1, 0] {{
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  }} : tensor<2x{CHANNELS}x9x12xf32> to tensor<2x{CHANNELS}x11x12xf32>
  %e = tensor.empty() : tensor<2x{OUT}x9x5xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<2x{OUT}x9x5xf32>)
    -> tensor<2x{OUT}x9x5xf32>
  %r = linalg.conv_2d_nchw_fchw {{strides = dense<[1, 2]> : tensor<2xi64>}}
    ins(%p, %f : tensor<2x{CHANNELS}x11x12xf32>, {kind})
    outs(%c : tensor<2x{OUT}x9x5xf32>) -> tensor<2x{OUT}x9x5xf32>
  return %r : tensor<2x{OUT}x9x5xf32>
}}
""")


if __name__ == "__main__":
    main()
