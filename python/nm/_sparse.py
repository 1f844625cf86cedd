"""Weights in condensed form."""

from __future__ import annotations

import operator
import os
import weakref
from typing import Any

import numpy as np

from . import _arrays
from . import _library as lib
from ._errors import DTypeError, PatternError, ShapeError
from ._index_form import convert_indices, index_form_of
from ._pattern import Pattern, announce_axis, leaves_axis_open, parse_pattern

#: What weights may be made of.
WEIGHT_TYPES = ("f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i8")

# Weights by their numbers: code that torch.compile traces has no other constants.
_alive: weakref.WeakValueDictionary[int, SparseTensor] = weakref.WeakValueDictionary()


class SparseTensor:
    """A weight in condensed form: the kept values, and where each was.

    Made by nm.compress, nm.load_weights or from its parts. It does not change:
    what is compiled and packed for it is kept with it.

    Args:
        values: ``[w, np]`` kept values, where w are the kept rows of k and np is
            n padded to whole blocks. ``bf16`` and 8-bit floats are arrays of
            ml_dtypes, or of unsigned integers with `dtype` given.
        indices: ``[w/bk, np/bn]`` int8 or uint8 positions in their windows,
            ascending in each; of unstructured weights a bitmap
            ``[1, n * ceil(k/8)]``, or offsets ``[s, 1]``: see `index_form`.
        shape: the dense shape, ``(n, k)``, or ``(k, n)`` where `pattern.axis`
            is 0.
        pattern: the N:M pattern; ``[n, k]`` where a text has no dim.
        dtype: MLIR's name of the element type, where `values` does not tell.

    Raises:
        PatternError, ShapeError, DTypeError: the parts are no such weight.
    """

    def __init__(self, values: Any, indices: Any, shape: tuple[int, ...],
                 pattern: str | Pattern, dtype: str | None = None):
        self.pattern = parse_pattern(pattern)
        self.shape = weight_shape(shape)
        self.dtype, self._values = _raw_values(values, dtype)
        self._indices = _raw_indices(indices)
        lib.check(lib.runtime.nmVerifyCondensed(
            self.pattern._native(), self.k, self.n, b"weight",
            *self._tensors()), PatternError)
        if leaves_axis_open(pattern, None):
            announce_axis(f"the weight {self.shape}")
        # Whether its arrays are in memory that others may write to.
        self._is_lent = False
        # Whether only a layer on a device knows it.
        self._is_private = False
        # What _matmul compiled and packed for this weight.
        self._prepared: dict = {}
        self._bound: dict = {}
        # Keys of functions that it was found to have no kernels for.
        self._refused: dict = {}
        # Bound functions of a GPU that are not called any more, where someone wants to
        # write to all packed forms that CUDA graphs may read.
        self._retired: list | None = None
        # What else knows the prepared calls, nm.torch's FastCalls.
        self._fast_calls: weakref.WeakSet = weakref.WeakSet()
        # nm.torch's: its tensors by device, and the weight in lower types.
        self._torch_tensors: dict = {}
        self._torch_converted: dict = {}
        # Bits and group of k, of integers that have scales in their file.
        self._quantization: tuple[int, int] | None = None
        # The sizes of the taps of the convolution's filter that it is the matrix of.
        self._taps: tuple[int, ...] | None = None
        _alive[id(self)] = self

    @property
    def k(self) -> int:
        """The size that a product sums over."""
        return self.pattern.sizes(self.shape)[0]

    @property
    def n(self) -> int:
        """The columns of a product's result."""
        return self.pattern.sizes(self.shape)[1]

    @property
    def values(self) -> np.ndarray:
        """The kept values ``[w, np]``, read-only."""
        values = _read_only(self._values)
        if self.dtype in lib.EXTENSION_TYPES:
            try:
                return values.view(_arrays.numpy_dtype(self.dtype))
            except DTypeError:
                return values
        return values

    @property
    def indices(self) -> np.ndarray:
        """The positions ``[w/bk, np/bn]``, uint8, read-only; of unstructured weights a
        bitmap or offsets."""
        return _read_only(self._indices)

    @property
    def index_form(self) -> str:
        """What `indices` are: ``"positions"`` in the windows of an N:M pattern; of
        unstructured weights ``"bitmap"``, a bit for each weight, or ``"offsets"``, a byte
        for each kept one and four for each column."""
        return index_form_of(self.pattern, self._indices.shape)

    def with_index_form(self, form: str | None = None) -> SparseTensor:
        """The same weight with indices in another form, whose values are shared.

        Args:
            form: ``"bitmap"``, ``"offsets"``, or None for that of fewest bytes.

        Returns:
            the weight itself where it has the form.

        Raises:
            PatternError: `form` is none of these, or the pattern is N:M and `form` is
                not None.
        """
        indices = convert_indices(self.pattern, self.k, self.n, self._indices, form)
        if indices is self._indices:
            return self
        made = SparseTensor(self._values, indices, self.shape, self.pattern, self.dtype)
        made._quantization, made._taps = self._quantization, self._taps
        made._is_lent = self._is_lent
        return made

    @property
    def nbytes(self) -> int:
        """Bytes of values and indices."""
        return self._values.nbytes + self._indices.nbytes

    def decompress(self, like: Any = None) -> Any:
        """The dense weight with its zeros, of `shape`: a NumPy array, or an
        array of the kind and on the device of `like`."""
        dense = _arrays.raw_empty(self.shape, self.dtype)
        lib.check(lib.runtime.nmDecompress(
            *self._tensors(), self.pattern._native(),
            _arrays.raw_tensor(dense, self.dtype)), PatternError)
        if like is None:
            like = dense
        return _arrays.kind_of(like).from_host(dense, like, self.dtype)

    def save(self, path: str | os.PathLike, name: str = "weight") -> None:
        """Writes a self-describing file (safetensors with nm's metadata)."""
        from ._weightfile import save_weights
        save_weights(path, {name: self})

    @staticmethod
    def load(path: str | os.PathLike, name: str | None = None) -> SparseTensor:
        """Maps a file that `save` wrote; `name` may be left out where the file
        has one weight."""
        from ._weightfile import load_weight
        return load_weight(path, name)

    def _tensors(self) -> tuple[lib.NmTensor, lib.NmTensor]:
        return (_arrays.raw_tensor(self._values, self.dtype),
                _arrays.raw_tensor(self._indices, "i8"))

    def _drop_calls(self) -> None:
        """Has no one run a prepared call afterwards, of the weight in lower types either."""
        for w in [self, *self._torch_converted.values()]:
            for calls in list(w._fast_calls):
                calls.drop()

    def _take_own(self) -> SparseTensor:
        """The weight, with arrays that no one else writes to."""
        if self._is_lent:
            self._values, self._indices = self._values.copy(), self._indices.copy()
            self._is_lent = False
        self._is_private = False
        return self

    def __reduce__(self):
        # What was compiled and packed belongs to this process.
        return SparseTensor, (np.asarray(self._values), np.asarray(self._indices),
                              self.shape, self.pattern, self.dtype)

    def __repr__(self) -> str:
        how = (f"index_form={self.index_form}" if self.pattern.is_unstructured else
               f"sparsity={100 * self.pattern.sparsity:.4g} %")
        return (f"nm.SparseTensor(shape={self.shape}, dtype={self.dtype}, "
                f"pattern='{self.pattern}', {how})")


def living_weights() -> list[SparseTensor]:
    return list(_alive.values())


def find_sparse(number: int) -> SparseTensor:
    """The weight that ``id`` gives this number for, which lives."""
    return _alive[number]


def _raw_values(values: Any, dtype: str | None) -> tuple[str, np.ndarray]:
    view, _ = (_arrays.host_array(values)
               if dtype is None else (None, None))
    if view is None:
        raw = np.require(values, requirements=["C", "A"])
        if dtype not in WEIGHT_TYPES:
            raise DTypeError(f"expected weights of {', '.join(WEIGHT_TYPES)}, "
                             f"but got {dtype}")
        plain = _arrays.raw_empty((), dtype).dtype
        if raw.dtype != plain and raw.dtype != f"u{plain.itemsize}" and (
                raw.dtype.name != _arrays.NUMPY_NAMES[dtype]
                or not raw.dtype.isnative):
            raise DTypeError(f"expected values of {dtype}, but got {raw.dtype}")
        return dtype, raw if raw.dtype == plain else raw.view(plain)
    check_weight_type(view.dtype)
    return view.dtype, np.ascontiguousarray(_arrays.as_numpy(view))


def _raw_indices(indices: Any) -> np.ndarray:
    array = np.ascontiguousarray(indices)
    if array.dtype not in (np.int8, np.uint8):
        raise DTypeError("expected indices of uint8 or int8, but got "
                         f"{array.dtype}")
    return array.view(np.uint8)


def check_weight_type(element: str) -> None:
    if element not in WEIGHT_TYPES:
        raise DTypeError(f"expected weights of {', '.join(WEIGHT_TYPES)}, but "
                         f"got {element}")


def check_weight_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ShapeError("expected a weight of 2 dimensions, but got shape "
                         f"{shape}")


def weight_shape(shape: Any) -> tuple[int, ...]:
    """The sizes that someone gave, or a file."""
    try:
        sizes = tuple(operator.index(size) for size in shape)
    except TypeError:
        raise ShapeError("expected the two sizes of a weight, but got "
                         f"{shape!r}") from None
    check_weight_shape(sizes)
    # The library has 64 bits for a size.
    if not all(0 <= size < 2 ** 63 for size in sizes):
        raise ShapeError(f"expected sizes from 0 to 2^63 - 1, but got {sizes}")
    return sizes


def _read_only(array: np.ndarray) -> np.ndarray:
    view = np.asarray(array)[...]
    view.flags.writeable = False
    return view


def weight_view(weight: Any) -> tuple[_arrays.View, _arrays.Kind]:
    """A dense weight on the host, and the kind it came as."""
    view, kind = _arrays.host_array(weight)
    check_weight_shape(view.shape)
    return view, kind
