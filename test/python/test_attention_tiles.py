"""nm.attention that is cut to tiles by TilingInterface, as a compiler that embeds the dialect
cuts it, against float64 and against all of it: drawn sizes, tiles, orders of dimensions,
masks, lengths and element types. Drawn afresh; NM_TEST_SEED repeats a run."""

import re
import subprocess

import numpy as np
import pytest
from conftest import relative_error
from nm._library import folders
from test_attention import LIMITS, SEED, Case, check

NM_OPT = next((tool for folder in folders()
               if (tool := folder.parent / "bin" / "nm-opt").exists()), None)
WAYS = ("batches", "groups", "rows", "width", "for", "forall", "ragged", "even", "causal",
        "all rows", "mask", "no mask", "lengths", "no lengths", "unknown", "known")

SCRIPT = """
module attributes {{transform.with_named_sequence}} {{
{function}
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
    %op = transform.structured.match ops{{["nm.attention"]}} in %root
      : (!transform.any_op) -> !transform.any_op
    %tiled, %loops{count} = transform.structured.{tile} %op tile_sizes [{sizes}]
      : (!transform.any_op) -> ({types})
    transform.yield
  }}
}}
"""


class Tiles(Case):
    """A case, and the sizes of its tiles by loop."""

    def __init__(self, rng):
        super().__init__(rng, far=True)
        cut = [loop for loop in self.batches + self.groups + "me"
               if self.rng.random() < .7 and not (loop == "m" and self.causal)]
        cut = cut or ["e"]
        self.tiles = {loop: int(self.rng.integers(1, self.sizes[loop] + 1)) for loop in cut}
        # A loop of this many tiles is long enough.
        for loop in "me":
            if loop in cut:
                self.tiles[loop] = max(self.tiles[loop], self.sizes[loop] // 6)
        self.parallel = bool(self.rng.random() < .5)

    @classmethod
    def by(cls, way):
        """The first that is drawn which takes `way`, afresh at each call."""
        rng = np.random.default_rng([SEED, 700 + WAYS.index(way)])
        return next(case for case in (cls(rng) for _ in range(1000))
                    if way in case.ways())

    def ways(self):
        """Those of WAYS that the case takes."""
        ragged = any(self.sizes[loop] % size for loop, size in self.tiles.items())
        names = {"b": "batches", "h": "batches", "g": "groups", "m": "rows", "e": "width"}
        return {*(names[loop] for loop in self.tiles), "forall" if self.parallel else "for",
                "ragged" if ragged else "even", "causal" if self.causal else "all rows",
                "mask" if self.mask else "no mask",
                "lengths" if self.lengths else "no lengths",
                "unknown" if self.unknown else "known"}

    def tiled_text(self):
        domain = self.batches + self.groups + "mnde"
        parallel = self.parallel
        loops = 1 if parallel else len(self.tiles)
        script = SCRIPT.format(
            function=self.text(), tile="tile_using_forall" if parallel else "tile_using_for",
            count=f":{loops}" if loops > 1 else "",
            sizes=", ".join(str(self.tiles.get(loop, 0)) for loop in domain),
            types=", ".join(["!transform.any_op"] * (loops + 1)))
        done = subprocess.run([str(NM_OPT), "--transform-interpreter"], input=script,
                              capture_output=True, text=True)
        assert done.returncode == 0, f"NM_TEST_SEED={SEED}: {done.stderr}\n{script}"
        text = done.stdout
        assert text.count("scf.forall (") == (1 if parallel else 0)
        assert text.count("scf.for ") == (0 if parallel else loops)
        begin, end = text.index("func.func"), text.index("transform.named_sequence")
        maps = "".join(re.findall(r"^#.*\n", text, re.MULTILINE))
        return maps + text[begin:end]


@pytest.mark.skipif(NM_OPT is None, reason="this package has no nm-opt")
@pytest.mark.parametrize("way", WAYS)
def test_drawn_tiles(way):
    case = Tiles.by(way)
    print(case.ways(), case.sizes, case.tiles)
    tiled = case.tiled_text()
    case.text = lambda: tiled
    got = check(case, "cpu")
    whole = check(Tiles.by(way), "cpu")
    # Either is within the limit of what is exact.
    assert relative_error(got, np.asarray(whole, np.float64)) <= 2 * LIMITS[case.element]
