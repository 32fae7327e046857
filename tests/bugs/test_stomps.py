# SPDX-License-Identifier: Apache-2.0
"""Who changed the bytes of a stomp: the scenes of tests/workloads/stomps. A task is named only where that is
proved, and no innocent task ever."""

import json

import pytest

from conftest import WORKLOADS
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


def test_a_task_that_writes_while_another_reads_is_named(case):
    if case.runtime not in EXPLICIT or GPU:
        pytest.skip("edges that are found cannot be forgotten, and GPUs reorder what the scene relies on")
    finding = suspects_of(case, "race", "--no-replay")
    first = finding["suspects"][0]
    assert (first["kernel"], first["writes"], first["place"]) == (["slow_writer"], True, "inside")
    assert first["races"] and not any(task["races"] for task in finding["suspects"][1:])
    assert (finding["culprit"]["kernel"], finding["culprit"]["evidence"]) == (["slow_writer"], "race")


def test_by_hashes_a_race_is_shown_and_names_nobody(case):
    """Which values a task left is not known then, and it may not have written yet."""
    if case.runtime not in EXPLICIT or GPU:
        pytest.skip("edges that are found cannot be forgotten, and GPUs reorder what the scene relies on")
    recording = case.record("stomps", "--case", "race", "--dump-tensor=hash")
    code, result = case.json("find", "stomp", recording)
    finding = result["findings"][0]
    assert code == 1 and finding["culprit"] is None
    assert (finding["suspects"][0]["kernel"], finding["suspects"][0]["races"]) == (["slow_writer"], True)


@pytest.mark.skipif(GPU, reason="a GPU cannot protect pages, so it does not see every stray write")
@pytest.mark.parametrize("scene", ["chain", "alone", "crowd"])
def test_a_replay_with_guards_names_the_one(case, scene):
    finding = suspects_of(case, scene)
    assert (finding["culprit"]["kernel"], finding["culprit"]["evidence"]) == (["stray"], "guards")
    first, *others = finding["suspects"]
    assert first["task_id"] == finding["culprit"]["task_id"] and first["replay"] == "convicts"
    assert "wrote memory that is not the argument's" in first["misuse"]
    assert all(task["replay"] == "clears" and task["misuse"] is None for task in others)


@pytest.mark.skipif(GPU, reason="a GPU cannot protect pages, so it does not see every stray write")
def test_of_two_that_write_the_same_bytes_none_is_the_one(case):
    finding = suspects_of(case, "twice")
    assert finding["culprit"] is None
    assert [(task["kernel"], task["replay"]) for task in finding["suspects"][:2]] == \
        [(["stray"], "convicts"), (["stray_before"], "convicts")]


@pytest.mark.skipif(GPU, reason="a GPU cannot protect pages, so it does not see every stray write")
def test_a_stray_write_that_is_not_seen_here_convicts_nobody(case):
    finding = suspects_of(case, "sneak")
    assert finding["culprit"] is None
    assert (finding["suspects"][0]["kernel"], finding["suspects"][0]["replay"]) == (["sneaks"], "strays")


def test_a_module_that_is_not_known_is_not_loaded(case, tmp_path):
    recording = case.own(case.record("stomps", "--case", "chain"))
    run = json.loads((recording / "run.json").read_text())
    module = tmp_path / "stranger.so"
    module.write_bytes((WORKLOADS / "stomps.so").read_bytes() + b"changed")
    (recording / "run.json").write_text(json.dumps({**run, "module": str(module)}))
    code, result = case.json("find", "stomp", recording)
    assert code == 1 and "loading it would run its code" in result["not_replayed"]
    assert all(task["replay"] is None for task in result["findings"][0]["suspects"])
    assert "note: no suspect was replayed: run.json names a module" in \
        case.tool("find", "stomp", recording).stdout


def test_without_payloads_the_answer_says_why_nothing_was_replayed(case):
    recording = case.record("stomps", "--case", "chain", "--dump-tensor=hash")
    code, result = case.json("find", "stomp", recording)
    assert code == 1 and result["not_replayed"].endswith("record with --dump-tensor=full")
    first = result["findings"][0]["suspects"][0]
    assert (first["place"], first["distance"]) == ("behind", 0), "the whole tensor counts"
