# SPDX-License-Identifier: Apache-2.0
"""Every function of the C headers survives NULL for all its pointers, and zero or nonsense for its
numbers. The functions are taken from the headers, so that a new one is tested too."""

import ctypes
import os
import pathlib
import re
import signal

import pytest
from conftest import LIBRARY

HEADERS = pathlib.Path(__file__).parents[2] / "include" / "taskglass"
BAD_ARGUMENT = -2
# Stops the process until somebody continues it, which is what it is for.
LEFT_OUT = {"tg_suspend"}


def functions():
    """(what it returns, name, [types and names of its parameters])"""
    for header in sorted(HEADERS.glob("*.h")):
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.S)
        for match in re.finditer(r"TG_API\s+([^;{]+?)\b(tg_\w+)\s*\(([^;]*?)\)\s*;", text, re.S):
            returned, name, given = (" ".join(part.split()) for part in match.groups())
            parameters = re.split(r",(?![^(]*\))", given)
            yield returned, name, [] if given == "void" else [one.strip() for one in parameters]


def argument(parameter, number):
    if "*" in parameter or parameter.endswith("]") or "_fn " in parameter or "(" in parameter:
        return ctypes.c_void_p(0)
    if parameter.startswith(("double", "float")):
        return (ctypes.c_double if parameter.startswith("double") else ctypes.c_float)(number)
    return ctypes.c_uint64(number & 2 ** 64 - 1)


def result_of(returned):
    if "*" in returned:
        return ctypes.c_void_p
    return {"double": ctypes.c_double, "void": None}.get(returned, ctypes.c_int)


def call(returned, name, parameters, number):
    """Calls the function in a child. Returns what it returned, or the signal that ended it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        function = ctypes.CDLL(str(LIBRARY))[name]
        function.restype = result_of(returned)
        value = function(*(argument(one, number) for one in parameters))
        os.write(writer, str(value).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else text


@pytest.mark.parametrize("number", (0, -1))
def test_no_function_crashes_on_null(number):
    ended = {name: call(returned, name, parameters, number)
             for returned, name, parameters in functions() if name not in LEFT_OUT
             if not any(one.startswith("struct") and "*" not in one for one in parameters)}
    assert len(ended) > 150
    assert {name: text for name, text in ended.items() if text.startswith("SIG")} == {}


def test_a_function_that_needs_something_says_that_it_is_missing():
    for name in ("tg_graph_create", "tg_run_start", "tg_recording_open", "tg_diff_open"):
        returned, _, parameters = next(one for one in functions() if one[1] == name)
        assert call(returned, name, parameters, 0) == str(BAD_ARGUMENT)
