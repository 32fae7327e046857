# SPDX-License-Identifier: Apache-2.0
"""Things that go wrong, seen from outside: the command line is run as a user would, and devices
and hosts are killed under it."""

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
from platforms import (ENVIRONMENT, GPU, PATIENCE, PLATFORMS, SLOW_TO_OPEN,  # noqa: E402, F401
                       is_under_way)

BUILD = pathlib.Path(os.environ.get("TASKGLASS_BUILD", HERE.parents[1] / "build")).resolve()
PROGRAM = BUILD / "bin" / "taskglass"
WORKLOADS = BUILD / "tests" / "workloads"

# Ends what hangs; no test is about how long something takes, but for the second in which the loss
# of a device must show.
TIMEOUT = PATIENCE


def is_sanitized():
    cache = BUILD / "CMakeCache.txt"
    return cache.exists() and any(line.startswith("TASKGLASS_SANITIZE:") and line.split("=", 1)[1]
                                  for line in cache.read_text().splitlines())


SANITIZED = is_sanitized()


def rounds(release, sanitized):
    """Sanitizers make everything several times slower, and so do devices that open slowly."""
    return sanitized if SANITIZED or SLOW_TO_OPEN else release


def moment(seconds):
    """So many seconds into the life of a run, of which opening the device is a part."""
    return seconds * 15 if SLOW_TO_OPEN else seconds


def workload(name):
    return str(WORKLOADS / f"{name}.so")


MARK = "TASKGLASS_TEST_MARK"
_marks = itertools.count()


def processes_with(mark):
    """Everything that descends from a program we started, whoever is its parent by now."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            environment = pathlib.Path(entry.path, "environ").read_bytes().split(b"\0")
            stat = pathlib.Path(entry.path, "stat").read_text()
            if wanted in environment and stat.rsplit(")", 1)[1].split()[0] not in "ZX":
                found.append((int(entry.name), stat.split("(", 1)[1].rsplit(")", 1)[0]))
    return found


def wait_until(condition, seconds=TIMEOUT):
    """What the condition gave, as soon as it is true; its last word where it never was."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result or time.monotonic() > deadline:
            return result
        time.sleep(0.001)


def begun(directory, seconds=TIMEOUT):
    """Waits until there is something in the journal of a recording into out/."""
    journal = pathlib.Path(directory, "out", "tensor_dump", "tensor_dump.rec")
    return wait_until(lambda: journal.exists() and journal.stat().st_size > 64 * 256, seconds)


class Program:
    """A command line that runs while the test does something to it."""

    def __init__(self, directory, args, **options):
        self.mark = f"{os.getpid()}.{next(_marks)}"
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("TASKGLASS_")}
        self.process = subprocess.Popen(
            [str(PROGRAM), *map(str, args)], cwd=directory, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**kept, **ENVIRONMENT, MARK: self.mark}, **options)

    def device(self):
        """The process of its device, once there is one; None where it ended without."""
        def look():
            if self.process.poll() is not None:
                return -1
            return next((pid for pid, _ in processes_with(self.mark)
                         if pid != self.process.pid), 0)
        pid = wait_until(look)
        return pid if pid > 0 else None

    def running(self):
        """The process of its device, once that runs tasks."""
        pid = self.device()
        assert pid is not None
        if SLOW_TO_OPEN:
            time.sleep(1.5)  # nothing of a GPU shows in its process
        else:
            assert wait_until(lambda: is_under_way(pid) or self.process.poll() is not None)
        return pid

    def end(self):
        """Exit status and what it said on stderr."""
        _, said = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, said

    def left(self):
        """Processes that are still there minutes after its end."""
        wait_until(lambda: not processes_with(self.mark))
        return processes_with(self.mark)


@pytest.fixture
def start(tmp_path):
    """start("run", …): a Program in an empty directory. Nothing of it outlives the test."""
    programs = []

    def starter(*args, **options):
        programs.append(Program(tmp_path, args, **options))
        return programs[-1]
    yield starter
    for program in programs:
        program.process.kill()
        program.process.communicate()
        for pid, _ in processes_with(program.mark):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def tg(start):
    """tg("run", …) gives (exit status, stderr)."""
    return lambda *args, **options: start(*args, **options).end()


def check_next_run(tg, platform):
    """The next run on that kind of device is as good as ever."""
    assert tg("run", workload("graphs"), "--case", "mixes", "--set", "n=100", "--platform",
              platform, "--output", "next") == (0, "")


@pytest.fixture(scope="session")
def scribble(tmp_path_factory):
    """A module whose kernels do to the device what no kernel should."""
    if GPU:
        pytest.skip("attacks on the process of a simulator, of which a GPU's kernel is no part")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not shutil.which(compiler[0]):
        pytest.skip("no C compiler")
    module = tmp_path_factory.mktemp("scribble") / "scribble.so"
    warnings = os.environ.get("TASKGLASS_TEST_WARNINGS", "-Wall -Wextra").split()
    subprocess.run([*compiler, "-std=gnu11", "-O1", *warnings, "-shared", "-fPIC",
                    f"-I{HERE.parents[1] / 'include'}", "-o", str(module),
                    str(HERE / "workloads" / "scribble.c")], check=True)
    return str(module)
