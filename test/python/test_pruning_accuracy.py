"""examples/pruning-accuracy, small; both need PyTorch, and one scikit-learn."""

import csv
import os
import subprocess
import sys

import pytest
from conftest import ROOT

pytest.importorskip("torch")
EXAMPLE = ROOT / "examples" / "pruning-accuracy"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def test_prunes_and_trains_on(tmp_path):
    pytest.importorskip("sklearn")
    path = tmp_path / "digits.csv"
    done = subprocess.run(
        [sys.executable, EXAMPLE / "measure_accuracy.py",
         "--quick", "--seeds=1", "--epochs=10", "--tune=3", f"--csv={path}"],
        capture_output=True, text=True, env={**ENVIRONMENT, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["chosen by"] for row in rows} == {"-", "magnitude", "wanda", "centred",
                                                  "sparsegpt", "permuted"}
    # A tenth would be known by chance.
    for row in rows[1:]:
        assert float(row["trained on"].split()[0]) > 60, row


def test_embeddings_of_a_pruned_encoder(tmp_path):
    path = tmp_path / "encoder.csv"
    done = subprocess.run(
        [sys.executable, EXAMPLE / "measure_encoder.py", "--quick", "--random",
         "--tune=2", "--threads=1", f"--csv={path}"], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["chosen by"] for row in rows] == [
        "-", "magnitude", "wanda", "sparsegpt", "magnitude", "wanda"]
    assert float(rows[0]["cosine"]) == 100
    for row in rows[1:]:
        assert 0 < float(row["cosine"]) < 100, row
        assert (row["cosine, trained on"] == "-") == (row["chosen by"] != "magnitude")
