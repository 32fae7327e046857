# SPDX-License-Identifier: Apache-2.0
"""Graphs that the device builds: rings that are too small, orchestrations with a mistake, and
advice that must be right. tests/workloads/rings has a case for each."""

import json
import os
import pathlib
import re
import shlex

import pytest

from conftest import PLATFORMS, until_warned, workload
from platforms import AT_ONCE, FAR_LIMIT, GPU, few, limits_for, simulators_only, until

AICPU, TENSORMAP = "aicpu_build_graph", "tensormap_and_ringbuffer"
RUNTIMES = (AICPU, TENSORMAP)
SOURCES = pathlib.Path(__file__).parents[1] / "workloads" / "rings"
RINGS = workload("rings")


def site(mark):
    """The line of the source that carries this mark."""
    for source in SOURCES.glob("*.c"):
        for number, line in enumerate(source.read_text().splitlines(), 1):
            if f"/* line: {mark} */" in line:
                return f"tests/workloads/rings/{source.name}:{number}"
    raise AssertionError(f"no line is marked {mark}")


@pytest.fixture(params=PLATFORMS)
def rings(tg, request):
    """rings(runtime, case, options …): the result and run.json."""
    def run(runtime, case, *options, **params):
        more = [word for name, value in params.items() for word in ("--set", f"{name}={value}")]
        result = tg("run", RINGS, "--case", case, "--runtime", runtime, "--platform",
                    request.param, "--output", "out", *more, *options)
        return result, json.loads((tg.directory / "out" / "run.json").read_text())
    return run


def good(answer):
    result, report = answer
    assert result.returncode == 0, result
    return report


# ── too small ───────────────────────────────────────────────────────────────────────────

def check_advice(rings, runtime, case, options, params, status, owner=None):
    """Checks that the run fails at once with that status, and passes with the options that it then
    advises."""
    result, report = rings(runtime, case, *options, *FAR_LIMIT, **params)
    assert result.returncode == 3, result
    assert report["result"] == {"status": status, "exit_code": 3}
    assert result.stderr.startswith(f"taskglass: {status}: ")
    assert owner is None or site(owner) in report["error"]["text"]
    assert re.search(r"\b\d+/\d+ in use", report["error"]["text"])
    assert report["times"]["execute_seconds"] < AT_ONCE
    advice = report["error"]["advice"]
    assert re.fullmatch(r"(--[a-z-]+ [0-9,KMGT]+ ?)+", advice), advice
    assert advice in result.stderr.splitlines()[0]
    again = dict(zip(options[::2], options[1::2]))
    words = shlex.split(advice)
    again.update(zip(words[::2], words[1::2]))
    good(rings(runtime, case, *(word for option in again.items() for word in option), **params))
    return advice


SLOTS = ("--ring-task-window", "8")
HEAP = ("--ring-heap", "1024")
DEPS = ("--ring-dep-pool", "4")
MAP = ("--tensormap", "4")


@pytest.mark.parametrize("depth,owner", few([(0, "orchestration"), (1, "scope"), (3, "scope"),
                                             (5, "scope")], 2))
def test_a_scope_with_more_tasks_than_slots(rings, depth, owner):
    advice = check_advice(rings, TENSORMAP, "tasks", SLOTS, {"depth": depth}, "SCOPE_DEADLOCK",
                          owner)
    assert advice == "--ring-task-window 20"


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("depth", few([0, 2, 4], 1))
def test_a_held_scope_with_more_tasks_than_slots(rings, runtime, depth):
    advice = check_advice(rings, runtime, "held", SLOTS, {"depth": depth}, "SCOPE_DEADLOCK",
                          "held")
    assert advice == "--ring-task-window 20"


def test_nested_scopes_that_share_a_ring(rings):
    check_advice(rings, TENSORMAP, "nested", SLOTS, {"depth": 1}, "SCOPE_DEADLOCK", "nested")


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case", few(["pieces", "outputs", "uneven"], 2))
@pytest.mark.parametrize("depth", few([0, 1, 4], 1))
def test_a_scope_with_more_memory_than_there_is(rings, runtime, case, depth):
    owner = "scope" if depth else "orchestration"
    check_advice(rings, runtime, case, HEAP, {"depth": depth}, "HEAP_RING_DEADLOCK", owner)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case", few(["pieces", "outputs"], 1))
def test_a_piece_larger_than_the_heap(rings, runtime, case):
    check_advice(rings, runtime, case, HEAP, {"n": 1, "size": 100000}, "HEAP_RING_DEADLOCK",
                 "scope")


@pytest.mark.needs_no_gpu
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_piece_larger_than_any_heap_is_not_advised_to_raise_it(rings, runtime):
    result, report = rings(runtime, "pieces", *FAR_LIMIT, n=1, size=10**15)
    assert report["result"] == {"status": "HEAP_RING_DEADLOCK", "exit_code": 3}, result
    assert "no ring can be that large" in report["error"]["text"]
    assert "--ring-heap" not in result.stderr and "smaller tensors" in report["error"]["advice"]


def test_a_scope_that_needs_more_of_everything_hears_it_at_once(rings):
    advice = check_advice(rings, TENSORMAP, "pieces", SLOTS + HEAP, {"size": 128},
                          "HEAP_RING_DEADLOCK")
    assert "--ring-task-window" in advice and "--ring-heap" in advice


def test_advice_names_only_what_is_too_small(rings):
    """Slots are freed by themselves here: only the memory is too small."""
    advice = check_advice(rings, AICPU, "pieces", SLOTS + HEAP, {}, "HEAP_RING_DEADLOCK")
    assert "--ring-task-window" not in advice


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case", few(["held_fan", "held_after"], 1))
def test_a_held_scope_with_more_edges_than_entries(rings, runtime, case):
    check_advice(rings, runtime, case, DEPS, {}, "DEP_POOL_OVERFLOW")


@pytest.mark.parametrize("params", few([{"size": 4}, {"size": 16, "n": 100}], 1))
def test_a_task_with_more_tensors_than_the_map_has_entries(rings, params):
    check_advice(rings, TENSORMAP, "tensors", MAP, params, "TENSORMAP_OVERFLOW")


def test_a_held_scope_with_more_tensors_than_the_map_has_entries(rings):
    check_advice(rings, TENSORMAP, "held_tensors", MAP, {"n": 100}, "TENSORMAP_OVERFLOW")


@pytest.mark.parametrize("case,options,params", few([
    ("after_held", ("--ring-task-window", "8"), {}),
    ("after_held_memory", ("--ring-heap", "16K"), {})], 1))
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_scopes_that_wait_for_a_held_task(rings, runtime, case, options, params):
    status = ("SCOPE_DEADLOCK" if (runtime, case) == (AICPU, "after_held")
              else "FLOW_CONTROL_DEADLOCK")
    check_advice(rings, runtime, case, options, params, status)


# ── just large enough, or enough after a while ──────────────────────────────────────────

ENOUGH = [
    (TENSORMAP, "tasks", ("--ring-task-window", "20"), {}),
    (TENSORMAP, "tasks", ("--ring-task-window", "4,20,4,4"), {}),
    (TENSORMAP, "nested", ("--ring-task-window", "4,4,4,18"), {"depth": 1}),
    (AICPU, "tasks", ("--ring-task-window", "4"), {}),
    (AICPU, "nested", ("--ring-task-window", "4"), {}),
    (AICPU, "held", ("--ring-task-window", "20"), {}),
    (TENSORMAP, "held", ("--ring-task-window", "4,4,20,4"), {}),
    (AICPU, "behind", ("--ring-task-window", "8"), {}),
    (TENSORMAP, "behind", ("--ring-task-window", "8"), {}),
    (TENSORMAP, "map_behind", MAP, {}),
    (AICPU, "fan_in", DEPS, {"size": 3}),
    (TENSORMAP, "fan_in", DEPS, {"size": 3}),
    (TENSORMAP, "found_fan", DEPS, {"size": 3}),
    (TENSORMAP, "found_scopes", MAP, {"n": 100}),
    (TENSORMAP, "tensors", ("--tensormap", "16"), {"size": 8}),
    (AICPU, "pieces", ("--ring-heap", "2560"), {"n": 20, "size": 128}),
    (TENSORMAP, "pieces", ("--ring-heap", "256,2560,256,256"), {"n": 20, "size": 128}),
    (AICPU, "outputs", ("--ring-heap", "2560"), {"n": 20, "size": 128}),
    (AICPU, "pieces", ("--ring-heap", "4096"), {"n": 1, "size": 4096}),
    (TENSORMAP, "outputs", ("--ring-heap", "4096"), {"n": 1, "size": 4096}),
    (AICPU, "scopes", ("--ring-heap", "256"), {"n": 100}),
    (TENSORMAP, "scopes", ("--ring-heap", "256"), {"n": 100, "depth": 3}),
    (AICPU, "wrap", HEAP, {}),
    (TENSORMAP, "wrap", HEAP, {}),
    (TENSORMAP, "wrap", HEAP, {"depth": 3}),
    (AICPU, "empty", HEAP, {}),
    (TENSORMAP, "empty", HEAP, {"depth": 3}),
]


@pytest.mark.parametrize("runtime,case,options,params", few(ENOUGH, 9))
def test_enough_is_enough(rings, runtime, case, options, params):
    good(rings(runtime, case, *options, **params))


@pytest.mark.parametrize("runtime,depth,more", few([
    (AICPU, 0, ()), (AICPU, 1, ("--deps",)), (TENSORMAP, 3, ()), (TENSORMAP, 3, ("--deps",)),
    (TENSORMAP, 2, ("--deps",)), (TENSORMAP, 4, ("--dump-tensor",))], 3))
def test_memory_in_use_is_never_given_to_others(rings, runtime, depth, more):
    good(rings(runtime, "inner", *HEAP, "--cores", "12", *more, depth=depth))


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("depth", few([0, 2, 3], 1))
def test_every_size_of_the_rings_gives_the_same(tg, runtime, depth):
    cases = ["scopes", "chain"] + (["found_scopes", "found_chain"] if runtime == TENSORMAP else [])
    for case in cases:
        for slots in few((4, 5, 6, 7, 8, 16, 64), 2):
            result = tg("run", RINGS, "--case", case, "--runtime", runtime, "--set", "n=200",
                        "--set", f"depth={depth}", "--set",
                        f"size={4 if 'chain' in case else 64}", "--ring-task-window", slots,
                        "--ring-heap", 256, "--ring-dep-pool", 4, "--tensormap", 8, "--output",
                        "out")
            assert result.returncode == 0, result


# ── waiting ─────────────────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("runtime", RUNTIMES)
def test_waiting_for_room_most_of_the_time_is_a_warning(rings, runtime):
    result, report = until_warned(lambda: rings(runtime, "slow", "--ring-task-window", "4"))
    assert result.returncode == 0, result
    assert result.stderr.startswith("taskglass: warning: RING_BUFFER_BACKPRESSURE: ")
    assert "task slots" in result.stderr and "--ring-task-window" in result.stderr
    assert [warning["name"] for warning in report["warnings"]] == ["RING_BUFFER_BACKPRESSURE"]


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case", few(["slow", "scopes", "chain", "read"], 1))
def test_a_run_with_room_has_no_warning(rings, runtime, case):
    result, report = rings(runtime, case)
    assert (result.returncode, result.stderr) == (0, ""), result
    assert report["warnings"] == []


# ── mistakes ────────────────────────────────────────────────────────────────────────────

GRAPHS_ALIKE = ["bad_edge", "bad_kernel", "wrong_count", "wrong_role", "wrong_dtype",
                "wrong_scalar", "wrong_part", "no_part", "outside", "bad_view", "broadcast_out",
                "too_many", "too_many_scalars", "too_many_after", "bad_alloc", "fail", "too_much",
                "stack", "again", "local", "not_given"]


@pytest.mark.parametrize("case", few(GRAPHS_ALIKE, 2))
def test_a_task_that_is_refused_is_refused_in_the_same_words_by_every_runtime(tg, case):
    said = set()
    for runtime in ("host_build_graph",) + RUNTIMES:
        result = tg("run", workload("graphs"), "--case", case, "--runtime", runtime, "--output",
                    "out")
        assert result.returncode == 2, result
        assert result.stderr.startswith("taskglass: BAD_ARGUMENT: tests/workloads/graphs/refused.c:")
        said.add(re.sub("at 0x[0-9a-f]+", "at ADDRESS", result.stderr.splitlines()[0]))
    assert len(said) == 1, said


TAKES = '; the signature of node_aiv_0 is "inout:uint64 out:uint64 out:uint64 scalar:int64 scalar:int64"'
ADVICE = {
    "wrong_count": "task 0 (node_aiv_0): the kernel wants 3 tensors and 2 scalars, got 2 and 2" + TAKES,
    "too_much": "task 0 (node_aiv_0): the kernel wants 3 tensors and 2 scalars, got 3 and 3" + TAKES,
    "stack": "task 0 (node_aiv_0): the arguments were not initialised; call tg_args_init before the "
             "first argument is added",
    "again": "task 1 (node_aiv_0): the kernel wants 3 tensors and 2 scalars, got 6 and 2" + TAKES +
             "; was tg_args_init called for this task?",
    "local": "task 0 (node_aiv_0) argument 2 is not in device memory: 32 bytes at 0x",
    "not_given": "task 0 (node_aiv_0) argument 2: this is args->tensor[7] of the orchestration, which "
                 "was given 3 tensors only",
}


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("case", few(ADVICE, 2))
def test_a_refusal_names_task_kernel_and_argument_and_what_would_be_right(tg, platform, case):
    for runtime in ("host_build_graph",) + RUNTIMES:
        result = tg("run", workload("graphs"), "--case", case, "--runtime", runtime, "--platform",
                    platform, "--output", "out")
        assert result.returncode == 2, result
        assert ADVICE[case] in result.stderr


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case,words", few([("cycle", "TG_SCOPE_HELD"), ("self_edge", "TG_SCOPE_HELD")], 1))
def test_edges_between_tasks_that_may_have_started_are_refused(tg, runtime, case, words):
    result = tg("run", workload("graphs"), "--case", case, "--runtime", runtime)
    assert result.returncode == 2, result
    assert "graphs/refused.c:" in result.stderr and words in result.stderr


ENDED = "memory of a scope that has ended"
OUTPUT = "tg_output: no such task"
READ = "tg_read: needs a tensor of one element"
MISTAKES = [
    ("ended", None, ENDED), ("ended_again", None, ENDED), ("ended_read", "ended_read", ENDED),
    ("ended_output", None, ENDED), ("no_task", "no_task", OUTPUT), ("no_ring", "no_ring", OUTPUT),
    ("no_argument", "no_argument", OUTPUT), ("started", "started", "may have started"),
    ("backwards", "backwards", "submitted before it"), ("itself", "itself", "submitted before it"),
    ("let_go", "let_go", "may have started"), ("not_there", "not_there", "not exist"),
    ("after_none", None, "waits for task 2147483648"), ("read_two", "read_two", READ),
    ("read_half", "read_half", READ), ("read_nothing", "read_nothing", READ),
    ("read_no_task", "read_no_task", "does not exist yet"),
    ("broken", "broken", "left by break, goto or return"),
    ("too_deep", "too_deep", "nested too deep (64 at most)"),
    ("one_end", "orchestration", "ends that never began"),
    ("gives_up", "gives_up", "this one gives up on purpose"),
    ("nowhere", "elsewhere", "argument 0 is not in device memory"),
    ("beyond", "elsewhere", "argument 0 is not in device memory"),
    ("dimensions", "elsewhere", "argument 0: not a tensor"),
    ("new_input", "new", "argument 0"), ("bad_new", "new", "argument 0: not a tensor"),
]


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case,mark,words", few(MISTAKES, 4))
def test_a_mistake_ends_with_exit_2_and_its_source_line(rings, runtime, case, mark, words):
    params = {"depth": 0} if case == "broken" else {}
    result, report = rings(runtime, case, *HEAP, **params)
    assert result.returncode == 2, result
    assert report["result"] == {"status": "BAD_ARGUMENT", "exit_code": 2}
    assert words in result.stderr
    where = result.stderr.split(": ")[2]
    assert where == site(mark) if mark else where.startswith("tests/workloads/rings/")


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case", few(["read_held", "read_behind_held"], 1))
def test_reading_what_is_held_back_is_a_deadlock(rings, runtime, case):
    result, report = rings(runtime, case, *FAR_LIMIT)
    assert result.returncode == 3, result
    assert report["result"]["status"] == "FLOW_CONTROL_DEADLOCK"
    assert f"{site(case)}: task " in result.stderr and "can never finish" in result.stderr
    assert report["times"]["execute_seconds"] < AT_ONCE


@pytest.mark.parametrize("runtime,case", [(AICPU, "read_on"), (TENSORMAP, "loop_on")])
def test_an_orchestration_that_never_returns_after_a_deadlock_is_ended(rings, runtime, case):
    result, report = rings(runtime, case, *SLOTS, *FAR_LIMIT)
    assert result.returncode == 3, result
    assert report["result"]["status"] == "SCOPE_DEADLOCK"
    assert site("go_on") in result.stderr
    assert "--ring-task-window 20" in report["error"]["advice"]
    assert report["times"]["execute_seconds"] < AT_ONCE


# Where all threads of a device share one CPU, an orchestration that waits runs tasks on its own thread.
ONE_CPU = {"preexec_fn": lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])}


@simulators_only
@pytest.mark.parametrize("runtime,case,options", [
    (AICPU, "read", ()), (TENSORMAP, "read", ()), (AICPU, "chain", SLOTS), (TENSORMAP, "chain", SLOTS),
    (TENSORMAP, "found_fan", DEPS), (AICPU, "scopes", HEAP), (TENSORMAP, "slow_fan", ())])
def test_what_runs_on_one_cpu_is_right_and_recorded_as_always(tg, runtime, case, options):
    tg("run", RINGS, "--case", case, "--runtime", runtime, "--cores", "3", "--dump-tensor", "--output",
       "many", *options, *FAR_LIMIT)
    report = tg.run_json(RINGS, "--case", case, "--runtime", runtime, "--cores", "3", "--dump-tensor",
                         *options, *FAR_LIMIT, **ONE_CPU)
    assert report["result"]["status"] == "OK"
    assert tg("verify", "out").returncode == 0
    assert tg("diff", "many", "out").returncode == 0


@simulators_only
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case,status,kernel", [("crash", "KERNEL_FAULT", "crash"),
                                                ("hang", "HANG", "spin")])
def test_a_kernel_that_the_orchestration_ran_is_named_as_on_a_core(tg, runtime, case, status, kernel):
    report = until(
        lambda end: end["error"]["running"],
        lambda limit: tg.run_json(RINGS, "--case", case, "--runtime", runtime, "--timeout", limit,
                                  code=3, **ONE_CPU), limits_for(status, 0.4))
    assert report["result"]["status"] == status
    assert [task["kernel"] for task in report["error"]["running"]] == [kernel]


# ── faults ──────────────────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("runtime,task,waits", [
    (AICPU, "task 2", ("0x0000000000000003", "0x0000000000000002")),
    (TENSORMAP, "task 2:2", ("0x0000000200000003", "0x0000000200000002"))])
@pytest.mark.parametrize("case,status,kernel", [("crash", "KERNEL_FAULT", "crash"),
                                                ("hang", "HANG", "spin")])
def test_a_bad_kernel_is_named_with_its_ring(rings, runtime, task, waits, case, status, kernel):
    result, report = until(
        lambda end: end[1]["counters"]["finished"] == 2 and end[1]["error"]["running"],
        lambda limit: rings(runtime, case, "--timeout", limit), limits_for(status, 0.4))
    assert result.returncode == 3, result
    assert report["result"]["status"] == status
    said = result.stderr.replace("or one just before it, ", "")  # a GPU reports a bad store late
    assert f"{task}, kernel {kernel}, on core" in said
    if status == "HANG" or not GPU:  # a GPU's memory is gone after a crash
        assert [(unmet["task_id"], unmet["waits_for"])
                for unmet in report["error"]["unmet"]] == [waits]
    assert [task["kernel"] for task in report["error"]["running"]] == [kernel]
    assert report["counters"]["finished"] == 2 and report["device"]["lost"]


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case,status,words", [
    ("crash_here", "KERNEL_FAULT", "the orchestration, in the scope of {}, after 2 tasks: Aborted"),
    ("hang_here", "HANG", "the orchestration is busy in the scope of {}")])
def test_a_bad_orchestration_is_named_with_its_scope(rings, runtime, case, status, words):
    result, report = until(lambda end: site(case) in end[0].stderr, lambda limit: rings(
        runtime, case, "--timeout", limit), limits_for(status, 0.4))
    assert result.returncode == 3, result
    assert report["result"]["status"] == status
    if GPU and status == "KERNEL_FAULT":  # the memory is gone, and the scope with it
        words = "the orchestration"
    assert words.format(site(case)) in result.stderr


# ── the graph ───────────────────────────────────────────────────────────────────────────

def deps(tg, runtime, case, *options, code=0):
    result = tg("run", RINGS, "--case", case, "--runtime", runtime, "--deps", "--output", "out",
                *options)
    assert result.returncode == code, result
    return json.loads((tg.directory / "out" / "deps.json").read_text())


def edges(document):
    return {task["task_id"]: dict(zip(task["after"], task["kind"])) for task in document["tasks"]}


def test_deps_json_has_edges_of_every_kind(tg):
    document = deps(tg, TENSORMAP, "kinds")
    assert document["lost"] == 0
    found = [{int(before, 16): kind for before, kind in after.items()}
             for after in edges(document).values()]
    assert found == [
        {}, {0: "raw"}, {0: "raw"}, {1: "war", 2: "war"}, {1: "waw"}, {2: "explicit"}, {2: "raw"},
        {3: "raw", 4: "raw"}, {5: "raw"}, {3: "raw", 4: "raw"}, {9: "waw"}, {10: "raw"}]
    assert [task["kernel"] for task in document["tasks"]][:4] == [["set"], ["next"], ["next"],
                                                                 ["set"]]
    assert {task["scope"] for task in document["tasks"]} == {site("orchestration")}


@pytest.mark.parametrize("case", few(["found_scopes", "found_chain", "found_fan", "tensors", "kinds"], 1))
def test_deps_json_has_the_same_edges_whatever_the_timing(tg, case):
    many = ("--set", "n=60")
    sets = () if case == "kinds" else many
    first = edges(deps(tg, TENSORMAP, case, *sets, "--cores", "1"))
    assert sum(map(len, first.values())) > 5
    for options in (("--cores", "6"), ("--cores", "6", "--schedulers", "1"),
                    ("--ring-task-window", "64", "--ring-heap", "1024", "--cores", "3"),
                    ("--ring-task-window", "64", "--ring-dep-pool", "4", "--platform", PLATFORMS[-1])):
        assert edges(deps(tg, TENSORMAP, case, *sets, *options)) == first


def test_a_recorded_run_has_the_same_edges(tg):
    first = edges(deps(tg, TENSORMAP, "found_scopes", "--set", "n=60"))
    tg.good("run", RINGS, "--case", "found_scopes", "--runtime", TENSORMAP, "--set", "n=60",
            "--dump-tensor", "--output", "out")
    assert edges(json.loads((tg.directory / "out" / "deps.json").read_text())) == first


def test_deps_json_of_explicit_edges_has_them_all(tg):
    for runtime in RUNTIMES:
        document = deps(tg, runtime, "held_after", "--set", "size=5")
        after = list(edges(document).values())
        assert [len(before) for before in after] == [min(i, 5) for i in range(20)]
        kinds = {kind for before in after for kind in before.values()}
        assert kinds == {"explicit"}


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_deps_json_has_edges_that_came_after_their_task(tg, runtime):
    after = list(edges(deps(tg, runtime, "held_fan")).values())
    assert len(after) == 41 and len(after[-1]) == 40


@simulators_only
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case,count", [("crash", 4), ("crash_here", 2)])
def test_deps_json_of_a_dead_device_has_what_was_submitted(tg, runtime, case, count, platform):
    document = deps(tg, runtime, case, "--platform", platform, code=3)
    assert len(document["tasks"]) == count


def test_deps_json_of_a_deadlock_has_what_was_submitted(tg):
    document = deps(tg, TENSORMAP, "tasks", *SLOTS, code=3)
    assert len(document["tasks"]) == 8


# ── recordings ──────────────────────────────────────────────────────────────────────────

def records(tg, runtime, module, *options):
    """Counts each record, without the fields that depend on which side built the graph."""
    tg.good("run", *module, "--runtime", runtime, "--output", "out", *options)
    manifest = json.loads((tg.directory / "out" / "tensor_dump" / "tensor_dump.json").read_text())
    assert manifest["dropped_records"] == 0
    return sorted(json.dumps([entry.get(key) for key in (
        "kernel", "role", "stage", "arg_index", "kind", "dtype", "shape", "is_contiguous",
        "bin_size", "hash", "value", "raw")]) for entry in manifest["tensors"])


@pytest.mark.parametrize("options", few([
    ("--dump-tensor",), ("--dump-tensor=hash",), ("--dump-tensor=marked",),
    ("--dump-tensor=hybrid",), ("--dump-args",), ("--dump-tensor", "--dump-filter", "stage=after"),
    ("--dump-tensor", "--dump-filter", "role=input,kernel=*e*")], 4))
@pytest.mark.parametrize("module", few([(RINGS, "--case", "marked"), ("matmul_chain",), ("mix",)], 1))
def test_a_recording_has_the_same_records_on_every_runtime(tg, module, options):
    host = records(tg, "host_build_graph", module, *options)
    for runtime in RUNTIMES:
        assert records(tg, runtime, module, *options) == host
