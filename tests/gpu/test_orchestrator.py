# SPDX-License-Identifier: Apache-2.0
"""Where an orchestration runs: on a CPU of the host or on the GPU, and that its result is the same."""

import pytest

from conftest import PLATFORM, RUNTIMES, report, workload


def ran_on(tg, runtime, *options, example="vector_add"):
    tg.good("run", example, "--platform", PLATFORM, "--runtime", runtime, "--cores", "6", *options,
            "--output", "ran")
    orchestration = report(tg, "ran")["orchestration"]
    return orchestration and orchestration["ran_on"]


@pytest.mark.parametrize("runtime", RUNTIMES[1:])
@pytest.mark.parametrize("place", ["host", "device"])
def test_it_runs_where_the_option_says(tg, runtime, place):
    expected = place if PLATFORM == "cuda" else "device"  # simulators have no other place
    assert ran_on(tg, runtime, "--orchestrator", place, example="moe") == expected


def test_a_graph_of_the_host_has_no_orchestration_on_the_device(tg):
    assert ran_on(tg, RUNTIMES[0], "--orchestrator", "host") is None


@pytest.mark.parametrize("options", [("--schedule", "fifo"), ("--trace", "trace.json"),
                                     ("--dump-tensor", "--dump-transport", "copied")])
def test_some_runs_need_a_thread_of_the_device(tg, options):
    assert ran_on(tg, RUNTIMES[1], "--orchestrator", "host", *options) == "device"


def test_memory_that_an_orchestration_hands_out_is_filled(tg):
    place = ran_on(tg, RUNTIMES[2], "--orchestrator", "host", "--poison", "--dump-tensor",
                   example="matmul_chain")
    assert place == ("host" if PLATFORM == "cuda" else "device")
    tg.good("verify", "ran")


@pytest.mark.skipif(PLATFORM != "cuda", reason="a simulator's kernel faults where it is")
@pytest.mark.parametrize("place", ["host", "device"])
def test_a_bad_store_may_be_reported_in_the_next_task_of_a_chain(tg, place):
    """In a graph that a CPU feeds too: a core goes on with the next task before the stores of one have arrived."""
    result = tg("run", workload("faults"), "--case", "null", "--platform", PLATFORM, "--runtime", RUNTIMES[2],
                "--orchestrator", place, "--output", "out")
    assert result.returncode == 3 and "KERNEL_FAULT" in result.stderr, result
    late = "or one just before it" in result.stderr or "had already ended" in result.stderr
    assert late == (place == "host"), result
