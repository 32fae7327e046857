# SPDX-License-Identifier: Apache-2.0
"""Tasks that share bytes without an order between them: `Recording.find("race")`."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from ._callbacks import Progress, pointer, watch
from ._interrupt import Interrupts
from ._library import lib, text
from ._query import Query

if TYPE_CHECKING:
    from .recording import Recording

__all__ = ["Race", "RaceSide"]

_NONE = 2**64 - 1


@dataclass(frozen=True)
class RaceSide:
    """One of the two tasks of a race: the line that submitted it, or else the site of its `scope`; the
    argument with which it touches the common bytes, and that argument's `region` as the case names it.
    Texts that are not known are empty. `position` counts tasks in the order of submission."""
    task_id: int
    position: int
    kernels: str
    line: str
    scope: str
    argument: int
    role: str  # "in", "out" or "inout"
    region: str


@dataclass(frozen=True)
class Race:
    """All `pairs` of tasks that race over the same two regions, with one pair: the earliest task that
    races with one before it, and the last of those; `bytes` is what the
    regions have in common, None if that was not counted; `fix` is the line of code that orders the pair."""
    first: RaceSide
    second: RaceSide
    pairs: int
    bytes: Optional[int]
    fix: str


def _side(side: Any) -> RaceSide:
    role = "inout" if side.reads and side.writes else "out" if side.writes else "in"
    return RaceSide(side.task_id, side.position, text(side.kernels), text(side.line),
                    text(side.scope), side.argument, role, text(side.region))


def _race(race: Any) -> Race:
    return Race(_side(race.first), _side(race.second), race.pairs,
                None if race.bytes == _NONE else race.bytes, text(race.fix))


def find_races(recording: "Recording", query: Query, most: int, progress: Progress) -> Dict[str, Any]:
    """The members of a FindResult. Unsupported and NotFound: nothing could be judged."""
    layout, interrupts, found = lib().layout, Interrupts(), []  # type: Any, Interrupts, List[Race]

    def take(address: int) -> None:
        if len(found) < most:
            found.append(_race(layout.tg_race.from_address(address)))

    tell = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
        lambda _, address: interrupts.guard(take, address))
    show, summary = watch(interrupts, progress), layout.tg_races_summary()
    config = layout.tg_races_config(watch=pointer(show))
    with interrupts, query.handle.use() as config.query, recording._handle.use() as recorded:
        lib().call(lib().tg_races_find, recorded, ctypes.byref(config), tell, None,
                   ctypes.byref(summary))
    notes: Tuple[str, ...] = tuple(text(note.text) for note in summary.note[:summary.n_notes])
    return {"result": text(summary.result), "findings": tuple(found), "found": summary.pairs,
            "reason": notes[-1] if summary.exit_code == 2 and notes else "",
            "groups": summary.groups, "exact": bool(summary.is_exact), "unclear": summary.unclear,
            "proof": bool(summary.is_proof), "looked_at": summary.accesses,
            "tasks": summary.tasks, "left_out": notes + recording.notes,
            "exit_code": summary.exit_code}
