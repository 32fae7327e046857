# SPDX-License-Identifier: Apache-2.0
"""Graphs: the host builds them task by task and runs them, once or many times.

a = graph.add("scale", x, t, 0.5) b = graph.add("add", t, y, z, after=a) result =
graph.run(record="full", output_dir="outputs/mine")
"""

from __future__ import annotations

import ctypes
import inspect
import os
import pathlib
import time
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type, Union

import numpy as np

from . import _html, errors
from ._arguments import encoded, flag, integer, name as name_of, path as path_of, real, shown
from ._handle import Closing, Handle
from ._library import lib, runtimes, text, words
from ._results import (RunComm, RunSchedule, RunScopes, RunTrace, comm_kinds, comm_of, schedule_of, scopes_of,
                       trace_of)
from ._source import SourceLine, source_line
from ._task import Arguments, In, InOut, Out, Role, Scalar, Task, tasks_of
from ._types import Path
from .config import Config, SettingsHandle
from .device import DeviceArray, Module
from .recording import Recording

__all__ = ["Graph", "Task", "In", "Out", "InOut", "Scalar", "Run", "RunResult", "RunningTask", "SourceLine"]

_PARTS = ("aic", "aiv0", "aiv1")
_NO_KERNEL = 2**32 - 1
_LOOK_SECONDS = 0.05
_TIMED_OUT = "TIMED_OUT"
_NONE = -1  # a peer, tag or operation that a call does not have

#: An argument of a call of communication: an array, or one in its role.
Tensor = Union[DeviceArray, Role]


@dataclass(frozen=True)
class RunningTask:
    """A task that was running when a run failed. `site` is the line that it crashed in or was at, if
    the module has debug information; `called_at` the line of its kernel, if that is another one."""
    id: int
    kernel: str
    core: int
    part: str
    faulted: bool
    site: Optional[SourceLine] = None
    called_at: Optional[SourceLine] = None


@dataclass(frozen=True)
class RunResult(_html.Shown):
    """The outcome of a run of a graph."""
    status: str
    tasks: int
    edges: int
    finished: int
    waiting: int
    start_seconds: float
    execute_seconds: float
    running: Tuple[RunningTask, ...]
    recorded: int
    lost: Dict[str, int]
    record_text: str
    output_dir: Optional[pathlib.Path]
    trace: Optional[RunTrace] = None
    scopes: Optional[RunScopes] = None
    schedule: Optional[RunSchedule] = None
    #: On `cuda`: from the launch until all cores had begun, and whether the GPU's kernel had stayed from the
    #: run before.
    begin_seconds: float = 0.0
    lingered: bool = False
    comm: Optional[RunComm] = None

    def recording(self) -> Recording:
        """The recording of the run."""
        if self.output_dir is None:
            raise errors.NotFound("nothing was recorded; run with record=\"full\"")
        return Recording(self.output_dir)


class Run(Closing):
    """A run in progress. `wait` returns the result; closing it earlier cancels it."""

    def __init__(self, graph: "Graph", config: Any, keep: Any,
                 output_dir: Optional[pathlib.Path]) -> None:
        self.graph, self._keep, self._output_dir = graph, (config, keep), output_dir
        self._trace = os.fsdecode(config.trace) if config.trace else None
        with graph._handle.use_alone() as pointer:
            self._handle = Handle(lib().make(lib().tg_run_start, pointer, ctypes.byref(config)),
                                  lib().tg_run_destroy, "run", graph._handle)

    def wait(self, seconds: Optional[float] = None) -> RunResult:
        """Waits for the end. Raises TimedOut if the run has not ended within `seconds`, and its
        error if it failed."""
        end = None if seconds is None else time.monotonic() + real(seconds, "seconds")
        error = lib().layout.tg_error()
        while True:
            # Waits in short pieces, so that Ctrl-C gets through.
            left = _LOOK_SECONDS if end is None else min(_LOOK_SECONDS, end - time.monotonic())
            status = self._handle.get(lib().tg_run_wait, max(left, 0.0), ctypes.byref(error))
            if text(lib().tg_status_name(status)) != _TIMED_OUT or left <= 0:
                break
        if status != 0:
            raise lib().error(status, error.text, execution=self.result())
        return self.result()

    @property
    def progress(self) -> Tuple[int, int]:
        """Tasks finished so far, and in all."""
        finished, total = ctypes.c_uint64(), ctypes.c_uint64()
        self._handle.get(lib().tg_run_progress, ctypes.byref(finished), ctypes.byref(total))
        return finished.value, total.value

    def cancel(self) -> None:
        """Asks the run to end: tasks already running finish, no others start. Any thread may call
        it."""
        with self._handle.use() as pointer:
            lib().tg_run_cancel(pointer)

    def result(self) -> RunResult:
        """The outcome; the status is TIMED_OUT while the run has not ended."""
        with self._handle.use_alone() as pointer:  # which owns what the result points to
            return self._result(pointer)

    def _result(self, pointer: int) -> RunResult:
        result = lib().layout.tg_run_result()
        lib().tg_run_get_result(pointer, ctypes.byref(result))
        running = (lib().layout.tg_run_task * result.n_running).from_address(result.running) \
            if result.n_running and result.running else ()
        record = result.record
        return RunResult(
            status=text(lib().tg_status_name(result.status)), tasks=result.tasks,
            edges=result.edges, finished=result.finished, waiting=result.waiting,
            start_seconds=result.start_seconds, execute_seconds=result.execute_seconds,
            begin_seconds=result.begin_seconds, lingered=result.lingered,
            running=tuple(RunningTask(task.task, text(task.kernel), task.core,
                                      _PARTS[task.part] if task.part < 3 else "?", task.faulted,
                                      source_line(task.site.at), source_line(task.site.called_at))
                          for task in running),
            recorded=record.summary.recorded,
            lost={text(lib().tg_loss_name(cause)): count
                  for cause, count in enumerate(record.summary.lost)},
            record_text=text(record.text), output_dir=self._output_dir if record.on else None,
            trace=trace_of(result, self._trace), scopes=scopes_of(result),
            schedule=schedule_of(result), comm=comm_of(result))

    def __repr__(self) -> str:
        if self.closed:
            return "<Run, closed>"
        return "<Run: {} of {} tasks>".format(*self.progress)


class Graph(Closing):
    """A graph of a module's kernels: `module.graph()`, or `module.orchestrate(…)`."""

    def __init__(self, module: Module, arguments: Sequence[Any] = (), runtime: Optional[str] = None,
                 rings: Optional[Dict[str, Any]] = None) -> None:
        if not isinstance(module, Module):
            raise errors.BadType(f"a graph is made of a taskglass.Module, not {shown(module)}")
        self.module = module
        self._arrays: List[DeviceArray] = []  # kept alive as long as the graph that uses them
        self._given: Optional[Arguments] = None
        with module.use_alone() as pointer:
            made = (lib().make(lib().tg_graph_create, pointer) if runtime is None else
                    self._orchestrate(pointer, arguments, runtime, rings or {}))
            self._handle = Handle(made, lib().tg_graph_destroy, "graph", module.device._handle)

    def _orchestrate(self, module: int, arguments: Sequence[Any], runtime: str,
                     rings: Dict[str, Any]) -> int:
        known, runtime = runtimes(), name_of(runtime, "runtime")
        if runtime not in known:
            raise errors.NotFound(f"there is no runtime '{runtime}'; there are "
                                  f"{', '.join(known)}")
        self._given = Arguments(arguments)
        self._arrays += self._given.arrays
        return lib().make(lib().tg_graph_orchestrate, module, known.index(runtime),
                          ctypes.byref(self._given.args), ctypes.byref(_rings(rings)))

    # --- building ------------------------------------------------------------------------------

    def add(self, kernel: str, *arguments: Any, after: Any = (), mark: bool = False) -> Task:
        """Adds a task of one kernel. The kernel's signature says whether a device array is read or
        written, unless In, Out or InOut says so; a number becomes a scalar of the signature's type,
        unless Scalar says another.
        `after` is a task, or several, that it waits for, and `mark` marks all of its arguments for
        the recorder."""
        number = self.module.index(kernel)
        signature = self.module.kernels[kernel].signature
        return self._submit(lib().tg_graph_add, number, signature, arguments, after, mark)

    def add_mix(self, *arguments: Any, aic: Optional[str] = None, aiv0: Optional[str] = None,
                aiv1: Optional[str] = None, after: Any = (), mark: bool = False) -> Task:
        """Adds a task of up to three kernels that start together and share the arguments. The
        signature of the first kernel that has one applies to the tensors."""
        names = (aic, aiv0, aiv1)
        numbers = (ctypes.c_uint32 * 3)(*(_NO_KERNEL if name is None else self.module.index(name)
                                          for name in names))
        signatures = [self.module.kernels[name].signature for name in names if name is not None]
        signature = next((each for each in signatures if each), "")
        return self._submit(lib().tg_graph_add_mix, numbers, signature, arguments, after, mark)

    def _submit(self, function: Any, kernel: Any, signature: str, arguments: Sequence[Any],
                after: Any, mark: bool) -> Task:
        return self._add(function, (kernel,), Arguments(arguments, signature, tasks_of(after), mark))

    def _add(self, function: Any, what: Tuple[Any, ...], given: Arguments) -> Task:
        for array in given.arrays:
            if array.device is not self.module.device:
                raise errors.BadArgument(f"{array!r} is on another device")
        task = ctypes.c_uint64()
        self._handle.call(function, *what, ctypes.byref(given.args), ctypes.byref(task))
        self._arrays += given.arrays
        return Task(task.value)

    # --- communication -------------------------------------------------------------------------

    # The workload says that it communicates (`.communicates = 1`), and the device has joined a `Comm`, or is
    # the only rank. Each call is a task: no core waits for it, and tasks after it start when its data are
    # there. A plain array gets the role that the call has for it. All ranks add the same calls of the
    # last five kinds in the same order; sends and receives match by peer and tag.

    def send(self, peer: int, tag: int, array: Tensor, *, after: Any = (), mark: bool = False) -> Task:
        """Adds a task that sends the array to rank `peer`."""
        return self._communicate("tg_send", [_as(In, array)], after, mark, peer, tag)

    def recv(self, peer: int, tag: int, array: Tensor, *, after: Any = (), mark: bool = False) -> Task:
        """Adds a task that receives into the array: from rank `peer`, the send with the same tag; among
        several, in the order in which they were added."""
        return self._communicate("tg_recv", [_as(Out, array)], after, mark, peer, tag)

    def broadcast(self, root: int, array: Tensor, *, after: Any = (), mark: bool = False) -> Task:
        """Adds a task that gives all ranks the array of rank `root`."""
        comm = self.module.device.comm
        is_root = integer(root, "a rank", -2**31, 2**31 - 1) == (0 if comm is None else comm.rank)
        return self._communicate("tg_broadcast", [_as(In if is_root else Out, array)], after, mark, root)

    def all_reduce(self, operation: str, array: Tensor, out: Optional[Tensor] = None, *,
                   after: Any = (), mark: bool = False) -> Task:
        """Adds a task that combines the arrays of all ranks element by element: "sum", "product", "min" or
        "max". The result is in `out`, or takes the place of the array."""
        tensors = [_as(InOut, array)] if out is None else [_as(In, array), _as(Out, out)]
        return self._communicate("tg_all_reduce", tensors, after, mark, operation=operation)

    def reduce_scatter(self, operation: str, array: Tensor, out: Tensor, *, after: Any = (),
                       mark: bool = False) -> Task:
        """The same, and each rank gets one of as many equal pieces of the result as there are ranks: rank r
        piece r."""
        return self._communicate("tg_reduce_scatter", [_as(In, array), _as(Out, out)], after, mark,
                                 operation=operation)

    def all_gather(self, array: Tensor, out: Tensor, *, after: Any = (), mark: bool = False) -> Task:
        """Adds a task that gives all ranks the arrays of all, in the order of the ranks."""
        return self._communicate("tg_all_gather", [_as(In, array), _as(Out, out)], after, mark)

    def all_to_all(self, array: Tensor, out: Tensor, *, after: Any = (), mark: bool = False) -> Task:
        """Adds a task that sends piece r of the array to rank r, and puts what came from rank r into piece r
        of `out`."""
        return self._communicate("tg_all_to_all", [_as(In, array), _as(Out, out)], after, mark)

    def _communicate(self, call: str, tensors: List[Role], after: Any, mark: bool, peer: int = _NONE,
                     tag: int = _NONE, operation: Optional[str] = None) -> Task:
        low = -2**31
        numbers = (comm_kinds().index(call), integer(peer, "a rank", low, 2**31 - 1),
                   integer(tag, "a tag", low, 2**31 - 1),
                   _NONE if operation is None else _operation(operation))
        return self._add(lib().tg_graph_communicate, numbers,
                         Arguments(tensors, after=tasks_of(after), mark=mark))

    def edge(self, before: int, after: int) -> None:
        """Makes `after` wait for `before`."""
        self._handle.call(lib().tg_graph_add_edge, integer(before, "before"), integer(after, "after"))

    def check(self) -> None:
        """Raises Cycle if the graph has one; a run checks by itself."""
        self._handle.call(lib().tg_graph_check)

    def reset(self) -> None:
        """Removes all tasks, so that the next graph is built in the memory of this one. Raises Busy while
        it runs, and BadArgument if the device builds it."""
        self._handle.call(lib().tg_graph_reset)
        self._arrays.clear()

    def clear(self) -> None:
        """Removes all tasks, or does nothing where reset() raises an error."""
        self._handle.get(lib().tg_graph_clear)
        self._arrays.clear()

    @property
    def tasks(self) -> int:
        return self._handle.number(lib().tg_graph_tasks)

    @property
    def edges(self) -> int:
        return self._handle.number(lib().tg_graph_edges)

    # --- running -------------------------------------------------------------------------------

    def start(self, *, timeout: float = 0, record: Union[None, bool, str] = None,
              output_dir: Any = None, policy: str = "block", filter: str = "", arena: int = 0,
              buffers: int = 0, wait_limit: float = 0, transport: str = "auto",
              scope_stats: Union[None, bool, Path] = None, trace: Optional[Path] = None,
              schedule: str = "", keep_starts: int = 0, deps: bool = False, shared: bool = False,
              live: bool = True) -> Run:
        """Starts the graph and returns a Run. `timeout` is the no-progress limit in seconds (0: the
        default). With `record` (a level such as "full", or True) the run is recorded into
        `output_dir`; `transport` says how the host gets the recording: "auto", "mapped" or "copied".

        `scope_stats` is a folder in which the run writes scope_stats/, or True for `output_dir`;
        `taskglass.scope` reads them. `trace` is a file for a trace: Chrome's JSON if its name ends in .json,
        else Perfetto's protobuf. `schedule` says in which order ready tasks start, as `--schedule` does: "lifo",
        "random:7"; the result's `schedule` has the first `keep_starts` tasks in that order. Unless `live` is False, the run answers `taskglass.live` in `output_dir`.
        Only its owner may enter a folder that this makes; with `shared`, whoever the umask allows."""
        level = ("full" if record is True else "off" if record is None or record is False else
                 name_of(record, "record") or "off")
        timeout, wait_limit = real(timeout, "timeout"), real(wait_limit, "wait_limit")
        levels, policies = words("tg_level_name"), words("tg_policy_name")
        if level not in levels or name_of(policy, "policy") not in policies:
            raise errors.BadArgument(f"record is one of {', '.join(levels)}, and policy one of "
                                     f"{', '.join(policies)}")
        if (level != "off" or scope_stats is True) != (output_dir is not None):
            raise errors.BadArgument("record and output_dir go together")
        # The words, and what is said of another one, are those of the setting.
        way = SettingsHandle(Config(dump_transport=name_of(transport, "transport")))
        config = lib().layout.tg_run_config(
            timeout=timeout, deps=flag(deps, "deps"), shared=flag(shared, "shared"),
            not_live=not flag(live, "live"),
            trace=None if trace is None else encoded(path_of(trace, "trace")))
        recorder, folder = None, None
        if output_dir is not None:
            folder = _make_folder(output_dir, shared)
        if scope_stats is not None and scope_stats is not False:
            config.scope_stats = encoded(folder if scope_stats is True else
                                         _make_folder(scope_stats, shared))
        if level != "off":
            recorder = lib().layout.tg_record_config(
                level=levels.index(level), policy=policies.index(policy), filter=encoded(filter),
                output_dir=encoded(folder), arena=arena, buffers=buffers, wait_limit=wait_limit,
                transport=way.get(lib().tg_settings_choice, b"dump-transport"))
            config.record = ctypes.addressof(recorder)
        starts = integer(keep_starts, "keep_starts")
        if not name_of(schedule, "schedule") and not starts:  # a graph that communicates has no schedule
            return Run(self, config, (recorder, self._given), folder)
        order = Handle(lib().make(lib().tg_schedule_parse, encoded(schedule)), lib().tg_schedule_destroy,
                       "schedule")
        try:
            with order.use() as pointer:
                lib().layout.tg_schedule.from_address(pointer).keep_starts = starts
                config.schedule = pointer  # which the run copies when it starts
                return Run(self, config, (recorder, self._given), folder)
        finally:
            order.close()

    def run(self, **options: Any) -> RunResult:
        """Runs the graph to its end; the options are those of `start`. Ctrl-C cancels it."""
        unknown = sorted(set(options) - set(inspect.signature(Graph.start).parameters))
        if unknown:
            raise errors.BadType(f"a run has no option {', '.join(unknown)}; `Graph.start` has them all")
        with self.start(**options) as run:
            return run.wait()

    def __repr__(self) -> str:
        if self.closed:
            return "<Graph, closed>"
        return f"<Graph of {self.module.workload.name}: {self.tasks} tasks, {self.edges} edges>"


def _as(role: Type[Role], given: Tensor) -> Role:
    return given if isinstance(given, Role) else role(given)


def _operation(name: str) -> int:
    known = words("tg_reduction_name", "")
    if name_of(name, "operation") not in known:
        raise errors.BadArgument(f"operation is one of {', '.join(known)}, not {shown(name)}")
    return known.index(name)


def _make_folder(path: Any, shared: bool) -> pathlib.Path:
    folder = pathlib.Path(os.fsdecode(encoded(path)))
    try:
        folder.mkdir(0o777 if shared else 0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise errors.IoError(f"cannot use directory '{folder}': {error.strerror}") from error
    return folder


def _rings(sizes: Dict[str, Any]) -> Any:
    made = lib().layout.tg_rings()
    for name, value in sizes.items():
        if name == "tensormap":
            made.tensormap = integer(value, name, 0, 2**32 - 1)
        elif name in ("task_window", "dep_pool", "heap"):
            values = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value] * 4
            if len(values) != 4:
                raise errors.BadArgument(f"{name} is one number or four")
            most = 2**64 - 1 if name == "heap" else 2**32 - 1
            getattr(made, name)[:] = [integer(each, name, 0, most) for each in values]
        else:
            raise errors.BadArgument(f"rings have no '{name}'; they have task_window, dep_pool, "
                                     "heap and tensormap")
    return made
