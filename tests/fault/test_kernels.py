# SPDX-License-Identifier: Apache-2.0
"""Kernels that crash, never return, or end the device: exit status, name, task, kernel."""

import os
import resource

import pytest

from conftest import GPU, PLATFORMS, SANITIZED, check_next_run, compiled, workload
from platforms import MOST_SCHEDULERS, cores_up_to, is_in_task_3, limits_for, until

# Case, name of the error, and two texts of its line. Sanitizers handle CRASHES themselves.
CRASHES = [
    ("null", "KERNEL_FAULT", "task 3, kernel fault_null", "Segmentation fault at address 0x0"),
    ("fpe", "KERNEL_FAULT", "task 3, kernel fault_fpe", "Floating point exception"),
    ("stack", "KERNEL_FAULT", "task 3, kernel fault_stack", "Segmentation fault"),
    ("mix_null", "KERNEL_FAULT", "task 3, kernel fault_mix_null", "Segmentation fault"),
    ("nulls", "KERNEL_FAULT", "kernel fault_null", "Segmentation fault"),
    ("far", "KERNEL_FAULT", "task 3, kernel fault_far", "Segmentation fault"),
    ("trap", "KERNEL_FAULT", "task 3, kernel fault_trap", "Illegal instruction"),
]
ENDS = [
    ("abort", "KERNEL_FAULT", "task 3, kernel fault_abort", "Aborted"),
    ("exit", "DEVICE_LOST", "exited with status 7", "after 3 of 7 tasks"),
    ("spin", "HANG", "task 3, kernel fault_spin", "3 of 7 finished"),
    ("mix_skip", "HANG", "task 3, kernel fault_mix_meet", "3 of 7 finished"),
]
BAD = ENDS + ([] if SANITIZED else CRASHES)
LOST = ["abort", "exit"]
LATE = ()
if GPU:  # there a division by zero is no error, and kernels do not run in a process with signals
    BAD = [(case, name, who, what if name == "HANG" else "") for case, name, who, what in BAD
           if case not in ("exit", "fpe", "stack")]
    LOST = ["abort", "trap"]
    LATE = ("null", "nulls", "far")  # a GPU reports a bad store only after later tasks have run


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("case,name,who,what", BAD)
def test_a_bad_kernel_ends_the_run_with_exit_3_and_its_name(tg, case, name, who, what, platform):
    code, said = until(lambda end: is_in_task_3(end[1]), lambda limit: tg(
        "run", workload("faults"), "--case", case, "--platform", platform, "--timeout", limit,
        "--output", "out"), limits_for(name, 1))
    assert code == 3
    assert said.startswith(f"taskglass: {name}: ")
    if case in LATE:
        assert who.split()[-1] in said or "or one just before it" in said
    else:
        assert who in said and what in said


@pytest.mark.parametrize("arrangement", [(1, 0), (1, 1), (72, MOST_SCHEDULERS)])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_bad_kernel_is_named_whoever_schedules(tg, platform, arrangement):
    cores, schedulers = arrangement
    code, said = tg("run", workload("faults"), "--case", "abort", "--platform", platform, "--cores",
                    cores_up_to(cores), "--schedulers", schedulers, "--output", "out")
    assert code == 3
    assert "task 3, kernel fault_abort" in said


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_run_after_a_bad_kernel_is_good(tg, platform):
    for case in LOST:
        code, _ = tg("run", workload("faults"), "--case", case, "--platform", platform, "--output",
                     "out")
        assert code == 3
        check_next_run(tg, platform)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("case", [*LOST, "spin"])
def test_a_bad_kernel_leaves_no_process(start, case, platform):
    limit = limits_for("HANG" if case == "spin" else "", 1)[0]
    program = start("run", workload("faults"), "--case", case, "--timeout", limit, "--platform",
                    platform, "--output", "out")
    assert program.end()[0] == 3
    assert program.left() == []


@pytest.mark.skipif(SANITIZED, reason="a sanitizer makes functions need more stack")
def test_a_kernel_has_its_whole_stack_where_the_orchestrator_runs_it(tg, tmp_path):
    if resource.getrlimit(resource.RLIMIT_STACK)[0] != 8 << 20:
        pytest.skip("the workload is made for stacks of 8 MiB")
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})  # there an orchestration that waits runs tasks itself
    try:
        assert tg("run", compiled("deep", tmp_path), "--runtime", "tensormap_and_ringbuffer", "--cores", "3",
                  "--output", "out") == (0, "")
    finally:
        os.sched_setaffinity(0, cpus)
