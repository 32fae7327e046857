# SPDX-License-Identifier: Apache-2.0
"""run --poison and find unwritten: who is accused of not writing an output, and on what proof."""

import json
import shutil

import numpy
import pytest

from conftest import PLATFORMS, workload
from wire_reader import Recording as Wire

RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
POISON = 0x7FFB7FD3
# One tensor fits, so that the second scope of a case gets the memory of the first again.
SMALL_HEAP = ("--ring-heap", "512")


def record(tg, case, *arguments, output="run"):
    level = [] if any(str(argument).startswith("--dump") for argument in arguments) \
        else ["--dump-tensor"]
    result = tg("run", workload("unwritten"), "--case", case, "--output", output, *level, *arguments)
    # The pattern is NaN, which no golden value matches: the run may well say that outputs differ.
    assert result.returncode in (0, 1), result
    return output


def manifest(tg, run="run"):
    return json.loads((tg.directory / run / "tensor_dump" / "tensor_dump.json").read_text())


def outputs(tg, kernel, run="run"):
    """The payloads of what the kernel's tasks have as outputs, in the order of the recording."""
    payload = (tg.directory / run / "tensor_dump" / "tensor_dump.bin").read_bytes()
    return [payload[entry["bin_offset"]:entry["bin_offset"] + entry["bin_size"]]
            for entry in manifest(tg, run)["tensors"]
            if entry["kernel"] == [kernel] and entry["stage"] == "after_completion"]


# --- the pattern -----------------------------------------------------------------------------------

@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_memory_that_is_handed_out_has_the_pattern(tg, platform, runtime):
    record(tg, "reused", "--poison", "--platform", platform, "--runtime", runtime, *SMALL_HEAP)
    expected = numpy.full(100, POISON, "<u4").tobytes()
    assert outputs(tg, "nothing") == [expected]
    if runtime != "host_build_graph":
        addresses = {entry["data_ptr"] for entry in manifest(tg)["tensors"]
                     if entry["kernel"] in (["ramp"], ["nothing"]) and entry["role"] == "output"}
        assert len(addresses) == 1, "the second scope was to get the memory of the first"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_content_that_a_case_gives_replaces_the_pattern(tg, platform):
    record(tg, "on_purpose", "--poison", "--platform", platform)
    entries = manifest(tg)["tensors"]
    given = next(entry for entry in entries if entry["stage"] == "before_dispatch"
                 and entry["kind"] == "tensor")
    payload = (tg.directory / "run" / "tensor_dump" / "tensor_dump.bin").read_bytes()
    values = numpy.frombuffer(payload, "<f4", 100, given["bin_offset"])
    ramp = (numpy.arange(100) * 37 % 101).astype("f4")
    assert values.tolist() == (ramp / numpy.float32(101) + numpy.float32(0.25)).tolist()


def test_the_recording_names_the_pattern(tg):
    record(tg, "nothing", "--poison")
    assert int(manifest(tg)["poison"], 16) == POISON
    assert int(json.loads((tg.directory / "run" / "run.json").read_text())["poison"], 16) == POISON
    assert Wire(tg.directory / "run" / "tensor_dump").head["poison"] == POISON


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_memory_is_left_alone_unless_asked(tg, runtime):
    record(tg, "nothing", "--runtime", runtime)
    assert outputs(tg, "nothing") == [bytes(400)]
    assert "poison" not in manifest(tg)
    assert "poison" not in json.loads((tg.directory / "run" / "run.json").read_text())


def test_the_environment_asks_for_the_pattern_too(tg):
    result = tg("run", workload("unwritten"), "--case", "nothing", "--output", "run", "--dump-tensor",
                env={"TASKGLASS_POISON": "1"})
    assert result.returncode == 1 and "poison" in manifest(tg)


# --- who is accused --------------------------------------------------------------------------------

def find(tg, *arguments, code):
    result = tg("find", "unwritten", "run", *arguments, "--json")
    assert (result.returncode, result.stderr) == (code, ""), result
    return json.loads(result.stdout)


def verdicts(document):
    """Each finding: the kernel, whether it is proved, the evidence, and how many elements. Sorted, because
    independent tasks run in any order."""
    return sorted((finding["kernel"][0], finding["proved"], finding["sign"], finding["count"])
                  for finding in document["findings"])


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("case, expected", [
    ("on_purpose", []),
    ("tail", [("tail", True, "poison", 12)]),
    ("nothing", [("nothing", True, "poison", 100)]),
    ("twice", []),
    ("reused", [("nothing", True, "poison", 100), ("copy", False, "poison", 100)]),
    ("reused_tail", [("tail", True, "poison", 12), ("copy", False, "poison", 12)]),
    ("passed_on", [("nothing", True, "poison", 100), ("copy", False, "poison", 100)]),
])
def test_with_the_pattern_the_guilty_are_accused_and_no_others(tg, platform, runtime, case, expected):
    record(tg, case, "--poison", "--platform", platform, "--runtime", runtime, *SMALL_HEAP)
    document = find(tg, code=1 if expected else 0)
    assert verdicts(document) == sorted(expected)
    assert document["result"] == ("found" if expected else "nothing found")
    assert (document["proved"], document["possible"]) == (1 if expected else 0, 0)
    assert document["reason"] is None and document["left_out"] == []


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case, expected", [
    ("on_purpose", [("zeros", False, "zero", 100)]),
    ("tail", [("tail", False, "tail", 12)]),
    ("nothing", [("nothing", False, "zero", 100)]),
])
def test_without_the_pattern_it_is_possible(tg, runtime, case, expected):
    record(tg, case, "--runtime", runtime)
    document = find(tg, code=2)
    assert document["result"] == "possible" and verdicts(document) == sorted(expected)
    program, verb, module, *options = json.loads(
        (tg.directory / "run" / "run.json").read_text())["command_line"]
    at = options.index("--output")  # it would replace this recording
    del options[at:at + 2]
    assert document["reason"] == "record again to know: " + \
        " ".join([program, verb, module, *options, "--poison"])
    text = tg("find", "unwritten", "run").stdout
    assert "possible: task" in text and document["reason"] in text


@pytest.mark.parametrize("runtime", RUNTIMES[1:])
def test_what_another_kernel_left_is_possible_where_the_rest_was_written(tg, runtime):
    record(tg, "reused_tail", "--runtime", runtime, *SMALL_HEAP)
    document = find(tg, code=2)
    assert verdicts(document) == [("tail", False, "stale", 12)]
    assert document["result"] == "possible" and document["reason"].endswith("--poison")
    assert document["findings"][0]["first"] == [88]


@pytest.mark.parametrize("runtime", RUNTIMES[1:])
def test_an_output_that_is_all_as_before_is_possible(tg, runtime):
    record(tg, "reused", "--runtime", runtime, *SMALL_HEAP)
    assert verdicts(find(tg, code=2)) == [("nothing", False, "same", 100)]


@pytest.mark.parametrize("poison", [[], ["--poison"]])
def test_a_task_that_repeats_another_is_no_finding(tg, poison):
    record(tg, "twice", *poison)
    assert find(tg, code=0)["findings"] == []


def test_a_reference_accuses_and_clears(tg):
    record(tg, "references")
    document = find(tg, code=1)
    assert verdicts(document) == [("forgetful", True, "reference", 100)]


def test_without_the_module_a_reference_says_nothing(tg):
    record(tg, "references")
    (tg.directory / "run" / "run.json").unlink()
    document = find(tg, code=2)
    assert verdicts(document) == [("forgetful", False, "zero", 100), ("right_zeros", False, "zero", 100)]
    assert document["reason"].startswith("record again with taskglass run")
    assert verdicts(find(tg, "--module", workload("unwritten"), code=1)) == \
        [("forgetful", True, "reference", 100)]


def test_the_pattern_accuses_in_every_type_and_view(tg):
    record(tg, "types", "--poison")
    document = find(tg, code=1)
    assert document["proved"] == document["found"] == 36
    assert {finding["count"] for finding in document["findings"]} == {72}


def test_by_hashes_an_input_may_have_had_the_pattern(tg):
    record(tg, "nothing", "--poison", "--dump-tensor=hash")
    document = find(tg, code=2)
    assert verdicts(document) == [("nothing", False, "poison", 100)]
    assert document["findings"][0]["trace"] == "unclear"
    assert "--dump-tensor=full" in document["reason"]
    assert any("judged as a whole" in note for note in document["left_out"])


def test_the_command_to_record_again_is_quoted_for_a_shell(tg):
    name = "it's a run; rm.so"
    shutil.copy(workload("unwritten"), tg.directory / name)
    result = tg("run", f"./{name}", "--case", "nothing", "--dump-tensor", "--output=run")
    assert result.returncode == 0, result
    document = json.loads(tg("find", "unwritten", "run", "--json").stdout)
    assert document["reason"].endswith(
        " run './it'\\''s a run; rm.so' --case nothing --dump-tensor --poison")


def test_where_arguments_were_left_out_nobody_is_accused(tg):
    record(tg, "nothing", "--poison", "--dump-tensor", "--dump-filter", "role=out")
    document = find(tg, code=2)
    assert verdicts(document) == [("nothing", False, "poison", 100)]
    assert document["findings"][0]["trace"] == "unclear"


def test_a_task_that_only_copied_the_pattern_is_not_accused(tg):
    record(tg, "passed_on", "--poison", "--dump-tensor", "--dump-filter", "kernel=copy")
    document = find(tg, code=2)
    assert verdicts(document) == [("copy", False, "poison", 100)]
    assert document["passed_on"] == 1 and "came in with inputs" in document["reason"]


def test_diff_says_that_only_one_run_was_poisoned(tg):
    record(tg, "nothing", "--poison")
    (tg.directory / "run").rename(tg.directory / "poisoned")
    record(tg, "nothing")
    said = tg("diff", "poisoned", "run").stdout
    assert "note: A was run with --poison, B was not" in said
    assert "--poison" not in tg("diff", "run", "run").stdout
