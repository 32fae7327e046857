# SPDX-License-Identifier: Apache-2.0
"""Kernels that fault, spin or never meet, rings that never drain, devices and hosts that are
killed: the report names the task, the recording verifies, and the next run works."""

import os
import random
import re
import shutil
import signal
import time

import pytest

from conftest import (PLATFORM, RUNTIMES, TRANSPORTS, begun, by, check_account, check_next_run,
                      entries, report, workload)
from platforms import AT_ONCE, FAKE, FAR, FAR_LIMIT, SPARING, WHOLE, is_in_task_3, limits_for, until

# Seconds without progress that make a hang, where a test waits for one.
SOON = 3
# Runs that end badly, each at another moment.
BAD_ENDS = 15 if FAKE and not WHOLE else 21 if SPARING else 50

RECORDED = ("--dump-tensor", "--platform", PLATFORM, "--output", "out")
# Long enough to be killed in the middle: some 190 MiB through small arenas.
LARGE = ("run", "vector_add", "--case", "large", "--set", "n=16000000", *RECORDED)
SLOW = ("run", workload("slow"), "--set", "ms=5", "--set", "n=100000", "--cores", 6, *RECORDED)

FAULTS = [
    ("trap", "KERNEL_FAULT", "fault_trap"),
    ("far", "KERNEL_FAULT", "fault_far"),
    ("null", "KERNEL_FAULT", "fault_null"),
    ("nulls", "KERNEL_FAULT", "fault_null"),
    ("mix_null", "KERNEL_FAULT", "fault_mix_null"),
    ("spin", "HANG", "fault_spin"),
    ("mix_skip", "HANG", "fault_mix_meet"),
]


HANGS = [case for case, status, _ in FAULTS if status == "HANG"]


def faults(case, *options, limit=FAR):
    return ("run", workload("faults"), "--case", case, "--timeout", limit, *options, *RECORDED)


def run_faults(tg, case, *options):
    if case not in HANGS:
        return tg(*faults(case, *options))
    return until(lambda result: is_in_task_3(result.stderr),
                 lambda limit: tg(*faults(case, *options, limit=limit)), limits_for("HANG", SOON))


def error_line(said):
    """The line with the error; warnings about lost records may come before it."""
    return next(line for line in said.splitlines() if not line.startswith("taskglass: warning: "))


def check_verified(tg, directory="out"):
    tg.good("verify", directory)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_kernel_that_hangs_is_explained(tg, runtime):
    """From status words and the rings, as on the simulators; a GPU does not say in which line a kernel is."""
    run_faults(tg, "spin", "--runtime", runtime)
    result = tg("explain", "out")
    assert result.returncode == 1 and result.stdout.startswith("task 3 (fault_spin) does not return"), result
    assert "task 6 (fault_none) waits for" in result.stdout
    assert "the platform does not tell them" in result.stdout


@pytest.mark.parametrize("place", ["host", "device"])
def test_an_orchestration_that_hangs_is_named_with_its_line_if_a_cpu_runs_it(tg, place):
    def run(limit):
        return tg("run", workload("rings"), "--case", "hang_here", "--runtime", RUNTIMES[2], "--platform", PLATFORM,
                  "--orchestrator", place, "--timeout", limit, "--output", "out")
    result = until(lambda result: "in the scope of" in result.stderr, run, limits_for("HANG", SOON))
    assert result.returncode == 3 and "the orchestration is busy in the scope of" in result.stderr, result
    has_line = re.search(r"rings/faults\.c:\d+ in hang_here, called at", result.stderr) is not None
    assert has_line == (place == "host" or PLATFORM != "cuda")
    why = tg("explain", "out").stdout
    assert why.startswith("the orchestration computes in the scope of")
    assert ("the platform does not tell them" in why) == (place == "device" and PLATFORM == "cuda")


# ── kernels ─────────────────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("case,status,kernel", FAULTS)
def test_a_bad_kernel_is_named_and_its_recording_verifies(tg, case, status, kernel, transport):
    result = run_faults(tg, case, *by(transport))
    assert result.returncode == 3, result
    assert error_line(result.stderr).startswith(f"taskglass: {status}: ")
    if case != "nulls":  # any of eight tasks
        assert f"kernel {kernel}" in error_line(result.stderr)
    said = report(tg)
    # A task counts as finished when it has passed on all tasks that waited for it, and the first of
    # those eight may have failed by then.
    finished = (2, 3) if case == "nulls" else (3,)
    assert said["device"]["lost"] and said["counters"]["finished"] in finished
    assert kernel in [task["kernel"] for task in said["error"]["running"]]
    if case != "nulls":  # eight tasks
        assert {task["task_id"] for task in said["error"]["running"]} == {"0x0000000000000003"}
    check_account(tg)
    check_verified(tg)
    check_next_run(tg)


@pytest.mark.parametrize("runtime", RUNTIMES[1:])
@pytest.mark.parametrize("case,status,kernel", [FAULTS[0], FAULTS[5]])
def test_a_bad_kernel_of_a_graph_that_the_device_builds(tg, runtime, case, status, kernel):
    result = run_faults(tg, case, "--runtime", runtime)
    assert result.returncode == 3, result
    assert error_line(result.stderr).startswith(f"taskglass: {status}: ")
    assert f"kernel {kernel}" in error_line(result.stderr)
    check_verified(tg)
    check_next_run(tg)


@pytest.mark.parametrize("case", ["trap", "far", "spin"])
def test_records_from_before_the_fault_are_kept(tg, case):
    """The host sees the records in place, so no process has to fetch them."""
    assert run_faults(tg, case, *by(TRANSPORTS[0])).returncode == 3
    found = {(int(task, 16), stage): entry.get("partial", False)
             for (task, stage, _), entry in entries(tg, "out").items() if stage != "orchestration"}
    before, after = "before_dispatch", "after_completion"
    expected = {(task, stage): False for task in range(3) for stage in (before, after)}
    expected[3, before] = False
    if case == "spin":
        expected[3, after] = True
    assert found == expected


# ── rings that never drain ──────────────────────────────────────────────────────────────

@pytest.mark.parametrize("runtime,case", [(RUNTIMES[1], "held"), (RUNTIMES[2], "held"),
                                          (RUNTIMES[2], "tasks")])
def test_a_deadlock_is_proved_and_the_advice_is_good(tg, runtime, case):
    run = ("run", workload("rings"), "--case", case, "--runtime", runtime, *RECORDED)
    result = tg(*run, "--ring-task-window", 8, *FAR_LIMIT)
    assert result.returncode == 3, result
    assert error_line(result.stderr).startswith("taskglass: SCOPE_DEADLOCK: ")
    assert "8/8" in error_line(result.stderr)
    said = report(tg)
    assert said["error"]["advice"] == "--ring-task-window 20"
    assert said["times"]["execute_seconds"] < AT_ONCE  # without waiting for the limit
    check_verified(tg)
    tg.good(*run, "--ring-task-window", 20)


# ── kills from outside ──────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_interrupted_run_ends_cancelled_with_its_recording(start, tg, tmp_path, transport):
    program = start(*SLOW, *by(transport))
    assert begun(tmp_path)
    program.process.send_signal(signal.SIGINT)
    code, said = program.end()
    assert code in (3, -signal.SIGINT) and "DEVICE_LOST" not in said
    assert report(tg)["result"]["status"] == "CANCELLED"
    assert program.left() == []
    check_account(tg)
    check_verified(tg)
    check_next_run(tg)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_killed_device_leaves_a_recording_that_verifies(start, tg, tmp_path, transport):
    program = start(*SLOW, *by(transport))
    assert begun(tmp_path)
    program.kill_device(0)
    code, said = program.end()
    assert code == 3 and error_line(said).startswith("taskglass: DEVICE_LOST: "), said
    assert program.left() == []
    check_account(tg)
    check_verified(tg)
    check_next_run(tg)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_killed_host_leaves_a_recording_that_recovers(start, tg, tmp_path, transport):
    program = start(*LARGE, *by(transport))
    assert begun(tmp_path)
    program.process.kill()
    program.end()
    assert program.left() == []  # the device ended by itself
    tg.good("recover", "out")
    check_verified(tg)
    assert len(entries(tg, "out")) > 0
    check_next_run(tg)


# ── many kills, one after the other ─────────────────────────────────────────────────────

def end_by_a_trap(start, tg, moments, transport):
    assert start(*faults("trap", *by(transport))).end()[0] == 3
    return True


def end_by_a_hang(start, tg, moments, transport):
    run = ("run", workload("faults"), "--case", "spin", "--timeout", 1, *by(transport), *RECORDED)
    assert start(*run).end()[0] == 3
    return True


def end_by_a_kill(start, tg, moments, transport):
    """Whether it hit: the run may have been over. Then the next kill comes sooner."""
    for latest in (0.1, 0.01, 0):
        shutil.rmtree(tg.directory / "out", ignore_errors=True)
        program = start(*LARGE, *by(transport))
        assert begun(tg.directory)
        time.sleep(moments.uniform(0, latest))
        program.process.kill()
        code, _ = program.end()
        assert program.left() == []
        tg.good("recover", "out")
        if code == -signal.SIGKILL:
            break
    return code == -signal.SIGKILL


def test_recorded_runs_that_end_badly_at_any_moment_all_verify(start, tg):
    moments = random.Random(int(os.environ.get("TASKGLASS_SEED", 1)))
    ends = (end_by_a_trap, end_by_a_hang, end_by_a_kill)
    hits = {end: 0 for end in ends}
    for i in range(BAD_ENDS):
        end = ends[i % 3]
        hits[end] += end(start, tg, moments, TRANSPORTS[i // 3 % len(TRANSPORTS)])
        check_verified(tg)
        shutil.rmtree(tg.directory / "out")
    assert min(hits.values()) >= BAD_ENDS // 12, hits
    check_next_run(tg)
