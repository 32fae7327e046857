# SPDX-License-Identifier: Apache-2.0
"""Checks what callers pass in, so that a wrong value raises an `Error` that names it, and neither an
exception from inside this package nor a number that was cut to fit."""

from __future__ import annotations

import contextlib
import ctypes
import numbers
import operator
import os
from typing import Any, Iterator, Optional

from . import errors

_SHOWN = 80


def shown(value: Any) -> str:
    """A value as a message shows it: its repr, cut if it is long."""
    try:
        written = repr(value)
    except Exception:  # the caller's own class
        written = f"<{type(value).__name__}>"
    return written if len(written) <= _SHOWN else written[:_SHOWN - 1] + "…"


def integer(value: Any, what: str, low: int = 0, high: int = 2**64 - 1) -> int:
    """A whole number of any type that is one, within the limits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise errors.BadType(f"{what} is a whole number, not {shown(value)}") from None
    if not low <= number <= high:
        raise errors.BadArgument(f"{what} is {number}; it is a whole number from {low} to {high}")
    return number


def real(value: Any, what: str, low: float = 0.0) -> float:
    """A number of at least `low`, not NaN."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise errors.BadType(f"{what} is a number, not {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = float("nan")
    if not number >= low:
        raise errors.BadArgument(f"{what} is {shown(value)}; it is a number of at least {low:g}")
    return number


def flag(value: Any, what: str) -> bool:
    """Whether it is true. An array is neither."""
    try:
        return bool(value)
    except Exception:
        raise errors.BadType(f"{what} is True or False, not {shown(value)}") from None


def name(value: Any, what: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise errors.BadType(f"{what} is a text, not {shown(value)}")
    return value


def path(value: Any, what: str = "a path") -> str:
    """A path as text, from a str, bytes or an os.PathLike."""
    try:
        return os.fsdecode(value)
    except (TypeError, ValueError):
        raise errors.BadType(f"{what} is a text or a path, not {shown(value)}") from None


def function(value: Any, what: str) -> Optional[Any]:
    """Something that can be called, or None."""
    if value is not None and not callable(value):
        raise errors.BadType(f"{what} is a function, not {shown(value)}")
    return value


def encoded(value: Any) -> bytes:
    """A name or path for the library, whose texts end at a zero byte."""
    try:
        data = os.fsencode(value)
    except TypeError:
        raise errors.BadType(f"a name or path is a text or an os.PathLike, not {shown(value)}") from None
    except ValueError:  # characters that have no bytes, such as half of a surrogate pair
        raise errors.BadArgument(f"{shown(value)} has characters that no file name has") from None
    if b"\0" in data:
        raise errors.BadArgument(f"there is a zero character in {shown(value)}")
    return data


@contextlib.contextmanager
def converting(what: str) -> Iterator[None]:
    """What NumPy or ctypes refuses inside the `with` is the caller's bad argument."""
    try:
        yield
    except errors.Error:
        raise
    except (TypeError, ctypes.ArgumentError) as error:
        raise errors.BadType(f"{what}: {error}") from error
    except (ValueError, OverflowError) as error:
        raise errors.BadArgument(f"{what}: {error}") from error
