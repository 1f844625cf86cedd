"""Tokens of an exported decoder, without PyTorch.

usage: generate.py MODEL.so COUNT TOKEN...

Prints the COUNT most probable tokens that follow the prompt. MODEL.so is what
nm.torch.export_decoder(...).compile wrote for the CPU.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import nm  # noqa: E402


def main():
    path, count, *prompt = sys.argv[1:]
    module = nm.load(path)
    # Keys and values of each layer, which the functions update in place.
    cache = [np.zeros(arg.shape, arg.dtype.replace("f", "float"))
             for arg in module["decode"].args[2:]]
    tokens, begin = np.array([prompt], dtype=np.int64), 0
    for _ in range(int(count)):
        step = module["decode" if tokens.shape[1] == 1 else "prefill"]
        positions = np.arange(begin, begin + tokens.shape[1])
        following, _logits = step(tokens, positions, *cache)
        begin += tokens.shape[1]
        tokens = following[:, None]
        print(following[0])


if __name__ == "__main__":
    main()
