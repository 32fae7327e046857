# SPDX-License-Identifier: Apache-2.0
"""Filters, which select records as on the command line."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Tuple, Union

import numpy as np

from . import errors
from ._arguments import encoded, shown
from ._handle import Handle
from ._library import lib

#: The values that a filter takes: a word or number, several, a range, or text as on the command
#: line.
Filter = Union[None, str, int, range, Tuple[int, int], Iterable[Union[str, int]]]


def filter_text(value: Any, is_task: bool = False) -> str:
    """The text of a filter, in the form of the command line."""
    if isinstance(value, str):
        return value
    if isinstance(value, range):
        if not value:
            return ""
        if value.step == 1:
            return f"{value.start}-{value.stop - 1}"
    if is_task and isinstance(value, tuple) and len(value) == 2:
        return f"{value[0]}:{value[1]}"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return ",".join(_word(item, is_task) for item in _several(value))


def _word(item: Any, is_task: bool) -> str:
    """One of several values of a filter."""
    if isinstance(item, (str, range, int, np.integer)) or (is_task and isinstance(item, tuple)):
        return filter_text(item, is_task)
    raise errors.BadType(f"a filter is words and numbers, not {shown(item)}")


def _several(value: Any) -> Iterable[Any]:
    try:
        return list(value)
    except TypeError:
        raise errors.BadType(f"a filter is a word, a number or several of them, not "
                             f"{shown(value)}") from None


class Query:
    """A query of the library."""

    def __init__(self, filters: Mapping[str, Filter]) -> None:
        self.handle = Handle(lib().make(lib().tg_query_create), lib().tg_query_destroy, "query")
        self.is_empty = False
        for option, value in filters.items():
            if value is None:
                continue
            words = filter_text(value, option == "task")
            if words == "" and not isinstance(value, str):
                self.is_empty = True  # this filter matches no record
                continue
            self.handle.call(lib().tg_query_add, option.encode(), encoded(words))
