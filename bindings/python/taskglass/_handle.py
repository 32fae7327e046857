# SPDX-License-Identifier: Apache-2.0
"""Objects of the library: each must be closed exactly once, and in the right order."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from typing import Any, Callable, Optional

import numpy as np

from . import errors
from ._library import lib


class Handle:
    """An object of the library. Objects that belong to it are closed before it, and memory that is
    shown as an array stays until the last of these arrays is gone."""

    def __init__(self, pointer: int, destroy: Callable[[int], None], what: str,
                 parent: Optional["Handle"] = None) -> None:
        self._pointer: Optional[int] = pointer
        self._destroy, self._what = destroy, what
        self._parent = parent  # keeps the parent alive
        self._children: "weakref.WeakSet[Handle]" = weakref.WeakSet()
        self._views = 0
        self._closing = False
        self._process = os.getpid()
        #: Calls on one device, and on objects that belong to it, must not overlap: any thread may
        #: drop the last reference to an array and thereby free it.
        self.lock: Any = parent.lock if parent else threading.RLock()
        if parent is not None:
            parent._children.add(self)

    @property
    def pointer(self) -> int:
        if self._pointer is None or self._closing:
            raise errors.BadArgument(f"the {self._what} is closed")
        return self._pointer

    @property
    def is_open(self) -> bool:
        return self._pointer is not None and not self._closing

    def call(self, function: Any, *arguments: Any) -> None:
        """Calls a function of this object that returns a status."""
        with self.lock:
            lib().call(function, self.pointer, *arguments)

    def make(self, function: Any, *arguments: Any) -> int:
        """Calls a function of this object that makes another object."""
        with self.lock:
            return lib().make(function, self.pointer, *arguments)

    def close(self) -> None:
        with self.lock:
            for child in list(self._children):
                child.close()
            self._closing = True
            self._end_if_unused()

    def _end_if_unused(self) -> None:
        if self._closing and self._views == 0 and self._pointer is not None:
            pointer, self._pointer = self._pointer, None
            if self._process == os.getpid():  # after a fork only the parent closes it
                self._destroy(pointer)

    def view(self, address: int, size: int, writable: bool = False) -> np.ndarray:
        """Memory of the library as an array of bytes, without copying."""
        buffer = (ctypes.c_ubyte * size).from_address(address)
        buffer._view = _View(self)  # lives as long as the buffer, which the array keeps alive
        memory = memoryview(buffer).cast("B")
        return np.frombuffer(memory if writable else memory.toreadonly(), np.uint8)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter is shutting down, and half of it is gone
            pass


class _View:
    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        handle._views += 1

    def __del__(self) -> None:
        try:
            with self._handle.lock:
                self._handle._views -= 1
                self._handle._end_if_unused()
        except Exception:  # the interpreter is shutting down
            pass


class Closing:
    """Base of classes that have a handle: they can be closed, and close themselves at the end of a
    `with`."""

    _handle: Handle

    def close(self) -> None:
        """Closes it. Closing again does nothing."""
        self._handle.close()

    @property
    def closed(self) -> bool:
        return not self._handle.is_open

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
