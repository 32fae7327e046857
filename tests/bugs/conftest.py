# SPDX-License-Identifier: Apache-2.0
"""Planted bugs: tests/workloads/bugs has one module for each."""

import collections
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from platforms import ENVIRONMENT, PLATFORMS, SPARING  # noqa: E402
from sampling import pytest_collection_modifyitems, pytest_configure  # noqa: E402, F401

BUILD = pathlib.Path(os.environ.get("TASKGLASS_BUILD", HERE.parents[1] / "build")).resolve()
PROGRAM = BUILD / "bin" / "taskglass"
WORKLOADS = BUILD / "tests" / "workloads"
TIMEOUT = 600

KERNELS = ["scale", "window", "mix_up", "subtract", "add_up", "halve", "ratio", "quantize"]
RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]
PLANTED = 3  # the step with the bug, as in bugs.h


class Case:
    """Recordings of a run with a bug, and of the same run without it. `kept`: what all tests record."""

    def __init__(self, directory, kept, platform, runtime):
        self.directory = directory
        self.kept = kept
        self.platform = platform
        self.runtime = runtime
        self.asked = collections.Counter()

    def tool(self, *arguments, codes=(0, 1)):
        result = subprocess.run([PROGRAM, *arguments], cwd=self.directory, timeout=TIMEOUT,
                                env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        assert result.returncode in codes, result
        return result

    def record(self, name, *options, runtime=None):
        """The folder of a recording of the workload. Each call in a test gets another run, but tests share
        them, so no test may change one; see own()."""
        command = (WORKLOADS / f"{name}.so", "--dump-tensor", "--platform", self.platform, "--runtime",
                   runtime or self.runtime, "--cores", "6", *options)
        nth = self.asked[command]
        self.asked[command] += 1
        if len(self.kept[command]) == nth:
            folder = self.kept.folder / str(next(self.kept.numbers))
            self.tool("run", *command, "--output", folder)
            self.kept[command].append(folder)
        return self.kept[command][nth]

    def own(self, recording):
        """A copy of a recording, which the test may change."""
        return shutil.copytree(recording, self.directory / f"own_{recording.name}")

    def json(self, *arguments):
        result = self.tool(*arguments, "--json")
        return result.returncode, json.loads(result.stdout)

    @staticmethod
    def planted(recording, kernel):
        """The id of the task with the bug: deps.json lists tasks in the order of submission."""
        tasks = json.loads((recording / "deps.json").read_text())["tasks"]
        task = tasks[PLANTED * len(KERNELS) + KERNELS.index(kernel)]
        assert task["kernel"] == [kernel]
        return task["task_id"]


@pytest.fixture(params=PLATFORMS)
def platform(request):
    return request.param


class Kept(collections.defaultdict):
    """The recordings that the tests share: by the command, those of its runs. A run takes longer than what
    a test asks about it."""

    def __init__(self, folder):
        super().__init__(list)
        self.folder = folder
        self.numbers = itertools.count()


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    return Kept(tmp_path_factory.mktemp("recordings"))


@pytest.fixture(params=RUNTIMES[::2] if SPARING else RUNTIMES)
def case(request, tmp_path, kept, platform):
    return Case(tmp_path, kept, platform, request.param)
