"""What a call costs, beside the product itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

BOUNDS = {"nm.matmul(x, w)": 15, "nm.matmul(x, w, out=out)": 15,
          "prepared(x)": 5, "prepared(x, out)": 5}
SCRIPT = Path(__file__).parent / "call_overhead.py"


def measure():
    """In a process of its own, where no other library has hooks."""
    paths = [path for path in sys.path if path]
    output = subprocess.run(
        [sys.executable, str(SCRIPT), "--json"], check=True, text=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}).stdout
    return json.loads(output)


def test_call_overhead():
    """A machine that others use is measured again."""
    least = dict.fromkeys(BOUNDS, float("inf"))
    for _ in range(8):
        for name, microseconds in measure().items():
            if name in least:
                least[name] = min(least[name], microseconds)
        if all(least[name] < bound for name, bound in BOUNDS.items()):
            return
    assert least == BOUNDS
