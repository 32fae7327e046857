# SPDX-License-Identifier: Apache-2.0
"""The command-line program of the library, for what needs processes of its own."""

from __future__ import annotations

import os
import shutil

from . import errors
from ._library import lib


def program() -> str:
    """The command-line program of the library: beside it, else the first on the path."""
    library = lib().functions._name
    folder = os.path.dirname(os.path.realpath(library))
    # A name without a path: the loader found it, and nobody knows where.
    ups = ("..", "../..") if os.sep in library else ()
    beside = [os.path.join(folder, up, "bin", "taskglass") for up in ups]
    found = next((path for path in beside if os.access(path, os.X_OK)), shutil.which("taskglass"))
    if not found:
        raise errors.Unsupported("the program taskglass is neither beside the library nor on the path",
                                 advice="install it, or add it to PATH")
    return found


def error_of(printed: str, exit_code: int) -> errors.Error:
    """The exception for the line that the program printed: "taskglass: STATUS: text", or without a status
    if an option is wrong."""
    line = printed.strip().replace("taskglass: ", "", 1)
    status, colon, rest = line.partition(": ")
    is_status = bool(colon) and status.isupper() and " " not in status
    return errors.make(status if is_status else "BAD_ARGUMENT", rest if is_status else line, exit_code)
