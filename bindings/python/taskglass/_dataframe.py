# SPDX-License-Identifier: Apache-2.0
"""The records of a recording as a table of pandas: `Recording.to_dataframe`.

The library fills an array of its own structures, and NumPy computes whole columns from it: no Python
object is made for a record.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any, Callable, Dict, Tuple

import numpy as np

from . import dtypes, errors
from ._handle import Handle
from ._library import lib, text, words
from ._types import Array

_NO_TASK = 2**64 - 1
_NO_KERNEL = 2**32 - 1
_ARG_UNKNOWN = 255
_HASHED, _TRUNCATED, _OVERWRITTEN, _PARTIAL, _MARKED, _READ, _NO_VALUE = (
    1 << bit for bit in (1, 3, 4, 5, 6, 8, 15))
_AT_ONCE = 4096  # entries in one buffer


def pandas() -> Any:
    """The package pandas, which this package can do without."""
    try:
        return importlib.import_module("pandas")
    except Exception as error:  # a pandas that does not fit NumPy fails with anything
        missing = isinstance(error, ModuleNotFoundError) and error.name == "pandas"
        why = "it is not installed" if missing else f"importing it failed: {error}"
        raise errors.MissingPackage(f"to_dataframe needs the package pandas, and {why}",
                                    advice="apt-get install python3-pandas, or pip install pandas"
                                    ) from None


def _entry_type() -> "np.dtype[Any]":
    """struct tg_entry for NumPy; members that are arrays become arrays."""
    entry, record = lib().layout.tg_entry, lib().layout.tg_record
    formats: Dict[str, Tuple[Any, int]] = {}
    members: Dict[str, Any] = {each[0]: each[1] for each in record._fields_}
    for name, kind in members.items():
        if name.startswith("_gap"):
            continue
        count = getattr(kind, "_length_", 0)
        element = np.dtype(kind._type_ if count else kind)
        formats[name] = ((element, (count,)) if count else element,
                         entry.record.offset + getattr(record, name).offset)
    formats["name"] = ((np.dtype(np.uint64), (3,)), entry.kernel.offset)
    return np.dtype({"names": list(formats), "formats": [kind for kind, _ in formats.values()],
                     "offsets": [offset for _, offset in formats.values()],
                     "itemsize": ctypes.sizeof(entry)})


def read(recording: Handle, query: Handle) -> Tuple[Array, Array]:
    """The numbers of the selected records, and their entries."""
    kind = _entry_type()
    buffer, numbers = np.zeros(_AT_ONCE, kind), np.zeros(_AT_ONCE, np.uint64)
    base, size, next_of = buffer.ctypes.data, kind.itemsize, lib().tg_query_next
    parts, part_numbers = [buffer[:0].copy()], [numbers[:0].copy()]
    at = ctypes.c_uint64(0)
    where, more = ctypes.byref(at), True
    while more:
        filled = 0
        with recording.use() as pointer, query.use() as wanted:
            while filled < _AT_ONCE and next_of(wanted, pointer, where, base + filled * size):
                numbers[filled] = at.value
                at.value += 1
                filled += 1
        more = filled == _AT_ONCE
        parts.append(buffer[:filled].copy())
        part_numbers.append(numbers[:filled].copy())
    return np.concatenate(part_numbers), np.concatenate(parts)


def _rows(*columns: Array) -> Tuple[Array, Array]:
    """The rows of these columns that differ: the first place of each, and for all rows which one it is."""
    which = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        for each in list(column.T) if column.ndim == 2 else [column]:
            if len(each) and (each != each[0]).any():  # most columns are the same everywhere
                distinct, codes = np.unique(each, return_inverse=True)
                which = np.unique(which * len(distinct) + codes, return_inverse=True)[1]
    _, first = np.unique(which, return_index=True)
    return first, which


def _category(pd: Any, codes: Array, name: Callable[[int], str]) -> Any:
    """A column of words, of which each is stored once."""
    numbers, which = np.unique(codes, return_inverse=True)
    return _named(pd, [name(int(number)) for number in numbers], which)


def _named(pd: Any, names: Any, which: Array) -> Any:
    distinct = sorted(set(names))
    place = np.array([distinct.index(name) for name in names], np.intp)
    return pd.Categorical.from_codes(place[which] if len(which) else [], categories=distinct)


def _kernels(pd: Any, entries: Array) -> Any:
    """Kernels in one word, as `Record.kernel` has them. The library's texts live as long as the
    recording is open."""
    first, which = _rows(entries["kernel"], entries["name"])

    def word(entry: Any) -> str:
        return "+".join((text(ctypes.c_char_p(int(address)).value) if address else "") or f"#{number}"
                        for number, address in zip(entry["kernel"], entry["name"])
                        if number != _NO_KERNEL)

    return _named(pd, [word(entries[at]) for at in first], which)


def _tuples(entries: Array, member: str) -> Array:
    """Shapes or strides; records with the same share one tuple."""
    first, which = _rows(entries["ndim"], entries[member])
    found = np.empty(len(first), object)
    for i, at in enumerate(first):
        ndim = min(int(entries["ndim"][at]), entries[member].shape[1])
        found[i] = tuple(int(extent) for extent in entries[member][at][:ndim])
    return found[which]


def _values(entries: Array, is_known: Array) -> Array:
    """The values of scalars as float64, NaN where there is none."""
    values = np.full(len(entries), np.nan)
    for number in np.unique(entries["dtype"][is_known]):
        rows = is_known & (entries["dtype"] == number)
        kind = dtypes.by_number(int(number))
        bits = np.ascontiguousarray(entries["value"][rows]).astype("<u8")
        if kind is not None and not kind.packed:
            low = bits.view(np.uint8).reshape(-1, 8)[:, :kind.numpy.itemsize]
            bits = dtypes.decode(np.ascontiguousarray(low).view(kind.numpy).reshape(-1), kind)
        elif kind is not None:
            bits = dtypes.decode((bits & 15).astype(np.uint8), kind, (2 * bits.size,))[::2]
        values[rows] = bits.astype(np.float64)
    return values


def to_dataframe(recording: Handle, query: Handle) -> Any:
    """See `Recording.to_dataframe`."""
    pd = pandas()
    numbers, entries = read(recording, query)

    def optional(values: Array, is_there: Array, kind: Any) -> Any:
        return pd.arrays.IntegerArray(np.where(is_there, values, 0).astype(kind), ~is_there)

    def flag(bit: int) -> Array:
        return np.asarray((entries["flags"] & bit) != 0)

    task, has_task = entries["task_id"], entries["task_id"] != _NO_TASK
    is_scalar = entries["kind"] == words("tg_kind_name").index("scalar")
    is_known = is_scalar & ~flag(_NO_VALUE)
    with recording.use():  # which owns the names of kernels
        kernel = _kernels(pd, entries)
    columns = {
        "task_id": optional(task, has_task, np.uint64),
        "ring": optional(task >> 32, has_task, np.uint32),
        "task": optional(task & 0xffffffff, has_task, np.uint32),
        "kernel": kernel,
        "stage": _category(pd, entries["stage"], lambda number: text(lib().tg_stage_name(number))),
        "role": _category(pd, entries["role"], lambda number: text(lib().tg_record_role_name(number))),
        "kind": _category(pd, entries["kind"], lambda number: text(lib().tg_kind_name(number))),
        "arg": optional(entries["arg_index"], ~(flag(_READ) & (entries["arg_index"] == _ARG_UNKNOWN)),
                        np.uint8),
        "dtype": _category(pd, entries["dtype"],
                           lambda number: str(dtypes.by_number(number) or "invalid")),
        "shape": _tuples(entries, "shape"),
        "nbytes": entries["bytes"].astype(np.uint64),
        "stored": entries["stored"].astype(np.uint64),
        "value": _values(entries, is_known),
        "bits": optional(entries["value"], is_known, np.uint64),
        "hash": optional(entries["hash"], flag(_HASHED), np.uint64),
        "core": entries["core"].copy(),
        "time_ns": entries["time"].astype(np.uint64),
        "data_ptr": entries["data_ptr"].astype(np.uint64),
        "start": entries["start"].copy(),
        "strides": _tuples(entries, "strides"),
        "truncated": flag(_TRUNCATED), "overwritten": flag(_OVERWRITTEN), "partial": flag(_PARTIAL),
        "marked": flag(_MARKED), "read": flag(_READ),
    }
    return pd.DataFrame(columns, index=pd.Index(numbers.astype(np.int64), name="index"))
