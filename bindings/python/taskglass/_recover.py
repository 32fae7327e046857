# SPDX-License-Identifier: Apache-2.0
"""Saves what is left of a recording: `recover`."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Optional

from ._arguments import path as path_of
from ._html import Shown
from ._library import encoded, lib
from ._types import Path

__all__ = ["Recovery", "recover"]


@dataclass(frozen=True)
class Recovery(Shown):
    """What `recover` found and did."""
    path: str
    records: int  # in the manifest now
    was_complete: bool  # a summary or the old manifest says that the recording ends here
    lost: Optional[int]  # records that the run counted as lost; None: not known
    truncated: int  # records whose payload is shorter than it was
    damaged: int  # records that neither file has any more; they are left out
    from_manifest: int  # records that only the old manifest had; they are kept
    kept_manifest: bool  # the manifest was good already, and was left as it is
    lacks_payload: bool  # so it was, because the payload file is missing or shorter than it says
    put_aside: int  # the old manifest is now tensor_dump.json.damaged (1), .damaged.2 (2) …; 0: none
    payload_bytes: int
    cut_bytes: int  # the unfinished end that was cut off the journal
    zero_bytes: int  # the part of it that was zeros, as a power loss leaves them
    bad_bytes: int  # damaged records in the journal; they were left as they are


def recover(path: Path) -> Recovery:
    """Makes the recording of a run readable whose host was killed or whose files are damaged, as
    `taskglass recover` does: cuts the unfinished end off the journal, and writes the manifest.

    `path` is the directory of the run, the recording in it or the journal. Raises Busy while a run still
    writes there, NotFound if there is no journal, and BadArgument if nothing can be read; nothing was
    changed then. It may be called again, with the same result.
    """
    name, done = path_of(path), lib().layout.tg_recovery()
    lib().call(lib().tg_recording_recover, encoded(name), ctypes.byref(done))
    return Recovery(
        os.fspath(name), done.records, done.was_complete, done.lost if done.was_complete else None,
        done.truncated, done.damaged, done.from_manifest, done.kept_manifest, done.lacks_payload,
        done.put_aside, done.payload_bytes, done.cut_bytes, done.zero_bytes, done.bad_bytes)
