"""Writes a file of safetensors: PATH NAME=TYPE:SHAPE[:BYTES] ..., with bytes that
count upwards, of as many as the tensor has or of BYTES."""

import json
import math
import sys

SIZES = {"F32": 4, "I64": 8, "I32": 4, "F16": 2, "U8": 1}

header, data = {}, b""
for argument in sys.argv[2:]:
    name, _, rest = argument.partition("=")
    kind, shape, *given = rest.split(":")
    sizes = [int(size) for size in shape.split("x")] if shape else []
    count = int(given[0]) if given else math.prod(sizes) * SIZES[kind]
    header[name] = {"dtype": kind, "shape": sizes,
                    "data_offsets": [len(data), len(data) + count]}
    data += bytes(i % 61 for i in range(count))
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as file:
    file.write(len(text).to_bytes(8, "little") + text + data)
