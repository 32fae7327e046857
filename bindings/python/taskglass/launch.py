# SPDX-License-Identifier: Apache-2.0
"""Starts a script as several ranks on this machine, without MPI:

    python3 -m taskglass.launch -n 4 SCRIPT

Each rank is a process that runs the script; in each, `taskglass.Comm()` is its end of the job, and `taskglass.run`
runs its part of a workload. Standard input and output are those of rank 0; what the others print goes to
standard error, with "rank N: " in front. The exit code is the worst of all.
"""

from __future__ import annotations

import argparse
import ctypes
import pathlib
import shutil
import signal
import sys
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence

from . import errors
from ._arguments import encoded, integer
from ._comm import MOST_RANKS
from ._library import lib, text

__all__ = ["Launched", "launch"]

_ASK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


@dataclass(frozen=True)
class Launched:
    """How the ranks ended. `killed` ended by a signal that nobody had asked for, the first of them being rank
    `first` by signal `first_signal`; `stopped` did not end by themselves."""
    exit_code: int
    killed: int
    stopped: int
    first: Optional[int]
    first_signal: Optional[int]
    output_dir: Optional[pathlib.Path]  # that the ranks shared, if they have run a workload


class _Asked:
    """Notes SIGINT and SIGTERM, which the launcher passes on to the ranks."""

    def __init__(self) -> None:
        self.number = 0

    def note(self, number: int, _: Any) -> None:
        self.number = number


def launch(ranks: int, command: Sequence[str]) -> Launched:
    """Runs a command as so many ranks and waits until all have ended. Call it in the main thread of a process
    that has no other children."""
    words = [encoded(word) for word in command]
    program = shutil.which(command[0]) if words else None
    if program is None:
        raise errors.NotFound(f"there is no program {command[0]!r}" if words else "there is no command to run")
    asked = _Asked()
    argv = (ctypes.c_char_p * (len(words) + 1))(*words)
    ask = _ASK(lambda _: asked.number)
    config = lib().layout.tg_job_config(
        ranks=integer(ranks, "ranks", 1, MOST_RANKS), program=encoded(program),
        argv=ctypes.cast(argv, ctypes.c_void_p), signal=ctypes.cast(ask, ctypes.c_void_p))
    result = lib().layout.tg_job_result()
    old = [(number, signal.signal(number, asked.note)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        lib().call(lib().tg_job_launch, ctypes.byref(config), ctypes.byref(result))
    finally:
        for number, handler in old:
            signal.signal(number, handler)
    where, first = text(result.output_dir), result.first
    return Launched(result.code, result.killed, result.stopped, first.rank if result.killed else None,
                    first.signal if result.killed else None, pathlib.Path(where) if where else None)


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m taskglass.launch", description="Starts a script as several ranks on this machine.")
    parser.add_argument("-n", dest="ranks", type=int, required=True, metavar="RANKS", help="how many ranks")
    parser.add_argument("script", help="a Python script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script is given")
    given = parser.parse_args(arguments)
    try:
        ended = launch(given.ranks, [sys.executable, given.script, *given.arguments])
    except errors.Error as error:
        print(f"taskglass: {error}", file=sys.stderr)
        return error.exit_code
    if ended.killed:
        print(f"taskglass: rank {ended.first} was ended by signal {ended.first_signal}", file=sys.stderr)
    return ended.exit_code


if __name__ == "__main__":
    sys.exit(main())
