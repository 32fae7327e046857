# SPDX-License-Identifier: Apache-2.0
"""Ranks: several processes, each with a device of its own, that run the same graphs together.

comm = taskglass.Comm()              # in each process that mpirun, or `taskglass run --ranks`, has started
with taskglass.Device(comm=comm) as device:
    …
    graph.all_reduce("sum", x)
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from typing import Any, Iterator, List, Optional

from . import errors
from ._arguments import encoded, integer, name as name_of, real
from ._handle import Closing, Handle
from ._library import lib

__all__ = ["Comm"]

MOST_RANKS = 4096


@contextlib.contextmanager
def one_run(path: Any) -> Iterator[None]:
    """What is not found inside the `with`, because the directory is that of several ranks, is said so."""
    try:
        yield
    except errors.NotFound as error:
        found = ctypes.c_bool()
        lib().call(lib().tg_ranks_look, encoded(path), ctypes.byref(found))
        if not found.value:
            raise
        raise errors.NotFound(f"'{os.fsdecode(path)}' is a run of several ranks, and a rank was not named: "
                              f"{error.text}", advice="take taskglass.Ranks(path), or the folder of one rank"
                              ) from None


class Comm(Closing):
    """This process's end of a job of several ranks. All ranks open one. A process that neither mpirun nor
    the launcher of Taskglass has started is a job of one rank.

    `transport` is "local" (shared memory), "mpi", or None for what the environment says; `timeout` is how
    many seconds to wait for the other ranks (0: the default). Raises `Unsupported` if there is no plug-in
    for the MPI that started the program, and `RankLost` if a rank does not come.

    A device joins with `Device(comm=comm)`. The library's object ends with the last device that has joined.
    """

    def __init__(self, transport: Optional[str] = None, *, timeout: float = 0) -> None:
        config = lib().layout.tg_comm_config(
            transport=None if transport is None else encoded(name_of(transport, "transport")),
            timeout=real(timeout, "timeout"))
        self._take(lib().make(lib().tg_comm_open, ctypes.byref(config)))

    def _take(self, pointer: int) -> None:
        self._handle = Handle(pointer, lib().tg_comm_close, "comm")

    @staticmethod
    def local(ranks: int) -> List["Comm"]:
        """The ends of a job whose ranks are all in this process: the first is that of rank 0. Each device joins
        another one. `taskglass.run_all` runs their graphs; else each rank has a thread of its own, because a run
        ends when those of the others do."""
        count = integer(ranks, "ranks", 1, MOST_RANKS)
        ends = (ctypes.c_void_p * count)()
        lib().call(lib().tg_comm_open_local, count, ends)
        comms = [Comm.__new__(Comm) for _ in range(count)]
        for comm, pointer in zip(comms, ends):
            assert pointer is not None
            comm._take(pointer)
        return comms

    @property
    def rank(self) -> int:
        """This rank's number, from 0."""
        return self._handle.number(lib().tg_comm_rank)

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return self._handle.number(lib().tg_comm_ranks)

    def __repr__(self) -> str:
        return "<Comm, closed>" if self.closed else f"<Comm: rank {self.rank} of {self.ranks}>"
