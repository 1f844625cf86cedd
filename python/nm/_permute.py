"""The order of inputs in which a pattern keeps the most of a weight."""

from __future__ import annotations

import numpy as np

from ._pattern import Pattern

# Swaps that are tried for a pair of windows in a round: all of them for M up to 8.
_SWAPS = 64
# Rounds without a better swap, after which the search ends.
_PATIENCE = 8


def find_permutation(energies: np.ndarray, pattern: Pattern, rounds: int,
                     generator: np.random.Generator) -> np.ndarray:
    """An order of the inputs for which the pattern keeps more of ``energies[n, k]``.

    Windows are paired at random, round after round, and in each pair the two units are
    swapped that let the pattern keep the most more, as the search of NVIDIA's ASP does
    (Pool and Yu, Channel Permutations for N:M Sparsity, NeurIPS 2021). Units of several
    rows of k stay together, and inputs behind the last whole window stay where they are.
    """
    bk, bn = pattern.block
    n, k = energies.shape
    windows = k // (pattern.m * bk)
    padded = np.pad(energies[:, :windows * pattern.m * bk], ((0, -n % bn), (0, 0)))
    units = padded.reshape(padded.shape[0] // bn, bn, windows * pattern.m, bk).sum((1, 3))
    order = np.arange(units.shape[1])
    idle = 0
    for _ in range(rounds if windows > 1 and pattern.n < pattern.m else 0):
        idle = 0 if _swap_once(units, order, pattern, generator) else idle + 1
        if idle == _PATIENCE:
            break
    inputs = (order[:, None] * bk + np.arange(bk)).reshape(-1)
    return np.concatenate([inputs, np.arange(len(inputs), k)])


def _kept(windows: np.ndarray, n: int) -> np.ndarray:
    """What each window ``[rows, pairs, M]`` keeps, summed over the rows."""
    return np.partition(windows, -n, axis=-1)[..., -n:].sum(axis=(0, -1))


def _swap_once(units: np.ndarray, order: np.ndarray, pattern: Pattern,
               generator: np.random.Generator) -> bool:
    """Swaps the best units of windows that are paired at random; whether any were."""
    m, n = pattern.m, pattern.n
    windows = generator.permutation(len(order) // m)
    pairs = windows[:len(windows) // 2 * 2].reshape(-1, 2)
    current = units[:, order].reshape(len(units), -1, m)
    first, second = current[:, pairs[:, 0]], current[:, pairs[:, 1]]
    before = _kept(first, n) + _kept(second, n)
    best = np.zeros(len(pairs))
    chosen = np.full((len(pairs), 2), -1)
    swaps = generator.permutation(m * m)[:_SWAPS]
    for i, j in zip(*np.unravel_index(swaps, (m, m))):
        a, b = first.copy(), second.copy()
        a[..., i], b[..., j] = second[..., j], first[..., i]
        gain = _kept(a, n) + _kept(b, n) - before
        # Rounding is no gain.
        better = gain > np.maximum(best, 1e-12 * before)
        best[better] = gain[better]
        chosen[better] = i, j
    found = np.flatnonzero(chosen[:, 0] >= 0)
    left = pairs[found, 0] * m + chosen[found, 0]
    right = pairs[found, 1] * m + chosen[found, 1]
    order[left], order[right] = order[right], order[left]
    return bool(len(found))
