# SPDX-License-Identifier: Apache-2.0
"""Is a recording intact? `Recording.verify` and `verify`."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from ._arguments import flag
from ._callbacks import Progress, watch
from ._html import Shown
from ._interrupt import Interrupts
from ._library import lib, text

if TYPE_CHECKING:
    from .recording import Recording

__all__ = ["Finding", "Verification"]

_NO_RECORD = 2**64 - 1


@dataclass(frozen=True)
class Finding:
    """Something wrong with a recording: the kind of problem ("hash", "record", "overlap", "counter",
    "manifest", "journal", "unclaimed"), the number of the record (None: no single one), and a line of
    text."""
    problem: str
    index: Optional[int]
    text: str


@dataclass(frozen=True)
class Verification(Shown):
    """What a verification found; true where everything was read and nothing is wrong.

    `result` says so in words: "good", "bad", or "not known" if nothing is wrong but not everything was
    read; `reason` then says what to do. `left_out` has what the recording itself says that it lacks, which
    is no problem of its files."""
    records: int
    payload_bytes: int
    hashes_compared: int
    problems: Dict[str, int]  # how many of each kind, those that there are
    findings: Tuple[Finding, ...]  # the first ones, in the order of the records
    not_read: int = 0  # tensors that share bytes with others, or that are holes of more than 16 GiB
    result: str = ""
    reason: str = ""
    dir: str = ""
    complete: bool = False
    state: str = ""  # as in Recording
    manifest_compared: bool = False
    damaged: int = 0  # records that are left out because their bytes are damaged
    payloads: int = 0  # records with bytes in the payload file
    without_hash: int = 0
    truncated: int = 0
    overwritten: int = 0
    lost: int = 0  # records that the run counted as lost
    unclaimed_bytes: int = 0  # of the payload file, that belong to no record
    left_out: Tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.problems and not self.not_read


def _verification(recording: "Recording", found: Any, word: str, reason: str) -> Verification:
    problems = {text(lib().tg_problem_name(number)): count
                for number, count in enumerate(found.by_problem) if count}
    findings = tuple(Finding(text(lib().tg_problem_name(each.problem)),
                             None if each.index == _NO_RECORD else each.index, text(each.text))
                     for each in found.finding[:found.n_findings])
    return Verification(
        found.records, found.bytes, found.compared, problems, findings, found.unread, word, reason,
        os.fspath(recording.dir), recording.complete, recording.state, found.manifest,
        recording.damaged, found.payloads, found.unhashed, found.counted.truncated,
        found.counted.overwritten, sum(recording.lost.values()), found.unclaimed, recording.notes)


def verify(recording: "Recording", force: bool, progress: Progress) -> Verification:
    found, reason = lib().layout.tg_verification(), lib().layout.tg_verify_reason()
    interrupts = Interrupts()
    show = watch(interrupts, progress)
    with interrupts, recording._handle.use() as pointer:
        if flag(force, "force"):
            lib().call(lib().tg_recording_read_holes, pointer)
        lib().call(lib().tg_recording_verify_watched, pointer, show, None, ctypes.byref(found))
        word = text(lib().tg_verification_result(pointer, ctypes.byref(found),
                                                 ctypes.byref(reason)))
    return _verification(recording, found, word, text(reason.text))
