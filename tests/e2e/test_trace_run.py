# SPDX-License-Identifier: Apache-2.0
"""`run --trace`: what the device saw, for every runtime and platform, also of runs that fail."""

import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import time

import perfetto
import pytest
from conftest import PLATFORMS, PROGRAM, TIMEOUT, clean_environment, one_line, workload
from platforms import GPU, MOST_SCHEDULERS, is_in_task_3, limits_for, simulators_only, until

RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]
TRACE = ("--trace", "t.pftrace")


def read(tg):
    return perfetto.read((tg.directory / "t.pftrace").read_bytes())


def parts_of(trace):
    """The slices of each task."""
    parts = {}
    for each in trace.of("task"):
        parts.setdefault(each.args["task"], []).append(each)
    return parts


def text_of(task_id):
    return f"{int(task_id, 16) >> 32}:{int(task_id, 16) & 0xFFFFFFFF}"


def edges_of(deps):
    return {(text_of(before), text_of(task["task_id"])) for task in deps["tasks"] for before in task["after"]}


def ready(each):
    return each.begin - each.args["wait_ns"]


def check_order(trace):
    """What holds for every trace, whatever ran."""
    parts = parts_of(trace)
    run, = trace.of("run")
    for slices in parts.values():
        assert len({(each.args["kernel"], each.args["part"]) for each in slices}) == len(slices)
        assert len({ready(each) for each in slices}) == 1 and ready(slices[0]) >= run.begin
    for each in trace.of("task"):
        assert run.begin <= ready(each) <= each.begin <= each.end <= run.end
        for before in each.args.get("after", []):
            if before in parts:
                assert max(other.end for other in parts[before]) <= ready(each), (before, each.args)
    for _, lane in itertools.groupby(sorted(trace.of("task"), key=lambda each: (each.track, each.begin)),
                                     lambda each: each.track):
        for one, next_one in itertools.pairwise(lane):
            assert one.end <= next_one.begin, "two tasks at a time on one core"


def check_complete(trace, deps):
    """Every task once for each of its kernels, with the edges of deps.json."""
    parts = parts_of(trace)
    assert {task: sorted(each.args["kernel"] for each in slices) for task, slices in parts.items()} == {
        text_of(task["task_id"]): sorted(task["kernel"]) for task in deps["tasks"]}
    assert {(a.args["task"], b.args["task"]) for a, b in trace.flows} == edges_of(deps)
    assert all(each.args["completed"] for each in trace.of("task"))


@pytest.mark.parametrize("schedulers", [0, min(2, MOST_SCHEDULERS)])
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("example", ["mix", "cholesky"])
def test_every_task_is_there_with_its_times_and_edges(tg, example, platform, runtime, schedulers):
    facts = tg.run_json(example, "--platform", platform, "--runtime", runtime, "--cores", 6, "--schedulers",
                        schedulers, "--deps", *TRACE)
    trace, deps = read(tg), json.loads((tg.directory / "out" / "deps.json").read_text())
    check_order(trace)
    check_complete(trace, deps)
    assert facts["trace"]["lost"] == 0 and facts["trace"]["tasks"] == len(trace.of("task"))
    submitted = [each for each in trace.of("orchestrator") if each.name == "submit"]
    if runtime == "host_build_graph":
        assert not submitted and not trace.of("scope")
    else:
        assert {each.args["task"] for each in submitted} == set(parts_of(trace))
        assert sum(each.args["tasks"] for each in trace.of("scope")) == len(submitted)
        for each in submitted:
            assert each.end <= ready(parts_of(trace)[each.args["task"]][0])


@pytest.mark.parametrize("runtime", RUNTIMES[1:])
def test_a_trace_alone_knows_all_edges(tg, runtime):
    tg.good("run", "cholesky", "--runtime", runtime, "--deps", "--output", "deps")
    tg.good("run", "cholesky", "--runtime", runtime, *TRACE)
    check_complete(read(tg), json.loads((tg.directory / "deps" / "deps.json").read_text()))


def test_run_json_says_what_the_trace_is(tg):
    facts = tg.run_json("vector_add", *TRACE)["trace"]
    assert facts["file"] == "t.pftrace" and facts["format"] == "perfetto" and facts["status"] == "OK"
    assert facts["bytes"] == (tg.directory / "t.pftrace").stat().st_size
    assert facts["clock_resolution_ns"] > 0 and facts["message"] == ""
    assert tg.run_json("vector_add", "--trace", "t.json")["trace"]["format"] == "chrome"
    assert json.loads((tg.directory / "t.json").read_text())["otherData"]["workload"] == "vector_add"
    assert "trace" not in tg.run_json("vector_add")


def test_the_report_says_where_the_trace_is_and_how_to_open_it(tg):
    said = tg.good("run", "vector_add", *TRACE).stdout
    line, = (line for line in said.splitlines() if line.startswith("  trace"))
    assert "t.pftrace" in line and "ui.perfetto.dev" in said and "taskglass path" in said


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_recorded_run_can_be_traced_too(tg, platform):
    facts = tg.run_json("mix", "--platform", platform, "--cores", 6, "--dump-tensor", *TRACE)
    trace = read(tg)
    check_order(trace)
    check_complete(trace, json.loads((tg.directory / "out" / "deps.json").read_text()))
    values = [value for _, value in trace.counters["recorder bytes"]]
    assert values == sorted(values) and values[-1] >= facts["recorder"]["payload_bytes"]
    tg.good("verify", "out")


def test_rings_and_waits_are_shown(tg):
    result = tg("run", "cholesky", "--case", "medium", "--runtime", "tensormap_and_ringbuffer",
                "--ring-task-window", 64, *TRACE)
    assert result.returncode == 0, result
    trace = read(tg)
    check_order(trace)
    slots, = (values for name, values in trace.counters.items() if name.startswith("ring 1 task slots"))
    assert 0 < max(value for _, value in slots) <= 64
    assert any(name.startswith("tensor map") for name in trace.counters)
    waits = [each for each in trace.of("orchestrator") if each.name != "submit"]
    assert waits, "816 tasks do not fit into 64 slots"


FAULTS = [("abort" if GPU else "null", "KERNEL_FAULT"), ("spin", "HANG")]


@pytest.mark.parametrize("case, status", FAULTS)
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_run_that_fails_has_a_trace_with_what_was_running(tg, platform, runtime, case, status):
    result = until(lambda result: is_in_task_3(result.stderr), lambda limit: tg(
        "run", workload("faults"), "--case", case, "--platform", platform, "--runtime", runtime,
        "--timeout", limit, "--output", "out", *TRACE), limits_for(status, 0.5))
    assert result.returncode == 3 and status in result.stderr and "t.pftrace" in result.stderr, result
    trace = read(tg)
    check_order(trace)
    running = [each for each in trace.of("task") if not each.args["completed"]]
    assert {each.args["task"].split(":")[1] for each in running} == {"3"}
    run, = trace.of("run")
    assert run.args["result"] == status and max(each.end for each in running) == run.end
    facts = json.loads((tg.directory / "out" / "run.json").read_text())
    assert {each["kernel"] for each in facts["error"]["running"]} == {each.name for each in running}


@simulators_only
def test_a_mix_that_crashes_shows_the_parts_that_had_begun(tg):
    result = tg("run", workload("faults"), "--case", "mix_null", "--cores", 6, *TRACE)
    assert result.returncode == 3
    running = [each for each in read(tg).of("task") if not each.args["completed"]]
    assert running and len({each.args["task"] for each in running}) == 1


class Run:
    """A traced chain of tasks that no test waits for, in the background. They fit into a ring, so none deadlocks."""

    def __init__(self, tg, *options):
        self.process = subprocess.Popen(
            [PROGRAM, "run", workload("slow"), "--case", "chain", "--set", "n=10000", "--set", "ms=20",
             "--output", "out", *TRACE, *map(str, options)], cwd=tg.directory, env=clean_environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def device(self):
        """The number of the device's process, once it is there."""
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            for child in map(int, open(children).read().split()):
                with contextlib.suppress(FileNotFoundError):  # it has ended meanwhile
                    if "taskglass-device" in os.readlink(f"/proc/{child}/exe"):
                        return child
            time.sleep(0.01)
        raise AssertionError("no device")

    def end(self):
        _, said = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, said


@simulators_only
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_device_that_is_killed_leaves_a_trace(tg, runtime):
    run = Run(tg, "--runtime", runtime)
    device = run.device()
    time.sleep(random.random())  # at any moment: what holds, holds for all of them
    os.kill(device, signal.SIGKILL)
    code, said = run.end()
    if "running the graph" in said or not (tg.directory / "t.pftrace").exists():
        assert code == 3 and "DEVICE_LOST" in said  # it had not begun
        return
    assert code == 3 and "DEVICE_LOST" in said
    trace = read(tg)
    check_order(trace)
    assert sum(not each.args["completed"] for each in trace.of("task")) <= 1


@simulators_only
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_run_that_is_stopped_has_a_trace(tg, runtime):
    run = Run(tg, "--runtime", runtime)
    run.device()
    time.sleep(0.3)
    run.process.send_signal(signal.SIGINT)
    code, said = run.end()
    assert code in (3, 130, -signal.SIGINT), said
    if (tg.directory / "t.pftrace").exists():  # unless it was stopped before it began
        trace = read(tg)
        check_order(trace)
        assert trace.of("run")[0].args["result"] == "CANCELLED"


@simulators_only
def test_a_host_that_is_killed_leaves_nothing_of_a_trace(tg):
    (tg.directory / "t.pftrace").write_text("the trace before")
    run = Run(tg)
    run.device()
    time.sleep(random.random())
    run.process.kill()
    run.end()
    assert {each.name for each in tg.directory.iterdir()} <= {"out", "t.pftrace"}
    assert (tg.directory / "t.pftrace").read_text() == "the trace before"


@pytest.mark.parametrize("name", ["missing/t.pftrace", "folder", "", "file/t.pftrace", "x" * 300, "-"],
                         ids=lambda name: name[:20])
def test_a_file_that_cannot_be_made_is_refused_before_the_run(tg, name):
    (tg.directory / "folder").mkdir()
    (tg.directory / "file").write_text("")
    result = tg("run", "vector_add", "--output", "out", "--trace", name)
    assert result.returncode == 2 and one_line(result.stderr) and result.stdout == "", result
    assert sorted(each.name for each in tg.directory.iterdir()) == ["file", "folder"]


def test_a_file_in_the_output_directory_is_fine(tg):
    for _ in range(2):
        tg.good("run", "vector_add", "--output", "a/b/", "--trace", "a/b/t.pftrace")
    check_order(perfetto.read((tg.directory / "a" / "b" / "t.pftrace").read_bytes()))


@pytest.mark.parametrize("name", ["run.json", "./run.json", "deps.json", "tensor_dump/tensor_dump.rec",
                                  "scope_stats/scope_stats.json"])
def test_a_trace_replaces_no_other_file_of_the_run(tg, name):
    run = ["run", "vector_add", "--runtime", "aicpu_build_graph", "--dump-tensor", "--enable-scope-stats"]
    for times in range(2):
        result = tg(*run, "--output", "out", "--trace", f"out/{name}")
        assert result.returncode == 2 and one_line(result.stderr) and result.stdout == "", result
        assert (tg.directory / "out").exists() == (times > 0)
        tg.good(*run, "--output", "out")
    tg.good("verify", "out")


def test_a_full_disk_costs_the_trace_and_not_the_run(tg):
    result = tg("run", "vector_add", "--output", "out", "--trace", "/dev/full")
    assert result.returncode == 0 and "trace" in result.stderr and "/dev/full" in result.stderr
    facts = json.loads((tg.directory / "out" / "run.json").read_text())["trace"]
    assert facts["status"] == "IO_ERROR" and facts["bytes"] == 0 and facts["message"]
    assert facts["tasks"] == 0 and facts["lost"] == facts["events"] > 0


def test_a_trace_replaces_a_file_of_that_name(tg):
    (tg.directory / "t.pftrace").write_text("the trace before")
    tg.good("run", "vector_add", *TRACE)
    check_order(read(tg))
