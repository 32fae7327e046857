# SPDX-License-Identifier: Apache-2.0
"""taskglass path: its numbers are those of an independent computation (path_model.py), on random runs, on
the other implementation's recordings and on real runs; and files that no run wrote are refused."""

import json
import random

import pytest

from conftest import PLATFORMS, workload
from platforms import SAMPLED
from path_model import Part, Run, check_sums, read_answer
from recordings import peer
from wire_reader import NO_KERNEL, NO_TASK, Recording

RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
SWIMLANE = "chip_swimlane_records.json"


# --- swimlanes -----------------------------------------------------------------------------------

def nanoseconds(cycles, frequency):
    return cycles * 10**9 // frequency


def run_of_swimlane(swimlane, deps):
    """The run that the files describe, read anew."""
    frequency = swimlane["metadata"]["clock_freq_hz"]
    kinds = swimlane["metadata"]["core_types"]
    run = Run({core: kind if kind in ("aic", "aiv") else None for core, kind in enumerate(kinds)}, deps is not None)
    served = {(row[0], row[1]): row[2:4] for row in swimlane.get("aicpu_tasks", [])}
    submits = {phase["task_id"]: phase for thread in swimlane.get("aicpu_orchestrator_phases", []) for phase in thread}
    graph = {int(task["task_id"]): task for task in (deps or {"tasks": []})["tasks"]}
    rows = {}
    for row in swimlane["aicore_tasks"]:
        rows.setdefault(row[1], []).append(row)
    for id in {*rows, *graph, *submits}:
        parts = []
        for core, _, number, begin, end, *_ in sorted(rows.get(id, [])):
            dispatch, done = served.get((core, number), (None, None))
            parts.append(Part(core, *(None if time is None else nanoseconds(time, frequency)
                                      for time in (begin, end, done, dispatch))))
        kernels = [f"#{kernel}" for kernel in graph[id]["kernel_ids"] if kernel >= 0] if id in graph else ["?"] * len(parts)
        submit = submits.get(id)
        run.add(id, "+".join(kernels), parts,
                submit and nanoseconds(submit["end_cycles"], frequency),
                submit and nanoseconds(submit["start_cycles"], frequency),
                after={int(edge["pred"]) for edge in (deps or {"edges": []})["edges"] if int(edge["succ"]) == id})
    return run


def write_swimlane(folder, swimlane, deps):
    folder.mkdir(exist_ok=True)
    (folder / SWIMLANE).write_text(json.dumps(swimlane))
    (folder / "deps.json").unlink(missing_ok=True)
    if deps is not None:
        (folder / "deps.json").write_text(json.dumps(deps))


def random_swimlane(chance):
    """A run with ties, mixes, gaps and unknown times; some are honest schedules, some contradict themselves."""
    kinds = ["aic"] * chance.randint(0, 3) + ["aiv"] * chance.randint(1, 4)
    cores = {kind: [core for core, own in enumerate(kinds) if own == kind] for kind in ("aic", "aiv")}
    shapes = [[-1, 1, -1]] + ([[0, -1, -1]] if cores["aic"] else [])
    shapes += [[2, 3, -1]] if cores["aic"] else []
    shapes += [[-1, 4, 5]] if len(cores["aiv"]) > 1 else []
    shapes += [[2, 3, 4]] if cores["aic"] and len(cores["aiv"]) > 1 else []
    honest = chance.random() < 0.7
    ids = chance.sample(range(1, 400), chance.randint(1, 22))
    ids.sort(key=lambda id: id if honest else chance.random())
    free, ended, numbers = dict.fromkeys(range(len(kinds)), 0), {}, dict.fromkeys(range(len(kinds)), 0)
    tasks, edges, ran, served, submits = [], [], [], [], []
    clock = chance.randint(0, 3)
    for id in ids:
        shape = chance.choice(shapes)
        tasks.append({"task_id": str(id), "kernel_ids": shape, "block_num": 1, "args": []})
        before = chance.sample(list(ended), min(len(ended), chance.choice((0, 1, 1, 2, 3))))
        edges += [(one, id) for one in before]
        if chance.random() < 0.06:
            edges.append((chance.choice([999, id, before[0] if before else 998]), id))
        if chance.random() < 0.08:
            continue  # it never ran
        clock += chance.randint(0, 4)
        if chance.random() < 0.8:
            submits.append({"submit_idx": len(submits), "task_id": id, "start_cycles": clock,
                            "end_cycles": clock + chance.randint(0, 2)})
        chosen = chance.sample(cores["aic"], shape[0] >= 0) + chance.sample(cores["aiv"], sum(k >= 0 for k in shape[1:]))
        begin = max([clock + 2, *(ended[one] for one in before), *(free[core] for core in chosen)])
        begin += chance.choice((0, 0, 1, 5))
        if not honest:
            begin = chance.randint(0, 60)
        for core in sorted(chosen):
            late = chance.choice((0, 0, 2))
            end = begin + late + chance.choice((0, 1, 3, 10))
            numbers[core] += 1
            ran.append([core, id, numbers[core], begin + late, end, 0])
            free[core] = max(free[core], end)
            ended[id] = max(ended.get(id, 0), end)
            if chance.random() < 0.7:
                served.append([core, numbers[core], max(begin - chance.randint(0, 4), 0), end + chance.randint(0, 3)])
    if not ran:
        ran.append([0, ids[0], 1, 0, 5, 0])
    chance.shuffle(edges)
    swimlane = {"chip_swimlane_level": 4,
                "metadata": {"clock_freq_hz": chance.choice((10**9, 50_000_000, 300_000_001)),
                             "num_cores": len(kinds), "core_types": kinds},
                "aicore_tasks": ran, "aicpu_tasks": served, "aicpu_scheduler_phases": [[]],
                "aicpu_orchestrator_phases": [submits]}
    deps = {"tasks": tasks, "tensors": [],
            "edges": [{"pred": str(a), "succ": str(b), "source": "explicit"} for a, b in edges]}
    return swimlane, None if chance.random() < 0.08 else deps


@pytest.mark.parametrize("part", range(2 if SAMPLED else 6))
def test_random_runs_agree_with_an_independent_computation(tg, part):
    chance = random.Random(part)
    for _ in range(50):
        swimlane, deps = random_swimlane(chance)
        write_swimlane(tg.directory / "run", swimlane, deps)
        document = tg.json("path", "run")
        check_sums(document)
        assert read_answer(document) == run_of_swimlane(swimlane, deps).answer(), (swimlane, deps)


@pytest.mark.parametrize("name", ["tmr_deps_fan", "tmr_deps_war"])
def test_the_other_implementations_runs_agree_with_an_independent_computation(tg, name):
    folder = peer(name)
    swimlane, deps = (json.loads((folder / file).read_text()) for file in (SWIMLANE, "deps.json"))
    document = tg.json("path", folder)
    check_sums(document)
    assert document["run"]["source"] == "swimlane" and document["run"]["timed"] == 80
    assert read_answer(document) == run_of_swimlane(swimlane, deps).answer()
    assert tg.json("path", folder / SWIMLANE)["path"] == document["path"]


def test_a_swimlane_without_edges_still_shows_idle_cores(tg):
    swimlane, _ = random_swimlane(random.Random(5))
    write_swimlane(tg.directory / "run", swimlane, None)
    document = tg.json("path", "run")
    assert document["path"] is None and "no deps.json" in document["path_unknown"]
    assert all(core["idle_ns"] is not None and core["latency_ns"] is None for core in document["cores"])
    text = tg.good("path", "run").stdout
    assert "critical path  not known: " in text and "ready but not running  not known: " in text


# --- recordings ----------------------------------------------------------------------------------

def run_of_recording(folder):
    """The run of a recording, from its journal, deps.json and run.json."""
    recording = Recording(folder / "tensor_dump")
    facts, graph = (json.loads((folder / name).read_text()) for name in ("run.json", "deps.json"))
    lanes = {core: ("aic", "aiv", "aiv")[core % 3] for core in range(facts["device"]["cores"])}
    run = Run(lanes, host_built=facts["orchestration"] is None)
    seen = {}
    for record in recording.arguments:
        if int(record["task_id"]) != NO_TASK and record["stage"] != 2:
            task = seen.setdefault(int(record["task_id"]), {0: [], 1: []})
            task[int(record["stage"])].append(int(record["time"]))
            task["core"], task["kernel"] = int(record["core"]), [int(kernel) for kernel in record["kernel"]]
    for task in graph["tasks"]:
        id = int(task["task_id"], 16)
        found, parts = seen.get(id), []
        used = [part for part in range(3) if found and found["kernel"][part] != NO_KERNEL]
        for part in used:
            begin, end = min(found[0], default=None), max(found[1], default=None)
            core = found["core"] if len(used) == 1 else found["core"] // 3 * 3 + part
            kind = recording.kernel_cores[found["kernel"][part]].lower()
            parts.append(Part(core, end if begin is None else begin, begin if end is None else end, kind=kind,
                              no_begin=begin is None, no_end=end is None))
        run.add(id, "+".join(task["kernel"]), parts, task.get("submitted"), after=[int(one, 16) for one in task["after"]])
    return run


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_real_run_agrees_with_an_independent_computation(tg, platform, runtime):
    name, level = ("mlp", "meta") if platform == "a2a3sim" else ("mix", "full")
    tg.good("run", name, "--platform", platform, "--runtime", runtime, f"--dump-tensor={level}", "--cores", "6",
            "--output", "run")
    document = tg.json("path", "run")
    check_sums(document)
    run = document["run"]
    assert (run["source"], run["platform"], run["runtime"], run["result"]) == ("recording", platform, runtime, "OK")
    assert document["recording"]["complete"] and document["left_out"] == []
    assert read_answer(document) == run_of_recording(tg.directory / "run").answer()


# --- traces --------------------------------------------------------------------------------------

@pytest.mark.parametrize("example", ["mlp", "mix"])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_recording_and_its_traces_have_the_same_path(tg, runtime, example):
    tg.good("run", example, "--runtime", runtime, "--dump-tensor=meta", "--cores", "6", "--output", "run")
    answer = read_answer(tg.json("path", "run"))
    for name in ("run.pftrace", "run.json"):
        tg.good("export", "run", "--to", "trace", "--output", name)
        document = tg.json("path", name)
        assert document["run"]["source"] == "trace" and document["run"]["runtime"] == runtime
        assert read_answer(document) == answer


@pytest.mark.parametrize("name", ["run.pftrace", "run.json"])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_trace_of_a_run_adds_up(tg, runtime, name):
    result = tg.good("run", "mix", "--runtime", runtime, "--cores", "6", "--trace", name)
    assert "trace" in result.stdout
    document = tg.json("path", name)
    check_sums(document)
    run = document["run"]
    assert (run["source"], run["workload"], run["runtime"]) == ("trace", "mix", runtime)
    assert run["tasks"] == run["timed"] == 40 and len(document["cores"]) == 6
    assert document["waiting"]["ready_measured"] and run["early_edges"] == 0
    assert document["path"]["spent_ns"]["unknown"] == 0


def test_the_newest_recording_is_the_default(tg):
    tg.good("run", "vector_add", "--dump-tensor=meta")
    assert tg.json("path")["run"]["workload"] == "vector_add"
    (tg.directory / "elsewhere").mkdir()
    result = type(tg)(tg.directory / "elsewhere")("path")
    assert result.returncode == 2 and "no recording under outputs/" in result.stderr


def test_without_deps_json_idle_times_are_known_and_the_path_is_not(tg):
    tg.good("run", "mlp", "--dump-tensor=meta", "--output", "run")
    (tg.directory / "run" / "deps.json").unlink()
    document = tg.json("path", "run")
    assert document["path"] is None and document["waiting"] is None
    assert document["path_unknown"] and document["wait_unknown"]
    assert all(gain["span_ns"] is None for gain in document["gains"])
    check_sums(document)


def test_a_run_that_crashed_is_judged_up_to_its_last_end(tg):
    result = tg("run", workload("faults"), "--case", "null", "--dump-tensor", "--output", "run")
    assert result.returncode == 3
    document = json.loads(tg("path", "run", "--json").stdout)
    text = tg("path", "run")
    if "result" in document:  # no task had ended
        assert document["result"] == "not known" and text.returncode == 2
    else:
        check_sums(document)
        assert document["left_out"] != [] and text.returncode == 0


def test_a_recording_without_a_journal_has_no_times(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    (tg.directory / "run" / "tensor_dump" / "tensor_dump.rec").unlink()
    text, answer = tg("path", "run"), tg("path", "run", "--json")
    assert text.returncode == answer.returncode == 2
    assert "there are no times in this recording" in text.stderr and text.stderr.count("\n") == 1
    assert json.loads(answer.stdout)["result"] == "not known"


def test_limit_shows_that_many_rows(tg):
    tg.good("run", "mlp", "--dump-tensor=meta", "--output", "run")
    assert len(tg.json("path", "run", "--limit", "2")["waiting"]["longest"]) == 2
    assert tg.good("path", "run", "--top", "1").stdout == tg.good("path", "run", "--limit", "1").stdout
    assert "and 3 more; --limit shows them" in tg.good("path", "run", "--limit", "1").stdout


def test_an_estimate_says_that_submissions_stay_where_the_orchestrator_waited(tg):
    words = "an estimate keeps the times of submissions"
    for more, is_said in ((["--ring-task-window", "8"], True), ([], False)):
        result = tg("run", workload("rings"), "--case", "slow", "--set", "n=200", "--runtime", "aicpu_build_graph",
                    "--cores", 3, "--trace", "t.pftrace", *more)
        assert result.returncode == 0, result
        assert any(words in note for note in tg.json("path", "t.pftrace")["notes"]) == is_said


# --- files that no run wrote ---------------------------------------------------------------------

GOOD = {"metadata": {"clock_freq_hz": 10**9, "core_types": ["aic", "aiv"]}, "aicore_tasks": [[0, 1, 1, 10, 20]]}

HOSTILE = [
    ("[]", "object belongs"), ("{", "line 1"), ("", "no JSON value"), ('{"aicore_tasks": 3}', "list belongs"),
    ('{"aicore_tasks": [3]}', "row belongs"), ('{"aicore_tasks": [[1, 2]]}', "too short"),
    ('{"aicore_tasks": [[1, 2, 3, 4, "x"]]}', "not a whole number"),
    ('{"aicore_tasks": [[1, 2, 3, 4, -5]]}', "not a whole number"),
    ('{"aicore_tasks": [[1, 2, 3, 4, 1e3]]}', "not a whole number"),
    ('{"aicore_tasks": [[4294967295, 2, 3, 4, 5]]}', "no such core or task"),
    ('{"aicore_tasks": [[0, 18446744073709551615, 3, 4, 5]]}', "no such core or task"),
    ('{"aicore_tasks": [[0, 1, 1, 10, 20]]}', "no clock_freq_hz"),
    ('{"metadata": {"clock_freq_hz": 0}, "aicore_tasks": []}', "no frequency"),
    ('{"metadata": {"clock_freq_hz": 99999999999}, "aicore_tasks": []}', "no frequency"),
    ('{"metadata": {"clock_freq_hz": 1}, "aicore_tasks": [[0, 1, 1, 1, 18446744073709551615]]}', "larger than"),
    ('{"metadata": {"clock_freq_hz": 1}, "aicore_tasks": [[0, 1, 1, 1, 2]], "aicpu_tasks": [[0, 1]]}', "too short"),
    ('{"metadata": {"clock_freq_hz": 1}, "aicore_tasks": [], "aicpu_orchestrator_phases": [{}]}', "list belongs"),
    ('{"metadata": {"clock_freq_hz": 1, "core_types": [1]}, "aicore_tasks": []}', "not a word"),
    ('{"metadata": {"clock_freq_hz": 1}, "aicore_tasks": []}', "it has no task"),
    ('{"metadata": {"clock_freq_hz": 1}}', "no aicore_tasks"),
    ('{"aicore_tasks": ' + "[" * 100 + "]" * 100 + "}", "line 1"),
]


@pytest.mark.parametrize("text, words", HOSTILE, ids=lambda value: value[:40])
def test_a_file_that_no_run_wrote_is_refused_in_one_line(tg, text, words):
    (tg.directory / "run").mkdir()
    (tg.directory / "run" / SWIMLANE).write_text(text)
    for more in ([], ["--json"]):
        result = tg("path", "run", *more)
        assert result.returncode == 2, result
        assert len(result.stderr) < 400 and result.stderr.count("\n") <= 1
    assert words in tg("path", "run").stderr


def deps_of(edges, tasks=(1, 2, 3)):
    return {"tasks": [{"task_id": str(id), "kernel_ids": [0, -1, -1]} for id in tasks],
            "edges": [{"pred": str(a), "succ": str(b)} for a, b in edges]}


def test_edges_that_form_a_cycle_leave_the_path_unknown(tg):
    rows = [[0, id, id, 10 * id, 10 * id + 5] for id in (1, 2, 3)]
    write_swimlane(tg.directory / "run", {**GOOD, "aicore_tasks": rows}, deps_of([(1, 2), (2, 3), (3, 2)]))
    document = tg.json("path", "run")
    assert document["path"] is None and "cycle" in document["path_unknown"]
    assert "critical path  not known: the edges form a cycle" in tg.good("path", "run").stdout
    check_sums(document)


def test_edges_to_unknown_tasks_and_against_the_time_are_left_out_and_counted(tg):
    rows = [[0, id, id, 10 * id, 10 * id + 15] for id in (1, 2, 3)]
    write_swimlane(tg.directory / "run", {**GOOD, "aicore_tasks": rows}, deps_of([(1, 2), (9, 3), (3, 3), (1, 3)]))
    document = tg.json("path", "run")
    assert (document["run"]["unknown_edges"], document["run"]["early_edges"]) == (2, 1)
    assert any("left out: 2 edges to unknown tasks, 1 edge whose" in note for note in document["notes"])
    check_sums(document)


def test_tasks_that_deps_json_lacks_leave_the_path_unknown(tg):
    rows = [[0, id, id, 10 * id, 10 * id + 5] for id in (1, 2, 3)]
    write_swimlane(tg.directory / "run", {**GOOD, "aicore_tasks": rows}, deps_of([(1, 2), (2, 3)], tasks=(1, 2)))
    document = tg.json("path", "run")
    assert document["path"] is None and "deps.json lacks 1 of the tasks that ran" in document["path_unknown"]
    assert all(gain["span_ns"] is None for gain in document["gains"])
    check_sums(document)


def test_edges_that_a_run_lost_leave_the_path_unknown(tg):
    tg.good("run", "mlp", "--dump-tensor=meta", "--output", "run")
    deps = json.loads((tg.directory / "run" / "deps.json").read_text())
    for tasks, lost in ((deps["tasks"], 3), (deps["tasks"][:-2], 0)):
        (tg.directory / "run" / "deps.json").write_text(json.dumps({**deps, "tasks": tasks, "lost": lost}))
        document = tg.json("path", "run")
        words = f"deps.json lacks {len(deps['tasks']) - len(tasks)} of the tasks that ran, and the run lost {lost} of"
        assert document["path"] is None and words in document["path_unknown"]
        check_sums(document)


def test_a_damaged_deps_json_is_refused(tg):
    write_swimlane(tg.directory / "run", GOOD, None)
    (tg.directory / "run" / "deps.json").write_text('{"tasks": [{"task_id": "1"')
    result = tg("path", "run")
    assert result.returncode == 2 and "deps.json" in result.stderr and result.stderr.count("\n") == 1


def test_a_file_of_another_kind_is_refused(tg):
    (tg.directory / "x.json").write_text('{"traceEvents": []}')
    (tg.directory / "y").write_bytes(b"\x00\x01\x02")
    for name in ("x.json", "y", "no_such_file"):
        result = tg("path", name)
        assert result.returncode == 2 and result.stderr.count("\n") == 1, result
