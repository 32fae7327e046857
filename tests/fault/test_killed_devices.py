# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the device at any moment: DEVICE_LOST within a second, exit 3, next run fine."""

import os
import random
import signal
import time

import pytest

from conftest import GPU, PLATFORMS, SLOW_TO_OPEN, check_next_run, moment, rounds, workload
from platforms import AT_ONCE, FAR_LIMIT

# A run that lasts longer than the test.
LONG = ("run", workload("slow"), "--set", "ms=1", "--set", "n=300000", "--cores", "6", "--output",
        "out")
# The causes that the host may report. If it was copying from or to a GPU, it reports the GPU's memory.
CAUSES = ["killed by signal 9"] + (["the GPU's memory is lost with it"] if GPU else [])
# The second within which the host must report the loss, and more for a busy machine; still far below
# the --timeout.
SOON = 10 if SLOW_TO_OPEN else 5


def kill_after(start, platform, seconds):
    """Kills the device `seconds` after it has appeared. Returns exit status, stderr, and how many seconds
    the host took to end."""
    program = start(*LONG, *FAR_LIMIT, "--platform", platform)
    device = program.device()
    assert device is not None
    time.sleep(seconds)
    os.kill(device, signal.SIGKILL)
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
        assert any(cause in said for cause in CAUSES)
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
