# SPDX-License-Identifier: Apache-2.0
"""Kernels that misuse memory: tests/workloads/misuse plants them, misuse.py says what each does wrong."""

import json
import subprocess

import pytest

from conftest import PROGRAM, WORKLOADS
from misuse import MISUSES


def kernels_between(finding):
    return {name for task in finding["between"] for name in task["kernel"]}


def test_the_table_has_every_case_of_the_workload():
    listed = json.loads(subprocess.run([PROGRAM, "list", "--json", "--workload-path", WORKLOADS], check=True,
                                       stdout=subprocess.PIPE).stdout)
    cases = [w["cases"] for w in listed["workloads"] if w["name"] == "misuse"][0]
    assert [c["name"] for c in cases] == [m.case for m in MISUSES]


@pytest.mark.parametrize("misuse", MISUSES, ids=lambda misuse: misuse.case)
def test_only_a_kernel_that_stomps_is_near_bytes_that_changed(case, misuse):
    recording = case.record("misuse", "--case", misuse.case)
    code, result = case.json("find", "stomp", recording)
    assert (code == 1) == misuse.stomps, result["findings"]
    for finding in result["findings"]:
        assert misuse.case in kernels_between(finding)
