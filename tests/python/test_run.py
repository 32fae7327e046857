# SPDX-License-Identifier: Apache-2.0
"""taskglass.run: its results and exceptions; settings, platforms, workloads."""

import dataclasses
import gc
import json
import pathlib
import signal
import subprocess
import sys
import time

import numpy
import pytest
import taskglass
import wire_reader
from platforms import is_in_task_3, is_under_way, limits_for, until

from conftest import (PACKAGE, PLATFORMS, TEST_WORKLOADS, TIMEOUT, assert_gone, command_json,
                      processes_of, python, test_workload)

CARELESS = TEST_WORKLOADS / "broken" / "careless.so"
RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")


# --- what there is ------------------------------------------------------------------------------

def test_platforms_and_runtimes_are_those_of_list():
    listed = command_json("list")
    assert [platform.name for platform in taskglass.platforms()] == [
        entry["name"] for entry in listed["platforms"]]
    assert {runtime.name: runtime.available for runtime in taskglass.runtimes()} == {
        entry["name"]: entry["available"] for entry in listed["runtimes"]}


def test_workloads_are_those_of_list():
    listed = {entry["name"]: entry for entry in command_json("list")["workloads"]}
    found = {each.name: each for each in taskglass.workloads()}
    assert found.keys() == listed.keys()
    small = found["vector_add"].cases[0]
    assert (small.name, small.params) == ("small", {"n": "1024", "tile": "256"})
    kernel = found["vector_add"].kernels[0]
    assert (kernel.name, kernel.core) == ("vector_add_tile", "AIV")
    assert kernel.signature == "in:float32 in:float32 out:float32"


def test_workloads_of_the_users_own_folders_are_found():
    config = taskglass.Config(workload_path=[TEST_WORKLOADS, TEST_WORKLOADS / "broken"])
    found = {each.name: each for each in taskglass.workloads(config)}
    assert {"graphs", "faults", "vector_add"} <= found.keys()
    assert {each.core for each in found["graphs"].kernels} == {"AIC", "AIV", "EITHER"}
    assert "ABI" in found["other_abi"].error and not found["sound"].error


# --- settings -----------------------------------------------------------------------------------

def test_every_setting_is_a_member_of_config():
    members = {each.name.replace("_", "-") for each in dataclasses.fields(taskglass.Config)}
    assert members - {"more"} == {setting.name for setting in taskglass.settings()}


def test_settings_are_those_of_config():
    listed = command_json("config")["settings"]
    assert [(each.name, each.type, each.value, each.source, each.environment, each.help)
            for each in taskglass.settings()] == [
        tuple(entry[key] for key in ("name", "type", "value", "source", "environment", "help"))
        for entry in listed]


def in_force(**settings):
    return {each.name: each.value for each in taskglass.settings(taskglass.Config(**settings))}


def test_a_config_becomes_settings():
    values = in_force(platform="a5sim", cores=6, timeout=2.5, deps=True, dump_tensor=True,
                      dump_filter=["task=1", "task=2"], device_memory="1G", dump_args=False,
                      ring_heap=["1M", 2048, "3M", "4M"], ring_task_window=64,
                      workload_path=["a", pathlib.Path("b")], output=pathlib.Path("out"),
                      more={"dump-policy": "drop"})
    assert values["platform"] == "a5sim" and values["cores"] == "6"
    assert float(values["timeout"]) == 2.5 and values["deps"] == "on"
    assert values["dump-tensor"] == "full" and values["dump-args"] == "off"
    assert values["dump-filter"] == "task=1;task=2" and values["device-memory"] == "1G"
    assert values["ring-heap"] == "1M,2048,3M,4M" and values["ring-task-window"] == "64"
    assert values["workload-path"] == "a:b" and values["output"] == "out"
    assert values["dump-policy"] == "drop"


def test_what_is_not_set_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("TASKGLASS_CORES", "9")
    settings = {each.name: each for each in taskglass.settings(taskglass.Config(schedulers=2))}
    assert (settings["cores"].value, settings["cores"].source) == ("9", "environment")
    assert settings["schedulers"].source == "caller" and settings["timeout"].source == "default"


def test_a_config_can_be_changed_in_part():
    config = taskglass.Config(cores=3, more={"a": 1}).updated(cores=6, timeout=1, tomorrows=2)
    assert (config.cores, config.timeout, config.more) == (6, 1, {"a": 1, "tomorrows": 2})


@pytest.mark.parametrize("settings, why", [
    ({"cores": -3}, "not a whole number"), ({"cores": "many"}, "not a whole number"),
    ({"device_memory": "1X"}, "not a size"), ({"dump_tensor": "loud"}, "dump-tensor"),
    ({"timeout": "soon"}, "timeout"), ({"ring_heap": [1, 2]}, "four with commas"),
    ({"deps": object()}, "is no setting's value"), ({"platform": "a\0"}, "zero character"),
    ({"timeout": float("nan")}, "timeout")])
def test_a_value_that_makes_no_sense_is_refused(settings, why):
    with pytest.raises(taskglass.BadArgument, match=why):
        taskglass.run("vector_add", **settings)


def test_a_setting_that_is_none_is_refused():
    with pytest.raises(taskglass.NotFound, match="no such setting"):
        taskglass.run("vector_add", colour="red")
    assert not pathlib.Path("outputs").exists()


# --- runs that are good -------------------------------------------------------------------------

@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_run_gives_its_outputs(platform, runtime):
    execution = taskglass.run("vector_add", platform=platform, runtime=runtime, cores=3,
                              dump_tensor="full")
    assert execution.ok and execution.status == "OK" and execution.error == ""
    assert (execution.tasks, execution.finished) == (4, 4) and execution.platform == platform
    with execution.recording() as recording:
        parts = [record.array() for record in recording.select(stage="after")]
    output = execution.outputs["c"]
    assert output.ok and output.dtype == "float32" and output.shape == (1024,)
    assert sorted(output.array()) == sorted(numpy.concatenate(parts))


def test_outputs_of_every_type_are_given():
    execution = taskglass.run("dtypes", "floats")
    assert len(execution.outputs) == 12
    for output in execution.outputs.values():
        values = output.array(decode=True)
        assert values.shape == output.shape and output.mismatches == 0
        assert values.dtype == (output.array().dtype if output.dtype in (
            "float64", "float32", "float16", "uint64") else numpy.float32)


def test_outputs_stay_good_without_their_execution():
    output = taskglass.run("vector_add").outputs["c"]
    array = output.array()
    copy = array.copy()
    del output
    gc.collect()
    assert (array == copy).all()
    with pytest.raises(ValueError):
        array[0] = 1


def test_the_report_is_run_json():
    execution = taskglass.run("vector_add", "small", set={"n": 512, "tile": "128"}, output="out")
    assert execution.report == json.loads(pathlib.Path("out/run.json").read_text())
    assert execution.report["params"] == {"n": "512", "tile": "128"}
    assert execution.report["command_line"] == list(sys.argv)
    assert execution.output_dir == pathlib.Path("out") and execution.case == "small"
    assert set(execution.seconds) == {"prepare", "open", "load", "build", "start", "begin", "execute", "check"}


def test_a_run_that_was_not_recorded_has_no_recording():
    execution = taskglass.run("vector_add")
    assert not execution.recorded
    with pytest.raises(taskglass.NotFound):
        execution.recording()


def test_a_config_and_single_settings_go_together():
    config = taskglass.Config(platform="a5sim", cores=3)
    execution = taskglass.run("vector_add", config=config, cores=6)
    assert (execution.platform, execution.cores) == ("a5sim", 6) and config.cores == 3


def test_reprs_help():
    execution = taskglass.run("vector_add", output="out")
    assert repr(execution) == ("<Execution vector_add, case small, on a2a3sim: OK, 4 of 4 tasks, "
                               "'out'>")
    assert repr(execution.outputs["c"]) .startswith("<Output c: float32 (1024,), ok, max")


# --- runs that fail -----------------------------------------------------------------------------

def test_an_output_that_differs_is_raised_with_what_came_out():
    with pytest.raises(taskglass.Mismatch, match="output 'y' differs") as caught:
        taskglass.run(CARELESS, "wrong_close")
    error = caught.value
    assert (error.status, error.exit_code) == ("MISMATCH", 1) and error.advice
    output = error.execution.outputs["y"]
    assert output.mismatches == 4 and output.first_mismatch == (0, 1.0, 2.0)
    assert output.array()[0] == 1.0 and "4 elements differ" in repr(output)


def test_a_failed_execution_can_be_asked_for():
    execution = taskglass.run(CARELESS, "wrong_close", check=False)
    assert (execution.status, execution.exit_code, execution.ok) == ("MISMATCH", 1, False)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_kernel_that_crashes_is_raised_with_its_recording(platform, device_program):
    with pytest.raises(taskglass.KernelFault, match="task 3, kernel fault_null") as caught:
        taskglass.run(test_workload("faults"), "null", platform=platform, dump_tensor="full",
                      device_program=device_program)
    error = caught.value
    assert isinstance(error, taskglass.DeviceFailure) and error.exit_code == 3
    assert error.execution.finished == 3 and error.execution.outputs == {}
    assert error.execution.report["error"]["running"][0]["kernel"] == "fault_null"
    with error.execution.recording() as recording:
        assert [record.stage for record in recording.select(task=3)] == ["before_dispatch"]
    assert_gone(device_program)


def test_a_kernel_that_never_returns_is_a_hang(device_program):
    def run(limit):
        with pytest.raises(taskglass.Hang) as caught:
            taskglass.run(test_workload("faults"), "spin", timeout=limit,
                          device_program=device_program)
        return caught.value

    error = until(lambda error: is_in_task_3(str(error)), run, limits_for("HANG", 0.3))
    assert "fault_spin" in str(error)
    assert_gone(device_program)


@pytest.mark.parametrize("arguments, settings, kind, why", [
    (["no_such_workload"], {}, taskglass.NotFound, "no workload 'no_such_workload'"),
    (["./no/such.so"], {}, taskglass.NotFound, "no/such.so"),
    (["vector_add", "huge"], {}, taskglass.NotFound, "huge"),
    (["vector_add"], {"platform": "a9sim"}, taskglass.Error, "a9sim"),
    (["vector_add"], {"runtime": "magic"}, taskglass.Error, "magic"),
    (["vector_add"], {"set": {"m": 3}}, taskglass.BadArgument, "'m'"),
    (["vector_add"], {"set": {"n": "many"}}, taskglass.BadArgument, "many"),
    (["vector_add"], {"cores": 1000}, taskglass.BadArgument, "1000"),
    (["vector_add"], {"output": "/proc/nowhere"}, taskglass.IoError, "/proc/nowhere"),
    (["vector_add"], {"device_program": "/no/such/program"}, taskglass.Error, "program"),
    (["a\0b"], {}, taskglass.BadArgument, "zero character"),
])
def test_what_makes_no_sense_is_raised(arguments, settings, kind, why):
    with pytest.raises(kind, match=why) as caught:
        taskglass.run(*arguments, **settings)
    assert caught.value.exit_code in (2, 3) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["other_abi", "too_small"])
def test_a_module_of_another_version_is_refused(name):
    with pytest.raises(taskglass.AbiMismatch):
        taskglass.run(TEST_WORKLOADS / "broken" / f"{name}.so")


# --- progress and Ctrl-C ------------------------------------------------------------------------

def test_progress_is_reported():
    seen = []
    taskglass.run(test_workload("slow"), set={"n": 20, "ms": 5},
                  progress=lambda *what: seen.append(what))
    assert [phase for phase, *_ in seen[:3]] == ["prepare", "open", "build"]
    assert seen[-1][0] == "check" and {total for phase, _, total in seen if phase == "run"} >= {20}


def test_what_progress_raises_cancels_the_run(device_program):
    class Enough(Exception):
        pass

    def tell(phase, finished, total):
        if phase == "run" and finished > 2:
            raise Enough

    with pytest.raises(Enough):
        taskglass.run(test_workload("slow"), "chain", set={"n": 100000, "ms": 5}, progress=tell,
                      device_program=device_program, output="out")
    assert_gone(device_program)
    assert json.loads(pathlib.Path("out/run.json").read_text())["result"]["status"] == "CANCELLED"


def test_a_device_that_is_still_loading_can_be_cancelled(device_program, monkeypatch):
    monkeypatch.setenv("TASKGLASS_TEST_LOAD_SECONDS", "100000")
    calls = []

    def tell(phase, finished, total):
        calls.append(phase)
        if calls.count("open") == 4:
            raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        taskglass.run(test_workload("slow_load"), progress=tell, device_program=device_program,
                      load_timeout=100000, output="out", dump_tensor=True)
    assert_gone(device_program)
    assert json.loads(pathlib.Path("out/run.json").read_text())["result"]["status"] == "CANCELLED"
    with taskglass.Recording("out") as recording:
        assert len(recording) == 0 and recording.state == "cancelled"


def test_a_folder_belongs_to_one_run_of_the_program():
    refused = []

    def tell(phase, finished, total):
        if phase == "build" and not refused:
            with pytest.raises(taskglass.errors.Busy, match="'out' is in use"):
                taskglass.run("vector_add", output="out")
            refused.append(phase)
    execution = taskglass.run("vector_add", output="out", dump_tensor=True, progress=tell)
    assert refused and len(execution.recording()) > 0
    taskglass.run("vector_add", output="out")


def test_ctrl_c_ends_a_run_and_leaves_no_device(device_program):
    script = f"""
import taskglass
taskglass.run({test_workload("slow")!r}, "chain", set={{"n": 100000, "ms": 5}}, output="out",
              device_program={str(device_program)!r})
"""
    child = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True,
                             env={**__import__("os").environ, "PYTHONPATH": str(PACKAGE)})
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end and not any(map(is_under_way, processes_of(device_program))):
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=TIMEOUT)
    assert error.splitlines()[-1] == "KeyboardInterrupt" and child.returncode != 0
    assert_gone(device_program)
    assert json.loads(pathlib.Path("out/run.json").read_text())["result"]["status"] == "CANCELLED"


def test_the_programs_own_handler_of_ctrl_c_stays():
    result = python("""
import signal, taskglass
mine = lambda *_: None
signal.signal(signal.SIGINT, mine)
taskglass.run("vector_add")
assert signal.getsignal(signal.SIGINT) is mine
""")
    assert result.returncode == 0, result


def test_the_recording_of_a_run_is_right_for_an_independent_reader():
    execution = taskglass.run("matmul_chain", dump_tensor="full", cores=6)
    assert wire_reader.problems(wire_reader.Recording(execution.output_dir / "tensor_dump")) == []
