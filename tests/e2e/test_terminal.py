# SPDX-License-Identifier: Apache-2.0
"""On a terminal and in a pipe: progress, colours, and being interrupted."""

import json
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import pytest

from conftest import DEVICE, PROGRAM, TIMEOUT, clean_environment, workload

# Longer than any test waits, so the test must interrupt it.
ENDLESS = ["run", workload("slow"), "--case", "chain", "--set", "n=100000", "--set", "ms=5"]


class Terminal:
    """The program in its own terminal, where Ctrl-C works. `columns`: 0 is a terminal that does not know."""

    def __init__(self, directory, args, columns=0, **env):
        self.text = b""
        try:
            self.pid, self.master = pty.fork()
        except OSError:
            pytest.skip("no pseudo-terminals here")
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
            os.chdir(directory)
            os.execve(PROGRAM, [str(PROGRAM), *map(str, args)], clean_environment(**env))

    def read(self, seconds):
        """False at the end of the output."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:  # Linux reports a closed other end in this way
            data = b""
        self.text += data
        return data != b""

    def wait_for(self, part):
        end = time.monotonic() + TIMEOUT
        while part not in self.text and time.monotonic() < end and self.read(1):
            pass
        assert part in self.text, self.text

    def type(self, keys):
        os.write(self.master, keys)

    def wait(self):
        """Reads to the end; the exit status, negative for a signal."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end and self.read(1):
            pass
        os.close(self.master)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def shown(text):
    """What a user sees in the end, without erased lines."""
    return b"\n".join(line.split(b"\r\x1b[K")[-1] for line in text.replace(b"\r\n", b"\n")
                      .split(b"\n")).decode()


# Takes a second at least, because its tasks sleep one after the other; the line comes after half of it.
A_SECOND = ["run", workload("slow"), "--case", "chain", "--set", "n=20", "--set", "ms=60"]


def test_progress_is_shown_on_a_terminal(tg):
    terminal = Terminal(tg.directory, A_SECOND)
    assert terminal.wait() == 0
    assert b"of 20 tasks" in terminal.text


def test_progress_has_a_rate_and_the_time_left(tg):
    terminal = Terminal(tg.directory, ENDLESS, columns=100)
    terminal.wait_for(b" left")
    terminal.type(b"\x03")
    terminal.wait()
    assert re.search(rb"run  \[#*\.*\] \d+ of 100000 tasks, [\d.]+ tasks/s, (\d+ (h|min) )?\d+ (s|min) left",
                     terminal.text)


def test_progress_fits_a_narrow_terminal(tg):
    terminal = Terminal(tg.directory, ENDLESS, columns=40)
    terminal.wait_for(b" of 100000 tasks")
    terminal.type(b"\x03")
    terminal.wait()
    lines = re.findall(rb"\r\x1b\[K(run [^\r\n\x1b]*)", terminal.text)
    assert lines and all(len(line.decode().replace("^C", "")) < 40 for line in lines)


def test_progress_is_gone_in_the_end(tg):
    terminal = Terminal(tg.directory, A_SECOND)
    terminal.wait()
    assert "of 20 tasks" not in shown(terminal.text)
    assert shown(terminal.text).splitlines()[-1].startswith("  files ")


def test_progress_is_not_shown_in_a_pipe(tg):
    tg.good(*A_SECOND)


def test_a_dumb_terminal_gets_no_escape_sequence(tg):
    terminal = Terminal(tg.directory, ["run", "vector_add"], TERM="dumb")
    assert terminal.wait() == 0
    assert b"\x1b" not in terminal.text


def test_colours_are_shown_on_a_terminal(tg):
    terminal = Terminal(tg.directory, ["run", "vector_add"])
    terminal.wait()
    assert b"\x1b[32mok" in terminal.text


def test_no_color_is_respected(tg):
    terminal = Terminal(tg.directory, ["run", "vector_add"], NO_COLOR="1")
    terminal.wait()
    assert b"\x1b[32m" not in terminal.text and b"ok" in terminal.text


def test_there_are_no_escape_sequences_in_a_pipe(tg):
    assert "\x1b" not in tg.good("run", "vector_add").stdout


@pytest.fixture
def device(tmp_path):
    """A separate copy of the device program, to see whether a process of it is left."""
    return shutil.copy(DEVICE, tmp_path / "device-of-this-test")


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


def cancelled_report(directory):
    return json.loads(next((directory / "outputs").glob("*/run.json")).read_text())


def test_ctrl_c_ends_a_run_by_the_signal(tg):
    terminal = Terminal(tg.directory, ENDLESS)
    terminal.wait_for(b"of 100000 tasks")
    terminal.type(b"\x03")
    assert terminal.wait() == -signal.SIGINT


def test_ctrl_c_leaves_a_run_json_that_says_so(tg):
    terminal = Terminal(tg.directory, ENDLESS)
    terminal.wait_for(b"of 100000 tasks")
    terminal.type(b"\x03")
    terminal.wait()
    report = cancelled_report(tg.directory)
    assert report["result"]["status"] == "CANCELLED"
    assert report["counters"]["finished"] < report["counters"]["tasks"]


def test_ctrl_c_leaves_no_device_behind(tg, device):
    terminal = Terminal(tg.directory, [*ENDLESS, "--device-program", device])
    terminal.wait_for(b"of 100000 tasks")
    assert processes_of(device)
    terminal.type(b"\x03")
    terminal.wait()
    assert_gone(device)


def test_ctrl_c_again_ends_a_run_whose_kernel_never_returns(tg, device):
    terminal = Terminal(tg.directory, ["run", workload("faults"), "--case", "spin", "--timeout",
                                       TIMEOUT * 2, "--device-program", device])
    terminal.wait_for(b"of 7 tasks")
    while terminal.read(0.05):  # the first Ctrl-C is noted, a later one ends the program
        try:
            terminal.type(b"\x03")
        except OSError:
            break
    assert terminal.wait() == -signal.SIGINT
    assert_gone(device)


def wait_until(condition):
    end = time.monotonic() + TIMEOUT
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_a_run_in_a_pipe_and_leaves_a_run_json(tg, number):
    run = subprocess.Popen([PROGRAM, *ENDLESS], cwd=tg.directory, env=clean_environment(),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: (tg.directory / "outputs").is_dir() and tg.outputs())
    run.send_signal(number)
    run.communicate(timeout=TIMEOUT)
    assert run.returncode == -number
    assert cancelled_report(tg.directory)["result"]["status"] == "CANCELLED"


def test_a_host_that_is_killed_leaves_no_device_behind(tg, device):
    run = subprocess.Popen([PROGRAM, *ENDLESS, "--device-program", device],
                           cwd=tg.directory, env=clean_environment(),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: processes_of(device))
    run.kill()
    run.wait(TIMEOUT)
    assert_gone(device)


def test_a_device_that_is_killed_is_reported_as_lost(tg, device):
    run = subprocess.Popen([PROGRAM, *ENDLESS, "--device-program", device],
                           cwd=tg.directory, env=clean_environment(),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: processes_of(device))
    os.kill(processes_of(device)[0], signal.SIGKILL)
    _, error = run.communicate(timeout=TIMEOUT)
    assert run.returncode == 3 and "DEVICE_LOST" in error
