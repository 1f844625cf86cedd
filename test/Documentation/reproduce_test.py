"""Tests of scripts/reproduce, on a CPU and small.

NM_BENCH names nm-bench; without one what needs it is skipped.
"""

import csv
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "reproduce"
PAPERS = ROOT / "docs" / "results" / "papers"
NAMES = sorted(path.parent.name for path in PAPERS.glob("*/paper.toml"))
BENCH = os.environ.get("NM_BENCH", "")


def run(*args):
    return subprocess.run([sys.executable, SCRIPT, *args], capture_output=True, text=True)


class Reproduce(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def test_pages_are_of_the_files_beside_them(self):
        self.assertEqual(NAMES, ["nm-spmm", "nmsparse", "sparsert", "study"])
        for name in NAMES:
            before = (PAPERS / f"{name}.md").read_text(encoding="utf-8")
            (self.out / name).mkdir()
            for path in (PAPERS / name).iterdir():
                (self.out / name / path.name).write_bytes(path.read_bytes())
            for path in PAPERS.glob(f"{name}*.svg"):
                (self.out / path.name).touch()
            done = run(name, "--page", f"--out={self.out}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.out / f"{name}.md").read_text(encoding="utf-8"), before,
                             f"{name}.md is stale: scripts/reproduce {name} --page")

    @unittest.skipUnless(BENCH, "NM_BENCH names no nm-bench")
    def test_each_paper_runs_small(self):
        for name in NAMES:
            done = run(name, f"--out={self.out}", f"--bench={BENCH}", "--", "--m=5",
                       "--n=64", "--k=160", "--blas=none", "--seconds=0.005")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(self.out / name / "measured.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertTrue(rows and all(row["accurate"] == "1" for row in rows))
            self.assertEqual({row["unit"] for row in rows}, {"cpu cores"})
            page = (self.out / f"{name}.md").read_text(encoding="utf-8")
            self.assertIn("5x64x160", page)
            self.assertIn("--preset=" + name,
                          (self.out / name / "measured.toml").read_text())

    @unittest.skipUnless(BENCH, "NM_BENCH names no nm-bench")
    def test_a_case_that_fails_is_a_failure(self):
        done = run("study", f"--out={self.out}", f"--bench={BENCH}", "--", "--m=5",
                   "--n=64", "--k=160", "--blas=none", "--seconds=0.005",
                   "--tolerance=1e-30")
        self.assertEqual(done.returncode, 1)

    def test_a_gpu_is_asked_for_all_files(self):
        """By an nm-bench that writes down what it is asked for."""
        bench = self.out / "bench"
        bench.write_text(f'#!/bin/sh\necho "$@" >> {self.out}/log\n')
        bench.chmod(0o755)
        done = run("nm-spmm", f"--out={self.out}", f"--bench={bench}",
                   "--target=cuda:sm_90a", f"--kernels={self.out}/k", "--compile-only",
                   "--", "--m=7")
        self.assertEqual(done.returncode, 0, done.stderr)
        chosen, ieee, ablation = (self.out / "log").read_text().splitlines()
        self.assertEqual(chosen, "--preset=nm-spmm --target=cuda:sm_90a --m-major "
                         f"--kernels={self.out}/k/measured --m=7 --compile-only")
        self.assertIn("--arithmetic=ieee", ieee)
        self.assertIn("--ablate --shape=4096x4096x4096", ablation)
        self.assertNotIn("--m=7", ablation)

    def test_a_run_goes_on(self):
        """By an nm-bench that adds a line to the file that it goes on with."""
        bench = self.out / "bench"
        bench.write_text(f'#!/bin/sh\necho "$@" >> {self.out}/log\n'
                         "for each; do case $each in --csv=*)\n"
                         f"[ -e ${{each#--csv=}} ] || head -5 {PAPERS}/study/measured.csv "
                         "> ${each#--csv=}\n"
                         f"tail -1 {PAPERS}/study/ieee.csv >> ${{each#--csv=}};; esac; done\n")
        bench.chmod(0o755)
        options = ["study", f"--out={self.out}", f"--bench={bench}", "--target=cuda:sm_90a"]
        self.assertEqual(run(*options, "--commit=0a1b2c3d").returncode, 0)
        # Of four lines CUDA cores multiplied three; the last one is nm-bench's.
        with open(self.out / "study" / "ieee.csv", newline="") as file:
            self.assertEqual([row["m"] for row in csv.DictReader(file)],
                             ["64", "128", "256", "8192"])
        chosen, ieee, _ = (self.out / "log").read_text().splitlines()
        self.assertNotIn("--resume", chosen)
        self.assertIn("--arithmetic=ieee --resume", ieee.replace(
            " --target=cuda:sm_90a --sparse-blas=none", ""))
        (self.out / "log").unlink()
        self.assertEqual(run(*options, "--commit=4d5e6f70", "--resume").returncode, 0)
        self.assertEqual((self.out / "log").read_text().count("--resume"), 3)
        with open(self.out / "study" / "ieee.csv", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 5)
        self.assertIn("commit 0a1b2c3d, the rest 4d5e6f70, ",
                      (self.out / "study.md").read_text(encoding="utf-8"))

    def test_examples_are_run_on_a_gpu(self):
        """By an nm-bench that gives what was measured, and a Python that writes down what
        it runs."""
        bench, python = self.out / "bench", self.out / "python3"
        bench.write_text("#!/bin/sh\nfor each; do case $each in --csv=*)\n"
                         f"cp {PAPERS}/sparsert/measured.csv ${{each#--csv=}};; esac; done\n")
        python.write_text(f'#!/bin/sh\necho "$@" > {self.out}/log\n'
                          "for each; do case $each in --csv=*)\n"
                          'printf "channels,nm\\n64,7.25\\n" > ${each#--csv=};; esac; done\n')
        for path in (bench, python):
            path.chmod(0o755)
        done = run("sparsert", f"--out={self.out}", f"--bench={bench}",
                   "--target=cuda:sm_90a", f"--python={python}", "--commit=0a1b2c3d")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("examples/convolutions/measure_convolutions.py --zeros=90",
                      (self.out / "log").read_text())
        page = (self.out / "sparsert.md").read_text(encoding="utf-8")
        self.assertIn("| 64 | 7.25 |", page)
        with open(PAPERS / "sparsert" / "measured.csv", newline="") as file:
            speedup = next(float(row["speedup"]) for row in csv.DictReader(file)
                           if row["n"] == "1024" and row["k"] == "256" and row["sparsity"] == "0.9")
        self.assertIn("| ResNet-50, 196x1024x256 | unstructured | 90 % | SparseRT, T4 | 3.1 | "
                      f"{speedup:.2f} (1) | {speedup:.2f} (1) |", page)
        self.assertIn("measure_convolutions.py --zeros=90 --zeros=95 "
                      "--csv=convolutions.csv", page)
        self.assertEqual(page.count("commit 0a1b2c3d"), 3)

    def test_what_is_wrong_is_refused(self):
        done = run("nonsense")
        self.assertEqual(done.returncode, 2)
        self.assertIn("invalid choice: 'nonsense'", done.stderr)
        self.assertIn("expected --kernels=DIR beside --compile-only",
                      run("study", "--compile-only").stderr)


if __name__ == "__main__":
    unittest.main()
