# SPDX-License-Identifier: Apache-2.0
"""The examples that are split over ranks. Every rank checks its own outputs against golden values that it
computes from the whole, so a good run says that the ranks together have what one device has."""

import json

import pytest

from conftest import PLATFORMS
from mpi import mpirun
from platforms import GPU, SPARING, WHOLE, few

# The case that shows how the example is split; it is small, and its sizes divide by nothing.
EXAMPLES = {"mlp": "tensor_parallel", "ring_attention": "ragged", "moe": "expert_parallel",
            "stencil": "halos", "cholesky": "block_cyclic"}
RANKS = (1, 2, 4, 8)
RUNTIMES = ("tensormap_and_ringbuffer", "host_build_graph", "aicpu_build_graph")
EXPLICIT = RUNTIMES[1:]  # these know no edges but those that the example names
MPI = ("openmpi", "mpich")
READS_RESULTS = "moe"  # its orchestration for one rank must run on the device

# Eight ranks are eight devices on a machine of maybe two CPUs.
FEW = ("--cores", 2, "--schedulers", 1)


def is_possible(example, ranks, runtime):
    return (example, ranks, runtime) != (READS_RESULTS, 1, "host_build_graph")


def chosen():
    """Every example on every number of ranks, with a runtime and a platform that turn as in a Latin square:
    any two of the four meet in some run. TASKGLASS_TEST_WHOLE=1 has all of them meet. Eight ranks open a GPU eight
    times: a real one has them in other tests."""
    for i, example in enumerate(EXAMPLES):
        for j, ranks in enumerate(RANKS[:3] if SPARING else RANKS):
            for k, runtime in enumerate(RUNTIMES):
                for m, platform in enumerate(PLATFORMS):
                    turn = k == (i + j) % len(RUNTIMES) and m == (i + j // 2 + k) % len(PLATFORMS)
                    if (WHOLE or turn) and is_possible(example, ranks, runtime):
                        yield example, ranks, runtime, platform


def run(tg, example, ranks, *options, case=None, code=0):
    """Runs an example in `out`; returns what ranks.json says, or None on one rank."""
    several = ("--ranks", ranks) if ranks > 1 else ()
    result = tg("run", *several, example, "--case", case or EXAMPLES[example], "--output", "out", *FEW,
                *options)
    assert result.returncode == code, result
    return summary(tg, ranks)


def summary(tg, ranks):
    if ranks > 1:
        return ranks_json(tg, ranks)
    assert not (tg.directory / "out" / "ranks.json").exists()
    return None


def ranks_json(tg, ranks):
    document = json.loads((tg.directory / "out" / "ranks.json").read_text())
    assert document["ranks"] == ranks and len(document["rank"]) == ranks
    return document


def reports(tg, ranks):
    """run.json of each rank."""
    folders = ["."] if ranks == 1 else [f"rank{i}" for i in range(ranks)]
    return [json.loads((tg.directory / "out" / folder / "run.json").read_text()) for folder in folders]


def all_good(document):
    return document["status"] == "OK" and {rank["status"] for rank in document["rank"]} == {"OK"}


@pytest.mark.parametrize("example, ranks, runtime, platform", list(chosen()))
def test_ranks_together_have_what_one_device_has(tg, example, ranks, runtime, platform):
    document = run(tg, example, ranks, "--runtime", runtime, "--platform", platform)
    assert document is None or all_good(document)
    assert {report["result"]["status"] for report in reports(tg, ranks)} == {"OK"}


@pytest.mark.parametrize("mpi", MPI)
@pytest.mark.parametrize("example, ranks, runtime, platform", list(chosen()) if WHOLE
                         else [(example, 4, RUNTIMES[0], PLATFORMS[0]) for example in few(("moe", "stencil"), 1)])
def test_mpirun_starts_the_same_ranks(tg, example, ranks, runtime, platform, mpi):
    result = tg("run", example, "--case", EXAMPLES[example], "--output", "out", *FEW, "--runtime", runtime,
                "--platform", platform, prefix=mpirun(mpi, ranks))
    assert result.returncode == 0, result
    document = ranks_json(tg, ranks)  # of one rank too, which is a job under mpirun
    assert all_good(document) and document["transport"] == "mpi"


# Of four ranks, in a grid of two by two.
CALLS = {
    "mlp": [{"tg_all_reduce": 2}] * 4,  # one for each block of 16 rows
    "moe": [{"tg_all_to_all": 2 * 3}] * 4,  # two layers: counts, tokens, answers
    "ring_attention": [{"tg_send": 3 * 2, "tg_recv": 3 * 2}] * 4,  # three blocks: keys, values
    "stencil": [{"tg_send": 5 * 2, "tg_recv": 5 * 2}] * 4,  # before all steps but the first, two sides
}


@pytest.mark.parametrize("example", few(sorted(CALLS), 1))
def test_ranks_make_the_calls_that_the_split_needs(tg, example):
    run(tg, example, 4)
    calls = [{name: n for name, n in report["comm"]["calls"].items() if n} for report in reports(tg, 4)]
    assert calls == CALLS[example]


def owner(i, j):
    """The rank of a grid of two by two that has tile (i, j) of cholesky."""
    return i % 2 * 2 + j % 2


@pytest.mark.needs_no_gpu
def test_a_tile_goes_to_the_ranks_that_need_it_and_to_no_other(tg):
    run(tg, "cholesky", 4)
    tiles = 9
    sent = [0] * 4
    received = [0] * 4
    for k in range(tiles):
        for i in range(k, tiles):
            readers = {owner(m, k) for m in range(k + 1, tiles)} if i == k else \
                {owner(i, j) for j in range(k + 1, i + 1)} | {owner(m, i) for m in range(i, tiles)}
            for reader in readers - {owner(i, k)}:
                sent[owner(i, k)] += 1
                received[reader] += 1
    calls = [report["comm"]["calls"] for report in reports(tg, 4)]
    assert [call.get("tg_send", 0) for call in calls] == sent
    assert [call.get("tg_recv", 0) for call in calls] == received


# Tasks and edges on one device before there were ranks: recordings and golden files depend on them.
ALONE = {("mlp", "small"): (52, 56), ("stencil", "small"): (300, 1152), ("cholesky", "small"): (20, 30)}


@pytest.mark.needs_no_gpu
@pytest.mark.parametrize("example, case", sorted(ALONE))
def test_a_device_alone_does_what_it_always_did(tg, example, case):
    run(tg, example, 1, "--runtime", "host_build_graph", case=case)
    (report,) = reports(tg, 1)
    assert (report["counters"]["tasks"], report["counters"]["edges"]) == ALONE[example, case]


@pytest.mark.parametrize("runtime", EXPLICIT)
@pytest.mark.parametrize("example", few(sorted(EXAMPLES), 1))
def test_edges_order_calls_and_tasks_on_every_rank(tg, example, runtime):
    """A buffer that is received into while others still read it would mostly go well."""
    run(tg, example, 4, "--runtime", runtime, "--dump-tensor=meta")
    for i in range(4):
        found = tg.json("find", "race", tg.directory / "out" / f"rank{i}")
        assert found["result"] == "nothing found" and found["proof"]


@pytest.mark.parametrize("example, case", few([
    ("ring_attention", "one"), ("ring_attention", "causal"), ("cholesky", "one"), ("cholesky", "ragged"),
    ("stencil", "cells"), ("stencil", "ragged"), ("mlp", "one"), ("mlp", "fused"), ("moe", "medium")], 3))
def test_other_cases_are_split_too(tg, example, case):
    """Among them ranks that have one token, one cell, one column or no tile at all."""
    assert all_good(run(tg, example, 8, case=case))


@pytest.mark.skipif(not WHOLE, reason="the same code as for 2, 4 and 8 ranks")
@pytest.mark.parametrize("ranks", [3, 5, 6, 7])
@pytest.mark.parametrize("example", sorted(set(EXAMPLES) - {"moe"}))
def test_any_number_of_ranks_will_do(tg, example, ranks):
    assert all_good(run(tg, example, ranks))


@pytest.mark.skipif(GPU, reason="rings of this size are for simulators")
@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_a_small_window_of_task_slots_is_enough_on_every_rank(tg, example):
    assert all_good(run(tg, example, 4, "--runtime", RUNTIMES[0], "--ring-task-window", 64))


@pytest.mark.needs_no_gpu
@pytest.mark.parametrize("example, setting, said", [
    ("mlp", "hidden=3", "hidden must be at least the number of ranks"),
    ("moe", "experts=6", "experts must be a multiple of the number of ranks"),
    ("ring_attention", "tokens=3", "tokens must be at least the number of ranks"),
    ("stencil", "rows=1", "rows must be at least the ranks down")])
def test_a_size_that_leaves_a_rank_without_work_is_refused(tg, example, setting, said):
    result = tg("run", "--ranks", 4, example, "--case", EXAMPLES[example], "--set", setting, *FEW)
    assert result.returncode == 2, result
    assert said in result.stderr
