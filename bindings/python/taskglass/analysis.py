# SPDX-License-Identifier: Apache-2.0
"""What compares recordings. The library has it or not; this asks when it is called."""

from __future__ import annotations

from typing import Any

from . import errors
from ._library import lib

__all__ = ["diff"]


def _need(function: str, what: str) -> Any:
    if not lib().has(function):
        raise errors.Unsupported(f"{what} is not in this build of libtaskglass {lib().version}",
                                 advice="use a newer one")
    return getattr(lib().library, function)


def diff(a: Any, b: Any, **options: Any) -> Any:
    """Compares two recordings."""
    _need("tg_diff_open", "diff")
    raise errors.Unsupported("diff is not in this version of the Python package",
                             advice="use taskglass diff --json")
