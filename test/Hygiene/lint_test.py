"""scripts/lint passes a few files of the tree, and says what is wrong with others.

The whole tree would take clang-tidy an hour; hygiene.py has all of it formatted.
"""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# In the tree, for the sake of its .clang-format and .clang-tidy.
BUILD = os.environ.get("NM_BUILD_DIR", ROOT / "build")
FILES = ["lib/Format/Pattern.cpp", "lib/Schedule/Target.cpp",
         "lib/Support/TemporaryPath.cpp", "lib/Runtime/File.cpp"]


def lint(*args):
    return subprocess.run([ROOT / "scripts" / "lint", *args], cwd=ROOT,
                          capture_output=True, text=True)


class Lint(unittest.TestCase):
    def test_files_of_the_tree(self):
        result = lint(*FILES)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(f"{len(FILES)} by clang-tidy", result.stdout)

    def check_refused(self, text, message):
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            path = Path(folder) / "odd.cpp"
            path.write_text(text)
            result = lint(path)
        self.assertEqual(result.returncode, 1)
        self.assertIn(message, result.stdout + result.stderr)

    def test_format(self):
        self.check_refused("int  value;\n", "-Wclang-format-violations")

    def test_names(self):
        self.check_refused("int Value;\n", "readability-identifier-naming")

    def test_fix(self):
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            path = Path(folder) / "odd.h"
            path.write_text("int  value;\n")
            self.assertEqual(lint("--fix", path).returncode, 0)
            self.assertEqual(path.read_text(), "int value;\n")
