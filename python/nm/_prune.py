"""Pruning weights to a pattern: by magnitude, by scores, or by a mask."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from . import _arrays
from . import _library as lib
from ._errors import Error, PatternError, ShapeError
from ._formats import check, compress
from ._pattern import (Block, Pattern, along_other_axis, announce_axis,
                       announces_axis, check_fits, keep_share, leaves_axis_open,
                       parse_pattern)
from ._runtime import get_num_threads
from ._sparse import SparseTensor, check_weight_type, weight_view

#: What prunes by a score of each weight alone.
SCORES = ("magnitude", "wanda")
#: What changes the weights that stay, too.
SPARSEGPT = "sparsegpt"
# Rounds of the search for an order of inputs, each of seconds for a large layer.
_ROUNDS = 60
# Columns whose products are compared together, in float64.
_COLUMNS = 256
# Elements that a thread prunes and compresses while they are in its cache: the fewer,
# the more often all wait for each other.
_PART = 1 << 18


@dataclass(frozen=True)
class PruneReport:
    """What nm.prune dropped.

    Attributes:
        pattern, shape: of the weight.
        non_zeros: elements that were not zero before.
        dropped: how many of them are zero now.
        dropped_energy: dropped squares over all squares, 0 to 1.
        relative_error: that of the product, ‖X·W - X·W'‖ / ‖X·W‖ in the
            Frobenius norm: measured on the activations that were given, else
            expected for activations without correlation, √dropped_energy.
        measured: whether activations were given.
    """

    pattern: Pattern
    shape: tuple[int, ...]
    non_zeros: int
    dropped: int
    dropped_energy: float
    relative_error: float
    measured: bool

    def __str__(self) -> str:
        how = "on the activations given" if self.measured else "expected"
        return (f"pruned to {self.pattern.describe()}: {self.dropped} of "
                f"{self.non_zeros} non-zeros dropped, "
                f"{100 * self.dropped_energy:.4g} % of their energy; relative "
                f"error of the product {self.relative_error:.3g} ({how})")

    def to_dict(self) -> dict:
        """The report in JSON's types."""
        fields = asdict(self)
        fields["pattern"] = str(self.pattern)
        return fields


@dataclass(frozen=True)
class Pruned:
    """A pruned weight, of the kind that came in, and what it cost. Unpacks as
    ``weight, report = nm.prune(...)``, and is indexed as that pair is. With `permute`
    it has the order of its inputs, too."""

    weight: Any
    report: PruneReport
    # Of `permute`, the order of inputs: NumPy's integers, ``[k]``.
    permutation: Any = None

    def __iter__(self):
        return iter((self.weight, self.report))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index):
        return (self.weight, self.report)[index]


def prune(w: Any, pattern: str | Pattern, block: Block = None,
          axis: int | None = None, activations: Any = None, *,
          scores: Any = "magnitude", mask: Any = None,
          permute: bool | int = False, sparsity: float | None = None) -> Pruned:
    """Prunes a dense weight: of every window N units stay, and the others are zero.
    Of pattern ``"unstructured"`` those stay that matter most in the whole weight.

    Args:
        w, pattern, block, axis: as in nm.check.
        activations: ``[..., k]`` inputs of the product, on which its error is
            then measured.
        scores: which units stay: ``"magnitude"``, those of largest L2 norm;
            ``"wanda"``, of largest norm of ``|W| * norm(x)``, where norm(x) is that of
            each input over `activations` (Sun et al., A Simple and Effective Pruning
            Approach for Large Language Models, ICLR 2024); ``"sparsegpt"``, those
            that cost the product on `activations` the least, where the others are
            changed to make up for it (Frantar and Alistarh, SparseGPT, ICML 2023); or
            an array of `w`'s shape, of which the norm in a unit counts.
        mask: booleans of `w`'s shape from elsewhere, True for what stays, in place of
            scores. Nothing else is dropped.
        permute: also looks for an order of the inputs in which the pattern keeps more
            of the scores' squares; a number is the seed of the search. The weight that
            comes back has its inputs in that order, ``result.permutation``: multiply
            ``x[..., permutation]`` by it, or give the layer before its outputs in that
            order, and the product is the same.
        sparsity: of ``"unstructured"``, the share of the weights that is pruned, from 0
            to below 1; ``"unstructured, kept = 100"`` says how many stay.

    Returns:
        ``(weight, report)``: a new weight of the kind and on the device of `w`,
        and what was dropped.

    Raises:
        PatternError: `pattern` is none, a block of it is larger than `w`, or `mask`
            breaks it.
        ShapeError, DTypeError: `w` is no such matrix, or another array does not fit it.
        Error: `scores` is no name and no array, or Wanda's or SparseGPT's lack
            activations; or there are a mask and `permute`.
    """
    found = parse_pattern(pattern, block, axis)
    check_fits(found, _shape_of(w))
    found = keep_share(found, _shape_of(w), sparsity)
    if found.is_unstructured and (permute is not False or (
            isinstance(scores, str) and scores == SPARSEGPT)):
        raise PatternError("expected an N:M pattern with permute, or with "
                           f"scores='sparsegpt', but got {found}")
    if permute is not False:
        return _prune_permuted(w, found, activations, scores, mask, int(permute))
    if mask is None and isinstance(scores, str) and scores == SPARSEGPT:
        if activations is None:
            raise Error("expected activations for scores='sparsegpt', which makes up "
                        "for what is dropped on them")
        from ._sparsegpt import gram_of
        result = _prune_by_gram(w, gram_of(_float64(_rows(_on_host(activations)))), found)
        counts = _count_dropped(*(_on_host(each) for each in (w, result)))
    elif mask is not None:
        result = _apply_mask(w, mask, found)
        counts = _count_dropped(w, result)
    else:
        numbers = _score_array(w, scores, activations, found.axis)
        if _arrays.is_on_device(w) and found.is_unstructured:
            host, counts = prune_on_host(
                _on_host(w), found, None if numbers is None else _on_host(numbers))
            result = host.to(w.device)
        elif _arrays.is_on_device(w):
            from . import _on_device
            result, counts = _on_device.prune(w, found, numbers)
        else:
            result, counts = prune_on_host(w, found, numbers)
            if leaves_axis_open(pattern, axis) and announces_axis() and (
                    _other_axis_differs(w, found, numbers, result)):
                announce_axis(f"the weight {_shape_of(w)}")
    non_zeros, dropped, energy = counts
    error = math.sqrt(energy) if energy >= 0 else math.nan
    if activations is not None:
        error = product_error(w, result, activations, found.axis)
    return Pruned(result, PruneReport(found, tuple(result.shape), non_zeros, dropped,
                                      energy, error, activations is not None))


def _on_host(w: Any) -> Any:
    return w.detach().cpu() if _arrays.is_on_device(w) else w


def _dense(w: Any, axis: int) -> np.ndarray:
    """A float64 copy ``[n, k]`` on the host."""
    dense = _float64(typed(weight_view(_on_host(w))[0]))
    return dense if axis == 1 else dense.T


def prune_with_gram(w: Any, gram: np.ndarray, pattern: Pattern) -> Pruned:
    """As scores="sparsegpt" prunes, of inputs whose gram_of is `gram`."""
    return with_report(w, _prune_by_gram(w, gram, pattern), pattern)


def with_report(w: Any, result: Any, pattern: Pattern) -> Pruned:
    """A pruned weight with what it cost, where no activations are known."""
    non_zeros, dropped, energy = _count_dropped(*(_on_host(each) for each in (w, result)))
    error = math.sqrt(energy) if energy >= 0 else math.nan
    return Pruned(result, PruneReport(pattern, tuple(result.shape), non_zeros, dropped,
                                      energy, error, False))


def _prune_by_gram(w: Any, gram: np.ndarray, pattern: Pattern) -> Any:
    from ._sparsegpt import prune_by_gram
    host = _on_host(w)
    view, kind = weight_view(host)
    like = typed(view)
    if not np.issubdtype(like.dtype, np.floating) and view.dtype not in (
            "bf16", "f8E4M3FN", "f8E5M2"):
        raise Error("expected weights of floats for scores='sparsegpt', which changes "
                    f"them, but got {view.dtype}")
    pruned = prune_by_gram(_dense(w, pattern.axis), gram, pattern)
    rounded = (pruned if pattern.axis == 1 else pruned.T).astype(like.dtype, order="C")
    raw = rounded.view(_arrays.as_numpy(view).dtype)
    return kind.from_host(raw, w, view.dtype)


def _prune_permuted(w: Any, pattern: Pattern, activations: Any, scores: Any, mask: Any,
                    seed: int) -> Pruned:
    from ._permute import find_permutation
    if mask is not None:
        raise Error("expected a mask or permute, but got both: a mask is of one order")
    # SparseGPT's scores change as it goes: its order is Wanda's.
    by = "wanda" if isinstance(scores, str) and scores == SPARSEGPT else scores
    numbers = _score_array(w, by, activations, pattern.axis)
    energies = np.square(_dense(w if numbers is None else numbers, pattern.axis))
    order = find_permutation(energies, pattern, _ROUNDS, np.random.default_rng(seed))
    permuted = _take(w, order, pattern.axis)
    inputs = None if activations is None else _take(activations, order, -1)
    if not isinstance(scores, str):
        scores = _take(scores, order, pattern.axis)
    found = prune(permuted, pattern, activations=inputs, scores=scores)
    return Pruned(found.weight, found.report, order)


def _take(array: Any, order: np.ndarray, axis: int) -> Any:
    """The array with what is along `axis` in another order, on its device."""
    if _arrays.kind_of(array).name == "torch":
        import torch
        return array.detach().index_select(
            axis % array.dim(), torch.as_tensor(order, device=array.device))
    return array.take(order, axis)


def _score_array(w: Any, scores: Any, activations: Any, axis: int) -> Any:
    """The scores as an array of the shape of `w`, None for magnitudes."""
    if not isinstance(scores, str):
        if tuple(scores.shape) != _shape_of(w):
            raise ShapeError(f"expected scores of shape {_shape_of(w)}, as the weight "
                             f"is, but got {tuple(scores.shape)}")
        return scores
    if scores not in SCORES:
        raise Error(f"expected scores to be {', '.join((*SCORES, SPARSEGPT))} or an array of them, "
                    f"but got '{scores}'")
    if scores == "magnitude":
        return None
    if activations is None:
        raise Error("expected activations for scores='wanda', which are those of the "
                    "weights times the norms of their inputs")
    return wanda_scores(w, input_norms(activations), axis)


def input_norms(x: Any) -> np.ndarray:
    """The L2 norm of each input over the rows of activations ``[..., k]``."""
    rows = _rows(x)
    total = np.zeros(rows.shape[-1])
    for begin in range(0, len(rows), 1024):
        total += np.square(_float64(rows[begin:begin + 1024])).sum(0)
    return np.sqrt(total)


def wanda_scores(w: Any, norms: Any, axis: int = 1) -> Any:
    """The scores ``|W| * norm`` of weights whose inputs have these norms.

    Args:
        w: a weight, as in nm.check.
        norms: ``[k]``.
        axis: where k is in `w`.

    Returns:
        f32 scores of the shape of `w`, and where `w` is.

    Raises:
        ShapeError: there are other than k norms.
    """
    k = _shape_of(w)[axis]
    if tuple(norms.shape) != (k,):
        raise ShapeError(f"expected norms of {k} inputs, as the weight "
                         f"{_shape_of(w)} has, but got shape {tuple(norms.shape)}")
    if _arrays.kind_of(w).name == "torch":
        import torch
        factors = torch.as_tensor(norms, dtype=torch.float32, device=w.device)
        return w.detach().float().abs() * (factors if axis == 1 else factors[:, None])
    values = np.abs(typed(weight_view(w)[0]).astype(np.float32))
    factors = np.asarray(norms, np.float32)
    return np.multiply(values, factors if axis == 1 else factors[:, None], out=values)


def prune_on_host(w: Any, pattern: Pattern, scores: Any
                   ) -> tuple[Any, tuple[int, int, float]]:
    """A pruned copy; and its non-zeros before, how many were dropped, and their share
    of the squares."""
    view, kind = weight_view(w)
    tensor, keep = None, None
    if scores is not None:
        keep = np.asarray(_as_float(scores, np.float32), order="K")
        tensor = _arrays.NumpyKind().view(keep).tensor()
    pruned, report = _arrays.raw_empty(view.shape, view.dtype), lib.NmPruneReport()
    lib.check(lib.runtime.nmPrune(
        view.tensor(), tensor, pattern._native(),
        _arrays.raw_tensor(pruned, view.dtype), report))
    return (kind.from_host(pruned, w, view.dtype),
            (report.nonZeros, report.dropped, report.droppedEnergy))


def prune_to_sparse(w: Any, pattern: Pattern, scores: Any = None
                    ) -> tuple[SparseTensor, float]:
    """What nm.prune and then nm.compress give for a weight on the host, some windows
    at a time, so that there is never a dense pruned one; and the share of its
    non-zeros that were dropped."""
    view, _ = weight_view(w)
    check_weight_type(view.dtype)
    check_fits(pattern, view.shape)
    dense, element, native = _arrays.as_numpy(view), view.dtype, pattern._native()
    by = (None if scores is None else
          _as_float(_score_array(w, scores, None, pattern.axis), np.float32))
    k, n = pattern.sizes(view.shape)
    if pattern.is_unstructured:
        pruned, counts = prune_on_host(w, pattern, scores)
        return (compress(pruned, pattern),
                counts[1] / counts[0] if counts[0] else 0.0)
    values_shape, indices_shape = pattern.condensed_shapes(k, n)
    values = _arrays.raw_empty(values_shape, element)
    indices = np.empty(indices_shape, np.uint8)
    window, non_zeros, dropped = pattern.m * pattern.block[0], 0, 0
    windows = max(get_num_threads() * _PART // max(n * window, 1), 1)
    # One piece of memory for all parts: its pages come from the system once.
    memory = _arrays.raw_empty((min(windows * window, k) * n,), element)
    for first in range(0, -(-k // window), windows):
        part = slice(first * window, (first + windows) * window)
        at = (slice(None), part) if pattern.axis else part
        units = slice(first * pattern.n, (first + windows) * pattern.n)
        rows = slice(units.start * pattern.block[0], units.stop * pattern.block[0])
        pruned = memory[:dense[at].size].reshape(dense[at].shape)
        report, whole = lib.NmPruneReport(), _arrays.raw_tensor(pruned, element)
        lib.check(lib.runtime.nmPrune(
            _strided_tensor(dense[at], element),
            None if by is None else _strided_tensor(by[at], "f32"), native, whole,
            report))
        lib.check(lib.runtime.nmCompress(
            whole, native, lib.text("weight"),
            _arrays.raw_tensor(values[rows], element),
            _arrays.raw_tensor(indices[units], "i8")))
        non_zeros, dropped = non_zeros + report.nonZeros, dropped + report.dropped
    return (SparseTensor(values, indices, view.shape, pattern, dtype=element),
            dropped / non_zeros if non_zeros else 0.0)


def _strided_tensor(array: np.ndarray, element: str) -> lib.NmTensor:
    return lib.tensor(array.__array_interface__["data"][0], element, array.shape,
                      [stride // array.itemsize for stride in array.strides])


def _other_axis_differs(w: Any, pattern: Pattern, scores: Any, result: Any) -> bool:
    """Whether pruning along the other axis gives another result; a corner of the
    weight nearly always tells."""
    other = along_other_axis(pattern)
    step = pattern.m * pattern.block[0] * pattern.block[1]
    dense, pruned = (typed(weight_view(array)[0]) for array in (w, result))
    for size in (step * (1 + 63 // step), max(*dense.shape, 1)):
        part = (slice(size), slice(size))
        again, _ = prune_on_host(dense[part], other,
                                  None if scores is None else scores[part])
        if again.tobytes() != pruned[part].tobytes():
            return True
    return False


def _shape_of(w: Any) -> tuple[int, ...]:
    """Of an array, also one that only DLPack describes."""
    return tuple(w.shape) if hasattr(w, "shape") else weight_view(w)[0].shape


def _apply_mask(w: Any, mask: Any, pattern: Pattern) -> Any:
    from .io import apply_mask
    result = apply_mask(w, mask)
    report = check(result, pattern, name="weight with the mask")
    if not report:
        raise PatternError(report.message)
    return result


def _count_dropped(w: Any, pruned: Any) -> tuple[int, int, float]:
    before, after = (typed(weight_view(array)[0]) for array in (w, pruned))
    energy = lost = 0.0
    for begin in range(0, len(before), _COLUMNS):
        part = _float64(before[begin:begin + _COLUMNS])
        gone = np.where(_float64(after[begin:begin + _COLUMNS]) == 0, part, 0)
        energy, lost = energy + np.square(part).sum(), lost + np.square(gone).sum()
    kept, non_zeros = np.count_nonzero(after), np.count_nonzero(before)
    return non_zeros, non_zeros - kept, float(lost / energy) if energy else 0.0


def product_error(w: Any, pruned: Any, activations: Any, axis: int) -> float:
    """``norm(X W - X W') / norm(X W)`` for activations ``[..., k]``.

    Raises:
        ShapeError: the activations do not fit the weight.
    """
    k = _shape_of(w)[axis]
    if _shape_of(activations)[-1:] != (k,):
        raise ShapeError(f"expected activations [..., {k}], but got shape "
                         f"{_shape_of(activations)}")
    if _arrays.is_on_device(w):
        from . import _on_device
        return _on_device.product_error(w, pruned, activations, axis)
    x = _float64(_rows(activations))
    weights = [typed(weight_view(array)[0]) for array in (w, pruned)]
    before, after = weights if axis == 1 else (weight.T for weight in weights)
    exact = difference = 0.0
    for begin in range(0, len(before), _COLUMNS):
        part = _float64(before[begin:begin + _COLUMNS])
        exact += np.square(x @ part.T).sum()
        part -= _float64(after[begin:begin + _COLUMNS])
        difference += np.square(x @ part.T).sum()
    return math.sqrt(difference / exact) if exact else 0.0


def typed(view: _arrays.View) -> np.ndarray:
    """A view on the host as an array whose type tells its numbers."""
    return _arrays.typed(_arrays.as_numpy(view), view.dtype)


def _rows(x: Any) -> np.ndarray:
    array = typed(_arrays.host_array(x)[0])
    return array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)


def _as_float(array: Any, dtype: Any) -> np.ndarray:
    if isinstance(array, np.ndarray):  # Also of booleans.
        return array.astype(dtype, copy=False)
    if array.__class__.__module__ == "torch":
        array = array.detach().float()
    return typed(_arrays.host_array(array)[0]).astype(dtype, copy=False)


def _float64(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)
