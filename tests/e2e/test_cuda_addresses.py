# SPDX-License-Identifier: Apache-2.0
"""Where a GPU's memory lies among the host's addresses, on the fake CUDA driver (tests/gpu/driver)."""

import os
import pathlib
import subprocess
import sys

import pytest

from conftest import BUILD

DRIVER = BUILD / "tests" / "driver" / "libcuda.so.1"
pytestmark = pytest.mark.skipif(not DRIVER.exists(), reason="built without the driver for tests")

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The host has memory just where the driver puts the GPU's in the first process that asks for some.
CODE = """
import ctypes, os, sys
import taskglass

at, size = 0x300000000000, 64 << 20
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [
    ctypes.c_long]
WRITABLE, PRIVATE_ANONYMOUS_THERE = 3, 0x100022
assert libc.mmap(at, size, WRITABLE, PRIVATE_ANONYMOUS_THERE, -1, 0) == at
with open(os.environ["TASKGLASS_FAKE_CUDA_PLACE"], "w") as file:
    file.write(f"{at:x}")
with taskglass.Device("cuda", cores=3, memory=size, config=taskglass.Config(sandbox="off")):
    kept = [line.split()[0] for line in open("/proc/self/maps") if line.split()[1] == "---p"]
spans = [[int(end, 16) for end in line.split("-")] for line in kept]
assert any(first >= 0x200000000000 and end <= at and end - first == size for first, end in spans), kept
assert not os.path.exists(os.environ["TASKGLASS_FAKE_CUDA_PLACE"])
"""


def test_a_gpu_whose_memory_lies_where_the_host_has_some_is_opened_again(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CODE], stderr=subprocess.PIPE, text=True, timeout=600,
        env={**os.environ, "TASKGLASS_CUDA_DRIVER": str(DRIVER), "PYTHONPATH": str(ROOT / "bindings" / "python"),
             "TASKGLASS_LIBRARY": str(BUILD / "lib" / "libtaskglass.so"),
             "TASKGLASS_FAKE_CUDA_PLACE": str(tmp_path / "place")})
    assert (done.returncode, done.stderr) == (0, "")
