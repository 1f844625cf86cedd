"""The Python of docs/Python.md runs, block after block, as a reader types it, and so
does all of docs/guide, where each page stands for itself."""

import os
import re
import shutil
import subprocess
import sys
from collections import OrderedDict

import nm
import numpy as np
import pytest
from conftest import ROOT, reference, relative_error

GUIDE = ROOT / "docs" / "Python.md"
PAGES = sorted((ROOT / "docs" / "guide").glob("*.md"))


def python_blocks(page):
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


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
    names = {}
    lines, *blocks = python_blocks(GUIDE.read_text(encoding="utf-8"))
    exec(compile(lines, str(GUIDE), "exec"), names)   # which stand alone
    dense = names["weight"]
    assert nm.check(dense, "2:4", axis=1)
    expected = reference(names["x"], dense, 1, activation="gelu")
    assert relative_error(names["y"], expected) < 2e-6
    names["w1"] = nm.compress(dense, "2:4", axis=1)
    names["w2"] = nm.compress(draw.weight((384, 1536), "2:4", axis=1), "2:4",
                              axis=1)
    names["b1"], names["b2"] = draw.array(1536), draw.array(384)
    assert len(blocks) == 7
    for block in blocks:
        if "nm.torch" in block and not add_torch_names(names, dense):
            continue
        exec(compile(block, str(GUIDE), "exec"), names)
    assert names["y"].shape == (128, 384) and np.isfinite(names["y"]).all()


def test_every_public_name_has_a_docstring():
    for name in nm.__all__:
        assert getattr(nm, name).__doc__, name


def run_command(line, folder):
    """A line of a page's shell; the checkout is where its programs lie."""
    command = re.sub(r"\s#.*", "", line.replace("PYTHONPATH=python ", ""))
    command = re.sub(r"^python3?\b", sys.executable, command)
    command = command.replace("examples/", f"{ROOT}/examples/")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    if "NM_TEST_INSTALLED" in environment:
        del environment["PYTHONPATH"]
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_of_the_guide(page, tmp_path, monkeypatch):
    """Runs the blocks in order; a block of text after a shell's is what it prints."""
    text = page.read_text(encoding="utf-8")
    for package in ("torch", "matplotlib", "transformers"):
        if re.search(rf"import (nm\.)?{package}|from {package}|{package} is needed", text):
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    # What torchrun sets for a program of one process.
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_PORT", "0"),
                        ("MASTER_ADDR", "127.0.0.1")):
        monkeypatch.setenv(name, value)
    names = {"__name__": "page"}
    blocks = re.findall(r"```(python|sh)\n(.*?)```", text, re.DOTALL)
    assert blocks
    for kind, block in blocks:
        if kind == "python":
            exec(compile(block, str(page), "exec"), names)
            continue
        for line in block.replace("\\\n", " ").splitlines():
            run_command(line, tmp_path)


def test_the_first_page_begins_with_lines_that_stand_alone(tmp_path):
    """In a process that has imported nothing else."""
    pytest.importorskip("transformers")
    page = ROOT / "docs" / "guide" / "hugging-face.md"
    makes, lines, *_ = python_blocks(page.read_text(encoding="utf-8"))
    assert len(lines.splitlines()) == 5
    checks = ("assert sum(type(each).__name__ == 'NMLinear' for each in again.modules()) "
              "== 14")
    for block in (makes, lines + checks):
        (tmp_path / "block.py").write_text(block, encoding="utf-8")
        run_command("python block.py", tmp_path)


def test_the_readme(capsys):
    """Its lines of Python run, and give what they say."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block, = python_blocks(text)
    names = {}
    exec(compile(block, "README.md", "exec"), names)
    assert "8:32, block = 1x32" in capsys.readouterr().out
    dense = names["w"].decompress()
    expected = reference(names["x"], dense, 1, activation="gelu")
    assert relative_error(names["y"], expected) < 2e-6


@pytest.mark.parametrize("index", ["Python.md", "index.md"])
def test_the_guide_names_its_pages(index):
    text = (ROOT / "docs" / index).read_text(encoding="utf-8")
    for page in PAGES:
        assert f"(guide/{page.name})" in text, f"no link to {page.name}"


def test_the_index_names_all_pages():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    folders = [ROOT / "docs" / name for name in ("", "results", "strategies")]
    for page in (page for folder in folders for page in folder.glob("*.md")):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "index.md" or f"({name})" in text, f"no link to {name}"


def test_quantized_weights_as_documented(tmp_path, monkeypatch):
    """The function of docs/Quantized.md and its Python, with smaller sizes."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "Quantized.md").read_text(encoding="utf-8")
    for size, small in (("32x11008", "2x96"), ("11008", "96"), ("4096", "256")):
        page = page.replace(size, small)
    text = re.search(r"```mlir\n(#q.*?)```", page, re.DOTALL).group(1)
    (tmp_path / "layer.mlir").write_text(text)
    with_torch, block = python_blocks(page)
    names = {}
    exec(compile(block, "Quantized.md", "exec"), names)
    dense = (names["values"].astype(np.float16)
             * np.repeat(names["scales"], 128, axis=0)).astype(np.float64)
    assert names["y"].shape == (4, 96)
    assert relative_error(names["y"], reference(names["x"], dense, 0)
                          + names["c"]) < 2e-3
    pytest.importorskip("torch")
    exec(compile(with_torch, "Quantized.md", "exec"), {})
