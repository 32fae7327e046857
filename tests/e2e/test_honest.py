# SPDX-License-Identifier: Apache-2.0
"""What every verb says about a recording that lacks something.

An answer is true, or it says that it is not known: what was not looked at is never "nothing found".
Each row of a table is a verb, each column a kind of recording (honest.py). A cell has the exit code and
the words that must be in the answer; with exit code 2 and --json the answer is a document whose result
is "not known", with the reason.
"""

import json

import pytest

from honest import KINDS

# What each kind lacks, in the words that every verb uses.
LACKS = {"complete": [], "empty": [], "meta": [], "hash": [], "marked": [], "filtered": [],
         "partial": ["the run lost 3 records: 3 full"],
         "cancelled": ["the run was cancelled"],
         "running": ["the run is still running"],
         "interrupted": ["the recording was interrupted"],
         "damaged": ["1 record damaged"]}

MARKED = "its level is marked, and the orchestration marked none"
FILTERED = "its filter let none through"
NOT_STORED = "record with --dump-tensor=full"
WHOLE = "nothing found\n"
PART = "nothing found in what was searched\n"

# The kinds of find that look into payloads, and those that compare memory.
VALUES = {"complete": (0, WHOLE), "empty": (0, "nothing recorded, " + WHOLE), "partial": (0, PART),
          "meta": (2, NOT_STORED), "hash": (2, NOT_STORED), "marked": (2, MARKED),
          "filtered": (2, FILTERED), "cancelled": (0, PART), "running": (0, PART),
          "interrupted": (0, PART), "damaged": (0, PART)}
MEMORY = {**VALUES, "meta": (2, "neither payloads nor hashes"), "hash": (0, WHOLE)}

LISTED = {kind: (0, "") for kind in KINDS}
EMPTY = {"empty": (0, "The recording has no records.")}

TABLE = {
    ("find", "nan", "run"): VALUES,
    ("find", "inf", "run"): VALUES,
    ("find", "overflow", "run"): VALUES,
    ("find", "constant", "run"): VALUES,
    ("find", "stomp", "run"): MEMORY,
    # By a hash only the whole of an output can be judged.
    ("find", "unwritten", "run"): {**MEMORY, "hash": (0, PART)},
    ("stats", "run"): {**LISTED, **EMPTY, "meta": (0, "11 records without values"),
                       "hash": (0, "11 records without values"), "marked": (2, MARKED),
                       "filtered": (2, FILTERED)},
    ("export", "run", "--to", "csv", "--output", "out.csv", "--force"): LISTED,
    ("export", "run", "--to", "npz", "--output", "out.npz", "--force"): {
        **LISTED, "meta": (0, "left out 13 records without values"),
        "hash": (0, "left out 13 records without values"),
        "empty": (2, "nothing to export"), "filtered": (2, "nothing to export")},
    ("view", "run"): {**LISTED, **EMPTY, "complete": (0, "finished, complete, level full"),
                      "meta": (0, "finished, complete, level meta"),
                      "hash": (0, "finished, complete, level hash"),
                      "marked": (0, "no record of a task: " + MARKED),
                      "filtered": (0, "no record of a task: " + FILTERED),
                      "cancelled": (0, "cancelled, complete"), "running": (0, "running, INCOMPLETE"),
                      "partial": (0, "LOST 3 records: 3 full"), "damaged": (0, "DAMAGED 1 record"),
                      "interrupted": (0, "interrupted, INCOMPLETE")},
    ("verify", "run"): {**{kind: (0, "good") for kind in KINDS}, "damaged": (1, "BAD")},
    # The workload's kernels have no references.
    ("check", "run"): {**{kind: (2, "has a reference") for kind in KINDS},
                       "empty": (0, "nothing recorded, nothing found"), "marked": (2, MARKED),
                       "filtered": (2, FILTERED), "running": (2, "no run.json"),
                       "interrupted": (2, "no run.json")},
    ("diff", "run", "run"): {"complete": (0, "equal"), "empty": (0, "no task ran"),
                             "meta": (2, "level meta has neither"), "hash": (0, "equal"),
                             "marked": (2, MARKED), "filtered": (2, "no records in common"),
                             "partial": (1, "INCOMPLETE"), "cancelled": (1, "INCOMPLETE"),
                             "running": (1, "INCOMPLETE"), "interrupted": (1, "INCOMPLETE"),
                             "damaged": (1, "INCOMPLETE")},
    ("recover", "run"): {**LISTED, "empty": (2, "no journal"), "running": (2, "is still being written"),
                         "complete": (0, "18 records"), "damaged": (0, "17 records"),
                         "interrupted": (0, "what came after these records is unknown")},
    # Times are in the journal, whatever the level is.
    ("path", "run"): {**{kind: (0, "critical path") for kind in KINDS},
                      "empty": (2, "has no record of a task"), "marked": (2, MARKED),
                      "filtered": (2, FILTERED)},
    ("scope", "run"): {kind: (2, "has no scope stats") for kind in KINDS},
}

# These name what a recording lacks in their own words, or not in --json.
OWN_WORDS = ("view", "recover", "scope", "check")
# These have no document for an error.
NO_DOCUMENT = ("recover",)


def cells():
    for verb, row in TABLE.items():
        assert set(row) == set(KINDS), verb
        for kind, (code, words) in row.items():
            yield pytest.param(verb, kind, code, words, id="-".join((*verb[:2], kind)))


@pytest.mark.parametrize("verb, kind, code, words", cells())
def test_an_answer_says_what_it_does_not_know(tg, verb, kind, code, words):
    with KINDS[kind](tg):
        text = tg(*verb)
        answer = tg(*verb, "--json")
    assert text.returncode == code, text
    said = text.stdout + text.stderr
    assert words in said
    if verb[0] not in OWN_WORDS:
        for lack in LACKS[kind]:
            assert lack in said
    assert answer.returncode == code, answer
    if verb[0] in NO_DOCUMENT and code == 2:
        return
    document = json.loads(answer.stdout)
    if code == 2:
        assert document["result"] == "not known" and words in document["reason"]
    if verb[0] in ("find", "stats", "export", "path"):
        assert answer.stderr == ""
        for lack in LACKS[kind]:
            assert any(lack in note for note in document["left_out"])
    if not LACKS[kind] and verb[0] in ("stats", "export"):
        assert document["left_out"] == []


def test_an_export_says_once_that_records_are_damaged(tg):
    with KINDS["damaged"](tg):
        result = tg("export", "run", "--to", "csv", "--output", "out.csv")
    assert result.stderr.count("damaged") == 1


def test_a_running_a_cancelled_and_a_finished_recording_have_three_words(tg):
    states = set()
    for number, kind in enumerate(("complete", "cancelled", "running")):
        place = type(tg)(tg.directory / str(number))
        place.directory.mkdir()
        with KINDS[kind](place):
            states.add(place.json("find", "nan", "run")["recording"]["state"])
            assert place.json("view", "run")["recording"]["state"] in states
            assert place.json("verify", "run")["state"] in states
    assert states == {"finished", "cancelled", "running"}


@pytest.mark.parametrize("kind, reason", [
    ("meta", "record the run with --dump-tensor=full"), ("hash", "record the run with --dump-tensor=full"),
    ("marked", "has no task 0"), ("filtered", "has no task 0"), ("empty", "has no task 0")])
def test_a_task_that_cannot_be_replayed_is_not_known(tg, kind, reason):
    with KINDS[kind](tg):
        text = tg("replay", "run", "--task", "0")
        answer = tg("replay", "run", "--task", "0", "--json")
    assert text.returncode == answer.returncode == 2 and reason in text.stderr
    document = json.loads(answer.stdout)
    assert document["result"] == "not known" and reason in document["reason"]


def test_a_replay_that_has_nothing_to_compare_with_is_not_known(tg):
    with KINDS["complete"](tg):
        path = tg.directory / "run" / "tensor_dump"
        manifest = json.loads((path / "tensor_dump.json").read_text())
        manifest.pop("check")  # as an older writer left it
        for entry in manifest["tensors"]:
            entry.pop("sum")
            if entry["role"] == "output" and entry["stage"] == "after_completion":
                entry.update(bin_size=0, truncated=True, hash=None)
        (path / "tensor_dump.json").write_text(json.dumps(manifest))
        (path / "tensor_dump.rec").unlink()
        answer = tg("replay", "run", "--task", "0", "--json")
        text = tg("replay", "run", "--task", "0")
    document = json.loads(answer.stdout)
    assert (answer.returncode, document["result"], document["same"]) == (2, "not known", None)
    assert text.returncode == 2 and "no output of the task to compare with" in text.stderr


def test_scalars_are_searched_even_if_no_payload_is_stored(tg, tmp_path):
    from recordings import Recording
    recording = Recording(tmp_path / "run")
    recording.add(task_id="0x0", shape=[4], strides=[1])
    recording.add_scalar("float32", "NaN", task_id="0x0", arg_index=1)
    recording.write(level="meta")
    result = tg("find", "nan", "run")
    assert result.returncode == 1 and "1 finding" in result.stdout
    assert "1 record could not be searched: not stored whole" in result.stdout
