"""python -m nm run"""

from __future__ import annotations

import argparse
import io
import os
import re
import statistics
import time
from pathlib import Path

import numpy as np

from .. import Error, load
from .. import compile as compile_module
from .._arrays import NUMPY_NAMES, numpy_dtype
from .._files import written_whole
from .._safetensors import SafetensorsFile
from .._weightfile import is_weight_file, load_weight
from ..io import load_dense
from ..io._numpy import map_npy
from .common import add_json_argument, print_json, shape_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a compiled module (.so), or one of MLIR")
    parser.add_argument("--function", help="its name; not needed where there is "
                        "one")
    parser.add_argument("--input", action="append", default=[],
                        metavar="FILE[:NAME]",
                        help="an argument in order: .npy, or a file of weights, "
                        "condensed or dense, with the NAME of one where it has "
                        "several, as in model.safetensors:fc1.weight; may be "
                        "repeated")
    parser.add_argument("--output", action="append", default=[],
                        help=".npy for a result in order; may be repeated")
    parser.add_argument("--repeat", type=int, default=1,
                        help="calls to time (default 1)")
    parser.add_argument("--target", default="cpu", choices=("cpu", "sim"),
                        help="what a module of MLIR is compiled for; arrays of "
                        "files are on the host")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    module = (load(args.file) if args.file.endswith(".so")
              else compile_module(Path(args.file), args.target))
    if module.target == "cuda":
        raise Error(f"{args.file}: expected a module for the host, but it is for "
                    "CUDA; nm-run runs it on .npy files, and nm.load(...) on "
                    "arrays that are on the device")
    function = (module[args.function] if args.function
                else module.only_function())
    if len(args.input) != len(function.args):
        raise Error(f"{function}: expected {len(function.args)} times --input, "
                    f"but got {len(args.input)}")
    inputs = [_read(path, type_)
              for path, type_ in zip(args.input, function.args)]
    bound = function.bind(*(inputs[i] for i in function.weights))
    plain = [array for i, array in enumerate(inputs)
             if i not in function.weights]
    times = []
    for _ in range(max(args.repeat, 1)):
        start = time.perf_counter()
        results = bound(*plain)
        times.append(time.perf_counter() - start)
    results = results if isinstance(results, tuple) else (results,)
    if len(args.output) > len(results):
        raise Error(f"{function}: expected at most {len(results)} times "
                    f"--output, but got {len(args.output)}")
    for path, result in zip(args.output, results):
        # numpy.save itself writes to no pipe.
        contents = io.BytesIO()
        np.save(contents, result)
        with written_whole(path) as file:
            file.write(contents.getbuffer())
    _report(args, results, times)
    return 0


def _read(text: str, type_):
    """The array or condensed weight that --input names."""
    path, name = _split(text)
    if path.endswith(".npy") and name is None:
        array = map_npy(path)
    elif path.endswith(".safetensors") and is_weight_file(
            SafetensorsFile(path).metadata):
        w = load_weight(path, name)
        return w if type_.pattern else w.decompress()
    else:
        array = load_dense(path, name)
    if array.dtype.kind == "V" and type_.dtype in NUMPY_NAMES:
        return array.view(numpy_dtype(type_.dtype))
    return array


def _split(text: str) -> tuple[str, str | None]:
    """FILE and NAME, at the first colon that a file stands before."""
    path, name = text, None
    for found in re.finditer(":", text):
        if not os.path.exists(path) and os.path.exists(text[:found.start()]):
            path, name = text[:found.start()], text[found.end():]
    return path, name


def _report(args: argparse.Namespace, results: tuple, times: list[float]) -> None:
    median = statistics.median(times)
    if args.json:
        print_json({"median_s": median, "calls": len(times), "results": [
            {"shape": result.shape, "dtype": result.dtype.name,
             "norm": float(np.linalg.norm(result.astype(np.float64)))}
            for result in results]})
        return
    for i, result in enumerate(results):
        values = result.astype(np.float64)
        print(f"result {i}: {shape_text(result.shape)} {result.dtype.name}, norm "
              f"{np.linalg.norm(values):.6g}")
    print(f"{len(times)} call{'s' * (len(times) > 1)}: median "
          f"{median * 1e6:.1f} us")
