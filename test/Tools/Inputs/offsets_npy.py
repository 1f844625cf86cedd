"""Writes x of 5 rows and a weight [40, 700] of 300 kept f32, whose places are offsets, as
.npy files, and offsets that are damaged. lit's Python has no NumPy."""

import random
import struct
import sys

ROWS, N, K, KEPT = 5, 40, 700, 300


def write(name, kind, shape, data):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}"
    head = head.ljust(117) + "\n"
    with open(f"{sys.argv[1]}/{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data)


def floats(numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


rng = random.Random(3)
places = sorted(rng.sample(range(N * K), KEPT))
begins, gaps = [], []
for column in range(N):
    begins.append(len(gaps))
    last = -1
    for row in (place - column * K for place in places if place // K == column):
        passes, gap = divmod(row - last - 1, 255)
        gaps += [255] * passes + [gap]
        last = row
indices = struct.pack(f"<{N + 1}I", *begins, len(gaps)) + bytes(gaps)
values = [rng.gauss(0, 1) for _ in places]
dense = [0.0] * (N * K)
for place, value in zip(places, values):
    dense[place] = value
write("x", "<f4", (ROWS, K), floats([rng.gauss(0, 1) for _ in range(ROWS * K)]))
write("values", "<f4", (1, KEPT), floats(values))
write("dense", "<f4", (N, K), floats(dense))
write("indices", "|u1", (len(indices), 1), indices)
write("damaged", "|u1", (len(indices) + 1, 1), indices + indices[-1:])
