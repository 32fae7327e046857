# SPDX-License-Identifier: Apache-2.0
"""diff names the culprit of every planted scene, and no innocent task, whichever variant it is given."""

import json

import pytest

from planted import READING, SCENES
from platforms import GPU

pytestmark = pytest.mark.skipif(GPU, reason="these modules are built for the simulators only")

TRIES = 5  # for a bug that shows only if one task is slower than another


def record(case, scene, variant, *options, **others):
    return case.record(f"planted_{scene}_{variant}", *options, **others)


def ids(recording):
    tasks = json.loads((recording / "deps.json").read_text())["tasks"]
    return [task["task_id"] for task in tasks]


def accused(suspect):
    """The tasks that a suspect names, as ("a", id) and ("b", id); one that both runs have counts as that
    of A."""
    for task in (suspect, suspect.get("other")):
        if task:
            yield ("a", task["task_a"]) if task["task_a"] else ("b", task["task_b"])


def compare(case, bad, good):
    result = case.tool("diff", bad, good, "--json", codes=(0, 1))
    return result.returncode, json.loads(result.stdout)


def judge(scene, order, code, result):
    """`order`: the task ids of both sides in the order of submission."""
    culprits = [{(side, order[side][place]) for side, place in culprit} for culprit in scene.guilty]
    suspects = result["blame"]["suspects"] if result.get("blame") else []
    named = {task for suspect in suspects for task in accused(suspect)}
    assert code == (1 if culprits else 0), result["result"]
    assert named <= set().union(*culprits), "an innocent task is accused"
    assert all(named & culprit for culprit in culprits), "a culprit is not named"
    assert {suspect["guilt"] for suspect in suspects} <= set(scene.guilt)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_diff_names_the_culprit_and_nobody_else(case, scene):
    if case.runtime not in scene.runtimes:
        pytest.skip("this runtime cannot have the bug")
    good = record(case, scene.name, "good")
    for _ in range(TRIES):
        bad = record(case, scene.name, "bad")
        code, result = compare(case, bad, good)
        if code == 1 or not scene.raced:
            break
    judge(scene, {"a": ids(bad), "b": ids(good)}, code, result)


@pytest.mark.parametrize("variant", ["good", "bad"])
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_two_runs_of_one_module_are_equal(case, scene, variant):
    if case.runtime not in scene.runtimes or scene.raced:
        pytest.skip("this runtime cannot have the bug, or two bad runs may differ")
    code, result = compare(case, record(case, scene.name, variant), record(case, scene.name, variant))
    assert (code, result["result"]) == (0, "equal")


def test_values_that_were_read_are_compared_where_their_tensors_are_not_stored(case):
    if case.runtime == "host_build_graph":
        pytest.skip("this runtime reads nothing back")
    bad = record(case, "branch", "bad", "--dump-tensor=meta")
    good = record(case, "branch", "good", "--dump-tensor=meta")
    code, result = compare(case, bad, good)
    assert result["reads"]["differs"] == 1 and result["counts"]["differs"] == 0
    assert (code, result["result"]) == (1, "differs")


def test_other_input_data_accuse_no_task(case):
    good = record(case, "drift", "good")
    bad = record(case, "drift", "good", "--set", "shift=0.015625")
    code, result = compare(case, bad, good)
    suspects = result["blame"]["suspects"]
    assert code == 1
    assert {suspect["guilt"] for suspect in suspects} == {"given"}
    assert "'x'" in case.tool("diff", bad, good, codes=(1,)).stdout or \
        " x " in case.tool("diff", bad, good, codes=(1,)).stdout


def test_a_task_whose_result_nobody_reads_is_told_and_not_accused(case):
    code, result = compare(case, record(case, "harmless_extra", "bad"),
                           record(case, "harmless_extra", "good"))
    assert code == 1, "one run did something that the other did not"
    assert [task["kernel"] for task in result["tasks"]["only_a"]] == ["copy"]
    assert not result["blame"] or result["blame"]["suspects"] == []


@pytest.mark.parametrize("scene", ["half_fused", "split_tiles", "larger_tiles", "result_tiles"])
def test_the_same_work_in_other_tasks_is_told_and_nobody_is_accused(case, scene):
    code, result = compare(case, record(case, scene, "bad"), record(case, scene, "good"))
    assert code == 1, "the runs have other tasks"
    assert result["tasks"]["only_a"] or result["tasks"]["only_b"]
    assert result["counts"]["differs"] == 0
    assert not result["blame"] or result["blame"]["suspects"] == []


@pytest.mark.parametrize("scene", [scene for scene in SCENES if len(scene.runtimes) == 3],
                         ids=lambda scene: scene.name)
def test_runtimes_are_compared_by_what_their_tasks_do(case, scene):
    if case.runtime == "host_build_graph":
        pytest.skip("the other side of this comparison")
    bad = record(case, scene.name, "bad")
    good = record(case, scene.name, "good", runtime="host_build_graph")
    order = {"a": ids(bad), "b": ids(good)}
    judge(scene, order, *compare(case, bad, good))


def test_bytes_that_were_damaged_on_disk_accuse_no_task(case):
    good, damaged = record(case, "long_chain", "good"), case.own(record(case, "long_chain", "good"))
    payload = damaged / "tensor_dump" / "tensor_dump.bin"
    data = bytearray(payload.read_bytes())
    data[len(data) // 2:len(data) // 2 + 4] = b"\xff\xff\xff\x7f"  # a NaN
    payload.write_bytes(data)
    assert compare(case, damaged, good)[1]["result"] == "equal", "the hashes are what the device saw"
    found = case.tool("find", "nan", damaged, "--json", codes=(0, 2))
    assert json.loads(found.stdout)["found"] == 0


@pytest.mark.parametrize("option", ["--ring-heap=512", "--poison"])
def test_what_fresh_memory_has_accuses_nobody(case, option):
    """A task found other bytes in memory that nobody had written for it, and used none of them."""
    if "heap" in option and case.runtime not in READING:
        pytest.skip("this runtime has no rings")
    other, usual = record(case, "fresh_memory", "good", option), record(case, "fresh_memory", "good")
    for pair in ((other, usual), (usual, other)):
        code, result = compare(case, *pair)
        assert code == 1, "what the task found does differ"
        assert result["blame"]["suspects"] == []
        assert "no output of the task shows it" in result["blame"]["unknown"]
