"""The time of each step of a call."""

import nm
import numpy as np
import pytest
from conftest import reference, relative_error

TEXT = """
func.func @block(%x: tensor<?x64xf32>, %w: tensor<64x48xf32, #nm.encoding<2:4>>,
                 %cache: memref<48xf32>) -> tensor<?x48xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x48xf32>) -> tensor<?x48xf32>
  %p = linalg.matmul
    ins(%x, %w : tensor<?x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
    outs(%z : tensor<?x48xf32>) -> tensor<?x48xf32>
  %before = bufferization.to_tensor %cache restrict writable : memref<48xf32> to tensor<48xf32>
  %sums = linalg.reduce ins(%p : tensor<?x48xf32>) outs(%before : tensor<48xf32>)
    dimensions = [0] (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  bufferization.materialize_in_destination %sums in restrict writable %cache
    : (tensor<48xf32>, memref<48xf32>) -> ()
  return %p : tensor<?x48xf32>
}
"""


@pytest.fixture(scope="module")
def module():
    return nm.compile(TEXT, profile=True)


@pytest.fixture
def weight(draw):
    return draw.weight((64, 48), "2:4")


def test_steps_have_times_and_places(module, weight, rng):
    rows = int(rng.integers(1, 70))
    x = rng.standard_normal((rows, 64), dtype=np.float32)
    profile = module.profile(x, weight, np.zeros(48, np.float32), runs=3)
    assert profile.function == "block" and profile.runs == 3
    assert len(profile.steps) >= 2 and all(step.us >= 0 for step in profile)
    assert profile.us == pytest.approx(sum(step.us for step in profile))
    product = next(step for step in profile if "nm.spmm <2:4>" in step.name)
    # Sizes of x are dynamic.
    assert product.loc and product.bytes is None
    assert product.floor_us is None and product.roofline is None
    assert any("addf" in step.name or "reduce" in step.name for step in profile)
    text = str(profile)
    assert "medians of 3 runs" in text and product.loc in text


def test_steps_of_known_sizes_have_a_share_of_the_roofline(weight, rng):
    """The least time of a CPU's step is that of its bytes, at a rate for all steps."""
    rows = int(rng.integers(1, 70))
    module = nm.compile(TEXT.replace("tensor<?x", f"tensor<{rows}x")
                        .replace("tensor.empty(%m)", "tensor.empty()"), profile=True)
    x = rng.standard_normal((rows, 64), dtype=np.float32)
    profile = module.profile(x, weight, np.zeros(48, np.float32), runs=3)
    known = [step for step in profile if step.bytes]
    product = next(step for step in known if "nm.spmm <2:4>" in step.name)
    # Rows of A and C, values, and two bits of an index for each.
    assert product.bytes >= 4 * rows * (64 + 48) + 32 * 48 * 4.25
    rates = [step.bytes / step.floor_us * 1e6 for step in known]
    assert rates == pytest.approx([rates[0]] * len(rates)) and 5e8 < rates[0] < 3e12
    for step in known:
        assert step.roofline == step.floor_us / step.us > 0
    header, row = (next(line for line in str(profile).splitlines() if text in line)
                   for text in ("roofline", product.loc))
    begin = header.index("roofline")
    assert row[begin:begin + len("roofline")].strip() == f"{100 * product.roofline:.0f} %"


def test_each_run_updates(module, weight, rng):
    x = rng.standard_normal((5, 64), dtype=np.float32)
    cache = np.zeros(48, np.float32)
    module.profile(x, weight, cache, runs=2)
    once = reference(x, weight, 0).sum(0)
    assert relative_error(cache, 3 * once) < 1e-5


def test_a_profiled_module_computes_the_same(module, weight, rng):
    x = rng.standard_normal((9, 64), dtype=np.float32)
    y = module(x, weight, np.zeros(48, np.float32))
    assert relative_error(y, reference(x, weight, 0)) < 1e-5


def test_a_module_without_times_is_refused(weight):
    plain = nm.compile(TEXT)
    with pytest.raises(nm.Error, match="expected a module compiled with profile=True"):
        plain.profile(np.zeros((2, 64), np.float32), weight, np.zeros(48, np.float32))


def test_runs_are_counted(module, weight):
    with pytest.raises(nm.Error, match="expected 1 run or more, but got 0"):
        module.profile(np.zeros((2, 64), np.float32), weight, np.zeros(48, np.float32),
                       runs=0)
