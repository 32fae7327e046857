# SPDX-License-Identifier: Apache-2.0
"""The trace of a run of several ranks, as a viewer reads it: a process for each rank, calls and messages."""
import collections
import json

import perfetto
import pytest

RANKS = 4


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """One run in each format."""
    from conftest import Runner
    tg = Runner(tmp_path_factory.mktemp("ranks"))
    for name in ("pftrace", "json"):
        tg.good("run", "--ranks", RANKS, "ring_attention", "--trace", f"all.{name}", "--output", name)
    return tg


def calls_of(tg, folder):
    """All calls of a run, with their rank."""
    found = []
    for rank in range(RANKS):
        lines = (tg.directory / folder / f"rank{rank}" / "comm.jsonl").read_text().splitlines()
        found += [{"rank": rank, **json.loads(line)} for line in lines[1:-1]]
    return found


def exported(tg, folder, path):
    """Exports the trace, and returns what the command says of it. By clocks that are off, as on a busy machine, some
    arrows would go backward: these are left out."""
    result = tg("export", folder, "--to", "trace", "--output", path, "--json")
    told = json.loads(result.stdout)
    assert result.returncode == 0 and (result.stderr == "" or told["backward_arrows"] > 0), result
    return told


def test_a_perfetto_trace_has_a_process_for_each_rank_with_all_its_tasks(traced):
    trace = perfetto.read((traced.directory / "all.pftrace").read_bytes(), RANKS)
    processes = {uuid: track["process"] for uuid, track in trace.tracks.items() if "process" in track}
    assert sorted(process["pid"] for process in processes.values()) == list(range(RANKS))
    tasks = collections.Counter()
    for each in trace.of("task"):
        tasks[processes[trace.tracks[each.track]["parent_uuid"]]["pid"]] += 1
    for rank, process in enumerate(sorted(processes.values(), key=lambda one: one["pid"])):
        assert process["process_name"].startswith(f"rank {rank} (")
        report = json.loads((traced.directory / "pftrace" / f"rank{rank}" / "run.json").read_text())
        assert tasks[rank] == report["counters"]["tasks"]
    runs = {each.args["rank"]: each.args for each in trace.of("run")}
    listed = json.loads((traced.directory / "pftrace" / "ranks.json").read_text())["rank"]
    for rank in range(RANKS):
        assert runs[rank]["ranks"] == RANKS
        assert runs[rank]["clock_error_ns"] == listed[rank]["clock"]["error_ns"]


def test_each_call_is_a_slice_and_each_message_an_arrow_forward_in_time(traced):
    trace = perfetto.read((traced.directory / "all.pftrace").read_bytes(), RANKS)
    calls = calls_of(traced, "pftrace")
    shown = [each for each in trace.of("communication") if each.name not in ("wait", "move")]
    assert collections.Counter(each.name for each in shown) == collections.Counter(call["call"] for call in calls)
    arrows = [(first, second) for first, second in trace.flows if first.category == "communication"]
    told = exported(traced, "pftrace", "again.pftrace")
    assert len(arrows) == told["arrows"] > 0
    assert told["arrows"] + told["backward_arrows"] == sum(call["call"] == "tg_recv" for call in calls)
    for send, move in arrows:
        assert (send.name, move.name) == ("tg_send", "move")
        assert send.begin < move.begin <= move.end
        receive, = (each for each in shown if each.track == move.track and each.begin <= move.begin and move.end <= each.end
                    and each.name == "tg_recv" and each.depth == move.depth - 1
                    and each.args["number"] == send.args["number"] and each.args["tag"] == send.args["tag"])
        assert receive.args["bytes"] == send.args["bytes"]


def test_the_json_has_the_same(traced):
    document = json.loads((traced.directory / "all.json").read_text())
    events = document["traceEvents"]
    assert document["otherData"]["ranks"] == RANKS
    assert {event["pid"] for event in events} == set(range(RANKS))
    calls = calls_of(traced, "json")
    begun = [event["name"] for event in events if event["ph"] == "B" and event.get("cat") == "communication"]
    assert collections.Counter(name for name in begun if name not in ("wait", "move")) == \
        collections.Counter(call["call"] for call in calls)
    ends = {kind: [event["id"] for event in events if event["ph"] == kind] for kind in "sf"}
    assert sorted(ends["s"]) == sorted(ends["f"]) and len(set(ends["s"])) == len(ends["s"])
    assert all(event["ts"] >= 0 for event in events if "ts" in event)


def test_path_takes_the_trace_of_a_rank_and_refuses_that_of_all(traced):
    result = traced("path", "all.pftrace")
    assert result.returncode == 2 and "4 ranks together" in result.stderr
    answer = json.loads(traced.good("path", "pftrace/rank1/trace.pftrace", "--json").stdout)
    spent = answer["path"]["spent_ns"]
    assert sum(spent.values()) == answer["span"]["ns"]
    assert "comm" in spent


def test_recordings_of_ranks_are_exported_as_one_trace(tg):
    tg.good("run", "--ranks", 2, "ring_attention", "--dump-tensor=meta", "--output", "run")
    told = exported(tg, "run", "all.pftrace")
    trace = perfetto.read((tg.directory / "all.pftrace").read_bytes(), 2)
    assert {each.args["rank"] for each in trace.of("run")} == {0, 1}
    receives = [each for each in trace.of("communication") if each.name == "tg_recv"]
    sent = [first for first, _ in trace.flows if first.name == "tg_send"]
    assert len(sent) + told["backward_arrows"] >= len(receives) > 0
    # A call is a moment on its core, and no core has it in between.
    assert all(each.begin == each.end for each in trace.of("task") if each.name == "tg_recv")


def test_a_rank_whose_calls_cannot_be_read_is_named(tg):
    tg.good("run", "--ranks", 2, "ring_attention", "--dump-tensor=meta", "--output", "run")
    (tg.directory / "run" / "rank1" / "comm.jsonl").write_text("broken")
    result = tg("export", "run", "--to", "trace", "--output", "all.json")
    assert result.returncode == 0 and "rank 1 is without its calls: 'run/rank1/comm.jsonl', line 1" in result.stderr
