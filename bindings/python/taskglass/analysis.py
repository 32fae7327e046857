# SPDX-License-Identifier: Apache-2.0
"""Comparing recordings: the program `taskglass diff` that is installed with the library does the
work in its own process, and this module makes objects from its answer."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Union

from . import errors
from ._arguments import encoded, flag, integer, shown
from ._html import Shown
from ._program import error_of, program
from ._query import Filter, filter_text
from ._tolerances import several

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
    command = [program(), "diff", _where(a), _where(b), "--json"]
    command += map(str, several(options, "options"))
    for name, value in (("--atol", atol), ("--rtol", rtol)):
        for rule in several(value, name[2:]):
            command += [name, str(rule)]
    for option, wanted in (("task", task), ("kernel", kernel), ("stage", stage), ("role", role),
                           ("kind", kind), ("arg", arg), ("index", index)):
        if wanted is not None:
            command.append(f"--{option}={filter_text(wanted, option == 'task')}")
    if flag(fail_fast, "fail_fast"):
        command.append("--fail-fast")
    if limit is not None:
        command += ["--limit", str(integer(limit, "limit"))]
    for good in several(noise, "noise"):
        command += ["--noise", _where(good)]
    if flag(equal_nan, "equal_nan"):
        command.append("--equal-nan")
    done = subprocess.run([encoded(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    # An error has a line on stderr; what merely cannot be judged is a document alone.
    if done.returncode not in (0, 1) and (done.stderr or not done.stdout):
        raise error_of(done.stderr, 2)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise errors.Error(f"`{command[0]} diff` ended with {done.returncode} and no answer: "
                           f"{shown(done.stdout)}") from None
    if "result" not in answer or "ranks" in answer:
        raise errors.BadArgument("these are runs of several ranks; take taskglass.Ranks(a).diff(taskglass.Ranks(b))")
    blame = answer.get("blame") or {}
    return Diff(answer["result"], answer.get("counts", {}),
                [_pair(entry) for entry in answer.get("pairs", [])],
                [_suspect(entry) for entry in blame.get("suspects", [])], answer)
