# SPDX-License-Identifier: Apache-2.0
"""What the files of all ranks of a run say together: `Ranks.verify`, `explain`, `diff`, `across`, `compare` and
`write_trace` give these."""

from __future__ import annotations

import ctypes
import os
import pathlib
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from . import dtypes, errors
from ._calls import Call, call_of
from ._handle import Handle
from ._html import Shown
from ._interrupt import Interrupts
from ._library import encoded, lib, text
from ._query import Filter, Query
from ._tolerances import options_of

__all__ = ["RankEnd", "RankMisfit", "RankWait", "RanksCause", "RanksDiff", "RanksExplanation",
           "RanksMessages", "RanksSame", "RanksSameness", "RanksTrace", "ShardResult"]

_NO_TASK = 2**64 - 1
_LINES = 16  # that a list of texts in a structure has room for


def _lines(structure: Any, member: str, count: int) -> Tuple[str, ...]:
    """The texts of a member that is an array of them."""
    where = getattr(type(structure), member)
    start, room = ctypes.addressof(structure) + where.offset, where.size // _LINES
    return tuple(text(ctypes.string_at(start + i * room, room).split(b"\0")[0])
                 for i in range(min(count, _LINES)))


# --- do the messages fit? -----------------------------------------------------------------------

@dataclass(frozen=True)
class RankMisfit:
    """A call that does not fit to that of another rank."""
    rank: int
    other: int
    task: int  # on `rank`
    text: str


@dataclass(frozen=True)
class RanksMessages(Shown):
    """Both ends of every message, compared; true if `result` is "good". It is "not all compared" if all calls fit,
    but hashes of contents are missing, "not known" if of some calls it is not known whether they fit, or "bad"."""
    result: str
    messages: int  # sends with their receives
    collectives: int  # calls of all ranks
    compared: int  # hashes of both ends were compared
    unknown: int  # ends that are not known, or that have not ended
    without_hash: int  # ends that fit, but whose hash, or the other end's, was not recorded
    contents_not_compared: int  # tg_reduce_scatter and tg_all_to_all: each rank has another result
    damaged: int  # lines of comm.jsonl that are not calls
    incomplete: int  # ranks whose comm.jsonl does not have all calls
    absent: int  # ranks whose calls are not known: their folder, or comm.jsonl, is not here
    problems: int
    misfits: Tuple[RankMisfit, ...]  # the first of them

    def __bool__(self) -> bool:
        return self.result == "good"


def messages_of(ranks: Handle) -> RanksMessages:
    found = lib().layout.tg_ranks_messages()
    ranks.call(lib().tg_ranks_verify, ctypes.byref(found))
    return RanksMessages(
        text(lib().tg_ranks_fit_name(found.result)), found.messages, found.collectives, found.compared,
        found.unknown, found.unhashed, found.unshared, found.damaged, found.incomplete, found.absent,
        found.problems,
        tuple(RankMisfit(each.rank, each.other, each.task, text(each.text))
              for each in found.misfit[:found.n_misfits]))


# --- why did it fail or hang? -------------------------------------------------------------------

@dataclass(frozen=True)
class RankWait:
    """A call that had not completed, and the rank that it waits for: the lowest if there are several. With
    `is_mismatch` that rank has made another call in its place."""
    rank: int
    call: Call
    waits_for: Optional[int]
    ranks: int  # how many it waits for
    is_mismatch: bool
    text: str


@dataclass(frozen=True)
class RankEnd:
    """How one rank ended. `is_own`: it failed by itself, and not because of another rank. `time_ns` is on rank
    0's clock, off by at most `error_ns`."""
    rank: int
    status: str  # "" if nothing says it
    error: str
    is_own: bool
    time_ns: Optional[int]
    error_ns: int


@dataclass(frozen=True)
class RanksExplanation(Shown):
    """Why a run of several ranks failed, or what its ranks wait for."""
    result: str  # "ended well", "failed" or "goes on"
    root: str  # in one sentence
    first: Optional[int]  # the rank that failed first; None: nobody, or not known
    order: str  # who failed first, and how sure that is
    waits: Tuple[RankWait, ...]
    more_waits: int
    ends: Tuple[RankEnd, ...]
    not_known: Tuple[str, ...]


def _wait(wait: Any) -> RankWait:
    return RankWait(wait.rank, call_of(wait.rank, wait.call), wait.waits_for if wait.has_for else None,
                    wait.n_for, wait.is_mismatch, text(wait.text))


def _end(end: Any) -> RankEnd:
    return RankEnd(end.rank, text(end.status), text(end.error), end.is_own,
                   end.time_ns if end.has_time else None, end.error_ns)


def explanation_of(ranks: Handle) -> RanksExplanation:
    pointer = ranks.make(lib().tg_ranks_explain)
    try:
        found = lib().layout.tg_ranks_explanation.from_address(pointer)
        ends = (lib().layout.tg_ranks_end * found.ranks).from_address(found.end) if found.end else ()
        return RanksExplanation(
            "ended well" if found.is_well else "goes on" if found.is_running else "failed",
            text(found.root), found.first if found.has_first else None, text(found.order),
            tuple(_wait(each) for each in found.wait[:found.n_waits]), found.more_waits,
            tuple(_end(each) for each in ends), _lines(found, "unknown", found.n_unknown))
    finally:
        lib().tg_ranks_explanation_free(pointer)


# --- two runs -----------------------------------------------------------------------------------

@dataclass(frozen=True)
class RanksCause:
    """A task where a difference began, or a call by which rank `source` gave it to this one. `guilt` is as in
    `Suspect`."""
    rank: int
    task_a: Optional[int]
    task_b: Optional[int]
    kernel: str
    guilt: str
    source: Optional[int]
    text: str


@dataclass(frozen=True)
class RanksDiff(Shown):
    """Two runs of as many ranks, compared rank by rank; true if nothing differs and all could be compared.
    `result` is "equal", "differs" or "not known"."""
    result: str
    differ: int  # ranks
    equal: int
    unknown: int
    causes: Tuple[RanksCause, ...]  # where it began, the first task first
    more_causes: int
    reached: Tuple[RanksCause, ...]  # calls by which it reached other ranks
    more_reached: int
    not_known: Tuple[str, ...]

    def __bool__(self) -> bool:
        return self.result == "equal"


def _task(number: int) -> Optional[int]:
    return None if number == _NO_TASK else number


def _cause(cause: Any) -> RanksCause:
    return RanksCause(cause.rank, _task(cause.task_a), _task(cause.task_b), text(cause.kernel),
                      text(lib().tg_guilt_name(cause.guilt)),
                      getattr(cause, "from") if cause.has_from else None, text(cause.text))


def _verdict(number: int) -> str:
    """ "same", "close", "differs" or "unknown"."""
    return text(lib().tg_verdict_name(number))


def difference_of(a: Handle, b: Handle, atol: Any, rtol: Any, equal_nan: bool) -> RanksDiff:
    found = lib().layout.tg_ranks_difference()
    options = options_of(atol, rtol, equal_nan)
    with b.use_alone() as other:
        a.call(lib().tg_ranks_diff, other, ctypes.byref(options), ctypes.byref(found))
    verdict = _verdict(found.verdict)
    return RanksDiff(
        {"same": "equal", "close": "equal", "differs": "differs"}.get(verdict, "not known"),
        found.differ, found.equal, found.unknown,
        tuple(_cause(each) for each in found.cause[:found.n_causes]), found.more_causes,
        tuple(_cause(each) for each in found.reached[:found.n_reached]), found.more_reached,
        _lines(found, "missing", found.n_unknown))


# --- the same on all ranks? ---------------------------------------------------------------------

@dataclass(frozen=True)
class RanksSame:
    """One tensor on all ranks. `odd` is the first rank that is not like most, and `usual` one that is. If none
    differs, or not more than half of all ranks agree, both are None."""
    name: str  # "tg_all_reduce number 3"
    verdict: str  # "same", "close", "differs" or "unknown"
    known: int  # ranks of which it is known
    odd: Optional[int]
    usual: Optional[int]
    dtype: Optional[str]
    shape: Tuple[int, ...]
    text: str


@dataclass(frozen=True)
class RanksSameness(Shown):
    """Tensors, compared; true if all are the same, or close enough. `result` is "equal", "differs" or "not known".
    `tensors` has those that are not the same."""
    result: str
    counts: Dict[str, int]  # tensors by verdict
    tensors: Tuple[Union[RanksSame, "ShardResult"], ...]

    def __bool__(self) -> bool:
        return self.result == "equal"


_TELL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def _dtype(number: int) -> Optional[str]:
    kind = dtypes.by_number(number)
    return None if kind is None else kind.name


def _same(address: int) -> RanksSame:
    same = lib().layout.tg_ranks_same.from_address(address)
    verdict = _verdict(same.verdict)
    has_odd = same.has_odd and verdict == "differs"
    return RanksSame(text(same.name), verdict, same.known,
                     same.odd if has_odd else None, same.usual if has_odd else None,
                     _dtype(same.dtype), tuple(same.shape[:same.ndim]), text(same.text))


def _sameness(found: Any, told: List[Any]) -> RanksSameness:
    result = "differs" if found.differ else "not known" if found.unknown else "equal"
    counts = {"same": found.same, "close": found.close, "differs": found.differ, "unknown": found.unknown}
    return RanksSameness(result, counts, tuple(each for each in told if each.verdict != "same"))


def _gather(call: Any, make: Any) -> RanksSameness:
    """Calls a function that tells each tensor. Ctrl-C ends it."""
    told: List[Any] = []
    found, interrupts = lib().layout.tg_ranks_sameness(), Interrupts()
    tell = _TELL(lambda _, address: interrupts.guard(lambda: told.append(make(address))))
    with interrupts:
        call(ctypes.cast(tell, ctypes.c_void_p), None, ctypes.byref(found))
    return _sameness(found, told)


def across_of(ranks: Handle, filters: Mapping[str, Filter], atol: Any, rtol: Any, equal_nan: bool
              ) -> RanksSameness:
    options = options_of(atol, rtol, equal_nan)
    query = Query(filters)
    selects = any(value is not None for value in filters.values())
    with query.handle.use() as pointer:
        return _gather(lambda *rest: ranks.call(lib().tg_ranks_across, pointer if selects else None,
                                                ctypes.byref(options), *rest), _same)


# --- one device against many --------------------------------------------------------------------

@dataclass(frozen=True)
class ShardResult:
    """One tensor of one device beside its parts on the ranks. `first` has the coordinates of the first mismatch in
    the whole tensor, `rank` holds it (None: the sum of all ranks), and `task` is its task there."""
    shard: str
    number: int  # the how-manieth task of the kernel
    task_one: Optional[int]  # on the one device; None if it has fewer tensors
    verdict: str  # "same", "close", "differs" or "unknown"
    dtype: Optional[str]
    shape: Tuple[int, ...]  # of the whole
    mismatches: int
    max_abs: float
    first: Optional[Tuple[int, ...]]
    rank: Optional[int]
    task: Optional[int]
    text: str  # why it is unknown; if it differs, what else was not compared


def _shard_result(address: int) -> ShardResult:
    found = lib().layout.tg_shard_result.from_address(address)
    shard = lib().layout.tg_shard.from_address(found.shard)
    return ShardResult(
        text(shard.text), found.number, _task(found.task_one), _verdict(found.verdict), _dtype(found.dtype),
        tuple(found.shape[:found.ndim]), found.mismatches, found.max_abs,
        tuple(found.first[:found.ndim]) if found.has_first else None,
        found.rank if found.has_rank else None, _task(found.task_rank) if found.has_rank else None,
        text(found.text))


def compare_of(ranks: Handle, one: Handle, shards: List[str], atol: Any, rtol: Any, equal_nan: bool
               ) -> RanksSameness:
    if not shards:
        raise errors.BadArgument('compare needs a shard, such as "mlp_bias.2=b h(rank)"')
    options = options_of(atol, rtol, equal_nan)
    parsed = (lib().layout.tg_shard * len(shards))()
    for i, words_of_it in enumerate(shards):
        lib().call(lib().tg_shard_parse, encoded(words_of_it), ctypes.byref(parsed[i]))
    with ranks.use_alone() as many:
        return _gather(lambda *rest: one.call(lib().tg_ranks_compare, many, parsed, len(shards),
                                              ctypes.byref(options), *rest), _shard_result)


# --- the trace ----------------------------------------------------------------------------------

@dataclass(frozen=True)
class RanksTrace(Shown):
    """A trace of all ranks. `unsure` ranks have a clock of which nothing is known; `backward` arrows would have
    gone back in time by the clocks, and are left out, as are `left_out` calls."""
    path: pathlib.Path
    ranks: int
    shown: int  # ranks whose tasks are in the file
    unsure: int
    calls: int
    arrows: int
    backward: int
    left_out: int
    clock_error_ns: int
    bytes: int
    why: str  # why the first rank that is not shown, or is without its calls, is


def trace_of(dir: pathlib.Path, path: str, overwrite: bool, recorded: bool) -> RanksTrace:
    result = lib().layout.tg_ranks_trace_result()
    config = lib().layout.tg_ranks_trace_config(dir=encoded(dir), path=encoded(path),
                                                overwrite=overwrite, recorded=recorded)
    lib().call(lib().tg_ranks_trace_write, ctypes.byref(config), ctypes.byref(result))
    return RanksTrace(pathlib.Path(os.fsdecode(path)), result.ranks, result.shown, result.unsure,
                      result.calls, result.arrows, result.backward, result.left_out,
                      result.clock_error_ns, result.bytes, text(result.why))
