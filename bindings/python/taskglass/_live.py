# SPDX-License-Identifier: Apache-2.0
"""Asks a run that goes on what it is doing.

with taskglass.Live("out") as run:
    print(run.ask()["tasks"])
"""

from __future__ import annotations

import ctypes
import json
from types import TracebackType
from typing import Any, Dict, Optional, Type

from . import errors
from ._handle import Handle
from ._library import encoded, lib

__all__ = ["Live", "live"]

# In the order of the library's numbers.
SECTIONS = ("recorder", "rings", "cores", "orchestrator", "waits", "explain")
# What an answer has if nothing is named: `explain` takes the run longer, and `taskglass.explain` asks for it.
USUAL = SECTIONS[:5]


class Live:
    """A connection to the run that has this output directory. Raises `NotFound` if no run answers there."""

    def __init__(self, path: Any) -> None:
        self._handle = Handle(lib().make(lib().tg_live_open, encoded(path)), lib().tg_live_close,
                              "connection to a run")

    def ask(self, *sections: str) -> Dict[str, Any]:
        """What the run does now, as docs/live-protocol.md describes it: with the named sections (recorder,
        rings, cores, orchestrator, waits, explain), or with all but `explain` if none is named. Raises `NotFound` when the run has
        ended, and `TimedOut` if it does not answer, because it is stopped."""
        for section in sections:
            if section not in SECTIONS:
                raise errors.BadArgument(f"unknown section {section!r}; sections are "
                                         f"{', '.join(SECTIONS)}")
        bits = sum(1 << SECTIONS.index(section) for section in set(sections or USUAL))
        reply = ctypes.c_char_p()
        with self._handle.use_alone() as pointer:
            lib().call(lib().tg_live_ask, pointer, bits, ctypes.byref(reply))
            given = reply.value or b"{}"
            try:
                answer: Dict[str, Any] = json.loads(given)
            except (ValueError, RecursionError) as error:  # whoever answers may be a stranger
                raise errors.IoError(f"the answer of the run is no JSON: {error}") from None
        return answer

    def close(self) -> None:
        self._handle.close()

    def __enter__(self) -> "Live":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def live(path: Any, *sections: str) -> Dict[str, Any]:
    """What the run with this output directory does now: connects, asks once and closes."""
    with Live(path) as run:
        return run.ask(*sections)
