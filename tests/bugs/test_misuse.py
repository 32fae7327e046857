# SPDX-License-Identifier: Apache-2.0
"""Kernels that misuse memory: tests/workloads/misuse plants them, misuse.py says what each does wrong.
test_guards.py has what guards say; here `find stomp` looks for who changed memory of others."""

import json
import subprocess

import pytest

from conftest import PROGRAM, RUNTIMES, WORKLOADS, Case
from misuse import MISUSES
from platforms import GPU, PLATFORMS, SAMPLED, SPARING, few

# A sanitizer sees no more in the other runtimes, and replays take long with it. On a GPU each one opens it anew.
TRIED = RUNTIMES[:1] if SAMPLED or SPARING else RUNTIMES


@pytest.fixture
def case_of(tmp_path, kept):
    """The answers are the same on each simulator, so the first one is enough."""
    return lambda runtime: Case(tmp_path, kept, PLATFORMS[0], runtime)


def test_the_table_has_every_case_of_the_workload():
    listed = json.loads(subprocess.run([PROGRAM, "list", "--json", "--workload-path", WORKLOADS], check=True,
                                       stdout=subprocess.PIPE).stdout)
    cases = [w["cases"] for w in listed["workloads"] if w["name"] == "misuse"][0]
    assert [c["name"] for c in cases] == [m.case for m in MISUSES]


@pytest.mark.parametrize("misuse", few([m for m in MISUSES if not m.stomps], 5), ids=lambda misuse: misuse.case)
def test_a_kernel_that_changes_no_memory_of_others_has_stomped_nothing(case_of, misuse):
    case = case_of(RUNTIMES[0])
    code, result = case.json("find", "stomp", case.record("misuse", "--case", misuse.case))
    assert (code, result["findings"]) == (0, [])


@pytest.mark.parametrize("runtime", TRIED)
@pytest.mark.parametrize("misuse", few([m for m in MISUSES if m.stomps], 3), ids=lambda misuse: misuse.case)
def test_the_kernel_that_stomps_is_named_and_no_bystander(case_of, misuse, runtime):
    case = case_of(runtime)
    code, result = case.json("find", "stomp", case.record("misuse", "--case", misuse.case))
    assert code == 1 and result["findings"] and result["not_replayed"] is None
    for finding in result["findings"]:
        first, *others = finding["suspects"]
        assert misuse.case in first["kernel"]
        assert all(task["replay"] in ("clears", None) for task in others), others
        if not GPU:  # without guard pages not every stray write is seen
            assert first["replay"] == "convicts"
            assert misuse.case in finding["culprit"]["kernel"]
            assert finding["culprit"]["evidence"] == "guards"
