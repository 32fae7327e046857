# SPDX-License-Identifier: Apache-2.0
"""Runs and recordings on a GPU equal those of a simulator: exactly if the kernels are exact, and
within a tolerance if the order of a sum, a fused product or a matrix unit may round differently."""

import json

import pytest

from conftest import (PLATFORM, REFERENCE, RUNTIMES, TRANSPORTS, by, check_account, entries, report,
                      workload)
from platforms import FAKE, SPARING, cores_up_to, few


def within(absolute, relative):
    return ("--atol", absolute, "--rtol", relative)


# Kernels with integers, copies, single sums and products without rounding. The bits of a NaN differ
# between targets.
EXACT, EXACT_BUT_NAN = (), ("--atol", 0, "--rtol", 0, "--equal-nan")
# Tolerances in the last digits of float32: a sum loses more the more terms it has; mlp rounds to
# bfloat16 in between.
CASES = [
    ("vector_add", "odd", EXACT),
    ("views", "small", EXACT),
    ("dtypes", "integers", EXACT),
    ("dtypes", "odd", EXACT_BUT_NAN),
    ("dump_tensor", "small", EXACT),
    ("mix", "uneven", EXACT),
    ("stencil", "ragged", EXACT),
    ("moe", "small", EXACT),
    ("matmul_chain", "ragged", within(1e-4, 1e-4)),
    ("bgemm", "ragged", within(1e-4, 1e-4)),
    ("cholesky", "ragged", within(1e-3, 1e-4)),
    ("mlp", "ragged", within(2e-2, 2e-2)),
    ("mlp", "fused", within(2e-2, 2e-2)),
    ("ring_attention", "ragged", within(1e-4, 1e-3)),
    ("paged_attention", "ragged", within(1e-4, 1e-3)),
    ("paged_attention", "bfloat16", within(1e-4, 1e-3)),
]
# Sizes at which the GPU's own kernels meet every edge case: partial tiles, unaligned rows, more
# than one round of heads.
EDGES = [
    ("bgemm", ("--case", "large", "--set", "batch=1", "--set", "m=67", "--set", "k=99", "--set",
               "n=133", "--set", "tile=135"), within(1e-4, 1e-4)),
    ("paged_attention", ("--set", "heads=20", "--set", "kv_heads=1", "--set", "head_dim=24"),
     within(1e-4, 1e-3)),
]
READS_RESULTS = {"moe"}  # its orchestration must run on the device

RUNS = [(example, case, tolerance, runtime) for example, case, tolerance in CASES
        for runtime in RUNTIMES if example not in READS_RESULTS or runtime != RUNTIMES[0]]


def transports_of(run):
    """Both; on a real GPU one of them, in turn: an example has each in some runtime."""
    turn = RUNS.index(run) % len(TRANSPORTS)
    return TRANSPORTS[turn:turn + 1] if SPARING else TRANSPORTS


def differences(tg, a, b, *options):
    result = tg("diff", a, b, *options, "--json")
    assert result.returncode in (0, 1) and result.stderr == "", result
    document = json.loads(result.stdout)
    return result.returncode, document


def test_every_example_is_among_the_cases(tg):
    listed = {entry["name"] for entry in tg.json("list")["workloads"]}
    assert listed == {example for example, _, _ in CASES}


@pytest.mark.parametrize("example,case,tolerance,runtime", RUNS)
def test_a_recording_is_that_of_a_simulator(tg, record, example, case, tolerance, runtime):
    run = (example, "--case", case, "--runtime", runtime)
    record("sim", *run, "--cores", 6, platform=REFERENCE)
    for transport in transports_of((example, case, tolerance, runtime)):
        name = record(f"gpu_{transport}", *run, *by(transport))
        code, document = differences(tg, name, "sim", *tolerance)
        assert code == 0, (transport, document["blame"], document["pairs"][:3])
        assert document["tasks"]["only_a"] == document["tasks"]["only_b"] == []
        if tolerance == EXACT:
            assert document["result"] == "equal"
            same = document["counts"]["same"] + document["reads"]["same"]
            assert same == document["a"]["records"]


@pytest.mark.parametrize("example,sizes,tolerance", EDGES)
def test_kernels_of_a_gpus_own_are_right_at_every_edge(tg, record, example, sizes, tolerance):
    record("sim", example, *sizes, platform=REFERENCE)
    record("gpu", example, *sizes)
    code, document = differences(tg, "gpu", "sim", *tolerance)
    assert code == 0, (document["blame"], document["pairs"][:3])


@pytest.mark.parametrize("example,case", [
    (example, case) for example, case, tolerance in CASES
    if tolerance == EXACT and example not in READS_RESULTS])
def test_hashes_are_those_of_a_simulator(tg, record, example, case):
    hashes = []
    for name, platform in (("sim", REFERENCE), ("gpu", PLATFORM)):
        record(name, example, "--case", case, platform=platform, level="hash")
        hashes.append({key: entry["hash"] for key, entry in entries(tg, name).items()})
    assert hashes[0] == hashes[1] and any(hashes[0].values())


@pytest.mark.parametrize("cores,schedulers", few([(1, 0), (2, 1), (3, 0), (7, 2), (72, 3), (0, 0)], 3))
def test_every_arrangement_records_the_same(tg, record, cores, schedulers):
    record("sim", "dump_tensor", platform=REFERENCE, level="hash")
    record("gpu", "dump_tensor", "--cores", cores_up_to(cores), "--schedulers", schedulers,
           level="hash")
    assert {key: entry["hash"] for key, entry in entries(tg, "gpu").items()} == \
        {key: entry["hash"] for key, entry in entries(tg, "sim").items()}


# ── what is recorded ────────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("options", [
    ("marked",), ("hybrid",), ("meta",), ("full", "--dump-filter", "kernel=dump_copy,stage=after"),
    ("full", "--dump-filter", "task=0;task=13,arg=2"), ("marked", "--dump-filter", "role=out")])
def test_levels_marks_and_filters_select_the_same(tg, record, options, transport):
    level, *more = options
    record("sim", "dump_tensor", *more, platform=REFERENCE, level=level)
    record("gpu", "dump_tensor", *more, *by(transport), level=level)
    found, expected = entries(tg, "gpu"), entries(tg, "sim")
    assert found.keys() == expected.keys() and found
    for key, entry in found.items():
        assert (entry["hash"], entry["bin_size"], entry.get("marked")) == (
            expected[key]["hash"], expected[key]["bin_size"], expected[key].get("marked"))


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_tensors_larger_than_the_arena_come_through_in_pieces(tg, record, transport):
    n = 6001 if SPARING else 30001  # a real GPU that others use too takes tens of milliseconds to copy a piece
    big = ("dump_tensor", "--set", f"n={n}")
    record("sim", *big, platform=REFERENCE)
    record("gpu", *big, "--dump-arena", "4K", "--dump-buffers", 2, *by(transport))
    assert differences(tg, "gpu", "sim")[1]["result"] == "equal"


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_more_than_all_arenas_hold_is_recorded_whole(tg, record, transport):
    # 129 cores have arenas of 8 MB together, and these are 12 MB. More takes long where others use the GPU too.
    n = 1000000 if FAKE or SPARING else 4000000
    record("gpu", "vector_add", "--set", f"n={n}", "--set", "tile=4096", "--dump-arena", "64K", *by(transport))
    recorder = check_account(tg, "gpu")
    assert recorder["payload_bytes"] == 3 * 4 * n


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("policy", ["drop", "overwrite"])
def test_a_policy_that_does_not_wait_counts_what_it_loses(tg, policy, transport):
    result = tg("run", "dump_tensor", "--set", "n=5001", "--platform", PLATFORM, "--cores", 3,
                "--dump-tensor", "--dump-policy", policy, "--dump-arena", "4K", "--dump-buffers", 2,
                *by(transport), "--output", "out")
    assert result.returncode == 0 and "warning: recording:" in result.stderr, result
    recorder = check_account(tg)
    assert sum(recorder["lost"].values()) + recorder["truncated"] + recorder["overwritten"] > 0
    tg.good("verify", "out")


def test_a_run_that_is_not_recorded_leaves_no_recording(tg):
    tg.good("run", "vector_add", "--platform", PLATFORM, "--output", "out")
    assert sorted(path.name for path in (tg.directory / "out").iterdir()) == ["run.json"]
    assert report(tg)["recorder"] is None


# ── rings ───────────────────────────────────────────────────────────────────────────────

def used(text):
    taken, room = map(int, text.split("/"))
    assert 0 <= taken <= room
    return taken, room


@pytest.mark.parametrize("example", ["matmul_chain", "paged_attention"])
@pytest.mark.parametrize("runtime", RUNTIMES[1:])
def test_scope_stats_are_there_and_fit_together(tg, example, runtime):
    stats = {}
    for platform in (REFERENCE, PLATFORM):
        tg.good("run", example, "--runtime", runtime, "--platform", platform,
                "--ring-heap", "64M", "--enable-scope-stats", "--output", platform)
        folder = tg.directory / platform / "scope_stats"
        document = json.loads((folder / "scope_stats.json").read_text())
        lines = (folder / "scope_stats.jsonl").read_text().splitlines()
        assert document["fatal"] is None and document["dropped"] == 0
        assert len(lines) == 1 + document["total"] > 2
        stats[platform] = {(scope["site"], scope["ring"]): scope for scope in document["scopes"]}
    # Peaks depend on timing, because the order of frees does. The capacities and the set of sites
    # and rings do not.
    assert stats[PLATFORM].keys() == stats[REFERENCE].keys()
    for key, scope in stats[PLATFORM].items():
        expected = stats[REFERENCE][key]
        assert (scope["count"], scope["depth"]) == (expected["count"], expected["depth"])
        for name in ("task_window", "heap", "dep_pool"):
            assert used(scope[name])[1] == used(expected[name])[1]
    if runtime == RUNTIMES[2]:
        assert any(used(scope["task_window"])[0] > 0 for scope in stats[PLATFORM].values())


@pytest.mark.parametrize("runtime", RUNTIMES[1:])
def test_a_recorded_graph_has_the_edges_of_a_simulator(tg, record, runtime):
    run = (workload("rings"), "--case", "held_after", "--runtime", runtime)
    graphs = []
    for name, platform in (("sim", REFERENCE), ("gpu", PLATFORM)):
        record(name, *run, platform=platform)
        document = json.loads((tg.directory / name / "deps.json").read_text())
        assert document["lost"] == 0
        graphs.append({task["task_id"]: (task["kernel"], sorted(task["after"]))
                       for task in document["tasks"]})
    assert graphs[0] == graphs[1] and len(graphs[0]) == 20


def test_a_host_built_graph_of_many_tasks_is_right(tg):
    tg.good("run", workload("graphs"), "--case", "mixes", "--set", "n=20000", "--platform", PLATFORM)
