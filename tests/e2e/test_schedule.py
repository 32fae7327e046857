# SPDX-License-Identifier: Apache-2.0
"""`run --schedule`: texts that are refused, warnings about pairs, and what run.json says."""

import json

import pytest

POLICIES = ["fifo", "lifo", "random:1", "adversarial:1", "order:2-0"]


def run(tg, out, *options, env=None):
    result = tg("run", "vector_add", "--platform", "a2a3sim", "--output", out, *options, env=env)
    return result, json.loads((out / "run.json").read_text())


@pytest.mark.parametrize("policy", POLICIES)
def test_a_schedule_is_kept_in_run_json(tg, tmp_path, policy):
    result, facts = run(tg, tmp_path / "out", "--cores", "1", "--schedule", policy)
    assert result.returncode == 0 and "warning" not in result.stderr
    assert facts["options"]["schedule"] == {"value": policy, "source": "caller"}
    pairs = 1 if policy.startswith("order") else 0
    assert facts["schedule"] == {"known": True, "serial": True, "choices": 4, "pairs": pairs, "broken": 0,
                                 "unknown": 0, "message": ""}


def test_the_environment_names_a_schedule_and_several_cores_are_not_serial(tg, tmp_path):
    _, facts = run(tg, tmp_path / "out", "--cores", "3", env={"TASKGLASS_SCHEDULE": "lifo"})
    assert facts["schedule"]["serial"] is False and facts["schedule"]["choices"] == 4


def test_without_a_schedule_run_json_has_none(tg, tmp_path):
    _, facts = run(tg, tmp_path / "out")
    assert "schedule" not in facts


@pytest.mark.parametrize("text", ["first", "fifo:1", "random", "random:x", "order", "order:", "order:1", "order:1-1",
                                  "order:1-2,", "order:1-x", "adversarial:"])
def test_another_text_is_one_line_and_exit_2(tg, text):
    result = tg("run", "vector_add", "--platform", "a2a3sim", "--schedule", text)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.count("\n") == 1 and "schedule: " in result.stderr


def test_pairs_of_unknown_tasks_are_a_warning(tg, tmp_path):
    result, facts = run(tg, tmp_path / "out", "--cores", "1", "--schedule", "order:99-1,0-1,1:0-2")
    assert result.returncode == 0
    assert "warning: schedule: 2 of 3 pairs name a task that the graph does not have" in result.stderr
    assert facts["schedule"]["unknown"] == 2


def test_pairs_that_contradict_each_other_are_broken_and_do_not_hang(tg, tmp_path):
    result, facts = run(tg, tmp_path / "out", "--schedule", "order:0-1-2-3-0")
    assert result.returncode == 0 and facts["schedule"]["broken"] == 1
    assert "warning: schedule: 1 of 4 pairs could not be kept" in result.stderr
