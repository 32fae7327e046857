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
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _html, dtypes, errors
from ._arguments import encoded, flag, integer, name as name_of, path as path_of, real, shown
from ._handle import Closing, Handle
from ._library import lib, runtimes, text, words
from ._results import RunSchedule, RunScopes, RunTrace, schedule_of, scopes_of, trace_of
from ._source import SourceLine, source_line
from ._types import Path
from .config import Config, SettingsHandle
from .device import DeviceArray, Module
from .recording import Recording

__all__ = ["Graph", "Task", "In", "Out", "InOut", "Scalar", "Run", "RunResult", "RunningTask", "SourceLine"]

_PARTS = ("aic", "aiv0", "aiv1")
_NO_KERNEL = 2**32 - 1
_MAX_TENSORS = _MAX_SCALARS = 16
_LOOK_SECONDS = 0.05
_TIMED_OUT = "TIMED_OUT"


class _Role:
    """A tensor argument and what the task does with it."""
    role = ""

    def __init__(self, array: DeviceArray, mark: bool = False) -> None:
        if not isinstance(array, DeviceArray):
            raise errors.BadType(f"{type(self).__name__} takes a device array, not {shown(array)}")
        self.array, self.mark = array, flag(mark, "mark")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.array!r})"


class In(_Role):
    """The task reads it. With `mark`, the recorder's levels `marked` and `hybrid` record it."""
    role = "in"


class Out(_Role):
    """The task writes it."""
    role = "out"


class InOut(_Role):
    """The task reads and writes it."""
    role = "inout"


class Scalar:
    """A number, where its value alone does not say enough: `dtype` is its type (by default that of the
    kernel's signature), and with `mark`, the recorder's levels `marked` and `hybrid` record it."""

    def __init__(self, value: Any, dtype: Any = None, *, mark: bool = False) -> None:
        is_number = isinstance(value, (bool, int, float, np.generic)) or (
            isinstance(value, np.ndarray) and value.ndim == 0)
        if not is_number or isinstance(value, (np.flexible, np.datetime64, np.timedelta64)):
            raise errors.BadType(f"an argument is a device array or a number, not {shown(value)}")
        self.value, self.mark = value, flag(mark, "mark")
        self.dtype = None if dtype is None else dtypes.dtype(dtype)
        if self.dtype is not None and self.dtype.packed:
            raise errors.BadArgument(f"{self.dtype} is no type of a scalar")

    def __repr__(self) -> str:
        return f"Scalar({self.value!r}{f', {self.dtype}' if self.dtype else ''})"


class Task(int):
    """A task's id; a number."""

    def __repr__(self) -> str:
        return f"Task({int(self)})"


def _bits_of(value: Any, kind: dtypes.DType) -> int:
    """The bits of a scalar. A whole number that its type lacks is refused, because NumPy cuts it to fit."""
    try:
        with np.errstate(all="ignore"):
            encoded = dtypes.encode(value, kind)
    except errors.BadArgument:
        raise errors.BadArgument(f"{shown(value)} is no {kind}") from None
    if encoded.dtype.kind in "iu" and kind.native and encoded.item() != np.asarray(value).item():
        raise errors.BadArgument(f"{shown(value)} is no {kind}")
    return int.from_bytes(encoded.tobytes(), "little")


class _Arguments:
    """Arguments being copied into a struct tg_args. Keeps alive what the structure points to."""

    def __init__(self, arguments: Iterable[Any], signature: str = "", after: Iterable[int] = (),
                 mark: bool = False) -> None:
        self.args = lib().layout.tg_args()
        self.arrays: List[DeviceArray] = []
        self._words = signature.split()
        for argument in arguments:
            self._add(argument)
        if flag(mark, "mark"):
            self.args.tensor_marks = self.args.scalar_marks = 0xffff
        tasks = [integer(task, "a task in `after`") for task in after]
        self._after = (ctypes.c_uint64 * len(tasks))(*tasks)
        self.args.n_more_after = len(tasks)
        self.args.more_after = ctypes.cast(self._after, ctypes.c_void_p)

    def _add(self, argument: Any) -> None:
        if isinstance(argument, DeviceArray):
            argument = self._by_signature(argument)
        if isinstance(argument, _Role):
            self._add_tensor(argument)
        else:
            self._add_scalar(argument if isinstance(argument, Scalar) else Scalar(argument))

    def _by_signature(self, array: DeviceArray) -> _Role:
        roles = {role.role: role for role in (In, Out, InOut)}
        given = [word.partition(":")[0] for word in self._words]
        tensors = [word for word in given if word in roles]
        number = self.args.n_tensors
        if number >= len(tensors):
            wants = f"the kernel takes {len(tensors)} tensors" if self._words else \
                "there is no signature that says what it does with it"
            raise errors.BadArgument(f"say In, Out or InOut for tensor {number}: {wants}")
        return roles[tensors[number]](array)

    def _add_tensor(self, argument: _Role) -> None:
        number = self.args.n_tensors
        if number == _MAX_TENSORS:
            raise errors.BadArgument(f"a task has up to {_MAX_TENSORS} tensors")
        argument.array._fill_tensor(self.args.tensor[number])
        self.args.role[number] = words("tg_role_name", "nothing").index(argument.role)
        self.args.tensor_marks |= int(argument.mark) << number
        self.args.n_tensors = number + 1
        self.arrays.append(argument.array)

    def _scalar_type(self, value: Any) -> dtypes.DType:
        """The type of a scalar: NumPy's scalars have one; others get the type of the signature, or
        else the widest."""
        if isinstance(value, (np.generic, np.ndarray)):
            return dtypes.dtype(value.dtype)
        scalars = [word for word in self._words if word.startswith("scalar")]
        number = self.args.n_scalars
        wanted = scalars[number].partition(":")[2] if number < len(scalars) else ""
        if wanted:
            return dtypes.dtype(wanted)
        return dtypes.dtype("bool" if isinstance(value, bool) else
                            "int64" if isinstance(value, int) else "float64")

    def _add_scalar(self, argument: Scalar) -> None:
        number, value = self.args.n_scalars, argument.value
        if number == _MAX_SCALARS:
            raise errors.BadArgument(f"a task has up to {_MAX_SCALARS} scalars")
        kind = argument.dtype or self._scalar_type(value)
        if kind.packed:
            raise errors.BadArgument(f"{kind} is no type of a scalar")
        scalar = self.args.scalar[number]
        scalar.bits, scalar.dtype = _bits_of(value, kind), kind.number
        self.args.scalar_marks |= int(argument.mark) << number
        self.args.n_scalars = number + 1


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
            running=tuple(RunningTask(task.task, text(task.kernel), task.core,
                                      _PARTS[task.part] if task.part < 3 else "?", task.faulted,
                                      source_line(task.site.at), source_line(task.site.called_at))
                          for task in running),
            recorded=record.summary.recorded,
            lost={text(lib().tg_loss_name(cause)): count
                  for cause, count in enumerate(record.summary.lost)},
            record_text=text(record.text), output_dir=self._output_dir if record.on else None,
            trace=trace_of(result, self._trace), scopes=scopes_of(result),
            schedule=schedule_of(result))

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
        self._given: Optional[_Arguments] = None
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
        self._given = _Arguments(arguments)
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
        given = _Arguments(arguments, signature, _tasks(after), mark)
        for array in given.arrays:
            if array.device is not self.module.device:
                raise errors.BadArgument(f"{array!r} is on another device")
        task = ctypes.c_uint64()
        self._handle.call(function, kernel, ctypes.byref(given.args), ctypes.byref(task))
        self._arrays += given.arrays
        return Task(task.value)

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
        order = Handle(lib().make(lib().tg_schedule_parse, encoded(name_of(schedule, "schedule"))),
                       lib().tg_schedule_destroy, "schedule")
        try:
            with order.use() as pointer:
                lib().layout.tg_schedule.from_address(pointer).keep_starts = integer(
                    keep_starts, "keep_starts")
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


def _make_folder(path: Any, shared: bool) -> pathlib.Path:
    folder = pathlib.Path(os.fsdecode(encoded(path)))
    try:
        folder.mkdir(0o777 if shared else 0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise errors.IoError(f"cannot use directory '{folder}': {error.strerror}") from error
    return folder


def _tasks(after: Any) -> List[Any]:
    """The tasks of `after`: one, or several."""
    if isinstance(after, (str, bytes)):
        raise errors.BadType(f"after is a task or several, not {shown(after)}")
    try:
        return list(after)
    except TypeError:
        return [after]


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
