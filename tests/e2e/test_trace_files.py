# SPDX-License-Identifier: Apache-2.0
"""The files that `export --to trace` writes, as a viewer reads them."""
import csv
import io
import json
import pathlib
import re

import perfetto
import pytest
from conftest import workload

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]


def text_of(task_id):
    return f"{task_id >> 32}:{task_id & 0xFFFFFFFF}"


def read_perfetto(tg, *arguments):
    result = tg("export", "run", "--to", "trace", "--output", "x.pftrace", "--force", *arguments)
    assert result.returncode == 0, result
    return perfetto.read((tg.directory / "x.pftrace").read_bytes())


def read_chrome(tg, *arguments):
    tg.good("export", "run", "--to", "trace", "--output", "x.json", "--force", *arguments)
    return json.loads((tg.directory / "x.json").read_text())


@pytest.fixture(params=RUNTIMES)
def recorded(tg, request):
    tg.good("run", "matmul_chain", "--runtime", request.param, "--dump-tensor", "--cores", 6,
            "--enable-scope-stats", "--output", "run")
    return tg


def rows(tg):
    text = tg.good("export", "run", "--to", "csv", "--output", "-").stdout
    return list(csv.DictReader(io.StringIO(text)))


def deps(tg):
    return json.loads((tg.directory / "run" / "deps.json").read_text())["tasks"]


def test_the_writer_uses_the_published_numbers():
    header = (ROOT / "src" / "trace" / "perfetto.h").read_text()
    found = {name: int(number) for name, number in re.findall(r"\bTG_PF_(\w+) = (\d+)", header)}
    assert found == {name: perfetto.published(name) for name in perfetto.CONSTANTS}


def test_a_perfetto_trace_has_every_task_with_its_times(recorded):
    trace = read_perfetto(recorded)
    shown = {each.args["task_id"]: each for each in trace.of("task")}
    assert len(shown) == len(trace.of("task")) == len(deps(recorded))
    for task in deps(recorded):
        each = shown[int(task["task_id"], 16)]
        assert each.name == each.args["kernel"] == "+".join(task["kernel"])
        assert each.args["task"] == text_of(int(task["task_id"], 16))
        assert each.args["scope"] == task["scope"] and each.args["completed"] is True
        assert trace.track_of(each).startswith("core ") and each.depth == 0
    for row in rows(recorded):
        if row["stage"] in ("before", "before_dispatch"):
            each = shown[int(row["task_id"], 16)]
            assert each.begin <= int(row["time_ns"]) <= each.end


def test_flows_are_the_edges(recorded):
    trace = read_perfetto(recorded)
    wanted = {(text_of(int(before, 16)), text_of(int(task["task_id"], 16)))
              for task in deps(recorded) for before in task["after"]}
    assert {(a.args["task"], b.args["task"]) for a, b in trace.flows} == wanted
    assert {(before, each.args["task"]) for each in trace.of("task")
            for before in each.args.get("after", [])} == wanted
    assert not trace.open_flows
    kinds = {task["task_id"]: task["kind"] for task in deps(recorded)}
    for each in trace.of("task"):
        assert each.args.get("why", []) == kinds[f"0x{each.args['task_id']:016x}"]


def test_ready_and_running_tasks_are_counted_exactly(recorded):
    trace = read_perfetto(recorded)
    tasks = trace.of("task")
    for name, begin, end in (
            ("ready tasks", lambda each: each.begin - each.args["wait_ns"], lambda each: each.begin),
            ("running tasks", lambda each: each.begin, lambda each: each.end)):
        assert trace.units[name] == "count" and trace.counters[name]
        for time, value in trace.counters[name]:
            at_once = [each for each in trace.counters[name] if each[0] == time]
            if at_once[-1] == (time, value):  # a step at the time at which the run begins
                assert value == sum(begin(each) <= time < end(each) for each in tasks), (name, time)
        assert trace.counters[name][-1][1] == 0


def test_recorder_bytes_end_at_what_was_recorded(recorded):
    trace = read_perfetto(recorded)
    values = [value for _, value in trace.counters["recorder bytes"]]
    assert values == sorted(values) and trace.units["recorder bytes"] == "bytes"
    assert values[-1] == sum(int(row["bin_size"] or 0) for row in rows(recorded))


def test_a_task_shows_its_tensors_and_scalars(recorded):
    trace = read_perfetto(recorded)
    args = {each.args["task"]: each.args for each in trace.of("task")}
    for row in rows(recorded):
        if row["task_id"] and row["stage"] in ("before", "after", "before_dispatch", "after_completion"):
            shown = args[text_of(int(row["task_id"], 16))][f"arg{row['arg_index']}"]
            assert row["dtype"] in shown


def test_the_run_spans_all_and_has_its_facts(recorded):
    trace = read_perfetto(recorded)
    run, = trace.of("run")
    facts = json.loads((recorded.directory / "run" / "run.json").read_text())
    assert run.begin == min(each.begin for each in trace.slices)
    assert run.end == max(each.end for each in trace.slices)
    for key in ("workload", "case", "platform", "runtime"):
        assert run.args[key] == facts[key]
    assert run.args["program"] == "taskglass" and run.args["result"] == facts["result"]["status"]
    assert run.args["cores"] == 6
    names = [track["name"] for track in trace.tracks.values()]
    assert sum(name.startswith("core ") for name in names) == 6


def test_submissions_and_scopes_are_on_tracks_of_their_own(recorded):
    trace = read_perfetto(recorded)
    facts = trace.of("run")[0].args
    submitted = [each for each in trace.of("orchestrator") if each.name == "submit"]
    if facts["runtime"] == "host_build_graph":  # the host built the graph before the run
        assert not submitted and not trace.of("scope")
        return
    assert sorted(each.args["task"] for each in submitted) == sorted(
        each.args["task"] for each in trace.of("task"))
    assert {trace.track_of(each) for each in submitted} == {"orchestrator"}
    assert {trace.track_of(each) for each in trace.of("scope")} == {"scopes"}
    scopes = {each.name for each in trace.of("scope")}
    for each in submitted:  # a scope is open from its first submission to its last
        assert each.args["scope"] in scopes
        assert any(scope.name == each.args["scope"] and scope.begin <= each.begin <= scope.end
                   for scope in trace.of("scope")), each.args
    names = {name.split(" (")[0] for name in trace.counters}
    assert {"ring 0 task slots", "ring 0 heap", "ring 0 dependencies"} <= names
    assert trace.units[next(name for name in trace.units if name.startswith("ring 0 heap"))] == "bytes"


def test_a_scope_is_in_the_scopes_around_it(tg):
    tg.good("run", workload("rings"), "--case", "marked", "--runtime", "tensormap_and_ringbuffer", "--dump-tensor=meta",
            "--enable-scope-stats", "--output", "run")
    scopes = read_perfetto(tg).of("scope")
    assert {each.args["depth"] for each in scopes} == {0, 1, 2}
    for each in scopes:  # one that has no length is beside those that it is in
        assert each.depth <= each.args["depth"], each.args


def test_both_formats_say_the_same(recorded):
    trace, document = read_perfetto(recorded), read_chrome(recorded)
    begin = int(document["taskglass"]["clock_begin_ns"])
    threads = {event["tid"]: event["args"]["name"] for event in document["traceEvents"]
               if event["ph"] == "M" and event["name"] == "thread_name"}

    def ns(event, key="ts"):
        return round(event[key] * 1000)

    tasks = {event["args"]["task"]: event for event in document["traceEvents"] if event["ph"] == "X"}
    for each in trace.of("task"):
        event = tasks.pop(each.args["task"])
        assert (begin + ns(event), ns(event, "dur")) == (each.begin, each.end - each.begin)
        assert threads[event["tid"]] == trace.track_of(each) and event["name"] == each.name
        assert event["args"] == {**each.args, "task_id": f"0x{each.args['task_id']:016x}"}
    assert not tasks
    values = {}
    for event in document["traceEvents"]:
        if event["ph"] == "C":
            values.setdefault(event["name"], []).append((begin + ns(event), *event["args"].values()))
    assert values == trace.counters
    run, = trace.of("run")
    assert document["otherData"] == run.args
    others = sum(event["ph"] == "B" for event in document["traceEvents"])
    assert others == sum(event["ph"] == "E" for event in document["traceEvents"])
    assert others == len(trace.slices) - len(trace.of("task"))


KNOWN = ("x.pftrace", "x.perfetto-trace", "x.trace.json")  # names that say that a trace is meant


@pytest.mark.parametrize("name, is_perfetto", [
    ("x.pftrace", True), ("x.perfetto-trace", True), ("x.trace.json", False), ("x.json", False), ("x", False)])
def test_the_name_of_the_file_says_which_trace_it_is(tg, name, is_perfetto):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    tg.good("export", "run", *([] if name in KNOWN else ["--to", "trace"]), "--output", name)
    data = (tg.directory / name).read_bytes()
    if is_perfetto:
        assert perfetto.read(data).of("task")
    else:
        assert json.loads(data)["traceEvents"]


def test_a_task_that_crashed_has_not_completed(tg):
    result = tg("run", workload("faults"), "--case", "null", "--dump-tensor", "--output", "run")
    assert result.returncode == 3
    trace = read_perfetto(tg)
    crashed = [each for each in trace.of("task") if each.name == "fault_null"]
    assert [each.args["completed"] for each in crashed] == [False]
    run, = trace.of("run")
    assert run.args["result"] == "KERNEL_FAULT" and run.args["state"] == "failed"


def test_a_filtered_trace_has_only_what_was_asked_for(tg):
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "run")
    trace = read_perfetto(tg, "--kernel", "*relu*")
    assert len(trace.of("task")) == 4 and not trace.flows
    assert len(read_perfetto(tg, "--limit", 3).of("task")) == 3


def path_of(tg, name):
    document = json.loads(tg.good("path", name, "--json").stdout)
    return json.loads(json.dumps(document).replace(json.dumps(name), '"x"'))


def test_path_says_the_same_of_both_formats(recorded):
    read_perfetto(recorded)
    read_chrome(recorded)
    ours = path_of(recorded, "x.pftrace")
    assert ours == path_of(recorded, "x.json")
    assert len(deps(recorded)) == 20 and "20" in json.dumps(ours)


@pytest.mark.parametrize("data", [
    b"", b"{}", b'{"traceEvents": []}', b"\n\x04\x42\x02\x08\x01", b"[1, 2]"])
def test_a_trace_of_another_program_is_refused_with_one_line(tg, data):
    (tg.directory / "x.pftrace").write_bytes(data)
    result = tg("path", "x.pftrace")
    assert result.returncode == 2 and result.stdout == "" and result.stderr.count("\n") == 1


def test_a_trace_that_was_cut_says_where(recorded):
    read_perfetto(recorded)
    data = (recorded.directory / "x.pftrace").read_bytes()
    packets, at = [], 0
    while at < len(data):
        size, at = perfetto.varint(data, at + 1)
        at += size
        packets.append(at)
    for cut in (len(data) * 2 // 3 + 1, packets[-2], packets[-3], packets[len(packets) // 2]):
        (recorded.directory / "x.pftrace").write_bytes(data[:cut])
        result = recorded("path", "x.pftrace")
        assert result.returncode == 2 and result.stderr.count("\n") == 1, result
        assert "'x.pftrace' is damaged at byte" in result.stderr
