"""Small integers in as many bits as they need, one string of bits from the lowest on."""

from __future__ import annotations

import numpy as np

# Numbers that are packed together; a multiple of 8, so that parts begin at bytes.
_PART = 1 << 20


def bits_for(count: int) -> int:
    """The bits that tell `count` numbers apart, ⌈log2 count⌉."""
    return (count - 1).bit_length()


def packed_bytes(count: int, bits: int) -> int:
    """The bytes of `count` numbers."""
    return -(-count * bits // 8)


def pack_bits(numbers: np.ndarray, bits: int) -> np.ndarray:
    """Numbers below ``2^bits``, of uint8 and any shape, as bytes."""
    flat = numbers.reshape(-1)
    if bits == 8:  # Bytes as they are.
        return flat
    parts = [_pack(flat[begin:begin + _PART], bits)
             for begin in range(0, flat.size if bits else 0, _PART)]
    return np.concatenate(parts) if parts else np.empty(0, np.uint8)


def unpack_bits(packed: np.ndarray, count: int, bits: int) -> np.ndarray:
    """The inverse: `count` numbers of uint8."""
    if bits == 0:
        return np.zeros(count, np.uint8)
    if bits == 8:
        return packed
    numbers = np.empty(count, np.uint8)
    for begin in range(0, count, _PART):
        part = numbers[begin:begin + _PART]
        at = begin * bits // 8
        part[:] = _unpack(packed[at:at + packed_bytes(part.size, bits)], part.size, bits)
    return numbers


def _pack(numbers: np.ndarray, bits: int) -> np.ndarray:
    each = np.unpackbits(numbers[:, None], axis=1, bitorder="little")[:, :bits]
    return np.packbits(each.reshape(-1), bitorder="little")


def _unpack(packed: np.ndarray, count: int, bits: int) -> np.ndarray:
    each = np.unpackbits(packed, count=count * bits, bitorder="little")
    return np.packbits(each.reshape(count, bits), axis=1, bitorder="little")[:, 0]
