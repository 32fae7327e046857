# SPDX-License-Identifier: Apache-2.0
"""What `verify` and `explain` say about the calls between ranks, and what they leave open."""

import json
import shutil

import pytest

from conftest import Runner, workload

RING = workload("ranks_ring")
STEPS = 3


def run(tg, name, *args, dump=("--dump-tensor",), code=0):
    result = tg("run", "--ranks", "3", RING, "--set", f"steps={STEPS}", *args, *dump, "--output", name)
    assert result.returncode == code, result


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    tg = Runner(tmp_path_factory.mktemp("verify"))
    run(tg, "ring")
    return tg


@pytest.fixture
def job(made, tg):
    """A copy of a good run, to be changed."""
    shutil.copytree(made.directory / "ring", tg.directory / "job")
    return tg.directory / "job"


def lines_of(job, rank):
    """Head, calls and end of a rank's comm.jsonl."""
    head, *calls, end = map(json.loads, (job / f"rank{rank}" / "comm.jsonl").read_text().splitlines())
    assert end == {"end": True, "calls": len(calls)}
    return head, calls, end


def write(job, rank, *lines):
    (job / f"rank{rank}" / "comm.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def change_calls(job, rank, change):
    head, calls, _ = lines_of(job, rank)
    calls = change(calls)
    write(job, rank, head, *calls, {"end": True, "calls": len(calls)})


def set_status(job, rank, status, error=""):
    document = json.loads((job / "ranks.json").read_text())
    document["status"] = document["rank"][rank]["status"] = status
    document["rank"][rank]["error"] = error
    (job / "ranks.json").write_text(json.dumps(document))


def verify(tg, name="job"):
    result = tg("verify", name, "--json")
    return result.returncode, json.loads(result.stdout)["messages"]


def without(kind, number):
    return lambda calls: [call for call in calls if (call["call"], call["number"]) != (kind, number)]


# --- good ---------------------------------------------------------------------------------------------

def test_a_run_that_was_recorded_in_full_is_good(made):
    code, found = verify(made, "ring")
    assert (code, found["result"]) == (0, "good")
    assert (found["messages"], found["collectives"]) == (3 * STEPS, STEPS)
    assert found["hashes_compared"] == 3 * STEPS + 2 * STEPS
    assert not any(found[gap] for gap in ("unknown", "without_hash", "contents_not_compared", "damaged_lines",
                                          "incomplete_ranks", "absent_ranks", "problems"))


def test_a_workload_without_calls_has_nothing_to_compare(tg):
    tg.good("run", "--ranks", "2", "vector_add", "--dump-tensor", "--output", "job")
    code, found = verify(tg)
    assert (code, found["result"], found["hashes_compared"]) == (0, "good", 0)
    assert "0 hashes compared: there was nothing to compare" in tg.good("verify", "job").stdout


# --- files that end early -----------------------------------------------------------------------------

def test_calls_that_a_killed_rank_could_not_write_are_not_known(job, tg):
    head, calls, _ = lines_of(job, 1)
    write(job, 1, head, *calls[:2])
    set_status(job, 1, "RANK_LOST", "its process was ended by signal 9, SIGKILL")
    code, found = verify(tg)
    assert (code, found["result"], found["problems"]) == (2, "not known", 0), found
    assert found["incomplete_ranks"] == 1 and found["unknown"] > 0
    assert "comm.jsonl of 1 rank has no end: calls may be missing" in tg("verify", "job").stdout


def test_a_file_without_its_end_is_not_good_even_if_no_call_is_missed(job, tg):
    head, calls, _ = lines_of(job, 1)
    write(job, 1, head, *calls)
    assert verify(tg)[0] == 2 and verify(tg)[1]["result"] == "not known"


def test_explain_says_up_to_which_call_those_of_a_rank_are_known(job, tg):
    head, calls, _ = lines_of(job, 1)
    write(job, 1, head, *calls[:2])

    def wait(calls):
        last = next(call for call in reversed(calls) if call["call"] == "tg_all_reduce")
        last.update(state="waits", matched_ns=None, done_ns=None)
        return calls

    change_calls(job, 0, wait)
    set_status(job, 0, "HANG", "no progress")
    said = tg("explain", "job").stdout
    assert "rank 1 has not called" not in said
    assert "whether rank 1 has called it is not known; its calls are known only up to " + calls[1]["call"] in said
    assert "rank 1: its comm.jsonl has no end" in said


def test_a_call_that_a_rank_failed_before_is_not_known(tg):
    run(tg, "job", "--set", "crash=1", code=3)
    code, found = verify(tg)
    assert found["problems"] == 0 and (code, found["result"]) == (2, "not known"), found
    assert found["incomplete_ranks"] == 0


# --- calls that are not there -------------------------------------------------------------------------

@pytest.mark.parametrize("rank", range(3))
def test_a_call_of_all_ranks_that_one_lacks_is_a_misfit(job, tg, rank):
    change_calls(job, rank, without("tg_all_reduce", 1))
    code, found = verify(tg)
    assert (code, found["result"], found["problems"]) == (1, "bad", 1), found
    assert f"and rank {rank} has no call 1 of the ranks" in found["first"][0]["text"]


def test_a_message_that_one_end_lacks_is_a_misfit(job, tg):
    change_calls(job, 1, without("tg_recv", 0))
    code, found = verify(tg)
    assert (code, found["problems"]) == (1, 1) and "rank 1 has no such tg_recv" in found["first"][0]["text"]


def test_a_call_that_waits_for_a_rank_that_ended_is_not_known(job, tg):
    def wait(calls):
        for call in calls:
            if (call["call"], call["number"]) == ("tg_all_reduce", 2):
                call.update(state="waits", done_ns=None)
        return calls

    for rank in (0, 1):
        change_calls(job, rank, without("tg_all_reduce", 2))
    change_calls(job, 2, wait)
    code, found = verify(tg)
    assert (code, found["result"], found["problems"]) == (2, "not known", 0) and found["unknown"] >= 2


def test_ranks_that_communicated_and_left_no_calls_are_not_known(tg):
    run(tg, "job", dump=())
    code, found = verify(tg)
    assert (code, found["result"], found["absent_ranks"]) == (2, "not known", 3)


# --- contents that are not compared -------------------------------------------------------------------

def test_without_hashes_not_all_is_compared(tg):
    run(tg, "job", dump=("--dump-tensor", "meta"))
    code, found = verify(tg)
    assert (code, found["result"], found["hashes_compared"]) == (0, "not all compared", 0)
    assert found["without_hash"] == 3 * STEPS + 3 * STEPS
    assert "\nnot all compared  between ranks: " in tg.good("verify", "job").stdout


def test_results_of_the_others_are_compared_if_rank_0_has_no_recording(job, tg):
    shutil.rmtree(job / "rank0" / "tensor_dump")
    found = verify(tg)[1]
    assert found["result"] == "not all compared"
    # Messages from 1 to 2, and one result with the other; rank 0's results and messages are the rest.
    assert found["hashes_compared"] == STEPS + STEPS and found["without_hash"] == 2 * STEPS + STEPS


def test_calls_with_another_result_on_each_rank_are_counted_as_not_compared(tg):
    tg.good("run", "--ranks", "2", "moe", "--case", "expert_parallel", "--dump-tensor", "--output", "job")
    code, found = verify(tg)
    assert code == 0 and found["contents_not_compared"] > 0
    assert found["result"] == ("good" if found["hashes_compared"] else "not all compared")
    assert f"contents of {found['contents_not_compared']} call" in tg.good("verify", "job").stdout


# --- lines that are there twice -----------------------------------------------------------------------

def test_a_call_that_is_there_twice_is_one_call_and_a_damaged_line(job, tg):
    change_calls(job, 0, lambda calls: calls + calls[:4])
    code, found = verify(tg)
    assert (code, found["result"], found["damaged_lines"]) == (2, "not known", 4)
    assert (found["messages"], found["collectives"], found["problems"]) == (3 * STEPS, STEPS, 0)
