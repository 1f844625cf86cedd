"""Compiles and runs products where there is no LLVM but the wheel's."""

# Python's own modules come first: they may need libraries of the system.
import bz2  # noqa: F401
import ctypes  # noqa: F401
import hashlib  # noqa: F401
import json  # noqa: F401
import lzma  # noqa: F401
import re
import shutil
import subprocess
import sys
import tempfile  # noqa: F401
import zlib  # noqa: F401
from pathlib import Path


def loaded():
    """The libraries in this process."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        parts = [line.split(maxsplit=5) for line in maps]
    paths = {Path(part[5].strip()) for part in parts if len(part) == 6}
    return {path for path in paths if ".so" in path.name}


PYTHONS_OWN = loaded()

import nm  # noqa: E402
import numpy as np  # noqa: E402

# PEP 600's libraries that are a part of every Linux, and the dynamic linker.
ALLOWED = re.compile(r"(lib(c|m|dl|rt|pthread|util|z|gcc_s|stdc\+\+)|ld-linux-[\w-]+)"
                     r"\.so[.\d]*")


def check_product():
    rng = np.random.default_rng(0)
    weight = nm.prune(rng.standard_normal((48, 64), np.float32), "2:4", axis=1).weight
    w = nm.compress(weight, "2:4", axis=1)
    x, bias = (rng.standard_normal(shape, np.float32) for shape in ((20, 64), (48,)))
    expected = np.maximum(x.astype(np.float64) @ weight.T + bias, 0)
    error = np.linalg.norm(nm.matmul(x, w, bias, "relu") - expected)
    assert error < 1e-6 * np.linalg.norm(expected), error


def check_gpu():
    """LLVM's code for NVIDIA's GPUs is in the wheel, too."""
    text = """
    func.func @f(%x: tensor<64x64xf32>, %w: tensor<64x64xf32, #nm.encoding<2:4>>,
                 %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %r = linalg.matmul
        ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32, #nm.encoding<2:4>>)
        outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
      return %r : tensor<64x64xf32>
    }"""
    assert ".visible .entry" in nm.lower(text, "ptx", "cuda:sm_90a",
                                         dense_fallback=False)


def check_libraries():
    cache = nm.cache_dir().resolve()
    for path in loaded() - PYTHONS_OWN:
        places = path.resolve().parents
        assert (Path(sys.prefix).resolve() in places or cache in places
                or ALLOWED.fullmatch(path.name)
                or Path(sys.base_prefix).resolve() in places), path
    assert not [path for path in loaded() if re.search("LLVM|MLIR", path.name)]


def check_bench():
    done = subprocess.run(
        [sys.executable, "-m", "nm", "bench", "--list", "--preset=cpu"],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout, done.stderr


def check_beside_the_other():
    """PyPI's nm in the same folder is an error that says so."""
    folder = Path(nm.__file__).parents[1] / "nm-0.0.5.dist-info"
    folder.mkdir()
    try:
        (folder / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: nm\nVersion: 0.0.5\n", encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", "import nm"], capture_output=True,
                              text=True, check=False)
    finally:
        shutil.rmtree(folder)
    assert done.returncode == 1 and "pip uninstall nm" in done.stderr, done.stderr


check_product()
check_gpu()
check_libraries()
check_bench()
check_beside_the_other()
print(f"Python {sys.version.split()[0]}: the wheel compiles, runs, and is alone")
