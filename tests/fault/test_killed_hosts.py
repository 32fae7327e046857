# SPDX-License-Identifier: Apache-2.0
"""Hosts that end in every way: no process and no file is left."""

import os
import pathlib
import random
import signal
import time

import pytest

from conftest import PLATFORMS, moment, rounds, workload
from platforms import FAR_LIMIT

SLOW = ("run", workload("slow"), "--set", "ms=1", "--set", "n=300000", "--cores", "6", "--output",
        "out")
SPIN = ("run", workload("faults"), "--case", "spin", *FAR_LIMIT, "--output", "out")


def files():
    """The temporary files of Taskglass, without those of other tests that run at the same time."""
    return {path for folder in ("/tmp", "/dev/shm", "/var/tmp")
            for path in pathlib.Path(folder).glob("*taskglass*")
            if not path.name.startswith("taskglass_test")}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_host_that_is_killed_at_any_moment_leaves_nothing(start, tmp_path, platform):
    moments = random.Random(platform)
    before = files()
    for i in range(rounds(40, 6)):
        program = start(*(SPIN if i % 3 == 0 else SLOW), "--platform", platform)
        time.sleep(moment(moments.uniform(0, 0.08)))
        program.process.kill()
        assert program.end()[0] == -signal.SIGKILL
        assert program.left() == []
        assert {path.name for path in tmp_path.iterdir()} <= {"out"}
    assert files() <= before


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_host_that_is_killed_says_nothing_more(start, platform):
    """The device shares standard error with the host and must print nothing there when it ends."""
    moments = random.Random(platform)
    for _ in range(rounds(20, 4)):
        program = start(*SLOW, "--platform", platform)
        time.sleep(moment(moments.uniform(0, 0.04)))
        program.process.kill()
        assert program.end() == (-signal.SIGKILL, "")


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_host_that_is_interrupted_ends_and_leaves_nothing(start, tmp_path, number, platform):
    moments = random.Random(int(number))
    before = files()
    for _ in range(rounds(8, 2)):
        program = start(*SLOW, "--platform", platform)
        program.device()
        time.sleep(moment(moments.uniform(0, 0.1)))
        program.process.send_signal(number)
        code, _ = program.end()
        assert code in (3, -number)
        assert program.left() == []
        assert {path.name for path in tmp_path.iterdir()} <= {"out"}
    assert files() <= before


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_second_interrupt_ends_a_host_whose_kernel_spins(start, platform):
    program = start(*SPIN, "--platform", platform)
    program.running()
    program.process.send_signal(signal.SIGINT)
    while program.process.poll() is None:  # two signals at the same time count as one
        time.sleep(0.2)
        program.process.send_signal(signal.SIGINT)
    code, _ = program.end()
    assert code == -signal.SIGINT
    assert program.left() == []


@pytest.mark.parametrize("platform", PLATFORMS)
def test_ctrl_c_of_the_whole_group_is_the_hosts_to_handle(start, platform):
    """A terminal sends SIGINT to every process of the group; the device must not die of it."""
    program = start(*SLOW, "--platform", platform, start_new_session=True)
    program.running()
    os.killpg(program.process.pid, signal.SIGINT)
    code, said = program.end()
    assert "DEVICE_LOST" not in said
    assert code in (3, -signal.SIGINT)
    assert program.left() == []


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_host_without_standard_error_runs(start, platform):
    program = start("run", workload("graphs"), "--case", "mixes", "--platform", platform,
                    "--output", "out", preexec_fn=lambda: os.close(2))
    assert program.end()[0] == 0


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_host_whose_parent_ignores_sigchld_runs_and_hears_of_faults(start, platform):
    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    program = start("run", workload("faults"), "--case", "abort", "--platform", platform,
                    "--output", "out", preexec_fn=ignore)
    code, said = program.end()
    assert code == 3
    assert said.startswith("taskglass: KERNEL_FAULT: task 3, kernel fault_abort")
