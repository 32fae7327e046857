# SPDX-License-Identifier: Apache-2.0
"""The run that a call means if it names none."""

from __future__ import annotations

import os
import pathlib
from typing import Tuple

from . import errors
from ._arguments import encoded
from ._types import Path

_RECORDINGS = ("tensor_dump", "args_dump")
_MISSING = {
    "tensor_dump": "no recording under {}/; name one, or make one: "
                   "taskglass.run(…, dump_tensor=\"full\")",
    "scope_stats": "no scope stats under {}/; name a run, or make one: "
                   "taskglass.run(…, enable_scope_stats=True)"}


def _has(run: pathlib.Path, folder: str) -> bool:
    """Whether a run, or one rank of a run of several, has the folder."""
    return (run / folder).is_dir() or (
        (run / "ranks.json").is_file() and any(each.is_dir() for each in run.glob(f"rank*/{folder}")))


def find_newest(outputs: Path, folders: Tuple[str, ...]) -> pathlib.Path:
    """The newest run under `outputs` that has one of the folders, as the command line finds it."""
    name = os.fsdecode(encoded(outputs))
    try:
        runs = [(run.stat().st_mtime_ns, str(run)) for run in pathlib.Path(name).glob("*")
                if any(_has(run, folder) for folder in folders)]
    except OSError as error:
        raise errors.IoError(f"cannot read '{name}': {error.strerror}") from None
    if not runs:
        raise errors.NotFound(_MISSING[folders[0]].format(name))
    return pathlib.Path(max(runs)[1])


def newest(outputs: Path = "outputs") -> pathlib.Path:
    """The newest run under `outputs` that has a recording, as the command line finds it."""
    return find_newest(outputs, _RECORDINGS)
