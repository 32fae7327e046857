# SPDX-License-Identifier: Apache-2.0
"""taskglass/math.h keeps its bounds on a GPU: on every float32, and on the hard cases of float64."""

import os
import pathlib
import subprocess

import pytest

PROGRAM = pathlib.Path(os.environ.get("TASKGLASS_BUILD", "build")) / "tests/bin/math-gpu"


def test_math_keeps_its_bounds():
    if os.environ.get("TASKGLASS_CUDA_DRIVER"):
        pytest.skip("a fake driver computes nothing")
    if not PROGRAM.exists():
        pytest.skip(f"there is no {PROGRAM}: no nvcc was found when the tests were built")
    done = subprocess.run([PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("largest error") == 28, done.stdout
