"""The package beside PyPI's nm, which is another project's."""

from importlib import metadata
from pathlib import Path

import nm
import pytest
from nm import _distribution

FOLDER = Path(nm.__file__).parent


class Other:
    version = "0.0.5"

    def __init__(self, folder):
        self.folder = folder

    def locate_file(self, name):
        return self.folder / name


def test_in_one_folder(monkeypatch):
    monkeypatch.setattr(metadata, "distribution", lambda name: Other(FOLDER.parent))
    with pytest.raises(ImportError, match="nm 0.0.5 of another .* `pip uninstall nm"):
        _distribution.check_alone()


def test_in_folders_of_their_own(monkeypatch, tmp_path):
    monkeypatch.setattr(metadata, "distribution", lambda name: Other(tmp_path))
    _distribution.check_alone()


def test_alone():
    _distribution.check_alone()
