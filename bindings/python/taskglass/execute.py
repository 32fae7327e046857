# SPDX-License-Identifier: Apache-2.0
"""Runs a workload's case from end to end, as `taskglass run` does.

execution = taskglass.run("matmul_chain", dump_tensor="full", cores=6)
print(execution.outputs["d"].array()) recording = execution.recording()
"""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import sys
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union, overload

import numpy as np

from . import _html, dtypes, errors
from ._arguments import (converting, flag, function, integer, name as name_of, path as path_of,
                         shown)
from ._comm import MOST_RANKS
from ._handle import Handle
from ._interrupt import Interrupts
from ._library import encoded, lib, text
from ._ranks_run import RanksExecution, run_ranks
from ._results import comm_of, schedule_of, scopes_of, trace_of
from ._types import Array, Path
from .config import Config, SettingsHandle, config_of
from .recording import Recording

__all__ = ["run", "Execution", "Job", "Output", "workloads", "workload", "Workload", "Case", "Kernel",
           "platforms", "Platform", "runtimes", "Runtime"]

PHASES = ("prepare", "open", "build", "run", "check")
_CORES = ("AIC", "AIV", "EITHER")


# --- what there is ------------------------------------------------------------------------------

@dataclass(frozen=True)
class Platform:
    """A kind of device."""
    name: str
    summary: str
    max_blocks: int
    max_schedulers: int
    host_sees_memory: bool
    available: bool


@dataclass(frozen=True)
class Runtime:
    """A way to build the graph."""
    name: str
    summary: str
    available: bool


@dataclass(frozen=True)
class Kernel:
    """A kernel: the kind of core that it runs on ("AIC", "AIV" or "EITHER"), and its signature
    ("" if it accepts any arguments)."""
    name: str
    core: str
    signature: str


@dataclass(frozen=True)
class Case:
    """A case, with its parameters and their values as text."""
    name: str
    summary: str
    params: Dict[str, str]


@dataclass(frozen=True)
class Workload:
    """A workload's module; `error` says why it cannot be used, and is "" if it can."""
    name: str
    path: str = ""
    summary: str = ""
    cases: Tuple[Case, ...] = ()
    kernels: Tuple[Kernel, ...] = ()
    error: str = ""


def _each(get: Callable[..., bool], info: Any) -> Any:
    number = 0
    while get(number, ctypes.byref(info)):
        yield info
        number += 1


def platforms() -> List[Platform]:
    """The platforms that the library knows, whether or not this machine has them."""
    return [Platform(text(info.name), text(info.summary), info.max_blocks, info.max_schedulers,
                     info.host_sees_memory, info.available)
            for info in _each(lib().tg_platform_get, lib().layout.tg_platform_info())]


def runtimes() -> List[Runtime]:
    """The runtimes that the library knows."""
    return [Runtime(text(info.name), text(info.summary), info.available)
            for info in _each(lib().tg_runtime_get, lib().layout.tg_runtime_info())]


class WorkloadFile(Handle):
    """An open module."""

    def __init__(self, settings: SettingsHandle, name: Any) -> None:
        super().__init__(settings.make(lib().tg_workload_open, encoded(name)),
                         lib().tg_workload_close, "workload")

    def describe(self) -> Workload:
        with self.use() as pointer:
            return self._describe(pointer)

    def _describe(self, pointer: int) -> Workload:
        layout = lib().layout
        head = layout.tg_workload.from_address(lib().tg_workload_get(pointer))
        kernels = (layout.tg_kernel_def * head.n_kernels).from_address(head.kernels or 0) \
            if head.n_kernels else ()
        cases = (layout.tg_case_def * head.n_cases).from_address(head.cases or 0) \
            if head.n_cases else ()
        return Workload(
            text(head.name), os.fsdecode(lib().tg_workload_path(pointer)), text(head.summary),
            tuple(Case(text(case.name), text(case.summary), _params(text(case.params)))
                  for case in cases),
            tuple(Kernel(text(kernel.name), _CORES[kernel.core] if kernel.core < len(_CORES) else "?",
                         text(kernel.signature)) for kernel in kernels))


def _params(params: str) -> Dict[str, str]:
    return {word.partition("=")[0]: word.partition("=")[2] for word in params.split()}


def workload(name: Any, config: Optional[Config] = None) -> Workload:
    """A workload by the name of an example or the path of its module."""
    file = WorkloadFile(SettingsHandle(config), name)
    try:
        return file.describe()
    finally:
        file.close()


def workloads(config: Optional[Config] = None) -> List[Workload]:
    """The workloads installed beside the library, and in the folders of `workload_path`."""
    settings = SettingsHandle(config)
    names, count = ctypes.POINTER(ctypes.c_char_p)(), ctypes.c_uint32()
    settings.call(lib().tg_workload_names, ctypes.byref(names), ctypes.byref(count))
    found = [os.fsdecode(names[i] or b"") for i in range(count.value)]
    lib().tg_workload_names_free(names, count.value)
    return [_describe(name, config) for name in found]


def _describe(name: str, config: Optional[Config]) -> Workload:
    try:
        return workload(name, config)
    except errors.Error as error:
        return Workload(name, error=str(error))


# --- running ------------------------------------------------------------------------------------

class Output(_html.Shown):
    """An output of a run, and how it compared with its golden values."""

    def __init__(self, name: str, handle: Handle, values: Any, check: Any) -> None:
        self.name = name
        self._handle = handle
        kind = dtypes.by_number(values.dtype)
        assert kind is not None
        self._kind = kind
        self.dtype: str = kind.name
        self.shape: Tuple[int, ...] = tuple(values.shape[:values.ndim])
        self._address, self._size = values.bytes, values.size
        #: Elements that differ from the golden values; None if it was not compared.
        self.mismatches: Optional[int] = check.mismatches if check else None
        self.max_error: Optional[float] = check.max_error if check else None
        self.exact: Optional[bool] = check.exact if check else None
        #: (index, got, expected) of the first element that differs, or None.
        self.first_mismatch = ((check.first, check.first_got, check.first_expected)
                               if check and check.mismatches else None)

    @property
    def ok(self) -> bool:
        return self.mismatches == 0

    def array(self, decode: bool = False) -> Array:
        """The values that the device computed: read-only, not a copy; see `Record.array`."""
        raw = self._handle.view(self._address, self._size) if self._size else np.empty(0, np.uint8)
        if self._kind.packed:
            return dtypes.decode(raw, self._kind, self.shape) if flag(decode, "decode") else raw
        held = raw.view(self._kind.numpy).reshape(self.shape)
        return dtypes.decode(held, self._kind) if flag(decode, "decode") else held

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        array = self.array(decode=True)
        with converting("numpy.asarray"):
            return np.array(array, dtype) if copy else np.asarray(array, dtype)

    def __repr__(self) -> str:
        return f"<Output {self.name}: {self.dtype} {self.shape}, {self._checked}>"

    @property
    def _checked(self) -> str:
        return ("not compared" if self.mismatches is None else f"ok, max error {self.max_error:g}"
                if self.ok else f"{self.mismatches} elements differ")

    def _as_html(self) -> str:
        raw = self._handle.view(self._address, self._size) if self._size else np.empty(0, np.uint8)
        first = self.first_mismatch
        return _html.card(f"Output {self.name}", {
            "type": f"{self.dtype} {_html.shape_of(self.shape)}", "check": self._checked,
            "first": None if first is None else f"element {first[0]} is {first[1]:g} instead of {first[2]:g}"},
            _html.heatmaps(*_html.elements_of(raw, self._kind, self.shape), self.shape))


@dataclass(frozen=True)
class Job:
    """The job of which an execution is one rank, and how all ranks ended: `status` is that of the rank `worst`.
    `output_dir` has ranks.json, for `taskglass.Ranks`."""
    rank: int
    ranks: int
    status: str
    worst: int
    reports: bool  # it is the lowest rank that is alive
    output_dir: pathlib.Path
    transport: str
    about: str


def _job_of(info: Any) -> Optional[Job]:
    if not info.ranks:
        return None
    job = lib().layout.tg_execution_ranks.from_address(info.ranks)
    return Job(job.rank, job.ranks, text(lib().tg_status_name(job.status)), job.worst, job.reports,
               pathlib.Path(os.fsdecode(job.info.dir or b"")), text(job.info.transport), text(job.info.about))


class Execution(_html.Shown):
    """The outcome of a run. `report` is its run.json."""

    def __init__(self, handle: Handle, name: str, trace: Optional[str] = None) -> None:
        info = lib().layout.tg_execution_info()
        handle.get(lib().tg_execution_get, ctypes.byref(info))
        self.workload = name
        self.case = text(info.case_name)
        #: "OK", "MISMATCH", "KERNEL_FAULT" …
        self.status = text(lib().tg_status_name(info.status))
        self.exit_code: int = lib().tg_status_exit_code(info.status)
        #: One line, "" if all is well; and what to do about it.
        self.error, self.advice = text(info.error), text(info.advice)
        self.output_dir = pathlib.Path(os.fsdecode(info.output_dir))
        self.platform = text(info.device.platform)
        self.cores: int = info.device.cores
        self.tasks: int = info.run.tasks
        self.finished: int = info.run.finished
        self.edges: int = info.edges
        #: Seconds by phase; loading the module is part of "open", beginning of "execute".
        self.seconds = {"prepare": info.prepare_seconds, "open": info.open_seconds,
                        "load": info.load_seconds, "begin": info.run.begin_seconds,
                        "build": info.build_seconds, "start": info.run.start_seconds,
                        "execute": info.run.execute_seconds, "check": info.check_seconds}
        self.recorded: bool = info.run.record.on
        #: A warning of the recorder, or "".
        self.record_warning = text(info.run.record.text)
        #: The trace and the scope stats that it took; None if it took none.
        self.trace, self.scopes = trace_of(info.run, trace), scopes_of(info.run)
        #: What became of the schedule; None if it had none.
        self.schedule = schedule_of(info.run)
        #: What it communicated with other ranks; None if it could not.
        self.comm = comm_of(info.run)
        #: The job that it is a rank of; None if it is alone.
        self.job = _job_of(info)
        self.report: Dict[str, Any] = json.loads(text(info.run_json) or "{}")
        self.outputs: Dict[str, Output] = dict(_outputs(handle, info))

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    def recording(self) -> Recording:
        """The recording of the run; raises NotFound if nothing was recorded."""
        return Recording(self.output_dir)

    def __repr__(self) -> str:
        return (f"<Execution {self.workload}, case {self.case}, on {self.platform}: {self.status}, "
                f"{self.finished} of {self.tasks} tasks, '{self.output_dir}'>")

    def _as_html(self) -> str:
        rows = ([output.name, output.dtype, _html.shape_of(output.shape), output._checked]
                for output in self.outputs.values())
        return _html.card(f"{self.workload}, case {self.case}: {self.status}", {
            "error": self.error, "advice": self.advice, "device": f"{self.platform}, {self.cores} cores",
            "tasks": f"{self.finished} of {self.tasks}, {self.edges} edges",
            "execute": _html.seconds_of(self.seconds["execute"]),
            "recorder": self.record_warning or ("recorded" if self.recorded else "nothing recorded"),
            "files": self.output_dir},
            _html.table(("output", "dtype", "shape", "check"), rows, len(self.outputs)))


def _outputs(handle: Handle, info: Any) -> Any:
    checks = {}
    if info.n_outputs:
        array = (lib().layout.tg_output_check * info.n_outputs).from_address(info.outputs)
        checks = {text(check.name): check for check in array}
    output, number = lib().layout.tg_output(), 0
    while handle.get(lib().tg_execution_output, number, ctypes.byref(output)):
        name = text(output.name)
        yield name, Output(name, handle, output, checks.get(name))
        number += 1


@overload
def run(workload: Any, case: Optional[str] = None, *, ranks: None = None, config: Optional[Config] = None,
        set: Optional[Mapping[str, Any]] = None, trace: Optional[Path] = None, check: bool = True,
        progress: Optional[Callable[[str, int, int], Any]] = None, **settings: Any) -> Execution: ...


@overload
def run(workload: Any, case: Optional[str] = None, *, ranks: int, config: Optional[Config] = None,
        set: Optional[Mapping[str, Any]] = None, trace: Optional[Path] = None, check: bool = True,
        **settings: Any) -> RanksExecution: ...


def run(workload: Any, case: Optional[str] = None, *, ranks: Optional[int] = None,
        config: Optional[Config] = None, set: Optional[Mapping[str, Any]] = None,
        trace: Optional[Path] = None, check: bool = True,
        progress: Optional[Callable[[str, int, int], Any]] = None, **settings: Any
        ) -> Union[Execution, RanksExecution]:
    """Runs one case of a workload: loads the module, prepares the case, opens the device, builds
    and runs the graph, checks the outputs and writes the output directory.

    `workload` is an example's name or the path of a module, `case` the name of one of its cases
    (default: the first), `set` changes parameters of the case. Settings are given as a `Config` or
    by their names: `run("vector_add", platform="a5sim", dump_tensor="full")`. With
    `enable_scope_stats=True`, `taskglass.scope` says how full the rings became. `trace` is a file for a
    trace: Chrome's JSON if its name ends in .json, else Perfetto's protobuf.

    `progress(phase, finished, total)` is called at each phase and several times a second while the
    device loads the module and while the graph runs; an exception from it cancels the run. Ctrl-C does, too.

    With `ranks` it starts that many processes on this machine, each with a device of its own, as
    `taskglass run --ranks` does, and returns a `RanksExecution`; there is no `progress` then. In a
    script that mpirun has started, each process is a rank: leave `ranks` out, and the execution's `job` says
    which one it is and how all ended.

    Raises an `Error` if the run failed, with the run as far as it got in `error.execution`; with
    `check=False` it returns a failed execution like a good one.
    """
    function(progress, "progress")
    if set is not None and not isinstance(set, Mapping):
        raise errors.BadType(f"set is a mapping of parameters, not {shown(set)}")
    traced = None if trace is None else path_of(trace, "trace")
    given = config_of(config).updated(**settings)
    handle = SettingsHandle(given)
    if ranks is not None:
        return _start_ranks(handle, given, path_of(workload), case, ranks, set, traced, check, progress)
    file = WorkloadFile(handle, workload)
    try:
        return _execute(handle, file, path_of(workload), case, set, traced, check, progress)
    finally:
        file.close()
        handle.close()


def _start_ranks(handle: SettingsHandle, config: Config, name: str, case: Optional[str], ranks: int,
                 params: Optional[Mapping[str, Any]], trace: Optional[str], check: bool,
                 progress: Any) -> RanksExecution:
    count = integer(ranks, "ranks", 1, MOST_RANKS)
    if progress is not None:
        raise errors.BadArgument("ranks are processes of their own, which report no progress here")
    if handle.get(lib().tg_job_is_rank):
        raise errors.BadArgument("this process is a rank already, which mpirun or `taskglass run --ranks` has "
                                 "started; leave ranks out")
    handle.close()
    return run_ranks(name, None if case is None else name_of(case, "case"), count, list(config.items()),
                     words_of_params(params), trace, check)


def _execute(settings: SettingsHandle, file: WorkloadFile, name: str, case: Optional[str],
             params: Optional[Mapping[str, Any]], trace: Optional[str], check: bool,
             progress: Optional[Callable[[str, int, int], Any]]) -> Execution:
    interrupts = Interrupts()

    def tell(_: Any, phase: int, finished: int, total: int) -> int:
        return interrupts.guard(progress, PHASES[phase], finished, total)

    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64,
                                ctypes.c_uint64)(tell)
    changes = texts_of_params(params)
    argv = _texts(sys.argv)
    config = lib().layout.tg_execute_config(
        case_name=encoded(case) if case is not None else None,
        set=ctypes.cast(changes, ctypes.c_void_p), n_set=len(changes) - 1,
        trace=None if trace is None else encoded(trace),
        progress=ctypes.cast(callback, ctypes.c_void_p), argc=len(argv) - 1,
        argv=ctypes.cast(argv, ctypes.c_void_p))
    made, error = ctypes.c_void_p(), lib().layout.tg_error()
    execution = None
    with interrupts, settings.use() as table, file.use() as module:
        status = lib().tg_execute(table, module, ctypes.byref(config), ctypes.byref(made),
                                  ctypes.byref(error))
        if made.value is not None:
            execution = Execution(Handle(made.value, lib().tg_execution_destroy, "execution"), name,
                                  trace)
    if status != 0 and (check or execution is None):
        raise lib().error(status, error.text, execution.advice if execution else None, execution)
    assert execution is not None
    return execution


def _texts(items: Any) -> Any:
    all_of_them = [encoded(item) for item in items]
    return (ctypes.c_char_p * (len(all_of_them) + 1))(*all_of_them)


def texts_of_params(params: Optional[Mapping[str, Any]]) -> Any:
    """ "key=value" of each, as an array for C that ends in NULL."""
    return _texts(words_of_params(params))


def words_of_params(params: Optional[Mapping[str, Any]]) -> List[str]:
    """ "key=value" of each."""
    return [f"{key}={_param(value)}" for key, value in (params or {}).items()]


def _param(value: Any) -> str:
    return str(int(value)) if isinstance(value, (bool, np.bool_)) else str(value)
