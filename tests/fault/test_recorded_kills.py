# SPDX-License-Identifier: Apache-2.0
"""kill -9 of device or host at any moment of a recorded run: the recording contains everything that it
claims to contain. TASKGLASS_KILLS sets how often (default: a few times, to keep the suite short)."""

import contextlib
import json
import os
import random
import shutil
import signal
import time

import pytest

from conftest import PLATFORMS, SLOW_TO_OPEN, begun, rounds

KILLS = int(os.environ.get("TASKGLASS_KILLS", rounds(12, 3)))

# Long enough to be killed in the middle: it records about 190 MiB through small arenas.
RECORDED = ("run", "vector_add", "--case", "large", "--set", "n=16000000", "--dump-tensor",
            "--output", "out")


class Moments:
    """When to kill: some time after the device's process has appeared, or, if opening the device takes
    longest, some time after the first records were written."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.latest = 0.1 if SLOW_TO_OPEN else 0.3
        self.hits = 0

    def wait(self, program, directory):
        """Waits for the moment to kill. Returns the device's process, or None."""
        if SLOW_TO_OPEN:
            assert begun(directory)
        device = program.device()  # not before: a GPU may be opened twice
        time.sleep(self.random.uniform(0, self.latest))
        return device

    def rounds(self):
        """KILLS rounds, and more if devices open slowly and no kill has hit a recording yet."""
        for n in range(10 * KILLS):
            if n >= KILLS and (self.hits > 0 or not SLOW_TO_OPEN):
                break
            yield n

    def saw(self, hit, recorded):
        """If the run had ended before the kill, the next kill comes earlier."""
        self.hits += hit and recorded
        if SLOW_TO_OPEN and not hit:
            self.latest /= 4


@pytest.fixture
def moments():
    return Moments(int(os.environ.get("TASKGLASS_SEED", 1)))


def check_recording(tg):
    """Every payload matches its hash, and every counter matches the records."""
    assert tg("verify", "out") == (0, "")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_killed_device_leaves_a_recording_that_verifies(start, tg, tmp_path, moments, platform):
    for _ in moments.rounds():
        program = start(*RECORDED, "--platform", platform)
        device = moments.wait(program, tmp_path)
        if device is not None and program.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(device, signal.SIGKILL)
        code, _ = program.end()
        assert code in (0, 3)  # 0: the run ended before the kill
        recorded = (tmp_path / "out" / "tensor_dump").exists()  # or the kill came before
        moments.saw(code == 3, recorded)
        if recorded:
            check_recording(tg)
            recorder = json.loads((tmp_path / "out" / "run.json").read_text())["recorder"]
            if recorder is not None:
                lost = sum(recorder["lost"].values())
                assert recorder["attempted"] == recorder["recorded"] + lost
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
    assert moments.hits > 0 or not SLOW_TO_OPEN  # otherwise a hit is a matter of luck


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_killed_host_leaves_a_recording_that_recovers_and_verifies(start, tg, tmp_path, moments,
                                                                     platform):
    for _ in moments.rounds():
        program = start(*RECORDED, "--platform", platform)
        moments.wait(program, tmp_path)
        program.process.kill()
        code, _ = program.end()
        assert program.left() == []
        recorded = (tmp_path / "out" / "tensor_dump" / "tensor_dump.rec").exists()
        moments.saw(code == -signal.SIGKILL, recorded)
        if recorded:
            assert tg("recover", "out") == (0, "")
            check_recording(tg)
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
    assert moments.hits > 0 or not SLOW_TO_OPEN  # otherwise a hit is a matter of luck
