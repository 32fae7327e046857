# SPDX-License-Identifier: Apache-2.0
"""run --poison and find unwritten: who is accused of not writing an output, and on what proof."""

import json

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
