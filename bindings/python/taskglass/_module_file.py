# SPDX-License-Identifier: Apache-2.0
"""Reads the cases of a workload from its module without loading it, because loading runs its code.

A module is an ELF file. Its dynamic symbols say where the object `tg_workload` lies, and relocations what
the pointers in it will be. The file may be a stranger's: whatever does not fit is no workload.
"""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from ._files import read_file
from ._library import lib

SYMBOL = b"tg_workload"
_MOST_CASES = 10000
_MOST_ENTRIES = 1 << 20  # of a table
_MOST_BYTES = 512 << 20
_LONGEST = 4096  # bytes of a text
_LOAD, _DYNAMIC = 1, 2
_STRTAB, _SYMTAB, _RELA, _RELASZ, _STRSZ = 5, 6, 7, 8, 10
# Machine: the relocation that adds where the module lies, and the one that also adds a symbol.
_RELOCATIONS = {62: (8, 1), 183: (1027, 257)}


class FileCase(NamedTuple):
    """A case as the module has it."""
    name: str
    summary: str
    params: str


class _Odd(Exception):
    """The file is not laid out as linkers do it."""


class _Elf:
    def __init__(self, data: bytes) -> None:
        self.data = data
        if data[:7] != b"\x7fELF\x02\x01\x01":  # 64 bits, low bytes first
            raise _Odd
        self.machine, = self._at("<H", 18)
        offset, = self._at("<Q", 32)
        size, count = self._at("<HH", 54)
        self.segments = [self._at("<IIQQQQ", offset + i * size) for i in range(count)]
        self.dynamic: Dict[int, int] = dict(self._dynamic())

    def _at(self, form: str, offset: int) -> Tuple[int, ...]:
        try:
            return struct.unpack_from(form, self.data, offset)
        except (struct.error, OverflowError):
            raise _Odd from None

    def _dynamic(self) -> Iterator[Tuple[int, int]]:
        for kind, _, offset, _, _, size in self.segments:
            if kind == _DYNAMIC:
                for at in range(offset, offset + min(size, 1 << 16), 16):
                    tag, value = self._at("<qQ", at)
                    if tag == 0:
                        return
                    yield tag, value

    def offset(self, address: int) -> int:
        """Where in the file an address of the module is."""
        for kind, _, offset, start, _, size in self.segments:
            if kind == _LOAD and start <= address < start + size:
                return offset + address - start
        raise _Odd

    def text(self, address: int) -> str:
        begin = self.offset(address)
        end = self.data.find(b"\0", begin, begin + _LONGEST)
        if end < 0:
            raise _Odd
        return self.data[begin:end].decode("utf-8", "replace")

    def symbols(self) -> Iterator[Tuple[int, int, int]]:
        """Name, section and value of every dynamic symbol. Linkers put the names behind the symbols."""
        first, names = self.dynamic.get(_SYMTAB, 0), self.dynamic.get(_STRTAB, 0)
        count = (names - first) // 24 if first < names else 1 << 12
        for name, _, _, section, value, _ in self._table("<IBBHQQ", first, count):
            yield name, section, value

    def _table(self, form: str, address: int, count: int) -> Iterator[Tuple[int, ...]]:
        """Entries of a table, as many as there are and as the file has."""
        begin, size = self.offset(address), struct.calcsize(form)
        count = max(0, min(count, _MOST_ENTRIES, (len(self.data) - begin) // size))
        return struct.iter_unpack(form, self.data[begin:begin + count * size])

    def find(self, wanted: bytes) -> Optional[int]:
        """The address of a symbol that the module defines."""
        names, size = self.offset(self.dynamic.get(_STRTAB, 0)), self.dynamic.get(_STRSZ, 0)
        # A name may be the end of a longer one, which linkers store once.
        if self.data.find(wanted + b"\0", names, names + size) < 0:
            return None
        for name, section, value in self.symbols():
            begin = names + name
            if section and self.data[begin:begin + len(wanted) + 1] == wanted + b"\0":
                return value
        return None

    def pointers(self) -> Dict[int, int]:
        """What relocations write, by the address that they write to."""
        relative, absolute = _RELOCATIONS.get(self.machine, (-1, -1))
        size = self.dynamic.get(_RELASZ, 0)
        if not size:
            return {}
        values, found = [value for _, _, value in self.symbols()], {}
        for address, info, addend in self._table("<QQq", self.dynamic.get(_RELA, 0), size // 24):
            if info & 0xffffffff == relative:
                found[address] = addend
            elif info & 0xffffffff == absolute and info >> 32 < len(values):
                found[address] = values[info >> 32] + addend
        return found


def _read(path: "os.PathLike[str]") -> bytes:
    """A copy, because a mapped file that becomes shorter ends the process that reads it."""
    try:
        return read_file(path, _MOST_BYTES)
    except OSError:  # an IoError is one, too
        raise _Odd from None


def is_workload(path: "os.PathLike[str]") -> bool:
    """Whether a file is a module of a workload: a shared object that defines `tg_workload`."""
    try:
        return _Elf(_read(path)).find(SYMBOL) is not None
    except _Odd:
        return False


def read_cases(path: "os.PathLike[str]") -> Optional[List[FileCase]]:
    """The cases of a module; None if they cannot be read without loading it."""
    try:
        return _cases(_Elf(_read(path)))
    except _Odd:
        return None


def _cases(elf: _Elf) -> Optional[List[FileCase]]:
    workload, case = lib().layout.tg_workload, lib().layout.tg_case_def
    address, pointers = elf.find(SYMBOL), elf.pointers()
    if address is None:
        return None

    def pointer(at: int) -> int:
        value, = elf._at("<Q", elf.offset(at))
        return pointers.get(at, value)

    def text(at: int) -> str:
        value = pointer(at)
        return elf.text(value) if value else ""

    count, = elf._at("<I", elf.offset(address + workload.n_cases.offset))
    table = pointer(address + workload.cases.offset)
    if not 0 < count <= _MOST_CASES or not table:
        return None
    size = ctypes.sizeof(case)
    starts = [table + number * size for number in range(count)]
    found = [FileCase(text(at + case.name.offset), text(at + case.summary.offset),
                      text(at + case.params.offset)) for at in starts]
    return found if all(each.name for each in found) else None
