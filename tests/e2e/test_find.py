# SPDX-License-Identifier: Apache-2.0
"""taskglass find: where NaN, overflow, stray writes and the like come from."""

import json

import numpy
import pytest

from conftest import PLATFORMS, one_line, workload
from platforms import few
from recordings import PEER_RECORDINGS, Recording, peer

RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
WHAT = ("nan", "inf", "overflow", "constant", "unwritten", "stomp")


def record(tg, case, *arguments, output="run"):
    """A run of the workload that makes the mistake of that name in its task 2."""
    level = [] if any(str(argument).startswith("--dump") for argument in arguments) \
        else ["--dump-tensor"]
    result = tg("run", workload("mistakes"), "--case", case, "--output", output, *level, *arguments)
    assert result.returncode == (0 if case == "none" else 1), result
    return output


def find(tg, what, *arguments, code=1):
    result = tg("find", what, *arguments, "--json")
    assert (result.returncode, result.stderr) == (code, ""), result
    return json.loads(result.stdout)


@pytest.mark.parametrize("what", WHAT)
def test_a_run_without_a_mistake_has_nothing(tg, what):
    record(tg, "none")
    document = find(tg, what, "run", code=0)
    assert document["found"] == 0 and document["findings"] == [] and document["looked_at"] > 0
    assert "nothing found" in tg.good("find", what, "run").stdout


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("what, case", few([("nan", "nan"), ("inf", "overflow"),
                                            ("overflow", "overflow"), ("constant", "constant")], 2))
def test_a_mistake_is_traced_to_the_task_that_made_it(tg, platform, runtime, what, case):
    record(tg, case, "--platform", platform, "--runtime", runtime)
    # A constant output is a fact, which accuses nobody.
    document = find(tg, what, "run", code=0 if what == "constant" else 1)
    assert document["result"] == ("listed" if what == "constant" else "found")
    first = document["findings"][0]
    assert document["order"] == "time"
    assert (first["trace"], first["kernel"], first["stage"]) == \
        ("origin", ["step"], "after_completion")
    assert first["task_id"].endswith("00000002")
    assert {finding["trace"] for finding in document["findings"][1:]} <= {"inherited"}
    given = first["inputs"][0]
    assert given["count"] == 0 and given["from_task"].endswith("00000001")


def test_the_path_to_a_finding_is_shown_as_text(tg):
    record(tg, "nan")
    text = tg("find", "nan", "run").stdout
    assert "began here: task 2 step, record 11, after, out arg 1, float32 (8,): 1 NaN, " \
           "the first at [2]" in text
    assert "fed by      record 9, before, in arg 0, float32 (8,): clean; from task 1 step, " \
           "record 8" in text
    assert text.count("inherited: ") == 2


def test_the_newest_recording_is_meant_where_none_is_named(tg):
    tg("run", workload("mistakes"), "--case", "nan", "--dump-tensor")
    assert find(tg, "nan")["found"] == 3


@pytest.mark.parametrize("level", ["full", "hash"])
def test_an_output_that_looks_unwritten_is_possible(tg, level):
    record(tg, "unwritten", f"--dump-tensor={level}")
    document = find(tg, "unwritten", "run", code=2)
    assert (document["result"], document["found"], document["possible"]) == ("possible", 1, 1)
    finding = document["findings"][0]
    assert (finding["task_id"], finding["sign"]) == ("0x0000000000000002", "zero")
    assert not finding["proved"] and document["reason"].endswith(" --poison")
    assert "it is all zero" in tg("find", "unwritten", "run").stdout


@pytest.mark.parametrize("level", ["full", "hash"])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_stray_write_is_found_between_two_records(tg, level, runtime):
    record(tg, "stomp", f"--dump-tensor={level}", "--runtime", runtime)
    document = find(tg, "stomp", "run")
    assert document["found"] == 1
    finding = document["findings"][0]
    assert finding["kernel"] == ["join"] and finding["arg_index"] == 0
    # Task 1 read the bytes before its kernel ran, so task 1 itself may have changed them.
    assert [task["task_id"][-1] for task in finding["between"]] == ["1", "2", "3"]
    assert finding["first"] == ([4] if level == "full" else None)
    text = tg("find", "stomp", "run").stdout
    assert "between     task " in text and "written by  record " in text


def test_without_times_tasks_go_by_their_dependencies(tg):
    record(tg, "stomp")
    (tg.directory / "run" / "tensor_dump" / "tensor_dump.rec").unlink()
    document = find(tg, "stomp", "run")
    assert document["order"] == "dependencies" and document["found"] == 1
    (tg.directory / "run" / "deps.json").unlink()
    assert find(tg, "stomp", "run")["order"] == "task id"


def test_a_value_that_came_from_outside_is_reported_as_given(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    nan = numpy.float32([1, numpy.nan])
    recording.add_tensor("float32", nan, task_id="0x0", data_ptr="0x1000")
    recording.add_tensor("float32", nan, task_id="0x0", data_ptr="0x2000", arg_index=1,
                         role="output", stage="after_completion")
    recording.add_scalar("float32", "NaN", task_id="0x0", arg_index=2)
    recording.write()
    traces = [(finding["record"], finding["trace"]) for finding in find(tg, "nan", "run")["findings"]]
    assert traces == [(2, "given"), (0, "given"), (1, "inherited")]
    assert "came in here" in tg("find", "nan", "run").stdout


def test_inputs_that_were_not_recorded_leave_it_open(tg):
    record(tg, "nan", "--dump-tensor", "--dump-filter", "role=out")
    assert [finding["trace"] for finding in find(tg, "nan", "run")["findings"]] == ["unclear"] * 3
    assert "unknown origin" in tg("find", "nan", "run").stdout


@pytest.mark.parametrize("filters, count", [
    (["--task", "2"], 1), (["--kernel", "join"], 1), (["--stage", "before"], 0),
    (["--index", "11,17"], 2), (["--role", "out"], 3)])
def test_filters_say_what_is_shown(tg, filters, count):
    record(tg, "nan")
    assert find(tg, "nan", "run", *filters, code=1 if count else 0)["found"] == count


@pytest.mark.parametrize("what", WHAT)
def test_filters_that_select_no_record_find_nothing_out(tg, what):
    record(tg, "none")
    document = find(tg, what, "run", "--task", "999", code=2)
    assert document["result"] == "not known" and document["reason"] == "no record matches the filters"
    assert "no record matches" in tg("find", what, "run", "--kernel", "nobody").stderr


def test_a_comparison_that_had_nothing_to_compare_says_so(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    text = tg.good("find", "stomp", "run").stdout
    assert "nothing found in what was searched" in text and "no tensor was recorded twice" in text


@pytest.mark.parametrize("level", ["hybrid", "marked"])
def test_where_no_record_could_be_searched_nothing_is_known(tg, level):
    tg.good("run", "dump_tensor", f"--dump-tensor={level}", "--output", "run")
    document = find(tg, "stomp", "run", code=2)
    assert document["result"] == "not known" and "nothing was searched" in document["reason"]
    assert document["looked_at"] == 0 and document["findings"] == []
    refused = tg("find", "stomp", "run")
    assert refused.returncode == 2 and refused.stdout == "" and one_line(refused.stderr)


def test_filters_that_select_what_was_not_stored_find_nothing_out(tg):
    tg.good("run", "dump_tensor", "--dump-tensor=hybrid", "--output", "run")
    document = find(tg, "nan", "run", "--task", "0", "--arg", "0", "--kind", "tensor", code=2)
    assert document["result"] == "not known" and document["not_stored"] > 0


@pytest.mark.parametrize("what", WHAT)
def test_the_arguments_of_the_orchestration_are_not_searched(tg, what):
    record(tg, "none")
    document = find(tg, what, "run", "--stage", "orchestration", code=2)
    assert document["result"] == "not known" and "content to search" in document["reason"]
    assert document["looked_at"] == 0 and document["not_stored"] > 0
    refused = tg("find", what, "run", "--stage", "orchestration")
    assert refused.returncode == 2 and refused.stdout == "" and one_line(refused.stderr)


def test_a_limit_says_what_it_leaves_out(tg):
    record(tg, "nan")
    text = tg("find", "nan", "run", "--limit", "1").stdout
    assert "began here" in text and "and 2 more; --all shows them" in text


@pytest.mark.parametrize("what", WHAT[:4])
@pytest.mark.parametrize("name", PEER_RECORDINGS)
def test_recordings_of_the_other_implementation_are_looked_into(tg, what, name):
    result = tg("find", what, peer(name))
    assert result.returncode in (0, 1) and result.stderr == ""


@pytest.mark.parametrize("what", WHAT[4:])
def test_a_recording_without_addresses_is_refused_where_they_are_needed(tg, what):
    result = tg("find", what, peer("hbg_level2"))
    assert result.returncode == 2 and "has no addresses" in result.stderr and one_line(result.stderr)


@pytest.mark.parametrize("what", WHAT)
def test_an_empty_recording_has_nothing(tg, tmp_path, what):
    Recording(tmp_path / "run").write()
    assert find(tg, what, "run", code=0)["found"] == 0


def test_a_level_that_could_not_show_it_is_refused(tg):
    record(tg, "nan", "--dump-tensor=hash")
    result = tg("find", "nan", "run")
    assert result.returncode == 2 and "--dump-tensor=full" in result.stderr
    document = find(tg, "nan", "run", code=2)
    assert document["result"] == "not known" and "--dump-tensor=full" in document["reason"]
    record(tg, "stomp", "--dump-args", output="other")
    assert "neither payloads nor hashes" in tg("find", "stomp", "other").stderr


@pytest.mark.parametrize("arguments, why", [
    ([], "find needs a kind: nan, inf, overflow, constant, unwritten, stomp or race"),
    (["nans"], "did you mean 'nan'?"), (["elephants"], "kinds are nan, inf"),
    (["nan"], "no recording under outputs/"), (["nan", "nowhere"], "there is no 'nowhere'"),
    (["nan", "a", "b"], "'b' is one too many"), (["nan", "--limit", "-1"], "--limit needs"),
    (["nan", "--all", "--limit", "2"], "contradict"),
    (["nan", "--arg", "x"], "--arg: 'x' is not a valid arg")])
def test_what_makes_no_sense_is_one_line(tg, arguments, why):
    result = tg("find", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert one_line(result.stderr) and why in result.stderr


def test_a_broken_deps_json_is_noted_and_left_out(tg):
    record(tg, "nan")
    (tg.directory / "run" / "deps.json").write_text("{")
    assert "line 1" in find(tg, "nan", "run")["deps_error"]
    assert "note: " in tg("find", "nan", "run").stdout
