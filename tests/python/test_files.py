# SPDX-License-Identifier: Apache-2.0
"""Files in place of those of a recording that would block, never end, or shrink while they are read."""

import os
import pathlib

import numpy
import pytest
import taskglass
from recordings import Recording as Writer

PAGE = 4096


@pytest.fixture
def payload(tmp_path):
    """The payload file of the recording "run", of one tensor of several pages."""
    writer = Writer(tmp_path / "run")
    writer.add_tensor("float32", numpy.ones(8 * PAGE, "<f4"))
    return writer.write() / "tensor_dump.bin"


@pytest.mark.parametrize("name", ["run.json", "deps.json"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path),
                                  lambda path: os.symlink("loop", path)],
                         ids=["fifo", "folder", "device", "broken link"])
def test_what_is_no_file_is_refused(payload, name, make):
    make(f"run/{name}")
    with taskglass.Recording("run") as recording:
        if os.path.exists(f"run/{name}"):
            with pytest.raises(taskglass.IoError, match="not a regular file"):
                getattr(recording, name.split(".")[0])
        else:
            assert getattr(recording, name.split(".")[0]) is None


def test_a_giant_is_refused(payload):
    for name in ("run.json", "deps.json"):
        pathlib.Path(f"run/{name}").touch()
        os.truncate(f"run/{name}", 20 << 30)
    with taskglass.Recording("run") as recording:
        with pytest.raises(taskglass.IoError, match="run.json.*too large"):
            recording.run
        with pytest.raises(taskglass.IoError, match="deps.json.*too large"):
            recording.deps


def test_an_array_outlives_the_bytes_of_its_file(payload):
    with taskglass.Recording("run") as recording:
        array = recording[0].array()
    os.truncate(payload, PAGE)
    assert array[:PAGE // 4].all() and not array[PAGE // 4:].any()


def test_a_file_that_shrank_is_an_exception(payload):
    with taskglass.Recording("run") as recording:
        recording.check_files()
        record = recording[0]
        os.truncate(payload, PAGE)
        for ask in (recording.check_files, recording.verify, record.array, record.raw,
                    record.statistics, lambda: recording.export("x.npz")):
            with pytest.raises(taskglass.IoError, match="tensor_dump.bin' became shorter"):
                ask()
    assert not os.path.exists("x.npz")


def test_a_file_that_grows_changes_nothing(payload):
    with taskglass.Recording("run") as recording:
        os.truncate(payload, 100 * PAGE)
        recording.check_files()
        assert recording[0].array().all()
