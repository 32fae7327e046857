# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, TERM and HUP: the first one ends every phase, the program dies of that signal, no process is
left, and what was begun is complete."""

import json
import pathlib
import signal
import subprocess

import pytest

from conftest import PLATFORMS, PROGRAM, TIMEOUT, wait_until
from platforms import simulators_only

pytestmark = simulators_only

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
BEFORE_THE_FOLDER = ("load", "prepare")
AFTER_THE_GRAPH = ("golden",)
PLACES = [*BEFORE_THE_FOLDER, "device_load", "orchestration", "kernel", *AFTER_THE_GRAPH]
# A limit of time is not what ends these.
RECORDED = ("--output", "out", "--dump-tensor", "--timeout", 100000, "--load-timeout", 100000)


def state(directory):
    viewed = subprocess.run([PROGRAM, "view", "out", "--json"], cwd=directory, text=True,
                            stdout=subprocess.PIPE, timeout=TIMEOUT, check=True)
    return json.loads(viewed.stdout)["recording"]["state"]


def check_files(tg, directory, place):
    """What a run that was stopped there has left."""
    if place in BEFORE_THE_FOLDER:
        assert not (directory / "out").exists()
        return
    names = {path.name for path in (directory / "out").rglob("*")}
    assert not any(name.startswith(".") for name in names)
    report = json.loads((directory / "out" / "run.json").read_text())
    assert report["result"]["status"] == "CANCELLED" and report["recorder"] is not None
    assert tg("verify", "out") == (0, "")
    assert state(directory) == ("finished" if place in AFTER_THE_GRAPH else "cancelled")


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("place", PLACES)
def test_the_first_signal_ends_every_phase_of_a_run(start, tg, gate, tmp_path, place, number):
    program = start("run", gate, *RECORDED, environment={"TASKGLASS_GATE": place}).at_gate(place)
    program.process.send_signal(number)
    code, said = program.end()
    assert code == -number
    assert said.startswith("taskglass: CANCELLED: ")
    assert program.left() == []
    check_files(tg, tmp_path, place)


@pytest.mark.parametrize("platform,runtime", zip(PLATFORMS, ["aicpu_build_graph",
                                                             "tensormap_and_ringbuffer"]))
def test_the_first_signal_ends_an_orchestration_on_the_device(start, tg, gate, tmp_path, platform,
                                                              runtime):
    program = start("run", gate, *RECORDED, "--platform", platform, "--runtime", runtime,
                    environment={"TASKGLASS_GATE": "orchestration"}).at_gate("orchestration")
    program.process.send_signal(signal.SIGINT)
    assert program.end()[0] == -signal.SIGINT
    assert program.left() == []
    check_files(tg, tmp_path, "orchestration")


@pytest.mark.parametrize("number", NUMBERS)
def test_the_first_signal_ends_a_device_that_does_not_start(start, tg, gate, tmp_path, number):
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\necho gate: start >&2\nexec sleep 100000\n")
    silent.chmod(0o755)
    program = start("run", gate, *RECORDED, "--device-program", silent).at_gate("start")
    program.process.send_signal(number)
    code, said = program.end()
    assert code == -number and said.startswith("taskglass: CANCELLED: ")
    assert program.left() == []
    check_files(tg, tmp_path, "start")


def test_a_run_that_ignores_a_hangup_goes_on(start, gate, tmp_path):
    """As nohup makes it."""
    program = start("run", gate, *RECORDED, preexec_fn=lambda: signal.signal(signal.SIGHUP,
                                                                             signal.SIG_IGN),
                    environment={"TASKGLASS_GATE": "golden",
                                 "TASKGLASS_GATE_KEY": str(tmp_path / "key")}).at_gate("golden")
    program.process.send_signal(signal.SIGHUP)
    (tmp_path / "key").touch()
    assert program.end() == (0, "")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_ends_a_replay_and_its_device(start, tg, gate, number):
    assert tg("run", gate, *RECORDED) == (0, "")
    program = start("replay", "out", "--task", "0", "--repeat", "9", "--timeout", 100000,
                    environment={"TASKGLASS_GATE": "kernel"}).at_gate("kernel")
    program.process.send_signal(number)
    assert program.end()[0] == -number
    assert program.left() == []


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_ends_a_check_and_its_processes(start, tg, gate, number):
    assert tg("run", gate, *RECORDED) == (0, "")
    program = start("check", "out", "--timeout", 100000,
                    environment={"TASKGLASS_GATE": "reference"}).at_gate("reference")
    program.process.send_signal(number)
    assert program.end()[0] == -number
    assert program.left() == []


def catches(program, number):
    status = pathlib.Path(f"/proc/{program.process.pid}/status").read_text()
    return int(status.split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A recording with one tensor after completion, which takes a second or more to write as text."""
    folder = tmp_path_factory.mktemp("large")
    subprocess.run([PROGRAM, "run", "vector_add", "--set", "n=1048576", "--set", "tile=1048576",
                    "--dump-tensor", "--output", "out"], cwd=folder, stdout=subprocess.DEVNULL,
                   timeout=TIMEOUT, check=True)
    return folder / "out"


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_ends_a_text_within_a_tensor(start, large, tmp_path, number):
    program = start("export", large, "--to", "txt", "--stage", "after", "--output", "out.txt")
    assert wait_until(lambda: catches(program, number))
    program.process.send_signal(number)
    assert program.end() == (-number, "")
    assert list(tmp_path.iterdir()) == []


def test_a_signal_ends_a_text_that_waits_for_its_reader(start, large):
    program = start("view", large, "--export", "txt", "--stage", "after")
    assert program.process.stdout.read(1) == "#"  # the pipe holds a small part of the tensor
    program.process.send_signal(signal.SIGINT)
    text, _ = program.process.communicate(timeout=TIMEOUT)
    assert program.process.returncode == -signal.SIGINT
    assert not text.endswith("]\n")
