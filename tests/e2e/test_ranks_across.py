# SPDX-License-Identifier: Apache-2.0
"""What ranks say of each other's files: whether tensors are the same on all of them, where a difference began, and
whose files lie in a folder. The recordings are written here, record by record, as docs/wire-format.md has them."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

import pytest

import wire_reader as wire
from conftest import BUILD, TIMEOUT, clean_environment, one_line
from serving import Server, needs_server

BINDINGS = pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python"
NUMBERS = {name: number for number, (name, _) in wire.DTYPES.items()}
BEFORE, AFTER = 0, 1
IN, OUT = 1, 2


# --- files ------------------------------------------------------------------------------------------

def sealed(data, at):
    found = wire.content_hash(data[:at] + bytes(4) + data[at + 4:])
    return data[:at] + struct.pack("<I", (found ^ found >> 32) & 0xffffffff) + data[at + 4:]


def record(task, kernel, stage, role, argument, values, payload=True, hashed=True, at=None):
    """What a rank recorded of a float32 tensor."""
    return {"task": task, "kernel": kernel, "stage": stage, "role": role, "argument": argument, "values": values,
            "payload": payload, "hashed": hashed, "at": at or 0x1000 + 0x10000 * argument + 0x1000000 * task}


def scalar(task, kernel, argument, value):
    """A scalar that a task was given, an int64."""
    return {"task": task, "kernel": kernel, "stage": BEFORE, "role": IN, "argument": argument, "scalar": value}


def scalar_record(number, kernels, entry):
    made = struct.pack("<HHIQQIIIBBBBBBHIQq", 1, wire.CONTIGUOUS, 0, number, entry["task"], wire.NO_KERNEL,
                       kernels.index(entry["kernel"]), wire.NO_KERNEL, entry["stage"], entry["role"], 1,
                       NUMBERS["int64"], 0, entry["argument"], 0, 0, 0, 0)
    return sealed(made + bytes(128) + struct.pack("<8Q", 0, 0, 0, 0, entry["scalar"], 1000 + number, 0, 0), 4), b""


def argument_record(number, kernels, entry, position):
    if "scalar" in entry:
        return scalar_record(number, kernels, entry)
    data = struct.pack(f"<{len(entry['values'])}f", *entry["values"])
    stored = len(data) if entry["payload"] else 0
    flags = wire.CONTIGUOUS | wire.HASHED * entry["hashed"] | wire.PAYLOAD * bool(stored)
    flags |= wire.PARTIAL * entry.get("partial", False)
    made = struct.pack("<HHIQQIIIBBBBBBHIQq", 1, flags, 0, number, entry["task"], wire.NO_KERNEL,
                       kernels.index(entry["kernel"]), wire.NO_KERNEL, entry["stage"], entry["role"], 0,
                       NUMBERS["float32"], 1, entry["argument"], 0, 0, entry["at"], 0)
    made += struct.pack("<8q", len(entry["values"]), *[0] * 7) + struct.pack("<8q", 1, *[0] * 7)
    made += struct.pack("<8Q", wire.content_hash(data) if entry["hashed"] else 0, len(data), stored,
                        position if stored else 0, 0, 1000 + number, 0, 0)
    return sealed(made, 4), data[:stored]


def write_recording(folder, records, lost=0):
    """A journal of version 1."""
    kernels = sorted({entry["kernel"] for entry in records})
    made = sealed(struct.pack("<QIIIIIIII", 0x3130636572746774, 1, 256, 256, 1, 0, 5, 0, 0) +
                  b"tensor_dump.bin".ljust(80, b"\0") + b"r".ljust(136, b"\0"), 252)
    for i, name in enumerate(kernels):
        made += sealed(struct.pack("<HHIII", 2, 0, 0, i, 1) + name.encode().ljust(240, b"\0"), 4)
    payload, stages, roles = b"", [0] * 3, [0] * 4
    for i, entry in enumerate(records):
        slot, data = argument_record(i, kernels, entry, len(payload))
        made, payload = made + slot, payload + data
        stages[entry["stage"]] += 1
        roles[entry["role"]] += 1
    end = struct.pack("<HHI", 3, 1, 0) + struct.pack(
        "<21Q", len(records) + lost, len(records), lost, *[0] * 5, 0, 0, len(payload), *stages, *roles[1:], 0, 0, 0, 0)
    made += sealed(end.ljust(256, b"\0"), 4)
    (folder / "tensor_dump").mkdir()
    (folder / "tensor_dump" / "tensor_dump.rec").write_bytes(made)
    (folder / "tensor_dump" / "tensor_dump.bin").write_bytes(payload)


def call(task, name, elements, number=0, peer=None, tag=None, operation=None):
    return {"task": f"{task:016x}", "call": name, "peer": peer, "tag": tag, "operation": operation, "number": number,
            "dtype": "float32", "elements": elements, "bytes": 4 * elements, "site": f"x.c:{task}",
            "posted_ns": "1", "matched_ns": "2", "done_ns": "3", "state": "done"}


def write_calls(folder, rank, ranks, calls):
    lines = [{"version": 1, "rank": rank, "ranks": ranks}, *calls, {"end": True, "calls": len(calls)}]
    (folder / "comm.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def change_ranks(folder, change):
    document = json.loads((folder / "ranks.json").read_text())
    change(document["rank"])
    (folder / "ranks.json").write_text(json.dumps(document))


def write_job(tg, name, ranks, calls, lost=()):
    """`ranks`: the records of each. `lost`: how many more it lost."""
    folder = tg.directory / name
    folder.mkdir()
    clock = {"offset_ns": "0", "drift": 0.0, "at_ns": "0", "error_ns": 0, "samples": 1}
    (folder / "ranks.json").write_text(json.dumps({
        "version": 1, "workload": "w", "case": "c", "ranks": len(ranks), "transport": "local", "about": "",
        "status": "OK", "rank": [{"rank": i, "folder": f"rank{i}", "host": "vm", "pid": 1, "local_rank": i,
                                  "status": "OK", "error": "", "clock": clock} for i in range(len(ranks))]}))
    for i, records in enumerate(ranks):
        (folder / f"rank{i}").mkdir()
        write_recording(folder / f"rank{i}", records, lost[i] if lost else 0)
        write_calls(folder / f"rank{i}", i, len(ranks), calls)
    return folder


def reduced(tg, name, values, hidden=()):
    """A job whose ranks got these first elements of tg_all_reduce; of hidden ranks nothing is known."""
    return write_job(tg, name, [
        [record(1, "tg_all_reduce", BEFORE, IN, 0, [1, 1]),
         record(1, "tg_all_reduce", AFTER, OUT, 1, [value, 1], i not in hidden, i not in hidden)]
        for i, value in enumerate(values)], [call(1, "tg_all_reduce", 2, operation="sum")])


def across(tg, name, *options):
    """The exit code, and the only tensor."""
    result = tg("diff", "--across", "ranks", name, *options, "--all", "--json")
    tensor, = json.loads(result.stdout)["tensors"]
    return result.returncode, tensor


# --- the odd one out --------------------------------------------------------------------------------

@pytest.mark.parametrize("values, hidden, odd, count", [
    ((7, 7, 8, 9, 10), (), None, 0),  # the most frequent is not most
    ((7, 7, 8, 0, 0), (3, 4), None, 0),  # the unknown ones may be 8
    ((7, 7, 8, 8), (), None, 0),
    ((7, 8), (), None, 0),
    ((8, 7, 7, 7, 0), (4,), 0, 1),  # 3 of 5, whatever the last is
    ((8, 7, 9, 7, 7), (), 0, 2),
    ((7, 7, 8), (), 2, 1)])
def test_a_rank_is_odd_if_more_than_half_of_all_agree_without_it(tg, values, hidden, odd, count):
    reduced(tg, "job", values, hidden)
    code, tensor = across(tg, "job")
    assert (code, tensor["result"], tensor["odd_rank"], tensor["odd_ranks"]) == (1, "differs", odd, count)
    assert ("which of them is wrong is not known" in tensor["text"]) == (odd is None)


@pytest.mark.parametrize("values, result, odd", [
    ((1, 0, 2), "differs", None), ((0, 1, 2), "differs", None), ((0, 2, 1), "differs", None),
    ((0, 1, 0, 1), "close", None), ((0, 0, 1, 5), "differs", 3), ((5, 1, 0, 1), "differs", 0),
    ((0, 1, 1, 1, 2), "differs", None)])
def test_within_a_tolerance_every_rank_is_close_to_every_other(tg, values, result, odd):
    reduced(tg, "job", values)
    code, tensor = across(tg, "job", "--atol", "1")
    assert (code, tensor["result"], tensor["odd_rank"]) == (result == "differs", result, odd)


def test_bits_that_differ_without_a_place_are_explained(tg):
    reduced(tg, "job", (0.0, -0.0, 0.0))
    code, tensor = across(tg, "job")
    assert (code, tensor["result"]) == (1, "differs") and "it differs in bits alone, as 0 and -0 do, from" in tensor["text"]


def test_hashes_do_not_say_whether_values_are_within_a_tolerance(tg):
    write_job(tg, "job", [[record(1, "tg_all_reduce", AFTER, OUT, 1, [value], payload=False)] for value in (1, 2)],
              [call(1, "tg_all_reduce", 1, operation="sum")])
    assert across(tg, "job")[1]["result"] == "differs"
    code, tensor = across(tg, "job", "--atol", "1")
    assert (code, tensor["result"]) == (2, "not known") and "within the tolerance is not known" in tensor["text"]


def test_python_names_an_odd_rank_only_of_what_differs(tg):
    reduced(tg, "unknown", (7, 7, 7), (2,))
    reduced(tg, "close", (0, 1))
    reduced(tg, "none", (7, 7, 8, 9, 10))
    reduced(tg, "odd", (7, 7, 8))
    program = """
import taskglass
for name, atol in ("unknown", None), ("close", 1.0), ("none", None), ("odd", None):
    with taskglass.Ranks(name) as ranks:
        for each in ranks.across(atol=atol).tensors:
            print(name, each.verdict, each.odd, each.usual)
"""
    path = {"PYTHONPATH": str(BINDINGS), "TASKGLASS_LIBRARY": str(BUILD / "lib" / "libtaskglass.so")}
    result = subprocess.run([sys.executable, "-c", program], cwd=tg.directory, env=clean_environment(**path),
                            capture_output=True, text=True, timeout=TIMEOUT)
    if "ASan runtime does not come first" in result.stderr:
        pytest.skip("Python cannot load a library with sanitizers as it is")
    assert result.stdout.splitlines() == ["unknown unknown None None", "close close None None",
                                          "none differs None None", "odd differs 2 0"], result.stderr


# --- selected records -------------------------------------------------------------------------------

def test_selected_records_of_different_numbers_are_not_compared(tg):
    kernel = [record(task, "k", AFTER, OUT, 0, [task]) for task in (1, 2, 3)]
    write_job(tg, "job", [kernel, kernel[1:]], [])
    code, tensor = across(tg, "job", "--kernel", "k")
    assert (code, tensor["result"], tensor["odd_rank"]) == (2, "not known", None)
    assert "rank 0 has 3 of them and rank 1 has 2" in tensor["text"]
    assert across(tg, "job", "--kernel", "k", "--task", "2")[0] == 0


def test_selected_records_of_other_arguments_are_not_compared(tg):
    write_job(tg, "job", [[record(1, "k", AFTER, OUT, argument, [argument])] for argument in (0, 1)], [])
    code, tensor = across(tg, "job", "--kernel", "k")
    assert (code, tensor["result"]) == (2, "not known") and "rank 1 has task 1 k argument 1" in tensor["text"]


def three_of_four(*lacking):
    """For each rank a kernel's tasks 1 to 4, which leave their number, without one of them."""
    return [[record(task, "k", AFTER, OUT, 0, [task]) for task in (1, 2, 3, 4) if task != lack] for lack in lacking]


def test_records_that_each_rank_lost_another_of_accuse_nobody(tg):
    """All have three, and the second of rank 0 is not the second of rank 1."""
    write_job(tg, "job", three_of_four(2, 3), [], lost=(1, 1))
    result = tg("diff", "--across", "ranks", "job", "--kernel", "k", "--all", "--json")
    tensors = json.loads(result.stdout)["tensors"]
    assert [each["result"] for each in tensors] == ["equal", "not known", "equal", "not known"]
    assert "rank 1 has task 2 k" in tensors[1]["text"] and result.returncode == 2


@pytest.mark.parametrize("hashed", [True, False])
def test_what_a_task_that_had_not_finished_left_is_not_compared(tg, hashed):
    """It hangs on both ranks, which had written as much by then."""
    half = {**record(1, "k", AFTER, OUT, 0, [7], hashed=hashed), "partial": True}
    write_job(tg, "job", [[half], [half]], [])
    code, tensor = across(tg, "job", "--task", "1")
    assert (code, tensor["result"], tensor["known_ranks"]) == (2, "not known", 0)


def test_records_that_no_rank_has_were_not_compared(tg):
    """The first task of all is there, and what they lost is not known. A task that is named is not missing."""
    write_job(tg, "job", [[record(1, "k", AFTER, OUT, 0, [7])]] * 2, [], lost=(1, 1))
    result = tg("diff", "--across", "ranks", "job", "--kernel", "k")
    assert result.returncode == 2 and "1 equal, 0 within the tolerance, 0 differ, 1 not known" in result.stdout
    assert "not known  records that no recording has: rank 0: the run lost 1 record" in result.stdout
    assert across(tg, "job", "--task", "1")[0] == 0


def test_a_recording_without_losses_says_which_records_belong_together(tg):
    """A rank that submits one task less has other ids; as many records as where none is missing are all of them."""
    write_job(tg, "job", [[record(task + rank, "k", AFTER, OUT, 0, [task]) for task in (1, 2)] for rank in (0, 1)], [],
              lost=(0, 5))
    assert tg("diff", "--across", "ranks", "job", "--kernel", "k").returncode == 0


def test_one_rank_is_compared_with_nothing(tg):
    reduced(tg, "job", (7,))
    for options in (), ("--kernel", "tg_all_reduce", "--stage", "after"):
        result = tg("diff", "--across", "ranks", "job", *options)
        assert result.returncode == 2 and one_line(result.stderr)
        assert "nothing to compare: the run has one rank" in result.stderr


# --- calls that no file has -------------------------------------------------------------------------

def cut_calls(folder, rank, to):
    path = folder / f"rank{rank}" / "comm.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:to]))


def test_without_one_whole_file_of_calls_there_may_be_others(tg):
    """All ranks were killed after their first call, as far as their files say."""
    folder = reduced(tg, "job", (7, 7))
    cut_calls(folder, 0, -1)
    assert across(tg, "job")[0] == 0  # the other one has them all
    cut_calls(folder, 1, -1)
    result = tg("diff", "--across", "ranks", "job", "--json")
    document = json.loads(result.stdout)
    assert (result.returncode, document["result"], document["equal"], document["not_known"]) == (2, "not known", 1, 1)
    assert "no rank's comm.jsonl has all of its calls; rank 0: it has no end" in document["tensors"][0]["text"]


# --- whose files ------------------------------------------------------------------------------------

def swap(folder):
    (folder / "rank0").rename(folder / "x")
    (folder / "rank1").rename(folder / "rank0")
    (folder / "x").rename(folder / "rank1")


def check_unknown(tg, name, words):
    """All that is said of several ranks names the reason."""
    code, tensor = across(tg, name)
    assert (code, tensor["result"]) == (2, "not known") and words in tensor["text"]
    explained = tg("explain", name).stdout
    assert "unknown" in explained and words in explained
    shutil.copytree(tg.directory / name, tg.directory / "other", symlinks=True)
    difference = tg("diff", name, "other")
    assert difference.returncode == 2 and words in difference.stdout and "all ranks: not known" in difference.stdout
    assert tg("verify", name).returncode == 2


def test_a_folder_with_the_files_of_another_rank_is_not_known(tg):
    swap(reduced(tg, "job", (7, 7, 7)))
    check_unknown(tg, "job", "folder 'rank0' has the files of rank 1")


def test_no_rank_answers_with_the_files_of_another(tg):
    """Without run.json comm.jsonl says whose they are. Rank 2 has its own."""
    swap(reduced(tg, "job", (7, 7, 7)))
    said = "folder 'rank0' has the files of rank 1"
    for words in (("view", "job"), ("stats", "job"), ("find", "nan", "job"), ("diff", "job", "job")):
        result = tg(*words)
        assert result.returncode == 2 and f"{said}\n\nrank 1\nnot known: " in result.stdout, result
        alone = tg(*words, "--rank", "0")
        assert alone.returncode == 2 and said in alone.stderr and one_line(alone.stderr), alone
        assert tg(*words, "--rank", "2").returncode == 0
    ranks = json.loads(tg("view", "job", "--json").stdout)["ranks"]
    assert [rank.get("reason") for rank in ranks[:2]] == [said, "folder 'rank1' has the files of rank 0"]


def test_run_json_names_the_rank_too(tg):
    folder = reduced(tg, "job", (7, 7))
    for i in range(2):
        (folder / f"rank{i}" / "run.json").write_text(json.dumps({
            "workload": "w", "case": "c", "result": {"status": "OK", "exit_code": 0}, "comm": {"rank": 0, "ranks": 2}}))
        (folder / f"rank{i}" / "comm.jsonl").unlink()
    result = tg("diff", "job", "job")
    assert result.returncode == 2 and "folder 'rank1' has the files of rank 0" in result.stdout
    assert "folder 'rank0'" not in result.stdout


def test_a_folder_of_a_run_with_other_ranks_is_not_known(tg):
    folder = reduced(tg, "job", (7, 7))
    write_calls(folder / "rank1", 1, 8, [call(1, "tg_all_reduce", 2, operation="sum")])
    check_unknown(tg, "job", "folder 'rank1' has the files of a run with 8 ranks; this one has 2")


@pytest.mark.parametrize("unlisted", [False, True])
def test_two_ranks_with_the_same_folder_are_refused(tg, unlisted):
    folder = reduced(tg, "job", (7, 7))
    change_ranks(folder, lambda ranks: ranks.pop() and ranks[0].update(folder="rank1") if unlisted else
                 ranks[1].update(folder="rank0"))
    for verb in (("explain",), ("verify",), ("diff", "--across", "ranks")):
        result = tg(*verb, "job")
        assert result.returncode == 2 and one_line(result.stderr), result
        assert "two ranks have the same \"folder\"" in result.stderr


def test_a_folder_that_is_a_link_is_not_read(tg):
    folder = reduced(tg, "job", (7, 7))
    (folder / "rank1").rename(tg.directory / "elsewhere")
    (folder / "rank1").symlink_to("../elsewhere")
    check_unknown(tg, "job", "its folder 'rank1' is not here: it is a symbolic link")
    assert "elsewhere" not in tg("view", "job", "--rank", "1").stdout
    assert tg("view", "job", "--rank", "1").returncode == 2


def test_removing_a_run_does_not_follow_a_link(tg):
    folder = reduced(tg, "job", (7, 7))
    (folder / "rank1").rename(tg.directory / "elsewhere")
    (folder / "rank1").symlink_to("../elsewhere")
    (tg.directory / "elsewhere" / "trace.json").write_text("{}")
    tg("runs", "--remove", "./job", "--yes")
    assert (tg.directory / "elsewhere" / "trace.json").exists()
    assert (tg.directory / "elsewhere" / "tensor_dump" / "tensor_dump.rec").exists()


@needs_server
def test_a_served_run_does_not_lead_out_of_the_directory(tg):
    (tg.directory / "served").mkdir()
    folder = reduced(tg, "served/job", (7, 7))
    (folder / "rank1").rename(tg.directory / "secret")
    (folder / "rank1").symlink_to("../../secret")
    with Server(tg, "served") as server:
        assert server.api("records", run="job@0").status == 200
        assert server.api("records", run="job@1").status == 404


@needs_server
def test_a_served_rank_has_no_files_of_another(tg):
    (tg.directory / "served").mkdir()
    swap(reduced(tg, "served/job", (7, 7, 7)))
    with Server(tg, "served") as server:
        assert [server.api("records", run=f"job@{rank}").status for rank in range(3)] == [404, 404, 200]
        ranks = server.ask("ranks", run="job")["ranks"]
        assert [rank["calls"] for rank in ranks] == [None, None, 1]
        assert ranks[0]["why"] == "folder 'rank0' has the files of rank 1" and ranks[0]["key"] is None


# --- where it began ---------------------------------------------------------------------------------

def exchanged(tg, name, kind, given, left, **options):
    """Each rank has a kernel that makes what it gives, and a call."""
    write_job(tg, name, [[record(0, "k", AFTER, OUT, 0, given[i], at=0x5000, **options),
                          record(1, kind, BEFORE, IN, 0, given[i], at=0x5000, **options),
                          record(1, kind, AFTER, OUT, 1, left[i], **options)] for i in range(len(given))],
              [call(1, kind, len(given[0]), operation="sum" if kind == "tg_reduce_scatter" else None)])


def together(tg, code=1):
    result = tg("diff", "a", "b", "--json")
    assert result.returncode == code
    return json.loads(result.stdout)["together"]


def pieces(kind, given):
    """What the ranks get: one element is a piece."""
    n = len(given)
    if kind == "tg_all_to_all":
        return [[given[s][r] for s in range(n)] for r in range(n)]
    if kind == "tg_all_gather":
        return [[piece for each in given for piece in each] for _ in range(n)]
    return [[sum(each[r] for each in given)] for r in range(n)]


GIVEN = {"tg_all_to_all": [[1, 2, 3], [4, 5, 6], [7, 8, 9]], "tg_all_gather": [[1], [2], [3]],
         "tg_reduce_scatter": [[1, 2, 3], [4, 5, 6], [7, 8, 9]]}


def make_exchange(tg, kind, **options):
    """Rank 0 gives another piece to rank 1, or in tg_all_gather to all; the call damages what rank 2 gets from
    elsewhere."""
    good, bad = GIVEN[kind], [list(each) for each in GIVEN[kind]]
    bad[0][1 if len(bad[0]) > 1 else 0] = 50
    damaged = pieces(kind, bad)
    damaged[2][-1] = 99
    exchanged(tg, "a", kind, good, pieces(kind, good), **options)
    exchanged(tg, "b", kind, bad, damaged, **options)


@pytest.mark.parametrize("kind", GIVEN)
def test_a_rank_is_only_blamed_for_the_piece_that_it_gave(tg, kind):
    make_exchange(tg, kind)
    found = together(tg)
    calls = [cause for cause in found["causes"] if cause["kernel"] == kind]
    assert [cause["rank"] for cause in calls] == [2] and "although every rank gave the same" in calls[0]["text"]
    reached = [(each["rank"], each["from"]) for each in found["reached"]]
    assert reached == ([(1, 0), (2, 0)] if kind == "tg_all_gather" else [(1, 0)])


@pytest.mark.parametrize("kind", ["tg_all_to_all", "tg_reduce_scatter"])
def test_hashes_do_not_say_which_piece_differs(tg, kind):
    make_exchange(tg, kind, payload=False)
    found = together(tg, code=2)
    assert found["reached"] == [] and not any(cause["kernel"] == kind for cause in found["causes"])
    assert any("rank 2 got other values" in each and "whether rank 0 gave them is not known" in each
               for each in found["unknown"])


def test_another_scalar_of_the_orchestration_is_of_no_task(tg):
    def given(value):
        return {**scalar(2**64 - 1, "", 0, value), "stage": 2}

    for name, value in ("a", 1), ("b", 2):
        write_job(tg, name, [[given(value), record(1, "k", AFTER, OUT, 0, [value])] for _ in range(2)], [])
    texts = [cause["text"] for cause in together(tg)["causes"] if cause["guilt"] == "scalar"]
    assert texts == [f"rank {rank}, the orchestration: it was given another scalar" for rank in (0, 1)]


def test_a_rank_that_is_missing_does_not_hide_a_difference(tg):
    for name, value in ("a", 1), ("b", 2):
        folder = write_job(tg, name, [[record(1, "k", AFTER, OUT, 0, [value])] for _ in range(2)], [])
    shutil.rmtree(folder / "rank1")
    result = tg("diff", "a", "b")
    assert result.returncode == 1 and "1 of 2 ranks differ, 0 equal, 1 not known" in result.stdout


# --- the list of runs -------------------------------------------------------------------------------

def write_run(folder, tasks):
    (folder / "run.json").write_text(json.dumps({
        "workload": "w", "case": "c", "platform": "a2a3sim", "runtime": "host_build_graph",
        "result": {"status": "OK", "exit_code": 0}, "counters": {"tasks": tasks, "finished": tasks},
        "recorder": {"recorded": 2, "lost": 0}}))


def test_counts_without_one_of_the_ranks_are_not_the_runs(tg):
    folder = reduced(tg, "job", (7, 7, 7))
    for i in range(3):
        write_run(folder / f"rank{i}", 15)
    run, = tg.json("runs", ".")["runs"]
    assert (run["tasks"], run["finished"], run["records"], run["ranks"]) == (45, 45, 6, 3)
    shutil.rmtree(folder / "rank1")
    run, = tg.json("runs", ".")["runs"]
    assert (run["tasks"], run["finished"], run["records"], run["ranks"]) == (None, None, None, 3)
    assert run["result"] == "finished" and run["bytes"] > 0


def test_a_ranks_json_that_is_a_pipe_leaves_the_size_of_the_ranks(tg):
    folder = reduced(tg, "job", (7, 7))
    (folder / "ranks.json").unlink()
    os.mkfifo(folder / "ranks.json")
    run, = tg.json("runs", ".")["runs"]
    assert run["bytes"] > 0 and (run["tasks"], run["result"]) == (None, "unknown")


def sent(tg, name, values):
    """Rank 0 makes 1, 2 and 3, each by a task, and sends some of them, which rank 1 receives in this order."""
    makers = [made for value in (1, 2, 3) for made in (
        record(10 + value, "k", BEFORE, IN, 0, [value], at=0x1000), scalar(10 + value, "k", 2, value),
        record(10 + value, "k", AFTER, OUT, 1, [value], at=0x5000 + 0x1000 * value))]

    def calls_of(kind, stage, role):
        return [made for task, value in enumerate(values, 21) for made in (
            record(task, kind, stage, role, 0, [value], at=0x5000 + 0x1000 * value), scalar(task, kind, 1, task - 21))]

    folder = write_job(tg, name, [makers + calls_of("tg_send", BEFORE, IN), calls_of("tg_recv", AFTER, OUT)], [])
    for rank, kind in enumerate(("tg_send", "tg_recv")):
        write_calls(folder / f"rank{rank}", rank, 2,
                    [call(21 + number, kind, 1, number, peer=1 - rank, tag=0) for number in range(len(values))])


def test_a_message_that_was_left_out_does_not_accuse_the_receives_of_the_later_ones(tg):
    """Each later message has the number of the one before, so that the same send belongs to another receive."""
    sent(tg, "a", [2, 3])
    sent(tg, "b", [1, 2, 3])
    found = together(tg)
    assert not [cause for cause in found["causes"] if cause["rank"] == 1], found
    assert [(step["rank"], step["from"]) for step in found["reached"]] == [(1, 0), (1, 0)]
