# SPDX-License-Identifier: Apache-2.0
"""What the verbs say about a run with several ranks: of all ranks, of one, and of all together."""

import json
import shutil
import struct

import pytest

from conftest import on_terminal, one_line, workload
from forge import forge, rewrite

READERS = ("view", "stats", "verify", "explain", "path", "check", "replay", "find", "export", "scope",
           "recover", "top")


def record(tg, ranks, name, *args, code=0):
    """A recorded run with that many ranks."""
    result = tg("run", "--ranks", str(ranks), *args, "--dump-tensor", "--deps", "--output", name)
    assert result.returncode == code, result
    return tg.directory / name


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Runs of a tensor-parallel network: two with two ranks, one with three, one alone."""
    from conftest import Runner
    tg = Runner(tmp_path_factory.mktemp("ranks"))
    network = ("mlp", "--case", "tensor_parallel")
    record(tg, 2, "a", *network)
    record(tg, 2, "b", *network)
    record(tg, 1, "one", *network)
    record(tg, 3, "three", "mlp", "--case", "tensor_parallel", "--set", "hidden=48")
    record(tg, 2, "ring", "ring_attention", "--case", "small")
    return tg


def copy(made, tg, name, to):
    shutil.copytree(made.directory / name, tg.directory / to)
    return tg.directory / to


def calls(folder):
    lines = (folder / "comm.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[1:-1]]


def change(folder, task, stage, role=None, by=1.0, hash_too=False):
    """Adds a number to the first element (float32) of a task's tensor, as the recording has it."""
    def wanted(entry):
        return (int(entry["task_id"], 16) == task and entry["stage"] == stage and
                entry["kind"] == "tensor" and (role is None or entry["role"] in role))

    def alter(payload, entry):
        at = entry["bin_offset"]
        assert entry["dtype"] == "float32"
        payload[at:at + 4] = struct.pack("<f", struct.unpack("<f", payload[at:at + 4])[0] + by)

    return forge(folder / "tensor_dump", wanted, alter)


# --- one rank, or each ------------------------------------------------------------------------------

def test_a_verb_answers_for_each_rank_under_a_heading(made):
    text = made.good("stats", "a", "--limit", "1").stdout
    first, second = text.index("rank 0\n"), text.index("\nrank 1\n")
    assert first == 0 < second and text.count("mlp_product") == 2


def test_one_rank_is_the_same_as_its_folder(made):
    for verb in ("stats", "view", "verify", "explain"):
        assert made.good(verb, "a", "--rank", "1").stdout == made.good(verb, "a/rank1").stdout


def test_json_is_one_document_with_the_answers_of_the_ranks(made):
    for verb in ("stats", "view", "verify", "path"):
        document = made.json(verb, "a")
        assert [rank.pop("rank") for rank in document["ranks"]] == [0, 1]
        assert document["ranks"][1] == made.json(verb, "a/rank1"), verb


@pytest.mark.parametrize("verb", READERS)
def test_every_verb_that_reads_a_run_takes_a_rank(made, verb):
    assert "--rank R" in made.good(verb, "--help").stdout


@pytest.mark.parametrize("words, said", [
    (("view", "a", "--rank", "7"), "there is no rank 7: the run has ranks 0 to 1"),
    (("view", "a/rank0", "--rank", "0"), "has no ranks.json"),
    (("view", "a", "--rank", "x"), "--rank needs a whole number"),
    (("export", "a", "--to", "txt", "-o", "-"), "choose a rank with --rank R"),
    (("top", "a"), "choose a rank with --rank R"),
    (("diff", "a", "a/rank0"), "--shard"),
    (("diff", "a", "three"), "A has 2 ranks and B has 3"),
    (("diff", "--across", "ranks", "a/rank0"), "has no ranks.json"),
    (("diff", "--across", "cores", "a"), "it takes ranks"),
    (("diff", "a/rank0", "a/rank1", "--shard", "x.1=replicated"), "--shard needs a run with several ranks"),
])
def test_what_cannot_be_answered_is_said_in_one_line(made, words, said):
    result = made(*words)
    assert result.returncode == 2 and said in result.stderr and one_line(result.stderr), result


def test_a_folder_that_is_missing_is_not_known_and_not_left_out(made, tg):
    shutil.rmtree(copy(made, tg, "a", "lost") / "rank1")
    result = tg("stats", "lost", "--limit", "1")
    assert result.returncode == 2
    assert result.stdout.endswith("\nrank 1\nnot known: its folder 'rank1' is not here: it ran on "
                                  f"{json.loads((tg.directory / 'lost/ranks.json').read_text())['rank'][1]['host']}\n")
    document = json.loads(tg("view", "lost", "--json").stdout)["ranks"]
    assert document[1]["result"] == "not known" and "not here" in document[1]["reason"]
    assert "records" in document[0]
    result = tg("verify", "lost")
    assert result.returncode == 2 and "NOT KNOWN  between ranks" in result.stdout


def test_the_exit_code_is_the_worst_of_all_ranks(made, tg):
    (copy(made, tg, "a", "bad") / "rank0" / "tensor_dump" / "tensor_dump.bin").write_bytes(b"")
    assert tg("verify", "bad").returncode == 1
    assert tg("verify", "bad", "--rank", "1").returncode == 0
    shutil.rmtree(tg.directory / "bad" / "rank1" / "tensor_dump")
    result = tg("verify", "bad")
    assert result.returncode == 2 and "taskglass: rank 1: NOT_FOUND" in result.stderr


def test_each_rank_writes_a_file_of_its_own(made, tg):
    copy(made, tg, "a", "a")
    export = ("export", "a", "--to", "npz", "-o", "x.npz", "--kernel", "mlp_product", "--stage", "after")
    tg.good(*export)
    tg.good(*export, "--rank", "0")
    first, second = tg.directory / "x.rank0.npz", tg.directory / "x.rank1.npz"
    assert first.read_bytes() == (tg.directory / "x.npz").read_bytes() != second.read_bytes()


def test_a_trace_has_all_ranks(made, tg):
    copy(made, tg, "a", "a")
    document = json.loads(tg("export", "a", "--to", "trace", "--json").stdout)  # it may say that clocks are off
    assert (document["ranks"], document["shown_ranks"], document["path"]) == (2, 2, "a.trace.json")
    assert (tg.directory / "a.trace.json").stat().st_size == document["bytes"]
    json.loads(tg("export", "a", "--to", "trace", "-o", "-").stdout)
    tg.good("export", "a", "--to", "trace", "-o", "one.json", "--rank", "1")
    assert "leave the filters out" in tg("export", "a", "--to", "trace", "--kernel", "x").stderr


def test_quiet_and_terminals_are_as_with_one_device(made):
    assert made.good("stats", "a", "-q").stdout == ""
    assert "rank 1" in on_terminal(made, 50, 80, "verify", "a")


@pytest.mark.every_case
@pytest.mark.parametrize("text", ["", "{", "[]", '{"version":1}', '{"version":1,"ranks":5000,"rank":[]}',
                                  '{"version":1,"ranks":2,"rank":[{"rank":0,"folder":"../x"}]}',
                                  '{"version":2,"ranks":2,"rank":[]}', "\0" * 100])
def test_a_broken_ranks_json_is_refused_by_every_verb(made, tg, text):
    (copy(made, tg, "a", "a") / "ranks.json").write_text(text)
    for verb in ("view", "verify", "explain", "stats"):
        result = tg(verb, "a")
        assert result.returncode == 2 and "ranks.json', line " in result.stderr, result
    assert "unknown" in tg.good("runs", ".").stdout


# --- the newest run, and the list ---------------------------------------------------------------------

def test_the_newest_run_may_have_ranks_and_is_listed_and_removed_as_one(made, tg):
    (tg.directory / "outputs").mkdir()
    copy(made, tg, "a", "outputs/mlp_20260101_120000")
    assert tg.good("verify").stdout.startswith("rank 0\n")
    assert tg.good("explain").stdout.startswith("all 2 ranks ended well")
    run, = tg.json("runs")["runs"]
    assert (run["ranks"], run["workload"], run["result"], run["other_files"]) == (2, "mlp", "finished", 0)
    assert run["tasks"] == sum(json.loads((made.directory / f"a/rank{r}/run.json").read_text())["counters"]["tasks"]
                               for r in (0, 1))
    assert " ranks " in tg.good("runs").stdout
    tg.good("runs", "--remove", "mlp_20260101_120000", "--yes")
    assert tg.outputs() == []


def test_a_file_of_the_users_stays_when_a_run_with_ranks_is_removed(made, tg):
    folder = copy(made, tg, "a", "outputs/mlp_20260101_120000")
    (folder / "rank1" / "notes.txt").write_text("mine")
    assert "notes.txt" in tg.good("runs", "--remove", "--all", "--yes").stdout
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["notes.txt"]


# --- messages -----------------------------------------------------------------------------------------

def test_verify_compares_both_ends_of_every_message(made):
    messages = made.json("verify", "ring")["messages"]
    sends = sum(call["call"] == "tg_send" for r in (0, 1) for call in calls(made.directory / f"ring/rank{r}"))
    assert messages["messages"] == sends > 0 == messages["problems"] == messages["unknown"]
    assert messages["hashes_compared"] >= sends and messages["result"] == "good"


def test_verify_names_a_message_that_arrived_with_other_bytes(made, tg):
    folder = copy(made, tg, "ring", "ring")
    receive = next(call for call in calls(folder / "rank1") if call["call"] == "tg_recv")

    def other_hash(manifest):
        for entry in manifest["tensors"]:
            if int(entry["task_id"], 16) == int(receive["task"], 16) and entry["stage"] == "after_completion":
                entry["hash"] = "0x0123456789abcdef"

    rewrite(folder / "rank1" / "tensor_dump", other_hash)
    result = tg("verify", "ring", "--json")
    problem, = json.loads(result.stdout)["messages"]["first"]
    assert result.returncode == 1 and "rank 1 received other bytes than rank 0 sent" in problem["text"]
    assert receive["site"] in problem["text"]


def test_replay_and_check_count_communication_and_leave_it_out(made):
    result = made("replay", "a", "--all", "--json")
    for rank in json.loads(result.stdout)["ranks"]:
        assert (rank["communication"], rank["result"]) == (2, "same")
    assert "2 tasks are communication: not replayed" in made.good("replay", "a", "--all").stdout
    task = int(calls(made.directory / "a/rank0")[0]["task"], 16)
    result = made("replay", "a", "--rank", "0", "--task", task)
    assert result.returncode == 2 and "is communication (tg_all_reduce)" in result.stderr
    assert "2 tasks are communication: not checked" in made("check", "a").stdout


# --- two runs ------------------------------------------------------------------------------------------

def test_two_runs_are_compared_rank_by_rank(made):
    document = made.json("diff", "a", "b")
    assert [rank["result"] for rank in document["ranks"]] == ["equal", "equal"]
    assert document["together"]["result"] == "equal" and not document["together"]["causes"]
    assert "all ranks: equal" in made.good("diff", "a", "b").stdout
    made.good("diff", "a", "b", "--rank", "1")
    made.good("diff", "a", "b", "--noise", "a")


def test_a_difference_that_was_received_is_blamed_on_the_rank_that_sent_it(made, tg):
    """Rank 0 gives another value to a call of all ranks, and both have another result: rank 1 is a victim."""
    folder = copy(made, tg, "a", "bad")
    copy(made, tg, "a", "good")
    call = int(calls(folder / "rank0")[0]["task"], 16)
    given = change(folder / "rank0", call, "before_dispatch")
    memory = given["data_ptr"]

    def is_writer(entry):
        return (entry["stage"] == "after_completion" and entry["data_ptr"] == memory and
                int(entry["task_id"], 16) != call)

    writer = max((entry for entry in json.loads((folder / "rank0/tensor_dump/tensor_dump.json").read_text())["tensors"]
                  if is_writer(entry) and int(entry["task_id"], 16) < call),
                 key=lambda entry: int(entry["task_id"], 16))
    change(folder / "rank0", int(writer["task_id"], 16), "after_completion")
    change(folder / "rank0", call, "after_completion")
    change(folder / "rank1", call, "after_completion")
    result = tg("diff", "bad", "good", "--json")
    together = json.loads(result.stdout)["together"]
    assert result.returncode == 1 and together["result"] == "differs"
    cause = together["causes"][0]
    assert (cause["rank"], int(cause["task_a"], 16)) == (0, int(writer["task_id"], 16))
    assert all(cause["rank"] == 0 for cause in together["causes"])
    assert [(step["rank"], step["from"], step["kernel"]) for step in together["reached"]] == [
        (1, 0, "tg_all_reduce")]


def test_a_message_that_changed_on_its_way_is_blamed_itself(made, tg):
    folder = copy(made, tg, "ring", "bad")
    copy(made, tg, "ring", "good")
    receive = next(call for call in calls(folder / "rank1") if call["call"] == "tg_recv")
    change(folder / "rank1", int(receive["task"], 16), "after_completion")
    together = json.loads(tg("diff", "bad", "good", "--json").stdout)["together"]
    cause = together["causes"][0]
    assert (cause["rank"], cause["kernel"]) == (1, "tg_recv") and receive["site"] in cause["text"]
    assert "although every rank gave the same" in cause["text"]


def test_a_call_that_brings_nan_from_another_rank_is_no_origin(made, tg):
    """A task of rank 0 leaves NaN, and all ranks get it by the call that adds it up."""
    folder = copy(made, tg, "a", "bad")
    call = int(calls(folder / "rank0")[0]["task"], 16)
    nan = float("nan")
    change(folder / "rank0", call, "before_dispatch", by=nan)
    for rank in (0, 1):
        change(folder / f"rank{rank}", call, "after_completion", by=nan)
    ranks = json.loads(tg("find", "nan", "bad", "--json").stdout)["ranks"]
    found = [[(int(each["task_id"], 16), each["trace"]) for each in rank["findings"]] for rank in ranks]
    assert (call, "inherited") in found[0] and found[1] == [(call, "unclear")], found
    said = tg("find", "nan", "bad", "--rank", "1").stdout
    assert f"unknown origin: task {call} tg_all_reduce" in said and "began here" not in said
    assert "    and by      what other ranks gave to it, which is in their recordings\n" in said


# --- across ranks -----------------------------------------------------------------------------------------

def test_results_of_all_ranks_are_the_same(made):
    document = made.json("diff", "--across", "ranks", "three")
    assert document["result"] == "equal" and document["compared"] == document["equal"] == 2
    assert "equal      tg_all_reduce number 0" in made.good("diff", "--across", "ranks", "three", "--all").stdout


def test_the_odd_rank_out_is_named_with_the_first_element(made, tg):
    folder = copy(made, tg, "three", "three")
    call = int(calls(folder / "rank1")[1]["task"], 16)
    change(folder / "rank1", call, "after_completion")
    for rank in (0, 2):  # hashes would already tell; this way the values are compared
        change(folder / f"rank{rank}", call, "after_completion", by=0.0)
    result = tg("diff", "--across", "ranks", "three", "--json")
    odd, = json.loads(result.stdout)["tensors"]
    assert result.returncode == 1 and (odd["odd_rank"], odd["odd_ranks"]) == (1, 1)
    assert odd["mismatches"] == 1 and odd["first"] == [0] * len(odd["shape"])
    assert "rank 1 is the odd one out" in tg("diff", "--across", "ranks", "three").stdout
    tg.good("diff", "--across", "ranks", "three", "--atol", "2")


def test_of_two_ranks_it_is_not_known_which_is_wrong(made, tg):
    folder = copy(made, tg, "a", "a")
    change(folder / "rank1", int(calls(folder / "rank1")[0]["task"], 16), "after_completion")
    result = tg("diff", "--across", "ranks", "a", "--json")
    odd, = json.loads(result.stdout)["tensors"]
    assert odd["odd_rank"] is None and "which of them is wrong is not known" in odd["text"]


def test_selected_records_are_compared_in_their_places(made):
    made.good("diff", "--across", "ranks", "a", "--kernel", "mlp_bias", "--stage", "after")
    result = made("diff", "--across", "ranks", "a", "--kernel", "mlp_gelu", "--stage", "after")
    assert result.returncode == 1  # each rank has another part of the hidden layer


# --- one device against many ------------------------------------------------------------------------------

def test_parts_on_the_ranks_are_what_one_device_computes(made):
    document = made.json("diff", "one", "a", "--shard", "mlp_gelu.2*=b h(rank)", "--shard",
                         "mlp_bias.2*=replicated", "--all")
    assert document["result"] == "equal" and {entry["shard"] for entry in document["tensors"]} == {
        "mlp_gelu.2*=b h(rank)", "mlp_bias.2*=replicated"}
    assert document["tensors"][0]["shape"][-1] == 64
    made.good("diff", "one/rank0", "three", "--shard", "mlp_bias.2*=replicated", "--atol", "1e9")


def test_summands_on_the_ranks_add_up(made, tg):
    """What each rank gives to tg_all_reduce is a summand of what each has afterwards."""
    folder = copy(made, tg, "a", "a")
    call = calls(folder / "rank0")[0]
    for rank in (0, 1):  # the inputs become outputs of a kernel of another name
        def rename(manifest):
            for entry in manifest["tensors"]:
                if int(entry["task_id"], 16) == int(call["task"], 16) and entry["stage"] == "before_dispatch":
                    entry.update(stage="after_completion", kernel=["summand"])
                elif int(entry["task_id"], 16) == int(call["task"], 16):
                    entry.update(kernel=["total"])
        rewrite(folder / f"rank{rank}" / "tensor_dump", rename)
    document = json.loads(tg("diff", "a/rank0", "a", "--shard", "total.0:summand.0=partial(sum)", "--all",
                             "--json").stdout)
    assert document["tensors"][0]["result"] in ("equal", "close"), document


def test_the_summands_of_a_call_in_place_are_what_it_is_given(made):
    """The same calls: what each rank gives is a summand of what each has afterwards, which is no summand itself."""
    document = made.json("diff", "a/rank0", "a", "--shard", "tg_all_reduce.0=partial(sum)", "--all")
    assert [tensor["result"] for tensor in document["tensors"]] in (["equal"] * 2, ["close"] * 2), document


def test_a_wrong_part_is_named_with_its_rank_and_its_place_in_the_whole(made, tg):
    folder = copy(made, tg, "a", "a")
    copy(made, tg, "one", "one")
    dump = folder / "rank1" / "tensor_dump"

    def is_tile(entry):
        return entry["kernel"] == ["mlp_gelu"] and entry["stage"] == "after_completion"

    first = min(entry["task_id"] for entry in json.loads((dump / "tensor_dump.json").read_text())["tensors"]
                if is_tile(entry))  # cores end in any order
    forge(dump, lambda entry: is_tile(entry) and entry["task_id"] == first,
          lambda payload, entry: payload.__setitem__(slice(entry["bin_offset"], entry["bin_offset"] + 2), b"\x80\x7f"))
    result = tg("diff", "one", "a", "--shard", "mlp_gelu.2*=b h(rank)", "--json")
    wrong = [entry for entry in json.loads(result.stdout)["tensors"] if entry["result"] == "differs"]
    assert result.returncode == 1 and wrong[0]["rank"] == 1 and wrong[0]["mismatches"] == 1
    assert wrong[0]["first"] == [0, 32] and wrong[0]["many"] == "Infinity"


@pytest.mark.every_case
@pytest.mark.parametrize("spec", ["", "x", "x=", "x.1", "x.1=a b", "x.1=a(rank", "x.1=a(rank/0)", "x.1=a(core)",
                                  "x.99=replicated", "x.1=partial(mean)", ".1=replicated", "@y.1=replicated",
                                  "x.1:y=replicated", "x.1=a b c d e f g h i(rank)", "x" * 400 + ".1=replicated"])
def test_a_shard_that_means_nothing_is_refused(made, spec):
    result = made("diff", "one", "a", "--shard", spec)
    assert result.returncode == 2 and "--shard" in result.stderr and one_line(result.stderr), result


@pytest.mark.parametrize("spec, why", [
    ("mlp_bias.2*=b(rank) o", "the parts together are not as large"),
    ("mlp_gelu.2*=replicated", "not as large as the tensor of the one device"),
    ("mlp_gelu.2*=b h(rank) x", "does not name as many dimensions"),
])
def test_parts_that_do_not_fit_are_not_known(made, spec, why):
    result = made("diff", "one", "a", "--shard", spec)
    assert result.returncode == 2 and why in result.stdout


# --- why it failed ---------------------------------------------------------------------------------------

def test_a_run_that_ended_well_is_explained_so(made):
    document = made.json("explain", "a")
    assert document["together"]["state"] == "ended well" and not document["together"]["waits"]
    assert [end["status"] for end in document["together"]["ends"]] == ["OK", "OK"]


def test_a_rank_that_was_killed_is_blamed_and_not_those_that_ended_because_of_it(made, tg):
    """Killed before the ranks had made their folders: the others left no files that could say why they ended."""
    job = copy(made, tg, "a", "killed")
    shutil.rmtree(job / "rank0")
    (job / "rank1" / "run.json").unlink()
    summary = json.loads((job / "ranks.json").read_text())
    summary["status"] = summary["rank"][0]["status"] = summary["rank"][1]["status"] = "RANK_LOST"
    summary["rank"][0]["error"] = "its process was ended by signal 9, SIGKILL"
    summary["rank"][1]["error"] = "its process ended with exit code 3 before it left a report"
    (job / "ranks.json").write_text(json.dumps(summary))
    result = tg("explain", "killed")
    assert (result.returncode, result.stderr) == (1, ""), result
    assert result.stdout.startswith("rank 0: RANK_LOST: its process was ended by signal 9, SIGKILL\n"), result.stdout
    assert "rank 0 failed by itself" in result.stdout


def test_a_rank_that_the_launcher_killed_is_not_blamed_if_another_failed_by_itself(made, tg):
    job = copy(made, tg, "a", "stopped")
    (job / "rank1" / "run.json").unlink()
    summary = json.loads((job / "ranks.json").read_text())
    summary["status"] = "KERNEL_FAULT"
    summary["rank"][0].update(status="KERNEL_FAULT", error="rank 0 crashed")
    summary["rank"][1].update(status="RANK_LOST", error="it did not end after the others, so the launcher killed it")
    (job / "ranks.json").write_text(json.dumps(summary))
    why = json.loads(tg("explain", "stopped", "--json").stdout)["together"]
    assert why["first"] == 0 and why["root"] == "rank 0: KERNEL_FAULT: rank 0 crashed"
    summary["rank"][0].update(status="RANK_LOST", error="rank 1 does not answer")
    (job / "ranks.json").write_text(json.dumps(summary))
    assert json.loads(tg("explain", "stopped", "--json").stdout)["together"]["first"] == 1


def explain(tg, which, ranks=2):
    record(tg, ranks, "bad", workload("comm_mistakes"), "--set", f"which={which}", "--timeout", "2", code=3)
    text = tg("explain", "bad")
    assert text.returncode == 1
    return text.stdout, json.loads(tg("explain", "bad", "--json").stdout)["together"]


def test_calls_that_differ_are_named_with_their_lines(tg):
    text, why = explain(tg, 3)
    assert "tg_all_reduce(sum)" in why["root"] and "tg_all_reduce(max)" in why["root"]
    assert why["root"].count("orchestrate.c:") == 2 and why["waits"][0]["mismatch"]
    assert text.startswith(why["root"])


def test_ranks_that_wait_in_a_circle_are_named_with_their_lines(tg):
    _, why = explain(tg, 20)
    assert why["root"].startswith("the ranks wait for each other in a circle: rank 0 in tg_recv")
    assert {wait["rank"]: wait["waits_for"] for wait in why["waits"]} == {0: 1, 1: 0}
    assert all("orchestrate.c:" in wait["site"] for wait in why["waits"])


def test_a_rank_alone_does_not_say_that_nothing_waits(tg):
    """Its device lists no call, which the host waits for."""
    explain(tg, 20)
    said = tg("explain", "bad", "--rank", "0").stdout
    assert said.startswith("why nothing moved is not known: no task runs, and calls may have waited for other ranks\n")
    assert "none is ready" not in said


def test_a_call_that_is_missing_is_named_with_who_waits_for_it(tg):
    _, why = explain(tg, 12)
    assert why["waits"][0]["waits_for"] == 1 and "rank 1 has not called that tg_send" in why["waits"][0]["text"]


def test_a_rank_that_was_killed_is_named_and_not_those_that_ended_because_of_it(made, tg):
    folder = copy(made, tg, "a", "bad")
    (folder / "rank1" / "run.json").unlink()
    document = json.loads((folder / "ranks.json").read_text())
    for rank, error in zip(document["rank"], ("rank 1 ended: its connection closed", "ended by signal 9, SIGKILL")):
        rank.update(status="RANK_LOST", error=error)
    (folder / "ranks.json").write_text(json.dumps(document))
    why = json.loads(tg("explain", "bad", "--json").stdout)["together"]
    assert why["first"] == 1 and why["root"] == "rank 1: RANK_LOST: ended by signal 9, SIGKILL"


def fail_at(folder, times, error_ns):
    """Makes each rank fail by itself at a time of its own clock, which is known so well."""
    document = json.loads((folder / "ranks.json").read_text())
    for rank, time in zip(document["rank"], times):
        rank.update(status="KERNEL_FAULT", error=f"rank {rank['rank']} crashed", ended_ns=str(time),
                    clock={"offset_ns": "0", "drift": 0.0, "at_ns": "0", "error_ns": error_ns, "samples": 9})
    document["status"] = "KERNEL_FAULT"
    (folder / "ranks.json").write_text(json.dumps(document))


def test_the_rank_that_failed_first_is_named_by_the_clocks(made, tg):
    fail_at(copy(made, tg, "a", "bad"), (5_000_000, 4_000_000), 1000)
    why = json.loads(tg("explain", "bad", "--json").stdout)["together"]
    assert why["first"] == 1 and why["root"] == "rank 1: KERNEL_FAULT: rank 1 crashed"
    assert why["order"] == "rank 1 failed first, by the ranks' clocks"


def test_an_order_within_the_error_of_the_clocks_is_not_known(made, tg):
    fail_at(copy(made, tg, "a", "bad"), (5_000_000, 4_999_000), 1000)
    why = json.loads(tg("explain", "bad", "--json").stdout)["together"]
    assert why["first"] is None and "which was first is not known" in why["order"]


def test_errors_of_clocks_may_be_as_large_as_a_number_can_be(made, tg):
    fail_at(copy(made, tg, "a", "bad"), (5_000_000, 4_999_000), 2**63 - 1)
    result = tg("explain", "bad", "--json")
    assert result.stderr == "" and "their clocks are known to 1.84e+16 µs" in json.loads(
        result.stdout)["together"]["order"]


def test_lines_of_comm_jsonl_that_are_torn_are_counted(made, tg):
    path = copy(made, tg, "a", "a") / "rank1" / "comm.jsonl"
    path.write_text(path.read_text()[:-30])
    result = tg("verify", "a")
    assert result.returncode == 2 and "1 line of comm.jsonl cannot be read" in result.stdout
    assert "1 lines of its comm.jsonl cannot be read" in tg("explain", "a").stdout


def test_a_job_that_does_not_communicate_leaves_nothing_unknown(tg):
    tg.good("run", "--ranks", "2", "vector_add", "--output", "job")
    assert not (tg.directory / "job" / "rank0" / "comm.jsonl").exists()
    assert "unknown" not in tg.good("explain", "job").stdout
    run_json = tg.directory / "job" / "rank1" / "run.json"
    run_json.write_text(run_json.read_text().replace('"calls": {}', '"calls": {"tg_send": 1}'))
    assert "rank 1: which calls it made" in tg.good("explain", "job").stdout
