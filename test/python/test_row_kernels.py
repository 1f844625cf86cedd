"""Kernels of row-wise ops on a GPU, in the simulator: drawn programs against float64,
norms and softmax of odd rows, and numbers that are not finite."""

import os
import random
import re

import nm
import numpy as np
import pytest
from conftest import relative_error
from row_programs import RowProgram

SEED = int(os.environ.get("NM_TEST_SEED", random.SystemRandom().randrange(2 ** 31)))
LIMITS = {"f32": 1e-5, "f16": 2e-3, "bf16": 1e-2}


def dtype_of(element):
    if element != "bf16":
        return np.dtype({"f32": np.float32, "f16": np.float16}[element])
    return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)


@pytest.mark.parametrize("element", list(LIMITS))
@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80"])
def test_drawn_programs(target, element):
    for i in range(25):
        rng = random.Random(f"{target} {element} {SEED} {i}")
        program = RowProgram(rng, element, dtype_of(element)).make(rng.randint(1, 8))
        arguments = program.arguments(np.random.default_rng(rng.randrange(2 ** 31)))
        place = f"NM_TEST_SEED={SEED}, draw {i}:\n{program.text()}"
        try:
            module = nm.compile(program.text(), target=target)
            results = module(*arguments.values())
        except nm.Error as error:
            raise AssertionError(place) from error
        results = results if isinstance(results, tuple) else (results,)
        for result, exact, (*_, kind) in zip(results, program.expected(arguments),
                                             program.results):
            error = relative_error(np.asarray(result, np.float64), exact)
            assert error < LIMITS[kind if kind == "f32" else element], place
