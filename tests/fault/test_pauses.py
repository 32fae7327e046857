# SPDX-License-Identifier: Apache-2.0
"""Pauses are not faults. The limits in these tests are short, and the pauses are longer than the limits:
of the time that a run is paused nothing counts, so the run ends as if nobody had paused it."""

import contextlib
import json
import os
import pathlib
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time

import pytest

from conftest import (MARK, PLATFORMS, PROGRAM, SANITIZED, TIMEOUT, begun, compiled, moment,
                      processes_with, rounds, wait_until, workload)
from platforms import FAR_LIMIT, GPU, simulators_only

# How often Ctrl-Z is typed at some moment, and which ones. A soak sets the number, and then runs all variants.
PAUSES = int(os.environ.get("TASKGLASS_PAUSES", rounds(6, 2)))
IS_SOAK = "TASKGLASS_PAUSES" in os.environ
SEED = os.environ.get("TASKGLASS_SEED", "1")

RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
LIMIT = "0.3"
PAUSE = 0.45

OPTIONS = ("--cores", "3", "--timeout", LIMIT, "--output", "out")
# Tasks of 50 ms, one after the other: every task ends well within the limit. A GPU's kernels see no file,
# so there the run lasts for some seconds.
RUN_ON_GPU = ("run", workload("slow"), "--case", "chain", "--set", "ms=50", "--set", "n=60", *OPTIONS)


def variants(*all_of_them):
    """All variants in a soak, otherwise the first."""
    return all_of_them if IS_SOAK else all_of_them[:1]


def send(number, *pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def state(pid):
    """R, S, T, …; '' if the process has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def pause(*pids):
    """Stops processes one after the other, the host first because it continues its device, and continues
    them later. Fails if one of them does not stop."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
        assert wait_until(lambda: state(pid) in ("T", "Z", "")) and state(pid) == "T"
    time.sleep(PAUSE)
    assert [state(pid) for pid in pids] == ["T"] * len(pids)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


class Lasting:
    """The arguments of a run that lasts until the test lets it end, and its environment."""

    def __init__(self, module, folder):
        self.key = folder / "key"
        self.args, self.environment = RUN_ON_GPU, {}
        if module:  # some minutes of tasks, which take no time once there is a key
            self.args = ("run", module, "--set", "n=10000", *OPTIONS)
            self.environment = {"TASKGLASS_GATE": "tasks", "TASKGLASS_GATE_KEY": str(self.key)}

    def let_end(self):
        self.key.touch()


@pytest.fixture
def lasting(request, tmp_path):
    return Lasting(None if GPU else request.getfixturevalue("gate"), tmp_path)


@pytest.fixture
def run(start, lasting):
    """Starts such a run. in_a_task() waits for the first task and returns the process of the device;
    let_end() returns how the run ended."""
    def starter(*more):
        program = start(*lasting.args, *more, environment=lasting.environment)

        def in_a_task():
            return program.running() if GPU else program.at_gate("tasks").device()

        def let_end():
            assert program.process.poll() is None
            lasting.let_end()
            return program.end()
        program.in_a_task, program.let_end = in_a_task, let_end
        return program
    return starter


# ── HANG ──────────────────────────────────────────────────────────────────────────────────


def test_a_host_that_is_stopped_reports_no_hang(run):
    program = run()
    program.in_a_task()
    pause(program.process.pid)
    assert program.let_end() == (0, "")


@pytest.mark.parametrize("platform", variants(*PLATFORMS))
def test_a_host_and_a_device_that_are_stopped_together_report_no_hang(run, platform):
    program = run("--platform", platform)
    device = program.in_a_task()
    pause(program.process.pid, device)
    assert program.let_end() == (0, "")


@simulators_only
def test_a_host_continues_a_device_that_somebody_has_stopped(run):
    program = run()
    device = program.in_a_task()
    os.kill(device, signal.SIGSTOP)
    assert wait_until(lambda: state(device) != "T")
    assert program.let_end() == (0, "")


@simulators_only
def test_a_device_that_is_stopped_ends_with_its_host(run):
    for _ in range(3):
        program = run()
        os.kill(program.in_a_task(), signal.SIGSTOP)
        assert program.process.poll() is None
        program.process.kill()
        program.end()
        assert program.left() == []


@pytest.fixture
def signalled(tmp_path):
    """A device program that gets signals before it runs, as if it were still in the group of its host."""
    device = PROGRAM.parent.parent / "lib" / "taskglass" / "taskglass-device"

    def maker(*names):
        script = tmp_path / "signalled"
        sent = "".join(f"kill -{name} $$\n" for name in names)
        script.write_text(f'#!/bin/sh\n{sent}exec "{device}"\n')
        script.chmod(0o755)
        return script
    return maker


@simulators_only
def test_a_device_drops_signals_that_are_meant_for_its_host(tg, signalled):
    program = signalled("INT", "TERM", "HUP", "QUIT", "TTIN", "TTOU")
    assert tg("run", "vector_add", "--output", "out", "--device-program", program) == (0, "")


@simulators_only
def test_a_device_that_stops_before_it_runs_is_continued(tg, signalled):
    assert tg("run", "vector_add", "--output", "out", "--device-program", signalled("TSTP")) == (0, "")


@simulators_only
def test_a_device_that_stops_before_it_runs_ends_with_its_host(run, signalled):
    program = run("--device-program", signalled("TSTP"))
    device = program.device()
    assert wait_until(lambda: state(device) == "T")
    assert pathlib.Path(f"/proc/{device}/comm").read_text() != "signalled\n"  # it has its own program by now
    program.process.kill()
    program.end()
    assert program.left() == []


@contextlib.contextmanager
def control_group(*pids):
    """A control group with these processes in it; yields a function that freezes or thaws it, and returns
    when that is done."""
    new = pathlib.Path("/sys/fs/cgroup/unified"), "cgroup.procs", "cgroup.freeze", ("0", "1")
    if not (new[0] / "cgroup.procs").exists():
        new = (pathlib.Path("/sys/fs/cgroup"), *new[1:])
    old = (pathlib.Path("/sys/fs/cgroup/freezer"), "tasks", "freezer.state", ("THAWED", "FROZEN"))
    for root, members, switch, words in (new, old):
        group = root / f"taskglass_test_{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / switch).exists():
            break
        group.rmdir()
    else:
        pytest.skip("this user cannot make a control group that can be frozen")

    def set_frozen(frozen):
        (group / switch).write_text(words[frozen])
        done = (("cgroup.events", f"frozen {frozen:d}") if switch == "cgroup.freeze" else
                (switch, words[frozen]))
        assert wait_until(lambda: done[1] in (group / done[0]).read_text().splitlines())
    try:
        for pid in pids:
            threads = [str(pid)] if members == "cgroup.procs" else os.listdir(f"/proc/{pid}/task")
            for thread in threads:
                (group / members).write_text(thread)
        yield set_frozen
    finally:
        (group / switch).write_text(words[False])
        for pid in pids:
            with contextlib.suppress(OSError):
                (root / "cgroup.procs").write_text(str(pid))
        wait_until(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


@simulators_only
@pytest.mark.parametrize("who", variants("device", "host and device"))
def test_a_control_group_that_is_frozen_reports_no_hang(run, who):
    program = run()
    pids = [program.in_a_task()] + ([program.process.pid] if who != "device" else [])
    with control_group(*pids) as freeze:
        freeze(True)
        time.sleep(PAUSE)
        freeze(False)
    assert program.let_end() == (0, "")


@simulators_only
def test_a_device_in_a_debugger_reports_no_hang(run):
    if not shutil.which("gdb"):
        pytest.skip("no gdb")
    program = run()
    device = program.in_a_task()
    gdb = subprocess.run(["gdb", "-nx", "-batch", "-p", str(device), "-ex", f"shell sleep {PAUSE}"],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if "ptrace: Operation not permitted" in gdb.stderr:
        pytest.skip("this user may not debug a process")
    assert "No such process" not in gdb.stderr
    assert program.let_end() == (0, "")


@pytest.mark.parametrize("cpus", variants(1, None))
def test_a_device_that_hangs_is_reported_also_after_a_pause(start, cpus):
    only = {"preexec_fn": lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])}
    program = start("run", workload("faults"), "--case", "spin", "--timeout", LIMIT, "--output", "out",
                    **(only if cpus else {}))
    both = program.device(), program.process.pid
    send(signal.SIGSTOP, *both)
    time.sleep(PAUSE)
    send(signal.SIGCONT, *both)
    code, said = program.end()
    assert code == 3
    assert said.startswith("taskglass: HANG: ")


@simulators_only
def test_a_pause_is_no_waiting_for_room(start):
    """The warning says how long the orchestration took, and which part of that it waited."""
    program = start("run", workload("rings"), "--case", "slow", "--set", "n=30", "--set", "size=30000",
                    "--cores", "3", "--ring-task-window", "4", "--timeout", LIMIT, "--output", "out",
                    "--runtime", RUNTIMES[1])
    both = program.device(), program.process.pid
    time.sleep(moment(0.2))  # at any other moment the test would only test less
    send(signal.SIGSTOP, *both)
    time.sleep(1)
    send(signal.SIGCONT, *both)
    code, said = program.end()
    assert code == 0
    warned = re.match(r"taskglass: warning: RING_BUFFER_BACKPRESSURE: the orchestration waited \d+ % of its "
                      r"([0-9.e+-]+) s for room", said)
    assert warned is None or float(warned[1]) < 1


@pytest.mark.parametrize("function", variants("golden", "prepare"))
def test_a_function_of_a_host_that_is_stopped_is_not_late(start, unruly, function):
    program = start("run", unruly, "--case", "stop", "--set", f"where={function}", "--timeout", LIMIT,
                    "--output", "out")
    assert wait_until(lambda: state(program.process.pid) == "T")
    time.sleep(PAUSE)
    send(signal.SIGCONT, program.process.pid)
    assert program.end() == (0, "")


# ── references ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("who", variants("all", "taskglass"))
def test_a_reference_is_not_late_because_of_a_pause(start, tg, doubtful, who):
    """Two of the references take half of the limit each."""
    assert tg("run", doubtful, "--case", "slow", "--set", "more=0", "--dump-tensor", "--output", "out")[0] == 0
    program = start("check", "out", "--timeout", LIMIT)
    assert wait_until(lambda: len(processes_with(program.mark)) > 2 or program.process.poll() is not None)
    pids = [pid for pid, name in processes_with(program.mark) if who == "all" or name == who]
    send(signal.SIGSTOP, *pids)
    time.sleep(PAUSE)
    send(signal.SIGCONT, *pids)
    assert program.end() == (0, "")


# ── list ──────────────────────────────────────────────────────────────────────────────────


def test_a_module_is_not_late_because_the_list_is_stopped(start, unruly, monkeypatch):
    """A constructor stops its process, and is continued while the list is stopped."""
    monkeypatch.setenv("TASKGLASS_TEST_UNRULY", "stop")
    program = start("list", "--json", "--timeout", 1, "--workload-path", pathlib.Path(unruly).parent)
    assert wait_until(lambda: "T" in [state(pid) for pid, _ in processes_with(program.mark)])
    send(signal.SIGSTOP, program.process.pid)
    send(signal.SIGCONT, *(pid for pid, _ in processes_with(program.mark) if pid != program.process.pid))
    time.sleep(1.1)
    send(signal.SIGCONT, program.process.pid)
    out, said = program.process.communicate(timeout=TIMEOUT)
    assert (program.process.returncode, said) == (0, "")
    listed = {entry["name"]: entry["error"] for entry in json.loads(out)["workloads"]}
    assert listed["unruly"] is None


# ── Ctrl-Z ────────────────────────────────────────────────────────────────────────────────


# What a shell does with a command in the foreground, but continues it at once, as often as it stops. bash
# may find "no such job" if the command ends just as it stops.
CONTINUES_AT_ONCE = """
import os, signal, sys
stops = signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU
for number in stops:
    signal.signal(number, signal.SIG_IGN)
print("begun", flush=True)
command = os.fork()
if command == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    for number in stops:
        signal.signal(number, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
status = os.waitpid(command, os.WUNTRACED)[1]
while os.WIFSTOPPED(status):
    os.killpg(command, signal.SIGCONT)
    status = os.waitpid(command, os.WUNTRACED)[1]
print("exit", os.waitstatus_to_exitcode(status), flush=True)
"""


def keep_output(terminal):
    """A terminal drops what it has not shown yet when Ctrl-Z is typed, unless it is told not to."""
    attributes = termios.tcgetattr(terminal)
    attributes[3] = attributes[3] & ~termios.ECHO | termios.NOFLSH
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)


class Terminal:
    """A shell on a terminal of its own that runs one command, and continues it at a line of input, or at
    once."""

    def __init__(self, directory, *args, at_once=False, environment=None):
        self.mark = f"{os.getpid()}.terminal"
        script = 'set -m; "$@"; echo stopped; read line; fg >/dev/null; echo "exit $?"'
        shell = ["bash", "-c", script, "bash"]
        if at_once:
            shell = [sys.executable, "-c", CONTINUES_AT_ONCE]
        self.shell, self.screen = pty.fork()
        if self.shell == 0:
            os.chdir(directory)
            os.environ.update({MARK: self.mark, **(environment or {})})
            keep_output(0)
            os.execvp(shell[0], [*shell, str(PROGRAM), *map(str, args)])
        self.shown = ""

    def type(self, text):
        os.write(self.screen, text.encode())

    def shows(self, text):
        while text not in self.shown:
            if not select.select([self.screen], [], [], TIMEOUT)[0]:
                return False
            try:
                self.shown += os.read(self.screen, 1000).decode(errors="replace")
            except OSError:
                return False
        return True

    def states(self):
        return [state(pid) for pid, name in processes_with(self.mark) if name.startswith("taskglass")]

    def end(self):
        for pid, _ in processes_with(self.mark):
            send(signal.SIGKILL, pid)
        os.close(self.screen)
        os.waitpid(self.shell, 0)


@pytest.fixture
def terminal(tmp_path):
    if not shutil.which("bash"):
        pytest.skip("no bash")
    made = []

    def maker(*args, **options):
        made.append(Terminal(tmp_path, *args, **options))
        return made[-1]
    yield maker
    for each in made:
        each.end()


def pause_on(terminal, name, n_processes, before_it_continues=lambda: None):
    """Types Ctrl-Z when the command has its processes of that name; continues it later. All of them stop."""
    assert wait_until(lambda: sum(each.startswith(name) for _, each in processes_with(terminal.mark))
                      >= n_processes)
    terminal.type("\x1a")
    assert terminal.shows("stopped")
    assert wait_until(lambda: set(terminal.states()) == {"T"})
    time.sleep(PAUSE)
    assert set(terminal.states()) == {"T"}
    before_it_continues()
    terminal.type("\n")
    assert terminal.shows("exit 0")


@simulators_only
def test_ctrl_z_stops_host_and_device_and_fg_continues_both(terminal, lasting):
    shell = terminal(*lasting.args, environment=lasting.environment)
    assert shell.shows("gate: tasks")
    pause_on(shell, "taskglass-dev", 1, lasting.let_end)


@simulators_only
def test_ctrl_z_stops_a_check_with_its_references(terminal, tg, doubtful):
    assert tg("run", doubtful, "--case", "slow", "--set", "more=0", "--dump-tensor", "--output", "out")[0] == 0
    pause_on(terminal("check", "out", "--timeout", LIMIT), "taskglass-ref", 2)


@simulators_only
def test_ctrl_z_at_any_moment_lets_the_command_end(terminal):
    chance = random.Random(SEED)
    for number in range(PAUSES):
        shell = terminal("run", "vector_add", "--output", "out", at_once=True)
        assert shell.shows("begun")
        for _ in range(3):
            time.sleep(chance.uniform(0, 0.02))
            shell.type("\x1a")
        assert shell.shows("exit"), number
        assert shell.shows("exit 0"), (number, shell.shown)


# ── --dump-wait ───────────────────────────────────────────────────────────────────────────

# Far more bytes than the arenas have room for, so that the recorder has to wait for the host.
RECORDED = ("run", "vector_add", "--case", "large", "--set", "n=4000000", "--dump-tensor", "--dump-arena",
            "64K", "--dump-wait", LIMIT, "--output", "out", *FAR_LIMIT)


def recorder(directory):
    return json.loads((directory / "out" / "run.json").read_text())["recorder"]


@pytest.mark.parametrize("who, platform, runtime",
                         [("host", PLATFORMS[0], RUNTIMES[0]), ("host", PLATFORMS[-1], RUNTIMES[2]),
                          *variants(("host and device", PLATFORMS[0], RUNTIMES[0]),
                                    ("host", PLATFORMS[0], RUNTIMES[1]))])
def test_a_recorder_waits_for_a_host_that_is_stopped(start, tg, tmp_path, who, platform, runtime):
    for seconds in (PAUSE, 4 * PAUSE, 16 * PAUSE):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        program = start(*RECORDED, "--platform", platform, "--runtime", runtime)
        assert begun(tmp_path)
        device = program.device()  # not before: a GPU may be opened again by another process
        pids = [program.process.pid] + ([device] if who != "host" else [])
        send(signal.SIGSTOP, *pids)
        time.sleep(seconds)
        send(signal.SIGCONT, *pids)
        assert program.end() == (0, "")
        counters = recorder(tmp_path)
        assert sum(counters["lost"].values()) == 0
        assert tg("verify", "out") == (0, "")
        # On a busy machine the device may not have run until it had to wait: then nothing was tested.
        if who != "host" or counters["wait_seconds"] > float(LIMIT):
            return
    pytest.fail("the device never ran while its host was stopped")


@pytest.mark.skipif(SANITIZED, reason="sanitizers want to be preloaded first")
@pytest.mark.parametrize("platform", variants(*PLATFORMS))
def test_a_recorder_gives_up_if_the_host_runs_but_its_disk_hangs(start, tg, tmp_path, platform):
    program = start(*RECORDED, "--platform", platform,
                    environment={"LD_PRELOAD": compiled("hung_disk", tmp_path)})
    code, said = program.end()
    assert code == 0 and "records lost" in said
    counters = recorder(tmp_path)
    assert counters["lost"]["gave_up"] > 0
    assert counters["attempted"] == counters["recorded"] + sum(counters["lost"].values())
    assert tg("verify", "out") == (0, "")
