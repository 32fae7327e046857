# SPDX-License-Identifier: Apache-2.0
"""What a run took besides its recording: a trace, scope stats, the order of a schedule, and what it
communicated."""

from __future__ import annotations

import ctypes
import pathlib
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from ._library import lib, text, words

__all__ = ["RunComm", "RunSchedule", "RunScopes", "RunTrace"]


@dataclass(frozen=True)
class RunTrace:
    """The trace of a run. `status` is "OK", or "IO_ERROR" if the file could not be written; then there is
    none, and `text` says why. `lost` events are not in the file."""
    path: pathlib.Path
    tasks: int  # slices of tasks; a mix has one for each part
    events: int
    lost: int
    bytes: int
    clock_ns: int  # the smallest step of the device's clock, as measured; 0: not known
    wait_ns: int  # how long all workers together waited for the host
    finish_seconds: float
    status: str
    text: str


@dataclass(frozen=True)
class RunScopes:
    """The scope stats that a run took, which `taskglass.scope` reads. `no_rings`: the host built the graph,
    so that there are no samples; `dropped` samples are not in the file, and `text` says why."""
    no_rings: bool
    samples: int
    dropped: int
    status: str
    text: str


@dataclass(frozen=True)
class RunSchedule:
    """What became of the schedule of a run. `serial`: one core, so that the order of starts is the same every
    time. `broken` of the `pairs` could not be kept, and `unknown` ones name a task that there is not; `text` is a
    warning about them. `starts` has the ids of the first `keep_starts` tasks in the order of their starts.
    `known` is false if the device's memory was lost."""
    known: bool
    serial: bool
    choices: int
    pairs: int
    broken: int
    unknown: int
    starts: Tuple[int, ...]
    text: str


@dataclass(frozen=True)
class RunComm:
    """What a run communicated with other ranks. `calls` counts those that completed, by their names; `waiting`
    had not when the run ended."""
    rank: int
    ranks: int
    transport: str  # "local"
    calls: Dict[str, int]
    bytes_sent: int
    bytes_received: int
    messages_sent: int
    messages_received: int
    waiting: int


def comm_kinds() -> Tuple[str, ...]:
    """The names of the calls, in the order of the library's numbers."""
    return words("tg_comm_kind_name", "")


def comm_of(result: Any) -> Optional[RunComm]:
    """`result` is a tg_run_result."""
    comm = result.comm
    if not comm.on:
        return None
    return RunComm(comm.rank, comm.ranks, text(comm.transport), dict(zip(comm_kinds(), comm.calls)),
                   comm.bytes_sent, comm.bytes_received, comm.messages_sent, comm.messages_received,
                   comm.waiting)


def schedule_of(result: Any) -> Optional[RunSchedule]:
    """`result` is a tg_run_result, whose run still exists."""
    schedule = result.schedule
    if not schedule.on:
        return None
    starts = (ctypes.c_uint64 * schedule.n_starts).from_address(schedule.starts) \
        if schedule.n_starts and schedule.starts else ()
    return RunSchedule(schedule.known, schedule.serial, schedule.choices, schedule.pairs, schedule.broken,
                       schedule.unknown, tuple(starts), text(schedule.text))


def trace_of(result: Any, path: Optional[str]) -> Optional[RunTrace]:
    """`result` is a tg_run_result."""
    trace = result.trace
    if not trace.on or path is None:
        return None
    return RunTrace(pathlib.Path(path), trace.tasks, trace.events, trace.lost, trace.bytes,
                    trace.clock_ns, trace.wait_ns, trace.finish_seconds,
                    text(lib().tg_status_name(trace.status)), text(trace.text))


def scopes_of(result: Any) -> Optional[RunScopes]:
    scopes = result.scopes
    if not scopes.on:
        return None
    return RunScopes(scopes.no_rings, scopes.samples, scopes.dropped,
                     text(lib().tg_status_name(scopes.status)), text(scopes.text))
