# SPDX-License-Identifier: Apache-2.0
"""Checks recorded tasks with the reference functions of their kernels: `Recording.check`."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._arguments import function, integer, real
from ._handle import Handle
from ._interrupt import Interrupts
from ._html import Shown
from ._library import encoded, lib, text

__all__ = ["Check", "CheckedTask"]

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
    `by_kernel` the same for each kernel; `tasks` has every task that does not agree."""
    counts: Dict[str, int] = field(default_factory=dict)
    by_kernel: Dict[str, Dict[str, int]] = field(default_factory=dict)
    tasks: Tuple[CheckedTask, ...] = ()

    @property
    def result(self) -> str:
        """"wrong", "good", or "not known" where nothing was compared or a reference failed."""
        if self.counts["differs"]:
            return "wrong"
        return "good" if self.counts["agrees"] and not self.counts["failed"] else "not known"

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


def check(recording: Handle, module: Optional[Any], limit: float, workers: int,
          progress: Optional[Callable[[int, int], Any]],
          ask: Optional[Callable[[str, str], bool]]) -> Check:
    """`recording` is the handle of an open recording."""
    function(progress, "progress")
    function(ask, "ask")
    limit, workers = real(limit, "limit"), integer(workers, "workers", 0, 2**32 - 1)
    layout, interrupts = lib().layout, Interrupts()
    counts = dict.fromkeys(VERDICTS, 0)
    kernels: Dict[str, Dict[str, int]] = {}
    tasks: List[CheckedTask] = []

    def take(address: int) -> None:
        task = _task_of(layout.tg_reference_task.from_address(address))
        counts[task.verdict] += 1
        kernels.setdefault(task.kernel, dict.fromkeys(VERDICTS, 0))[task.verdict] += 1
        if task.verdict != "agrees":
            tasks.append(task)

    tell = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
        lambda _, address: interrupts.guard(take, address))
    show = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)(
        lambda _, done, total: interrupts.guard(progress, done, total))
    answers: List[bool] = []

    def put_question(address: int) -> None:
        question = layout.tg_trust_question.from_address(address)
        answers.append(ask is not None and bool(ask(os.fsdecode(question.module),
                                                    text(question.why))))

    asked = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)(
        lambda _, address: interrupts.guard(put_question, address) == 0 and any(answers))
    config = layout.tg_reference_config(module=encoded(module) if module is not None else None, limit=limit,
                                        workers=workers, progress=ctypes.cast(show, ctypes.c_void_p),
                                        ask=ctypes.cast(asked, ctypes.c_void_p) if ask else None)
    with interrupts:
        recording.call(lib().tg_reference_run, ctypes.byref(config), tell, None)
    return Check(counts, kernels, tuple(tasks))
