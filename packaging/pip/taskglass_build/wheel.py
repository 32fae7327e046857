# SPDX-License-Identifier: Apache-2.0
"""Writes a wheel: a zip archive with a list of its files. The same content gives the same bytes."""

from __future__ import annotations

import base64
import hashlib
import os
import pathlib
import sysconfig
import time
import zipfile
from typing import Dict, Tuple

EARLIEST = 315532800  # 1980-01-01: a zip archive cannot hold an earlier time


def platform_tag() -> str:
    """The package calls the library by ctypes, so no version of Python matters, only the machine."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def archive_time() -> int:
    """The time of every file in the archive."""
    return max(EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)))


class Wheel:
    def __init__(self, name: str, version: str, tag: str) -> None:
        self.stem = f"{name}-{version}"
        self.name = f"{self.stem}-{tag}.whl"
        self.files: Dict[str, Tuple[bytes, bool]] = {}
        self.add(f"{self.stem}.dist-info/WHEEL",
                 f"Wheel-Version: 1.0\nGenerator: taskglass_build ({version})\n"
                 f"Root-Is-Purelib: false\nTag: {tag}\n".encode())

    def add(self, path: str, data: bytes, executable: bool = False) -> None:
        self.files[path] = (data, executable)

    def add_tree(self, folder: pathlib.Path, under: str) -> None:
        """Adds the files of a folder; a wheel holds no symbolic links."""
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                self.add(f"{under}{path.relative_to(folder).as_posix()}", path.read_bytes(),
                         bool(path.stat().st_mode & 0o100))

    def _record(self, name: str) -> bytes:
        lines = []
        for path, (data, _) in sorted(self.files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            quoted = f'"{path}"' if "," in path else path
            lines.append(f"{quoted},sha256={digest},{len(data)}\n")
        return "".join([*lines, f"{name},,\n"]).encode()

    def write(self, folder: str) -> str:
        """Returns the name of the file. dist-info is last in the archive, as PEP 427 recommends."""
        record = f"{self.stem}.dist-info/RECORD"
        files = {**self.files, record: (self._record(record), False)}
        when = time.gmtime(archive_time())[:6]
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(pathlib.Path(folder, self.name), "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(files, key=lambda path: (".dist-info/" in path, path == record, path)):
                data, executable = files[path]
                entry = zipfile.ZipInfo(path, when)
                entry.create_system = 3  # Unix: the mode below is one
                entry.external_attr = (0o100755 if executable else 0o100644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, data)
        return self.name
