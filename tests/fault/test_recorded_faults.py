# SPDX-License-Identifier: Apache-2.0
"""Recorded runs that fail: the recording has everything up to the failure, the run counts and reports
what was lost, and the results of the graph are the same as without a recording."""

import json
import pathlib
import subprocess

import pytest

from conftest import PLATFORMS, SANITIZED, workload
from platforms import is_in_task_3, limits_for, until

DUMP = pathlib.Path("out", "tensor_dump")


def manifest(directory):
    return json.loads((directory / DUMP / "tensor_dump.json").read_text())


def recorder(directory):
    return json.loads((directory / "out" / "run.json").read_text())["recorder"]


def records_of(directory, task):
    return [(entry["stage"], entry["role"], entry.get("partial", False))
            for entry in manifest(directory)["tensors"] if int(entry["task_id"], 16) == task]


def check_account(directory):
    """Every record that was attempted is in the journal or lost for a cause."""
    counters = recorder(directory)
    assert counters["attempted"] == counters["recorded"] + sum(counters["lost"].values())
    return counters


@pytest.mark.skipif(SANITIZED, reason="sanitizers report the crash themselves")
@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_inputs_of_a_kernel_that_crashed_are_recorded(tg, tmp_path, platform):
    code, said = tg("run", workload("faults"), "--case", "null", "--dump-tensor", "--platform",
                    platform, "--output", "out")
    assert code == 3 and "KERNEL_FAULT" in said
    assert records_of(tmp_path, 2) == [("before_dispatch", "inout", False),
                                       ("after_completion", "inout", False)]
    assert records_of(tmp_path, 3) == [("before_dispatch", "inout", False)]
    check_account(tmp_path)
    assert tg("verify", "out") == (0, "")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_hang_leaves_inputs_and_partial_outputs_of_the_running_task(tg, tmp_path, platform):
    code, said = until(lambda end: is_in_task_3(end[1]), lambda limit: tg(
        "run", workload("faults"), "--case", "spin", "--timeout", limit, "--dump-tensor",
        "--platform", platform, "--output", "out"), limits_for("HANG", 1))
    assert code == 3 and "HANG" in said
    assert records_of(tmp_path, 3) == [("before_dispatch", "inout", False),
                                       ("after_completion", "inout", True)]
    check_account(tmp_path)
    assert tg("verify", "out") == (0, "")


LARGE = ("run", "vector_add", "--case", "large", "--set", "n=8000000", "--dump-tensor", "--output",
         "out")


def test_a_full_disk_loses_records_but_not_the_result(tg, tmp_path):
    (tmp_path / "out").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tmp_path / "out")]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no right to mount a small file system")
    try:
        code, said = tg(*LARGE)
        assert "No space left on device" in said and "records lost" in said
        assert code == 0 and len(said.splitlines()) == 1
        assert tg("verify", "out") == (0, "")
    finally:
        subprocess.run(["umount", str(tmp_path / "out")], check=True)


def test_a_recording_that_cannot_be_made_is_an_error_before_the_run(tg, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / DUMP).write_text("in the way")
    code, said = tg(*LARGE)
    assert code == 2 and len(said.splitlines()) == 1
    assert "tensor_dump" in said


def test_a_manifest_that_cannot_be_renamed_is_said_and_the_journal_stays(tg, tmp_path):
    (tmp_path / DUMP / "tensor_dump.json" / "x").mkdir(parents=True)
    code, said = tg("run", "vector_add", "--dump-tensor", "--output", "out")
    assert code in (0, 2)
    assert "tensor_dump.json" in said
    if code == 0:
        (tmp_path / DUMP / "tensor_dump.json" / "x").rmdir()
        (tmp_path / DUMP / "tensor_dump.json").rmdir()
        assert tg("recover", "out") == (0, "")
        assert tg("verify", "out") == (0, "")
