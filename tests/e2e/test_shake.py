# SPDX-License-Identifier: Apache-2.0
"""taskglass shake: planted races are found and reduced, and nothing else is accused. The workload racy has
graphs that lack an edge whose order holds by luck in almost every run."""

import json
import signal
import subprocess

import pytest

from conftest import PLATFORMS, PROGRAM, TIMEOUT, clean_environment, workload

RACY = workload("racy")
EXPLICIT = ["host_build_graph", "aicpu_build_graph"]
#: As long as it takes to make the race rare, not longer.
SHORT = ("--set", "length=20")


def shake(tg, *options, code):
    result = tg("shake", *options, "--json")
    assert (result.returncode, result.stderr) == (code, ""), result
    answer = json.loads(result.stdout)
    assert answer["exit_code"] == code
    left = tg.directory / "outputs"
    assert not left.exists() or list(left.iterdir()) == []
    return answer


def pairs(answer):
    return [(c["before"]["kernel"], c["after"]["kernel"]) for c in answer["constraints"]]


def runs_again(tg, answer, times, code=1):
    """The command that the answer prints does it again."""
    words = answer["command"].split()
    assert words[0] == "taskglass"
    for _ in range(times):
        result = tg(*words[1:], "--output", "again")
        assert result.returncode == code, result
        subprocess.run(["rm", "-r", str(tg.directory / "again")], check=True)


@pytest.mark.parametrize("runtime", EXPLICIT)
def test_a_missing_write_after_read_edge_is_one_constraint(tg, runtime):
    answer = shake(tg, RACY, "--case", "war", "--runtime", runtime, *SHORT, code=1)
    assert answer["result"] == "order" and answer["fewest"] and answer["confirmed"] == 5
    assert pairs(answer) == [("step", "copy")]
    assert "orchestrate.c:" in answer["constraints"][0]["before"]["line"]
    assert answer["difference"]["change"] == "golden" and answer["difference"]["output"] == "z"
    assert answer["difference"]["first"]["kernel"] == "copy" and answer["difference"]["reads"]
    runs_again(tg, answer, 3)


@pytest.mark.parametrize("runtime", EXPLICIT)
def test_a_missing_read_after_write_edge_is_one_constraint(tg, runtime):
    answer = shake(tg, RACY, "--case", "raw", "--runtime", runtime, *SHORT, code=1)
    assert answer["result"] == "order"
    assert pairs(answer) == [("copy", "step")]


def test_a_race_that_an_ordinary_run_hardly_ever_shows_is_found_and_reproduced(tg):
    """With a chain of 1000 tasks in between, none of 3,000 ordinary runs on a busy machine was wrong."""
    answer = shake(tg, RACY, "--case", "war", "--set", "length=1000", code=1)
    assert answer["result"] == "order" and answer["found_at"] < 200 and len(answer["constraints"]) == 1
    runs_again(tg, answer, 20)


def test_two_inversions_that_are_both_needed_are_two_constraints(tg):
    answer = shake(tg, RACY, "--case", "two", *SHORT, code=1)
    assert answer["result"] == "order"
    assert pairs(answer) == [("step", "copy")] * 2
    runs_again(tg, answer, 2)


@pytest.mark.parametrize("runtime", [*EXPLICIT, "tensormap_and_ringbuffer"])
def test_a_write_that_no_region_declares_is_found(tg, runtime):
    answer = shake(tg, RACY, "--case", "stray", "--runtime", runtime, *SHORT, code=1)
    assert answer["result"] == "order"
    assert pairs(answer) == [("stray", "copy")]
    assert answer["constraints"][0]["race"] != "yes"


def test_an_orchestration_that_submits_other_tasks_is_a_difference(tg):
    answer = shake(tg, RACY, "--case", "branch", "--runtime", "aicpu_build_graph", *SHORT, code=1)
    assert answer["result"] == "order"
    assert answer["difference"]["change"] == "tasks"
    assert answer["difference"]["first"]["kernel"] == "step"


def test_a_crash_under_a_schedule_is_a_failure(tg):
    answer = shake(tg, RACY, "--case", "crash", *SHORT, code=1)
    assert answer["result"] == "order"
    assert pairs(answer) == [("step", "crash")]
    assert answer["difference"]["status"] == "KERNEL_FAULT"


def test_a_hang_under_a_schedule_is_a_failure(tg):
    answer = shake(tg, RACY, "--case", "hang", "--set", "length=3", "--timeout", "0.2", code=1)
    assert answer["result"] == "order"
    assert pairs(answer) == [("step", "spin")]
    assert answer["difference"]["status"] == "HANG"


def test_a_kernel_that_writes_the_time_is_not_blamed_on_an_order(tg):
    answer = shake(tg, RACY, "--case", "timed", *SHORT, code=1)
    assert answer["result"] == "not deterministic"
    assert answer["difference"]["first"]["kernel"] == "clock" and not answer["difference"]["reads"]
    assert answer["constraints"] == [] and answer["reduced"] == ""


def test_a_case_that_fails_in_every_order_is_reported_as_such(tg):
    answer = shake(tg, RACY, "--case", "wrong", *SHORT, code=1)
    assert answer["result"] == "baseline fails" and answer["schedules"] == 1
    assert answer["difference"]["change"] == "golden" and answer["difference"]["output"] == "y"


def test_sums_in_any_order_are_not_accused_unless_that_is_asked_for(tg):
    options = (RACY, "--case", "commute", *SHORT, "--runs", "20")
    answer = shake(tg, *options, code=0)
    assert answer["result"] == "same" and answer["inside"] > 0 and not answer["unstable_inside"]
    assert answer["inside_difference"]["first"]["kernel"] == "add"
    strict = shake(tg, *options, "--strict", code=1)
    assert strict["result"] == "order" and strict["difference"]["change"] == "task"


@pytest.mark.parametrize("runtime", [*EXPLICIT, "tensormap_and_ringbuffer"])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_clean_case_is_not_accused(tg, runtime, platform):
    answer = shake(tg, RACY, "--case", "clean", *SHORT, "--runtime", runtime, "--platform", platform,
                   "--runs", "20", code=0)
    assert answer["result"] == "same" and answer["inside"] == 0 and answer["schedules"] == 20


@pytest.mark.parametrize("name", ["matmul_chain", "mix", "views", "stencil", "cholesky"])
def test_examples_are_not_accused(tg, name):
    answer = shake(tg, name, "--runs", "8", code=0)
    assert answer["result"] == "same" and answer["inside"] == 0


def test_recordings_are_kept_where_the_user_wants_them(tg):
    shake(tg, RACY, "--case", "war", *SHORT, "--output", "kept", code=1)
    assert sorted(each.name for each in (tg.directory / "kept").iterdir()) == ["baseline", "failing", "reduced"]
    result = tg("diff", "kept/baseline", "kept/reduced")
    assert result.returncode == 1 and "copy" in result.stdout
    refused = tg("shake", RACY, "--case", "war", *SHORT, "--output", "kept")
    assert refused.returncode == 2 and "kept" in refused.stderr


def test_the_report_names_both_tasks_their_lines_and_the_command(tg):
    result = tg("shake", RACY, "--case", "war", *SHORT)
    assert (result.returncode, result.stderr) == (1, "")
    assert "before task" in result.stdout and "breaks it" in result.stdout
    assert "orchestrate.c:" in result.stdout and "--schedule order:" in result.stdout


def test_the_command_names_what_the_environment_set(tg):
    result = tg("shake", RACY, "--case", "war", *SHORT, "--runs", "20", "--json",
                env={"TASKGLASS_RUNTIME": "aicpu_build_graph"})
    assert "--runtime aicpu_build_graph" in json.loads(result.stdout)["command"], result


def test_the_same_seed_gives_the_same_answer(tg):
    first, second = (shake(tg, RACY, "--case", "stray", *SHORT, "--seed", "5", code=1) for _ in range(2))
    for answer in (first, second):
        del answer["seconds"]
    assert first == second


def test_a_spent_budget_still_gives_a_schedule_that_breaks_it(tg):
    answer = shake(tg, RACY, "--case", "two", *SHORT, "--reduce-runs", "1", code=1)
    assert answer["result"] in ("schedule", "order") and not answer["fewest"]
    runs_again(tg, answer, 1)


@pytest.mark.parametrize("options, text", [
    ((), "shake needs a workload"),
    (("vector_add", "--runs", "1"), "--runs"),
    (("vector_add", "--runs", "many"), "--runs"),
    (("vector_add", "--seed", "0"), "--seed"),
    (("vector_add", "--reduce-runs", "0"), "--reduce-runs"),
    (("vector_add", "--case", "none"), "none"),
    (("no_such_workload",), "no_such_workload"),
])
def test_nonsense_is_one_line(tg, options, text):
    result = tg("shake", *options)
    assert result.returncode == 2 and result.stdout == ""
    assert text in result.stderr and result.stderr.count("\n") == 1


def test_a_case_that_cannot_begin_leaves_no_folder(tg):
    assert tg("shake", "vector_add", "--case", "none", "--output", "kept").returncode == 2
    assert list(tg.directory.iterdir()) == []


def test_json_says_that_nothing_is_known(tg):
    result = tg("shake", "vector_add", "--case", "none", "--json")
    assert result.returncode == 2
    assert json.loads(result.stdout)["result"] == "not known"


def test_a_signal_ends_it_and_leaves_nothing(tg):
    process = subprocess.Popen(
        [str(PROGRAM), "shake", RACY, "--case", "clean", "--runs", "100000", "--verbose"],
        cwd=tg.directory, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "lifo" not in (line := process.stderr.readline()):
        assert line, process.stdout.read()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIMEOUT)
    assert process.returncode == -signal.SIGINT
    left = tg.directory / "outputs"
    assert not left.exists() or list(left.iterdir()) == []
