# SPDX-License-Identifier: Apache-2.0
"""The platforms that the tests in Python run on: the simulators, or the one that
TASKGLASS_TEST_PLATFORM names. Tests that name no platform run on it too."""

import functools
import json
import os
import pathlib
import re
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


# Seconds after which a process counts as hanging. Other processes never make it take so long.
PATIENCE = 600

# Of a run that ends by itself and not by a limit: the limit, and what is far below it.
FAR = 600
FAR_LIMIT = ("--timeout", str(FAR))
AT_ONCE = 120


def limits_for(status, seconds):
    """The --timeouts to try for a run that is to end so. What shows at once has one, which is far
    away. A hang is waited for: those seconds, in which a busy machine may not get as far as the task
    that hangs; then longer ones. The first launch on a GPU counts, and may itself take a second."""
    if status != "HANG":
        return (FAR,)
    first = 3 if GPU else seconds
    return (first, 4 * first, 16 * first)


def until(is_far_enough, run, limits):
    """What run(limit) gave with the first of the limits that let the run get far enough, or with the
    last of them. A limit that passed before the bad task began says nothing about the bad task."""
    for limit in limits:
        result = run(limit)
        if is_far_enough(result):
            break
    return result


def is_in_task_3(said):
    """Whether a run of the workload faults that hangs got as far as its bad task, by what it said."""
    return re.search(r"\b3 of 7 finished, [1-9]\d* running", said) is not None


def is_under_way(pid):
    """Whether a simulated device runs tasks: a thread beside the first one has used 50 ms of CPU, which
    none does by starting or waiting."""
    used = 0
    for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has just ended
        if stat.parent.name != str(pid):
            used = max(used, int(fields[11]) + int(fields[12]))
    return used * 1000 >= 50 * os.sysconf("SC_CLK_TCK")


@functools.lru_cache(maxsize=None)
def _whole_cores():
    """How many cores get a multiprocessor each beside all schedulers: so many always fit."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TASKGLASS_")}
    with tempfile.TemporaryDirectory(prefix="taskglass_test_cores.") as directory:
        subprocess.run([BUILD / "bin" / "taskglass", "run", "vector_add", "--platform", ONLY,
                        "--schedulers", str(MOST_SCHEDULERS), "--output", f"{directory}/out"],
                       env={**kept, **ENVIRONMENT}, stdout=subprocess.DEVNULL, check=True,
                       timeout=PATIENCE)
        report = json.loads(pathlib.Path(directory, "out", "run.json").read_text())
    return report["device"]["cores"]


def cores_up_to(n):
    """n cores, or as many as this GPU has."""
    return min(n, _whole_cores()) if GPU else n


def has_platform(listed, name):
    """Whether `listed`, from `taskglass list --json`, shows that platform as available."""
    return any(entry["name"] == name and entry["available"] for entry in listed["platforms"])
