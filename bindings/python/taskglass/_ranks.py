# SPDX-License-Identifier: Apache-2.0
"""What a run of several ranks has left: one directory with ranks.json and a folder for each rank.

with taskglass.Ranks("outputs/mlp_20260101_120000") as ranks:
    for rank in ranks:
        print(rank.rank, rank.status, len(rank.recording()))
    print(ranks.explain().root)
"""

from __future__ import annotations

import ctypes
import os
import pathlib
from dataclasses import dataclass, field
from typing import Any, Iterator, List, Optional

from . import _html, errors
from ._arguments import flag, integer, path as path_of
from ._calls import Call, find_other_side, read_calls, to_dataframe
from ._handle import Closing, Handle
from ._library import encoded, lib, text
from ._query import Filter
from ._ranks_answers import (RanksDiff, RanksExplanation, RanksMessages, RanksSameness, RanksTrace, across_of,
                             compare_of, difference_of, explanation_of, messages_of, trace_of)
from ._tolerances import several
from ._types import Path
from .recording import Recording

__all__ = ["Rank", "RankClock", "Ranks"]


@dataclass(frozen=True)
class RankClock:
    """How a rank's clock (CLOCK_MONOTONIC of its machine) goes beside rank 0's. A time near `at_ns` is off by at
    most `error_ns`."""
    offset_ns: int
    drift: float  # 1e-6: a microsecond each second
    at_ns: int
    error_ns: int
    samples: int

    def to_rank0(self, own_ns: int) -> int:
        """The time of rank 0 at which the rank's own clock had this time."""
        clock = lib().layout.tg_ranks_clock(
            is_known=True, offset_ns=self.offset_ns, drift=self.drift, at_ns=self.at_ns,
            error_ns=self.error_ns, samples=self.samples)
        return int(lib().tg_ranks_time(ctypes.byref(clock), integer(own_ns, "a time", -2**63, 2**63 - 1)))


@dataclass(frozen=True)
class Rank(_html.Shown):
    """One rank. `dir` is its run's directory; with `is_there` False it may be on another machine's disk.
    `status` is how it ended ("OK", "KERNEL_FAULT" …), "RUNNING", or None if that is not known."""
    rank: int
    status: Optional[str]
    error: str  # one line; "" if there is none
    dir: pathlib.Path
    is_there: bool
    host: str
    pid: int
    local_rank: int  # its number on its machine
    ended_ns: Optional[int]  # on its own clock
    clock: Optional[RankClock] = field(repr=False)  # None: not known
    _other: Optional[errors.Error] = field(default=None, repr=False, compare=False)  # whose files are there instead

    def recording(self) -> Recording:
        """The recording of the rank."""
        self._check()
        return Recording(self.dir)

    def calls(self) -> List[Call]:
        """Its communication, in the order in which it was done. Raises NotFound if it was not kept: a run keeps it
        that is recorded, traced, or has `deps`."""
        self._check()
        return read_calls(self.rank, self.dir)

    def _check(self) -> None:
        if not self.is_there:
            raise errors.NotFound(f"rank {self.rank}: '{self.dir}' is not here",
                                  advice=f"copy it from {self.host or 'its machine'}")
        if self._other:
            raise self._other


class Ranks(Closing, _html.Shown):
    """The files of a run of several ranks; a sequence of `Rank`.

    `path` is the directory with ranks.json. Raises NotFound if it has none. The files are not trusted: they are
    checked before use.
    """

    def __init__(self, path: Path) -> None:
        self._handle = Handle(lib().make(lib().tg_ranks_open, encoded(path_of(path))),
                              lib().tg_ranks_close, "directory of ranks")
        info = lib().layout.tg_ranks_info()
        with self._handle.use_alone() as pointer:
            lib().tg_ranks_get_info(pointer, ctypes.byref(info))
            self.dir = pathlib.Path(os.fsdecode(info.dir))
            self._ranks = tuple(_rank_of(pointer, number) for number in range(info.ranks))
        self.workload, self.case = text(info.workload), text(info.case_name)
        #: What carried the data: "local", and a line about it.
        self.transport, self.about = text(info.transport), text(info.about)
        #: "OK", "COMM_MISMATCH" …, "RUNNING", or None if nothing says it.
        self.status: Optional[str] = _status(info)

    def __len__(self) -> int:
        return len(self._ranks)

    def __getitem__(self, rank: int) -> Rank:
        number = integer(rank, "a rank", -2**63, 2**63 - 1)
        try:
            return self._ranks[number]
        except IndexError:
            raise errors.OutOfRange(f"there is no rank {number}; there are {len(self)}") from None

    def __iter__(self) -> Iterator[Rank]:
        return iter(self._ranks)

    # --- calls ---------------------------------------------------------------------------------

    def calls(self) -> List[Call]:
        """The communication of all ranks that are here and have kept it. Raises NotFound if none has."""
        found: List[Call] = []
        missing: List[errors.Error] = []
        for rank in self:
            try:
                found += rank.calls()
            except errors.NotFound as error:
                missing.append(error)
        if len(missing) == len(self):
            raise missing[0]
        return found

    def calls_to_dataframe(self) -> Any:
        """The same as a table of pandas, one row for each call."""
        return to_dataframe(self.calls())

    def other_side(self, call: Call) -> Optional[Call]:
        """The receive of a send, or the send of a receive; None if the comm.jsonl of the other rank does not have it:
        it did not make it, or the file is not complete, which `verify().incomplete` says."""
        if not isinstance(call, Call):
            raise errors.BadType("other_side takes a taskglass.Call")
        if call.peer is None or not call.is_message:
            return find_other_side(call, self.dir)  # says what is wrong
        other = self[call.peer]
        other._check()
        return find_other_side(call, other.dir)

    # --- answers -------------------------------------------------------------------------------

    def verify(self) -> RanksMessages:
        """Whether the messages fit: both ends of each, and the results that must be the same on all ranks. It does
        not read the recordings of the ranks, as `rank.recording().verify()` does."""
        return messages_of(self._handle)

    def explain(self) -> RanksExplanation:
        """Why the run failed or hung: who waits for whom, and who failed first."""
        return explanation_of(self._handle)

    def diff(self, other: "Ranks", *, atol: Any = None, rtol: Any = None, equal_nan: bool = False
             ) -> RanksDiff:
        """Compares each rank with the same rank of another run, which is trusted, and names the tasks where a
        difference began, on whichever rank. `atol` and `rtol` are as in `taskglass.diff`."""
        if not isinstance(other, Ranks):
            raise errors.BadType("diff takes a taskglass.Ranks")
        return difference_of(self._handle, other._handle, atol, rtol, flag(equal_nan, "equal_nan"))

    def across(self, *, atol: Any = None, rtol: Any = None, equal_nan: bool = False, task: Filter = None,
               kernel: Filter = None, stage: Filter = None, role: Filter = None, kind: Filter = None,
               arg: Filter = None) -> RanksSameness:
        """Whether tensors are the same on all ranks: the results of all_reduce, broadcast and all_gather, or, with
        filters, the n-th record that they select on each rank. Bit for bit, unless there are
        tolerances."""
        filters = {"task": task, "kernel": kernel, "stage": stage, "role": role, "kind": kind, "arg": arg}
        return across_of(self._handle, filters, atol, rtol, flag(equal_nan, "equal_nan"))

    def compare(self, one: Recording, *shards: str, atol: Any = None, rtol: Any = None,
                equal_nan: bool = False) -> RanksSameness:
        """Compares the recording of one device with the parts that the ranks have. Each shard says how a tensor lies
        on the ranks, as `taskglass diff ONE MANY --shard` takes it: "mlp_bias.2=b h(rank)", "gemm.2=partial(sum)",
        "step.1=replicated"."""
        if not isinstance(one, Recording):
            raise errors.BadType("compare takes the taskglass.Recording of one device")
        return compare_of(self._handle, one._handle, [str(each) for each in several(shards, "shards")],
                          atol, rtol, flag(equal_nan, "equal_nan"))

    def write_trace(self, path: Path, *, overwrite: bool = False, recorded: bool = False) -> RanksTrace:
        """Writes one trace of all ranks, on the clock of rank 0: Chrome's JSON if the name ends in .json, else
        Perfetto's protobuf. `recorded` takes the recordings also where ranks have traces."""
        return trace_of(self.dir, path_of(path), flag(overwrite, "overwrite"), flag(recorded, "recorded"))

    def __repr__(self) -> str:
        return (f"<Ranks of {self.workload}, case {self.case}: {len(self)}, {self.status or 'not known'}, "
                f"'{self.dir}'>")

    def _as_html(self) -> str:
        rows = ([rank.rank, rank.status, rank.error, rank.host, rank.pid] for rank in self)
        return _html.card(f"{self.workload}, case {self.case}: {self.status}", {
            "ranks": len(self), "transport": self.about or self.transport, "files": self.dir},
            _html.table(("rank", "status", "error", "host", "pid"), rows, len(self)))


def _status(info: Any) -> Optional[str]:
    if info.is_running:
        return "RUNNING"
    return text(lib().tg_status_name(info.status)) if info.has_status else None


def _clock(clock: Any) -> Optional[RankClock]:
    if not clock.is_known:
        return None
    return RankClock(clock.offset_ns, clock.drift, clock.at_ns, clock.error_ns, clock.samples)


def _rank_of(ranks: int, number: int) -> Rank:
    rank = lib().layout.tg_ranks_rank()
    lib().tg_ranks_get(ranks, number, ctypes.byref(rank))
    return Rank(rank.rank, _status(rank), text(rank.error), pathlib.Path(os.fsdecode(rank.dir)),
                rank.is_there, text(rank.host), rank.pid, rank.local_rank,
                rank.ended_ns if rank.has_end else None, _clock(rank.clock), _other_files(ranks, number))


def _other_files(ranks: int, number: int) -> Optional[errors.Error]:
    try:
        lib().call(lib().tg_ranks_check_folder, ranks, number)
    except errors.NotFound:
        pass  # `is_there` says it
    except errors.BadArgument as error:
        return error
    return None
