"""SparseGPT's pruning: weights that stay make up for those that go."""

from __future__ import annotations

import numpy as np

from ._errors import Error, ShapeError
from ._pattern import Pattern

# Of the mean of the Hessian's diagonal, added to it: as in SparseGPT.
_DAMPING = 0.01


def gram_of(x: np.ndarray) -> np.ndarray:
    """``XᵀX`` of inputs ``[rows, k]``, in float64."""
    x = x.astype(np.float64, copy=False)
    return x.T @ x


def prune_by_gram(w: np.ndarray, gram: np.ndarray, pattern: Pattern) -> np.ndarray:
    """The weights ``[n, k]`` pruned by SparseGPT's update (Frantar and Alistarh,
    SparseGPT: Massive Language Models Can Be Accurately Pruned in One-Shot, ICML 2023).

    Window after window along k, the units with the least ``w² / d²`` go, where d is the
    diagonal of the inverse Hessian's Cholesky factor; and each weight that goes changes
    those behind it so that the product's error on the inputs is the least.

    Args:
        w: float64 ``[n, k]``.
        gram: float64 ``[k, k]``, gram_of the inputs.

    Raises:
        ShapeError: `gram` does not fit `w`.
        Error: the inputs had numbers that are not finite.
    """
    n, k = w.shape
    if gram.shape[-1] != k:
        raise ShapeError(f"expected activations [..., {k}], but got shape "
                         f"[..., {gram.shape[-1]}]")
    factor = _inverse_factor(gram)
    left, window = w.copy(), pattern.m * pattern.block[0]
    for begin in range(0, k, window):
        end = min(begin + window, k)
        diagonal = np.diag(factor)[begin:end]
        kept = _choose(np.square(left[:, begin:end] / diagonal), pattern)
        errors = np.zeros((n, end - begin))
        for i in range(begin, end):
            gone = np.where(kept[:, i - begin], 0.0, left[:, i])
            errors[:, i - begin] = gone / factor[i, i]
            left[:, i] -= gone
            left[:, i + 1:end] -= np.outer(errors[:, i - begin], factor[i, i + 1:end])
        left[:, end:] -= errors @ factor[begin:end, end:]
    return left


def _inverse_factor(gram: np.ndarray) -> np.ndarray:
    """The upper triangle U with ``UᵀU`` the inverse of the damped Hessian ``XᵀX``."""
    hessian = gram.copy()
    if not np.isfinite(hessian).all():
        raise Error("expected finite activations for scores='sparsegpt', but some are "
                    "infinite or NaN")
    diagonal = np.einsum("ii->i", hessian)
    # Of an input that is always zero any weight will do.
    diagonal[diagonal == 0] = 1
    diagonal += _DAMPING * diagonal.mean()
    return np.linalg.cholesky(np.linalg.inv(hessian)).T


def _choose(scores: np.ndarray, pattern: Pattern) -> np.ndarray:
    """Which elements of a window ``[n, up to M·bk]`` stay: the N units of the largest sum
    of scores, of equal ones the lowest."""
    n, k = scores.shape
    bk, bn = pattern.block
    padded = np.pad(scores, ((0, -n % bn), (0, -k % bk)))
    units = padded.reshape(padded.shape[0] // bn, bn, -1, bk).sum((1, 3))
    order = np.argsort(-units, axis=-1, kind="stable")[:, :pattern.n]
    kept = np.zeros(units.shape, bool)
    np.put_along_axis(kept, order, True, axis=-1)
    return kept.repeat(bn, 0).repeat(bk, 1)[:n, :k]
