# SPDX-License-Identifier: Apache-2.0
"""The runs of the past: `runs` lists them, and `remove_runs` removes some."""

from __future__ import annotations

import ctypes
import datetime
import os
import pathlib
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple, Union, overload

from . import errors
from ._arguments import flag, integer, name as name_of, path as path_of, real
from ._handle import Handle
from ._html import Shown
from ._library import encoded, lib, text
from ._types import Path

__all__ = ["PastRun", "RemovedRun", "Runs", "remove_runs", "runs"]

Age = Union[str, float, datetime.timedelta]


@dataclass(frozen=True)
class PastRun:
    """One run. What is not known is None.

    `result` is how it ended: "finished", "running", "cancelled", "failed", "interrupted" (its host was
    killed) or "unknown"; `status` the status that it ended with ("OK", "MISMATCH", "HANG" …)."""
    name: str
    path: pathlib.Path
    began: Optional[datetime.datetime]
    workload: Optional[str]
    case: Optional[str]
    platform: Optional[str]
    runtime: Optional[str]
    result: str
    status: Optional[str]
    seconds: float
    tasks: Optional[int]
    finished: Optional[int]
    records: Optional[int]
    lost: Optional[int]
    bytes: int
    other_files: int
    ranks: Optional[int] = None  # of a run of several, for `taskglass.Ranks(run.path)`; the counts are those of all


@dataclass(frozen=True)
class Runs(Shown):
    """The runs in a directory, the newest first; a sequence.

    `count` and `bytes` are those of all runs that the filters select, which a limit may leave out, and
    `unread` is the number of directories that this user may not read."""
    dir: str
    runs: Tuple[PastRun, ...]
    count: int
    bytes: int
    unread: int

    def __len__(self) -> int:
        return len(self.runs)

    @overload
    def __getitem__(self, index: int) -> PastRun: ...

    @overload
    def __getitem__(self, index: slice) -> Tuple[PastRun, ...]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[PastRun, Tuple[PastRun, ...]]:
        try:
            return self.runs[index]
        except IndexError:
            raise errors.OutOfRange(f"there is no run {index}; there are {len(self.runs)}") from None
        except TypeError:
            raise errors.BadType("runs have numbers from 0 on") from None


@dataclass(frozen=True)
class RemovedRun:
    """What `remove_runs` did with one run: `error` is why it is still there, and "" if it is not. Files
    that no run writes stay, with the directory; `other_files` counts them."""
    path: pathlib.Path
    removed: bool
    files: int
    bytes: int
    other_files: int
    error: str


def _time(seconds: int) -> Optional[datetime.datetime]:
    try:
        return datetime.datetime.fromtimestamp(seconds).astimezone()
    except (OverflowError, OSError, ValueError):  # run.json may say anything
        return None


def _entry(run: Any) -> PastRun:
    count = run.has_counts
    return PastRun(
        name=text(run.name), path=pathlib.Path(os.fsdecode(run.path)),
        began=_time(run.began),
        workload=text(run.workload) or None, case=text(run.case_name) or None,
        platform=text(run.platform) or None, runtime=text(run.runtime) or None,
        result=text(lib().tg_recording_state_name(run.state)),
        status=text(lib().tg_status_name(run.status)) if run.has_status else None,
        seconds=run.seconds, tasks=run.tasks if count else None,
        finished=run.finished if count else None, records=run.records if run.recorded else None,
        lost=run.lost if run.recorded else None, bytes=run.bytes, other_files=run.others,
        ranks=run.ranks or None)


def _age(age: Age) -> int:
    if isinstance(age, datetime.timedelta):
        return int(real(age.total_seconds(), "older_than"))
    if isinstance(age, str):
        seconds = ctypes.c_int64()
        lib().call(lib().tg_runs_parse_age, encoded(age), ctypes.byref(seconds))
        return seconds.value
    return integer(int(min(real(age, "older_than"), 2.0**62)), "older_than", 0, 2**62)


def _filter(workload: Optional[str], result: Optional[str], older_than: Optional[Age], keep: int,
            ended: bool) -> Any:
    return lib().layout.tg_runs_filter(
        workload=None if workload is None else encoded(name_of(workload, "workload")),
        result=None if result is None else encoded(name_of(result, "result")),
        has_age=older_than is not None, older_than=0 if older_than is None else _age(older_than),
        keep=integer(keep, "keep"), ended=ended)


def _open(function: Any, *arguments: Any) -> Handle:
    return Handle(lib().make(function, *arguments), lib().tg_runs_close, "list of runs")


def _entries(handle: Handle) -> List[PastRun]:
    found: List[PastRun] = []
    run = lib().layout.tg_runs_entry()
    with handle.use() as pointer:  # which owns the paths
        while lib().tg_runs_get(pointer, len(found), ctypes.byref(run)):
            found.append(_entry(run))
    return found


def _select(path: Optional[Path], filter: Any) -> Tuple[List[PastRun], int]:
    """The runs that a filter selects, and the number of directories that cannot be read."""
    try:
        handle = _open(lib().tg_runs_open, None if path is None else encoded(path))
    except errors.NotFound:
        if path is not None:
            raise
        lib().call(lib().tg_runs_check_result, filter.result or b"finished")
        return [], 0  # nothing was run here
    try:
        handle.call(lib().tg_runs_select, ctypes.byref(filter))
        return _entries(handle), handle.number(lib().tg_runs_unread, None)
    finally:
        handle.close()


def runs(path: Optional[Path] = None, *, workload: Optional[str] = None,
         result: Optional[str] = None, older_than: Optional[Age] = None, keep: int = 0,
         limit: Optional[int] = None) -> Runs:
    """Lists the runs in a directory (default: outputs/), the newest first, as `taskglass runs` does.

    `workload` is the name of one; `result` how they ended ("failed", "interrupted" …), or the name of a
    status ("HANG"); `older_than` an age such as "7d" or "12h", a timedelta or seconds; `keep` leaves out
    the newest so many of them. Raises NotFound if there is no such directory.
    """
    most = None if limit is None else integer(limit, "limit")
    found, unread = _select(path, _filter(workload, result, older_than, keep, False))
    return Runs("outputs" if path is None else path_of(path), tuple(found[:most]), len(found),
                sum(run.bytes for run in found), unread)


def _remove(path: pathlib.Path) -> Tuple[RemovedRun, Optional[errors.Error]]:
    removed = lib().layout.tg_runs_removed()
    failed: Optional[errors.Error] = None
    try:
        lib().call(lib().tg_runs_remove, encoded(path), ctypes.byref(removed))
    except errors.Error as error:
        failed = error
    return RemovedRun(path, failed is None, removed.files, removed.bytes, removed.others,
                      failed.text if failed else ""), failed


def _named(names: Tuple[Any, ...]) -> List[PastRun]:
    """A run that was named twice is removed once."""
    found: List[PastRun] = []
    for name in names:
        handle = _open(lib().tg_runs_find,
                       encoded(name.path if isinstance(name, PastRun) else name))
        found += [run for run in _entries(handle)
                  if not any(run.path.samefile(other.path) for other in found)]
        handle.close()
    return found


def remove_runs(*names: Union[Path, PastRun], workload: Optional[str] = None,
                result: Optional[str] = None, older_than: Optional[Age] = None, keep: int = 0,
                all: bool = False, check: bool = True) -> Tuple[RemovedRun, ...]:
    """Removes runs without a question, as `taskglass runs --remove --yes` does: those that are named (a
    path, the name of a directory under outputs/, or a PastRun), or those under outputs/ that the filters of
    `runs` select; `all` selects all. A run that still goes on is never removed.

    Tries every run, and raises the error of the first one that could not be removed; with `check=False` it
    is only in the result.
    """
    keep, every = integer(keep, "keep"), flag(all, "all")
    selects = workload is not None or result is not None or older_than is not None or keep > 0
    if not names and not selects and not every:
        raise errors.BadArgument("remove_runs needs the names of runs, or older_than, keep, workload, "
                                 "result or all")
    if names and (selects or every):
        raise errors.BadArgument("remove_runs takes names of runs or selects them, not both")
    found = _named(names) if names else _select(
        None, _filter(workload, result, older_than, keep, True))[0]
    done = [_remove(run.path) for run in found]
    failed = [error for _, error in done if error is not None]
    if failed and check:
        raise failed[0]
    return tuple(each for each, _ in done)
