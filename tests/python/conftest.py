# SPDX-License-Identifier: Apache-2.0
"""Runs the Python package with the library of a build, from an empty directory, with no settings in
the environment except those of the test."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TASKGLASS_BUILD", ROOT / "build")).resolve()
PACKAGE = ROOT / "bindings" / "python"
PROGRAM = BUILD / "bin" / "taskglass"
DEVICE = BUILD / "lib" / "taskglass" / "taskglass-device"
LIBRARY = BUILD / "lib" / "libtaskglass.so"
TEST_WORKLOADS = BUILD / "tests" / "workloads"

# Ends what hangs; no test is about how long something takes.
TIMEOUT = 600

sys.path[:0] = [str(PACKAGE), str(ROOT / "tests" / "e2e"), str(ROOT / "tests")]
from platforms import ENVIRONMENT, GPU, PLATFORMS  # noqa: E402, F401
from sampling import pytest_collection_modifyitems, pytest_configure  # noqa: E402, F401

for _name in [name for name in os.environ if name.startswith("TASKGLASS_")]:
    del os.environ[_name]
os.environ["TASKGLASS_LIBRARY"] = str(LIBRARY)
os.environ.update(ENVIRONMENT)


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_workload(name):
    """The path of a workload for tests."""
    return str(TEST_WORKLOADS / f"{name}.so")


test_workload.__test__ = False


def command(*arguments, check=True):
    """Runs the command line, for comparison."""
    return subprocess.run([str(PROGRAM), *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                          check=check, timeout=TIMEOUT).stdout


def command_json(*arguments):
    return json.loads(command(*arguments, "--json"))


def python(script, **options):
    """Runs a script in another interpreter with this package."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), **options.pop("env", {})}
    return subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, env=environment,
                          **options)


@pytest.fixture
def device_program(tmp_path):
    """A separate copy of the device program, to see whether a process of it is left."""
    if GPU:
        pytest.skip("the program of a GPU's device is not for the caller to choose")
    return pathlib.Path(shutil.copy(DEVICE, tmp_path / "device-of-this-test"))


def processes_of(program):
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/exe"):
        try:
            found += [int(entry.parent.name)] if os.readlink(entry) == str(program) else []
        except OSError:
            pass  # it ended meanwhile, or it is not ours
    return found


def assert_gone(program):
    end = time.monotonic() + TIMEOUT
    while processes_of(program) and time.monotonic() < end:
        time.sleep(0.01)
    assert processes_of(program) == []
