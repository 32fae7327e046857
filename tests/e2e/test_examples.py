# SPDX-License-Identifier: Apache-2.0
"""Every example on every simulated platform, with its golden check."""

import json
import os
import subprocess

import pytest

from conftest import PLATFORMS, PROGRAM, TIMEOUT, clean_environment

EXAMPLES = {"vector_add", "matmul_chain", "mix", "views", "dtypes"}


def installed_cases():
    """What the program itself lists; nothing where it was not built."""
    try:
        listed = subprocess.run([PROGRAM, "list", "--json"], env=clean_environment(), check=True,
                                timeout=TIMEOUT, stdout=subprocess.PIPE).stdout
    except OSError:
        return []
    return [(workload["name"], case["name"]) for workload in json.loads(listed)["workloads"]
            for case in workload["cases"]]


CASES = installed_cases()


def test_every_example_is_there():
    assert {workload for workload, _ in CASES} >= EXAMPLES


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("workload,case", CASES)
def test_a_case_is_good_on_a_platform(tg, workload, case, platform):
    tg.good("run", workload, "--case", case, "--platform", platform)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("workload", sorted(EXAMPLES))
def test_one_core_and_one_scheduler_on_one_cpu_are_enough(tg, workload, platform):
    cpu = min(os.sched_getaffinity(0))
    tg.good("run", workload, "--cores", 1, "--schedulers", 1, "--platform", platform,
            prefix=("taskset", "-c", cpu))


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("workload", sorted(EXAMPLES))
def test_72_cores_and_4_schedulers_give_the_same_results(tg, workload, platform):
    tg.good("run", workload, "--cores", 72, "--schedulers", 4, "--platform", platform)
