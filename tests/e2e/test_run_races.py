# SPDX-License-Identifier: Apache-2.0
"""run --races: the races of a graph before it runs, or right after if the device builds it."""
import json

import pytest

from conftest import workload

RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")


def races(tg, out="out"):
    return json.loads((tg.directory / out / "run.json").read_text()).get("races")


def examples(tg):
    """Every example with its first case."""
    return [entry["name"] for entry in json.loads(tg.good("list", "--json").stdout)["workloads"]]


def test_a_run_that_does_not_ask_says_nothing_of_races(tg):
    assert "race" not in tg.good("run", workload("bugs_missing_edge"), "--output", "out").stderr
    assert races(tg) is None


def test_warn_reports_a_race_and_runs_the_graph(tg):
    result = tg("run", workload("bugs_missing_edge"), "--races", "warn", "--output", "out")
    assert "race of 1 pair of tasks" in result.stderr
    assert "searched before the graph ran" in result.stderr
    found = races(tg)
    assert (found["searched"], found["result"], found["pairs"]) == ("before the run", "found", 1)
    race, = found["found"]
    assert race["first"]["writes"] and not race["second"]["writes"]
    assert "orchestrate.c:" in race["first"]["line"]
    assert race["fix"].startswith("tg_args_after(&args, task 24)")
    assert json.loads((tg.directory / "out" / "run.json").read_text())["counters"]["finished"] == 40


def test_error_does_not_run_a_graph_with_races(tg):
    result = tg("run", workload("bugs_missing_edge"), "--races", "error", "--output", "out")
    assert result.returncode == 1
    assert "taskglass: RACE: 1 pair of tasks in no order over common bytes; nothing ran" in result.stderr
    document = json.loads((tg.directory / "out" / "run.json").read_text())
    assert document["result"]["status"] == "RACE" and document["result"]["exit_code"] == 1
    assert document["counters"]["finished"] == 0 and document["races"]["pairs"] == 1


def test_json_prints_the_races_too(tg):
    result = tg("run", workload("bugs_missing_edge"), "--races", "error", "--json")
    assert result.returncode == 1 and json.loads(result.stdout)["races"]["result"] == "found"


def test_error_runs_a_graph_without_races(tg):
    result = tg.good("run", "cholesky", "--races", "error", "--output", "out")
    assert "race" not in result.stderr
    assert races(tg)["result"] == "nothing found"


def test_the_environment_can_ask(tg):
    result = tg("run", workload("bugs_missing_edge"), env={"TASKGLASS_RACES": "error"})
    assert result.returncode == 1 and "RACE" in result.stderr


def test_a_word_that_is_no_mode_is_refused(tg):
    result = tg("run", "vector_add", "--races", "maybe")
    assert result.returncode == 2 and "not one of: off warn error" in result.stderr


def test_a_device_built_graph_is_recorded_and_searched_after_the_run(tg):
    tg.good("run", "stencil", "--runtime", "aicpu_build_graph", "--races", "warn", "--output", "out")
    document = json.loads((tg.directory / "out" / "run.json").read_text())
    assert document["races"]["searched"] == "after the run"
    assert document["recorder"]["recorded"] > 0 and document["recorder"]["payload_bytes"] == 0  # level meta
    assert (tg.directory / "out" / "deps.json").exists()


def test_error_fails_a_device_built_graph_after_it_has_run(tg):
    result = tg("run", workload("bugs_missing_edge"), "--runtime", "aicpu_build_graph", "--races", "error",
                "--output", "out")
    assert result.returncode == 1 and "so it has run" in result.stderr
    document = json.loads((tg.directory / "out" / "run.json").read_text())
    assert document["counters"]["finished"] == 40 and document["races"]["pairs"] == 1


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_no_example_has_a_race(tg, runtime):
    for name in examples(tg):
        result = tg("run", name, "--runtime", runtime, "--races", "error", "--output", name)
        if result.returncode == 2:  # moe reads results, which a host-built graph does not have
            assert (name, runtime) == ("moe", "host_build_graph") and "cannot read a result" in result.stderr
            continue
        assert result.returncode == 0, result.stderr
        assert races(tg, name)["result"] == "nothing found", (name, races(tg, name))
