# SPDX-License-Identifier: Apache-2.0
"""Recordings of runs, as NumPy arrays.

with taskglass.Recording("outputs/matmul_chain_small_20261115_094605") as recording:
    for record in recording.select(kernel="*relu*", stage="after"):
        print(record, record.array().max())
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import pathlib
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

import numpy as np

from . import _html, dtypes, errors
from ._arguments import converting, encoded, flag, integer, real
from ._callbacks import Ask, Progress
from ._comm import one_run
from ._dataframe import to_dataframe
from ._export import ExportResult, export
from ._files import MOST, read_file
from ._find import FindResult, find
from ._handle import Closing, Handle
from ._library import lib, text
from ._newest import newest
from ._path import RunPath, path_of_recording
from ._query import Filter, Query
from ._replay import Replay, bundle, replay
from ._replay_all import ReplayAll, replay_all
from ._scope import ScopeStats, scope
from ._serve import Page, WrittenPage, show_page, write_page
from ._stats import Stats, stats
from ._types import Array, Path
from ._verify import Verification, verify as verify_recording
from .check import Against, Check, check, check_against
from .config import Config, config_of

__all__ = ["Recording", "Record", "Edge", "DepsTask", "verify"]

_NO_TASK = 2**64 - 1
_NO_KERNEL = 2**32 - 1
_CONTIGUOUS, _HASHED, _TRUNCATED, _OVERWRITTEN, _PARTIAL, _MARKED, _READ, _EXCESS, \
    _NO_VALUE = (1 << bit for bit in (0, 1, 3, 4, 5, 6, 8, 14, 15))
_ARG_UNKNOWN = 255


@dataclass(frozen=True)
class Edge:
    """Why a task waited: for which task, and the kind of dependency ("explicit", "raw", …)."""
    task: int
    kind: str


@dataclass(frozen=True)
class DepsTask:
    """A task of deps.json."""
    id: int
    kernels: Tuple[str, ...]
    scope: str
    after: Tuple[Edge, ...]


class Record(_html.Shown):
    """One argument of one task at one stage.

    The members are those of the manifest. `array()` gives the values.
    """

    __slots__ = ("_recording", "_entry", "index", "kernels")

    def __init__(self, recording: "Recording", entry: Any, index: int) -> None:
        self._recording, self._entry = recording, entry
        #: The record's number in the order of the file.
        self.index = index
        #: The names of the task's kernels; "#3" if only the number is known. Copied now, because
        #: the library keeps them only while the recording is open.
        self.kernels: Tuple[str, ...] = tuple(
            text(name) or f"#{number}" for name, number in zip(entry.kernel, entry.record.kernel)
            if number != _NO_KERNEL)

    # --- whose ---------------------------------------------------------------------------------

    @property
    def task_id(self) -> Optional[int]:
        """ring << 32 | number; None for arguments of the orchestration. Of a value that the
        orchestration read back (`read`): the task that wrote it, None if it is not known."""
        task = self._entry.record.task_id
        return None if task == _NO_TASK else task

    @property
    def task(self) -> str:
        """The task as filters take it: "12", "1:12"; "-" for arguments of the orchestration."""
        task = self.task_id
        if task is None:
            return "-"
        return f"{task >> 32}:{task & 0xffffffff}" if task >> 32 else str(task)

    @property
    def kernel(self) -> str:
        """Its kernels in one word: "add", "mat+add"."""
        return "+".join(self.kernels)

    @property
    def stage(self) -> str:
        return text(lib().tg_stage_name(self._entry.record.stage))

    @property
    def role(self) -> str:
        return text(lib().tg_record_role_name(self._entry.record.role))

    @property
    def kind(self) -> str:
        return text(lib().tg_kind_name(self._entry.record.kind))

    @property
    def arg(self) -> Optional[int]:
        """The number of the argument, tensors first. None only if the orchestration read the value
        back and the device does not know which argument of the task it came from."""
        arg = self._entry.record.arg_index
        return None if self.read and arg == _ARG_UNKNOWN else arg

    @property
    def core(self) -> int:
        """The core that ran it; 0 unless the recording has a journal."""
        return int(self._entry.record.core)

    @property
    def time_ns(self) -> int:
        """The time on the device's clock; 0 unless the recording has a journal."""
        return int(self._entry.record.time)

    # --- what ----------------------------------------------------------------------------------

    @property
    def dtype(self) -> str:
        kind = self._kind()
        return kind.name if kind else "invalid"

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(self._entry.record.shape[:self._entry.record.ndim])

    @property
    def strides(self) -> Tuple[int, ...]:
        """The strides of the view in device memory, in elements. The stored values have no gaps."""
        return tuple(self._entry.record.strides[:self._entry.record.ndim])

    @property
    def start(self) -> int:
        """The number of elements from `data_ptr` to the first one of the view."""
        return int(self._entry.record.start)

    @property
    def data_ptr(self) -> int:
        return int(self._entry.record.data_ptr)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole tensor, stored or not."""
        return int(self._entry.record.bytes)

    @property
    def stored(self) -> int:
        """The bytes of it that are in the payload file."""
        return int(self._entry.record.stored)

    @property
    def hash(self) -> Optional[int]:
        """The content hash of all bytes; None if there is none."""
        return self._entry.record.hash if self._has(_HASHED) else None

    @property
    def is_contiguous(self) -> bool:
        return self.kind == "scalar" or self._has(_CONTIGUOUS)

    @property
    def truncated(self) -> bool:
        return self._has(_TRUNCATED)

    @property
    def overwritten(self) -> bool:
        return self._has(_OVERWRITTEN)

    @property
    def partial(self) -> bool:
        """Whether it was read from a task that had not finished."""
        return self._has(_PARTIAL)

    @property
    def marked(self) -> bool:
        return self._has(_MARKED)

    @property
    def read(self) -> bool:
        """Whether this is a value that the orchestration read back from a task (`tg_read_*`)."""
        return self._has(_READ)

    def _indices(self, element: int) -> Tuple[int, ...]:
        """The indices of an element, which is counted in row-major order."""
        found = []
        for extent in reversed(self.shape):
            found.append(element % extent if extent else 0)
            element = element // extent if extent else 0
        return tuple(reversed(found))

    def _has(self, flag: int) -> bool:
        return bool(self._entry.record.flags & flag)

    def _kind(self) -> Optional[dtypes.DType]:
        return dtypes.by_number(self._entry.record.dtype)

    # --- values --------------------------------------------------------------------------------

    @property
    def has_values(self) -> bool:
        if self.kind == "scalar":
            return self._kind() is not None and not self._has(_NO_VALUE)
        return self.stored > 0 or (self.nbytes == 0 and self._kind() is not None)

    @property
    def value(self) -> Any:
        """A scalar's value as a Python object; None for tensors, and for a scalar whose value the
        recording does not have. A scalar without a type is its 64 bits, an int."""
        if self.kind == "tensor" or self._has(_NO_VALUE):
            return None
        if self._kind() is None:
            return self.bits
        return self.array(decode=True).item()

    @property
    def bits(self) -> Optional[int]:
        """The bits of a scalar; None for tensors, and for a scalar whose value is unknown."""
        is_known = self.kind == "scalar" and not self._has(_NO_VALUE)
        return self._entry.record.value if is_known else None

    def raw(self) -> Array:
        """The stored bytes, without copying and read-only."""
        return self._recording._payload(self)

    def array(self, decode: bool = False) -> Array:
        """The values. If NumPy has the type, the array is read-only and not a copy.

        Values of types that NumPy lacks are their bits (see `taskglass.dtypes`; 4-bit types are
        packed, in one dimension), or with `decode` float32. For a truncated tensor, the stored
        elements in one dimension. Raises NotFound if nothing is stored.
        """
        kind = self._kind()
        if kind is None or not self.has_values:
            raise errors.NotFound(f"nothing of {self!r} is stored",
                                  advice="record with dump_tensor=\"full\", or mark it")
        raw, shape = self._bytes(kind)
        if kind.packed:
            return dtypes.decode(raw, kind, shape) if flag(decode, "decode") else raw
        held = raw.view(kind.numpy).reshape(shape)
        return dtypes.decode(held, kind) if flag(decode, "decode") else held

    def _bytes(self, kind: dtypes.DType) -> Tuple[Array, Tuple[int, ...]]:
        """The packed bytes, and the shape of their elements."""
        if self.kind == "scalar":
            bits = self._entry.record.value.to_bytes(8, "little")[:kind.numpy.itemsize]
            return np.frombuffer(bits, np.uint8), ()
        raw, shape = self.raw(), self.shape
        if raw.size < kind.bytes_of(math.prod(shape)):
            elements = raw.size * 8 // kind.bits
            raw, shape = raw[:kind.bytes_of(elements)], (elements,)
        return raw, shape

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        """numpy.asarray(record): the values, decoded."""
        array = self.array(decode=True)
        with converting("numpy.asarray"):
            return np.array(array, dtype) if copy else np.asarray(array, dtype)

    def statistics(self) -> Dict[str, Any]:
        """min, max and mean of the finite values, and the numbers of nan, inf and zero."""
        values = self.array(decode=True)
        finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values.reshape(-1)
        numbers: Dict[str, Any] = dict.fromkeys(("min", "max", "mean"))
        if finite.size:
            numbers.update(min=finite.min().item(), max=finite.max().item(),
                           mean=float(finite.mean(dtype=np.float64)))
        is_float = values.dtype.kind == "f"
        counted = {"elements": values.size, **numbers,
                   "nan": int(np.isnan(values).sum()) if is_float else 0,
                   "inf": int(np.isinf(values).sum()) if is_float else 0,
                   "zero": int((values == 0).sum())}
        self._recording.check_files()
        return counted

    def __repr__(self) -> str:
        what = self.dtype if self.kind == "scalar" else f"{self.dtype} {self.shape}"
        value = ""
        if self.kind == "scalar" and self.bits is None:
            value = " = unknown"
        elif self.kind == "scalar":
            value = f" = {self.value!r}" if self._kind() else f" = 0x{self.bits:016x}"
        state = "".join(f", {word}" for word in ("truncated", "overwritten", "partial")
                        if getattr(self, word))
        who = f"task {self.task} {self.kernel} " if self.task_id is not None else ""
        return (f"<Record {self.index}: {who}{self.stage} {self.role} arg {self.arg}, "
                f"{what}{value}{state}>")

    def _as_html(self) -> str:
        state = [word for word in ("truncated", "overwritten", "partial", "marked") if getattr(self, word)]
        picture = ""
        kind = self._kind()
        if kind is not None and self.kind == "tensor" and self.has_values:
            raw, shape = self._bytes(kind)
            picture = _html.heatmaps(*_html.elements_of(raw, kind, shape), shape)
            self._recording.check_files()
        return _html.card(f"Record {self.index}", {
            "task": f"{self.task} {self.kernel}" if self.task_id is not None else "",
            "argument": f"{self.stage}, {self.role}, {'' if self.arg is None else self.arg}",
            "type": self.dtype if self.kind == "scalar" else f"{self.dtype} {_html.shape_of(self.shape)}",
            "value": None if self.kind == "tensor" else "unknown" if self.bits is None else self.value,
            "size": _html.size_of(self.nbytes) if self.kind == "tensor" else None,
            "hash": None if self.hash is None else f"{self.hash:016x}",
            "state": ", ".join(state)}, picture)

    def _thumbnail(self) -> _html.Raw:
        """A small picture for a table; "" if there are no values."""
        kind = self._kind()
        if kind is None or self.kind == "scalar" or not self.has_values:
            return _html.Raw("" if self.value is None else _html.shown(self.value))
        raw, shape = self._bytes(kind)
        return _html.thumbnail(*_html.elements_of(raw, kind, shape))


class Recording(Closing, _html.Shown):
    """A recording: a sequence of `Record`s.

    `path` is the directory of a run, the folder tensor_dump in it, a journal or a manifest; without
    it, the newest run under outputs/ that has a recording. Recordings of another implementation
    (args_dump) are read as well. Arrays from a recording stay valid after it is closed: its files
    are unmapped when the last array is gone. See `check_files` for files that shrink meanwhile.
    """

    def __init__(self, path: Optional[Path] = None) -> None:
        name = encoded(newest() if path is None else path)
        with one_run(name):
            made = lib().make(lib().tg_recording_open, name)
        self._handle = Handle(made, lib().tg_recording_close, "recording", overlap=True)
        info = lib().layout.tg_recording_info()
        self._handle.get(lib().tg_recording_get_info, ctypes.byref(info))
        #: The folder that its files are in.
        self.dir = pathlib.Path(os.fsdecode(info.dir))
        #: Names of its files; "" if there is none.
        self.journal, self.manifest, self.payload = (text(info.journal), text(info.manifest),
                                                     text(info.payload))
        #: Whether a summary or a manifest says that the recording is complete.
        self.complete: bool = info.complete
        #: "finished", "running", "cancelled", "failed", "interrupted" or "unknown": how the run
        #: that wrote it stood when it was opened.
        self.state = text(lib().tg_recording_state_name(info.state))
        #: The number of records that are left out because their bytes are damaged.
        self.damaged: int = info.damaged
        #: Whether another implementation wrote it.
        self.foreign: bool = info.foreign
        #: "meta", "hash", "marked", "hybrid", "full"; None if it is unknown.
        self.level = text(lib().tg_level_name(info.level)) if info.level else None
        #: The bytes of all payloads, without the gaps that lost ones leave in the payload file.
        self.payload_bytes: int = self._handle.get(lib().tg_recording_stored)
        #: The numbers of lost records, by cause.
        self.lost: Dict[str, int] = {text(lib().tg_loss_name(cause)): count
                                     for cause, count in enumerate(info.summary.lost)}
        self._records: int = info.records
        #: What it lacks, one line each: its run failed or still goes on, records were lost or are
        #: damaged. An answer from a recording with notes is about what it has.
        self.notes: Tuple[str, ...] = tuple(_notes(info))

    # --- records -------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._records

    def __getitem__(self, index: int) -> Record:
        index = integer(index, "the number of a record", -2**64)
        if not -self._records <= index < self._records:
            raise errors.OutOfRange(f"there is no record {index}; the recording has {self._records}")
        index %= self._records
        entry = lib().layout.tg_entry()
        with self._handle.use() as pointer:
            if not lib().tg_recording_get(pointer, index, ctypes.byref(entry)):
                raise errors.IoError(f"record {index} of '{self.dir}' is damaged")
            return Record(self, entry, index)

    def __iter__(self) -> Iterator[Record]:
        """All records; damaged ones are left out, and `damaged` counts them."""
        return self.select()

    def select(self, *, task: Filter = None, kernel: Filter = None, stage: Filter = None,
               role: Filter = None, kind: Filter = None, arg: Filter = None, index: Filter = None
               ) -> Iterator[Record]:
        """The records that match all filters, in the order of the file.

        A filter is a word or number, several of them, a range, or text as the command line takes
        it: `task=12`, `task=(1, 12)` (ring, number), `task="1:0-1:99"`, `kernel="mat*"`,
        `stage="after"`, `role=["in", "inout"]`, `arg=range(2)`.
        """
        return self._walk(self._query(task, kernel, stage, role, kind, arg, index))

    @staticmethod
    def _query(task: Filter, kernel: Filter, stage: Filter, role: Filter, kind: Filter, arg: Filter,
               index: Filter) -> Query:
        return Query({"task": task, "kernel": kernel, "stage": stage, "role": role, "kind": kind,
                      "arg": arg, "index": index})

    def _record_of(self, entry: Any, index: int) -> Record:
        return Record(self, entry, index)

    def _walk(self, query: Query) -> Iterator[Record]:
        at = ctypes.c_uint64(0)
        while not query.is_empty:
            entry = lib().layout.tg_entry()
            with self._handle.use() as pointer, query.handle.use() as wanted:
                if not lib().tg_query_next(wanted, pointer, ctypes.byref(at), ctypes.byref(entry)):
                    return
                record = Record(self, entry, at.value)
            yield record
            at.value += 1

    def to_dataframe(self, **filters: Filter) -> Any:
        """The records that match all filters (those of `select`) as a pandas.DataFrame, one row each, by
        the number of the record. Its columns are the members of `Record`, and `ring` and `task`, the two
        halves of `task_id`. Missing numbers are <NA>.

        `value` is a scalar as float64, which is exact up to 2**53; `bits` is always exact. Values of
        tensors are not in the table: `recording[index].array()` has them.

        Raises MissingPackage without pandas.
        """
        query = Query(filters)
        if query.is_empty:  # a filter that matches no record
            query.handle.call(lib().tg_query_add, b"index", str(2**64 - 1).encode())
        table = to_dataframe(self._handle, query.handle)
        self.check_files()
        return table

    def _payload(self, record: Record) -> Array:
        record._entry.record.flags &= ~_EXCESS  # an array reads nothing until it is looked at
        with self._handle.use() as pointer:
            address = lib().tg_recording_payload(pointer, ctypes.byref(record._entry))
            if not address:
                return np.empty(0, np.uint8)
            self.check_files()
            return self._handle.view(address, record.stored)

    def check_files(self) -> None:
        """Raises IoError if a file of the recording lost bytes since it was opened: another program made
        it shorter, or its disk fails. Arrays that were not copied then have zeros there, and what was
        computed from them is not true. `verify`, `export`, `check` and `statistics` ask by themselves."""
        self._handle.call(lib().tg_recording_check_files)

    # --- the run's other files -----------------------------------------------------------------

    @property
    def run_dir(self) -> pathlib.Path:
        """The directory of the run."""
        is_inside = self.dir.resolve().name in ("tensor_dump", "args_dump")
        return self.dir.resolve().parent if is_inside else self.dir

    @property
    def name(self) -> str:
        return self.run_dir.resolve().name

    def _json(self, name: str) -> Any:
        path = self.run_dir / name
        try:
            return json.loads(read_file(path, MOST[name]))
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError) as error:
            raise errors.IoError(f"cannot read '{path}': {error}") from None

    @property
    def run(self) -> Optional[Dict[str, Any]]:
        """The content of run.json; None if there is none."""
        document = self._json("run.json")
        if document is not None and not isinstance(document, dict):
            raise errors.IoError(f"'{self.run_dir / 'run.json'}' is not what a run writes")
        return document

    @property
    def deps(self) -> Optional[Tuple[DepsTask, ...]]:
        """The tasks of deps.json and what each waited for; None if there is no such file."""
        document = self._json("deps.json")
        try:
            return None if document is None else _deps_tasks(document)
        except (AttributeError, TypeError, KeyError, ValueError) as error:
            raise errors.BadArgument(f"'{self.run_dir / 'deps.json'}' makes no sense: "
                                     f"{error!r}") from None

    # --- exports -------------------------------------------------------------------------------

    def export(self, path: Optional[Path] = None, format: Optional[str] = None, *,
               to: Optional[str] = None, overwrite: bool = False, oversize: bool = False,
               limit: int = 0, progress: Progress = None, task: Filter = None,
               kernel: Filter = None, stage: Filter = None, role: Filter = None, kind: Filter = None,
               arg: Filter = None, index: Filter = None) -> ExportResult:
        """Writes the records that match all filters as a file for other programs, in one of the
        formats of `export_formats()`, as `taskglass export` does. `format`, or `to`, names it; by default
        the ending of `path` does. Without a path the file is in the current folder and has the name of the
        run; "-" is standard output. `limit` writes at most so many records (0: all). `oversize` writes also
        records that claim far more than the payload file has, because they share bytes or are holes.

        `progress(done, total)` is called now and then; an exception from it ends the export.
        """
        return export(self, path, format, to, overwrite, oversize, limit, progress,
                      self._query(task, kernel, stage, role, kind, arg, index))

    # --- is it whole? --------------------------------------------------------------------------

    def verify(self, *, force: bool = False, progress: Progress = None) -> Verification:
        """Compares every hash with its bytes, every counter with the records, every record with the
        files, and the manifest with the journal, as `taskglass verify` does.

        Of holes in the payload file it reads 16 GiB, with `force` all, however long that takes.
        `progress(bytes, total)` is called now and then; an exception from it ends the verification."""
        return verify_recording(self, force, progress)

    # --- is it right? --------------------------------------------------------------------------

    def check(self, module: Optional[Path] = None, *, limit: float = 0, workers: int = 0,
              sandbox: Optional[str] = None, progress: Progress = None, ask: Ask = None) -> Check:
        """Recomputes every task with its kernel's reference function, as `taskglass check` does.

        References run in other processes, each for at most `limit` seconds a task (0: the setting
        `timeout`, 10 s). One that crashes, exits or does not return makes its task "failed"; the others
        are still checked. `module` is the workload's file, by default the one that run.json names;
        `workers` the number of processes, by default one for each CPU; `sandbox` "on" or "off", by default
        as set. `progress(checked, tasks)` is called now and then; an exception from it ends the check.

        Loading a module runs its code, and run.json may be a stranger's. A module that only run.json
        names is loaded if it is installed, or if this user has run its content on this machine.
        For any other, `ask(path, why)` decides; without it the check raises NotTrusted.
        """
        return check(self, module, limit, workers, sandbox, progress, ask)

    def check_against(self, file: Path, *, atol: Optional[float] = None, rtol: Optional[float] = None,
                      progress: Optional[Callable[[int], Any]] = None, task: Filter = None,
                      kernel: Filter = None, stage: Filter = None, role: Filter = None,
                      kind: Filter = None, arg: Filter = None, index: Filter = None) -> Against:
        """Compares recorded tensors with values that NumPy saved, as `taskglass check --against` does: an
        .npy with the one tensor that the filters select, or each array of an .npz with the record of its
        name, as `export(to="npz")` names them. By default `atol` and `rtol` are those of `diff` for the
        type. `progress(compared)` is called for each array; an exception from it ends the check."""
        return check_against(self, file, atol, rtol, progress,
                             self._query(task, kernel, stage, role, kind, arg, index))

    def find(self, what: str, *, limit: Optional[int] = None, module: Optional[Path] = None,
             timeout: float = 0, workers: int = 0, sandbox: Optional[str] = None,
             replay: bool = True, progress: Progress = None, ask: Ask = None, task: Filter = None,
             kernel: Filter = None, stage: Filter = None, role: Filter = None, kind: Filter = None,
             arg: Filter = None, index: Filter = None, config: Optional[Config] = None,
             **settings: Any) -> FindResult:
        """Finds values that should not be there, and the task that caused them, as `taskglass find` does:
        `what` is "nan", "inf", "overflow", "constant", "unwritten" or "stomp"; or "race", which finds tasks
        that share bytes, one of them writing, without an order between them.

        `limit` gives at most so many findings, the filters select among them. For "unwritten" the
        references of the kernels are asked: `module`, `workers`, `sandbox` and `ask` are as in `check`, and
        `timeout` is the seconds that a reference may take; a module that is not known is not asked, and
        `no_reference` says so. `progress(bytes, total)` is called now and then; an exception from it ends
        the search.

        For "stomp" the tasks that can have changed the bytes are replayed with guards, unless `replay` is
        False, if the module may be loaded; `not_replayed` says why they were not. Settings choose the device
        for that, as in `replay`.
        """
        chosen = config_of(config).updated(**settings)
        if real(timeout, "timeout"):
            chosen = chosen.updated(timeout=timeout)
        if sandbox is not None:
            chosen = chosen.updated(sandbox=sandbox)
        return find(self, what, self._query(task, kernel, stage, role, kind, arg, index), limit,
                    module, timeout, workers, sandbox, progress, ask, replay, chosen)

    def stats(self, *, limit: Optional[int] = None, progress: Progress = None, task: Filter = None,
              kernel: Filter = None, stage: Filter = None, role: Filter = None, kind: Filter = None,
              arg: Filter = None, index: Filter = None) -> Stats:
        """Range, mean, deviation and special values of each tensor that matches all filters, at most
        `limit`, as `taskglass stats` shows them. Scalars and arguments of the orchestration are left out
        unless a filter names them. `progress(bytes, total)` is called for each."""
        return stats(self, self._query(task, kernel, stage, role, kind, arg, index), limit, progress)

    def replay(self, task: Filter, *, repeat: int = 1, module: Optional[Path] = None,
               ask: Ask = None, config: Optional[Config] = None, **settings: Any) -> Replay:
        """Runs one recorded task alone, from its recorded arguments, and compares its outputs with the
        recorded ones, as `taskglass replay` does. `task` is its number, (ring, number) or text such as
        "1:12"; with `repeat` it runs so often, and `deterministic` says whether all results are the same.

        `module` and `ask` are as in `check`. Settings choose the device, as in `run`:
        `replay(12, platform="a5sim")`. Ctrl-C cancels it. Raises NotFound if the task was not recorded in
        full.
        """
        return replay(self._handle, task, repeat, module, ask,
                      config_of(config).updated(**settings))

    def replay_all(self, *, guard: bool = False, workers: int = 0, repeat: int = 1,
                   module: Optional[Path] = None, progress: Progress = None, ask: Ask = None,
                   task: Filter = None, kernel: Filter = None, config: Optional[Config] = None,
                   **settings: Any) -> ReplayAll:
        """Runs every recorded task that the filters select alone, from its recorded arguments, as `taskglass
        replay --all` does, and says which do not give what was recorded. A task that faults or does not
        return costs no other task its verdict. With `guard` each task also runs between guards, which show
        reads and writes outside its arguments, elements that it never writes, and use of old contents.

        `workers` devices work at the same time, by default one for each CPU. `repeat`, `module`, `ask` and
        the settings are as in `replay`. `progress(done, tasks)` is called now and then; an exception from
        it, or Ctrl-C, ends the replay."""
        query = self._query(task, kernel, None, None, None, None, None)
        return replay_all(self, query, guard, workers, repeat, module, progress, ask,
                          config_of(config).updated(**settings))

    def bundle(self, task: Filter, folder: Path, *, module: Optional[Path] = None, ask: Ask = None
               ) -> pathlib.Path:
        """Writes one recorded task as a folder that builds without the graph, as `taskglass replay
        --bundle` does: C source, inputs, expected outputs, a CMake file and the module."""
        return bundle(self._handle, task, folder, module, ask)

    def path(self, *, limit: Optional[int] = None) -> RunPath:
        """Where the time of its run went, and what would make it faster: see `taskglass.path`."""
        return path_of_recording(self, limit)

    def scope(self, *, limit: Optional[int] = None,
              progress: Optional[Callable[[int], Any]] = None) -> ScopeStats:
        """How much of the rings the scopes of its run used: see `taskglass.scope`."""
        return scope(self.run_dir, limit=limit, progress=progress)

    def show(self, *, height: int = 640, most: Optional[int] = None) -> Page:
        """The page of its run for a cell of a notebook: timeline, graph, tasks, tensors. It is one document, which the
        notebook keeps; values that would make it larger than `most` bytes (32 MiB) are left out, and the page says so.
        `taskglass.serve` shows everything."""
        return show_page(self.run_dir, self.name, height, most)

    def write_page(self, path: Path, *, overwrite: bool = False, most: Optional[int] = None,
                   progress: Progress = None) -> WrittenPage:
        """Writes the page of its run as one file that any browser shows, as `taskglass view --html` does. `most` is how
        many bytes it may have, about; `progress(done, total)` is called now and then, and an exception from it ends the
        writing."""
        return write_page(self.run_dir, path, overwrite=overwrite, most=most, progress=progress)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "complete" if self.complete else "incomplete"
        level = f", level {self.level}" if self.level else ""
        return f"<Recording '{self.dir}': {self._records} records{level}, {state}>"

    def _as_html(self) -> str:
        if self.closed:
            return _html.card("Recording, closed", {"folder": self.dir})
        rows = ([record.index, record.task, record.kernel, record.stage, record.role, record.arg,
                 record.dtype, _html.shape_of(record.shape), record._thumbnail()] for record in self)
        shown = _html.table(("index", "task", "kernel", "stage", "role", "arg", "dtype", "shape", "values"),
                            rows, self._records, "; to_dataframe() has all")
        self.check_files()
        return _html.card(f"Recording {self.name}", {
            "folder": self.dir, "level": self.level, "records": self._records,
            "values": _html.size_of(self.payload_bytes), "run": self.state,
            "complete": self.complete, "damaged": self.damaged or None,
            "lost": _html.words(self.lost) if any(self.lost.values()) else None}, shown)


def _notes(info: Any) -> Iterator[str]:
    note, number = lib().layout.tg_note(), 0
    while lib().tg_recording_note(ctypes.byref(info), number, ctypes.byref(note)):
        yield text(note.text)
        number += 1


def _deps_tasks(document: Dict[str, Any]) -> Tuple[DepsTask, ...]:
    """Our tasks name the tasks that they waited for; the other implementation lists all edges behind
    the tasks, once for each argument that ties two of them."""
    listed: Dict[int, Dict[int, str]] = {}
    for edge in document.get("edges", []):
        listed.setdefault(int(edge["succ"], 0), {}).setdefault(int(edge["pred"], 0),
                                                                edge.get("source") or "")
    return tuple(_deps_task(entry, listed) for entry in document["tasks"])


def _deps_task(entry: Dict[str, Any], listed: Dict[int, Dict[int, str]]) -> DepsTask:
    number, kinds = int(entry["task_id"], 0), entry.get("kind", [])
    if "after" in entry:
        edges = [Edge(int(task, 16), kinds[i] if i < len(kinds) else "")
                 for i, task in enumerate(entry["after"])]
    else:
        edges = [Edge(*edge) for edge in sorted(listed.get(number, {}).items())]
    kernels = entry["kernel"] if "kernel_ids" not in entry else [
        f"#{kernel}" for kernel in entry["kernel_ids"] if kernel >= 0]
    return DepsTask(number, tuple(kernels), entry.get("scope") or "", tuple(edges))


def verify(path: Optional[Path] = None, *, force: bool = False, progress: Progress = None
           ) -> Verification:
    """Checks that a recording is intact: opens it, as `Recording` does, and calls its `verify`."""
    with Recording(path) as recording:
        return recording.verify(force=force, progress=progress)
