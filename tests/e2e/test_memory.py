# SPDX-License-Identifier: Apache-2.0
"""A tensor may be larger than the memory: no verb keeps the pages that it has read."""

import os
import shutil
import subprocess

import numpy
import pytest

from conftest import BUILD, PROGRAM, clean_environment
from recordings import Recording

SIZE = 512 << 20
MOST = 300 << 20

pytestmark = pytest.mark.skipif(
    "TASKGLASS_SANITIZE:STRING=\n" not in (BUILD / "CMakeCache.txt").read_text(),
    reason="a sanitizer takes memory of its own")

# What each ends with: 1 if it finds a difference, 2 if the recording cannot prove what it shows.
VERBS = [
    (0, ["stats", "run"]),
    (0, ["view", "run", "--index", "0"]),
    (0, ["find", "nan", "run"]),
    (0, ["find", "constant", "run"]),
    (2, ["find", "unwritten", "run"]),
    (1, ["verify", "hashed"]),
    (1, ["diff", "run", "other"]),
    (1, ["check", "run", "--index", "0", "--against", "golden.npy"]),
    (0, ["export", "run", "--index", "0", "--output", "x.npy"]),
    (0, ["export", "run", "--index", "0", "--output", "x.npz"]),
    (0, ["export", "run", "--index", "0", "--output", "x.safetensors"]),
    (0, ["export", "run", "--output", "x.simpler"]),
]


def write(folder, last, **fields):
    """Two records of one giant payload, which is a hole up to its last element."""
    recording = Recording(folder)
    whole = {"dtype": "float64", "shape": [SIZE // 8], "strides": [1], "bin_size": SIZE,
             "data_ptr": "0x0000000000010000", **fields}
    recording.add(**whole)
    recording.add(**whole, role="output", stage="after_completion")
    payload = recording.write(payload_bytes=SIZE) / "tensor_dump.bin"
    with payload.open("r+b") as file:
        file.seek(SIZE - 8)
        file.write(numpy.float64(last).tobytes())


@pytest.fixture(scope="module")
def giants(tmp_path_factory):
    folder = tmp_path_factory.mktemp("giants")
    write(folder / "run", 0)
    write(folder / "other", 1)
    write(folder / "hashed", 1, hash="0x0123456789abcdef")
    golden = numpy.lib.format.open_memmap(folder / "golden.npy", "w+", "<f8", (SIZE // 8,))
    golden[-1] = 2
    return folder


@pytest.mark.parametrize("code, words", VERBS, ids=[" ".join(words) for _, words in VERBS])
def test_a_giant_tensor_does_not_stay_in_memory(giants, code, words):
    child = subprocess.Popen([PROGRAM, *words], cwd=giants, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, env=clean_environment())
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    for made in giants.glob("x.*"):
        shutil.rmtree(made) if made.is_dir() else made.unlink()
    assert child.returncode == code
    assert used.ru_maxrss * 1024 < MOST
