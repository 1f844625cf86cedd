"""Puts random weights in place of "DRAW KxNxTYPE", of which about 10 % are not zero, and
in place of "DRAW KxNxTYPE KEPT", of which as many are not as KEPT says, and in place of
"DRAW KxNxTYPE N:M", of which N of each M along k are not."""

import os
import random
import re
import struct
import sys

FORMATS = {"f32": "<f", "f16": "<e"}


def draw_anywhere(k, n, kept):
    # A column and a row of k stay empty.
    places = [i for i in range(k * n) if i % n and i >= n]
    return random.sample(places, int(kept) if kept else len(places) // 10)


def draw_pattern(k, n, kept, window):
    return [row * n + column for column in range(n) for first in range(0, k, window)
            for row in random.sample(range(first, min(k, first + window)),
                                     min(kept, k - first))]


def draw(match):
    *sides, element = match[1].split("x")
    k, n = map(int, sides)
    kept, _, window = (match[2] or "").partition(":")
    places = draw_pattern(k, n, int(kept), int(window)) if window else draw_anywhere(k, n, kept)
    numbers = [0.0] * (k * n)
    for i in places:
        numbers[i] = random.gauss(0, 1)
    data = b"".join(struct.pack(FORMATS[element], number) for number in numbers)
    return f'"0x{data.hex().upper()}"'


random.seed(int(os.environ.get("NM_TEST_SEED", "0")) or None)
sys.stdout.write(re.sub(r'"DRAW (\w+)(?: ([\d:]+))?"', draw, sys.stdin.read()))
