"""transformers of other versions than those that nm.torch knows."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

pytest.importorskip("torch")


def test_older_transformers():
    """An older transformers is imported with a warning, and works without sparse layers."""
    pytest.importorskip("transformers.core_model_loading")
    script = """
import warnings
import nm.torch
import transformers.core_model_loading as loading
del loading.dot_natural_key
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import transformers.modeling_utils
assert any("expected transformers 4.57, or 5.17 and newer" in str(each.message) for each in told), told
model = transformers.LlamaModel(transformers.LlamaConfig(
    vocab_size=16, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
    intermediate_size=32))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                         check=False, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    assert run.returncode == 0, run.stderr
