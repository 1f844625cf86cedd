"""Gives nm-run a pipe with an array and then bytes without end.

usage: endless_npy.py PIPE NM-RUN MODULE
"""

import subprocess
import sys

pipe, program, module = sys.argv[1:]
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (5, 64), }"
header += b" " * (-(len(header) + 11) % 64) + b"\n"
reader = subprocess.Popen([program, module, "--input", pipe, "--input", pipe], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
with open(pipe, "wb", buffering=0) as file:
    try:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        while True:
            file.write(bytes(1 << 16))
    except BrokenPipeError:
        pass
print(reader.communicate(timeout=60)[0])
