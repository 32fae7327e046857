# SPDX-License-Identifier: Apache-2.0
"""Range, mean and special values of recorded tensors: `Recording.stats`."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import dtypes, errors
from ._arguments import function, integer
from ._callbacks import Progress
from ._html import Shown
from ._library import lib
from ._query import Query

if TYPE_CHECKING:
    from .recording import Record, Recording

__all__ = ["Stats", "TensorStats"]

_Number = Union[None, bool, int, float]


@dataclass(frozen=True)
class TensorStats:
    """The numbers of one record. Nothing but `stored` and `cut` is known of a record without values.

    `min` and `max` are those of the elements that are not NaN, `mean` and `std` those of the finite
    ones, None if there are none. `cut`: only the first elements are stored, and measured."""
    record: "Record"
    stored: bool
    cut: bool
    count: int = 0
    min: _Number = None
    max: _Number = None
    mean: Optional[float] = None
    std: Optional[float] = None
    nan: int = 0
    inf: int = 0
    zero: int = 0
    denormal: int = 0


@dataclass(frozen=True)
class Stats(Shown):
    """The answer of `Recording.stats`: one row for each record, in the order of the file.

    `result` is "not known", with a `reason`, if there is nothing to measure although the run may have had
    something, and "listed" otherwise. `left_out` has what the recording lacks."""
    result: str
    reason: str = ""
    tensors: Tuple[TensorStats, ...] = ()
    left_out: Tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.tensors)

    def __iter__(self) -> Iterator[TensorStats]:
        return iter(self.tensors)


def _value(number: int, bits: int) -> _Number:
    """The value of one element, by its type and its bits."""
    kind = dtypes.by_number(number)
    if kind is None:
        return None
    raw = np.frombuffer(bits.to_bytes(8, "little")[:max(kind.bits // 8, 1)], np.uint8)
    if kind.packed:
        value: Any = dtypes.decode(raw, kind, (1,))[0].item()
    else:
        value = dtypes.decode(raw.view(kind.numpy), kind)[0].item()
    is_whole = not kind.native and "float" not in kind.name
    number_of: Union[bool, int, float] = int(value) if is_whole else value
    return number_of


def _known(value: float) -> Optional[float]:
    return None if math.isnan(value) else value


def _row(record: "Record", entry: Any, pointer: int) -> TensorStats:
    numbers, head = lib().layout.tg_tensor_stats(), entry.record
    cut = 0 < head.stored < head.bytes
    if not lib().tg_entry_measure(pointer, ctypes.byref(entry), ctypes.byref(numbers)):
        return TensorStats(record, False, cut)
    has = numbers.has_range
    return TensorStats(
        record, True, cut, numbers.elements, _value(head.dtype, numbers.least) if has else None,
        _value(head.dtype, numbers.most) if has else None, _known(numbers.mean),
        _known(numbers.deviation), numbers.nan, numbers.infinite, numbers.zero, numbers.denormal)


def stats(recording: "Recording", query: Query, most: Optional[int], progress: Progress) -> Stats:
    layout, rows = lib().layout, []  # type: Any, List[TensorStats]
    limit = 2**64 - 1 if most is None else integer(most, "limit")
    show, done = function(progress, "progress"), 0
    if query.is_empty:
        return Stats("not known", "no record matches the filters", left_out=recording.notes)
    walk, index = layout.tg_stats_walk(), ctypes.c_uint64()
    with recording._handle.use() as pointer, query.handle.use() as wanted:
        lib().call(lib().tg_query_check_index, wanted, pointer)
        try:
            lib().call(lib().tg_stats_walk_begin, pointer, wanted, ctypes.byref(walk))
        except errors.NotFound as error:
            return Stats("not known", error.text, left_out=recording.notes)
        entry = layout.tg_entry()
        while len(rows) < limit and lib().tg_stats_walk_next(
                ctypes.byref(walk), ctypes.byref(index), ctypes.byref(entry)):
            rows.append(_row(recording._record_of(entry, index.value), entry, pointer))
            done += entry.record.stored
            if show is not None:
                show(done, recording.payload_bytes)
            entry = layout.tg_entry()
    recording.check_files()
    return Stats("listed", "", tuple(rows), recording.notes)
