"""Prints what a program writes to a terminal, and how wide its widest line is, where
a line that is overwritten counts by itself.

usage: terminal.py COLUMNS PROGRAM [ARGUMENT...]
"""

import fcntl
import os
import pty
import re
import struct
import sys
import termios

columns = int(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    # The parent sets the size before it lets the program start.
    sys.stdin.readline()
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
settings = termios.tcgetattr(terminal)
settings[3] &= ~termios.ECHO
termios.tcsetattr(terminal, termios.TCSANOW, settings)
os.write(terminal, b"\n")
text = b""
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    text += part
os.waitpid(child, 0)
plain = re.sub(r"\x1b\[[A-Z]", "", text.decode())
lines = [line.rstrip() for line in re.split(r"[\r\n]+", plain)]
print("widest line:", max(map(len, lines)))
print("\n".join(lines))
