# SPDX-License-Identifier: Apache-2.0
"""Every recorded task again, alone: `Recording.replay_all`."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple

from ._arguments import flag, integer
from ._callbacks import Ask, Progress, pointer, trust, watch
from ._html import Shown
from ._interrupt import Interrupts
from ._library import encoded, lib, text
from ._query import Query
from ._replay import MOST_RUNS, ReplayOutput, output_of
from ._source import SourceLine, source_line
from .config import Config, SettingsHandle

if TYPE_CHECKING:
    from .recording import Recording

__all__ = ["Misuse", "ReplayAll", "ReplayedTask"]

_MOST_WORKERS = 64
_NO_ARGUMENT = 2**32 - 1


@dataclass(frozen=True)
class Misuse:
    """One thing that guards saw a task do: `kind` is a word such as "wrote behind". `element` is the first
    element that this is about, its number in row-major order and `index` its place; of findings before and
    behind an argument it is the nearest one, `distance` elements away; `place` is the same, counted in memory
    from the lowest element of the argument. `count` elements were seen; 0: a fault shows only the first."""
    kind: str
    text: str
    argument: Optional[int] = None
    element: Optional[int] = None
    index: Tuple[int, ...] = ()
    distance: int = 0
    place: int = 0
    count: int = 0
    site: str = ""


@dataclass(frozen=True)
class ReplayedTask:
    """One task. `result` is "same", "differs", "varies" (not deterministic), "faults", "hangs", "misuse" or
    "not known"; `why` says more about the last four. `output` is the first one that differs or varies, `site`
    the line of a fault, if known, and `misuse` what the guards found, with `more_misuse` findings left out."""
    task: int
    kernel: str
    result: str
    runs: int = 0
    why: str = ""
    output: Optional[ReplayOutput] = None
    site: Optional[SourceLine] = None
    misuse: Tuple[Misuse, ...] = ()
    more_misuse: int = 0


@dataclass(frozen=True)
class ReplayAll(Shown):
    """The answer of `Recording.replay_all`; true if every task that could be judged is the same.

    `result` is "same"; "differs", if a task differs, varies, faults or hangs; "misuse"; or "not known", with a
    `reason`, if nothing could be judged. `counts` has the number of tasks with each result, and `tasks` every
    task that is not the same. `not_seen` says which misuse the guards cannot see, and `left_out` what the
    recording lacks."""
    result: str
    reason: str
    counts: Dict[str, int] = field(default_factory=dict)
    tasks: Tuple[ReplayedTask, ...] = ()
    platform: str = ""
    recorded_on: str = ""
    workers: int = 0
    devices: int = 0
    guard: bool = False
    not_seen: Tuple[str, ...] = ()
    left_out: Tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.result == "same"

    @property
    def not_judged(self) -> Tuple[ReplayedTask, ...]:
        return tuple(task for task in self.tasks if task.result == "not known")


def _misuse(finding: Any) -> Misuse:
    has = finding.has_element
    return Misuse(
        text(lib().tg_guard_kind_name(finding.kind)), text(finding.text),
        None if finding.argument == _NO_ARGUMENT else finding.argument,
        finding.element if has else None, tuple(finding.index[:finding.ndim]) if has else (),
        finding.distance, finding.place, finding.count, text(finding.site))


def _findings(verdict: Any) -> Iterator[Misuse]:
    kind = lib().layout.tg_guard_finding
    for number in range(verdict.n_findings):
        yield _misuse(kind.from_address(verdict.finding + number * ctypes.sizeof(kind)))


def _task(verdict: Any) -> ReplayedTask:
    word = text(lib().tg_replay_is_name(getattr(verdict, "is")))
    return ReplayedTask(
        verdict.task, text(verdict.kernel), word, verdict.runs, text(verdict.why),
        output_of(verdict.output) if word == "differs" or verdict.output.varied else None,
        source_line(verdict.site.at), tuple(_findings(verdict)), verdict.more_findings)


def _unseen(summary: Any) -> Iterator[str]:
    number = 0
    while summary.guarded:
        line = lib().tg_guard_unseen(summary.has_pages, number)
        if not line:
            return
        yield text(line)
        number += 1


def _counts(summary: Any) -> Dict[str, int]:
    return {text(lib().tg_replay_is_name(number)): count for number, count in enumerate(summary.count)}


def replay_all(recording: "Recording", query: Query, guard: bool, workers: int, repeat: int,
               module: Any, progress: Progress, ask: Ask, settings: Config) -> ReplayAll:
    layout, interrupts, tasks = lib().layout, Interrupts(), []  # type: Any, Interrupts, List[ReplayedTask]

    def take(address: int) -> None:
        task = _task(layout.tg_replay_verdict.from_address(address))
        if task.result != "same":
            tasks.append(task)

    tell = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
        lambda _, address: interrupts.guard(take, address))
    show, asked = watch(interrupts, progress), trust(interrupts, ask)
    config = layout.tg_replay_all_config(
        module=encoded(module) if module is not None else None, guarded=flag(guard, "guard"),
        repeat=integer(repeat, "repeat", 1, MOST_RUNS),
        workers=integer(workers, "workers", 0, _MOST_WORKERS), progress=pointer(show),
        ask=pointer(asked) if asked else None)
    if query.is_empty:  # a query that matches no record, as the library has none
        query.handle.call(lib().tg_query_add, b"index", str(2**64 - 1).encode())
    summary, reason, table = layout.tg_replay_summary(), layout.tg_replay_reason(), SettingsHandle(settings)
    with interrupts, table.use() as chosen, query.handle.use() as config.query, \
            recording._handle.use() as recorded:
        lib().call(lib().tg_replay_all, chosen, recorded, ctypes.byref(config), tell, None,
                   ctypes.byref(summary))
        word = lib().tg_replay_all_word(recorded, ctypes.byref(summary), ctypes.byref(reason))
    return ReplayAll(
        text(word), text(reason.text), _counts(summary), tuple(tasks), text(summary.platform),
        text(summary.recorded_on), summary.workers, summary.devices, summary.guarded,
        tuple(_unseen(summary)), recording.notes)
