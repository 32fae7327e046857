# SPDX-License-Identifier: Apache-2.0
"""Element types, as the library has them. Most are NumPy's own. Arrays of the others hold their bits;
`decode` turns bits into numbers, and `encode` turns numbers into bits. bfloat16 is held as uint16, types
of 8 bits as uint8, and types of 4 bits as uint8 with two elements to a byte, the low one first.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from . import errors
from ._arguments import converting, shown
from ._library import lib
from ._types import Array

__all__ = ["DType", "dtype", "names", "decode", "encode"]


def _is_native(name: str) -> bool:
    """Whether NumPy itself has the type; ml_dtypes, once imported, adds others."""
    try:
        return np.dtype(name).type.__module__ == "numpy"
    except TypeError:
        return False


class DType:
    """An element type: `name`, `number` (as in files), `bits` of one element, and `numpy`, the
    NumPy type that holds it; `native` is true if that is the type itself."""

    def __init__(self, name: str, number: int, bits: int) -> None:
        self.name, self.number, self.bits = name, number, bits
        self.native = _is_native(name)
        self.packed = bits < 8
        held = name if self.native else f"uint{max(bits, 8)}"
        self.numpy = np.dtype(held).newbyteorder("<")

    def bytes_of(self, elements: int) -> int:
        """Bytes that packed elements take."""
        return (elements * self.bits + 7) // 8

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DType) and other.number == self.number

    def __hash__(self) -> int:
        return self.number

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<taskglass dtype {self.name}>"


@functools.lru_cache(maxsize=None)
def _table() -> Tuple[Dict[str, DType], Dict[int, DType]]:
    by_name: Dict[str, DType] = {}
    number = 1
    while lib().tg_dtype_bits(number) > 0:
        name = lib().tg_dtype_name(number).decode()
        by_name[name] = DType(name, number, lib().tg_dtype_bits(number))
        number += 1
    return by_name, {each.number: each for each in by_name.values()}


def names() -> Tuple[str, ...]:
    """The names of all types, in the order of their numbers."""
    return tuple(_table()[0])


def by_number(number: int) -> Optional[DType]:
    return _table()[1].get(number)


def dtype(what: Any) -> DType:
    """A type, given by its name, by a NumPy type (those of ml_dtypes too) or as a DType."""
    if isinstance(what, DType):
        return what
    found = _table()[0].get(what) if isinstance(what, str) else None
    if found is None:
        try:
            found = _table()[0].get(np.dtype(what).name)
        except Exception:  # NumPy has several for what it does not understand
            pass
    if found is None:
        raise errors.BadArgument(f"there is no element type {shown(what)}; there are "
                                 f"{', '.join(names())}")
    return found


@functools.lru_cache(maxsize=None)
def _values(kind: DType) -> Array:
    """The value of every bit pattern of a type, as the library computes it."""
    patterns = np.arange(1 << kind.bits, dtype=kind.numpy)
    values = [lib().tg_dtype_load(kind.number, patterns[i:].ctypes.data, 0)
              for i in range(patterns.size)]
    return np.array(values, np.float32)


def unpack(raw: Array, elements: int) -> Array:
    """Unpacks 4-bit elements from bytes, one to a byte."""
    raw = raw.reshape(-1).view(np.uint8)
    out = np.empty(2 * raw.size, np.uint8)
    out[0::2] = raw & 15
    out[1::2] = raw >> 4
    return out[:elements]


def pack(bits: Array) -> Array:
    """Packs 4-bit elements into bytes, two to a byte."""
    flat = bits.reshape(-1).astype(np.uint8) & 15
    if flat.size % 2:
        flat = np.append(flat, np.uint8(0))
    return flat[0::2] | flat[1::2] << 4


def decode(raw: Array, what: Any, shape: Optional[Sequence[int]] = None) -> Array:
    """Numbers from bits: float32 for the types that NumPy lacks, and the array itself for the
    others. Packed types need `shape`."""
    kind = dtype(what)
    with converting(f"bits of {kind}"):
        return _decode(np.asarray(raw), kind, shape)


def _decode(raw: Array, kind: DType, shape: Optional[Sequence[int]]) -> Array:
    if kind.native:
        return raw if shape is None else raw.reshape(shape)
    flat = raw.reshape(-1).view(kind.numpy)
    if kind.packed:
        elements = 2 * flat.size if shape is None else int(np.prod(shape, dtype=np.int64))
        values: Array = _values(kind)[unpack(flat, elements)]
        return values if shape is None else values.reshape(shape)
    if kind.name == "bfloat16":  # the upper half of a float32
        values = np.left_shift(flat, 16, dtype=np.uint32).view(np.float32)
    else:
        values = _values(kind)[flat]
    return values.reshape(raw.shape if shape is None else shape)


def _encode_bfloat16(values: Array) -> Array:
    """The bits of the nearest bfloat16, ties to even, in one dimension."""
    values = values.reshape(-1)
    # Rounding to float32 first would round twice, so the bits cut off the double are kept as one
    # sticky bit.
    with np.errstate(over="ignore", invalid="ignore"):
        single = values.astype(np.float32)
    bits = single.view(np.uint32)
    exact = values.astype(np.float64)
    inexact = (single.astype(np.float64) != exact) & np.isfinite(single)
    away = np.abs(single.astype(np.float64)) > np.abs(exact)
    bits = bits - (inexact & away) | inexact.astype(np.uint32)
    rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), bits >> 16 | 0x40, rounded).astype(np.uint16)


def _encode_small(values: Array, kind: DType) -> Array:
    """The bits of each value, as the library computes them."""
    store = lib().functions.tg_dtype_store
    store.restype, store.argtypes = None, [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
                                           ctypes.c_double]
    # Values are distinguished by their bits: -0 is not 0.
    doubles = np.ascontiguousarray(values, np.float64).reshape(-1)
    distinct, where = np.unique(doubles.view(np.int64), return_inverse=True)
    bits = np.zeros(distinct.size, kind.numpy)
    for i, value in enumerate(distinct.view(np.float64)):
        store(kind.number, bits[i:].ctypes.data, 0, value)
    return bits[where]


def encode(values: Any, what: Any) -> Array:
    """The bits of the nearest values of a type, in the form that `decode` takes; packed types in
    one dimension. For NumPy's own types, the converted array."""
    kind = dtype(what)
    with converting(f"values for {kind}"):
        return _encode(np.asarray(values), kind)


def _encode(array: Array, kind: DType) -> Array:
    if array.dtype.kind == "c":
        raise errors.BadType(f"values for {kind} are real numbers, not complex ones")
    if kind.native:
        return np.ascontiguousarray(array, kind.numpy)
    if array.dtype.name == kind.name:  # an array of ml_dtypes has the bits already
        bits = np.ascontiguousarray(array).view(kind.numpy)
    elif kind.name == "bfloat16":
        bits = _encode_bfloat16(array)
    else:
        bits = _encode_small(array, kind)
    return pack(bits) if kind.packed else bits.reshape(array.shape)
