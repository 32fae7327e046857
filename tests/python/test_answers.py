# SPDX-License-Identifier: Apache-2.0
"""Every question of the command line, asked in Python: the answers are those of `--json`."""

import json
import math
import os
import pathlib
import shutil
import signal
import subprocess

import numpy
import pytest
import taskglass

from conftest import BUILD, GPU, PROGRAM, ROOT, TEST_WORKLOADS, python
from forge import forge, is_output, put_nan

RUNTIMES = [runtime.name for runtime in taskglass.runtimes()]
PEER = ROOT.parent / "shared" / "fixtures" / "peer"


def ask(*arguments):
    """The exit code, the document and the line of an error."""
    done = subprocess.run([str(PROGRAM), *map(str, arguments), "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=600)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr.strip()


@pytest.fixture(scope="module", params=RUNTIMES)
def made(request, tmp_path_factory):
    """The directory of a run with a recording and scope stats, by each runtime."""
    return taskglass.run("matmul_chain", dump_tensor="full", enable_scope_stats=True,
                         runtime=request.param,
                         output=tmp_path_factory.mktemp("made") / "out").output_dir


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """A recording, where it does not matter which runtime made it."""
    return taskglass.run("matmul_chain", dump_tensor="full",
                         output=tmp_path_factory.mktemp("one") / "out").output_dir


@pytest.fixture
def damaged(tmp_path):
    """A recording with a NaN that a task made, and what a killed host leaves of its files."""
    folder = taskglass.run("matmul_chain", dump_tensor="full", output=tmp_path / "bad").output_dir
    forge(folder / "tensor_dump", is_output, put_nan)
    return folder


# --- find ---------------------------------------------------------------------------------------

def entry_of(record):
    return {"record": record.index, "task_id": f"0x{record.task_id:016x}"}


def suspect_of(suspect):
    return {"task_id": f"0x{suspect.task:016x}", "kernel": list(suspect.kernels),
            "recorded": suspect.recorded, "writes": suspect.writes, "races": suspect.races,
            "given": suspect.given, "late": suspect.late, "arg_index": suspect.arg,
            "place": suspect.place or None, "distance": suspect.distance,
            "replay": suspect.replay or None, "misuse": suspect.misuse or None}


def finding_of(what, found):
    document = {**entry_of(found.record), "trace": found.trace, "count": found.count,
                "first": None if found.first is None else list(found.first)}
    if what == "unwritten":
        document.update(sign=found.sign, proved=found.proved)
    if what in ("unwritten", "stomp"):
        document["before"] = found.before.index if found.before else None
    if what == "stomp":
        document["writer"] = found.writer.index if found.writer else None
        document["between"] = [{"task_id": f"0x{each.task:016x}", "kernel": list(each.kernels),
                                "writes": each.writes} for each in found.between]
        document["culprit"] = found.culprit and {
            "task_id": f"0x{found.culprit.task:016x}", "kernel": list(found.culprit.kernels),
            "evidence": found.culprit.evidence}
        document["suspects"] = [suspect_of(each) for each in found.suspects]
        document["suspects_left_out"] = 0
    else:
        document["inputs"] = [
            {**entry_of(feed.record), "count": feed.count,
             "from_record": feed.source.index if feed.source else None,
             "from_task": f"0x{feed.source.task_id:016x}" if feed.source else None,
             "from_outside": feed.from_outside} for feed in found.inputs]
    return document


def found_of(document):
    """The document without what a Record has."""
    dropped = ("kernel", "stage", "role", "arg_index", "kind", "dtype", "shape")
    return [{key: [{k: v for k, v in each.items() if k not in dropped} for each in value]
             if key == "inputs" else value
             for key, value in finding.items() if key not in dropped}
            for finding in document["findings"]]


def assert_finds_the_same(folder, what, options=(), **filters):
    code, document, _ = ask("find", what, folder, *options)
    with taskglass.Recording(folder) as recording:
        result = recording.find(what, **filters)
    assert result.exit_code == code
    assert (result.result, result.reason or None) == (document["result"], document.get("reason"))
    assert list(result.left_out) == document["left_out"]
    if "findings" not in document:
        return result
    for key in ("found", "looked_at", "not_stored", "order", "what"):
        assert getattr(result, key) == document[key], key
    if what == "unwritten":
        assert (result.proved, result.possible, result.passed_on) == (
            document["proved"], document["possible"], document["passed_on"])
    assert [finding_of(what, found) for found in result.findings] == found_of(document)
    return result


@pytest.mark.parametrize("what", ["nan", "inf", "overflow", "constant", "unwritten", "stomp"])
def test_find_answers_as_the_command_does(made, what):
    result = assert_finds_the_same(made, what)
    assert result.ok == (result.exit_code == 0 and "in what" not in result.result)


def test_find_names_the_suspects_of_a_stomp_as_the_command_does(tmp_path):
    folder = taskglass.run(TEST_WORKLOADS / "mistakes.so", case="stomp", dump_tensor="full",
                           check=False, output=tmp_path / "out").output_dir
    result = assert_finds_the_same(folder, "stomp", ("--no-replay",), replay=False)
    assert result.not_replayed and len(result.findings[0].suspects) == 3
    assert_finds_the_same(folder, "stomp")


def race_of(race):
    def side(one):
        return {"task_id": f"0x{one.task_id:016x}", "position": one.position, "kernel": one.kernels or None,
                "line": one.line or None, "scope": one.scope or None, "arg_index": one.argument,
                "role": one.role, "region": one.region or None}
    return {"first": side(race.first), "second": side(race.second), "bytes": race.bytes,
            "pairs": race.pairs, "fix": race.fix}


def test_find_race_answers_as_the_command_does(made):
    code, document, _ = ask("find", "race", made)
    with taskglass.Recording(made) as recording:
        result = recording.find("race")
        assert recording.find("race", limit=0).findings == ()
    assert (result.exit_code, result.result) == (code, document["result"])
    assert [race_of(race) for race in result.findings] == document["findings"]
    for key in ("found", "looked_at", "what", "tasks", "groups", "exact", "unclear", "proof"):
        assert getattr(result, key) == document[key], key
    assert list(result.left_out) == document["left_out"]


def test_find_names_the_task_that_made_a_nan(damaged):
    result = assert_finds_the_same(damaged, "nan")
    assert result.result == "found" and not result.ok
    assert result.findings[0].trace == "origin" and result.findings[0].count == 1
    assert_finds_the_same(damaged, "nan", ("--stage", "before"), stage="before")
    assert len(assert_finds_the_same(damaged, "nan", ("--limit", 1), limit=1).findings) == 1


def test_find_asks_references_about_what_may_be_unwritten(tmp_path):
    folder = taskglass.run(TEST_WORKLOADS / "unwritten.so", dump_tensor="full", check=False,
                           output=tmp_path / "out").output_dir
    assert_finds_the_same(folder, "unwritten")


@pytest.mark.parametrize("filters, options", [
    ({"task": 4000}, ("--task", 4000)), ({"stage": "orchestration"}, ("--stage", "orchestration"))])
def test_find_does_not_know_what_it_did_not_search(made, filters, options):
    assert assert_finds_the_same(made, "nan", options, **filters).result == "not known"
    with taskglass.Recording(made) as recording:
        assert recording.find("nan", task=[]).result == "not known"


def test_find_does_not_know_without_values(tmp_path):
    folder = taskglass.run("vector_add", dump_tensor="meta", output=tmp_path / "out").output_dir
    result = assert_finds_the_same(folder, "nan")
    assert result.result == "not known" and "--dump-tensor=full" in result.reason


def test_find_refuses_what_there_is_not_to_find(one):
    with taskglass.Recording(one) as recording, pytest.raises(taskglass.BadArgument) as caught:
        recording.find("nam")
    assert "unknown kind 'nam'; kinds are nan, inf, overflow, constant, unwritten, stomp and race" in str(
        caught.value)


# --- stats --------------------------------------------------------------------------------------

def same_number(value, said):
    if isinstance(said, str):  # "inf", "-inf", and integers beyond 2^53
        return value == (float(said) if "inf" in said.lower() else int(said))
    return value == said or (value is not None and said is not None and
                             math.isclose(value, said, rel_tol=1e-6))


def assert_measures_the_same(folder, options=(), **filters):
    _, document, _ = ask("stats", folder, *options)
    with taskglass.Recording(folder) as recording:
        result = recording.stats(**filters)
    assert list(result.left_out) == document["left_out"]
    assert (result.result == "not known") == (document.get("result") == "not known")
    for row, said in zip(result, document.get("tensors", ())):
        assert (row.record.index, row.stored, row.cut) == (said["index"], said["stored"], said["cut"])
        if row.stored:
            assert [getattr(row, key) for key in ("count", "nan", "inf", "zero", "denormal")] == [
                said[key] for key in ("count", "nan", "inf", "zero", "denormal")]
            for key in ("min", "max", "mean", "std"):
                assert same_number(getattr(row, key), said[key]), (key, row, said)
    assert len(result) == len(document.get("tensors", ()))
    return result


def test_stats_measures_as_the_command_does(made):
    assert len(assert_measures_the_same(made)) > 20
    assert len(assert_measures_the_same(made, ("--limit", 3, "--stage", "after"), limit=3,
                                        stage="after")) == 3
    assert assert_measures_the_same(made, ("--task", 4000), task=4000).result == "not known"


def test_stats_measures_every_type(tmp_path):
    types = set()
    for case in ("odd", "odd_integers"):
        folder = taskglass.run("dtypes", case, dump_tensor="full", output=tmp_path / case).output_dir
        types |= {row.record.dtype for row in assert_measures_the_same(folder)}
        assert_measures_the_same(folder, ("--kind", "scalar"), kind="scalar")
    assert types == set(taskglass.dtypes.names())


def test_a_record_past_the_last_is_named_as_the_command_names_it(made):
    _, _, line = ask("stats", made, "--index", 99999)
    with taskglass.Recording(made) as recording:
        for call in (recording.stats, lambda **filters: recording.export(to="csv", **filters)):
            with pytest.raises(taskglass.NotFound) as caught:
                call(index=99999)
            assert line == f"taskglass: {caught.value.text}"


# --- verify, recover ----------------------------------------------------------------------------

def assert_verifies_the_same(folder):
    code, document, _ = ask("verify", folder)
    result = taskglass.verify(folder)
    assert result == taskglass.Recording(folder).verify()
    assert bool(result) == document["good"] == (code == 0)
    assert result.result == document.get("result", "good" if document["good"] else "bad")
    for key in ("dir", "complete", "state", "manifest_compared", "records", "damaged", "payloads",
                "payload_bytes", "hashes_compared", "without_hash", "truncated", "overwritten", "lost",
                "unclaimed_bytes"):
        assert getattr(result, key) == document[key], key
    assert sum(result.problems.values()) == document["problems"]
    assert [vars(finding) for finding in result.findings] == document["first"]
    return result


def test_verify_finds_what_the_command_finds(made, damaged):
    assert assert_verifies_the_same(made).result == "good"
    payload = damaged / "tensor_dump" / "tensor_dump.bin"
    payload.write_bytes(payload.read_bytes()[:-4096])
    assert assert_verifies_the_same(damaged).result == "bad"


def test_verify_without_a_path_takes_the_newest(made):
    os.symlink(made.parent, "outputs")
    assert taskglass.verify().dir == "outputs/out/tensor_dump"


def test_recover_saves_what_the_command_saves(tmp_path):
    folders = [taskglass.run("matmul_chain", dump_tensor="full", cores=3, schedulers=1,
                             output=tmp_path / name).output_dir for name in ("a", "b")]
    for folder in folders:
        journal = folder / "tensor_dump" / "tensor_dump.rec"
        journal.write_bytes(journal.read_bytes()[:5000])
        (folder / "tensor_dump" / "tensor_dump.json").unlink()
    _, document, _ = ask("recover", folders[0])
    result = taskglass.recover(folders[1])
    assert not result.was_complete and result.lost is None and result.cut_bytes > 0
    for key in ("was_complete", "records", "lost", "truncated", "damaged", "from_manifest",
                "kept_manifest", "lacks_payload", "put_aside", "cut_bytes", "zero_bytes", "bad_bytes"):
        assert getattr(result, key) == document[key], key
    again = taskglass.recover(folders[1])
    assert (again.records, again.cut_bytes) == (result.records, 0)


# --- replay -------------------------------------------------------------------------------------

def test_replay_compares_as_the_command_does(made):
    with taskglass.Recording(made) as recording:
        task = next(record.task for record in recording if record.task_id is not None)
        result = recording.replay(task, repeat=3)
        same = recording.replay(tuple(map(int, task.split(":"))) if ":" in task else int(task))
    _, document, _ = ask("replay", made, "--task", task, "--repeat", 3)
    assert result and same and result.outputs == result.outputs
    assert (result.result, result.reason or None) == (document["result"], document["reason"])
    assert f"0x{result.task:016x}" == document["task_id"] and result.platform == document["platform"]
    assert (result.kernel, result.runs, result.same, result.deterministic) == (
        document["kernel"], document["runs"], document["same"], document["deterministic"])
    for output, said in zip(result.outputs, document["outputs"]):
        assert (output.argument, output.dtype, output.elements, output.recorded, output.mismatches,
                output.varied) == (said["arg_index"], said["dtype"], said["elements"],
                                   said["recorded"], said["mismatches"], said["runs_that_varied"])


def test_replay_shows_an_output_that_differs(damaged):
    with taskglass.Recording(damaged) as recording:
        (wrong,) = recording.check().wrong
        result = recording.replay(wrong.task, platform="a5sim")
        assert result.result == "differs" and not result and result.platform == "a5sim"
        assert any(output.mismatches == 1 and math.isnan(output.recorded_value)
                   for output in result.outputs)


def test_replay_all_answers_as_the_command_does(made, damaged):
    for folder in (made, damaged):
        with taskglass.Recording(folder) as recording:
            seen = []
            result = recording.replay_all(guard=True, workers=2, progress=lambda *at: seen.append(at))
        code, document, _ = ask("replay", folder, "--all", "--guard")
        assert (result.result, bool(result)) == (document["result"], code == 0)
        assert result.counts == document["counts"] and sum(result.counts.values()) == document["tasks"]
        assert list(result.not_seen) == document["not_seen"] and result.guard
        assert [(task.task, task.kernel, task.result) for task in result.tasks] == [
            (int(each["task_id"], 16), each["kernel"], each["result"]) for each in document["findings"]]
        assert seen[-1] == (document["tasks"], document["tasks"])


def test_replay_all_names_the_output_that_differs(damaged):
    with taskglass.Recording(damaged) as recording:
        result = recording.replay_all()
        wrong, = (task for task in result.tasks if task.result == "differs")
        alone = recording.replay(wrong.task)
        assert recording.replay_all(task=wrong.task).counts["differs"] == 1
        with pytest.raises(taskglass.NotFound, match="select no recorded task"):
            recording.replay_all(task=[])
    assert repr(wrong.output) in map(repr, alone.outputs) and wrong.output.mismatches > 0  # NaN is not itself


def test_an_exception_from_progress_ends_replay_all(made):
    def refuse(done, tasks):
        raise ValueError("enough")

    with taskglass.Recording(made) as recording, pytest.raises(ValueError, match="enough"):
        recording.replay_all(progress=refuse)


def test_replay_refuses_what_the_command_refuses(made, tmp_path):
    with taskglass.Recording(made) as recording:
        for task, options in (("0-5", ("--task", "0-5")), (4000, ("--task", 4000))):
            with pytest.raises(taskglass.Error) as caught:
                recording.replay(task)
            line = subprocess.run([str(PROGRAM), "replay", str(made), *map(str, options)],
                                  stderr=subprocess.PIPE, text=True).stderr
            assert caught.value.text.replace("task: ", "") in line.replace("--task: ", "")
        with pytest.raises(taskglass.BadArgument):
            recording.replay(0, repeat=0)


def test_a_bundle_is_written(one, tmp_path):
    with taskglass.Recording(one) as recording:
        task = next(record.task for record in recording if record.task_id is not None)
        folder = recording.bundle(task, tmp_path / "bug")
        assert (folder / "README.md").is_file() and (folder / "CMakeLists.txt").is_file()
        with pytest.raises(taskglass.Error):
            recording.bundle(task, tmp_path / "bug")


# --- check --------------------------------------------------------------------------------------

def test_check_concludes_as_the_command_does(made, damaged):
    for folder in (made, damaged):
        _, document, _ = ask("check", folder)
        with taskglass.Recording(folder) as recording:
            result = recording.check()
        assert (result.result, result.reason or None) == (document["result"], document.get("reason"))
        assert [result.counts[verdict] for verdict in ("agrees", "differs", "no reference", "failed")
                ] == [document[key] for key in ("good", "wrong_count", "without_reference",
                                                "failed_count")]
        assert [f"0x{task.task:016x}" for task in result.wrong] == [
            wrong["task_id"] for wrong in document["wrong"]]
        assert list(result.left_out) == document["left_out"]


def test_check_says_why_it_does_not_know(tmp_path):
    folder = taskglass.run("vector_add", dump_tensor="full", output=tmp_path / "out").output_dir
    _, document, _ = ask("check", folder)
    with taskglass.Recording(folder) as recording:
        assert recording.check(sandbox="off").reason == document["reason"] != ""
        with pytest.raises(taskglass.BadArgument, match="sandbox"):
            recording.check(sandbox="nonsense")


def test_values_that_numpy_saved_are_compared(made, tmp_path):
    with taskglass.Recording(made) as recording:
        recording.export(tmp_path / "all.npz", stage="after")
        result = recording.check_against(tmp_path / "all.npz")
        assert result and len(result.compared) == sum(1 for _ in recording.select(stage="after"))
        record = next(recording.select(stage="after", kind="tensor"))
        golden = record.array().copy()
        golden.flat[3] += 1
        numpy.save(tmp_path / "one.npy", golden)
        result = recording.check_against(tmp_path / "one.npy", index=record.index)
        (wrong,) = result.wrong
        assert result.result == "wrong" and (wrong.record.index, wrong.mismatches, wrong.first) == (
            record.index, 1, 3)
        assert recording.check_against(tmp_path / "one.npy", index=record.index, atol=2)
        for filters, options in (({}, ()), ({"index": record.index, "atol": -1}, None)):
            with pytest.raises(taskglass.BadArgument) as caught:
                recording.check_against(tmp_path / "one.npy", **filters)
            if options is not None:
                done = subprocess.run([str(PROGRAM), "check", str(made), "--against", "one.npy"],
                                      cwd=tmp_path, stderr=subprocess.PIPE, text=True)
                assert done.stderr == f"taskglass: {caught.value.text}\n"
        with pytest.raises(taskglass.BadArgument):
            recording.check_against(tmp_path / "one.npy", task=[])


# --- scope --------------------------------------------------------------------------------------

def peak_of(said):
    use = {key: taskglass.ScopeUse(**said[key])
           for key in ("task_window", "heap", "dep_pool", "tensormap", "fanin") if key in said}
    waits = dict(said["waits"]) if "waits" in said else None
    seconds = waits.pop("seconds") if waits else None
    return taskglass.ScopePeak(said["site"], said["ring"], said["count"], said["touched"],
                               tuple(said["depth"]), use, said["nearest"], waits, seconds)


def assert_scopes_are_the_same(folder):
    _, document, _ = ask("scope", folder)
    stats, said = taskglass.scope(folder), document["scope_stats"]
    said.pop("version"), said.pop("fatal")
    for key, value in said.items():
        got = getattr(stats, key)
        assert (list(got) if isinstance(got, tuple) else got) == value, key
    assert list(map(str, stats.peaks)) == [str(peak_of(peak)) for peak in document["peaks"]]
    assert [{key: value for key, value in vars(need).items() if value is not None or key == "ring"}
            for need in stats.advice] == document["advice"]
    assert list(stats.options) == document["options"]
    return stats


def test_scope_says_what_the_command_says(made, tmp_path):
    stats = assert_scopes_are_the_same(made)
    assert stats.no_rings == (taskglass.Recording(made).run["runtime"] == "host_build_graph")
    with taskglass.Recording(made) as recording:
        assert recording.scope(limit=1).peaks == stats.peaks[:1]
    page = stats.write_page(tmp_path / "rings.html")
    assert page.scopes == stats.scopes and page.bytes == os.stat(page.path).st_size
    subprocess.run([str(PROGRAM), "scope", str(made), "-o", "other.html"], cwd=tmp_path, check=True,
                   stdout=subprocess.DEVNULL)
    assert page.path.read_bytes() == (tmp_path / "other.html").read_bytes()
    with pytest.raises(taskglass.BadArgument, match="exists"):
        stats.write_page(page.path)
    assert stats.write_page(page.path, overwrite=True) == page


def test_scope_names_what_ended_a_run(tmp_path):
    with pytest.raises(taskglass.Deadlock) as caught:
        taskglass.run("matmul_chain", runtime="tensormap_and_ringbuffer", ring_task_window=4,
                      enable_scope_stats=True, output=tmp_path / "out")
    stats = assert_scopes_are_the_same(tmp_path / "out")
    assert stats.failed and stats.fatal.error == caught.value.status
    assert stats.fatal.resource == "task_window" and stats.options


# --- path ---------------------------------------------------------------------------------------

def times_of(task):
    document = dict(vars(task))
    return {"task_id": f"0x{document.pop('task'):016x}", **document}


def core_of(core):
    names = ("kind", "tasks", "run_ns", "idle_ns", "nothing_ns", "other_ns", "latency_ns")
    more = {"cores": core.cores} if core.core is None else {"core": core.core, "name": core.name}
    return {**{name: getattr(core, name) for name in names}, **more}


def assert_times_are_the_same(path, call=taskglass.path, options=(), **limit):
    _, document, _ = ask("path", path, *options)
    result = call(path, **limit)
    assert list(result.left_out) == document["left_out"]
    assert (result.result == "not known") == (document.get("result") == "not known")
    if result.result == "not known":
        assert result.reason == document["reason"]
        return result
    for key, value in {**document["run"], **document["span"]}.items():
        assert getattr(result, {"result": "run_result", "ns": "span_ns"}.get(key, key)) == value, key
    assert (result.path_unknown or None, result.wait_unknown or None, list(result.notes)) == (
        document["path_unknown"], document["wait_unknown"], document["notes"])
    path_of, waiting = document["path"], document["waiting"]
    assert result.spent_ns == (path_of["spent_ns"] if path_of else {})
    assert [{**times_of(step.task), "after": f"0x{step.after:016x}" if step.after is not None else None,
             "from_ns": step.from_ns, "by_orchestrator": step.by_orchestrator,
             "spent_ns": step.spent_ns} for step in result.steps] == (path_of or {}).get("steps", [])
    if waiting:
        assert [times_of(task) for task in result.longest_waits] == waiting["longest"]
        assert (result.wait_ns, result.wait_busy_ns, result.dispatched_ns, result.waited,
                result.ready_measured, result.submits_known) == tuple(
            waiting[key] for key in ("ns", "busy_ns", "dispatched_ns", "tasks", "ready_measured",
                                     "submits_known"))
    assert [vars(kernel) for kernel in result.kernels] == document["kernels"]
    assert [core_of(core) for core in result.kinds] == document["kinds"]
    assert [core_of(core) for core in result.cores] == document["cores"]
    assert [{key: value for key, value in {
        "change": gain.change, "kernel": gain.kernel, "percent": gain.percent, "is": gain.basis,
        "span_ns": gain.span_ns, "gained_ns": gain.gained_ns}.items()
        if key not in ("kernel", "percent") or value is not None} for gain in result.gains] == \
        document["gains"]
    return result


def test_path_says_what_the_command_says(made):
    result = assert_times_are_the_same(made)
    assert result.steps and sum(result.spent_ns.values()) == result.span_ns
    assert len(assert_times_are_the_same(made, options=("--limit", 1), limit=1).kernels) == 1
    with taskglass.Recording(made) as recording:
        assert recording.path() == taskglass.path(made / "tensor_dump")


@pytest.mark.parametrize("name", ["run.pftrace", "run.json"])
def test_path_reads_traces(name, tmp_path):
    taskglass.run("matmul_chain", trace=tmp_path / name, output=tmp_path / "out")
    result = assert_times_are_the_same(tmp_path / name)
    assert (result.source, result.timed) == ("trace", 20)


def test_path_does_not_know_without_times(tmp_path):
    folder = taskglass.run("matmul_chain", dump_tensor="full", output=tmp_path / "out").output_dir
    (folder / "tensor_dump" / "tensor_dump.rec").unlink()
    assert assert_times_are_the_same(folder).result == "not known"


# --- runs ---------------------------------------------------------------------------------------

@pytest.fixture
def several(tmp_path):
    for number in range(3):
        taskglass.run("vector_add", dump_tensor="full" if number else None)
    taskglass.run("matmul_chain")
    return tmp_path


def test_runs_lists_what_the_command_lists(several):
    for options, filters in (((), {}), (("--limit", 1), {"limit": 1}),
                             (("--workload", "vector_add"), {"workload": "vector_add"}),
                             (("--result", "finished", "--keep", 2), {"result": "finished", "keep": 2}),
                             (("--older-than", "1w"), {"older_than": "1w"})):
        _, document, _ = ask("runs", *options)
        listed = taskglass.runs(**filters)
        assert (listed.dir, listed.count, listed.bytes, listed.unread) == (
            document["dir"], document["count"], document["bytes"], document["unread"])
        assert len(listed) == len(document["runs"])
        for run, said in zip(listed, document["runs"]):
            assert run.began.strftime("%Y-%m-%dT%H:%M:%S%z") == said.pop("began")
            assert {key: str(value) if key == "path" else value for key, value in vars(run).items()
                    if key != "began"} == said
    assert [run.workload for run in taskglass.runs(workload="matmul_chain")] == ["matmul_chain"]


def test_what_is_no_result_and_no_age_is_refused_as_on_the_command_line(several):
    for options, filters in ((("--result", "odd"), {"result": "odd"}),
                             (("--older-than", "soon"), {"older_than": "soon"})):
        _, _, line = ask("runs", *options)
        with pytest.raises(taskglass.BadArgument) as caught:
            taskglass.runs(**filters)
        assert line == f"taskglass: {options[0]}: {caught.value.text}"
    with pytest.raises(taskglass.NotFound, match="no directory 'nowhere'"):
        taskglass.runs("nowhere")


def test_runs_of_a_place_where_nothing_was_run_are_none(tmp_path):
    assert list(taskglass.runs()) == [] and taskglass.remove_runs(all=True) == ()


def test_runs_are_removed(several):
    newest, *others = taskglass.runs()
    with pytest.raises(taskglass.BadArgument, match="needs the names"):
        taskglass.remove_runs()
    with pytest.raises(taskglass.BadArgument, match="not both"):
        taskglass.remove_runs(newest, all=True)
    with pytest.raises(taskglass.NotFound, match="there is no run 'nowhere'"):
        taskglass.remove_runs("nowhere")
    (removed,) = taskglass.remove_runs(others[0], others[0].name)
    assert removed.removed and removed.files > 0 and not others[0].path.exists()
    assert len(taskglass.remove_runs(keep=1)) == 2
    assert [run.path for run in taskglass.runs()] == [newest.path]


# --- export -------------------------------------------------------------------------------------

def test_export_writes_what_the_command_writes(made, tmp_path):
    _, document, _ = ask("export", made, "--to", "csv", "--output", "by_command.csv", "--limit", 5)
    with taskglass.Recording(made) as recording:
        result = recording.export("by_python.csv", limit=5)
        assert (result.format, result.written, result.missing, result.truncated, result.damaged) == \
            tuple(document[key] for key in ("format", "written", "missing", "truncated", "damaged"))
        assert list(result.left_out) == document["left_out"]
        assert (tmp_path / "by_python.csv").read_bytes() == (tmp_path / "by_command.csv").read_bytes()
        _, document, _ = ask("export", made, "--to", "npy")
        assert pathlib.Path(document["path"]).is_dir()
        with pytest.raises(taskglass.BadArgument, match="exists"):
            recording.export(to="npy")
        assert recording.export(to="npy", overwrite=True).path == document["path"]
        with pytest.raises(taskglass.BadArgument, match="needs a format"):
            recording.export()
        with pytest.raises(taskglass.BadArgument, match="leave one out"):
            recording.export("x", "csv", to="npz")


# --- what all of them share ---------------------------------------------------------------------

@pytest.mark.parametrize("call, command", [
    (taskglass.verify, ("verify",)), (taskglass.recover, ("recover",)), (taskglass.scope, ("scope",)),
    (taskglass.Recording, ("find", "nan")), (taskglass.runs, ("runs",)), (taskglass.path, ("path",))])
def test_what_is_not_there_is_named_by_the_same_line(call, command, tmp_path):
    _, _, line = ask(*command, tmp_path / "nowhere")
    with pytest.raises(taskglass.Error) as caught:
        call(tmp_path / "nowhere")
    assert line == f"taskglass: {caught.value.status}: {caught.value.text}"


@pytest.mark.parametrize("call, command", [
    (taskglass.verify, ("verify",)), (taskglass.recover, ("recover",)),
    (taskglass.Recording, ("find", "nan"))])
def test_what_is_broken_is_named_by_the_same_line(call, command, tmp_path):
    folder = tmp_path / "out" / "tensor_dump"
    folder.mkdir(parents=True)
    for name in ("tensor_dump.json", "tensor_dump.rec", "tensor_dump.bin"):
        (folder / name).write_bytes(b"nonsense" * 100)
    _, _, line = ask(*command, tmp_path / "out")
    with pytest.raises(taskglass.Error) as caught:
        call(tmp_path / "out")
    assert line == f"taskglass: {caught.value.status}: {caught.value.text}"


@pytest.mark.parametrize("question", [
    "find('nan', progress={})", "find('stomp', progress={})", "verify(progress={})",
    "stats(progress={})", "check(progress={})", "export('x.npz', progress={})"])
def test_an_exception_from_progress_ends_the_work(one, question):
    def stop(done, total):
        assert 0 <= done
        raise KeyError("enough")
    with taskglass.Recording(one) as recording, pytest.raises(KeyError, match="enough"):
        eval("recording." + question.format("stop"))


def test_progress_is_told(one):
    seen = []
    with taskglass.Recording(one) as recording:
        recording.find("nan", progress=lambda done, total: seen.append((done, total)))
        recording.verify(progress=lambda done, total: seen.append((done, total)))
    assert seen and all(0 <= done <= total for done, total in seen)


@pytest.mark.parametrize("question", ["find('nan', progress=now)", "verify(progress=now)",
                                      "check(progress=now)"])
def test_ctrl_c_ends_the_work(one, question):
    """A signal that comes while the library works."""
    done = python(f"""
import os, signal, taskglass
def now(done, total):
    os.kill(os.getpid(), signal.SIGINT)
try:
    taskglass.Recording({str(one)!r}).{question}
except KeyboardInterrupt:
    print("interrupted")
""", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    assert done.stdout == "interrupted\n", done.stderr


ENDLESS = """#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>
#include <taskglass/workload.h>
TG_KERNEL(one)
{
#ifdef ENDLESS
    for (volatile int again = 0;;)
        again++;
#endif
    TG_ARG(ctx, 0, float)[0] = 1;
}
TG_ORCHESTRATION(only)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, args->tensor[0]);
    tg_submit(rt, 0, &task);
}
static void prepare(struct tg_case *c)
{
    int64_t n = 1;
    tg_case_tensor(c, "x", TG_OUT, TG_FLOAT32, 1, &n);
}
static void golden(struct tg_case *c)
{
    tg_case_expect(c, "x", 0, 0)[0] = 1;
}
static const struct tg_kernel_def kernels[] = {{"one", one, TG_AIV, "out:float32"}};
static const struct tg_case_def cases[] = {{"only", "one task", ""}};
TG_WORKLOAD = {TG_WORKLOAD_HEAD, .name = "endless", .summary = "one task", .kernels = kernels, .n_kernels = 1,
               .cases = cases, .n_cases = 1, .orchestrate = only, .orchestrate_site = TG_SITE,
               .prepare = prepare, .golden = golden};
"""


@pytest.mark.skipif(GPU, reason="the module has no code for a GPU")
def test_ctrl_c_ends_the_replay_of_a_kernel_that_never_returns(tmp_path):
    """The limit for a kernel is longer than the test may take, so that only the signal ends it, wherever the replay is then."""
    compiler = shutil.which("cc") or pytest.skip("no C compiler here")
    include = next(each for each in (ROOT / "include", BUILD / "include") if each.exists())
    (tmp_path / "endless.c").write_text(ENDLESS)
    for name, option in (("good", "-DGOOD"), ("endless", "-DENDLESS")):
        subprocess.run([compiler, "-g", "-shared", "-fPIC", option, "-I", include, "-o", f"{name}.so", "endless.c"],
                       check=True, env={**os.environ, "LD_PRELOAD": ""})
    done = python("""
import os, signal, taskglass, threading
recording = taskglass.run("./good.so", dump_tensor="full").recording()
try:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    recording.replay(0, module="./endless.so", timeout=100000)
except KeyboardInterrupt:
    print("interrupted")
""", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    assert done.stdout == "interrupted\n", done.stderr


@pytest.mark.skipif(not PEER.is_dir(), reason="needs ../shared, the other implementation's recordings")
def test_recordings_of_the_other_implementation_answer_too():
    for folder in sorted(PEER.iterdir()):
        if (folder / "args_dump").is_dir() or (folder / "tensor_dump").is_dir():
            for what in ("nan", "constant", "unwritten", "stomp"):
                assert_finds_the_same(folder, what)
            assert_measures_the_same(folder)
            assert_verifies_the_same(folder)
        if (folder / "scope_stats").is_dir():
            assert_scopes_are_the_same(folder)
        if (folder / "chip_swimlane_records.json").is_file():
            assert assert_times_are_the_same(folder).source == "swimlane"
