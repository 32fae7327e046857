# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the device at any moment: DEVICE_LOST within a second, exit 3, next run fine."""

import json
import os
import random
import signal
import subprocess
import time

import pytest

from conftest import (PLATFORMS, PROGRAM, SLOW_TO_OPEN, TIMEOUT, check_next_run, moment, rounds,
                      workload)
from platforms import AT_ONCE, FAR_LIMIT, simulators_only

# A run that lasts longer than the test.
LONG = ("run", workload("slow"), "--set", "ms=1", "--set", "n=300000", "--cores", "6", "--output",
        "out")
# Also if the host was copying from or to a GPU when it noticed.
CAUSE = "was killed by signal 9 (SIGKILL)"
# The second within which the host must report the loss, and more for a busy machine; still far below
# the --timeout.
SOON = 10 if SLOW_TO_OPEN else 5


def kill_after(start, platform, seconds):
    """Kills the device `seconds` after it has appeared. Returns exit status, stderr, and how many seconds
    the host took to end."""
    program = start(*LONG, *FAR_LIMIT, "--platform", platform)
    program.kill_device(seconds)
    killed = time.monotonic()
    code, said = program.end()
    return code, said, time.monotonic() - killed


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_device_that_is_killed_at_any_moment_is_lost_within_a_second(start, tg, platform):
    moments = random.Random(platform)
    shortest = AT_ONCE
    for _ in range(rounds(100, 8)):
        code, said, took = kill_after(start, platform, moment(moments.uniform(0, 0.06)))
        assert code == 3
        assert said.startswith("taskglass: DEVICE_LOST: the device ")
        assert CAUSE in said
        assert took < AT_ONCE
        shortest = min(shortest, took)
        check_next_run(tg, platform)
    assert shortest < SOON  # other processes may slow down single rounds, but not all


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGHUP])
def test_a_device_that_gets_any_deadly_signal_is_lost(start, platform, number):
    program = start(*LONG, *FAR_LIMIT, "--platform", platform)
    os.kill(program.running(), number)
    code, said = program.end()
    assert code == 3
    assert said.startswith("taskglass: DEVICE_LOST: ") or "KERNEL_FAULT" in said
    assert program.left() == []


def check_failed_recording(tg, directory, status):
    """The run failed before its first task, and left a complete recording that says so."""
    report = json.loads((directory / "out" / "run.json").read_text())
    assert report["result"]["status"] == report["error"]["name"] == status
    assert report["error"]["advice"]
    assert report["counters"]["finished"] == 0 and report["recorder"] is not None
    assert tg("verify", "out") == (0, "")
    viewed = subprocess.run([PROGRAM, "view", "out", "--json"], cwd=directory, text=True,
                            stdout=subprocess.PIPE, timeout=TIMEOUT, check=True)
    seen = json.loads(viewed.stdout)["recording"]
    assert seen["state"] == "failed" and seen["complete"]


@simulators_only
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("place", ["device_load", "orchestration"])
def test_a_device_that_is_lost_before_the_launch_leaves_a_finished_recording(start, tg, gate, tmp_path,
                                                                            platform, place):
    """It dies while it loads the module, and while it waits for the graph."""
    program = start("run", gate, "--platform", platform, "--dump-tensor", "--output", "out",
                    environment={"TASKGLASS_GATE": place,
                                 "TASKGLASS_GATE_KEY": str(tmp_path / "key")}).at_gate(place)
    os.kill(program.device(), signal.SIGKILL)
    (tmp_path / "key").touch()
    code, said = program.end()
    assert code == 3 and said.startswith("taskglass: DEVICE_LOST: ")
    check_failed_recording(tg, tmp_path, "DEVICE_LOST")


@simulators_only
@pytest.mark.parametrize("how", ["null", "abort", "exit"])
def test_a_workload_that_fails_before_the_launch_leaves_a_finished_recording(tg, unruly, tmp_path, how):
    code, _ = tg("run", unruly, "--case", how, "--set", "where=orchestration", "--dump-tensor",
                 "--output", "out")
    assert code == 2
    check_failed_recording(tg, tmp_path, "WORKLOAD_FAULT")


@simulators_only
def test_options_that_fail_after_the_folder_is_made_leave_a_finished_recording(tg, gate, tmp_path):
    code, _ = tg("run", gate, "--dump-tensor", "--dump-arena", "1G", "--device-memory", "64M",
                 "--output", "out")
    assert code == 2
    check_failed_recording(tg, tmp_path, "NO_MEMORY")
