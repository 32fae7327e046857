# SPDX-License-Identifier: Apache-2.0
"""Scope stats of real runs, on both simulators and both runtimes with rings: what they say about
source lines, peaks and waiting, and whether their advice is right. tests/workloads/rings has the cases."""

import json

import pytest

from conftest import PLATFORMS, until_warned, workload
from test_rings import AICPU, RUNTIMES, TENSORMAP, site

RINGS = workload("rings")


@pytest.fixture(params=PLATFORMS)
def rings(tg, request):
    """rings(runtime, case, options …, name=value …): the result, and what `taskglass scope` says."""
    def run(runtime, case, *options, code=0, **params):
        more = [word for name, value in params.items() for word in ("--set", f"{name}={value}")]
        result = tg("run", RINGS, "--case", case, "--runtime", runtime, "--platform", request.param,
                    "--output", "out", "--enable-scope-stats", *more, *options)
        assert result.returncode == code, result
        return result, tg.json("scope", "out")
    return run


def replaced(options, advice):
    """The options, with those that the advice has in their place."""
    words = " ".join(advice).split()
    given = dict(zip(map(str, options[::2]), map(str, options[1::2])))
    given.update(zip(words[::2], words[1::2]))
    return [word for option in given.items() for word in option]


# ── source lines ────────────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_source_line_keeps_its_own_scopes(rings, runtime):
    """1,500 names, which all end alike; most are too long for the device to keep whole."""
    result, document = rings(runtime, "sites", n=1500)
    assert "warning" not in result.stderr
    rows = [row for row in document["peaks"] if row["site"].split(" ")[0].endswith("sites.c:1")]
    assert len(rows) == 1500 == len({row["site"] for row in rows})
    assert {row["count"] for row in rows} == {1}
    assert all(row["site"].startswith("...") for row in rows if len(row["site"]) > 127)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_source_lines_that_the_device_cannot_name_keep_their_numbers(tg, rings, runtime):
    result, document = rings(runtime, "sites", n=3000)
    rows = [row for row in document["peaks"] if row["site"].startswith("(site ")]
    assert {row["site"] for row in rows} == {f"(site {number})" for number in range(2048, 3001)}
    assert {row["count"] for row in rows} == {1}
    assert "scope stats: 953 of the orchestration's source lines have a number" in result.stderr
    assert "note  953 source lines without a name" in tg.good("scope", "out").stdout


def test_the_edges_of_a_graph_name_every_scope(tg):
    tg.good("run", RINGS, "--case", "sites", "--set", "n=2100", "--runtime", TENSORMAP, "--deps",
            "--output", "out")
    tasks = json.loads((tg.directory / "out" / "deps.json").read_text())["tasks"]
    assert len({task["scope"] for task in tasks}) == 2100


# ── waiting ─────────────────────────────────────────────────────────────────────────────

# Slow tasks hold what the next ones want, so the orchestration has to wait whatever the timing:
# resource, runtime, case, option, its value, parameters, ring, words of the warning
WAITS = [
    ("task_window", AICPU, "slow", "--ring-task-window", 14, {"size": 3000}, 0,
     "task slots of ring 0"),
    ("task_window", TENSORMAP, "slow", "--ring-task-window", 14, {"size": 3000}, 1,
     "task slots of ring 1"),
    ("task_window", TENSORMAP, "slow", "--ring-task-window", 14, {"depth": 1, "size": 3000}, 2,
     "task slots of ring 2"),
    ("task_window", TENSORMAP, "slow", "--ring-task-window", 14, {"depth": 5, "size": 3000}, 3,
     "task slots of ring 3"),
    ("heap", AICPU, "inner", "--ring-heap", 1024, {}, 0, "heap of ring 0"),
    ("heap", TENSORMAP, "inner", "--ring-heap", 1024, {"depth": 0}, 1, "heap of ring 1"),
    ("heap", TENSORMAP, "inner", "--ring-heap", 1024, {}, 3, "heap of ring 3"),
    ("dep_pool", AICPU, "slow_fan", "--ring-dep-pool", 4, {"size": 8000}, 0,
     "dependencies of ring 0"),
    ("dep_pool", TENSORMAP, "slow_fan", "--ring-dep-pool", 4, {"size": 8000}, 0,
     "dependencies of ring 0"),
    ("dep_pool", TENSORMAP, "slow_fan", "--ring-dep-pool", 4, {"depth": 4, "size": 8000}, 3,
     "dependencies of ring 3"),
    ("tensormap", TENSORMAP, "slow", "--tensormap", 4, {"size": 3000}, 0, "tensor map entries"),
    ("tensormap", TENSORMAP, "map_behind", "--tensormap", 4, {"size": 50000}, 0,
     "tensor map entries"),
]
NAMES = [f"{resource}-{runtime}-ring{ring}-{case}"
         for resource, runtime, case, _, _, _, ring, _ in WAITS]


def needs(document):
    return {(need["resource"], need["ring"] or 0): need for need in document["advice"]}


def check_warning(result, words, option):
    """It names the ring, the scope, the source line and the option."""
    first = result.stderr.splitlines()[0]
    assert first.startswith("taskglass: warning: RING_BUFFER_BACKPRESSURE: ")
    assert words in first and f"raise {option}" in first
    scope, line = first.split(" in the scope of ")[1].split("; ")[0].split(", at ")
    for place in (scope, line):
        name, number = place.rsplit(":", 1)
        assert name.endswith(".c") and "workloads/rings/" in name and int(number) > 0


@pytest.mark.parametrize("resource,runtime,case,option,value,params,ring,words", WAITS, ids=NAMES)
def test_what_was_waited_for_reads_full_and_its_advice_ends_the_waiting(
        rings, resource, runtime, case, option, value, params, ring, words):
    result, document = until_warned(lambda: rings(runtime, case, option, value, **params))
    need = needs(document)[resource, ring]
    assert need["waits"] > 0 and need["verdict"] == "full"
    assert need["peak"] == need["capacity"] == value
    assert all(other["verdict"] in ("full", "so_far") for other in document["advice"])
    # Scopes that used it read full too, and one of them waited.
    rows = [row for row in document["peaks"] if row["ring"] == ring or resource == "tensormap"]
    assert any(row[resource]["used"] == value and row["waits"][resource] > 0 for row in rows)
    check_warning(result, words, option)
    # The advice is about what was waited for alone, and keeps its promise.
    assert [advice.split()[0] for advice in document["options"]] == [option]
    assert need["never_waits"] == (resource != "dep_pool" or runtime == AICPU)
    again, document = rings(runtime, case, *document["options"][0].split(), **params)
    need = needs(document)[resource, ring]
    assert (need["waits"], again.stderr) == (0, "")
    assert need["verdict"] in ("larger", "fits", "full", "tight")


def test_run_json_has_where_the_orchestration_waited(tg, rings):
    rings(TENSORMAP, "slow_fan", "--ring-dep-pool", 4, size=8000)
    report = json.loads((tg.directory / "out" / "run.json").read_text())
    wait = report["orchestration"]["waits"][0]
    assert (wait["resource"], wait["ring"]) == ("dependencies", 0) and wait["count"] > 0
    assert wait["scope"].endswith(site("orchestration"))
    assert 0 < wait["seconds"] <= report["orchestration"]["wait_seconds"] * 1.001


# ── smaller ─────────────────────────────────────────────────────────────────────────────

ROOMY = [
    (AICPU, "held", {}), (TENSORMAP, "held", {"depth": 4}), (AICPU, "held_fan", {}),
    (TENSORMAP, "held_fan", {}), (TENSORMAP, "held_after", {"depth": 0}),
    (TENSORMAP, "held_tensors", {}), (TENSORMAP, "nested", {}), (AICPU, "outputs", {}),
    (TENSORMAP, "pieces", {"depth": 3}), (TENSORMAP, "uneven", {}),
    (TENSORMAP, "inner", {"depth": 2}), (AICPU, "wrap", {}), (TENSORMAP, "empty", {"depth": 3}),
    (TENSORMAP, "found_scopes", {"n": 60}), (AICPU, "chain", {"n": 100}),
]


@pytest.mark.parametrize("runtime,case,params", ROOMY)
def test_every_smaller_setting_that_is_advised_is_enough(rings, runtime, case, params):
    """All together, and each alone: a run that failed would leave with exit code 3."""
    _, document = rings(runtime, case, **params)
    assert {need["verdict"] for need in document["advice"]} <= {"larger", "fits"}
    options = document["options"]
    assert len(options) == (3 if runtime == AICPU else 4)
    for words in (" ".join(options), *options):
        rings(runtime, case, *words.split(), **params)


# ── too small ───────────────────────────────────────────────────────────────────────────

SLOTS, HEAP, DEPS, MAP = (["--ring-task-window", 8], ["--ring-heap", 1024], ["--ring-dep-pool", 4],
                          ["--tensormap", 4])
FAILS = [
    (TENSORMAP, "tasks", SLOTS, {"depth": 0}), (TENSORMAP, "tasks", SLOTS, {"depth": 5}),
    (AICPU, "held", SLOTS, {}), (TENSORMAP, "nested", SLOTS, {"depth": 1}),
    (AICPU, "after_held", SLOTS, {}), (TENSORMAP, "after_held", SLOTS, {}),
    (AICPU, "pieces", HEAP, {}), (TENSORMAP, "pieces", HEAP, {"depth": 4}),
    (TENSORMAP, "outputs", HEAP, {"n": 1, "size": 100000}), (AICPU, "uneven", HEAP, {}),
    (TENSORMAP, "uneven", HEAP, {"depth": 0}), (TENSORMAP, "pieces", SLOTS + HEAP, {"size": 128}),
    (AICPU, "after_held_memory", ["--ring-heap", "16K"], {}),
    (TENSORMAP, "after_held_memory", ["--ring-heap", "16K"], {}),
    (AICPU, "held_fan", DEPS, {}), (TENSORMAP, "held_fan", DEPS, {}),
    (TENSORMAP, "held_after", DEPS, {}), (TENSORMAP, "tensors", MAP, {"size": 4}),
    (TENSORMAP, "held_tensors", MAP, {"n": 100}),
]


@pytest.mark.parametrize("runtime,case,options,params", FAILS)
def test_a_run_that_failed_passes_with_what_scope_advises(rings, runtime, case, options, params):
    _, document = rings(runtime, case, *options, code=3, **params)
    fatal = document["scope_stats"]["fatal"]
    need = needs(document)[fatal["resource"], fatal["ring"] or 0]
    assert need["verdict"] == "too_small" and need["smallest"] > need["capacity"]
    assert not any(other["verdict"] == "larger" for other in document["advice"])
    rings(runtime, case, *replaced(options, document["options"]), **params)


# ── rings ───────────────────────────────────────────────────────────────────────────────

def test_a_scope_has_a_row_for_every_ring_that_it_used(rings):
    """The orchestration's own scope contains all others; each of them takes one slot."""
    _, document = rings(TENSORMAP, "nested", n=6, depth=0)
    rows = {(row["site"].rsplit("/", 1)[1], row["ring"]): row for row in document["peaks"]}
    root = site("orchestration").rsplit("/", 1)[1]
    used = [rows[root, ring]["task_window"]["used"] for ring in range(4)]
    assert used == [1, 1, 1, 3]
    assert [(rows[root, ring]["count"], rows[root, ring]["touched"]) for ring in range(4)] == \
        [(1, 0), (0, 1), (0, 1), (0, 1)]
    assert sum(row["count"] for row in document["peaks"]) == document["scope_stats"]["scopes"] == 7
    inner = site("nested").rsplit("/", 1)[1]
    assert rows[inner, 1]["touched"] == 0 and rows[inner, 3]["count"] == 4


def test_a_graph_that_the_host_builds_has_no_rings(tg):
    result = tg.good("run", "stencil", "--enable-scope-stats", "--output", "out")
    assert result.stdout.count("no rings: with host_build_graph") == 1 and result.stderr == ""
    assert json.loads((tg.directory / "out" / "run.json").read_text())["scope_stats"]["no_rings"]
    assert tg.good("scope", "out").stdout.startswith("out: no rings: with host_build_graph")


# ── device memory ───────────────────────────────────────────────────────────────────────

SMALL = ["--ring-task-window", 64, "--ring-dep-pool", 64, "--tensormap", 256, "--device-memory", "8M"]


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case,code,size", [("pieces", 3, 1_000_000), ("inner", 0, 80_000)])
def test_rings_that_outgrow_the_device_come_with_its_memory(tg, rings, runtime, case, code, size):
    """A run that fails for want of heap, and one that waits for it."""
    options = [*SMALL, "--ring-heap", "256K"]
    _, document = rings(runtime, case, *options, code=code, size=size)
    advised = {words.split()[0] for words in document["options"]}
    assert {"--ring-heap", "--device-memory"} <= advised
    _, document = rings(runtime, case, *replaced(options, document["options"]), size=size)
    assert sum(need["waits"] for need in document["advice"]) == 0
    if code == 3:
        rings(runtime, case, *options, code=code, size=size)
        advice = json.loads((tg.directory / "out" / "run.json").read_text())["error"]["advice"]
        assert " --device-memory " in advice
        rings(runtime, case, *replaced(options, [advice]), size=size)
