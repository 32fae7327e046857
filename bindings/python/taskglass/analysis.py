# SPDX-License-Identifier: Apache-2.0
"""Comparing recordings: the program `taskglass diff` that is installed with the library does the
work in its own process, and this module makes objects from its answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Union

from . import errors
from ._arguments import encoded, flag, integer, shown
from ._html import Shown
from ._library import lib
from ._query import Filter, filter_text

__all__ = ["Diff", "Pair", "Suspect", "diff"]


@dataclass(frozen=True)
class Pair:
    """An argument of a task that is not the same in both recordings."""

    task_a: Optional[int]
    task_b: Optional[int]
    kernel: List[str]
    stage: str
    arg: int
    verdict: str  # "close", "differs" or "unknown"
    reason: str
    values: Optional[Dict[str, Any]] = field(repr=False, default=None)  # as in diff --json

    @property
    def mismatches(self) -> int:
        """The number of elements beyond the tolerance."""
        return int(self.values["mismatches"]) if self.values else 0


@dataclass(frozen=True)
class Suspect:
    """A task where the difference began. `guilt` says how: introduced, unordered (with the task
    `other`), scalar, view, rewired, given, extra, missing, changed or unclear. Both task ids are None
    if the orchestration itself was given something else."""

    guilt: str
    task_a: Optional[int]
    task_b: Optional[int]
    kernel: str
    path: List[Optional[int]] = field(repr=False)  # tasks of A, from this one to a wrong result
    other_a: Optional[int] = None  # unordered: the task of A that this one did not wait for
    given_a: Optional[Dict[str, Any]] = field(repr=False, default=None)  # as in diff --json
    given_b: Optional[Dict[str, Any]] = field(repr=False, default=None)


@dataclass(frozen=True)
class Diff(Shown):
    """Two recordings, compared; true if nothing differs and everything could be compared."""

    result: str  # "equal", "differs", "incomplete", or "not known": nothing could be judged
    counts: Dict[str, int]  # pairs by verdict
    pairs: List[Pair] = field(repr=False)  # the pairs that are not the same
    blame: List[Suspect]  # where the difference began, the likeliest task first
    json: Dict[str, Any] = field(repr=False)  # the whole answer

    def __bool__(self) -> bool:
        return self.result == "equal"


def _program() -> str:
    """The command-line program of the library: beside it, else the first on the path."""
    library = lib().functions._name
    folder = os.path.dirname(os.path.realpath(library))
    # A name without a path: the loader found it, and nobody knows where.
    ups = ("..", "../..") if os.sep in library else ()
    beside = [os.path.join(folder, up, "bin", "taskglass") for up in ups]
    found = next((path for path in beside if os.access(path, os.X_OK)), shutil.which("taskglass"))
    if not found:
        raise errors.Unsupported("the program taskglass is neither beside the library nor on the path",
                                 advice="install it, or add it to PATH")
    return found


def _number(text: Optional[str]) -> Optional[int]:
    return None if text is None else int(text, 16)


def _words(kernel: Union[str, Sequence[str]]) -> List[str]:
    return [kernel] if isinstance(kernel, str) else list(kernel)


def _pair(entry: Dict[str, Any]) -> Pair:
    return Pair(_number(entry.get("task_a")), _number(entry.get("task_b")),
                _words(entry["kernel"]), entry["stage"], entry["arg_index"], entry["verdict"],
                entry["reason"], entry.get("values"))


def _suspect(entry: Dict[str, Any]) -> Suspect:
    return Suspect(entry["guilt"], _number(entry.get("task_a")), _number(entry.get("task_b")),
                   "+".join(_words(entry["kernel"])),
                   [_number(step["task_a"]) for step in entry["path"]],
                   _number((entry.get("other") or {}).get("task_a")), entry.get("given_a"),
                   entry.get("given_b"))


def _where(recording: Any) -> str:
    """The directory of a recording, or the path that the caller gave."""
    path = os.fsdecode(encoded(getattr(recording, "dir", recording)))
    return f"./{path}" if path.startswith("-") else path  # which would be an option


def _several(value: Any, what: str) -> List[Any]:
    """A list of one value, or of several; None is none."""
    if value is None:
        return []
    if isinstance(value, (int, float, str, bytes)):
        return [value]
    try:
        return list(value)
    except TypeError:
        raise errors.BadType(f"{what} is a number, a text or several of them, not "
                             f"{shown(value)}") from None


def _error(printed: str) -> errors.Error:
    """The exception for the line that the program printed: "taskglass: STATUS: text", or without a status
    if an option is wrong."""
    line = printed.strip().replace("taskglass: ", "", 1)
    status, colon, rest = line.partition(": ")
    is_status = bool(colon) and status.isupper() and " " not in status
    return errors.make(status if is_status else "BAD_ARGUMENT", rest if is_status else line, 2)


def diff(a: Any, b: Any, *, atol: Union[None, float, Sequence[str]] = None,
         rtol: Union[None, float, Sequence[str]] = None, equal_nan: bool = False,
         noise: Sequence[Any] = (), fail_fast: bool = False, limit: Optional[int] = None,
         task: Filter = None, kernel: Filter = None, stage: Filter = None, role: Filter = None,
         kind: Filter = None, arg: Filter = None, index: Filter = None, options: Sequence[str] = ()
         ) -> Diff:
    """Compares two recordings (or their directories); b is the trusted one.

    `atol` and `rtol` are numbers, or rules such as "kernel=softmax,arg=2:1e-3"; `noise` are other
    runs that are known to be good, and only what exceeds their differences is reported. Filters, which are
    those of `Recording.select`, compare only some arguments; `fail_fast` stops at the first difference, and
    `limit` gives at most so many pairs. `options` are further options of the command line.
    """
    command = [_program(), "diff", _where(a), _where(b), "--json"]
    command += map(str, _several(options, "options"))
    for name, value in (("--atol", atol), ("--rtol", rtol)):
        for rule in _several(value, name[2:]):
            command += [name, str(rule)]
    for option, wanted in (("task", task), ("kernel", kernel), ("stage", stage), ("role", role),
                           ("kind", kind), ("arg", arg), ("index", index)):
        if wanted is not None:
            command.append(f"--{option}={filter_text(wanted, option == 'task')}")
    if flag(fail_fast, "fail_fast"):
        command.append("--fail-fast")
    if limit is not None:
        command += ["--limit", str(integer(limit, "limit"))]
    for good in _several(noise, "noise"):
        command += ["--noise", _where(good)]
    if flag(equal_nan, "equal_nan"):
        command.append("--equal-nan")
    done = subprocess.run([encoded(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    # An error has a line on stderr; what merely cannot be judged is a document alone.
    if done.returncode not in (0, 1) and (done.stderr or not done.stdout):
        raise _error(done.stderr)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise errors.Error(f"`{command[0]} diff` ended with {done.returncode} and no answer: "
                           f"{shown(done.stdout)}") from None
    blame = answer.get("blame") or {}
    return Diff(answer["result"], answer.get("counts", {}),
                [_pair(entry) for entry in answer.get("pairs", [])],
                [_suspect(entry) for entry in blame.get("suspects", [])], answer)
