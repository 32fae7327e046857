# SPDX-License-Identifier: Apache-2.0
"""The library's structures, as the library itself describes them (taskglass/layout.h)."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Tuple, Type

from . import errors
from ._arguments import shown

_NUMBERS: Dict[str, Any] = {
    "bool": ctypes.c_bool, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32,
    "i64": ctypes.c_int64, "f64": ctypes.c_double, "text": ctypes.c_char_p,
    "pointer": ctypes.c_void_p, "chars": ctypes.c_char}


class _Row(ctypes.Structure):
    """struct tg_layout_info, the only structure whose layout is written down here."""
    _fields_ = [("structure", ctypes.c_char_p), ("member", ctypes.c_char_p),
                ("type", ctypes.c_char_p), ("offset", ctypes.c_uint32), ("size", ctypes.c_uint32)]


class Structure(ctypes.Structure):
    """Base of all structures. Members that this package does not know are gaps."""

    def __init__(self, **members: Any) -> None:
        try:
            super().__init__(**members)
        except (TypeError, ValueError) as error:
            given = ", ".join(f"{name}={shown(value)}" for name, value in members.items())
            raise errors.BadType(f"{type(self).__name__}({given}): {error}") from None
        for name, value in members.items():  # ctypes cuts a number that does not fit
            if type(value) is int and getattr(self, name) != value:
                raise errors.BadArgument(f"{name} is {value}, which is too large or negative")

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={getattr(self, name)!r}" for name, *_ in self._fields_
                            if not name.startswith("_gap"))
        return f"{type(self).__name__}({members})"


class Layout:
    """`layout.tg_run_result` is the class of that structure."""

    def __init__(self, library: ctypes.CDLL) -> None:
        library.tg_layout_get.restype = ctypes.c_bool
        library.tg_layout_get.argtypes = [ctypes.c_uint32, ctypes.POINTER(_Row)]
        row, number = _Row(), 0
        sizes: Dict[str, int] = {}
        members: Dict[str, List[Tuple[str, str, int, int]]] = {}
        while library.tg_layout_get(number, ctypes.byref(row)):
            name, member = row.structure.decode(), row.member.decode()
            if member:
                members[name].append((member, row.type.decode(), row.offset, row.size))
            else:
                sizes[name], members[name] = row.size, []
            number += 1
        self._classes: Dict[str, Type[Structure]] = {}
        for name, size in sizes.items():
            self._classes[name] = self._make(name, size, members[name])

    def _make(self, name: str, size: int, members: List[Tuple[str, str, int, int]]
              ) -> Type[Structure]:
        """Makes a packed structure with gaps of bytes, so that every member is exactly where the
        library says."""
        fields: List[Tuple[str, Any]] = []
        at = 0
        for member, kind, offset, length in sorted(members, key=lambda member: member[2]):
            if offset > at:
                fields.append((f"_gap{at}", ctypes.c_ubyte * (offset - at)))
            element = _NUMBERS.get(kind) or self._classes[kind]
            count = length // ctypes.sizeof(element)
            single = count == 1 and kind != "chars"
            fields.append((member, element if single else element * count))
            at = offset + length
        if size > at:
            fields.append((f"_gap{at}", ctypes.c_ubyte * (size - at)))
        made = type(name, (Structure,), {"_pack_": 1, "_fields_": fields})
        assert ctypes.sizeof(made) == size, name
        return made

    def __getattr__(self, name: str) -> Type[Structure]:
        try:
            return self._classes[name]
        except KeyError:
            raise AttributeError(f"the library has no structure {name}") from None
