"""Tests of docs/results/make_results.py."""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path("docs/results/make_results.py")
SIDECAR = ('title = "{0}"\ncommit = "0123abc"\ndate = "2026-11-26"\n'
           'device = "a GPU"\ncommand = "nm-bench"\n')


def load(script):
    spec = importlib.util.spec_from_file_location("make_results", script)
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_results"] = module
    spec.loader.exec_module(module)
    return module


def row(**fields):
    values = dict(m=4096, n=4096, k=4096, pattern_n=2, pattern_m=4, block_k=1, block_n=1,
                  granularity="EW", sparsity=0.5, type="f16", result_type="f16",
                  strategy="wgmma_sp", step="", schedule="", median_us=100.0,
                  blas_median_us=150.0, speedup=1.5, sparse_median_us=120.0, accurate=1,
                  disturbed=0, relative_error=2e-4)
    return {name: str(value) for name, value in {**values, **fields}.items()}


class Copy(unittest.TestCase):
    """Works on a copy of README and docs/results."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copytree(ROOT / SCRIPT.parent, self.root / SCRIPT.parent)
        shutil.copy(ROOT / "README.md", self.root)

    def check(self):
        return subprocess.run([sys.executable, self.root / SCRIPT, "--check"],
                              capture_output=True, text=True)

    def test_what_is_there_is_current(self):
        self.assertEqual(self.check().stderr, "")

    def test_a_row_less_makes_pages_and_figures_stale(self):
        folder = self.root / SCRIPT.parent
        drawn = load(self.root / SCRIPT).front_plot()[0].path
        for path in {drawn, *(folder.glob("*/*.csv"))}:
            text = path.read_text(encoding="utf-8")
            path.write_text("".join(text.splitlines(True)[:-1]), encoding="utf-8")
            done = self.check()
            path.write_text(text, encoding="utf-8")
            self.assertEqual(done.returncode, 1, path)
            if path == drawn:
                for name in (f"{path.parent.name}.md", "front.svg"):
                    self.assertIn(name, done.stderr)

    def test_a_file_without_a_part_of_the_page_is_refused(self):
        folder = self.root / SCRIPT.parent / "h100"
        (folder / "new.csv").write_text("a\n1\n")
        (folder / "new.toml").write_text(SIDECAR.format("new"))
        self.assertIn("expected each file in one part, but got ['new']",
                      self.check().stderr)

    def test_lines_of_the_readme_are_of_one_commit(self):
        front = self.root / SCRIPT.parent / "front.toml"
        text = front.read_text(encoding="utf-8")
        first = text.index("table = ", text.index("[[line]]"))
        front.write_text(text[:first] + text[first:].replace(
            "h200/blocks", "h100/earlier-f16", 1), encoding="utf-8")
        self.assertIn("expected lines of one commit", self.check().stderr)

    def test_a_sidecar_without_a_commit_is_refused(self):
        path = next((self.root / SCRIPT.parent / "h100").glob("earlier-*.toml"))
        text = path.read_text(encoding="utf-8")
        path.write_text("".join(line for line in text.splitlines(True)
                                if not line.startswith("commit")), encoding="utf-8")
        self.assertIn("'commit'", self.check().stderr)


class Tables(unittest.TestCase):
    def setUp(self):
        self.results = load(ROOT / SCRIPT)

    def table(self, *rows):
        return self.results.Table(Path("h200/new.csv"), "t", "c", "d", "g", "nm-bench",
                                  rows=list(rows))

    def test_speedups_are_those_of_nm_bench(self):
        """Geometric mean (least-most), by granularity, type and few rows."""
        text = self.results.summary(self.table(
            row(), row(m=1024, speedup=6.0), row(m=16, speedup=2.0, strategy="cublas"),
            row(sparsity=0.75, pattern_n=8, pattern_m=32, block_n=32,
                granularity="VW32", speedup=4.0),
            row(speedup=9.0, disturbed=1), row(speedup=9.0, accurate=0)))
        self.assertIn("**f16, m > 64**", text)
        self.assertIn("| EW | 3.00 (1.50-6.00) s | - |", text)
        self.assertIn("| VW32 | - | 4.00 sp |", text)
        self.assertIn("**f16, m = 16**", text)
        self.assertIn("1 of 1 products were left to cuBLAS", text)
        self.assertNotIn("9.00", text)

    def test_patterns_of_one_sparsity_are_apart(self):
        text = self.results.summary(self.table(
            row(), row(pattern_n=16, pattern_m=32, speedup=1.0)))
        self.assertIn("| EW, M = 4 | 1.50 s |", text)
        self.assertIn("| EW, M = 32 | 1.00 s |", text)

    def test_tables_say_what_multiplied(self):
        """From the columns, or of older files from the strategy and the remark."""
        wider = "weights are taken to be 16:32, block = 1x64, which is faster"
        cases = {
            "s": row(), "b": row(strategy="cublas"), "td": row(strategy="wgmma dense"),
            "c": row(strategy="simt"), "sp": row(pattern_n=1, sparsity=0.75),
            "tp": row(strategy="wgmma", pattern_n=8, pattern_m=32, sparsity=0.75, remark=wider),
            "cd": row(strategy="wgmma", unit="cuda cores", zeros="multiplied")}
        for expected, each in cases.items():
            self.assertEqual(self.results.mark(each), expected)
        text = self.results.summary(self.table(cases["td"], cases["c"]))
        self.assertIn("| EW | 1.50 (1.50-1.50) c/td |", text)
        self.assertIn("t: tensor cores; d behind one: with dense weights", text)
        self.assertIn("| wgmma dense | td |", self.results.each_case(
            self.table(cases["td"])))

    def test_cases_have_cusparse_where_it_was_timed(self):
        text = self.results.each_case(self.table(row(csr_median_us="350.0")))
        self.assertIn("| cuSPARSE, µs | cuSPARSE / nm |", text)
        self.assertIn("| 350 | 3.50 |", text)

    def test_cases_have_the_peer_where_it_was_timed(self):
        text = self.results.each_case(self.table(row(), row(sparse_median_us="")))
        self.assertIn("| 100 | 150 | 1.50 | 120 | 1.20 | 2.0e-04 |", text)
        self.assertIn("| 100 | 150 | 1.50 | - | - | 2.0e-04 |", text)
        self.assertNotIn("cuSPARSELt", self.results.each_case(
            self.table(row(sparse_median_us=""))))


if __name__ == "__main__":
    unittest.main()
