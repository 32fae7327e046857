# SPDX-License-Identifier: Apache-2.0
"""Failures as a user sees them: the tests run the command line, and kill devices and hosts while it
runs."""

import contextlib
import itertools
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from platforms import (ENVIRONMENT, GPU, PATIENCE, PLATFORMS, SANITIZED, SLOW_TO_OPEN,  # noqa: E402, F401
                       is_under_way)
from sampling import pytest_collection_modifyitems, pytest_configure  # noqa: E402, F401

BUILD = pathlib.Path(os.environ.get("TASKGLASS_BUILD", HERE.parents[1] / "build")).resolve()
PROGRAM = BUILD / "bin" / "taskglass"
WORKLOADS = BUILD / "tests" / "workloads"

# Ends programs that hang. Only one test is about time: the host must report the loss of a device within
# a second.
TIMEOUT = PATIENCE


def rounds(release, sanitized):
    """Sanitizers make everything several times slower, and so do devices that open slowly."""
    return sanitized if SANITIZED or SLOW_TO_OPEN else release


def moment(seconds):
    """Seconds after the start of a run; more if the device opens slowly, because that is part of it."""
    return seconds * 15 if SLOW_TO_OPEN else seconds


def workload(name):
    return str(WORKLOADS / f"{name}.so")


MARK = "TASKGLASS_TEST_MARK"
_marks = itertools.count()


def processes_with(mark):
    """All living descendants of a program that a test started, even if their parent has ended; the oldest first."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            environment = pathlib.Path(entry.path, "environ").read_bytes().split(b"\0")
            stat = pathlib.Path(entry.path, "stat").read_text()
            fields = stat.rsplit(")", 1)[1].split()
            if wanted in environment and fields[0] not in "ZX":
                started = int(fields[19])
                found.append((started, int(entry.name), stat.split("(", 1)[1].rsplit(")", 1)[0]))
    return [process for _, *process in sorted(found)]


def wait_until(condition, seconds=TIMEOUT):
    """Waits until condition() is true, or for `seconds`; returns its last result."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result or time.monotonic() > deadline:
            return result
        time.sleep(0.001)


def begun(directory, seconds=TIMEOUT):
    """Waits until the journal of the recording in out/ has some records."""
    journal = pathlib.Path(directory, "out", "tensor_dump", "tensor_dump.rec")
    return wait_until(lambda: journal.exists() and journal.stat().st_size > 64 * 128, seconds)


class Program:
    """A command line that runs while the test does something to it."""

    def __init__(self, directory, args, environment=None, **options):
        self.mark = f"{os.getpid()}.{next(_marks)}"
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("TASKGLASS_") or name.startswith("TASKGLASS_TEST_")}
        self.process = subprocess.Popen(
            [str(PROGRAM), *map(str, args)], cwd=directory, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**kept, **ENVIRONMENT, MARK: self.mark, **(environment or {})}, **options)

    def device(self):
        """Waits for the process of the device; None if the program ended without one. A GPU may get another one
        until the device is open (device_after), and the one before takes a while to end: the newest counts."""
        def look():
            if self.process.poll() is not None:
                return -1
            return next((pid for pid, _ in reversed(processes_with(self.mark))
                         if pid != self.process.pid), 0)
        pid = wait_until(look)
        return pid if pid > 0 else None

    def device_after(self, wait, number=0):
        """Calls wait(pid) with the device's process, and then sends it the signal; 0 is none. Returns its number.
        If the host has something at the addresses that the driver chose for a GPU's memory, it ends the process and
        starts another one; then all of this is about that one."""
        while True:
            pid = self.device()
            assert pid is not None, self.end()
            wait(pid)
            with contextlib.suppress(ProcessLookupError):
                if pid in dict(processes_with(self.mark)):
                    os.kill(pid, number)
                    return pid
            assert self.process.poll() is None, self.end()

    def kill_device(self, seconds):
        """Kills the device's process `seconds` after it has appeared."""
        self.device_after(lambda _: time.sleep(seconds), signal.SIGKILL)

    def running(self):
        """The process of the device, after it has begun to run tasks."""
        def wait(pid):
            if SLOW_TO_OPEN:
                time.sleep(1.5)  # the process does not show what the GPU does
            else:
                assert wait_until(lambda: is_under_way(pid) or self.process.poll() is not None)
        return self.device_after(wait)

    def at_gate(self, place):
        """Waits until the workload `gate` says that it has stopped there."""
        for line in self.process.stderr:
            if line == f"gate: {place}\n":
                return self
        raise AssertionError(f"the program ended with {self.process.wait()} before {place}")

    def end(self):
        """Exit status and stderr of the program."""
        _, said = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, said

    def left(self):
        """The processes that remain minutes after the program has ended."""
        wait_until(lambda: not processes_with(self.mark))
        return processes_with(self.mark)


@pytest.fixture
def start(tmp_path):
    """start("run", …): a Program in an empty directory. All its processes end with the test."""
    programs = []

    def starter(*args, **options):
        programs.append(Program(tmp_path, args, **options))
        return programs[-1]
    yield starter
    for program in programs:
        program.process.kill()
        for pid, _ in processes_with(program.mark):  # what is left may hold the pipes
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        program.process.communicate()


@pytest.fixture
def tg(start):
    """tg("run", …) returns (exit status, stderr)."""
    return lambda *args, **options: start(*args, **options).end()


def check_next_run(tg, platform):
    """Checks that the next run on that platform works."""
    assert tg("run", workload("graphs"), "--case", "mixes", "--set", "n=100", "--platform",
              platform, "--output", "next") == (0, "")


def compiled(name, folder, *flags):
    """Compiles workloads/NAME.c, which only processes can run; returns the module's path. Flags of the
    compiler come last, so that they replace the usual ones."""
    if GPU:
        pytest.skip("these need a device that is a process, and a GPU's kernels do not run in one")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not shutil.which(compiler[0]):
        pytest.skip("no C compiler")
    module = folder / f"{name}.so"
    warnings = os.environ.get("TASKGLASS_TEST_WARNINGS", "-Wall -Wextra").split()
    subprocess.run([*compiler, "-std=gnu11", "-O1", *warnings, "-shared", "-fPIC",
                    f"-I{HERE.parents[1] / 'include'}", "-o", str(module),
                    str(HERE / "workloads" / f"{name}.c"), "-lm", *flags], check=True)
    return str(module)


@pytest.fixture(scope="session")
def scribble(tmp_path_factory):
    """A module whose kernels attack the device that they run on."""
    return compiled("scribble", tmp_path_factory.mktemp("scribble"))


@pytest.fixture(scope="session")
def doubtful(tmp_path_factory):
    """A module whose references misbehave."""
    return compiled("doubtful", tmp_path_factory.mktemp("doubtful"))


@pytest.fixture(scope="session")
def gate(tmp_path_factory):
    """A module that stops at the place which TASKGLASS_GATE names."""
    return compiled("gate", tmp_path_factory.mktemp("gate"))


@pytest.fixture(scope="session")
def unruly(tmp_path_factory):
    """A module whose prepare, golden and orchestration misbehave on the host."""
    return compiled("unruly", tmp_path_factory.mktemp("unruly"))
