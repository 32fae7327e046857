# SPDX-License-Identifier: Apache-2.0
"""One command names each planted bug, on every platform, from recordings of every runtime."""

import pytest

from platforms import GPU


def record(case, bug):
    return case.record(f"bugs_{bug}")


@pytest.mark.parametrize("bug,kernel", [
    ("off_by_one", "window"),
    ("wrong_stride", "mix_up"),
    ("unwritten", "ratio"),
    ("wrong_cast", "quantize"),
    ("lost_update", "add_up"),
])
def test_check_names_the_task_that_computes_something_else(case, bug, kernel):
    bad = record(case, bug)
    code, result = case.json("check", bad)
    assert code == 1
    assert [task["task_id"] for task in result["wrong"]] == [case.planted(bad, kernel)]


@pytest.mark.parametrize("bug,kernel,guilt", [
    ("off_by_one", "window", "introduced"),
    ("lost_update", "add_up", "introduced"),
    ("swapped", "subtract", "rewired"),
    ("stale_scalar", "scale", "scalar"),
])
def test_diff_blames_the_task_that_began_it(case, bug, kernel, guilt):
    bad, good = record(case, bug), record(case, "none")
    code, result = case.json("diff", bad, good)
    assert code == 1 and result["result"] == "differs"
    suspects = result["blame"]["suspects"]
    assert {suspect["task_a"] for suspect in suspects} == {case.planted(bad, kernel)}
    assert suspects[0]["guilt"] == guilt


@pytest.mark.parametrize("what,bug,kernel", [
    ("nan", "nan", "ratio"),
    ("overflow", "overflow", "halve"),
    ("inf", "overflow", "halve"),
    ("unwritten", "unwritten", "ratio"),
])
def test_find_names_the_task_that_a_number_began_with(case, what, bug, kernel):
    bad = record(case, bug)
    code, result = case.json("find", what, bad)
    assert code == 1
    assert result["findings"][0]["task_id"] == case.planted(bad, kernel)
    assert result["findings"][0]["trace"] == "origin"


def test_find_stomp_names_the_tasks_that_ran_while_a_neighbour_changed(case):
    bad = record(case, "stray_write")
    code, result = case.json("find", "stomp", bad)
    assert code == 1 and result["found"] == 1
    victim = result["findings"][0]
    assert victim["task_id"] == case.planted(bad, "quantize")
    assert case.planted(bad, "ratio") in [task["task_id"] for task in victim["between"]]


def test_diff_names_the_task_that_did_not_wait(case):
    bad, good = record(case, "missing_edge"), record(case, "none")
    code, result = case.json("diff", bad, good)
    if case.runtime == "tensormap_and_ringbuffer":
        assert code == 0, "edges that are found cannot be forgotten"
        return
    planted = case.planted(bad, "window")
    if GPU and code == 0:
        pytest.skip("this time the task without its edge was late enough to be right")
    assert code == 1
    assert [(suspect["task_a"], suspect["guilt"]) for suspect in result["blame"]["suspects"]] == \
        [(planted, "unordered")]
    assert result["blame"]["suspects"][0]["other"]["task_a"] == \
        case.planted(bad, "scale")


def test_summing_in_another_order_is_no_finding(case):
    drift, good = record(case, "order_drift"), record(case, "none")
    assert case.json("check", drift)[1]["wrong"] == []
    code, result = case.json("diff", drift, good)
    assert code == 0 and result["result"] != "differs"
    for what in ("nan", "inf", "overflow", "stomp"):
        assert case.json("find", what, drift)[0] == 0


def test_a_run_without_a_bug_is_clean(case):
    good = record(case, "none")
    assert case.json("check", good)[1]["wrong"] == []
    for what in ("nan", "inf", "overflow", "stomp"):
        assert case.json("find", what, good)[0] == 0
