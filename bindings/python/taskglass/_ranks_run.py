# SPDX-License-Identifier: Apache-2.0
"""Runs a workload on several ranks of this machine. A Python process is one process, so the program `taskglass`
that is installed with the library starts them, and this module makes objects of its answer."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import errors
from ._arguments import encoded, shown
from ._files import read_file
from ._html import Shown
from ._library import lib, text
from ._program import program, error_of
from ._ranks import Ranks
from .recording import Recording

__all__ = ["RankExecution", "RanksExecution"]

# The ranks end by themselves when they are asked to; after 10 s the launcher kills those that do not.
_END_SECONDS = 30

_MOST_REPORT = 64 << 20  # bytes of a run.json


@dataclass(frozen=True)
class RankExecution(Shown):
    """One rank of a run. `report` is its run.json; None if it has none, or if it is on another machine."""
    rank: int
    status: str
    exit_code: int
    error: str
    output_dir: pathlib.Path
    host: str
    pid: int
    local_rank: int
    report: Optional[Dict[str, Any]] = field(repr=False)

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    @property
    def comm(self) -> Optional[Dict[str, Any]]:
        """What it communicated, as run.json has it."""
        found = (self.report or {}).get("comm")
        return found if isinstance(found, dict) else None

    def recording(self) -> Recording:
        """The recording of the rank; raises NotFound if nothing was recorded."""
        return Recording(self.output_dir)


@dataclass(frozen=True)
class RanksExecution(Shown):
    """The outcome of a run of several ranks. `output_dir` has ranks.json and a folder for each rank; `ranks[r]` is
    rank r. `status` and `error` are those of a rank that failed by itself, if one has."""
    workload: str
    case: str
    status: str
    exit_code: int
    error: str
    advice: str
    output_dir: pathlib.Path
    transport: str
    about: str
    ranks: Tuple[RankExecution, ...]
    messages: str = field(repr=False)  # what the ranks have printed to standard error

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    def files(self) -> Ranks:
        """The files of the run: calls, clocks, and what they say together."""
        return Ranks(self.output_dir)


def _advice(status: str) -> str:
    numbers = (number for number in range(0, -128, -1) if text(lib().tg_status_name(number)) == status)
    return text(lib().tg_status_advice(next(numbers, 0)))


def _exit_code(status: str) -> int:
    numbers = (number for number in range(0, -128, -1) if text(lib().tg_status_name(number)) == status)
    return int(lib().tg_status_exit_code(next(numbers, -2)))


def _failure(ranks: Sequence[RankExecution], status: str) -> str:
    """The error of the rank that the run's status comes from."""
    for rank in ranks:
        if not rank.ok and rank.status == status:
            return f"rank {rank.rank}: {rank.error}"
    return next((f"rank {rank.rank}: {rank.error}" for rank in ranks if not rank.ok), "")


def _from_document(document: Dict[str, Any], messages: str) -> RanksExecution:
    """`document` is what `taskglass run --ranks N --json` prints."""
    directory, status = pathlib.Path(document["directory"]), document["result"]["status"]
    ranks = tuple(RankExecution(
        rank["rank"], rank["result"]["status"], rank["result"]["exit_code"], rank["error"],
        directory / rank["folder"], rank["host"], rank["pid"], rank["local_rank"], rank["run"])
        for rank in document["rank"])
    code = document["result"]["exit_code"]
    return RanksExecution(document["workload"], document["case"], status, code,
                          _failure(ranks, status) if code else "", _advice(status) if code else "",
                          directory, document["transport"], document["about"], ranks, messages)


def _report_of(directory: pathlib.Path) -> Optional[Dict[str, Any]]:
    try:
        found = json.loads(read_file(directory / "run.json", _MOST_REPORT))
    except (errors.Error, OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _from_files(directory: pathlib.Path, messages: str) -> RanksExecution:
    """Where rank 0 was killed, nobody has printed the document."""
    with Ranks(directory) as files:
        ranks = tuple(RankExecution(
            rank.rank, rank.status or "RANK_LOST", _exit_code(rank.status or "RANK_LOST"), rank.error,
            rank.dir, rank.host, rank.pid, rank.local_rank, _report_of(rank.dir)) for rank in files)
        known = files.status or "RUNNING"
        status = "RANK_LOST" if known in ("OK", "RUNNING") else known
        return RanksExecution(files.workload, files.case, status, _exit_code(status),
                              _failure(ranks, status), _advice(status), directory, files.transport,
                              files.about, ranks, messages)


def _files_line(messages: str) -> Optional[pathlib.Path]:
    """The directory that the launcher names when a rank was killed."""
    lines = [line.split(None, 1)[1] for line in messages.splitlines() if line.startswith("  files    ")]
    return pathlib.Path(lines[-1]) if lines else None


def _ended(command: List[str]) -> Tuple[int, str, str]:
    """Runs the program to its end: its exit code, and what it has printed. Ctrl-C ends the ranks, too."""
    process = subprocess.Popen([encoded(word) for word in command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    try:
        printed, messages = process.communicate()
    except BaseException:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        raise
    return process.returncode, printed, messages


def run_ranks(workload: str, case: Optional[str], ranks: int, settings: Sequence[Tuple[str, str]],
              params: Sequence[str], trace: Optional[str], check: bool) -> RanksExecution:
    """Does what `taskglass run --ranks` does. `settings` and `params` are as the command line takes them."""
    name = f"./{workload}" if workload.startswith("-") else workload  # which would be an option
    command = [program(), "run", name, "--json", f"--ranks={ranks}"]
    command += [] if case is None else [f"--case={case}"]
    command += [] if trace is None else [f"--trace={trace}"]
    command += [f"--set={param}" for param in params]
    command += [f"--{option}={value}" for option, value in settings if option != "ranks"]
    code, printed, messages = _ended(command)
    execution = _outcome(code, printed, messages)
    if not execution.ok and check:
        raise errors.make(execution.status, execution.error, execution.exit_code, execution.advice,
                          execution)
    return execution


def _outcome(code: int, printed: str, messages: str) -> RanksExecution:
    try:
        document = json.loads(printed)
    except (ValueError, RecursionError):
        directory = _files_line(messages)
        if directory is not None:
            return _from_files(directory, messages)
        if code and messages:
            raise error_of(messages.splitlines()[0], code) from None
        raise errors.Error(f"`taskglass run --ranks` ended with {code} and no answer: "
                           f"{shown(printed)}") from None
    if "directory" in document:
        return _from_document(document, messages)
    failed = document["error"]  # before the run had a directory
    raise errors.make(failed["name"], failed["text"], document["result"]["exit_code"], failed["advice"])
