# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, TERM and HUP: the first one ends every phase, the program dies of that signal, no process is
left, and what was begun is complete."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

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


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A recording of some thousand small tensors: an export makes a file of each."""
    folder = tmp_path_factory.mktemp("many")
    subprocess.run([PROGRAM, "run", "vector_add", "--set", "n=16384", "--set", "tile=16",
                    "--dump-tensor", "--output", "out"], cwd=folder, stdout=subprocess.DEVNULL,
                   timeout=TIMEOUT, check=True)
    return folder / "out"


@pytest.mark.parametrize("numbers", [(signal.SIGTERM, signal.SIGTERM), (signal.SIGHUP, signal.SIGINT)])
def test_a_second_signal_does_not_end_the_removal_of_an_export(start, many, tmp_path, numbers):
    program = start("export", many, "--to", "npy", "--output", "npy")
    assert wait_until(lambda: len(list(tmp_path.glob("npy/*"))) > 500)
    for number in numbers:
        program.process.send_signal(number)
        time.sleep(0.005)
    assert program.end() == (-numbers[0], "")
    assert list(tmp_path.iterdir()) == []


def stop_while_it_writes(start, recording, folder):
    """A program that is stopped before its bundle is complete; the README.md comes last."""
    for _ in range(50):
        program = start("replay", recording, "--task", "0", "--bundle", folder)
        assert wait_until(lambda: (folder / "main.c").exists() or program.process.poll() is not None)
        program.process.send_signal(signal.SIGSTOP)
        if program.process.poll() is None and not (folder / "README.md").exists():
            return program
        program.process.send_signal(signal.SIGCONT)
        assert program.end() == (0, "")
        shutil.rmtree(folder)
    raise AssertionError("the bundle was always complete")


@pytest.mark.parametrize("numbers", [[number] for number in NUMBERS] + [[signal.SIGINT, signal.SIGTERM]])
def test_signals_end_a_bundle_and_nothing_of_it_stays(start, large, tmp_path, numbers):
    program = stop_while_it_writes(start, large, tmp_path / "bundle")
    program.process.send_signal(numbers[0])
    program.process.send_signal(signal.SIGCONT)
    for number in numbers[1:]:
        program.process.send_signal(number)
    code, said = program.end()
    assert -code in numbers and said == ""  # two threads may take them at the same time
    assert list(tmp_path.iterdir()) == []


def waits(program):
    """The main thread sleeps: an export does so only in a write to a pipe that is full."""
    stat = pathlib.Path(f"/proc/{program.process.pid}/stat")
    return wait_until(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "S")


def test_a_signal_ends_a_text_that_waits_for_its_reader(start, large):
    program = start("view", large, "--export", "txt", "--stage", "after")
    assert program.process.stdout.read(1) == "#"  # the pipe holds a small part of the tensor
    assert waits(program)
    program.process.send_signal(signal.SIGINT)
    assert program.process.wait(TIMEOUT) == -signal.SIGINT  # nobody reads the rest
    assert not program.process.stdout.read().endswith("]\n")


def test_a_signal_ends_an_export_to_a_pipe_that_nobody_reads(start, large):
    reader, writer = os.pipe()
    program = start("export", large, "--to", "npz", "--output", f"/dev/fd/{writer}", pass_fds=[writer])
    os.close(writer)
    assert os.read(reader, 1) == b"P"
    assert waits(program)
    program.process.send_signal(signal.SIGTERM)
    assert program.end() == (-signal.SIGTERM, "")
    os.close(reader)


def fill_output(program):
    """Fills the pipe that the program writes its report to."""
    pipe = os.open(f"/proc/{program.process.pid}/fd/1", os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while os.write(pipe, bytes(4096)):
            pass
    os.close(pipe)


@pytest.mark.parametrize("arguments", [("check", "--json"), ("check",)])
def test_a_signal_ends_a_check_whose_report_nobody_reads(start, many, arguments):
    program = start(*arguments, many)
    fill_output(program)
    call = pathlib.Path(f"/proc/{program.process.pid}/syscall")
    assert wait_until(lambda: call.read_text().split()[1:2] == ["0x1"])  # it writes there
    program.process.send_signal(signal.SIGTERM)
    assert program.process.wait(TIMEOUT) == -signal.SIGTERM
    assert program.left() == []


def test_a_signal_ends_a_run_whose_report_nobody_reads(start, gate, tmp_path):
    program = start("run", gate, *RECORDED, environment={"TASKGLASS_GATE": "kernel"}).at_gate("kernel")
    fill_output(program)
    program.process.send_signal(signal.SIGTERM)
    assert program.process.wait(TIMEOUT) == -signal.SIGTERM
    assert program.left() == []
