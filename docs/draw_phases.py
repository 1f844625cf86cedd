#!/usr/bin/env python3
"""Draws the pipelines' phases, as nm-opt says they are, to docs/phases.svg.

usage: draw_phases.py NM_OPT [--check]

Each box is a pass of nm, or one of upstream that changes what the IR is made of.
With --check it writes nothing, and fails where the file is not what it would be.
"""

import re
import subprocess
import sys
from html import escape
from pathlib import Path

PICTURE = Path(__file__).resolve().parent / "phases.svg"
PIPELINES = {"cpu": "nm-to-cpu", "cuda": "nm-to-nvvm=chip=sm_90a",
             "sim": "nm-to-sim=chip=sm_90a"}
UPSTREAM = {"one-shot-bufferize", "gpu-kernel-outlining", "gpu-module-to-binary",
            "convert-gpu-to-nvvm", "gpu-to-llvm", "convert-func-to-llvm"}
# What the IR is made of behind a pass.
AFTER = {
    "nm-detect-weights": "linalg on tensors, with #nm.encoding",
    "convert-linalg-to-nm": "nm.spmm and nm.spmv",
    "nm-materialize-storage": "values and indices in place of encodings",
    "nm-fuse-epilogue": "products with epilogues",
    "nm-merge-products": "one product of those that share A",
    "nm-select-schedule": "a schedule on each product",
    "nm-select-gpu-schedule": "a schedule on each product",
    "nm-pack-weights": "weights in packed form",
    "nm-tile-to-blocks": "scf.forall over tasks",
    "nm-tile-to-gpu-blocks": "scf.forall over thread blocks",
    "one-shot-bufferize": "memrefs",
    "nm-stage-shared-memory": "nm.copy to workgroup memory",
    "nm-pipeline-copies": "copies ahead of their use, or roles",
    "convert-nm-to-vector": "vector ops",
    "convert-nm-to-loops": "loops",
    "convert-forall-to-threads": "calls of the runtime",
    "convert-nm-to-gpu": "gpu.launch, what one thread does",
    "gpu-kernel-outlining": "kernels",
    "convert-gpu-to-nvvm": "the nvvm dialect",
    "gpu-module-to-binary": "PTX and cubins",
    "convert-kernels-to-sim": "kernels as host code",
    "gpu-to-llvm": "the LLVM dialect",
    "convert-func-to-llvm": "the LLVM dialect",
}
# As wide as a page shows without making it smaller.
WIDTH, HEIGHT, GAP, COLUMN, MARGIN = 186, 24, 8, 420, 10


def own_passes():
    """The flags of nm's passes."""
    flags = set()
    root = PICTURE.parent.parent / "include" / "nm"
    for path in root.rglob("*.td"):
        flags |= set(re.findall(r"Pass<\s*\"([^\"]+)\"",
                                path.read_text(encoding="utf-8")))
    return flags


def passes_of(nm_opt, pipeline):
    """The passes of a pipeline, in order, those that are drawn alone."""
    dumped = subprocess.run([nm_opt, "-", "--" + pipeline,
                             "--dump-pass-pipeline"], input="module {}",
                            capture_output=True, text=True, check=True).stderr
    text = dumped[dumped.index("builtin.module("):]
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", "", text)
    drawn = own_passes() | UPSTREAM
    names = [n for n in re.findall(r"[\w.-]+", text) if n in drawn]
    return list(dict.fromkeys(names))


def split_prefix(*lists):
    """What all lists begin with, and the rest of each."""
    count = 0
    while (all(len(names) > count for names in lists)
           and len({names[count] for names in lists}) == 1):
        count += 1
    return lists[0][:count], [names[count:] for names in lists]


class Drawing:
    def __init__(self):
        self.parts = []
        self.height = 0

    def box(self, x, y, name):
        fill = "#eef2f7" if name in UPSTREAM else "#dceadf"
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" '
            f'fill="{fill}" stroke="#667"/>'
            f'<text x="{x + WIDTH / 2}" y="{y + 16}" text-anchor="middle">'
            f'{escape(name)}</text>')
        if name in AFTER:
            self.parts.append(f'<text x="{x + WIDTH + 8}" y="{y + 16}" '
                              f'fill="#555">{escape(AFTER[name])}</text>')

    def column(self, x, y, names):
        """A column of boxes; gives where the next one begins."""
        for name in names:
            self.box(x, y, name)
            y += HEIGHT + GAP
        self.height = max(self.height, y)
        return y

    def title(self, x, y, text):
        self.parts.append(f'<text x="{x}" y="{y + 16}" font-weight="bold">'
                          f'{escape(text)}</text>')
        return y + HEIGHT

    def svg(self, width):
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" '
                f'width="{width}" height="{self.height + MARGIN}" '
                f'viewBox="0 0 {width} {self.height + MARGIN}" '
                f'font-family="sans-serif" font-size="13">\n'
                f'<rect width="100%" height="100%" fill="white"/>\n'
                f'{body}\n</svg>\n')


def draw(phases):
    drawing = Drawing()
    shared, (cpu, cuda, sim) = split_prefix(*phases.values())
    y = drawing.title(MARGIN, MARGIN, "every target")
    split = drawing.column(MARGIN, y, shared) + GAP
    drawing.column(MARGIN, drawing.title(MARGIN, split, "cpu: nm-to-cpu"), cpu)
    kernels, (cuda, sim) = split_prefix(cuda, sim)
    x = MARGIN + COLUMN
    y = drawing.title(x, split, "cuda and sim")
    y = drawing.column(x, y, kernels) + GAP
    drawing.column(x, drawing.title(x, y, "cuda: nm-to-nvvm"), cuda)
    # Below the shorter list of the cpu.
    drawing.column(MARGIN, drawing.title(MARGIN, y, "sim: nm-to-sim, after cuda and sim"),
                   sim)
    return drawing.svg(MARGIN + 2 * COLUMN)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    phases = {target: passes_of(sys.argv[1], pipeline)
              for target, pipeline in PIPELINES.items()}
    unknown = set(AFTER) - {name for names in phases.values() for name in names}
    if unknown:
        sys.exit(f"expected passes of the pipelines, but got {sorted(unknown)}")
    picture = draw(phases)
    if sys.argv[2:] != ["--check"]:
        PICTURE.write_text(picture, encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != picture:
        sys.exit(f"docs/{PICTURE.name} is stale; update it by:\n"
                 "  docs/draw_phases.py build/bin/nm-opt")


if __name__ == "__main__":
    main()
