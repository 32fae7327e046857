# SPDX-License-Identifier: Apache-2.0
"""kill -9 of device or host at any moment of a recorded run: what the recording claims is there, is
there. TASKGLASS_KILLS sets how often (default: few, for a suite that ends soon)."""

import json
import os
import random
import shutil
import signal
import time

import pytest

from conftest import PLATFORMS, SLOW_TO_OPEN, rounds

KILLS = int(os.environ.get("TASKGLASS_KILLS", rounds(12, 2)))

# Long enough to be killed in the middle: some 190 MiB through small arenas.
RECORDED = ("run", "vector_add", "--case", "large", "--set", "n=16000000", "--dump-tensor",
            "--output", "out")
LATEST = 1.5 if SLOW_TO_OPEN else 0.3  # seconds after the device's process has appeared


@pytest.fixture
def moments():
    return random.Random(int(os.environ.get("TASKGLASS_SEED", 1)))


def check_recording(tg):
    """Every payload is what its hash says, every counter what the records say."""
    assert tg("verify", "out") == (0, "")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_killed_device_leaves_a_recording_that_verifies(start, tg, tmp_path, moments, platform):
    for _ in range(KILLS):
        program = start(*RECORDED, "--platform", platform)
        device = program.device()
        time.sleep(moments.uniform(0, LATEST))
        if device is not None and program.process.poll() is None:
            os.kill(device, signal.SIGKILL)
        code, _ = program.end()
        assert code in (0, 3)  # 0: it was faster than we
        if not (tmp_path / "out" / "tensor_dump").exists():
            continue  # lost before there was anything to record
        check_recording(tg)
        recorder = json.loads((tmp_path / "out" / "run.json").read_text())["recorder"]
        if recorder is not None:
            lost = sum(recorder["lost"].values())
            assert recorder["attempted"] == recorder["recorded"] + lost
        shutil.rmtree(tmp_path / "out")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_killed_host_leaves_a_recording_that_recovers_and_verifies(start, tg, tmp_path, moments,
                                                                     platform):
    for _ in range(KILLS):
        program = start(*RECORDED, "--platform", platform)
        program.device()
        time.sleep(moments.uniform(0, LATEST))
        program.process.kill()
        program.end()
        assert program.left() == []
        if not (tmp_path / "out" / "tensor_dump" / "tensor_dump.rec").exists():
            continue  # killed before it had begun
        code, said = tg("recover", "out")
        assert (code, said) == (0, "")
        check_recording(tg)
        shutil.rmtree(tmp_path / "out")
