# SPDX-License-Identifier: Apache-2.0
"""The 32 lanes of a GPU's control warp do what a loop does."""

import os
import pathlib
import subprocess

import pytest

PROGRAM = pathlib.Path(os.environ.get("TASKGLASS_BUILD", "build")) / "tests/bin/lanes-gpu"


def test_lanes_do_what_a_loop_does():
    if os.environ.get("TASKGLASS_CUDA_DRIVER"):
        pytest.skip("a fake driver has no lanes")
    if not PROGRAM.exists():
        pytest.skip(f"there is no {PROGRAM}: no nvcc was found when the tests were built")
    done = subprocess.run([PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout
