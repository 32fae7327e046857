# SPDX-License-Identifier: Apache-2.0
"""Recorded runs that are paused for longer than their limits, again and again, and then killed or left
to end. Whatever happens, the recording has everything that it claims to have, no pause becomes a HANG, and
no record is lost to a pause. TASKGLASS_KILLS sets how many runs, TASKGLASS_SEED which ones."""

import json
import os
import pathlib
import random
import shutil
import signal
import tempfile
import time

import pytest

from conftest import PLATFORMS, begun, workload
from platforms import simulators_only

KILLS = int(os.environ.get("TASKGLASS_KILLS", 1))
SEED = os.environ.get("TASKGLASS_SEED", "1")

# All limits are shorter than every pause. The arenas are small, so that the recorder has to wait often.
LIMIT, PAUSES = 0.3, (0.35, 0.5)
RECORDED = ("--dump-tensor", "--dump-arena", "16K", "--dump-buffers", 2, "--dump-wait", LIMIT, "--timeout",
            LIMIT, "--output", "out")
WORKLOADS = (("vector_add", "--case", "large", "--set", "n=1000000"),
             ("vector_add", "--case", "large", "--set", "n=2000000"),
             (workload("slow"), "--case", "chain", "--set", "ms=10", "--set", "n=40"),
             (workload("slow"), "--set", "ms=1", "--set", "n=1000"))
RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")


@pytest.fixture
def tmp_path():
    """In memory: a busy disk may keep a writer waiting for longer than these limits, which is no pause."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="taskglass_test_kills.", dir=place) as folder:
        yield pathlib.Path(folder)


class Round:
    """One run with the processes of host and device."""

    def __init__(self, start, directory, platform, chance):
        self.chance = chance
        self.program = start("run", *chance.choice(WORKLOADS), *RECORDED, "--platform", platform,
                             "--runtime", chance.choice(RUNTIMES))
        self.host, self.device = self.program.process.pid, self.program.device()
        if chance.random() < 0.7:
            begun(directory, 0.5)  # otherwise the round begins while the device opens or loads

    def send(self, number, who):
        """Does nothing once the host has ended: the device's number may belong to another process."""
        for pid in {"host": [self.host], "device": [self.device], "both": [self.device, self.host]}[who]:
            if pid is not None and self.program.process.poll() is None:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass

    def pause(self):
        who = self.chance.choice(("host", "device", "both"))
        self.send(signal.SIGSTOP, who)
        time.sleep(self.chance.uniform(*PAUSES))
        self.send(signal.SIGCONT, who)

    def play(self):
        """Returns who was killed, and the exit status and the message of the host."""
        for _ in range(self.chance.randint(1, 3)):
            time.sleep(self.chance.uniform(0, 0.1))
            self.pause()
        victim = self.chance.choice(("host", "device", "host", "device", None))
        if victim is not None:
            time.sleep(self.chance.uniform(0, 0.1))
            if self.chance.random() < 0.3:
                self.send(signal.SIGSTOP, self.chance.choice(("host", "device", "both")))
            self.send(signal.SIGKILL, victim)
            self.send(signal.SIGCONT, "both")
        return (victim, *self.program.end())


def lost_to_a_pause(directory):
    """Records that the recorder gave up: only a pause can be the reason."""
    report = json.loads((directory / "out" / "run.json").read_text())
    lost = (report.get("recorder") or {}).get("lost", {})
    return lost.get("gave_up", 0) + lost.get("full", 0)


@simulators_only
@pytest.mark.parametrize("platform", PLATFORMS)
def test_pauses_and_kills_lose_nothing_that_is_claimed(start, tg, tmp_path, platform):
    for number in range(KILLS):
        this = f"round {number}, seed {SEED}"
        played = Round(start, tmp_path, platform, random.Random(f"{SEED} {platform} {number}"))
        victim, code, said = played.play()
        assert "HANG" not in said, this
        assert code in {"host": (0, -signal.SIGKILL), "device": (0, 3), None: (0,)}[victim], (this, said)
        assert code != 3 or "DEVICE_LOST" in said, (this, said)
        assert played.program.left() == [], this
        if code >= 0 and (tmp_path / "out" / "run.json").exists():
            assert lost_to_a_pause(tmp_path) == 0, this
        if (tmp_path / "out" / "tensor_dump" / "tensor_dump.rec").exists():
            if code < 0:
                assert tg("recover", "out") == (0, ""), this
            assert tg("verify", "out") == (0, ""), this
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
