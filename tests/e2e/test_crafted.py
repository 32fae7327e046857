# SPDX-License-Identifier: Apache-2.0
"""Some of the crafted recordings (tests/crafted) through every verb; `make soak` runs all of them."""

import pathlib
import random
import sys

import pytest

from conftest import BUILD

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "crafted"))
import craft  # noqa: E402
import run as crafted  # noqa: E402

# The others that this test runs are chosen by a fixed seed.
ALWAYS = ["run.json: a FIFO", "tensor_dump/tensor_dump.bin: 8 TiB of holes behind it",
          "every tensor: the address wraps", 'run.json: module = "/dev/zero"',
          "head byte 0 flipped"]
MORE = 3


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    sanitized = "TASKGLASS_SANITIZE:STRING=\n" not in (BUILD / "CMakeCache.txt").read_text()
    memory = 0 if sanitized else crafted.MEMORY
    return crafted.Runner(BUILD, tmp_path_factory.mktemp("good"), memory).prepare()


def test_there_are_more_than_a_thousand(runner):
    names = [name for name, _ in craft.crafts(runner.good / "run")]
    assert len(names) > 1000 and len(names) == len(set(names))


def test_no_crafted_recording_harms_a_verb(runner, tmp_path):
    changes = dict(craft.crafts(runner.good / "run"))
    names = ALWAYS + random.Random(14).sample(sorted(changes), MORE)
    failed = []
    for number, name in enumerate(names):
        folder = tmp_path / f"outer{number}" / "craft"
        folder.mkdir(parents=True)
        failed += [(name, *wrong) for wrong in runner.craft(name, changes[name], folder)]
    assert failed == []
