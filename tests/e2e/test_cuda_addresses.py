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

# A host whose memory lies at `at`: take() puts it there. The fake driver puts the GPU's memory there too, in the first
# process that asks for some, if that process finds the address free.
HOST = """
import ctypes, os, sys, threading, time
import taskglass

at, size = 0x300000000000, 64 << 20
place = os.environ["TASKGLASS_FAKE_CUDA_PLACE"]
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [
    ctypes.c_long]

def take():
    WRITABLE, PRIVATE_ANONYMOUS_THERE = 3, 0x100022
    assert libc.mmap(at, size, WRITABLE, PRIVATE_ANONYMOUS_THERE, -1, 0) == at

def gpu_memory():
    "The addresses that the host keeps unused because the GPU's memory is there, while the device is open."
    with taskglass.Device("cuda", cores=3, memory=size, config=taskglass.Config(sandbox="off")):
        kept = [line.split()[0] for line in open("/proc/self/maps") if line.split()[1] == "---p"]
    spans = [[int(end, 16) for end in line.split("-")] for line in kept]
    return [(first, end) for first, end in spans if end - first >= size]

with open(place, "w") as file:
    file.write(f"{at:x}")
"""

BEFORE = """
take()
kept = gpu_memory()
assert not os.path.exists(place) and not os.path.exists(place + ".used"), "the first process was to go elsewhere"
assert any(end - first == size for first, end in kept), kept
"""

MEANWHILE = """
def take_later():
    while not os.path.exists(place + ".used"):
        time.sleep(0.001)
    take()
    os.unlink(place + ".used")

other = threading.Thread(target=take_later)
other.start()
kept = gpu_memory()
other.join()
assert any(0x200000000000 <= first < end <= at and end - first == size for first, end in kept), kept
"""


def run(code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", HOST + code], stderr=subprocess.PIPE, text=True, timeout=600,
        env={**os.environ, "TASKGLASS_CUDA_DRIVER": str(DRIVER), "PYTHONPATH": str(ROOT / "bindings" / "python"),
             "TASKGLASS_LIBRARY": str(BUILD / "lib" / "libtaskglass.so"),
             "TASKGLASS_FAKE_CUDA_PLACE": str(tmp_path / "place")})
    assert (done.returncode, done.stderr) == (0, "")


def test_a_gpus_memory_is_not_where_the_host_has_some(tmp_path):
    run(BEFORE, tmp_path)


def test_a_gpu_is_opened_again_if_the_host_has_taken_the_addresses_meanwhile(tmp_path):
    run(MEANWHILE, tmp_path)
