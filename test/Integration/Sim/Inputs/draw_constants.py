"""Puts random weights in place of "DRAW KxNxTYPE", of which about 10 % are not zero, and
in place of "DRAW KxNxTYPE KEPT", of which as many are not as KEPT says."""

import os
import random
import re
import struct
import sys

FORMATS = {"f32": "<f", "f16": "<e"}


def draw(match):
    k, n, element = match[1].split("x")
    numbers = [0.0] * (int(k) * int(n))
    # A column and a row of k stay empty.
    places = [i for i in range(len(numbers)) if i % int(n) and i >= int(n)]
    kept = int(match[2]) if match[2] else len(places) // 10
    for i in random.sample(places, kept):
        numbers[i] = random.gauss(0, 1)
    data = b"".join(struct.pack(FORMATS[element], number) for number in numbers)
    return f'"0x{data.hex().upper()}"'


random.seed(int(os.environ.get("NM_TEST_SEED", "0")) or None)
sys.stdout.write(re.sub(r'"DRAW (\w+)(?: (\d+))?"', draw, sys.stdin.read()))
