"""Compiling to a file, and what a terminal shows meanwhile."""

import io
import sys

import numpy as np
import pytest
from conftest import relative_error

import nm

PRODUCT = """
func.func @f(%a: tensor<5x8xf32>, %w: tensor<8x6xf32>) -> tensor<5x6xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x6xf32>) -> tensor<5x6xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<5x8xf32>, tensor<8x6xf32>)
                     outs(%init : tensor<5x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_to_a_file(tmp_path, rng):
    path = tmp_path / "module.so"
    said = nm._compile.compile_to(path, PRODUCT)
    assert any(entry.severity == "remark" for entry in said)
    a, w = (rng.standard_normal(shape, dtype=np.float32) for shape in ((5, 8), (8, 6)))
    out = nm.Module(path).only_function()(a, w)
    assert relative_error(out, a.astype(np.float64) @ w) < 1e-5


def test_a_file_is_whole_or_as_before(tmp_path):
    path = tmp_path / "module.so"
    path.write_bytes(b"before")
    with pytest.raises(nm.CompileError):
        nm._compile.compile_to(path, "func.func @f(")
    assert path.read_bytes() == b"before"
    with pytest.raises(nm.CompileError, match="cannot write"):
        nm._compile.compile_to(tmp_path / "none" / "module.so", PRODUCT)


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_progress(stream, monkeypatch, tmp_path):
    monkeypatch.setattr(nm._progress, "_LONG", 0.0)
    monkeypatch.setattr(nm._progress, "_OFTEN", 0.0)
    shown = stream()
    monkeypatch.setattr(sys, "stderr", shown)
    nm._compile.compile_to(tmp_path / "module.so", PRODUCT)
    if stream is Terminal:
        assert "compiling module.mlir: convert-linalg-to-nm, 0 s" in shown.getvalue()
        # The line is gone at the end.
        assert shown.getvalue().endswith("\r\x1b[K")
    else:
        assert not shown.getvalue()
