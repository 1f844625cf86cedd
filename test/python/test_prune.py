"""Pruning by magnitude, by scores and by masks, and formats in PyTorch's operators."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import nm
from nm import _prune


def groups(array, m):
    return array.reshape(array.shape[0], -1, m)


def test_wanda_by_its_definition(draw):
    weight, x = draw.array(24, 64), draw.array(100, 64) * np.tile([0.1, 1, 2, 4], 16)
    pruned, report = nm.prune(weight, "2:4", axis=1, activations=x, scores="wanda")
    scores = groups(np.abs(weight) * np.linalg.norm(x, axis=0), 4)
    order = np.argsort(-scores, axis=-1, kind="stable")[..., :2]
    expected = np.zeros_like(scores, bool)
    np.put_along_axis(expected, order, True, axis=-1)
    np.testing.assert_array_equal(pruned != 0, expected.reshape(weight.shape))
    by_magnitude = nm.prune(weight, "2:4", axis=1, activations=x)
    assert report.relative_error < 0.95 * by_magnitude.report.relative_error
    assert report.measured
    # Along the other axis the same.
    other = nm.prune(weight.T, "2:4", axis=0, activations=x, scores="wanda")
    np.testing.assert_array_equal(other.weight.T, pruned)


def test_wanda_of_blocks(draw):
    weight, x = draw.array(8, 64), draw.array(100, 64)
    pruned = nm.prune(weight, "1:4", block=(2, 4), axis=1, activations=x,
                      scores="wanda").weight
    scores = nm.wanda_scores(weight, np.linalg.norm(x, axis=0))
    units = np.square(scores).reshape(2, 4, 8, 4, 2).sum((1, 4))
    kept = (pruned != 0).reshape(2, 4, 8, 4, 2).any((1, 4))
    np.testing.assert_array_equal(kept.argmax(-1), units.argmax(-1))
    assert (kept.sum(-1) == 1).all()


@pytest.mark.parametrize("make", [
    lambda scores: scores, lambda scores: scores.astype(np.float16),
    lambda scores: np.asfortranarray(scores), lambda scores: scores[:, ::-1][:, ::-1]])
def test_scores_of_ones_own(draw, make):
    weight, scores = draw.array(16, 32), draw.array(16, 32)
    pruned, report = nm.prune(weight, "1:4", axis=1, scores=make(scores))
    kept = groups(np.abs(scores), 4).argmax(-1)
    np.testing.assert_array_equal(groups(pruned != 0, 4).argmax(-1), kept)
    assert report.dropped == 16 * 24
    energy = 1 - np.square(pruned).sum() / np.square(weight).sum()
    assert report.dropped_energy == pytest.approx(energy, rel=1e-5)


def test_masks_of_others(draw):
    weight = draw.array(16, 32)
    mask = np.zeros((16, 32), bool)
    mask[:, ::4] = True
    pruned, report = nm.prune(weight, "2:4", axis=1, mask=mask,
                              activations=draw.array(5, 32))
    np.testing.assert_array_equal(pruned, weight * mask)
    assert report.dropped == 16 * 24 and report.non_zeros == 16 * 32
    energy = np.square(weight[~mask]).sum() / np.square(weight).sum()
    assert report.dropped_energy == pytest.approx(energy, rel=1e-5)
    mask[3, 5:8] = True
    with pytest.raises(nm.PatternError, match="weight with the mask.*got 4 in column 3"):
        nm.prune(weight, "2:4", axis=1, mask=mask)


@pytest.mark.parametrize("options,error,text", [
    ({"scores": "taylor"}, nm.Error, "expected scores to be magnitude, wanda"),
    ({"scores": "wanda"}, nm.Error, "expected activations for scores='wanda'"),
    ({"scores": np.zeros((4, 4))}, nm.ShapeError, r"scores of shape \(8, 16\)"),
    ({"mask": np.zeros((4, 4))}, nm.ShapeError, r"mask of shape \(8, 16\)"),
    ({"activations": np.zeros((3, 8), np.float32)}, nm.ShapeError,
     r"activations \[..., 16\]"),
])
def test_what_is_refused(draw, options, error, text):
    with pytest.raises(error, match=text):
        nm.prune(draw.array(8, 16), "2:4", axis=1, **options)
    with pytest.raises(nm.ShapeError, match="norms of 16 inputs"):
        nm.wanda_scores(draw.array(8, 16), np.ones(8))


def test_error_is_that_of_the_product(draw):
    weight, x = draw.array(300, 64), draw.array(7, 3, 64)
    pruned, report = nm.prune(weight, "1:4", axis=1, activations=x)
    exact = x.astype(np.float64) @ weight.T
    got = np.linalg.norm(exact - x @ pruned.T.astype(np.float64))
    assert report.relative_error == pytest.approx(got / np.linalg.norm(exact), rel=1e-9)


@pytest.mark.parametrize("shape,pattern,block,axis", [
    ((700, 1300), "2:4", (1, 1), 1), ((1300, 700), "2:4", (1, 1), 0),
    ((130, 4000), "8:32", (1, 32), 1), ((700, 200), "5:96", (1, 1), 1)])
def test_all_threads_give_what_one_gives(draw, shape, pattern, block, axis):
    weight = draw.array(*shape)
    weight[3, 5:60] = 0
    threads = nm.get_num_threads()
    found = []
    try:
        for count in (1, 5):
            nm.set_num_threads(count)
            pruned, report = nm.prune(weight, pattern, block, axis)
            w = nm.compress(pruned, pattern, block, axis)
            bad = nm.check(weight, pattern, block, axis)
            assert w.decompress().tobytes() == pruned.tobytes()
            found.append((pruned.tobytes(), w.values.tobytes(), w.indices.tobytes(),
                          report.non_zeros, report.dropped, str(bad), bad.violations,
                          bad.first_violation))
            assert report.dropped_energy == pytest.approx(
                1 - np.square(pruned, dtype=float).sum()
                / np.square(weight, dtype=float).sum())
    finally:
        nm.set_num_threads(threads)
    assert found[0] == found[1]


PATTERNS = [("2:4", (1, 1), 48, 64), ("2:4", (1, 1), 5, 7), ("8:32", (1, 32), 40, 70),
            ("1:2", (4, 4), 10, 27), ("3:8", (1, 1), 3, 5), ("2:4", (1, 1), 4, 0),
            ("1:64", (1, 1), 9, 200)]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float8_e4m3fn",
                                   "float8_e5m2", "int8", "float64", "int32"])
@pytest.mark.parametrize("pattern,block,n,k", PATTERNS)
@pytest.mark.parametrize("axis", [0, 1])
def test_the_device_gives_what_the_host_gives(monkeypatch, pattern, block, n, k, axis,
                                              dtype):
    """The operators for CUDA tensors, which run on any device."""
    torch = pytest.importorskip("torch")
    from nm import _arrays, _on_device
    monkeypatch.setattr(_on_device, "_PART", 64)
    torch.manual_seed(0)
    # Few different values, so that there are ties; and both zeros.
    weight = torch.randint(-3, 4, (n, k) if axis else (k, n)).to(getattr(torch, dtype))
    if weight.dtype.is_floating_point and k:
        weight[0, 1] = -0.0
    found = nm.Pattern(*map(int, pattern.split(":")), block, axis)
    scores = torch.rand(weight.shape)
    calls = [lambda: nm.prune(weight, found), lambda: nm.check(weight, found),
             lambda: nm.prune(weight, found, scores=scores)]
    host = [call() for call in calls]
    with monkeypatch.context() as patch:
        patch.setattr(_arrays, "is_on_device", lambda array: True)
        device = [call() for call in calls]
    bits = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    for got, expected in zip(device[::2], host[::2]):
        assert torch.equal(*(each.weight.view(bits[each.weight.element_size()])
                             for each in (got, expected)))
        assert got.report.dropped == expected.report.dropped
        assert got.report.non_zeros == expected.report.non_zeros
        assert math.isclose(got.report.dropped_energy, expected.report.dropped_energy,
                            rel_tol=1e-9)
    assert device[1] == host[1]
    if dtype in ("float64", "int32"):
        return
    w = nm.compress(host[0].weight, found)
    with monkeypatch.context() as patch:
        patch.setattr(_arrays, "is_on_device", lambda array: True)
        on_device = nm.compress(host[0].weight, found)
        if not host[1].holds:
            with pytest.raises(nm.PatternError, match="expected 'fc' to have at most"):
                nm.compress(weight, found, name="fc")
    assert on_device.values.tobytes() == w.values.tobytes()
    assert on_device.indices.tobytes() == w.indices.tobytes()
    assert on_device._values.flags.writeable, "PyTorch warns of others"


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
@pytest.mark.parametrize("pattern,block,n,k", PATTERNS)
@pytest.mark.parametrize("axis", [0, 1])
def test_pruned_and_compressed_at_once(monkeypatch, rng, pattern, block, n, k, axis,
                                       dtype):
    from nm import _prune
    monkeypatch.setattr(_prune, "_PART", 256)
    weight = rng.integers(-3, 4, (n, k) if axis else (k, n)).astype(dtype)
    found = nm.Pattern(*map(int, pattern.split(":")), block, axis)
    scores = rng.random(weight.shape, dtype=np.float32)
    for w in (weight, np.asfortranarray(weight)):
        for by in (None, scores, scores.T.copy().T):
            got, dropped = _prune.prune_to_sparse(w, found, by)
            pruned, report = nm.prune(weight, found,
                                      scores="magnitude" if by is None else by)
            expected = nm.compress(pruned, found)
            assert got.values.tobytes() == expected.values.tobytes()
            assert got.indices.tobytes() == expected.indices.tobytes()
            assert dropped == report.dropped / max(report.non_zeros, 1)
    with pytest.raises(nm.ShapeError, match="expected scores of shape"):
        _prune.prune_to_sparse(weight, found, scores[None])


def test_a_nan_stays_on_the_device():
    torch = pytest.importorskip("torch")
    from nm import _on_device
    weight = torch.tensor([[1.0, torch.nan, 5.0, torch.inf]])
    pruned, (_, dropped, energy) = _on_device.prune(weight, nm.Pattern(2, 4, axis=1),
                                                    None)
    assert torch.isnan(pruned[0, 1]) and torch.isinf(pruned[0, 3])
    assert dropped == 2 and math.isnan(energy)


def test_errors_on_the_device():
    torch = pytest.importorskip("torch")
    from nm import _on_device
    torch.manual_seed(0)
    weight, x = torch.randn(16, 32), torch.randn(5, 32)
    pruned = nm.prune(weight, "2:4", axis=1).weight
    assert _on_device.product_error(weight, pruned, x, 1) == pytest.approx(
        _prune.product_error(weight, pruned, x, 1), rel=1e-5)


MEMORY = """
import resource
import numpy as np
import nm

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

weight = np.ones((2048, 8192), np.float32)
weight *= np.arange(1, 8193, dtype=np.float32)
nm.prune(weight[:8], "2:4", axis=1)
before = peak()
pruned = nm.prune(weight, "2:4", axis=1).weight
print((peak() - before) / weight.nbytes)
before = peak()
nm.check(pruned, "2:4", axis=1)
nm.compress(pruned, "2:4", axis=1)
print((peak() - before) / weight.nbytes)
"""


def test_memory_beside_the_weight():
    """A pruned weight takes as much again, a condensed one 9/16 of f32, and what is made
    on the way next to nothing."""
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True,
                          check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(
                              filter(None, [str(ROOT / "python"), *sys.path]))})
    pruning, compressing = map(float, done.stdout.split())
    assert pruning < 1.1 and compressing < 0.75


def sparsegpt_reference(weight, x, n, m):
    """SparseGPT's update of single weights as the paper states it: a weight that goes is
    made up for by all behind it, whose Hessian has lost the inputs before."""
    w, k = weight.astype(np.float64).copy(), weight.shape[1]
    hessian = x.T.astype(np.float64) @ x
    hessian += 0.01 * np.diag(hessian).mean() * np.eye(k)
    mask = np.ones(w.shape, bool)
    for i in range(k):
        # The d of a window's inputs, each of the Hessian of what is behind it.
        if i % m == 0:
            d = [np.linalg.inv(hessian[j:, j:])[0, 0] for j in range(i, min(i + m, k))]
            scores = np.square(w[:, i:i + m]) / d
            order = np.argsort(-scores, axis=1, kind="stable")[:, n:]
            np.put_along_axis(mask[:, i:i + m], order, False, axis=1)
        inverse = np.linalg.inv(hessian[i:, i:])
        gone = np.where(mask[:, i], 0, w[:, i])
        w[:, i:] -= np.outer(gone / inverse[0, 0], inverse[0])
        w[~mask[:, i], i] = 0
    return w


def correlated(draw, rows, k):
    """Inputs of which each is much like its neighbours."""
    return np.cumsum(draw.array(rows, k), axis=1).astype(np.float32)


@pytest.mark.parametrize("pattern, k", [("2:4", 32), ("1:4", 32), ("3:5", 33)])
def test_sparsegpt_by_its_definition(draw, pattern, k):
    weight, x = draw.array(12, k), correlated(draw, 200, k)
    n, m = map(int, pattern.split(":"))
    expected = sparsegpt_reference(weight, x, n, m)
    pruned, report = nm.prune(weight, pattern, axis=1, activations=x, scores="sparsegpt")
    np.testing.assert_array_equal(pruned != 0, expected != 0)
    np.testing.assert_allclose(pruned, expected, rtol=1e-3, atol=1e-4)
    assert nm.check(pruned, pattern, axis=1)
    # What stays has changed, so that the product is nearer than by any choice alone.
    for scores in ("magnitude", "wanda"):
        other = nm.prune(weight, pattern, axis=1, activations=x, scores=scores).report
        assert report.relative_error < 0.8 * other.relative_error
    exact = x.astype(np.float64) @ weight.T
    error = np.linalg.norm(x.astype(np.float64) @ pruned.T - exact)
    assert report.relative_error == pytest.approx(error / np.linalg.norm(exact), rel=1e-3)


@pytest.mark.parametrize("pattern, block", [
    ("2:4", (1, 1)), ("8:32", (1, 4)), ("1:2", (4, 4)), ("2:4", (3, 5))])
def test_sparsegpt_of_blocks_types_and_axes(draw, pattern, block):
    weight, x = draw.array(22, 70), correlated(draw, 150, 70)
    options = dict(block=block, scores="sparsegpt")
    pruned = nm.prune(weight, pattern, axis=1, activations=x, **options)
    assert nm.check(pruned.weight, pattern, block, axis=1)
    assert pruned.report.relative_error < nm.prune(
        weight, pattern, block, axis=1, activations=x).report.relative_error
    other = nm.prune(weight.T, pattern, axis=0, activations=x, **options)
    np.testing.assert_array_equal(other.weight.T, pruned.weight)
    half = nm.prune(weight.astype(np.float16), pattern, axis=1, activations=x, **options)
    assert half.weight.dtype == np.float16
    assert nm.check(half.weight, pattern, block, axis=1)


def test_sparsegpt_refuses_what_it_cannot_use(draw):
    weight = draw.array(4, 8)
    with pytest.raises(nm.Error, match="expected activations for scores='sparsegpt'"):
        nm.prune(weight, "2:4", axis=1, scores="sparsegpt")
    with pytest.raises(nm.Error, match=r"expected activations \[..., 8\]"):
        nm.prune(weight, "2:4", axis=1, activations=draw.array(9, 7), scores="sparsegpt")
    bad = draw.array(9, 8)
    bad[3, 2] = np.inf
    with pytest.raises(nm.Error, match="expected finite activations"):
        nm.prune(weight, "2:4", axis=1, activations=bad, scores="sparsegpt")
    with pytest.raises(nm.Error, match="expected weights of floats"):
        nm.prune(np.ones((4, 8), np.int8), "2:4", axis=1, activations=draw.array(9, 8),
                 scores="sparsegpt")
    # An input that is never there costs nothing.
    x = correlated(draw, 50, 8)
    x[:, 5] = 0
    assert np.isfinite(nm.prune(weight, "2:4", axis=1, activations=x,
                                scores="sparsegpt").weight).all()


@pytest.mark.parametrize("pattern, block", [
    ("2:4", (1, 1)), ("1:4", (1, 1)), ("4:16", (1, 4)), ("1:2", (2, 2)), ("3:5", (1, 1))])
def test_permutation_keeps_more(draw, pattern, block):
    # Columns of like sizes side by side are what a fixed order keeps least of.
    weight = draw.array(24, 67) * np.repeat([1.0, 4.0, 0.2], [20, 20, 27])
    weight = weight.astype(np.float32)
    plain = nm.prune(weight, pattern, block, axis=1)
    found = nm.prune(weight, pattern, block, axis=1, permute=True)
    order = found.permutation
    np.testing.assert_array_equal(np.sort(order), np.arange(67))
    # It is the pruned form of the weight in that order, and no other.
    np.testing.assert_array_equal(
        found.weight, nm.prune(weight[:, order], pattern, block, axis=1).weight)
    assert nm.check(found.weight, pattern, block, axis=1)
    assert found.report.dropped_energy < 0.95 * plain.report.dropped_energy
    again = nm.prune(weight, pattern, block, axis=1, permute=1)
    np.testing.assert_array_equal(again.permutation, order)
    other = nm.prune(weight.T.copy(), pattern, block, axis=0, permute=True)
    np.testing.assert_array_equal(other.permutation, order)
    np.testing.assert_array_equal(other.weight.T, found.weight)
    # Without `permute` there is none.
    assert plain.permutation is None


def test_permuted_layers_compute_the_same(draw):
    """Folded into the layer before: its outputs come in the order of the inputs."""
    first, second = draw.array(32, 16), draw.array(8, 32)
    x = draw.array(40, 16)
    hidden = np.maximum(x @ first.T, 0)
    found = nm.prune(second, "2:4", axis=1, activations=hidden, scores="wanda",
                     permute=True)
    folded = np.maximum(x @ first[found.permutation].T, 0)
    np.testing.assert_allclose(folded, hidden[:, found.permutation], atol=1e-5)
    error = (np.linalg.norm(folded @ found.weight.T - hidden @ second.T)
             / np.linalg.norm(hidden @ second.T))
    assert found.report.relative_error == pytest.approx(error, rel=1e-3)
    assert error < nm.prune(second, "2:4", axis=1, activations=hidden,
                            scores="wanda").report.relative_error


def test_permutations_go_with_scores_and_no_mask(draw):
    weight, x = draw.array(8, 64), correlated(draw, 90, 64)
    by = nm.prune(weight, "2:4", axis=1, scores=np.abs(weight), permute=True)
    np.testing.assert_array_equal(
        by.weight, nm.prune(weight, "2:4", axis=1, permute=True).weight)
    updated = nm.prune(weight, "2:4", axis=1, activations=x, scores="sparsegpt",
                       permute=True)
    assert nm.check(updated.weight, "2:4", axis=1)
    with pytest.raises(nm.Error, match="expected a mask or permute"):
        nm.prune(weight, "2:4", axis=1, mask=weight != 0, permute=True)


def test_sparsegpt_and_permutations_of_tensors(draw):
    torch = pytest.importorskip("torch")
    weight, x = torch.tensor(draw.array(16, 32)), torch.tensor(correlated(draw, 80, 32))
    for dtype in (torch.float32, torch.bfloat16):
        found = nm.prune(weight.to(dtype), "2:4", axis=1, activations=x,
                         scores="sparsegpt", permute=True)
        assert found.weight.dtype == dtype and found.weight.shape == (16, 32)
        assert nm.check(found.weight, "2:4", axis=1)
    # NumPy's are the same.
    same = nm.prune(weight.numpy(), "2:4", axis=1, activations=x.numpy(),
                    scores="sparsegpt")
    tensor = nm.prune(weight, "2:4", axis=1, activations=x, scores="sparsegpt")
    np.testing.assert_array_equal(tensor.weight.numpy(), same.weight)
