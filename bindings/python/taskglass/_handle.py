# SPDX-License-Identifier: Apache-2.0
"""Objects of the library: each must be closed exactly once, and in the right order."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import weakref
from typing import Any, Callable, Iterator, List, Optional, Set, Tuple, TypeVar

import numpy as np

from . import errors
from ._library import lib
from ._types import Array


class Handle:
    """An object of the library. Whoever closes it, and whenever: the library's object ends only when
    nothing uses it any more, neither a call under way, nor an array that shows its memory, nor an
    object that belongs to it.

    With `overlap`, calls on it may overlap.
    """

    def __init__(self, pointer: int, destroy: Callable[[int], None], what: str,
                 parent: Optional["Handle"] = None, overlap: bool = False) -> None:
        self._pointer = [pointer]  # empty once somebody has taken it out to end the object
        self._destroy, self._what = destroy, what
        self._parent = parent  # keeps the parent alive
        self._children: "weakref.WeakSet[Handle]" = weakref.WeakSet()
        self._users: Set[object] = set()
        self._kept: List[Tuple["Handle", object]] = []
        self._closing = False
        self._process = os.getpid()
        #: Calls on one device, and on objects that belong to it, must not overlap: any thread may
        #: drop the last reference to an array and thereby free it.
        self.lock: Any = (parent.lock if parent else
                          contextlib.nullcontext() if overlap else threading.RLock())
        self._token = object()
        if parent is not None:  # the caller uses the parent, which therefore has not ended
            parent._users.add(self._token)
            parent._children.add(self)
            if not parent.is_open:
                self.close()

    @property
    def is_open(self) -> bool:
        return not self._closing and (self._parent is None or self._parent.is_open)

    # Several threads, signal handlers and the garbage collector may be in these methods at the same
    # time. A lock would make them wait for one another, so the order of the steps protects the object:
    # a user enters its token and then looks whether the object is closed, and whoever closes the object
    # notes that and then looks for tokens. So at least one of the two sees the other.

    def hold(self) -> object:
        """Keeps the library's object until `let_go` gets the token back."""
        token = object()
        self._users.add(token)
        if not self.is_open:
            self.let_go(token)
            raise errors.BadArgument(f"the {self._what} is closed")
        return token

    def let_go(self, token: object) -> None:
        self._users.discard(token)
        self._end_if_unused()

    def keep(self, other: "Handle") -> None:
        """The other object, which the caller uses, does not end before this one has."""
        self._kept.append((other, other.hold()))

    @contextlib.contextmanager
    def use(self) -> Iterator[int]:
        """The pointer to the library's object, which does not end before the end of the `with`."""
        token = self.hold()
        try:
            yield self._pointer[0]
        finally:
            self.let_go(token)

    @contextlib.contextmanager
    def use_alone(self) -> Iterator[int]:
        """Like `use`, and no other thread is in the device meanwhile."""
        with self.lock, self.use() as pointer:
            yield pointer

    def get(self, function: Any, *arguments: Any) -> Any:
        """Calls a function of this object, and returns what it returns."""
        with self.use_alone() as pointer:
            return lib().get(function, pointer, *arguments)

    def number(self, function: Any, *arguments: Any) -> int:
        """Calls a function of this object that returns a number."""
        return int(self.get(function, *arguments))

    def call(self, function: Any, *arguments: Any) -> None:
        """Calls a function of this object that returns a status."""
        with self.use_alone() as pointer:
            lib().call(function, pointer, *arguments)

    def make(self, function: Any, *arguments: Any) -> int:
        """Calls a function of this object that makes another object."""
        with self.use_alone() as pointer:
            return lib().make(function, pointer, *arguments)

    def close(self) -> None:
        self._closing = True
        with self.lock:
            for child in list(self._children):
                child.close()
            self._end_if_unused()

    def _end_if_unused(self) -> None:
        if not self._closing or self._users:
            return
        try:
            pointer = self._pointer.pop()
        except IndexError:  # another thread ends it, or has ended it
            return
        with self.lock:
            if self._process == os.getpid():  # after a fork only the parent closes it
                self._destroy(pointer)
            if self._parent is not None:
                self._parent.let_go(self._token)
        while self._kept:
            other, token = self._kept.pop()
            other.let_go(token)

    def view(self, address: int, size: int, writable: bool = False) -> Array:
        """Memory of the library as an array of bytes, without copying."""
        buffer = (ctypes.c_ubyte * size).from_address(address)
        setattr(buffer, "_view", _View(self))  # lives as long as the buffer, which the array keeps alive
        memory = memoryview(buffer).cast("B")
        return np.frombuffer(memory if writable else memory.toreadonly(), np.uint8)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter is shutting down, and half of it is gone
            pass


class _View:
    def __init__(self, handle: Handle) -> None:
        self._handle, self._token = handle, handle.hold()

    def __del__(self) -> None:
        try:
            self._handle.let_go(self._token)
        except Exception:  # the interpreter is shutting down
            pass


_Self = TypeVar("_Self", bound="Closing")


class Closing:
    """Base of classes that have a handle: they can be closed, and close themselves at the end of a
    `with`."""

    _handle: Handle

    def close(self) -> None:
        """Closes it. Closing again does nothing. A call that is under way still finishes."""
        self._handle.close()

    @property
    def closed(self) -> bool:
        return not self._handle.is_open

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
