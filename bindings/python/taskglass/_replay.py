# SPDX-License-Identifier: Apache-2.0
"""One recorded task again, alone: `Recording.replay` and `Recording.bundle`."""

from __future__ import annotations

import ctypes
import os
import pathlib
from dataclasses import dataclass
from typing import Any, Optional, Tuple

from . import errors
from ._arguments import integer, path as path_of
from ._callbacks import Ask, pointer, stop, trust
from ._handle import Handle
from ._html import Shown
from ._interrupt import Interrupts
from ._library import encoded, lib, text
from ._query import Query, filter_text
from .config import Config, SettingsHandle

__all__ = ["Replay", "ReplayOutput"]

MOST_RUNS = 1000000


@dataclass(frozen=True)
class ReplayOutput:
    """An output of the task. `mismatches` elements differ from the recorded ones, the first at `first`
    (its number in row-major order); `recorded` says whether the recording has the output at all, and
    `varied` how many runs gave a result other than that of the first."""
    argument: int
    dtype: str
    shape: Tuple[int, ...]
    elements: int
    recorded: bool
    mismatches: int
    max_error: float
    varied: int
    first: Optional[int] = None
    got: Optional[float] = None
    recorded_value: Optional[float] = None


@dataclass(frozen=True)
class Replay(Shown):
    """The answer of `Recording.replay`. `result` is "same"; "differs", from the recording or between runs;
    or "not known", with a `reason`, if the recording has no output to compare with."""
    task: int
    kernel: str
    platform: str
    runs: int
    result: str
    reason: str
    same: Optional[bool]  # None: not known
    deterministic: bool
    outputs: Tuple[ReplayOutput, ...]

    def __bool__(self) -> bool:
        return self.result == "same"


def task_number(task: Any) -> int:
    """The number of the one task that a filter selects."""
    query = Query({"task": task})
    first, last = ctypes.c_uint64(), ctypes.c_uint64()
    ends = (ctypes.byref(first), ctypes.byref(last))
    is_one = not query.is_empty and query.handle.get(lib().tg_query_get_range, b"task", 0, *ends)
    number = first.value
    is_one = is_one and number == last.value
    if not is_one or query.handle.get(lib().tg_query_get_range, b"task", 1, *ends):
        raise errors.BadArgument(f"task: '{filter_text(task, True)}' selects more than one task; replay "
                                 "runs one" if not query.is_empty else "replay needs a task")
    return number


def output_of(output: Any) -> ReplayOutput:
    check = output.check
    differs = check.mismatches > 0
    return ReplayOutput(
        output.argument, text(check.dtype), tuple(output.shape[:output.ndim]), check.elements,
        output.recorded, check.mismatches, check.max_error, output.varied,
        check.first if differs else None, check.first_got if differs else None,
        check.first_expected if differs else None)


def _config(interrupts: Interrupts, module: Any, repeat: int, ask: Ask) -> Any:
    asked, halt = trust(interrupts, ask), stop(interrupts)
    config = lib().layout.tg_replay_config(
        module=encoded(module) if module is not None else None, repeat=repeat,
        ask=pointer(asked) if asked else None, stop=pointer(halt))
    config.kept = (asked, halt)
    return config


def replay(recording: Handle, task: Any, repeat: int, module: Any, ask: Ask, settings: Config
           ) -> Replay:
    number, interrupts = task_number(task), Interrupts()
    config = _config(interrupts, module, integer(repeat, "repeat", 1, MOST_RUNS), ask)
    result, table = lib().layout.tg_replay_result(), SettingsHandle(settings)
    with interrupts, table.use() as chosen, recording.use() as recorded:
        lib().call(lib().tg_replay_task, chosen, recorded, number, ctypes.byref(config),
                   ctypes.byref(result))
    reason = ctypes.c_char_p()
    word = text(lib().tg_replay_word(ctypes.byref(result), ctypes.byref(reason)))
    outputs = tuple(output_of(output) for output in result.output[:result.n_outputs])
    return Replay(number, text(result.kernel), text(result.platform), result.runs, word,
                  text(reason.value), None if reason.value else result.same, result.deterministic,
                  outputs)


def bundle(recording: Handle, task: Any, folder: Any, module: Any, ask: Ask) -> pathlib.Path:
    number, interrupts, name = task_number(task), Interrupts(), path_of(folder, "folder")
    config = _config(interrupts, module, 1, ask)
    with interrupts:
        recording.call(lib().tg_replay_bundle, number, ctypes.byref(config), os.fsencode(name))
    return pathlib.Path(name)
