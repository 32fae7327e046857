# SPDX-License-Identifier: Apache-2.0
"""References that crash, loop, exit or damage their process: `check` names their task and kernel, checks
all others, and leaves no process."""

import contextlib
import json
import os
import pathlib
import re
import signal

import pytest

from conftest import HERE, PLATFORMS, SANITIZED, compiled, processes_with, wait_until
from forge import forge, is_output
from platforms import FAR

TASKS = 12
SOURCE = (HERE / "workloads" / "doubtful.c").read_text()
DEEDS = dict(re.findall(r"^ {4}X\((\w+), ([01]),", SOURCE, re.M))
FAILING = [name for name, fails in DEEDS.items() if fails == "1"]
HARMLESS = [name for name, fails in DEEDS.items() if fails == "0"]
LOOPS = ("spin", "sleep", "deaf", "stopping", "stopped", "leave_and_spin")
SAYS = {"null": "crashed: Segmentation fault at address 0x0", "abort": "crashed: Aborted",
        "fpe": "crashed: Floating point exception", "stack": "crashed: Segmentation fault",
        "exit": "ended its process with exit status", "exit_at_once": "exit status 0", "killed": "Killed",
        "close_all": "file descriptors", "write_to_all": "file descriptor",
        "far_behind": "behind the end of argument 1", "just_behind": "behind the end of argument 1",
        "just_before": "before the beginning of argument 1", "break_heap": "damaged its process",
        **{loop: "did not return" for loop in LOOPS}}


def record(start, module, case, platform, *more):
    program = start("run", module, "--case", case, "--platform", platform, "--output", "out",
                    "--dump-tensor", *more)
    assert program.end() == (0, "")


def check(start, case, *more):
    """Exit status and document of `check`. A looping reference gets a short limit, longer on a busy
    machine, where good ones may need it."""
    for limit in (0.3, 3, 30) if case in LOOPS else (FAR,):
        program = start("check", "out", "--json", "--timeout", limit, *more)
        out, _ = program.process.communicate()
        assert program.left() == []
        result = json.loads(out)
        if len(result["failed"]) <= 2:
            break
    return program.process.returncode, result


def task_ids(entries):
    return [int(entry["task_id"], 16) for entry in entries]


@pytest.mark.parametrize("case,platform", [(case, platform) for case in FAILING for platform in PLATFORMS
                                           if platform == PLATFORMS[0] or case in ("null", "exit")])
def test_a_reference_that_fails_is_named_and_the_others_are_checked(start, doubtful, case, platform):
    if SANITIZED and case == "break_heap":
        pytest.skip("the sanitizer's heap does not break")
    record(start, doubtful, case, platform)
    code, result = check(start, case)
    assert code == 2 and result["result"] == "not known" and "failed" in result["reason"]
    assert task_ids(result["failed"]) == [5] and result["failed_count"] == 1
    assert result["failed"][0]["kernel"] == "doubled"
    assert SAYS.get(case, "") in result["failed"][0]["why"]
    assert result["wrong"] == [] and result["good"] == TASKS - 1
    kernels = {kernel["kernel"]: kernel for kernel in result["kernels"]}
    assert (kernels["doubled"]["failed"], kernels["twice"]["failed"]) == (1, 0)


@pytest.mark.parametrize("case", HARMLESS)
def test_a_reference_that_is_only_odd_costs_no_task_its_verdict(start, doubtful, case):
    record(start, doubtful, case, PLATFORMS[0])
    code, result = check(start, case)
    assert (code, result["result"], result["good"]) == (0, "good", TASKS)
    assert result["failed"] == [] == result["wrong"]


@pytest.mark.parametrize("at,more", [(0, 1), (0, 11), (4, 5)])
def test_several_references_that_fail_are_all_named(start, doubtful, at, more):
    record(start, doubtful, "null", PLATFORMS[0], "--set", f"at={at}", "--set", f"more={more}")
    code, result = check(start, "null")
    assert code == 2 and task_ids(result["failed"]) == [at, more]
    assert result["good"] == TASKS - 2


def test_a_wrong_task_is_found_beside_a_reference_that_crashes(start, doubtful, tmp_path):
    record(start, doubtful, "null", PLATFORMS[0])
    def change(payload, entry):
        payload[entry["bin_offset"] + 3] ^= 1

    forge(tmp_path / "out" / "tensor_dump",
          lambda entry: int(entry["task_id"], 16) == 7 and is_output(entry), change)
    code, result = check(start, "null")
    assert code == 1 and result["result"] == "wrong"
    assert task_ids(result["wrong"]) == [7] and task_ids(result["failed"]) == [5]
    assert result["good"] == TASKS - 2


def test_the_text_names_the_task_and_the_kernel(start, doubtful):
    record(start, doubtful, "exit_at_once", PLATFORMS[0])
    program = start("check", "out")
    out, said = program.process.communicate()
    assert program.process.returncode == 2
    assert "failed task 5  doubled  its reference ended its process with exit status 0" in out
    assert "11 agree with their reference, 0 wrong, 1 not checked: their reference failed" in out
    assert said.startswith("taskglass: not known: 1 of 12 tasks") and said.count("\n") == 1


def test_the_first_interrupt_ends_a_check_whose_reference_loops(start, doubtful):
    record(start, doubtful, "spin", PLATFORMS[0])
    program = start("check", "out", "--timeout", FAR)
    assert wait_until(lambda: len(processes_with(program.mark)) == 3)  # the check, and two of its own
    program.process.send_signal(signal.SIGINT)
    assert program.end()[0] == -signal.SIGINT
    assert program.left() == []


@pytest.mark.parametrize("case", ["null", "exit", "abort"])
def test_a_module_that_crashes_when_it_is_loaded_is_named(start, doubtful, unruly, monkeypatch, case):
    record(start, doubtful, "none", PLATFORMS[0])
    monkeypatch.setenv("TASKGLASS_TEST_UNRULY", case)
    code, said = start("check", "out", "--module", unruly).end()
    said = said.splitlines()[-1]  # a sanitizer speaks first
    assert code == 2 and said.startswith("taskglass: WORKLOAD_FAULT: ") and unruly in said


def test_the_first_interrupt_ends_a_check_whose_module_does_not_load(start, doubtful, unruly, monkeypatch):
    record(start, doubtful, "none", PLATFORMS[0])
    monkeypatch.setenv("TASKGLASS_TEST_UNRULY", "spin")
    program = start("check", "out", "--module", unruly, "--timeout", FAR)
    assert wait_until(lambda: len(processes_with(program.mark)) == 2)
    program.process.send_signal(signal.SIGINT)
    assert program.end()[0] == -signal.SIGINT
    assert program.left() == []


@pytest.mark.parametrize("case,processes", [("spin", 3), ("leave_and_spin", 4)])
def test_a_killed_check_leaves_no_process(start, doubtful, case, processes):
    record(start, doubtful, case, PLATFORMS[0])
    program = start("check", "out", "--timeout", FAR)
    assert wait_until(lambda: len(processes_with(program.mark)) == processes)
    program.process.kill()
    assert program.left() == []


def parent_of(pid):
    """0 if it has ended meanwhile."""
    with contextlib.suppress(OSError):
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return 0


@pytest.mark.parametrize("flags", [(), ("-DSLOW_TO_TELL",)], ids=["at_once", "slow_to_tell"])
def test_a_check_ends_what_references_left_if_their_first_process_is_killed(start, tmp_path, flags):
    record(start, compiled("doubtful", tmp_path, *flags), "leave_and_spin", PLATFORMS[0])
    program = start("check", "out", "--json", "--timeout", FAR)
    assert wait_until(lambda: len(processes_with(program.mark)) == 4)
    for pid, _ in processes_with(program.mark):
        if parent_of(pid) == program.process.pid:
            os.kill(pid, signal.SIGKILL)
    # The reference spins again in a process of its own, so that its task gets a verdict that is its own.
    assert wait_until(lambda: len(processes_with(program.mark)) == 4)
    program.process.send_signal(signal.SIGINT)
    assert program.end()[0] == -signal.SIGINT
    assert program.left() == []


def test_the_distance_of_integers_is_exact(start, tmp_path):
    record(start, compiled("counted", tmp_path), "only", PLATFORMS[0])
    code, result = check(start, "only")
    assert code == 1 and result["wrong"][0]["first"] == 3 and result["wrong"][0]["mismatches"] == 1
    assert (result["kernels"][0]["max_ulp"], result["kernels"][0]["max_error"]) == (2, 2.0)
