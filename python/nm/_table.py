"""Tables of text."""

from __future__ import annotations


def format_table(header: list[str], rows: list[list[str]]) -> str:
    """Columns as wide as they need to be."""
    # Names come from files; a terminal must not obey them.
    rows = [[cell if cell.isprintable() else ascii(cell)[1:-1] for cell in row]
            for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows])
              for i in range(len(header))]
    return "\n".join("  ".join(
        cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in [header, *rows])
