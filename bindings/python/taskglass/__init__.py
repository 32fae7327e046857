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
from ._live import Live, live
from .analysis import Diff, Pair, Suspect, diff
from .check import Check, CheckedTask
from .config import Config, Setting, settings
from .device import Device, DeviceArray, DeviceInfo, Module
from .errors import (AbiMismatch, BadArgument, BadType, Busy, Cancelled, Cycle, Deadlock,
                     DeviceFailure, DeviceLost, Error, Hang, IoError, KernelFault, Mismatch,
                     MissingPackage, NoMemory, NotFound, NotTrusted, OutOfRange, TimedOut, Unsupported,
                     WorkloadFault)
from .execute import (Case, Execution, Kernel, Output, Platform, Runtime, Workload, platforms, run,
                      runtimes, workload, workloads)
from .graph import Graph, In, InOut, Out, Run, RunningTask, RunResult, Scalar, SourceLine, Task
from .recording import (DepsTask, Edge, ExportResult, Finding, Record, Recording, Verification,
                        export_formats, newest)

__version__ = "0.1.0"


def version() -> str:
    """The version of the library in use."""
    return _lib().version


__all__ = [
    "AbiMismatch", "BadArgument", "BadType", "Busy", "Cancelled", "Case", "Check", "CheckedTask", "Config", "Cycle", "Deadlock", "Diff",
    "DepsTask", "Device", "DeviceArray", "DeviceFailure", "DeviceInfo", "DeviceLost", "Edge",
    "Error", "Execution", "ExportResult", "Finding", "Graph", "Hang", "In", "InOut", "IoError", "Kernel", "KernelFault",
    "Live", "Mismatch", "MissingPackage", "Module", "NoMemory", "NotFound", "NotTrusted", "Out", "OutOfRange", "Output", "Pair", "Platform", "Record", "Recording",
    "Run", "RunResult", "RunningTask", "Runtime", "Scalar", "Setting", "SourceLine", "Suspect", "Task", "TimedOut", "Unsupported",
    "Verification", "Workload", "WorkloadFault", "diff", "dtypes", "export_formats", "live", "newest", "platforms", "run", "runtimes",
    "settings", "version", "workload", "workloads"]
