# SPDX-License-Identifier: Apache-2.0
"""Runs the command line as a user would: from an empty directory, with no settings in the
environment except those of the test."""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from platforms import ENVIRONMENT, PATIENCE, PLATFORMS, has_platform  # noqa: E402, F401
from sampling import pytest_collection_modifyitems, pytest_configure  # noqa: E402, F401

BUILD = pathlib.Path(os.environ.get("TASKGLASS_BUILD",
                                    pathlib.Path(__file__).parents[2] / "build")).resolve()
PROGRAM = BUILD / "bin" / "taskglass"
DEVICE = BUILD / "lib" / "taskglass" / "taskglass-device"
TEST_WORKLOADS = BUILD / "tests" / "workloads"

# Ends a run that hangs; no test is about how long something takes.
TIMEOUT = PATIENCE


def clean_environment(**more):
    """The inherited environment without Taskglass settings and colour settings, but with the
    platform under test."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("TASKGLASS_") and name != "NO_COLOR"}
    return {**kept, **ENVIRONMENT, "TERM": "xterm", **more}


def workload(name):
    """The path of a workload for tests."""
    return str(TEST_WORKLOADS / f"{name}.so")


class Runner:
    """tg("run", "vector_add") runs the command line in its own directory."""

    def __init__(self, directory):
        self.directory = directory

    def __call__(self, *args, env=None, prefix=(), **options):
        options = {"cwd": self.directory, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "text": True, "timeout": TIMEOUT, **options}
        return subprocess.run([*map(str, prefix), str(PROGRAM), *map(str, args)],
                              env=clean_environment(**(env or {})), **options)

    def good(self, *args, **options):
        """Runs a command that must succeed and print nothing on stderr."""
        result = self(*args, **options)
        assert (result.returncode, result.stderr) == (0, ""), result
        return result

    def json(self, *args, **options):
        return json.loads(self.good(*args, "--json", **options).stdout)

    def run_json(self, *args, code=0, **options):
        """Runs a command; returns the run.json that it left, also after a failure."""
        result = self("run", *args, "--output", "out", **options)
        assert result.returncode == code, result
        return json.loads((self.directory / "out" / "run.json").read_text())

    def outputs(self):
        return sorted((self.directory / "outputs").glob("*"))


@pytest.fixture
def tg(tmp_path):
    return Runner(tmp_path)


class HelpRow:
    """An option as the help of a verb shows it."""

    def __init__(self, letter, value, group):
        self.letter, self.value, self.group, self.text = letter, value, group, ""


def help_of(tg, verb):
    """The options of a verb's help by name. Their group is "" for the verb's own options."""
    rows, row, group = {}, None, None
    for line in tg.good(verb, "--help").stdout.splitlines():
        heading = re.fullmatch(r"(Options|Settings|[A-Z]\w+):(?: (.*))?", line)
        label = re.match(r"  (?:-(\w), )?--([a-z-]+)(?: (\S+(?: \[\S+)?))?(?:  +|$)(.*)", line)
        if heading:
            group = (heading[2] or "") if heading[1] in ("Options", "Settings") else None
            row = None
        elif group is not None and label:
            row = rows[label[2]] = HelpRow(label[1], label[3], group)
            row.text = label[4]
        elif row and line.startswith(" " * 20):
            row.text = f"{row.text} {line.strip()}".strip()
    return rows


def one_line(text):
    return text.count("\n") == 1 and text.endswith("\n")


def until_warned(run):
    """Calls run() until it warns, at most 30 times: a run that did not get its CPUs is not warned of its waits,
    because they may have been the machine's. `run` returns the result and something else; so does this."""
    for _ in range(30):
        result, more = run()
        if result.stderr:
            break
    return result, more


def on_terminal(tg, rows, columns, *arguments, code=0):
    """What a terminal of that size shows, without colours."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    result = tg(*arguments, stdout=slave)
    os.close(slave)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:  # Linux reports a closed other end in this way
        pass
    os.close(master)
    assert result.returncode == code
    return re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).replace("\r\n", "\n")
