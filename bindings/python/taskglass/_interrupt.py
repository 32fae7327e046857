# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while the library is at work: an exception cannot pass through C, so it waits."""

from __future__ import annotations

import signal
import threading
from typing import Any, List, Optional


class Interrupts:
    """with Interrupts() as interrupts: Ctrl-C is noted, and raised at the end. Nothing changes if
    the program has its own handler, or if this is not its main thread."""

    def __init__(self) -> None:
        self.caught = False
        self.raised: List[BaseException] = []
        self._old: Any = None

    def __enter__(self) -> "Interrupts":
        if (threading.current_thread() is threading.main_thread()
                and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
            self._old = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, *_: Any) -> None:
        self.caught = True

    def guard(self, callback: Optional[Any], *arguments: Any) -> int:
        """Calls the user's callback; returns 1 if the library should stop, because the callback
        raised or because of Ctrl-C."""
        try:
            if callback and not self.raised and not self.caught:
                callback(*arguments)
        except BaseException as error:
            self.raised.append(error)
        return 1 if self.raised or self.caught else 0

    def __exit__(self, *_: Any) -> None:
        if self._old is not None:
            signal.signal(signal.SIGINT, self._old)
        if self.raised:
            raise self.raised[0] from None
        if self.caught:
            raise KeyboardInterrupt
