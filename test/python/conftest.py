"""What the tests share: reference products, weights, and arrays of each library
that is installed. A library that is not is skipped visibly."""

import math
import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
if "NM_TEST_INSTALLED" not in os.environ:
    sys.path.insert(0, str(ROOT / "python"))

import nm  # noqa: E402
from nm import _safetensors  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory):
    """A cache of this run, so that what is tested was compiled by this build."""
    if "NM_CACHE_DIR" not in os.environ:
        os.environ["NM_CACHE_DIR"] = str(tmp_path_factory.mktemp("nm-cache"))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def draw(rng):
    """Draws arrays, and weights that obey a pattern."""

    class Draw:
        def array(self, *shape, dtype=np.float32):
            if np.dtype(dtype) == np.int8:
                return rng.integers(-100, 100, shape, dtype=np.int8)
            return rng.standard_normal(shape).astype(dtype)

        def weight(self, shape, pattern, axis=0, dtype=np.float32, **options):
            return nm.prune(self.array(*shape, dtype=dtype), pattern, axis=axis,
                            **options).weight

    return Draw()


def load_script(name):
    """The module that the Python program scripts/`name` is."""
    loader = SourceFileLoader(name.replace("-", "_"), str(ROOT / "scripts" / name))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def reference(x, dense, axis, bias=None, activation=None, scale=None):
    """A product in float64."""
    y = np.asarray(x, np.float64) @ (
        dense if axis == 0 else dense.T).astype(np.float64)
    if scale is not None:
        y = y * np.asarray(scale, np.float64)
    if bias is not None:
        y = y + np.asarray(bias, np.float64)
    return {
        None: lambda v: v,
        "relu": lambda v: np.maximum(v, 0),
        "gelu": lambda v: v / 2 * (1 + np.vectorize(math.erf)(v / math.sqrt(2))),
        "gelu_tanh": lambda v: v / 2 * (1 + np.tanh(
            math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3))),
        "silu": lambda v: v / (1 + np.exp(-v)),
    }[activation](y)


def relative_error(y, expected):
    difference = np.linalg.norm(np.asarray(y, np.float64) - expected)
    return difference / max(np.linalg.norm(expected), 1e-30)


def write_tensors(path, **tensors):
    """A file of safetensors; `__` stands for a dot, and a pair gives the type, too."""
    _safetensors.write(path, {
        name.replace("__", "."): array if isinstance(array, tuple) else (
            {"float32": "f32", "float16": "f16", "int8": "i8", "uint8": "u8"}[
                array.dtype.name], array) for name, array in tensors.items()}, {})
