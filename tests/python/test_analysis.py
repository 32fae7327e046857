# SPDX-License-Identifier: Apache-2.0
"""taskglass.diff: compares two recordings."""

import pytest
import taskglass
from conftest import TEST_WORKLOADS


def recorded(tmp_path, bug, **config):
    return taskglass.run(str(TEST_WORKLOADS / f"bugs_{bug}.so"), dump_tensor="full",
                         output=str(tmp_path / bug), **config)


def test_equal_recordings_are_equal(tmp_path):
    for name in ("a", "b"):
        taskglass.run("matmul_chain", dump_tensor="full", output=str(tmp_path / name))
    result = taskglass.diff(tmp_path / "a", tmp_path / "b")
    assert result and result.result == "equal" and result.pairs == [] and result.blame == []


def test_the_task_that_began_it_is_named(tmp_path):
    recorded(tmp_path, "off_by_one", runtime="tensormap_and_ringbuffer")
    recorded(tmp_path, "none")
    with taskglass.Recording(tmp_path / "off_by_one") as bad:
        result = taskglass.diff(bad, tmp_path / "none")
    assert not result and result.counts["differs"] > 0
    (suspect,) = result.blame
    assert (suspect.guilt, suspect.kernel) == ("introduced", "window")
    assert suspect.path[0] == suspect.task_a
    assert any(pair.kernel == ["window"] and pair.mismatches == 1 for pair in result.pairs)


def test_tolerances_decide(tmp_path):
    recorded(tmp_path, "order_drift")
    recorded(tmp_path, "none")
    assert taskglass.diff(tmp_path / "order_drift", tmp_path / "none")
    assert not taskglass.diff(tmp_path / "order_drift", tmp_path / "none", atol=0, rtol=0)


def test_what_is_no_recording_is_said(tmp_path):
    with pytest.raises(taskglass.NotFound, match="nowhere"):
        taskglass.diff(tmp_path / "nowhere", tmp_path / "nowhere")


def test_what_nothing_is_known_about_is_neither_equal_nor_an_error(tmp_path):
    for name in ("a", "b"):
        taskglass.run("vector_add", dump_tensor="meta", output=str(tmp_path / name))
    result = taskglass.diff(tmp_path / "a", tmp_path / "b")
    assert result.result == "not known" and not result and "level meta" in result.json["reason"]


def test_filters_choose_what_is_compared(tmp_path):
    recorded(tmp_path, "off_by_one")
    recorded(tmp_path, "none")
    result = taskglass.diff(tmp_path / "off_by_one", tmp_path / "none", stage="after", limit=1)
    assert result.result == "differs" and len(result.pairs) == 1
    assert taskglass.diff(tmp_path / "off_by_one", tmp_path / "none", fail_fast=True).pairs
    with pytest.raises(taskglass.Error, match="middle"):
        taskglass.diff(tmp_path / "off_by_one", tmp_path / "none", stage="middle")
