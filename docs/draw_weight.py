#!/usr/bin/env python3
"""Draws one weight on its way, to docs/weight.svg: dense, condensed, packed, and the
rows of A that a tile of it gathers.

usage: draw_weight.py [--check]

The weight is 8:32 with block 1x32: one window of 32 rows, and two block columns.
With --check it writes nothing, and fails where the file is not what it would be.
"""

import sys
from pathlib import Path

PICTURE = Path(__file__).resolve().parent / "weight.svg"
# The rows that each block column keeps of the window's 32.
KEPT = ([1, 4, 9, 12, 17, 22, 26, 31], [0, 3, 8, 12, 18, 21, 27, 30])
ROWS = 32
COLORS = ("#4c8c5c", "#4a76a8")
ROW, BLOCK, TALL = 9, 62, 18
TOP, WIDTH, HEIGHT = 70, 850, 400


class Drawing:
    def __init__(self):
        self.parts = []

    def rect(self, x, y, width, height, fill, stroke="#889"):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" '
                          f'fill="{fill}" stroke="{stroke}" stroke-width="0.6"/>')

    def text(self, x, y, text, size=13, anchor="start", fill="#222", bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}" '
                          f'text-anchor="{anchor}"{weight}>{text}</text>')

    def line(self, x1, y1, x2, y2, color):
        self.parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" '
                          f'stroke="{color}" stroke-width="0.8"/>')

    def title(self, x, number, title, *below):
        self.text(x, 20, f"{number}. {title}", bold=True)
        for i, line in enumerate(below):
            self.text(x, 36 + 14 * i, line, 11, fill="#555")

    def svg(self):
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
                f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
                f'font-family="sans-serif">\n'
                f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')


def draw_dense(drawing, x):
    drawing.title(x, 1, "dense, 8:32", "B [k x n]: each block of 32", "columns keeps 8 of 32 rows")
    for block, kept in enumerate(KEPT):
        for row in range(ROWS):
            drawing.rect(x + block * BLOCK, TOP + row * ROW, BLOCK, ROW,
                         COLORS[block] if row in kept else "#f4f4f4")
    drawing.text(x + BLOCK, TOP + ROWS * ROW + 18, "grey rows are zero", 11, "middle")


def draw_condensed(drawing, x):
    drawing.title(x, 2, "condensed", "values [8 x 64], and for", "each block 8 indices")
    for block, kept in enumerate(KEPT):
        for i, index in enumerate(kept):
            drawing.rect(x + block * BLOCK, TOP + i * TALL, BLOCK, TALL, COLORS[block])
            left = x + 2 * BLOCK + 10 + block * 24
            drawing.rect(left, TOP + i * TALL, 24, TALL, "white")
            drawing.text(left + 12, TOP + i * TALL + 13, index, 11, "middle", COLORS[block])
    drawing.text(x + BLOCK, TOP + 8 * TALL + 18, "values", 11, "middle")
    drawing.text(x + 2 * BLOCK + 34, TOP + 8 * TALL + 18, "indices", 11, "middle")


def draw_packed(drawing, x):
    drawing.title(x, 3, "packed", "panels of 32 columns, one", "after the other in memory")
    for block in range(len(KEPT)):
        top = TOP + block * (8 * TALL + 20)
        for i in range(8):
            drawing.rect(x, top + i * TALL, BLOCK, TALL, COLORS[block])
        drawing.text(x + BLOCK + 8, top + 4 * TALL, f"panel {block}", 11)
    drawing.text(x, TOP + 16 * TALL + 38, "indices of 5 bits beside", 11)


def draw_gather(drawing, x):
    drawing.title(x, 4, "what a tile of C gathers", "A [k x m], m-major: a block of threads copies just",
                  "the rows that its panel's indices name")
    a, tile = x, x + 175
    for row in range(ROWS):
        drawing.rect(a, TOP + row * ROW, 80, ROW,
                     COLORS[0] if row in KEPT[0] else "#f4f4f4")
    for i, row in enumerate(KEPT[0]):
        y = TOP + 4 * TALL + i * TALL
        drawing.line(a + 80, TOP + row * ROW + ROW / 2, tile, y + TALL / 2, COLORS[0])
        drawing.rect(tile, y, 80, TALL, COLORS[0])
        drawing.text(tile + 40, y + 13, f"row {row}", 11, "middle", "white")
    below = TOP + ROWS * ROW + 18
    drawing.text(a + 40, below, "32 rows of A", 11, "middle")
    drawing.text(tile + 30, below, "8 rows in shared memory", 11, "middle")
    drawing.text(tile + 30, below + 16, "x panel 0: a dense product", 11, "middle")


def draw():
    drawing = Drawing()
    draw_dense(drawing, 15)
    draw_condensed(drawing, 185)
    draw_packed(drawing, 395)
    draw_gather(drawing, 555)
    return drawing.svg()


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    if not sys.argv[1:]:
        PICTURE.write_text(draw(), encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != draw():
        sys.exit(f"docs/{PICTURE.name} is stale; update it by:\n  docs/draw_weight.py")


if __name__ == "__main__":
    main()
