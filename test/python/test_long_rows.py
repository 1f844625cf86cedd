"""Rows that clusters share, which stay for all rows and copy each one ahead, in the
simulator: drawn programs against float64."""

import os
import random

import nm
import numpy as np
import pytest
from row_programs import RowProgram
from test_row_kernels import (LIMITS, SOFTMAX, check_quantized_norm, dtype_of, error_of,
                              nudged, softmax)

SEED = int(os.environ.get("NM_TEST_SEED", random.SystemRandom().randrange(2 ** 31)))
#: More than four blocks of a cluster have, and what no number of accesses fills.
LENGTHS = (81928, 82944)
ROWS = ([123], [2, 61], [120])
DRAWS = 12


def draw(element, number):
    rng = random.Random(f"{element} {SEED} {number}")
    program = RowProgram(rng, element, dtype_of(element), LENGTHS)
    program.rows = rng.choice(ROWS)
    program.shape = [*program.rows, program.length]
    program.dynamic = [False] * len(program.shape)
    program.start = [rng.choice((0, 8)) for _ in program.shape]
    program.make(rng.randint(2, 4), isNorm=True)
    return program, program.arguments(np.random.default_rng(rng.randrange(2 ** 31)))


def check(program, arguments, results, place):
    results = results if isinstance(results, tuple) else (results,)
    others = [program.expected(each) for each in nudged(arguments)]
    for result, exact, *moved, (*_, kind) in zip(
            results, program.expected(arguments), *others, program.results):
        limit = LIMITS[kind if kind == "f32" else program.element]
        error = error_of(np.asarray(result, np.float64), exact)
        change = max(error_of(each, exact) for each in moved)
        assert error < limit + min(10 * change, 99 * limit), place


def diagnostics_of(module):
    return " ".join(str(line) for line in module.diagnostics)


@pytest.mark.parametrize("element", list(LIMITS))
def test_drawn_programs(element):
    """Draws until clusters have stayed."""
    for number in range(DRAWS):
        program, arguments = draw(element, number)
        place = f"NM_TEST_SEED={SEED}, draw {number}:\n{program.text()}"
        try:
            module = nm.compile(program.text(), target="sim:sm_90a", cache=False)
            results = module(*arguments.values())
        except nm.Error as error:
            raise AssertionError(place) from error
        check(program, arguments, results, place)
        if "copied ahead by" in diagnostics_of(module):
            return
    raise AssertionError(f"NM_TEST_SEED={SEED}: clusters stayed in none of {DRAWS} draws")


@pytest.mark.parametrize("rows, length", [(121, 139264), (125, 82944)])
def test_norm_keeps_weights(rng, rows, length):
    """Each block copies the weights once. The last turn has fewer rows than clusters."""
    lines = check_quantized_norm(rng, rows, length, "sim:sm_90a")
    assert any("clusters, which keep 1 operands" in line for line in lines), lines


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("length", [81928, 139264])
def test_softmax(rng, length):
    """Rows that are reduced twice, some of them without a finite result, by 512 threads
    of a block and by 256."""
    x = rng.standard_normal((122, length)).astype(np.float32)
    x[1, 77], x[2, 5], x[121, length - 1] = np.nan, np.inf, -np.inf
    text = SOFTMAX.replace("R", "122").replace("L", str(length)).replace("T", "f32")
    module = nm.compile(text, target="sim:sm_90a", cache=False)
    assert "copied ahead by" in diagnostics_of(module)
    result, exact = np.asarray(module(x)), softmax(x.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(result), np.isnan(exact))
    np.testing.assert_allclose(result, exact, rtol=1e-5, atol=1e-30)
