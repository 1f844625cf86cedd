"""The Python of docs/Python.md runs, block after block, as a reader types it."""

import re
import shutil
from collections import OrderedDict

import nm
import numpy as np
from conftest import ROOT, reference, relative_error
from nm import _safetensors

GUIDE = ROOT / "docs" / "Python.md"


def add_torch_names(names, dense):
    try:
        import torch
    except ImportError:
        return False
    linear = torch.nn.Linear(384, 1536)
    linear.weight.data = torch.from_numpy(dense)
    names["linear"] = linear
    names["model"] = torch.nn.Sequential(OrderedDict(
        fc=linear, head=torch.nn.Linear(1536, 8)))
    names["example"] = torch.zeros(4, 384)
    return True


def test_the_guide(draw, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "feed-forward" / "feed-forward.mlir", tmp_path)
    dense = draw.weight((1536, 384), "2:4", axis=1)
    _safetensors.write("model.safetensors",
                       {"layers.0.fc1.weight": ("f32", dense)}, {})
    names = {"x": draw.array(128, 384), "bias": draw.array(1536)}
    names["w1"] = nm.compress(dense, "2:4", axis=1)
    names["w2"] = nm.compress(draw.weight((384, 1536), "2:4", axis=1), "2:4",
                              axis=1)
    names["b1"], names["b2"] = draw.array(1536), draw.array(384)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"),
                        re.DOTALL)
    assert len(blocks) == 7
    first = None
    for block in blocks:
        if "nm.torch" in block and not add_torch_names(names, dense):
            continue
        exec(compile(block, str(GUIDE), "exec"), names)
        if first is None:
            first = names["y"]
    expected = reference(names["x"], dense, 1, names["bias"], "gelu")
    assert relative_error(first, expected) < 2e-6
    assert names["y"].shape == (128, 384) and np.isfinite(names["y"]).all()


def test_every_public_name_has_a_docstring():
    for name in nm.__all__:
        assert getattr(nm, name).__doc__, name
