# SPDX-License-Identifier: Apache-2.0
"""What a run of several ranks has left, and what its files say together."""

import json
import pathlib
import shutil

import pytest
import taskglass

from conftest import command_json, test_workload

RANKS = test_workload("ranks")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A run of two ranks that was recorded; tests only read it."""
    return taskglass.run(RANKS, ranks=2, dump_tensor="full", deps=True, set={"seed": 3, "steps": 20},
                         output=tmp_path_factory.mktemp("ranks") / "job")


@pytest.fixture
def ranks(recorded):
    with taskglass.Ranks(recorded.output_dir) as opened:
        yield opened


def test_the_directory_tells_about_the_run(ranks, recorded):
    assert (ranks.workload, ranks.case, ranks.status, len(ranks)) == ("ranks", "random", "OK", 2)
    assert (ranks.transport, ranks.dir) == ("local", recorded.output_dir)
    assert [rank.status for rank in ranks] == ["OK", "OK"] and ranks[-1] is ranks[1]
    assert [rank.pid for rank in ranks] == [rank.pid for rank in recorded.ranks]
    assert "2, OK" in repr(ranks) and "rank" in ranks._repr_html_()
    with pytest.raises(taskglass.OutOfRange):
        ranks[2]
    with pytest.raises(taskglass.BadType):
        ranks["first"]


def test_clocks_turn_times_into_those_of_rank_0(ranks):
    clock = taskglass.RankClock(offset_ns=-100, drift=1e-3, at_ns=1000, error_ns=5, samples=3)
    assert clock.to_rank0(1000) == 900 and clock.to_rank0(3000) == 2902
    assert ranks[0].clock is None or ranks[0].clock.to_rank0(12345) == 12345


def test_calls_are_those_of_the_file(ranks, recorded):
    for rank in ranks:
        lines = (rank.dir / "comm.jsonl").read_text().splitlines()[1:-1]
        want = [json.loads(line) for line in lines]
        got = rank.calls()
        assert [(call.task, call.call, call.peer, call.tag, call.number) for call in got] == [
            (int(call["task"], 16), call["call"], call["peer"], call["tag"], call["number"])
            for call in want] and got
        assert all(call.state == "done" and call.done_ns >= call.posted_ns for call in got)
    assert len(ranks.calls()) == sum(len(rank.calls()) for rank in ranks)


def test_both_ends_of_a_message_find_each_other(ranks):
    sends = [call for call in ranks.calls() if call.call == "tg_send"]
    assert sends
    for call in sends:
        other = ranks.other_side(call)
        assert (other.call, other.rank, other.peer, other.bytes) == (
            "tg_recv", call.peer, call.rank, call.bytes)
        assert ranks.other_side(other) == call
    reduced = next(call for call in ranks.calls() if not call.is_message)
    with pytest.raises(taskglass.BadArgument, match="call of all ranks"):
        ranks.other_side(reduced)


def test_calls_are_a_table(ranks):
    pytest.importorskip("pandas")
    table = ranks.calls_to_dataframe()
    assert len(table) == len(ranks.calls()) and set(table["rank"]) == {0, 1}
    assert str(table["peer"].dtype) == "Int64"


def test_the_files_of_all_ranks_answer_together(ranks):
    messages = ranks.verify()
    assert messages and messages.messages > 0 and messages.compared > 0 and messages.misfits == ()
    assert messages.result == command_json("verify", ranks.dir)["messages"]["result"] == "good"
    explained = ranks.explain()
    assert (explained.result, explained.first, explained.waits) == ("ended well", None, ())
    assert [end.status for end in explained.ends] == ["OK", "OK"]
    assert ranks.across().result == "equal"
    assert ranks.diff(ranks).result == "equal"


def test_answers_are_those_of_the_command_line(ranks):
    said = command_json("explain", ranks.dir)
    assert ranks.explain().root in json.dumps(said, ensure_ascii=False)


def test_another_run_differs_and_the_first_cause_is_named(ranks, tmp_path):
    other = taskglass.run(RANKS, ranks=2, dump_tensor="full", deps=True, set={"seed": 4, "steps": 20},
                          output=tmp_path / "other")
    with other.files() as trusted:
        difference = ranks.diff(trusted)
    assert difference.result == "differs" and not difference and difference.differ == 2
    assert difference.causes and all(cause.rank in (0, 1) for cause in difference.causes)


def test_parts_are_compared_with_one_device(tmp_path):
    many = taskglass.run("mlp", "tensor_parallel", ranks=2, dump_tensor="full", output=tmp_path / "many")
    one = taskglass.run("mlp", "tensor_parallel", dump_tensor="full", output=tmp_path / "one")
    with one.recording() as recording, many.files() as ranks:
        same = ranks.compare(recording, "mlp_bias.2=replicated", atol=0.1, rtol=0.1)
        assert same.result == "equal" and sum(same.counts.values()) == 4
        other = ranks.compare(recording, "mlp_gelu.2=replicated", rtol=1e-9)
        assert other.result == "not known" and not other  # each rank has half of these tasks
        assert other.counts["unknown"] == 1 and "which belong together is not known" in other.tensors[0].text
        shard = "@%s.2:@%s.2=replicated" % tuple(  # the first ones; tasks are recorded in any order
            min(record.task_id for record in each.select(kernel="mlp_gelu"))
            for each in (recording, ranks[1].recording()))
        other = ranks.compare(recording, shard, rtol=1e-9)
        assert other.result == "differs" and other.counts["differs"] == 1  # rank 1 has another half
        wrong = other.tensors[0]
        assert (wrong.shard, wrong.verdict, wrong.shape) == (shard, "differs", (16, 16))
        assert wrong.mismatches > 0 and len(wrong.first) == 2 and wrong.rank == 1
        with pytest.raises(taskglass.BadArgument):
            ranks.compare(recording, "nonsense")
        with pytest.raises(taskglass.BadArgument, match="needs a shard"):
            ranks.compare(recording)
        with pytest.raises(taskglass.NotFound):
            ranks.compare(recording, "no_such_kernel.0=replicated")


def test_one_trace_shows_all_ranks(ranks, tmp_path):
    written = ranks.write_trace(tmp_path / "all.json")
    assert (written.ranks, written.shown, written.path) == (2, 2, tmp_path / "all.json")
    assert written.bytes == (tmp_path / "all.json").stat().st_size and written.calls > 0
    json.loads((tmp_path / "all.json").read_text())
    with pytest.raises(taskglass.BadArgument):
        ranks.write_trace(tmp_path / "all.json")
    ranks.write_trace(tmp_path / "all.json", overwrite=True)


def test_a_run_that_waits_is_explained(recorded, tmp_path):
    """The files of a run in which rank 1 was never answered."""
    shutil.copytree(recorded.output_dir, tmp_path / "job")
    file = tmp_path / "job" / "rank1" / "comm.jsonl"
    head, *lines, _ = file.read_text().splitlines()
    call = next(json.loads(line) for line in lines if '"tg_recv"' in line)
    call.update(tag=77, number=0, state="waits", matched_ns=None, done_ns=None, task="00000000000003e7")
    end = json.dumps({"end": True, "calls": len(lines) + 1})
    file.write_text("\n".join([head, *lines, json.dumps(call), end]) + "\n")
    document = json.loads((tmp_path / "job" / "ranks.json").read_text())
    document["status"] = document["rank"][1]["status"] = "HANG"
    (tmp_path / "job" / "ranks.json").write_text(json.dumps(document))
    with taskglass.Ranks(tmp_path / "job") as ranks:
        explained = ranks.explain()
        assert ranks.status == "HANG" and explained.result == "failed" and explained.root
        assert [(wait.rank, wait.waits_for, wait.call.tag) for wait in explained.waits] == [(1, call["peer"], 77)]
        assert ranks.other_side(ranks[1].calls()[-1]) is None


def test_a_rank_that_is_not_here_is_said(recorded, tmp_path):
    shutil.copytree(recorded.output_dir, tmp_path / "job")
    shutil.rmtree(tmp_path / "job" / "rank1")
    with taskglass.Ranks(tmp_path / "job") as ranks:
        assert [rank.is_there for rank in ranks] == [True, False]
        with pytest.raises(taskglass.NotFound, match="rank 1: .* is not here"):
            ranks[1].recording()
        assert {call.rank for call in ranks.calls()} == {0}
        assert ranks.verify().result == "not known" and ranks.verify().absent == 1


def test_the_files_of_another_rank_are_not_those_of_the_rank(recorded, tmp_path):
    shutil.copytree(recorded.output_dir / "rank1", tmp_path / "job" / "rank0")
    shutil.copytree(recorded.output_dir / "rank0", tmp_path / "job" / "rank1")
    shutil.copy(recorded.output_dir / "ranks.json", tmp_path / "job")
    with taskglass.Ranks(tmp_path / "job") as ranks:
        for read in (ranks[0].recording, ranks[0].calls, ranks.calls):
            with pytest.raises(taskglass.BadArgument, match="folder 'rank0' has the files of rank 1"):
                read()


def test_the_word_for_messages_that_do_not_fit_is_that_of_the_command_line(recorded, tmp_path):
    shutil.copytree(recorded.output_dir, tmp_path / "job")
    file = tmp_path / "job" / "rank1" / "comm.jsonl"
    head, *lines, _ = file.read_text().splitlines()
    lines.remove(next(line for line in lines if '"tg_recv"' in line))
    file.write_text("\n".join([head, *lines, json.dumps({"end": True, "calls": len(lines)})]) + "\n")
    with taskglass.Ranks(tmp_path / "job") as ranks:
        messages = ranks.verify()
        assert (messages.result, messages.problems, bool(messages)) == ("bad", 1, False)


def test_a_directory_without_ranks_is_refused(recorded, tmp_path):
    for path in (tmp_path, tmp_path / "none", recorded.output_dir / "rank0"):
        with pytest.raises(taskglass.NotFound):
            taskglass.Ranks(path)
    (tmp_path / "ranks.json").write_text("{")
    with pytest.raises(taskglass.BadArgument):
        taskglass.Ranks(tmp_path)


def test_what_wants_one_run_says_that_there_are_several(recorded):
    for ask in (taskglass.Recording, taskglass.explain, taskglass.verify):
        with pytest.raises(taskglass.NotFound, match="several ranks") as caught:
            ask(recorded.output_dir)
        assert "taskglass.Ranks" in caught.value.advice
    with pytest.raises(taskglass.BadArgument, match="taskglass.Ranks"):
        taskglass.diff(recorded.output_dir, recorded.output_dir)


def test_a_run_of_ranks_is_one_run_of_the_past(recorded):
    (run,) = taskglass.runs(recorded.output_dir.parent)
    assert (run.ranks, run.status, run.path) == (2, "OK", recorded.output_dir)


def test_the_newest_run_may_be_one_of_ranks(recorded, tmp_path):
    (tmp_path / "outputs").mkdir()
    shutil.copytree(recorded.output_dir, tmp_path / "outputs" / "job")
    assert taskglass.newest() == pathlib.Path("outputs/job")
