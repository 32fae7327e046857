# SPDX-License-Identifier: Apache-2.0
"""Functions of the caller that the library calls while it works: progress, and the question whether to
load a module. Whoever makes one keeps it until the call has returned."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, List, Optional

from ._arguments import function, integer, name as name_of, real
from ._interrupt import Interrupts
from ._library import encoded, lib, text
from .config import Config, SettingsHandle

#: progress(done, total).
Progress = Optional[Callable[[int, int], Any]]
#: ask(path, why): whether to load a module that is not known here.
Ask = Optional[Callable[[str, str], bool]]

_WATCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
_COUNT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64)
_STOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_ASK = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)


def pointer(callback: Any) -> ctypes.c_void_p:
    return ctypes.cast(callback, ctypes.c_void_p)


def watch(interrupts: Interrupts, progress: Progress) -> Any:
    """Calls progress(done, total); an exception from it, or Ctrl-C, cancels the work."""
    function(progress, "progress")
    return _WATCH(lambda _, done, total: interrupts.guard(progress, done, total))


def count(interrupts: Interrupts, progress: Optional[Callable[[int], Any]]) -> Any:
    """The same for work whose end is not known: progress(done)."""
    function(progress, "progress")
    return _COUNT(lambda _, done: interrupts.guard(progress, done))


def stop(interrupts: Interrupts) -> Any:
    """Lets Ctrl-C cancel work that reports no progress."""
    return _STOP(lambda _: interrupts.guard(None))


def trust(interrupts: Interrupts, ask: Ask) -> Any:
    """Asks whether to load a module; without `ask`, None."""
    if function(ask, "ask") is None:
        return None
    answers: List[bool] = []

    def put(address: int) -> None:
        question = lib().layout.tg_trust_question.from_address(address)
        assert ask is not None
        answers.append(bool(ask(os.fsdecode(question.module), text(question.why))))

    return _ASK(lambda _, address: interrupts.guard(put, address) == 0 and any(answers))


def references(interrupts: Interrupts, module: Any, limit: float, workers: int,
               sandbox: Optional[str], progress: Progress, ask: Ask) -> Any:
    """A tg_reference_config, which keeps its callbacks. What is not given comes from the settings, as on
    the command line."""
    settings = SettingsHandle(Config(
        sandbox=None if sandbox is None else name_of(sandbox, "sandbox")))
    seconds = real(limit, "limit") or settings.get(lib().tg_settings_seconds, b"timeout")
    show, asked = watch(interrupts, progress), trust(interrupts, ask)
    config = lib().layout.tg_reference_config(
        module=encoded(module) if module is not None else None, limit=seconds,
        workers=integer(workers, "workers", 0, 2**32 - 1),
        sandbox=settings.get(lib().tg_settings_choice, b"sandbox"), progress=pointer(show),
        ask=pointer(asked) if asked else None)
    config.kept = (show, asked)
    return config
