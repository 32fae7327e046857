# SPDX-License-Identifier: Apache-2.0
"""Errors: one class for each status of the library, all of them an `Error`.

Those that have a counterpart in Python are that as well, so that `except ValueError` and
`except taskglass.Error` both work.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Type

__all__ = ["Error", "DeviceFailure", "Mismatch", "BadArgument", "BadType", "OutOfRange", "NotFound",
           "Unsupported", "MissingPackage", "NoMemory", "IoError", "AbiMismatch", "Busy", "Cycle", "TimedOut", "Cancelled",
           "WorkloadFault", "NotTrusted", "RacesFound", "KernelFault", "Hang", "DeviceLost", "Deadlock"]


class Error(Exception):
    """Something failed.

    `status` is the name of the status ("KERNEL_FAULT"), `text` one line that says what happened and
    where, `advice` what to do about it, and `exit_code` the exit code that a command would have: 1
    differs, 2 usage or input, 3 the device failed. `execution` is the failed run as far as it got,
    or None.
    """

    status: str = "UNKNOWN"
    exit_code: int = 2

    def __init__(self, text: str, *, status: Optional[str] = None, exit_code: Optional[int] = None,
                 advice: str = "", execution: Any = None) -> None:
        super().__init__(text)
        self.text = text
        self.status = status or type(self).status
        self.exit_code = type(self).exit_code if exit_code is None else exit_code
        self.advice = advice
        self.execution = execution

    def __str__(self) -> str:
        return f"{self.status}: {self.text}" if self.text else self.status

    def __reduce__(self) -> Any:
        return _again, (type(self), self.text, self.status, self.exit_code, self.advice)


def _again(kind: Type[Error], text: str, status: str, exit_code: int, advice: str) -> Error:
    return kind(text, status=status, exit_code=exit_code, advice=advice)


class DeviceFailure(Error):
    """The device failed, or a kernel on it did."""
    exit_code = 3


class Mismatch(Error):
    """Outputs differ from the golden values."""
    status, exit_code = "MISMATCH", 1


class BadArgument(Error, ValueError):
    """An argument is not valid."""
    status = "BAD_ARGUMENT"


class BadType(BadArgument, TypeError):
    """An argument is of the wrong type."""


class OutOfRange(BadArgument, IndexError):
    """There is no element with this number."""


class NotFound(Error, LookupError):
    """The named thing does not exist."""
    status = "NOT_FOUND"


class Unsupported(Error):
    """Not available here, or not in this build."""
    status = "UNSUPPORTED"


class MissingPackage(Unsupported, ImportError):
    """A Python package that this function needs is not installed; the text names it."""


class NoMemory(Error, MemoryError):
    """It does not fit in memory."""
    status = "NO_MEMORY"


class IoError(Error, OSError):
    """A file or directory could not be used."""
    status = "IO_ERROR"


class AbiMismatch(Error):
    """The module was built against another version of Taskglass."""
    status = "ABI_MISMATCH"


class Busy(Error):
    """The device, or a run's folder, is still in use."""
    status = "BUSY"


class Cycle(Error):
    """The graph has a cycle."""
    status = "CYCLE"


class TimedOut(DeviceFailure, TimeoutError):
    """The run did not finish within the given time."""
    status = "TIMED_OUT"


class Cancelled(DeviceFailure):
    """The run was cancelled before it finished."""
    status = "CANCELLED"


class WorkloadFault(Error):
    """A function of the workload crashed, exited or did not return."""
    status = "WORKLOAD_FAULT"


class NotTrusted(Error):
    """A recording names a module that is neither installed nor one that this user has run here."""
    status = "NOT_TRUSTED"


class RacesFound(Error):
    """Tasks that nothing keeps in order use the same bytes, and the setting `races` is "error"."""
    status = "RACE"


class KernelFault(DeviceFailure):
    """A kernel crashed."""
    status = "KERNEL_FAULT"


class Hang(DeviceFailure):
    """No task finished within the no-progress limit."""
    status = "HANG"


class DeviceLost(DeviceFailure):
    """The device died."""
    status = "DEVICE_LOST"


class CommMismatch(DeviceFailure):
    """Ranks called communication that does not fit together; the text names both ranks and their lines."""
    status = "COMM_MISMATCH"


class RankLost(DeviceFailure):
    """Another rank of the job ended or failed."""
    status = "RANK_LOST"


class Deadlock(DeviceFailure):
    """A ring of a device-built graph can never drain; `status` says which."""
    status = "FLOW_CONTROL_DEADLOCK"


_DEADLOCKS = ("SCOPE_DEADLOCK", "HEAP_RING_DEADLOCK", "FLOW_CONTROL_DEADLOCK", "DEP_POOL_OVERFLOW",
              "TENSORMAP_OVERFLOW")
_BY_STATUS: Dict[str, Type[Error]] = {
    **{kind.status: kind for kind in (Mismatch, BadArgument, NotFound, Unsupported, NoMemory,
                                      IoError, AbiMismatch, Busy, Cycle, TimedOut, Cancelled,
                                      WorkloadFault, NotTrusted, RacesFound, KernelFault, Hang, DeviceLost,
                                      CommMismatch, RankLost)},
    **{name: Deadlock for name in _DEADLOCKS},
}


def make(status: str, text: str, exit_code: int, advice: str = "", execution: Any = None) -> Error:
    """The exception for a status; for a status that this package does not know, the exit code
    chooses it."""
    kind = _BY_STATUS.get(status, DeviceFailure if exit_code == 3 else Error)
    return kind(text, status=status, exit_code=exit_code, advice=advice, execution=execution)
