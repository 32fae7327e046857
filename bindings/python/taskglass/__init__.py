# SPDX-License-Identifier: Apache-2.0
"""Taskglass runs task graphs on accelerators and records everything that each task touched.

    import taskglass

    execution = taskglass.run("matmul_chain", dump_tensor="full")
    with execution.recording() as recording:
        for record in recording.select(kernel="*relu*", stage="after"):
            print(record, record.array().max())

`Recording` reads what was recorded, `run` runs a workload, `Device` and `Graph` are for building
graphs from Python. Every failure raises an `Error`. The README.md of this package says where it
looks for the library.
"""

from . import dtypes
from ._library import lib as _lib
from ._calls import Call
from ._comm import Comm
from ._explain import Explanation, ExplanationCore, ExplanationLink, explain
from ._export import ExportResult, export_formats
from ._find import Between, Culprit, Feed, FindResult, Found, StompSuspect
from ._live import Live, live
from ._newest import newest
from ._path import CoreTime, Gain, KernelTime, PathStep, RunPath, TaskTime, path
from ._ranks import Rank, RankClock, Ranks
from ._ranks_answers import (RankEnd, RankMisfit, RankWait, RanksCause, RanksDiff, RanksExplanation,
                             RanksMessages, RanksSame, RanksSameness, RanksTrace, ShardResult)
from ._ranks_run import RankExecution, RanksExecution
from ._recover import Recovery, recover
from ._replay import Replay, ReplayOutput
from ._races import Race, RaceSide
from ._replay_all import Misuse, ReplayAll, ReplayedTask
from ._results import RunComm, RunSchedule, RunScopes, RunTrace
from ._run_all import run_all
from ._runs import PastRun, RemovedRun, Runs, remove_runs, runs
from ._scope import (ScopeFatal, ScopeNeed, ScopePage, ScopePeak, ScopeStats, ScopeUse, scope)
from ._serve import Page, Server, WrittenPage, serve
from ._shake import OrderConstraint, Shake, ShakeDifference, ShakeTask, shake
from ._stats import Stats, TensorStats
from ._verify import Finding, Verification
from .analysis import Diff, Pair, Suspect, diff
from .check import Against, Check, CheckedTask, Compared
from .config import Config, Setting, settings
from .device import Device, DeviceArray, DeviceInfo, Module
from .errors import (AbiMismatch, BadArgument, BadType, Busy, Cancelled, CommMismatch, Cycle, Deadlock,
                     DeviceFailure, DeviceLost, Error, Hang, IoError, KernelFault, Mismatch,
                     MissingPackage, NoMemory, NotFound, NotTrusted, OutOfRange, RacesFound, RankLost, TimedOut,
                     Unsupported, WorkloadFault)
from .execute import (Case, Execution, Job, Kernel, Output, Platform, Runtime, Workload, platforms, run,
                      runtimes, workload, workloads)
from .graph import Graph, In, InOut, Out, Run, RunningTask, RunResult, Scalar, SourceLine, Task
from .recording import DepsTask, Edge, Record, Recording, verify

__version__ = "0.1.0"


def version() -> str:
    """The version of the library in use."""
    return _lib().version


__all__ = [
    "AbiMismatch", "Against", "BadArgument", "BadType", "Between", "Busy", "Call", "Cancelled", "Case",
    "Check", "CheckedTask", "Comm", "CommMismatch", "Compared", "Config", "CoreTime", "Culprit", "Cycle",
    "Deadlock", "DepsTask", "Device", "DeviceArray", "DeviceFailure", "DeviceInfo", "DeviceLost", "Diff",
    "Edge", "Error", "Execution", "Explanation", "ExplanationCore", "ExplanationLink", "ExportResult", "Feed",
    "FindResult", "Finding", "Found", "Gain", "Graph", "Hang", "In", "InOut", "IoError", "Job", "Kernel",
    "KernelFault", "KernelTime", "Live", "Mismatch", "MissingPackage", "Misuse", "Module", "NoMemory",
    "NotFound", "NotTrusted", "OrderConstraint", "Out", "OutOfRange", "Output", "Page", "Pair", "PastRun",
    "PathStep", "Platform", "Race", "RaceSide", "RacesFound", "Rank", "RankClock", "RankEnd", "RankExecution",
    "RankLost", "RankMisfit", "RankWait", "Ranks", "RanksCause", "RanksDiff", "RanksExecution",
    "RanksExplanation", "RanksMessages", "RanksSame", "RanksSameness", "RanksTrace", "Record", "Recording",
    "Recovery", "RemovedRun", "Replay", "ReplayAll", "ReplayOutput", "ReplayedTask", "Run", "RunComm",
    "RunPath", "RunResult", "RunSchedule", "RunScopes", "RunTrace", "RunningTask", "Runs", "Runtime",
    "Scalar", "ScopeFatal", "ScopeNeed", "ScopePage", "ScopePeak", "ScopeStats", "ScopeUse", "Server",
    "Setting", "Shake", "ShakeDifference", "ShakeTask", "ShardResult", "SourceLine", "Stats", "StompSuspect",
    "Suspect", "Task", "TaskTime", "TensorStats", "TimedOut", "Unsupported", "Verification", "Workload",
    "WorkloadFault", "WrittenPage", "diff", "dtypes", "explain", "export_formats", "live", "newest", "path",
    "platforms", "recover", "remove_runs", "run", "run_all", "runs", "runtimes", "scope", "serve", "settings", "shake",
    "verify", "version", "workload", "workloads"]
