# SPDX-License-Identifier: Apache-2.0
"""Values that an orchestration reads back (tg_read_*) are recorded with the task they came from."""

import json

import pytest

import wire_reader
from conftest import PLATFORMS, workload

BUILDERS = ("aicpu_build_graph", "tensormap_and_ringbuffer")
NO_TASK = 2 ** 64 - 1


def record(tg, *options, program="moe", case="small", output="out"):
    tg.good("run", program, "--case", case, "--output", output, *options)
    recording = wire_reader.Recording(tg.directory / output / "tensor_dump")
    assert wire_reader.problems(recording) == []
    return recording


def reads_of(recording):
    return [one for one in recording.arguments if int(one["flags"]) & wire_reader.READ]


def output_of(recording, task, argument):
    """The record of an output, which holds the values that were read."""
    found = [one for one in recording.arguments
             if one["task_id"] == task and one["arg_index"] == argument and one["stage"] == 1]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("runtime", BUILDERS)
def test_a_value_comes_with_the_task_and_the_argument_that_it_was_written_through(
        tg, platform, runtime):
    recording = record(tg, "--platform", platform, "--runtime", runtime, "--dump-tensor=full")
    reads = reads_of(recording)
    assert len(reads) == 8  # two layers read a count for each of four experts
    for one in reads:
        names = [recording.kernels[n] for n in one["kernel"] if n != wire_reader.NO_KERNEL]
        assert names == ["moe_route"]
        output = output_of(recording, one["task_id"], one["arg_index"])
        assert output["data_ptr"] == one["data_ptr"]
        values = recording.values(output).reshape(-1)
        assert int(one["value"]) == values[int(one["start"]) - int(output["start"])]


def test_reads_are_counted_in_the_order_in_which_they_happened(tg):
    reads = reads_of(record(tg, "--runtime", BUILDERS[1], "--dump-tensor=meta"))
    assert [int(one["sequence"]) for one in reads] == list(range(8))
    assert [int(one["start"]) for one in reads] == list(range(8))


@pytest.mark.parametrize("level", wire_reader.LEVELS[1:])
def test_every_level_has_them(tg, level):
    assert len(reads_of(record(tg, "--runtime", BUILDERS[0], f"--dump-tensor={level}"))) == 8


def test_filters_select_them_by_stage_task_and_kernel(tg):
    def count(text, output):
        return len(reads_of(record(tg, "--runtime", BUILDERS[0], "--dump-tensor=meta",
                                   "--dump-filter", text, output=output)))
    assert count("stage=orchestration", "a") == 8
    assert count("kernel=moe_route", "b") == 8
    assert count("task=1", "c") == 4
    assert count("kernel=moe_route,stage=before", "d") == 0


def test_the_last_of_several_writers_is_named(tg):
    """Each task adds to the same element, and the orchestration reads it after each."""
    recording = record(tg, "--runtime", BUILDERS[1], "--dump-tensor=full",
                       program=workload("rings"), case="read")
    reads = reads_of(recording)
    assert reads
    for one in reads:
        assert one["task_id"] != NO_TASK
        output = output_of(recording, one["task_id"], one["arg_index"])
        assert recording.values(output).reshape(-1)[0] == int(one["value"])


def test_view_and_the_manifest_show_them(tg):
    record(tg, "--runtime", BUILDERS[0], "--dump-tensor=meta")
    manifest = json.loads((tg.directory / "out/tensor_dump/tensor_dump.json").read_text())
    entries = [one for one in manifest["tensors"] if one.get("read")]
    shown = [one for one in tg.json("view", "out")["records"] if one.get("read")]
    assert len(entries) == len(shown) == 8
    for entry, one in zip(entries, shown):
        assert one["task_id"] == entry["task_id"] != hex(NO_TASK)
        assert (one["value"], one["arg_index"]) == (entry["value"], entry["arg_index"])
    table = tg.good("view", "out", "--stage", "orchestration").stdout
    assert table.count(" read ") == 8
    text = tg.good("view", "out", "--index", shown[0]["index"]).stdout
    assert "read by the orchestration" in text and "moe_route" in text


def test_a_manifest_alone_keeps_them(tg):
    record(tg, "--runtime", BUILDERS[0], "--dump-tensor=full")
    before = tg.json("view", "out")["records"]
    (tg.directory / "out/tensor_dump/tensor_dump.rec").unlink()
    assert tg.json("view", "out")["records"] == before


def test_a_read_is_no_argument_of_the_task_it_came_from(tg):
    record(tg, "--runtime", BUILDERS[0], "--dump-tensor=full", output="a")
    record(tg, "--runtime", BUILDERS[1], "--dump-tensor=full", output="b")
    assert tg.json("diff", "a", "b")["result"] == "equal"
