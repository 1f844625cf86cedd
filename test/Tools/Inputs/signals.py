"""Starts a program, waits until there is a file in the folder TMPDIR, sends the
program a signal, and expects that it ends by it and that the folder is empty.

usage: signals.py SIGNAL PROGRAM ARGUMENT...
"""

import os
import signal
import subprocess
import sys
import time

number = getattr(signal, sys.argv[1])
folder = os.environ["TMPDIR"]
# A shell's background jobs, for one, ignore SIGINT.
process = subprocess.Popen(sys.argv[2:], stderr=subprocess.DEVNULL,
                           preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
deadline = time.monotonic() + 60
while not os.listdir(folder):
    assert process.poll() is None and time.monotonic() < deadline, "nothing made"
    time.sleep(0.01)
process.send_signal(number)
assert process.wait(60) == -number, f"ended with {process.returncode}"
assert not os.listdir(folder), f"left {os.listdir(folder)}"
