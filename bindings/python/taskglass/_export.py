# SPDX-License-Identifier: Apache-2.0
"""Recordings as files for other programs: `Recording.export`."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from . import dtypes, errors
from ._arguments import flag, integer, name as name_of, path as path_of
from ._callbacks import Progress, pointer, watch
from ._interrupt import Interrupts
from ._library import encoded, lib, text
from ._query import Query

if TYPE_CHECKING:
    from .recording import Recording

__all__ = ["ExportResult", "export_formats"]


@dataclass(frozen=True)
class ExportResult:
    """The outcome of an export: records written (tasks, for a trace), records left out for lack of
    values, truncated ones, and the types whose bits were written because the format lacks the type.
    `left_out` has what the recording itself lacks."""
    path: str
    written: int
    missing: int
    truncated: int
    as_bits: Tuple[str, ...]
    format: str = ""
    damaged: int = 0
    left_out: Tuple[str, ...] = ()


def export_formats() -> Dict[str, bool]:
    """The formats of `Recording.export`, and whether this library has them."""
    info, found, number = lib().layout.tg_export_format_info(), {}, 0
    while lib().tg_export_format_get(number, ctypes.byref(info)):
        found[text(info.name)] = info.available
        number += 1
    return found


def _format(path: Optional[str], format: Optional[str], to: Optional[str]) -> str:
    if format is not None and to is not None and format != to:
        raise errors.BadArgument(f"format is '{format}' and to is '{to}'; they are the same, leave one out")
    chosen = to if format is None else format
    if chosen is not None:
        return name_of(chosen, "format")
    if path is None:
        raise errors.BadArgument(f"export needs a format: to={' or '.join(map(repr, export_formats()))}")
    found = lib().tg_export_format_of(encoded(path))
    if not found:
        raise errors.BadArgument(f"which format is '{path}' to have? There are "
                                 f"{', '.join(export_formats())}")
    return text(found)


def _default_path(recording: "Recording", format: str) -> str:
    path = lib().layout.tg_export_path()
    recording._handle.call(lib().tg_export_default_path, encoded(format), ctypes.byref(path))
    return text(path.text)


def export(recording: "Recording", path: Any, format: Optional[str], to: Optional[str],
           overwrite: bool, oversize: bool, limit: int, progress: Progress, query: Query
           ) -> ExportResult:
    name = None if path is None else path_of(path)
    chosen = _format(name, format, to)
    if query.is_empty:
        raise errors.BadArgument("nothing to export: a filter is empty")
    interrupts, result = Interrupts(), lib().layout.tg_export_result()
    show = watch(interrupts, progress)
    name = _default_path(recording, chosen) if name is None else name
    config = lib().layout.tg_export_config(
        format=encoded(chosen), path=encoded(name), limit=integer(limit, "limit"),
        overwrite=flag(overwrite, "overwrite"), oversize=flag(oversize, "oversize"),
        progress=pointer(show))
    with interrupts, query.handle.use() as config.query, recording._handle.use() as recorded:
        lib().call(lib().tg_query_check_index, config.query, recorded)
        lib().call(lib().tg_recording_export, recorded, ctypes.byref(config), ctypes.byref(result))
    as_bits = tuple(each for number, each in enumerate(dtypes.names(), 1)
                    if result.as_bits >> number & 1)
    return ExportResult(name, result.written, result.missing, result.truncated, as_bits, chosen,
                        recording.damaged, recording.notes)
