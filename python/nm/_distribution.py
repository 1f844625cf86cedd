"""Whether this package has its folder for itself: PyPI has another project's nm."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

#: What this package is called where it is installed from.
NAME = "nm-sparse-compiler"


def check_alone() -> None:
    """Refuses to be imported from the folder where the other package is installed."""
    try:
        other = metadata.distribution("nm")
    except metadata.PackageNotFoundError:
        return
    if Path(str(other.locate_file("nm"))).resolve() != Path(__file__).resolve().parent:
        return
    raise ImportError(
        f"expected {NAME} alone in {Path(__file__).parent}, but the package nm "
        f"{other.version} of another project is installed there too, with modules of the "
        f"same name; run `pip uninstall nm {NAME}` and `pip install {NAME}`, or keep "
        "them in two environments")
