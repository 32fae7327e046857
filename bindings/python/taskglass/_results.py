# SPDX-License-Identifier: Apache-2.0
"""What a run took besides its recording: a trace, and scope stats."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass
from typing import Any, Optional

from ._library import lib, text

__all__ = ["RunScopes", "RunTrace"]


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
