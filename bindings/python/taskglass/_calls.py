# SPDX-License-Identifier: Apache-2.0
"""The communication of the ranks of a run, as their comm.jsonl has it."""

from __future__ import annotations

import contextlib
import ctypes
import pathlib
from dataclasses import asdict, dataclass, fields
from typing import Any, Iterator, List, Optional, Sequence

from . import dtypes, errors
from ._dataframe import pandas
from ._handle import Handle
from ._library import encoded, lib, text, words
from ._results import comm_kinds

__all__ = ["Call"]

_NEVER = -2**63
_NONE = -1


@dataclass(frozen=True)
class Call:
    """One call of communication. `peer` is the other rank, or the root of a broadcast. `number` says which calls
    of the ranks belong together: among sends and receives with the same peer and tag, and among all other
    calls. `dtype`, `elements` and `bytes` are those of its first tensor. Times are those of the
    rank's own clock; None if it has not come so far."""
    rank: int
    task: int
    call: str  # "tg_send"
    peer: Optional[int]
    tag: Optional[int]
    operation: Optional[str]  # "sum"
    number: int
    dtype: Optional[str]
    elements: int
    bytes: int
    site: Optional[str]  # "orchestrate.c:33"
    posted_ns: Optional[int]
    matched_ns: Optional[int]  # when the other side was known to be there
    done_ns: Optional[int]
    state: str  # "done", "waits" or "failed"

    @property
    def is_message(self) -> bool:
        """Whether it is a send or a receive; the others are calls of all ranks."""
        return self.call in ("tg_send", "tg_recv")


def _known(number: int, none: int) -> Optional[int]:
    return None if number == none else number


def call_of(rank: int, call: Any) -> Call:
    """`call` is a tg_call, whose text still exists."""
    kind = dtypes.by_number(call.dtype)
    operation = _known(call.operation, _NONE)
    return Call(
        rank, call.task, comm_kinds()[call.kind], _known(call.peer, _NONE), _known(call.tag, _NONE),
        None if operation is None else words("tg_reduction_name", "")[operation], call.number,
        None if kind is None else kind.name, call.elements, call.bytes, text(call.site) or None,
        _known(call.posted_ns, _NEVER), _known(call.matched_ns, _NEVER), _known(call.done_ns, _NEVER),
        words("tg_call_state_name")[call.state])


@contextlib.contextmanager
def open_calls(dir: pathlib.Path) -> Iterator[int]:
    """The library's calls of the run in this directory."""
    handle = Handle(lib().make(lib().tg_calls_open, encoded(dir)), lib().tg_calls_close, "calls")
    try:
        with handle.use() as pointer:
            yield pointer
    finally:
        handle.close()


def read_calls(rank: int, dir: pathlib.Path) -> List[Call]:
    """The calls of a rank in the order in which they were done."""
    found: List[Call] = []
    call = lib().layout.tg_call()
    with open_calls(dir) as calls:
        while lib().tg_calls_get(calls, len(found), ctypes.byref(call)):
            found.append(call_of(rank, call))
    return found


def find_other_side(call: Call, dir: pathlib.Path) -> Optional[Call]:
    """The call of rank call.peer, whose run has this directory, that belongs to a send or receive."""
    if not call.is_message or call.peer is None or call.tag is None:
        raise errors.BadArgument(f"{call.call} is a call of all ranks; the others' have the same number")
    asked = lib().layout.tg_call(kind=comm_kinds().index(call.call), peer=call.peer, tag=call.tag,
                                 number=call.number, operation=_NONE)
    other = lib().layout.tg_call()
    with open_calls(dir) as calls:
        if not lib().tg_calls_other_side(calls, call.rank, ctypes.byref(asked), ctypes.byref(other)):
            return None
        return call_of(call.peer, other)


def to_dataframe(calls: Sequence[Call]) -> Any:
    """One row for each call. Numbers that may be missing have a type that knows it."""
    names = [field.name for field in fields(Call)]
    frame = pandas().DataFrame([asdict(call) for call in calls], columns=names)
    for name in ("peer", "tag", "posted_ns", "matched_ns", "done_ns"):
        frame[name] = frame[name].astype("Int64")
    return frame
