# SPDX-License-Identifier: Apache-2.0
"""Every example on every simulated platform, with its golden check."""

import json
import os
import subprocess

import pytest

from conftest import PLATFORMS, PROGRAM, TIMEOUT, clean_environment
from platforms import MOST_SCHEDULERS, SANITIZED, SPARING, cores_up_to, few

EXAMPLES = {"vector_add", "matmul_chain", "mix", "views", "dtypes", "bgemm", "mlp", "stencil",
            "cholesky", "paged_attention"}
READS_RESULTS = {"moe"}  # its orchestration must run on the device
LARGE = {"large"}  # the same code as other cases, for much longer under a sanitizer
RUNTIMES = ["aicpu_build_graph", "tensormap_and_ringbuffer"]


def installed_cases():
    """The cases that the program itself lists; none if it was not built."""
    try:
        listed = subprocess.run([PROGRAM, "list", "--json"], env=clean_environment(), check=True,
                                timeout=TIMEOUT, stdout=subprocess.PIPE).stdout
    except OSError:
        return []
    return [(workload["name"], case["name"]) for workload in json.loads(listed)["workloads"]
            for case in workload["cases"] if not (SANITIZED and case["name"] in LARGE)]


CASES = installed_cases()
# A real GPU has each case on one of the three runtimes, in turn. tests/gpu has every example on each.
BUILT_BY_THE_HOST = CASES[::3] if SPARING else CASES
BUILT_BY_THE_DEVICE = [(workload, case, runtime) for i, (workload, case) in enumerate(CASES)
                       for j, runtime in enumerate(RUNTIMES) if not SPARING or i % 3 == j + 1]


def test_every_example_is_there():
    assert {workload for workload, _ in CASES} >= EXAMPLES | READS_RESULTS


def default_runtime(workload):
    return RUNTIMES[1] if workload in READS_RESULTS else "host_build_graph"


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("workload,case", BUILT_BY_THE_HOST)
def test_a_case_is_good_on_a_platform(tg, workload, case, platform):
    tg.good("run", workload, "--case", case, "--platform", platform,
            "--runtime", default_runtime(workload))


@pytest.mark.parametrize("workload,case,runtime", BUILT_BY_THE_DEVICE)
def test_a_case_is_good_where_the_device_builds_the_graph(tg, workload, case, runtime):
    tg.good("run", workload, "--case", case, "--runtime", runtime)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("workload", few(sorted(EXAMPLES), 3))
def test_one_core_and_one_scheduler_on_one_cpu_are_enough(tg, workload, platform):
    cpu = min(os.sched_getaffinity(0))
    tg.good("run", workload, "--cores", 1, "--schedulers", 1, "--platform", platform,
            prefix=("taskset", "-c", cpu))


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("workload", few(sorted(EXAMPLES), 3))
def test_72_cores_and_schedulers_give_the_same_results(tg, workload, platform):
    tg.good("run", workload, "--cores", cores_up_to(72), "--schedulers", MOST_SCHEDULERS,
            "--platform", platform)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("workload", few(sorted(EXAMPLES | READS_RESULTS), 3))
def test_device_built_graphs_do_with_one_cpu_and_with_many_cores(tg, workload, runtime):
    cpu = min(os.sched_getaffinity(0))
    tg.good("run", workload, "--cores", 1, "--schedulers", 1, "--runtime", runtime,
            prefix=("taskset", "-c", cpu))
    tg.good("run", workload, "--cores", cores_up_to(72), "--schedulers", MOST_SCHEDULERS,
            "--runtime", runtime, "--platform", PLATFORMS[-1])


@pytest.mark.needs_no_gpu
def test_reading_a_result_before_anything_has_run_is_refused_with_its_line(tg):
    result = tg("run", "moe", "--runtime", "host_build_graph")
    assert result.returncode == 2
    assert "examples/moe/orchestrate.c:" in result.stderr
    assert "--runtime tensormap_and_ringbuffer" in result.stderr


def test_memory_of_an_outer_scope_outlives_the_scopes_inside_it(tg):
    """The heap wraps around several times; nested scopes share one ring here."""
    for _ in few(range(6), 2):
        tg("run", "paged_attention", "--case", "scopes", "--runtime", "aicpu_build_graph",
           "--ring-heap", "400K", "--cores", 1, "--enable-scope-stats").check_returncode()
