# SPDX-License-Identifier: Apache-2.0
"""The platforms that the tests in Python run on: the simulators, or the one that
TASKGLASS_TEST_PLATFORM names. Tests that name no platform run on it too."""

import functools
import json
import os
import pathlib
import subprocess
import tempfile

import pytest

ONLY = os.environ.get("TASKGLASS_TEST_PLATFORM", "")
PLATFORMS = (ONLY,) if ONLY else ("a2a3sim", "a5sim")
GPU = ONLY == "cuda"
BUILD = pathlib.Path(os.environ.get("TASKGLASS_BUILD",
                                    pathlib.Path(__file__).parents[1] / "build")).resolve()

# Environment of the command line: the platform, its driver, and a small share of the GPU's memory,
# because several devices are open at once and each takes its memory when it opens.
DRIVER = "TASKGLASS_CUDA_DRIVER"
ENVIRONMENT = {"TASKGLASS_PLATFORM": ONLY} if ONLY else {}
if DRIVER in os.environ:
    ENVIRONMENT[DRIVER] = os.environ[DRIVER]
if GPU:
    ENVIRONMENT["TASKGLASS_DEVICE_MEMORY"] = "2G"

# Opening a device on a GPU takes half a second in every run.
SLOW_TO_OPEN = GPU
MOST_SCHEDULERS = 3 if GPU else 4

simulators_only = pytest.mark.skipif(GPU, reason="about the simulators' process")


def limit_for(status, seconds):
    """The --timeout of a run that should end with this status: `seconds` for a hang, because the
    test waits for the limit, and plenty for a failure that shows at once. The first launch on a GPU
    counts, and may itself take a second."""
    if status != "HANG":
        return 10
    return 3 if GPU else seconds


# For a run that no limit should end: the limit, and a time far below it.
FAR_LIMIT = ("--timeout", "60")
AT_ONCE = 30 if GPU else 5


@functools.lru_cache(maxsize=None)
def _whole_cores():
    """How many cores get a multiprocessor each beside all schedulers: so many always fit."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TASKGLASS_")}
    with tempfile.TemporaryDirectory(prefix="taskglass_test_cores.") as directory:
        subprocess.run([BUILD / "bin" / "taskglass", "run", "vector_add", "--platform", ONLY,
                        "--schedulers", str(MOST_SCHEDULERS), "--output", f"{directory}/out"],
                       env={**kept, **ENVIRONMENT}, stdout=subprocess.DEVNULL, check=True,
                       timeout=120)
        report = json.loads(pathlib.Path(directory, "out", "run.json").read_text())
    return report["device"]["cores"]


def cores_up_to(n):
    """n cores, or as many as this GPU has."""
    return min(n, _whole_cores()) if GPU else n


def has_platform(listed, name):
    """Whether `listed`, from `taskglass list --json`, shows that platform as available."""
    return any(entry["name"] == name and entry["available"] for entry in listed["platforms"])
