# SPDX-License-Identifier: Apache-2.0
"""run.json and deps.json: their contents, and that these are true."""

import datetime
import fcntl
import json
import os

import pytest

from conftest import PLATFORMS, PROGRAM, one_line, workload

KEYS = ["version", "workload", "module", "case", "params", "platform", "runtime", "command_line",
        "options", "result", "error", "device", "sandbox", "times", "counters", "tensors", "outputs",
        "recorder", "orchestration", "scope_stats", "warnings"]


def test_run_json_has_its_keys_in_their_order(tg):
    assert list(tg.run_json("vector_add")) == KEYS


def test_run_json_of_a_failed_run_has_the_same_keys_and_explains(tg):
    keys = list(tg.run_json(workload("faults"), "--case", "abort", code=3))
    assert keys.pop(KEYS.index("error") + 1) == "explanation" and keys == KEYS


def test_run_json_says_what_ran(tg):
    report = tg.run_json("vector_add", "--case", "odd", "--platform", "a5sim")
    assert [report[key] for key in ("workload", "case", "platform", "runtime")] == [
        "vector_add", "odd", "a5sim", "host_build_graph"]
    assert report["module"].endswith("/workloads/vector_add.so")
    assert report["recorder"] is None


def test_run_json_has_the_version_that_the_program_prints(tg):
    version = tg.good("--version").stdout.split()[1]
    assert tg.run_json("vector_add")["version"] == version


def test_run_json_has_the_parameters_with_what_set_changed(tg):
    report = tg.run_json("vector_add", "--set", "n=512", "--set", "tile=128")
    assert report["params"] == {"n": "512", "tile": "128"}
    assert report["outputs"][0]["elements"] == 512


def test_run_json_has_the_tensors_of_the_case_with_their_addresses(tg):
    tensors = tg.run_json("vector_add", "--set", "n=512", "--dump-args")["tensors"]
    assert [(t["name"], t["arg"], t["role"], t["dtype"], t["shape"], t["bytes"])
            for t in tensors] == [("a", 0, "in", "float32", [512], 2048),
                                  ("b", 1, "in", "float32", [512], 2048),
                                  ("c", 2, "out", "float32", [512], 2048)]
    records = json.loads((tg.directory / "out/tensor_dump/tensor_dump.json").read_text())
    given = [r["data_ptr"] for r in records["tensors"] if r["stage"] == "orchestration"]
    assert [int(t["address"], 16) for t in tensors] == [int(address, 16) for address in given[:3]]


def test_the_last_of_several_sets_of_one_parameter_counts(tg):
    assert tg.run_json("vector_add", "--set", "n=512", "--set=n=256")["params"]["n"] == "256"


def test_run_json_has_the_command_line(tg):
    report = tg.run_json("vector_add", "--set", "n=512")
    assert report["command_line"] == [str(PROGRAM), "run", "vector_add", "--set", "n=512",
                                      "--output", "out"]


def test_run_json_has_every_setting_with_its_source(tg):
    names = [setting["name"] for setting in tg.json("config")["settings"]]
    options = tg.run_json("vector_add", "--cores", "6",
                          env={"TASKGLASS_SCHEDULERS": "1"})["options"]
    assert list(options) == names
    assert options["cores"] == {"value": "6", "source": "caller"}
    assert options["schedulers"] == {"value": "1", "source": "environment"}
    assert options["timeout"]["source"] == "default"


def test_run_json_of_a_good_run_has_no_error(tg):
    report = tg.run_json("vector_add")
    assert report["result"] == {"status": "OK", "exit_code": 0} and report["error"] is None


def test_the_error_of_run_json_has_its_advice(tg):
    error = tg.run_json(workload("faults"), "--case", "spin", "--timeout", "0.2", code=3)["error"]
    assert list(error) == ["name", "text", "advice", "site", "called_at", "running", "unmet_count",
                           "unmet"]
    assert "--timeout" in error["advice"]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_counters_of_run_json_are_those_of_the_run(tg, platform):
    report = tg.run_json("vector_add", "--cores", 6, "--schedulers", 2, "--platform", platform)
    counters = report["counters"]
    assert counters == {"tasks": 4, "edges": 0, "finished": 4, "waiting": 0, "cores": 6,
                        "schedulers": 2, "bytes_in": 2 * 1024 * 4, "bytes_out": 1024 * 4}


def test_the_device_of_run_json_is_what_was_asked_for(tg):
    device = tg.run_json("vector_add", "--cores", 6, "--device-memory", "64M")["device"]
    assert (device["cores"], device["blocks"], device["memory"]) == (6, 2, 64 << 20)
    assert 0 < device["memory_used"] < device["memory"]
    assert not device["lost"]


def test_the_times_of_run_json_are_seconds_within_the_total(tg):
    times = tg.run_json("vector_add")["times"]
    datetime.datetime.strptime(times.pop("started"), "%Y-%m-%dT%H:%M:%S%z")
    total = times.pop("total_seconds")
    times.pop("lingered", None)
    assert all(value >= 0 for value in times.values())
    assert times.pop("load_seconds") <= times["open_seconds"]  # a part of it
    assert times.pop("begin_seconds", 0) <= times["execute_seconds"]
    assert sum(times.values()) <= total


def test_an_exact_output_says_so(tg):
    for check in tg.run_json("views")["outputs"]:
        assert check["exact"] and check["mismatches"] == 0 and check["max_error"] == 0
        assert check["first_mismatch"] is None


def test_json_prints_what_is_in_the_file(tg):
    printed = tg.json("run", "vector_add", "--output", "out")
    assert printed == json.loads((tg.directory / "out" / "run.json").read_text())


def test_json_of_a_failed_run_prints_it_too(tg):
    result = tg("run", workload("faults"), "--case", "abort", "--json")
    assert json.loads(result.stdout)["result"]["status"] == "KERNEL_FAULT"


def deps(tg, *args):
    tg.good("run", *args, "--deps", "--output", "out")
    return json.loads((tg.directory / "out" / "deps.json").read_text())


def test_deps_json_is_written_only_when_asked_for(tg):
    tg.good("run", "vector_add", "--output", "out")
    assert [path.name for path in (tg.directory / "out").iterdir()] == ["run.json"]


def test_deps_json_has_its_keys(tg):
    document = deps(tg, "matmul_chain")
    assert list(document) == ["version", "workload", "case", "runtime", "tasks", "allocations"]
    assert all(list(task) == ["task_id", "func_id", "kernel", "scope", "line", "after", "kind"]
               for task in document["tasks"])
    assert document["allocations"] == []  # the graph keeps all its memory


def test_deps_json_has_every_task_and_edge_that_run_json_counts(tg):
    tasks = deps(tg, "matmul_chain")["tasks"]
    counters = json.loads((tg.directory / "out" / "run.json").read_text())["counters"]
    assert len(tasks) == counters["tasks"]
    assert sum(len(task["after"]) for task in tasks) == counters["edges"]


def test_deps_json_numbers_tasks_in_the_order_of_their_submission(tg):
    tasks = deps(tg, "matmul_chain")["tasks"]
    assert [task["task_id"] for task in tasks] == [f"0x{i:016x}" for i in range(len(tasks))]


def test_deps_json_has_the_predecessors_of_each_task(tg):
    tasks = deps(tg, workload("graphs"), "--case", "diamond")["tasks"]
    after = [{int(task, 16) for task in entry["after"]} for entry in tasks]
    assert after == [set(), {0}, {0}, {1, 2}]


def test_deps_json_of_a_chain_submitted_backwards_points_to_later_tasks(tg):
    tasks = deps(tg, workload("graphs"), "--case", "reverse")["tasks"]
    after = [[int(task, 16) for task in entry["after"]] for entry in tasks]
    assert after == [[i + 1] for i in range(len(tasks) - 1)] + [[]]


def test_deps_json_names_each_kernel_of_a_mix(tg):
    tasks = deps(tg, "mix")["tasks"]
    assert any(len(task["kernel"]) == 3 for task in tasks)
    assert all(len(task["kernel"]) == len(task["func_id"]) for task in tasks)


def test_deps_json_names_the_scope_by_its_source_line(tg):
    for task in deps(tg, "matmul_chain")["tasks"]:
        file, line = task["scope"].rsplit(":", 1)
        assert file.endswith("orchestrate.c") or file.endswith("cases.c")
        assert int(line) > 0


def test_deps_json_is_there_for_a_run_that_failed(tg):
    tg("run", workload("faults"), "--case", "abort", "--deps", "--output", "out")
    assert len(json.loads((tg.directory / "out" / "deps.json").read_text())["tasks"]) == 7


# --- what a program reads when there is no run.json -------------------------------------------------

@pytest.mark.parametrize("args,status,part", [
    (("vector_add", "--case", "nothing"), "NOT_FOUND", "nothing"),
    (("nothing",), "NOT_FOUND", "nothing"),
    (("vector_add", "--platform", "nothing"), "NOT_FOUND", "nothing"),
    (("vector_add", "--output", "/proc/nothing"), "IO_ERROR", "/proc/nothing"),
    (("vector_add", "--dump-filter", "task=1"), "BAD_ARGUMENT", "--dump-filter"),
])
def test_a_run_that_makes_no_directory_prints_a_document_too(tg, args, status, part):
    result = tg("run", *args, "--json")
    assert result.returncode == 2 and one_line(result.stderr)
    document = json.loads(result.stdout)
    assert document["result"] == {"status": status, "exit_code": 2}
    assert document["error"]["name"] == status and part in document["error"]["text"]
    assert document["workload"] == args[0]


def test_a_directory_in_use_is_named_in_the_document(tg):
    (tg.directory / "out").mkdir()
    held = os.open(tg.directory / "out", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    result = tg("run", "vector_add", "--output", "out", "--json")
    os.close(held)
    assert result.returncode == 2 and one_line(result.stderr)
    assert json.loads(result.stdout)["result"]["status"] == "BUSY"
    assert list((tg.directory / "out").iterdir()) == []
