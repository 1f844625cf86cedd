"""large-constant.py module SEED: a module with a constant of 256 KiB.

large-constant.py count SEED FILE: how often its bytes are in the file.
"""

import random
import sys

ROWS, COLUMNS = 256, 256
numbers = random.Random(int(sys.argv[2]))
# No infinity and no NaN.
data = bytes(byte for _ in range(ROWS * COLUMNS)
             for byte in (*numbers.randbytes(3), 0x3f))
if sys.argv[1] == "count":
    with open(sys.argv[3], "rb") as file:
        print("the constant is there", file.read().count(data), "times")
else:
    size = f"tensor<{ROWS}x{COLUMNS}xf32>"
    print(f"""func.func @f(%x: {size}) -> {size} {{
  %c = arith.constant dense<"0x{data.hex().upper()}"> : {size}
  %r = arith.addf %x, %c : {size}
  return %r : {size}
}}""")
