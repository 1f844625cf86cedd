"""examples/pruning-accuracy, small; it needs PyTorch and scikit-learn."""

import csv
import os
import subprocess
import sys

import pytest
from conftest import ROOT

pytest.importorskip("torch")
pytest.importorskip("sklearn")


def test_prunes_and_trains_on(tmp_path):
    path = tmp_path / "digits.csv"
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "pruning-accuracy" / "measure_accuracy.py",
         "--quick", "--seeds=1", "--epochs=10", "--tune=3", f"--csv={path}"],
        capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["chosen by"] for row in rows} == {"-", "magnitude", "wanda", "sparsegpt",
                                                  "permuted"}
    # A tenth would be known by chance.
    for row in rows[1:]:
        assert float(row["trained on"].split()[0]) > 60, row
