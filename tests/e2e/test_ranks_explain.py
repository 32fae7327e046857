# SPDX-License-Identifier: Apache-2.0
"""What `explain` makes of calls that wait, in files made by hand: the calls of a rank may have any order there."""

import json

import pytest

CIRCLE = "the ranks wait for each other in a circle: "


def call(task, name, peer, tag, number, state="waits", posted=None, elements=8):
    return {"task": f"{task:016x}", "call": name, "peer": peer, "tag": tag, "operation": None, "number": number,
            "dtype": "float32", "elements": elements, "bytes": 4 * elements, "site": f"x.c:{task}",
            "posted_ns": str(task if posted is None else posted), "matched_ns": None,
            "done_ns": "99" if state == "done" else None, "state": state}


def explain(tg, *ranks, well=(), status="HANG"):
    """What is said of a job of which each rank has hung with these calls, or has ended well."""
    job = tg.directory / "job"
    for rank, calls in enumerate(ranks):
        folder = job / f"rank{rank}"
        folder.mkdir(parents=True)
        lines = [{"version": 1, "rank": rank, "ranks": len(ranks)}, *calls, {"end": True, "calls": len(calls)}]
        (folder / "comm.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (job / "ranks.json").write_text(json.dumps({
        "version": 1, "ranks": len(ranks), "status": status,
        "rank": [{"rank": rank, "status": "OK", "error": ""} if rank in well else
                 {"rank": rank, "status": status, "error": "no rank made progress"} for rank in range(len(ranks))]}))
    result = tg("explain", "job", "--json")
    assert result.returncode in (1, 2), result
    return json.loads(result.stdout)["together"]


@pytest.mark.parametrize("turn", [1, -1])
def test_the_first_call_that_waits_is_named_whatever_the_order_of_the_file(tg, turn):
    """Each rank waits in the receives of three steps, and the later ones wait only because the first does."""
    why = explain(tg, *([call(1 + step, "tg_recv", 1 - rank, 5, step) for step in range(3)][::turn]
                        for rank in (0, 1)))
    assert why["root"].startswith(CIRCLE + "rank 0 in tg_recv from rank 1, tag 5 (number 0)"), why["root"]
    assert [(wait["rank"], wait["number"]) for wait in why["waits"]] == [(r, n) for r in (0, 1) for n in range(3)]
    assert all("rank 1 waits in tg_recv from rank 0, tag 5 (number 0)" in wait["text"] for wait in why["waits"][:3])


def test_of_more_calls_than_are_listed_the_first_ones_are(tg):
    calls = [call(1 + step, "tg_recv", 1, 5, step) for step in range(70)]
    why = explain(tg, calls[::-1], [])
    assert [wait["number"] for wait in why["waits"]] == list(range(64)) and why["more_waits"] == 6


def test_the_last_of_many_ranks_that_wait_is_the_root(tg):
    """Each rank has more calls than there is room for, and waits for the next one; the last one has called nothing."""
    why = explain(tg, *([call(1 + step, "tg_recv", rank + 1, 5, step) for step in range(20)] for rank in range(9)), [],
                  well=[9])
    assert why["root"].startswith("rank 8 waits in tg_recv from rank 9, tag 5 (number 0)"), why["root"]
    assert {wait["rank"] for wait in why["waits"]} == set(range(9)) and why["more_waits"] == 9 * 20 - len(why["waits"])


def test_a_call_with_a_time_waits_before_one_that_no_core_posted(tg):
    never = {**call(1, "tg_recv", 1, 5, 0), "posted_ns": None}
    why = explain(tg, [never, call(9, "tg_recv", 1, 6, 3)], [])
    assert [wait["tag"] for wait in why["waits"]] == [6, 5]


@pytest.mark.parametrize("ranks", [2, 3, 8, 64])
@pytest.mark.parametrize("tag", [None, 7])
def test_a_long_circle_leaves_room_for_what_follows_from_it(tg, ranks, tag):
    calls = [[call(1, "tg_recv", (rank + 1) % ranks, 5, 0)] for rank in range(ranks)]
    if tag:
        calls[1].insert(0, call(2, "tg_send", 0, tag, 0, state="done"))
    root = explain(tg, *calls)["root"]
    assert root.startswith(CIRCLE + "rank ")
    assert root.endswith("were the tags crossed?" if tag else ": no rank has made the call that another waits for"), root
    more = int(root.split(", and ")[1].split()[0]) if " more rank" in root else 0
    assert root.count("in tg_recv") + more == ranks


def test_what_waits_when_a_run_is_cancelled_is_not_the_reason_why_it_ended(tg):
    why = explain(tg, [call(1, "tg_recv", 1, 5, 0)], [], status="CANCELLED")
    assert why["root"].startswith("the run was asked to end; at that moment rank 0 waits in tg_recv from rank 1"), why


def ended(tg, *ranks):
    """What is said of ranks that ranks.json describes so, and that have no folder here."""
    job = tg.directory / "job"
    job.mkdir()
    (job / "ranks.json").write_text(json.dumps({
        "version": 1, "ranks": len(ranks), "status": "KERNEL_FAULT",
        "rank": [{"rank": rank, **fields} for rank, fields in enumerate(ranks) if fields]}))
    return json.loads(tg("explain", "job", "--json").stdout)["together"]


def test_more_ranks_of_which_calls_are_not_known_than_are_listed_are_counted(tg):
    why = ended(tg, *[{"status": "OK"}] * 20)
    assert len(why["unknown"]) == 16 and why["unknown"][15] == "and 5 more ranks"
    unknown = json.loads(tg("diff", "job", "job", "--json").stdout)["together"]["unknown"]
    assert len(unknown) == 16 and unknown[15] == "and 25 more"  # 20 ranks on both sides


FAULT = {"status": "KERNEL_FAULT", "error": "task 3 crashed"}


@pytest.mark.parametrize("other", [{}, {"status": None}, {"status": "RUNNING"}])
def test_a_rank_of_which_nothing_is_known_may_have_failed_first(tg, other):
    why = ended(tg, FAULT, other)
    assert why["first"] is None
    assert why["root"] == "rank 0 failed by itself: KERNEL_FAULT: task 3 crashed; whether rank 1 failed before is not known"


def test_a_rank_that_ended_well_did_not_fail_first(tg):
    why = ended(tg, FAULT, {"status": "OK"})
    assert why["first"] == 0 and why["order"] == "rank 0 failed by itself, and no other rank failed"


def test_a_circle_around_a_send_with_another_tag_names_it(tg):
    """Rank 1 waits in every step for tag 5, and rank 0 has sent its cells with tag 7."""
    sent = call(1, "tg_send", 1, 7, 0, state="done")
    why = explain(tg, [sent, call(3, "tg_recv", 1, 4, 1)], [call(2, "tg_recv", 0, 5, 0), call(3, "tg_recv", 0, 5, 1)])
    assert why["root"].startswith(CIRCLE)
    assert why["root"].endswith(", but rank 0 calls tg_send to rank 1, tag 7 (number 0) of 8 float32 at x.c:1, "
                                "which nobody has answered: were the tags crossed?"), why["root"]


def test_a_send_of_another_size_has_no_crossed_tag(tg):
    sent = call(1, "tg_send", 1, 7, 0, state="done", elements=9)
    why = explain(tg, [sent, call(3, "tg_recv", 1, 4, 1)], [call(2, "tg_recv", 0, 5, 0)])
    assert "crossed" not in why["root"] and not any("crossed" in wait["text"] for wait in why["waits"])


@pytest.mark.parametrize("other", ["RUNNING", "OK"])
def test_a_run_of_which_a_rank_has_failed_has_failed(tg, other):
    """Even if a file still says that another rank runs: its folder may be gone, or on another disk."""
    (tg.directory / "job" / "rank0").mkdir(parents=True)
    (tg.directory / "job" / "ranks.json").write_text(json.dumps({
        "version": 1, "ranks": 2, "status": "RUNNING",
        "rank": [{"rank": 0, "status": "KERNEL_FAULT", "error": "task 3 crashed"},
                 {"rank": 1, "status": other, "error": ""}]}))
    result = tg("explain", "job", "--json")
    why = json.loads(result.stdout)["together"]
    assert (why["state"], result.returncode) in (("failed", 1), ("failed", 2)), result
