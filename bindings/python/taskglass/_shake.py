# SPDX-License-Identifier: Apache-2.0
"""One case under many schedules: `taskglass.shake`."""

from __future__ import annotations

import ctypes
import os
import pathlib
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Tuple

from . import errors
from ._arguments import flag, function, integer, path as path_of, shown
from ._callbacks import pointer
from ._handle import Handle
from ._html import Shown
from ._interrupt import Interrupts
from ._library import encoded, lib, text
from ._types import Path
from .config import Config, SettingsHandle, config_of
from .execute import WorkloadFile, texts_of_params

__all__ = ["shake", "Shake", "OrderConstraint", "ShakeDifference", "ShakeTask"]

_PHASES = ("try", "repeat", "reduce", "confirm")
_RACE = (False, True, None)
_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64)
_MOST_RUNS = 1000000


@dataclass(frozen=True)
class ShakeTask:
    """A task, its kernels ("mat+vec" for a mix) and the source line that submitted it; "" if not known."""
    task: int
    kernel: str
    line: str


@dataclass(frozen=True)
class ShakeDifference:
    """How a run differs from the baseline: `change` is "none", "task", "tasks", "output", "golden" or
    "device". `task` is the first task, in the order of the run, with other bytes in `argument`; if `reads`,
    these differed before it began. `tasks` tasks have other outputs."""
    change: str
    status: str
    text: str
    output: str
    task: Optional[ShakeTask]
    reads: bool
    argument: Optional[int]
    tasks: int


@dataclass(frozen=True)
class OrderConstraint:
    """`before` has to complete before `after` starts. `race`: whether their arguments share bytes that one
    of them writes; None if that is not known."""
    before: ShakeTask
    after: ShakeTask
    race: Optional[bool]


@dataclass(frozen=True)
class Shake(Shown):
    """The answer of `taskglass.shake`; true if all schedules gave the same results.

    `result` is "same"; "order", if the `constraints` break the case; "schedule", if `schedule` does and could
    not be reduced, for the `reason` given; "not deterministic"; "baseline fails"; or "not known". `reduced` is
    a schedule for `run`, and broke the case `confirmed` times. `fewest` is false if the runs for reducing
    were spent before it was known that no constraint can be left out. Under `inside` schedules all outputs
    were the same and a task left other bytes in between; if `unstable_inside`, it does so under one schedule
    too."""
    result: str
    reason: str
    exit_code: int
    case: str
    tasks: int
    schedules: int
    found_at: Optional[int]
    runs: int
    seconds: float
    schedule: str
    reduced: str
    constraints: Tuple[OrderConstraint, ...]
    fewest: bool
    confirmed: int
    difference: Optional[ShakeDifference]
    inside: int
    inside_schedule: str
    inside_difference: Optional[ShakeDifference]
    unstable_inside: bool
    baseline_dir: Optional[pathlib.Path]
    failing_dir: Optional[pathlib.Path]
    reduced_dir: Optional[pathlib.Path]

    def __bool__(self) -> bool:
        return self.result == "same"


def _task(task: Any) -> ShakeTask:
    return ShakeTask(task.id, text(task.kernel), text(task.line))


def _difference(given: Any) -> Optional[ShakeDifference]:
    change = text(lib().tg_shake_change_name(given.change))
    if change == "none":
        return None
    has = given.has_task
    return ShakeDifference(change, text(lib().tg_status_name(given.status)), text(given.text),
                           text(given.output), _task(given.task) if has else None, bool(given.reads),
                           given.argument if has else None, given.tasks)


def _constraints(info: Any) -> Tuple[OrderConstraint, ...]:
    if not info.n_constraints:
        return ()
    array = (lib().layout.tg_shake_constraint * info.n_constraints).from_address(info.constraint)
    return tuple(OrderConstraint(_task(each.first), _task(each.second), _RACE[each.race])
                 for each in array)


def _dir(name: bytes) -> Optional[pathlib.Path]:
    return pathlib.Path(os.fsdecode(name)) if name else None


def _answer(handle: Handle) -> Shake:
    info = lib().layout.tg_shake_info()
    handle.get(lib().tg_shake_get, ctypes.byref(info))
    return Shake(
        text(lib().tg_shake_result_name(info.result)), text(info.reason),
        handle.get(lib().tg_shake_exit_code), text(info.case_name), info.tasks, info.schedules,
        info.found_at or None, info.runs, info.wall, text(info.schedule), text(info.reduced),
        _constraints(info), info.fewest, info.confirmed, _difference(info.difference), info.inside,
        text(info.inside_schedule), _difference(info.inside_difference), info.unstable_inside,
        _dir(info.baseline_dir), _dir(info.failing_dir), _dir(info.reduced_dir))


def shake(workload: Any, case: Optional[str] = None, *, config: Optional[Config] = None,
          set: Optional[Mapping[str, Any]] = None, runs: int = 200, seed: int = 1, reduce_runs: int = 300,
          strict: bool = False, output: Optional[Path] = None,
          progress: Optional[Callable[[str, int, int], Any]] = None, **settings: Any) -> Shake:
    """Runs one case under `runs` schedules on one core, compares the results, and reduces a schedule that
    breaks the case to the fewest order constraints, with at most `reduce_runs` further runs.

    `seed` is the first seed of random and adversarial schedules. With `strict`, a task that leaves other bytes
    breaks the case even if all outputs are the same. The recordings of the baseline, the failing run and the
    reduced one are kept in the new folder `output`. `workload`, `case`, `set` and the settings are those of
    `run`. `progress(phase, done, total)` is called several times a second; an exception from it, or Ctrl-C,
    ends the work."""
    function(progress, "progress")
    if set is not None and not isinstance(set, Mapping):
        raise errors.BadType(f"set is a mapping of parameters, not {shown(set)}")
    handle = SettingsHandle(config_of(config).updated(**settings))
    interrupts, changes = Interrupts(), texts_of_params(set)
    callback = _PROGRESS(lambda _, phase, done, total: interrupts.guard(
        progress, _PHASES[phase], done, total))
    wanted = lib().layout.tg_shake_config(
        case_name=encoded(case) if case is not None else None,
        set=ctypes.cast(changes, ctypes.c_void_p), n_set=len(changes) - 1,
        runs=integer(runs, "runs", 2, _MOST_RUNS),
        reduce_runs=integer(reduce_runs, "reduce_runs", 1, _MOST_RUNS),
        seed=integer(seed, "seed", 1, 2**63 - 1), strict=flag(strict, "strict"),
        output=None if output is None else encoded(path_of(output, "output")),
        progress=pointer(callback))
    file = WorkloadFile(handle, workload)
    made = ctypes.c_void_p()
    try:
        with interrupts, handle.use() as table, file.use() as module:
            lib().call(lib().tg_shake_run, table, module, ctypes.byref(wanted), ctypes.byref(made))
        assert made.value is not None
        answer = Handle(made.value, lib().tg_shake_destroy, "shake")
        try:
            return _answer(answer)
        finally:
            answer.close()
    finally:
        file.close()
        handle.close()
