# SPDX-License-Identifier: Apache-2.0
"""How far apart values may be, as `taskglass diff` takes it."""

from __future__ import annotations

import ctypes
from typing import Any, List

from . import errors
from ._arguments import encoded, shown
from ._library import lib


def several(value: Any, what: str) -> List[Any]:
    """A list of one value, or of several; None is none."""
    if value is None:
        return []
    if isinstance(value, (int, float, str, bytes)):
        return [value]
    try:
        return list(value)
    except TypeError:
        raise errors.BadType(f"{what} is a number, a text or several of them, not "
                             f"{shown(value)}") from None


def options_of(atol: Any, rtol: Any, equal_nan: bool) -> Any:
    """A tg_diff_options, which keeps its rules."""
    given = [(rule, relative) for value, relative, what in ((atol, False, "atol"), (rtol, True, "rtol"))
             for rule in several(value, what)]
    rules = (lib().layout.tg_tolerance_rule * len(given))()
    for i, (rule, relative) in enumerate(given):
        lib().call(lib().tg_tolerance_rule_parse, encoded(str(rule)), relative, ctypes.byref(rules[i]))
    options = lib().layout.tg_diff_options(rules=ctypes.addressof(rules) if given else None,
                                           n_rules=len(given), equal_nan=equal_nan)
    setattr(options, "kept", rules)
    return options
