# SPDX-License-Identifier: Apache-2.0
"""Where the time of a run went, and what would make it faster: `path`."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from . import errors
from ._arguments import integer
from ._handle import Handle
from ._html import Shown
from ._library import encoded, lib, text, words
from ._newest import newest
from ._types import Path

if TYPE_CHECKING:
    from .recording import Recording

__all__ = ["CoreTime", "Gain", "KernelTime", "PathStep", "RunPath", "TaskTime", "path"]

_NONE = 2**64 - 1
_NO_CORE = 2**32 - 1
_CORE_KINDS = ("aic", "aiv")
_BY_WAIT = 0
_KERNELS = 20  # whose gains are computed, unless there is a limit


@dataclass(frozen=True)
class TaskTime:
    """The times of a task, in nanoseconds of the device's clock; None if they are not known.

    `busy_ns` and `latency_ns` are what it waited from ready to begin: every core that could run it was busy,
    or one was idle."""
    task: int
    kernel: Optional[str]
    scope: Optional[str]
    core: Optional[int]
    submitted_ns: Optional[int]
    ready_ns: Optional[int]
    begin_ns: Optional[int]
    end_ns: Optional[int]
    busy_ns: Optional[int]
    latency_ns: Optional[int]
    edges: int
    unfinished: bool


@dataclass(frozen=True)
class PathStep:
    """A step of the critical path: what lies between the end of the task `after` (None: the start of the
    run) and the end of `task`. `spent_ns` is by kind: "run", "busy", "latency", "handover",
    "orchestrator", "room", "unknown"."""
    task: TaskTime
    after: Optional[int]
    from_ns: int
    by_orchestrator: bool
    spent_ns: Dict[str, int]


@dataclass(frozen=True)
class KernelTime:
    """All tasks with the same kernel; the last three members are about those on the critical path."""
    kernel: str
    tasks: int
    run_ns: int
    longest_ns: int
    wait_ns: Optional[int]
    path_tasks: int
    path_run_ns: int
    path_wait_ns: Optional[int]


@dataclass(frozen=True)
class CoreTime:
    """A core, or all cores of a kind. Idle time by cause: no task was ready, none that such a core runs, or
    one that it could have run."""
    name: str
    kind: Optional[str]  # "aic" or "aiv"
    core: Optional[int]  # None: all of the kind
    cores: int
    tasks: int
    run_ns: int
    idle_ns: int
    nothing_ns: Optional[int]
    other_ns: Optional[int]
    latency_ns: Optional[int]


@dataclass(frozen=True)
class Gain:
    """How long the run would take with a `change`: "unlimited_cores_no_waiting", "no_waiting",
    "unlimited_cores", "no_latency", "no_orchestrator", or "kernel": `kernel` takes `percent` of its time.
    `basis` is "bound" if no run of these tasks can be shorter, else "estimate". None: not known."""
    change: str
    basis: str
    span_ns: Optional[int]
    gained_ns: Optional[int]
    kernel: Optional[str] = None
    percent: Optional[int] = None


@dataclass(frozen=True)
class RunPath(Shown):
    """The answer of `path`. Times are nanoseconds of the device's clock; what is not known is None.

    `result` is "known", or "not known" with a `reason` if no task has a time; everything else is then
    empty. `path_unknown` says why there is no critical path, `wait_unknown` why nothing is known about ready
    tasks; "" if it is known. `steps` is the critical path, and `spent_ns` where its time goes."""
    result: str
    reason: str = ""
    source: str = ""  # "recording", "trace" or "swimlane"
    file: str = ""
    workload: Optional[str] = None
    case: Optional[str] = None
    platform: Optional[str] = None
    runtime: Optional[str] = None
    run_result: Optional[str] = None  # how the run ended: "OK", "HANG" …
    clock_step_ns: Optional[int] = None
    tasks: int = 0
    timed: int = 0
    unfinished: int = 0
    half_timed: int = 0
    edges: int = 0
    unknown_edges: int = 0
    early_edges: int = 0
    twins: int = 0
    backward: int = 0
    lost: int = 0
    start_ns: int = 0
    end_ns: int = 0
    run_end_ns: Optional[int] = None
    path_unknown: str = ""
    spent_ns: Dict[str, int] = field(default_factory=dict)
    steps: Tuple[PathStep, ...] = field(default=(), repr=False)
    wait_unknown: str = ""
    ready_measured: bool = False
    submits_known: bool = False
    wait_ns: Optional[int] = None  # that tasks were ready and did not run
    wait_busy_ns: Optional[int] = None  # part of it: every core that could run them was busy
    dispatched_ns: Optional[int] = None  # part of it: a scheduler had given the task to a core
    waited: int = 0  # tasks that waited at all
    longest_waits: Tuple[TaskTime, ...] = field(default=(), repr=False)
    kernels: Tuple[KernelTime, ...] = field(default=(), repr=False)
    kinds: Tuple[CoreTime, ...] = field(default=(), repr=False)
    cores: Tuple[CoreTime, ...] = field(default=(), repr=False)
    gains: Tuple[Gain, ...] = field(default=(), repr=False)
    notes: Tuple[str, ...] = ()
    left_out: Tuple[str, ...] = ()

    @property
    def span_ns(self) -> int:
        """From the run's start to the last end of a task."""
        return self.end_ns - self.start_ns


def _known(number: int) -> Optional[int]:
    return None if number == _NONE else number


class _Reader:
    """Turns the library's timing into objects; `pointer` is the timing."""

    def __init__(self, pointer: int, most: Optional[int]) -> None:
        self.timing, self.most = pointer, _NONE if most is None else most
        self.info = lib().layout.tg_timing_info()
        lib().tg_timing_get_info(pointer, ctypes.byref(self.info))
        self.names = words("tg_spent_name", "?")
        self.kernels = self._kernels()

    def _each(self, function: Any, item: Any, most: int = _NONE) -> Any:
        number = 0
        while number < most and function(self.timing, number, ctypes.byref(item)):
            yield item
            number += 1

    def _kernels(self) -> List[KernelTime]:
        return [KernelTime(text(each.name), each.tasks, each.run, each.most, _known(each.wait),
                           each.path_tasks, each.path_run, _known(each.path_wait))
                for each in self._each(lib().tg_timing_get_kernel, lib().layout.tg_timing_kernel())]

    def _spent(self, spent: Any) -> Dict[str, int]:
        return dict(zip(self.names, spent))

    def _task(self, number: int) -> Optional[TaskTime]:
        task = lib().layout.tg_timing_task()
        if not lib().tg_timing_get_task(self.timing, number, ctypes.byref(task)):
            return None
        has_kernel = task.kernel < len(self.kernels)
        return TaskTime(
            task.id, self.kernels[task.kernel].kernel if has_kernel else None,
            text(task.scope) or None, None if task.core == _NO_CORE else task.core,
            _known(task.submitted), _known(task.ready), _known(task.begin), _known(task.end),
            _known(task.busy), _known(task.latency), task.edges, task.unfinished)

    def steps(self) -> Tuple[PathStep, ...]:
        found = []
        for step in self._each(lib().tg_timing_get_step, lib().layout.tg_timing_step()):
            task, after = self._task(step.task), self._task(step.after)
            assert task is not None
            found.append(PathStep(task, None if after is None else after.task, getattr(step, "from"),
                                  step.by_orchestrator, self._spent(step.spent)))
        return tuple(found)

    def longest_waits(self) -> Tuple[TaskTime, ...]:
        room = min(self.info.waited, self.most)
        numbers = (ctypes.c_uint64 * (room + 1))()
        count = lib().tg_timing_rank(self.timing, _BY_WAIT, room, numbers)
        tasks = (self._task(numbers[i]) for i in range(count))
        return tuple(task for task in tasks if task is not None)

    def _core(self, core: Any, is_kind: bool) -> CoreTime:
        kind = _CORE_KINDS[core.kind] if core.kind < len(_CORE_KINDS) else None
        return CoreTime(text(core.name), kind, None if is_kind else core.number, core.cores,
                        core.tasks, core.run, core.idle, _known(core.nothing), _known(core.other),
                        _known(core.latency))

    def cores(self) -> Tuple[CoreTime, ...]:
        return tuple(self._core(core, False) for core in self._each(
            lib().tg_timing_get_core, lib().layout.tg_timing_core()))

    def kinds(self) -> Tuple[CoreTime, ...]:
        return tuple(self._core(core, True) for core in self._each(
            lib().tg_timing_get_kind, lib().layout.tg_timing_core()))

    def gains(self) -> Tuple[Gain, ...]:
        gain, found = lib().layout.tg_timing_gain(), []  # type: Any, List[Gain]
        span = self.info.end - self.info.start
        kernels = min(len(self.kernels), _KERNELS if self.most == _NONE else self.most)
        while True:
            try:
                lib().call(lib().tg_timing_get_gain, self.timing, len(found), ctypes.byref(gain))
            except errors.NotFound:
                break
            is_kernel = gain.kernel != _NONE
            if is_kernel and gain.kernel >= kernels:
                break
            known = _known(gain.span)
            found.append(Gain(
                text(gain.change), "bound" if gain.is_bound else "estimate", known,
                None if known is None else span - known,
                self.kernels[gain.kernel].kernel if is_kernel else None,
                gain.percent if is_kernel else None))
        return tuple(found)

    def notes(self) -> Tuple[str, ...]:
        note = lib().layout.tg_note()
        return tuple(text(each.text) for each in self._each(lib().tg_timing_note, note))

    def left_out(self) -> Tuple[str, ...]:
        recording = lib().tg_timing_recording(self.timing)
        info, note = lib().layout.tg_recording_info(), lib().layout.tg_note()
        notes: List[str] = []
        if recording:
            lib().tg_recording_get_info(recording, ctypes.byref(info))
            while lib().tg_recording_note(ctypes.byref(info), len(notes), ctypes.byref(note)):
                notes.append(text(note.text))
        return tuple(notes)

    def result(self) -> RunPath:
        info = self.info
        has_path, has_wait = not info.path_unknown, not info.wait_unknown
        most = None if self.most == _NONE else self.most
        return RunPath(
            "known", source=text(info.source), file=os.fsdecode(info.file or b""),
            workload=text(info.workload) or None, case=text(info.case_name) or None,
            platform=text(info.platform) or None, runtime=text(info.runtime) or None,
            run_result=text(info.result) or None, clock_step_ns=info.clock_step or None,
            tasks=info.tasks, timed=info.timed, unfinished=info.unfinished,
            half_timed=info.half_timed, edges=info.edges, unknown_edges=info.unknown_edges,
            early_edges=info.early_edges, twins=info.twins, backward=info.backward, lost=info.lost,
            start_ns=info.start, end_ns=info.end, run_end_ns=_known(info.run_end),
            path_unknown=text(info.path_unknown),
            spent_ns=self._spent(info.spent) if has_path else {},
            steps=self.steps() if has_path else (), wait_unknown=text(info.wait_unknown),
            ready_measured=info.has_ready, submits_known=info.has_submits,
            wait_ns=_known(info.wait) if has_wait else None,
            wait_busy_ns=_known(info.wait_busy) if has_wait else None,
            dispatched_ns=_known(info.dispatched) if has_wait else None, waited=info.waited,
            longest_waits=self.longest_waits() if has_wait else (),
            kernels=tuple(self.kernels[:most]), kinds=self.kinds(), cores=self.cores(),
            gains=self.gains(), notes=self.notes(), left_out=self.left_out())


def _read(function: Any, *arguments: Any, limit: Optional[int]) -> RunPath:
    most = None if limit is None else integer(limit, "limit")
    try:
        handle = Handle(lib().make(function, *arguments), lib().tg_timing_close, "timing")
    except errors.Unsupported as error:
        return RunPath("not known", error.text)
    try:
        with handle.use() as pointer:
            return _Reader(pointer, most).result()
    finally:
        handle.close()


def path(path: Optional[Path] = None, *, limit: Optional[int] = None) -> RunPath:
    """Where the time of a run went, as `taskglass path` says: its critical path, how long tasks were ready
    without running, why cores were idle, and what would be gained by a change.

    `path` is the directory of a recorded run, a trace that `run(…, trace=…)` or an export wrote, or a
    swimlane of the other implementation; by default the newest recorded run under outputs/. `limit` gives
    at most so many kernels and waiting tasks. Raises NotFound if nothing is there, and BadArgument if it is
    none of these, or damaged.
    """
    name = newest() if path is None else path
    return _read(lib().tg_timing_open, encoded(name), limit=limit)


def path_of_recording(recording: "Recording", limit: Optional[int]) -> RunPath:
    """The same for a run that is open; a swimlane beside it counts as in `path`."""
    with recording._handle.use():
        return path(recording.dir, limit=limit)
