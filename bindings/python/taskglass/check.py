# SPDX-License-Identifier: Apache-2.0
"""Checks recorded tasks with the reference functions of their kernels, or with values that NumPy saved:
`Recording.check` and `Recording.check_against`."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from ._arguments import function, path as path_of, real
from ._callbacks import Ask, Progress, references
from ._interrupt import Interrupts
from ._html import Shown
from ._library import encoded, lib, text
from ._query import Query

if TYPE_CHECKING:
    from .recording import Record, Recording

__all__ = ["Against", "Check", "CheckedTask", "Compared"]

VERDICTS = ("agrees", "differs", "no reference", "incomplete", "failed", "empty")
_NO_ULP = 2**64 - 1


@dataclass(frozen=True)
class CheckedTask:
    """One task. `verdict` is one of VERDICTS; `why` is the reason for the last four.

    `argument`, `mismatches`, `first`, `got` and `expected` describe the first output that differs.
    `max_ulp` is None where NaN or an infinity stands against another value, and where nothing was
    compared."""
    task: int
    kernel: str
    verdict: str
    why: str = ""
    argument: Optional[int] = None
    mismatches: int = 0
    first: Optional[int] = None
    got: Optional[float] = None
    expected: Optional[float] = None
    max_error: Optional[float] = None
    max_relative: Optional[float] = None
    max_ulp: Optional[int] = None


@dataclass(frozen=True)
class Check(Shown):
    """The result of `Recording.check`. `counts` has the number of tasks with each verdict, and
    `by_kernel` the same for each kernel; `tasks` has every task that does not agree.

    `result` is "wrong", "good", or "not known" where nothing was compared or a reference failed; `reason`
    then says why. `left_out` has what the recording lacks."""
    counts: Dict[str, int] = field(default_factory=dict)
    by_kernel: Dict[str, Dict[str, int]] = field(default_factory=dict)
    tasks: Tuple[CheckedTask, ...] = ()
    result: str = "not known"
    reason: str = ""
    left_out: Tuple[str, ...] = ()

    @property
    def wrong(self) -> Tuple[CheckedTask, ...]:
        return tuple(task for task in self.tasks if task.verdict == "differs")

    @property
    def failed(self) -> Tuple[CheckedTask, ...]:
        return tuple(task for task in self.tasks if task.verdict == "failed")


def _task_of(found: Any) -> CheckedTask:
    verdict = VERDICTS[getattr(found, "is")]
    if verdict not in ("agrees", "differs"):
        return CheckedTask(found.task, text(found.kernel), verdict, text(found.why))
    wrong: Dict[str, Any] = {}
    if verdict == "differs":
        wrong = {"argument": found.argument, "mismatches": found.check.mismatches,
                 "first": found.check.first, "got": found.check.first_got,
                 "expected": found.check.first_expected}
    return CheckedTask(found.task, text(found.kernel), verdict, max_error=found.max_error,
                       max_relative=found.max_relative,
                       max_ulp=None if found.max_ulp == _NO_ULP else found.max_ulp, **wrong)


def check(recording: "Recording", module: Optional[Any], limit: float, workers: int,
          sandbox: Optional[str], progress: Progress, ask: Ask) -> Check:
    layout, interrupts = lib().layout, Interrupts()
    counts, sums = dict.fromkeys(VERDICTS, 0), layout.tg_reference_counts()
    kernels: Dict[str, Dict[str, int]] = {}
    tasks: List[CheckedTask] = []

    def take(address: int) -> None:
        lib().tg_reference_count(ctypes.byref(sums), address)
        task = _task_of(layout.tg_reference_task.from_address(address))
        counts[task.verdict] += 1
        kernels.setdefault(task.kernel, dict.fromkeys(VERDICTS, 0))[task.verdict] += 1
        if task.verdict != "agrees":
            tasks.append(task)

    tell = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
        lambda _, address: interrupts.guard(take, address))
    config = references(interrupts, module, limit, workers, sandbox, progress, ask)
    reason = layout.tg_reference_reason()
    with interrupts, recording._handle.use() as pointer:
        lib().call(lib().tg_reference_run, pointer, ctypes.byref(config), tell, None)
        word = lib().tg_reference_result(pointer, ctypes.byref(sums), ctypes.byref(reason))
    return Check(counts, kernels, tuple(tasks), text(word), text(reason.text), recording.notes)


# --- values that NumPy saved ---------------------------------------------------------------------

@dataclass(frozen=True)
class Compared:
    """A recorded tensor and the array that it was compared with; `name` is that of the array in an
    .npz. `mismatches` of its elements differ, the first at `first` (its number in row-major order)."""
    name: str
    record: "Record"
    elements: int
    mismatches: int
    max_error: float
    first: Optional[int] = None
    got: Optional[float] = None
    expected: Optional[float] = None

    @property
    def result(self) -> str:
        return "wrong" if self.mismatches else "good"


@dataclass(frozen=True)
class Against(Shown):
    """The result of `Recording.check_against`; true if nothing is wrong."""
    result: str  # "good" or "wrong"
    compared: Tuple[Compared, ...]

    @property
    def wrong(self) -> Tuple[Compared, ...]:
        return tuple(each for each in self.compared if each.mismatches)

    def __bool__(self) -> bool:
        return self.result == "good"


def _compared(recording: "Recording", pair: Any) -> Compared:
    check, differs = pair.check, pair.check.mismatches > 0
    return Compared(
        text(pair.name), recording[pair.index], check.elements, check.mismatches, check.max_error,
        check.first if differs else None, check.first_got if differs else None,
        check.first_expected if differs else None)


def check_against(recording: "Recording", file: Any, atol: Optional[float], rtol: Optional[float],
                  progress: Optional[Callable[[int], Any]], query: Query) -> Against:
    layout, interrupts, found = lib().layout, Interrupts(), []  # type: Any, Interrupts, List[Compared]
    function(progress, "progress")

    def take(address: int) -> None:
        found.append(_compared(recording, layout.tg_against_pair.from_address(address)))
        if progress is not None:
            progress(len(found))

    tell = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
        lambda _, address: interrupts.guard(take, address))
    if query.is_empty:  # a query that matches no record, as the library has none
        query.handle.call(lib().tg_query_add, b"index", str(2**64 - 1).encode())
    config = layout.tg_against_config(
        file=encoded(path_of(file)), has_atol=atol is not None, has_rtol=rtol is not None,
        atol=0 if atol is None else real(atol, "atol"), rtol=0 if rtol is None else real(rtol, "rtol"))
    with interrupts, query.handle.use() as config.query, recording._handle.use() as pointer:
        lib().call(lib().tg_check_against, pointer, ctypes.byref(config), tell, None)
    return Against("wrong" if any(each.mismatches for each in found) else "good", tuple(found))
