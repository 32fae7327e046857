# SPDX-License-Identifier: Apache-2.0
"""Planted bugs: tests/workloads/bugs has one module for each."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from platforms import ENVIRONMENT, PLATFORMS  # noqa: E402

BUILD = pathlib.Path(os.environ.get("TASKGLASS_BUILD", HERE.parents[1] / "build")).resolve()
PROGRAM = BUILD / "bin" / "taskglass"
WORKLOADS = BUILD / "tests" / "workloads"
TIMEOUT = 600

KERNELS = ["scale", "window", "mix_up", "subtract", "add_up", "halve", "ratio", "quantize"]
PLANTED = 3  # the step with the bug, as in bugs.h


class Case:
    """Recordings of a run with a bug, and of the same run without it."""

    def __init__(self, directory, platform, runtime):
        self.directory = directory
        self.options = ["--platform", platform, "--runtime", runtime, "--cores", "6"]
        self.runtime = runtime

    def tool(self, *arguments, codes=(0, 1)):
        result = subprocess.run([PROGRAM, *arguments], cwd=self.directory, timeout=TIMEOUT,
                                env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        assert result.returncode in codes, result
        return result

    def record(self, bug):
        self.tool("run", self.workload(f"bugs_{bug}"), "--dump-tensor", "--output", bug,
                  *self.options, codes=(0, 1))
        return bug

    @staticmethod
    def workload(name):
        return WORKLOADS / f"{name}.so"

    def json(self, *arguments):
        result = self.tool(*arguments, "--json")
        return result.returncode, json.loads(result.stdout)

    def planted(self, bug, kernel):
        """The id of the task with the bug: deps.json lists tasks in the order of submission."""
        tasks = json.loads((self.directory / bug / "deps.json").read_text())["tasks"]
        task = tasks[PLANTED * len(KERNELS) + KERNELS.index(kernel)]
        assert task["kernel"] == [kernel]
        return task["task_id"]


@pytest.fixture(params=PLATFORMS)
def platform(request):
    return request.param


@pytest.fixture(params=["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"])
def case(request, tmp_path, platform):
    return Case(tmp_path, platform, request.param)
