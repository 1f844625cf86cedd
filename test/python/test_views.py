"""Products whose A and C are views of larger tensors, on every target: what is selected
compiles, and is what float64 makes of it. Drawn afresh; NM_TEST_SEED repeats a run, and
NM_TEST_VIEWS is how many times as many are drawn."""

import collections
import os

import nm
import numpy as np
import pytest

pytest.importorskip("ml_dtypes")
from view_cases import FORMS_OF_C, STEPS, draw_case  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
TIMES = int(os.environ.get("NM_TEST_VIEWS", "1"))
#: Elements, kinds of patterns, and a schedule where one is given.
HOPPER = [("f32", "elements", None), ("f16", "vectors", "wgmma"),
          ("bf16", "elements", "wgmma_sp"), ("i8", "blocks", "wgmma"),
          ("f32", "vectors", "simt"), ("f16", "vectors", "mma_sync"),
          ("f8E4M3FN", "row-major vectors", "wgmma_select"), ("bf16", "blocks", None),
          ("i8", "elements", "wgmma_sp"), ("f8E5M2", "blocks", "wgmma"),
          ("f16", "elements", "mma_sp"), ("f32", "vectors", "wgmma"),
          ("f8E4M3FN", "elements", "wgmma_sp")]
AMPERE = [("f32", "vectors", "simt"), ("f16", "vectors", "mma_sync"),
          ("bf16", "elements", "mma_sp"), ("i8", "elements", "mma_sp"),
          ("f32", "blocks", None), ("f16", "elements", None), ("bf16", "vectors", None),
          ("i8", "blocks", None), ("f8E5M2", "vectors", None)]
ALL = [(element, kind, None) for element in ("f16", "f32", "i8", "bf16", "f8E4M3FN")
       for kind in ("elements", "vectors", "blocks")]
CPU = [way for way in ALL if not way[0].startswith("f8")]
STRATEGIES = {"cpu": {"vector"}, "sim:sm_80": {"simt", "mma_sync", "mma_sp", "gemv"},
              "sim:sm_90a": {"wgmma", "wgmma_sp", "wgmma_select", "simt", "mma_sync",
                             "mma_sp", "gemv"}}


def draw(target, turn, way, computes):
    """The case of that turn; its seed does not depend on what was drawn before."""
    element, kind, _ = way
    place = sum(map(ord, target))
    rng = np.random.default_rng([SEED, place, turn])
    steps = list(STEPS)
    return draw_case("f", element, kind, rng, steps[turn % len(steps)],
                     FORMS_OF_C[turn // 3 % len(FORMS_OF_C)], computes)


def compiled(case, target, schedule):
    """With the schedule, unless selection says that the product has none; whether."""
    if schedule is not None:
        try:
            return nm.compile(case.text, target=target, schedule=schedule,
                              cache=False), True
        except nm.CompileError as error:
            if "pass 'nm-select-gpu-schedule' failed" not in str(error):
                raise
    return nm.compile(case.text, target=target, cache=False), False


def check(target, turn, way, taken):
    case = draw(target, turn, way, computes=True)
    module, is_given = compiled(case, target, way[2])
    error = case.error_of(module["f"](*case.arguments))
    strategies = [op.strategy for op in module["f"].ops]
    assert error <= case.limit, f"an error of {error:.3g} by {strategies}"
    taken.update(case.ways)
    taken.update(f"strategy {strategy}" for strategy in strategies)
    if way[2] and not is_given:
        taken[f"{way[2]} refused"] += 1


def run_turns(target, ways, count, run):
    """Runs each turn, and says of all that fail which they are."""
    failures = []
    for turn in range(count * TIMES):
        way = ways[turn % len(ways)]
        try:
            run(turn, way)
        except (nm.Error, AssertionError) as error:
            failures.append(f"turn {turn}, {way}: {type(error).__name__}: {error}")
    assert not failures, f"{target}, NM_TEST_SEED={SEED}:\n" + "\n".join(failures)


@pytest.mark.parametrize("target,ways,count", [
    ("cpu", CPU, 24), ("sim:sm_80", AMPERE, 27), ("sim:sm_90a", HOPPER, 52)],
    ids=["cpu", "sm_80", "sm_90a"])
def test_drawn(target, ways, count):
    taken = collections.Counter()
    run_turns(target, ways, count, lambda turn, way: check(target, turn, way, taken))
    print(*(f"{count:5} {way}" for way, count in sorted(taken.items())), sep="\n")
    expected = {f"A by {step}" for step in STEPS}
    expected |= {f"C: {form}" for form in FORMS_OF_C}
    expected |= {f"strategy {name}" for name in STRATEGIES[target]}
    expected |= {"column-major A", "column-major C", "unknown rows", "batches"}
    missing = sorted(expected - set(taken))
    assert not missing, f"no case of {target} took {missing}, NM_TEST_SEED={SEED}"


@pytest.mark.parametrize("target", ["cuda:sm_80", "cuda:sm_89", "cuda:sm_90a",
                                    "cuda:sm_120"])
def test_of_the_sizes_of_models(target):
    """Which are compiled alone."""
    count = 16 if target == "cuda:sm_90a" else 6

    def run(turn, way):
        case = draw(target, turn, way, computes=False)
        nm.compile(case.text, target=target, cache=False)

    run_turns(target, ALL, count, run)
