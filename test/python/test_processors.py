"""Modules for other processors: each runs, or is refused by the name of a feature."""

import platform
import re
import subprocess
import sys
from pathlib import Path

import nm
import numpy as np
import pytest
from conftest import ROOT, reference, relative_error

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="lists processors of x86-64")

PAIRS = """
func.func @f(%x: tensor<64x64xT>, %w: tensor<64x64xT, #nm.encoding<2:4>>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<64x64xT>, tensor<64x64xT, #nm.encoding<2:4>>)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}"""
TEXT = """
func.func @f(%a: tensor<?x64xf16>, %w: tensor<64x48xf16, #nm.encoding<2:4>>,
             %c: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %r = linalg.matmul
    ins(%a, %w : tensor<?x64xf16>, tensor<64x48xf16, #nm.encoding<2:4>>)
    outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}
"""
PROCESSORS = ["x86-64-v3", "x86-64-v4", "haswell", "skylake", "skylake-avx512",
              "cascadelake", "cooperlake", "icelake-server", "alderlake", "knl",
              "sapphirerapids", "graniterapids", "diamondrapids", "sierraforest",
              "clearwaterforest", "arrowlake-s", "pantherlake", "novalake", "bdver4",
              "znver1", "znver2", "znver3", "znver4", "znver5"]
FEATURES = Path("/usr/lib/llvm-22/include/llvm/TargetParser/X86TargetParser.def")

# In a process of its own: code that a processor does not have ends it.
RUN = """
import sys
sys.path.insert(0, {folder!r})
import nm, numpy as np
try:
    module = nm.load(sys.argv[1])
except nm.Error as error:
    print(error)
    sys.exit()
given = np.load(sys.argv[2])
np.save(sys.argv[3], module(given["x"], given["w"], given["c"]))
"""


@pytest.mark.parametrize("processor", PROCESSORS)
def test_modules_run_or_are_refused(draw, tmp_path, processor):
    x, c = draw.array(7, 64, dtype=np.float16), draw.array(7, 48)
    w = draw.weight((64, 48), "2:4", dtype=np.float16)
    np.savez(tmp_path / "given.npz", x=x, w=w, c=c)
    (tmp_path / "f.so").write_bytes(nm.lower(TEXT, "so", mcpu=processor))
    ran = subprocess.run(
        [sys.executable, "-c", RUN.format(folder=str(ROOT / "python")),
         str(tmp_path / "f.so"), str(tmp_path / "given.npz"), str(tmp_path / "y.npy")],
        capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    if ran.stdout:
        assert re.search("expected a processor with [a-z0-9.-]+, for which", ran.stdout)
    else:
        y = np.load(tmp_path / "y.npy")
        assert relative_error(y, reference(x, w, 0) + c) < 1e-5


def manifest_features(artifact):
    found = re.search(rb'"processor_features":\[(.*?)\]', artifact)
    return set(re.findall(r'"([^"]+)"', found.group(1).decode())) if found else set()


@pytest.mark.parametrize("processor, some", [
    ("sapphirerapids", {"avx512vbmi2", "avxvnni", "avx512f"}),
    ("diamondrapids", {"egpr", "ndd", "avxifma", "cmpccxadd"}),
    ("bdver4", {"fma", "bmi2", "tbm"}), ("skylake", {"avx2", "bmi2", "lzcnt"})])
def test_manifest_has_what_code_may_use(processor, some):
    features = manifest_features(nm.lower(TEXT, "so", mcpu=processor))
    assert some <= features
    # Ways to tune code, and instructions that nm never asks for, are no demands.
    assert not {name for name in features if name.startswith((
        "fast", "slow", "prefer", "tuning", "false-deps", "sgx", "xsave", "amx"))}


@pytest.mark.parametrize("processor, element, mattr, wanted", [
    ("znver5", "bf16", "", True), ("znver5", "bf16", "-avx512bf16", False),
    ("znver5", "f32", "", False), ("sapphirerapids", "bf16", "-amx-tile", False)])
def test_manifest_has_what_pairs_ask_for(processor, element, mattr, wanted):
    text = PAIRS.replace("T", element)
    features = manifest_features(nm.lower(text, "so", mcpu=processor, mattr=mattr))
    assert ("avx512bf16" in features) == wanted


@pytest.mark.skipif(not FEATURES.exists(), reason="needs LLVM's headers")
def test_runtime_knows_every_feature(tmp_path):
    names = re.findall(r'^X86_FEATURE(?:_COMPAT)?\s*\(\w+,\s*"([^"]+)"',
                       FEATURES.read_text(), re.M)
    # Not a feature that LLVM's code generator has by that name.
    names = sorted(set(names) - {"avx5124vnniw", "avx5124fmaps", "apxf"})
    names = [name for name in names if not name.startswith(("retpoline", "lvi"))]
    assert len(names) > 100
    artifact = nm.lower(TEXT, "so", mcpu="x86-64-v3",
                        mattr=",".join(f"+{name}" for name in names))
    # nm rounds to bf16 and f16 by itself, and tiles are used by one strategy alone.
    left_out = {"vzeroupper", "avx512bf16", "avx512fp16", "avxneconvert", "avx10.1",
                "avx10.2"}
    assert manifest_features(artifact) >= {
        name for name in names if name not in left_out and not name.startswith("amx")}
    (tmp_path / "all.so").write_bytes(artifact)
    with pytest.raises(nm.Error, match="expected a processor with .*, for which"):
        nm.load(tmp_path / "all.so")
