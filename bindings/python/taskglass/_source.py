# SPDX-License-Identifier: Apache-2.0
"""Lines of source files that the library names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from ._library import text

__all__ = ["SourceLine"]


@dataclass(frozen=True)
class SourceLine:
    """A line of a kernel or an orchestration."""
    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def source_line(line: Any) -> Optional[SourceLine]:
    return SourceLine(text(line.file), line.line, text(line.function)) if line.line else None
