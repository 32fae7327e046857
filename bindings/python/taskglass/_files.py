# SPDX-License-Identifier: Apache-2.0
"""The one way in which this package reads a file, which may be a stranger's."""

from __future__ import annotations

import os
import stat
from typing import Union

from . import errors
from ._arguments import path as path_of

#: run.json has some kilobytes, deps.json some hundred bytes for each task.
MOST = {"run.json": 16 << 20, "deps.json": 256 << 20}


def read_file(path: Union[str, "os.PathLike[str]"], most: int) -> bytes:
    """The bytes of a regular file of at most that size. A FIFO would block and a device never end, so
    they are refused. Raises FileNotFoundError, or IoError."""
    name = path_of(path)
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise OSError("it is not a regular file")
        opened = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(opened, "rb") as file:
            info = os.fstat(opened)
            if not stat.S_ISREG(info.st_mode):
                raise OSError("it is not a regular file")
            if info.st_size > most:
                raise OSError("it is too large")
            return file.read(most)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a zero character in the path
        raise errors.IoError(f"cannot read '{name}': {getattr(error, 'strerror', None) or error}"
                             ) from None
