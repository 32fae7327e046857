# SPDX-License-Identifier: Apache-2.0
"""Outputs that differ and devices that fail: exit status, messages, and files that are left."""

import shlex

import pytest

from conftest import PLATFORMS, TEST_WORKLOADS, workload
from platforms import GPU, few, is_in_task_3, limits_for, simulators_only, until

CARELESS = TEST_WORKLOADS / "broken" / "careless.so"


@pytest.mark.parametrize("case", few(["wrong_close", "wrong_exact", "wrong_nan"], 1))
def test_an_output_that_differs_ends_with_exit_1(tg, case):
    result = tg("run", CARELESS, "--case", case)
    assert result.returncode == 1, result
    assert result.stderr.startswith("taskglass: MISMATCH: output 'y'")


@pytest.mark.needs_no_gpu
def test_an_output_that_differs_is_reported_with_its_first_element(tg):
    report = tg.run_json(CARELESS, "--case", "wrong_close", code=1)
    check = report["outputs"][0]
    assert check["mismatches"] == 4
    assert check["first_mismatch"] == {"index": 0, "got": 1.0, "expected": 2.0}
    assert check["max_error"] == 1.0


@pytest.mark.needs_no_gpu
def test_a_nan_that_is_expected_and_not_there_is_an_infinite_error(tg):
    report = tg.run_json(CARELESS, "--case", "wrong_nan", code=1)
    assert report["outputs"][0]["max_error"] == "Infinity"


@pytest.mark.needs_no_gpu
def test_the_advice_after_a_run_that_was_not_recorded_is_the_command_that_records_it(tg):
    result = tg("run", CARELESS, "--case", "wrong_close", "--set", "n=4", "--output", "a b")
    advice = result.stderr.split("advice", 1)[1]
    command = " ".join(advice.split("`")[1].split())
    assert shlex.split(command)[1:] == ["run", str(CARELESS), "--case", "wrong_close", "--set", "n=4",
                                        "--output", "a b", "--dump-tensor"]
    again = tg(*shlex.split(command)[1:])
    assert again.returncode == 1 and "--dump-tensor" not in again.stderr
    assert "taskglass diff CORRECT_RUN 'a b'" in " ".join(again.stderr.split())


FAULTS = [("null", "KERNEL_FAULT", "fault_null"), ("abort", "KERNEL_FAULT", "fault_abort"),
          ("trap", "KERNEL_FAULT", "fault_trap"), ("tensor", "KERNEL_FAULT", "fault_tensor"),
          ("scalar", "KERNEL_FAULT", "fault_scalar"), ("spin", "HANG", "fault_spin")]
if GPU:  # a GPU reports bad stores late (tests/gpu), and its kernels cannot end a process
    FAULTS = FAULTS[1:]
else:
    FAULTS.append(("exit", "DEVICE_LOST", "fault_exit"))


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("case,name,kernel", FAULTS)
def test_a_device_that_fails_ends_with_exit_3_and_the_error_first(tg, case, name, kernel,
                                                                  platform):
    result = until(lambda end: is_in_task_3(end.stderr), lambda limit: tg(
        "run", workload("faults"), "--case", case, "--timeout", limit, "--platform", platform),
        limits_for(name, 1))
    assert result.returncode == 3, result
    assert result.stderr.startswith(f"taskglass: {name}: ")
    assert kernel in result.stderr


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("runtime", few(["host_build_graph", "aicpu_build_graph",
                                         "tensormap_and_ringbuffer"], 2))
@pytest.mark.parametrize("case,words", [
    ("tensor", "the kernel wants tensor 2, but the task has one tensor (number 0)"),
    ("scalar", "the kernel wants scalar 0, but the task has no scalar")])
def test_a_kernel_that_reads_an_argument_too_many_is_told_which(tg, case, words, runtime, platform):
    result = tg("run", workload("faults"), "--case", case, "--platform", platform, "--runtime",
                runtime)
    assert result.returncode == 3, result
    assert f"KERNEL_FAULT: task 3, kernel fault_{case}, on core " in result.stderr
    assert words in result.stderr
    assert "kernel.h" not in result.stderr


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("case,name,kernel", FAULTS)
def test_a_device_that_fails_leaves_a_run_json_with_the_running_task(tg, case, name, kernel,
                                                                     platform):
    report = until(lambda end: is_in_task_3(end["error"]["text"]), lambda limit: tg.run_json(
        workload("faults"), "--case", case, "--timeout", limit, "--platform", platform, code=3),
        limits_for(name, 1))
    assert report["result"] == {"status": name, "exit_code": 3}
    assert report["error"]["name"] == name and report["error"]["text"]
    running = report["error"]["running"]
    assert [(task["task_id"], task["kernel"]) for task in running] == [
        ("0x0000000000000003", kernel)]
    assert running[0]["faulted"] == (name == "KERNEL_FAULT")
    assert report["error"]["unmet"] == [{"task_id": "0x0000000000000004",
                                         "waits_for": "0x0000000000000003"}]
    assert report["counters"]["finished"] == 3 and report["counters"]["tasks"] == 7
    assert report["device"]["lost"]


def test_a_failure_is_followed_by_the_running_tasks_the_advice_and_the_files(tg):
    result = tg("run", workload("faults"), "--case", "abort", "--output", "here")
    labels = [line.split()[0] for line in result.stderr.splitlines()]
    assert labels == ["taskglass:", "running", "3", "unmet", "progress", "why", "advice",
                      "files"], result.stderr
    assert result.stderr.splitlines()[-1].split()[-1] == "here"


def test_the_run_after_a_failure_is_good(tg):
    tg("run", workload("faults"), "--case", "abort")
    tg.good("run", workload("faults"), "--case", "none")


def test_a_graph_without_a_task_is_good(tg):
    report = tg.run_json(workload("graphs"), "--case", "empty")
    assert report["counters"]["tasks"] == 0 and report["result"]["status"] == "OK"


@pytest.mark.needs_no_gpu
def test_a_graph_that_is_refused_leaves_a_run_json_too(tg):
    report = tg.run_json(workload("graphs"), "--case", "cycle", code=2)
    assert report["result"] == {"status": "CYCLE", "exit_code": 2}


@simulators_only
def test_a_device_program_that_is_not_there_is_named(tg):
    result = tg("run", "vector_add", "--device-program", "./nowhere")
    assert result.returncode in (2, 3) and "./nowhere" in result.stderr, result


@simulators_only
def test_a_device_program_that_is_no_device_is_an_error_and_no_hang(tg):
    result = tg("run", "vector_add", "--device-program", "/bin/true")
    assert result.returncode == 3 and "DEVICE_LOST" in result.stderr, result
