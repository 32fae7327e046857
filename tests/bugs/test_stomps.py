# SPDX-License-Identifier: Apache-2.0
"""Who changed the bytes of a stomp: the scenes of tests/workloads/stomps. A task is named only where that is
proved, and no innocent task ever."""

import pytest

from platforms import GPU

EXPLICIT = ("host_build_graph", "aicpu_build_graph")


def suspects_of(case, scene, *options):
    """The one finding of a scene."""
    recording = case.record("stomps", "--case", scene)
    code, result = case.json("find", "stomp", recording, *options)
    assert code == 1 and result["found"] == 1
    return result["findings"][0]


def kernels(tasks):
    return [task["kernel"] for task in tasks]


@pytest.mark.parametrize("scene", ["chain", "sneak", "twice", "crowd"])
def test_by_the_regions_alone_nobody_is_named_where_several_can_have_done_it(case, scene):
    finding = suspects_of(case, scene, "--no-replay")
    assert finding["culprit"] is None
    assert any(name in (["stray"], ["sneaks"]) for name in kernels(finding["suspects"]))


def test_the_nearest_output_is_the_first_suspect(case):
    first = suspects_of(case, "chain", "--no-replay")["suspects"][0]
    assert (first["kernel"], first["arg_index"], first["place"], first["distance"]) == \
        (["stray"], 1, "behind", 12)


def test_a_task_without_tensors_is_a_suspect(case):
    suspects = suspects_of(case, "sneak", "--no-replay")["suspects"]
    sneaks = [task for task in suspects if task["kernel"] == ["sneaks"]]
    assert len(sneaks) == 1 and sneaks[0]["place"] is None and sneaks[0]["distance"] is None


def test_the_only_task_that_can_have_run_is_named(case):
    finding = suspects_of(case, "alone", "--no-replay")
    assert kernels(finding["suspects"]) == [["stray"]] and finding["suspects"][0]["given"]
    assert (finding["culprit"]["kernel"], finding["culprit"]["evidence"]) == (["stray"], "alone")
    text = case.tool("find", "stomp", case.record("stomps", "--case", "alone"), "--no-replay").stdout
    assert "stray: no other task can have run between the two records" in text


def test_nobody_is_named_where_some_arguments_were_not_recorded(case):
    recording = case.record("stomps", "--case", "alone", "--dump-filter", "arg=0")
    _, result = case.json("find", "stomp", recording, "--no-replay")
    assert [finding["culprit"] for finding in result["findings"]] == [None]


def test_a_task_that_writes_while_another_reads_is_the_first_suspect(case):
    if case.runtime not in EXPLICIT or GPU:
        pytest.skip("edges that are found cannot be forgotten, and GPUs reorder what the scene relies on")
    finding = suspects_of(case, "race", "--no-replay")
    first = finding["suspects"][0]
    assert (first["kernel"], first["writes"], first["place"]) == (["slow_writer"], True, "inside")
