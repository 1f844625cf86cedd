"""Puts random weights, some of which are not zero, in place of "DRAW KxNxTYPE"."""

import os
import random
import re
import struct
import sys

FORMATS = {"f32": "<f", "f16": "<e"}


def draw(match):
    k, n, element = match[1].split("x")
    # A column and a row of k stay empty.
    numbers = [random.gauss(0, 1) if random.random() < 0.1 and i % int(n) and i >= int(n)
               else 0.0 for i in range(int(k) * int(n))]
    data = b"".join(struct.pack(FORMATS[element], number) for number in numbers)
    return f'"0x{data.hex().upper()}"'


random.seed(int(os.environ.get("NM_TEST_SEED", "0")) or None)
sys.stdout.write(re.sub(r'"DRAW (\w+)"', draw, sys.stdin.read()))
