# SPDX-License-Identifier: Apache-2.0
"""Which task caused NaN, infinities, overflow and stray writes: `Recording.find`."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, List, Optional, Tuple, Union

from . import errors
from ._arguments import integer, name as name_of
from ._callbacks import Ask, Progress, pointer, references, trust, watch
from ._handle import Handle
from ._html import Shown
from ._interrupt import Interrupts
from ._library import encoded, lib, text, words
from ._query import Query
from ._races import Race, find_races
from .config import Config, SettingsHandle

if TYPE_CHECKING:
    from .recording import Record, Recording

__all__ = ["Between", "Culprit", "Feed", "FindResult", "Found", "StompSuspect"]

_NONE = 2**64 - 1


@dataclass(frozen=True)
class Feed:
    """An input of the task of a finding. `count` is the number of elements that match, None if they
    could not be searched; `source` the record of the task that wrote it last, None if there is none;
    `from_outside` says that no recorded task wrote some part of it."""
    record: "Record"
    count: Optional[int]
    source: Optional["Record"]
    from_outside: bool


@dataclass(frozen=True)
class Between:
    """A task that ran between the two records of a stomp; `writes`: one of its outputs overlaps that
    memory."""
    task: int
    kernels: Tuple[str, ...]
    writes: bool


@dataclass(frozen=True)
class StompSuspect:
    """A task that can have changed the bytes of a stomp, and what speaks for it.

    `writes`: one of its outputs overlaps the memory of the finding; `races`: nothing keeps it in order with
    the reader; `given`: bytes that changed are in an input of it; `late`: it began while the change was
    being recorded; `recorded`: it has a record. `arg` is the output nearest to the changed bytes, which lie
    "inside", in a "gap" of it, "behind" or "before" it (`place`), with `distance` bytes in between; None
    and "" if that is not known. `replay` is what a replay with guards says: "convicts" (it writes these
    bytes), "strays" (it writes elsewhere), "clears" or "failed"; "" if there was none. `misuse` says more.
    """
    task: int
    kernels: Tuple[str, ...]
    recorded: bool
    writes: bool
    races: bool
    given: bool
    late: bool
    arg: Optional[int]
    place: str
    distance: Optional[int]
    replay: str
    misuse: str


@dataclass(frozen=True)
class Culprit:
    """The task that is proved to have changed the bytes of a stomp. `evidence` is "guards": replayed between
    guards it writes these bytes; "race": it writes that memory without an order to the reader, who found
    what it wrote; or "alone": no other task can have run in between."""
    task: int
    kernels: Tuple[str, ...]
    evidence: str


@dataclass(frozen=True)
class Found:
    """A finding: `count` elements of `record` match, the first at the indices `first`.

    `trace` says where it came from ("origin", "given", "unclear", "inherited"). Of "unwritten", `sign`
    is the evidence ("poison", "stale", "reference", "same", "zero", "fill", "tail") and `proved` says
    whether it accuses the task. `before` is the earlier record of that memory, `writer` a record of the
    task that wrote it last ("stomp"), and `between` the tasks that ran between the two. `suspects` has the
    tasks that can have changed the bytes, the most suspicious first, and `culprit` the one that did, if that
    is proved.
    """
    record: "Record"
    trace: str
    count: Optional[int]
    first: Optional[Tuple[int, ...]]
    sign: str = ""
    proved: bool = False
    before: Optional["Record"] = None
    writer: Optional["Record"] = None
    inputs: Tuple[Feed, ...] = field(default=(), repr=False)
    between: Tuple[Between, ...] = field(default=(), repr=False)
    suspects: Tuple[StompSuspect, ...] = field(default=(), repr=False)
    culprit: Optional[Culprit] = None


@dataclass(frozen=True)
class FindResult(Shown):
    """The answer of `Recording.find`.

    `result` is "found"; "nothing found", or "nothing found in what was searched" if something was left
    out; "listed" for constants, which accuse nobody; "possible" for unwritten outputs of which none is
    proved, and for races that an older deps.json leaves open; "not known" if nothing could be judged.
    `reason` says why it is not known or not proved, and what to type. `left_out` has what was not searched,
    and what the recording lacks. The findings of "race" are of type `Race`, one for each group of pairs.
    """
    what: str
    result: str
    reason: str = ""
    findings: Tuple[Union[Found, Race], ...] = ()
    found: int = 0  # findings in all; a limit leaves out some of them. race: pairs of tasks
    proved: int = 0  # unwritten: those that accuse a task,
    possible: int = 0  # those that may,
    passed_on: int = 0  # and those that a task was given
    order: str = ""  # of the findings: "time", "dependencies" or "task id"
    looked_at: int = 0  # records searched; race: tensors of tasks
    not_stored: int = 0  # records that could not be searched
    left_out: Tuple[str, ...] = ()
    deps_error: str = ""  # why deps.json could not be read
    no_reference: str = ""  # why no reference was asked
    not_replayed: str = ""  # stomp: why no suspect was replayed
    exit_code: int = 2  # that the command would have
    tasks: int = 0  # race: of the graph
    groups: int = 0  # race: of pairs over the same regions
    exact: bool = True  # race: there are no more pairs than found
    unclear: int = 0  # race: unordered pairs of which it is not known whether they share bytes
    proof: bool = False  # race: everything was looked at, and the edges cover the accesses declared

    @property
    def ok(self) -> bool:
        """Whether everything was searched and nothing accuses a task."""
        return self.result in ("nothing found", "listed")


def kinds() -> Tuple[str, ...]:
    """What can be looked for."""
    return words("tg_find_kind_name", "?")


def _kind(what: Any) -> int:
    known = kinds()
    if name_of(what, "what") not in known:
        raise errors.BadArgument(f"unknown kind '{what}'; kinds are {', '.join(known[:-1])} and "
                                 f"{known[-1]}")
    return known.index(what)


def _not_known(recording: "Recording", what: str, reason: str) -> FindResult:
    return FindResult(what, "not known", reason, left_out=recording.notes)


class _Reader:
    """Turns the findings of an answer into objects."""

    def __init__(self, recording: "Recording", what: str, search: Handle, answer: Handle) -> None:
        self._recording, self._what = recording, what
        self._search, self._answer = search, answer

    def _record(self, index: int) -> Optional["Record"]:
        return None if index == _NONE else self._recording[index]

    def _feeds(self, number: int) -> Tuple[Feed, ...]:
        found: List[Feed] = []
        feed = lib().layout.tg_find_feed()
        while self._search.get(lib().tg_find_get_feed, number, len(found), ctypes.byref(feed)):
            found.append(Feed(self._recording[feed.record], feed.count if feed.is_known else None,
                              self._record(getattr(feed, "from")), feed.is_outside))
        return tuple(found)

    def _between(self, number: int) -> Tuple[Between, ...]:
        found: List[Between] = []
        task = lib().layout.tg_find_between()
        while self._search.get(lib().tg_find_get_between, number, len(found), ctypes.byref(task)):
            found.append(Between(task.task_id, self._recording[task.record].kernels, task.writes))
        return tuple(found)

    def _suspects(self, number: int) -> Tuple[StompSuspect, ...]:
        found: List[StompSuspect] = []
        self._answer.call(lib().tg_find_answer_rank, number)
        task = lib().layout.tg_find_suspect()
        while self._answer.get(lib().tg_find_answer_suspect, number, len(found), ctypes.byref(task)):
            found.append(StompSuspect(
                task.task_id, tuple(text(name) for name in task.kernel if name), task.record != _NONE,
                task.writes, task.races, task.is_given, task.is_late,
                task.argument if task.has_place else None, text(lib().tg_find_place_name(task.place)),
                task.distance if task.has_place else None,
                text(lib().tg_find_replayed_name(task.replayed)), text(task.misuse)))
        return tuple(found)

    def _culprit(self, number: int, suspects: Tuple[StompSuspect, ...]) -> Optional[Culprit]:
        evidence = text(lib().tg_find_evidence_name(
            self._answer.get(lib().tg_find_answer_evidence, number)))
        return Culprit(suspects[0].task, suspects[0].kernels, evidence) if evidence and suspects else None

    def _finding(self, number: int, finding: Any) -> Found:
        record = self._recording[finding.record]
        is_stomp, is_unwritten = self._what == "stomp", self._what == "unwritten"
        is_counted = not (is_stomp and finding.first == _NONE)
        suspects = self._suspects(number) if is_stomp else ()
        return Found(
            record=record, trace=text(lib().tg_trace_name(finding.trace)),
            count=finding.count if is_counted else None,
            first=None if finding.first == _NONE else record._indices(finding.first),
            sign=text(lib().tg_sign_name(finding.sign)) if is_unwritten else "",
            proved=bool(finding.is_proved) if is_unwritten else False,
            before=self._record(finding.before) if is_stomp or is_unwritten else None,
            writer=self._record(finding.writer) if is_stomp else None,
            inputs=() if is_stomp else self._feeds(number),
            between=self._between(number) if is_stomp else (), suspects=suspects,
            culprit=self._culprit(number, suspects) if is_stomp else None)

    def findings(self, most: int) -> Tuple[Found, ...]:
        layout, found = lib().layout, []  # type: Any, List[Found]
        number, finding, entry = ctypes.c_uint64(0), layout.tg_find_finding(), layout.tg_entry()
        while len(found) < most and self._answer.get(
                lib().tg_find_answer_next, ctypes.byref(number), ctypes.byref(finding),
                ctypes.byref(entry)):
            found.append(self._finding(number.value, finding))
            number.value += 1
        return tuple(found)

    def notes(self) -> Tuple[str, ...]:
        notes: List[str] = []
        note = lib().layout.tg_note()
        while self._answer.get(lib().tg_find_answer_note, len(notes), ctypes.byref(note)):
            notes.append(text(note.text))
        return tuple(notes)

    def info(self) -> Any:
        info = lib().layout.tg_find_answer_info()
        self._answer.get(lib().tg_find_answer_get, ctypes.byref(info))
        return info

    def result(self, most: int, not_replayed: str) -> FindResult:
        info, search = self.info(), lib().layout.tg_find_info()
        self._search.get(lib().tg_find_get_info, ctypes.byref(search))
        return FindResult(
            what=self._what, result=text(info.result), reason=text(info.reason),
            findings=self.findings(most), found=info.found, proved=info.proved,
            possible=info.possible, passed_on=info.passed_on, order=text(search.order),
            looked_at=info.looked_at, not_stored=info.not_stored,
            left_out=self.notes() + self._recording.notes, deps_error=text(search.deps_error),
            no_reference=text(info.no_reference), not_replayed=not_replayed,
            exit_code=info.exit_code)


def _replay(answer: Handle, module: Any, workers: int, interrupts: Interrupts, ask: Ask,
            settings: Config) -> str:
    """Replays the suspects of stomps. What the caller's `progress` counts is over by now. Returns why it was
    not possible, or ""."""
    shown, asked = watch(interrupts, None), trust(interrupts, ask)
    config = lib().layout.tg_find_replay_config(
        module=encoded(module) if module is not None else None,
        workers=integer(workers, "workers", 0, 2**32 - 1), progress=pointer(shown),
        ask=pointer(asked) if asked else None)
    with SettingsHandle(settings).use() as chosen, answer.use() as asked_about:
        try:
            lib().call(lib().tg_find_answer_replay, asked_about, chosen, ctypes.byref(config))
        except (errors.Cancelled, errors.NoMemory):
            raise
        except errors.Error as error:
            return error.text
    return ""


def find(recording: "Recording", what: str, query: Query, most: Optional[int], module: Any,
         limit: float, workers: int, sandbox: Optional[str], progress: Progress, ask: Ask,
         replay: bool, settings: Config) -> FindResult:
    kind, interrupts = _kind(what), Interrupts()
    shown = _NONE if most is None else integer(most, "limit")
    if query.is_empty:
        return _not_known(recording, what, "no record matches the filters")
    if what == "race":
        try:
            return FindResult(what, **find_races(recording, query, shown, progress))
        except (errors.Unsupported, errors.NotFound) as error:
            return _not_known(recording, what, error.text)
    show = watch(interrupts, progress)
    config = references(interrupts, module, limit, workers, sandbox, None, ask)
    with interrupts, query.handle.use() as wanted:
        try:
            search = Handle(recording._handle.make(lib().tg_find_open_watched, kind, show, None),
                            lib().tg_find_close, "search", recording._handle)
        except errors.Unsupported as error:
            return _not_known(recording, what, error.text)
        try:
            answer = Handle(search.make(lib().tg_find_answer_open, wanted, ctypes.byref(config)),
                            lib().tg_find_answer_close, "answer", search)
            reader = _Reader(recording, what, search, answer)
            not_replayed = ""
            if what == "stomp" and reader.info().found > 0:
                not_replayed = _replay(answer, module, workers, interrupts, ask, settings) \
                    if replay else "replay=False was given"
            result = reader.result(shown, not_replayed)
        except errors.NotFound as error:
            return _not_known(recording, what, error.text)
        finally:
            search.close()
    recording.check_files()
    return result
