# SPDX-License-Identifier: Apache-2.0
"""The platforms on which the Python tests run: the simulators, or the one that TASKGLASS_TEST_PLATFORM
names. Tests that choose no platform then run on that one too.

Under sanitizers everything takes several times as long, so there they run on one simulator and try fewer cases
(SAMPLED; sampling.py). TASKGLASS_TEST_WHOLE=1, which `make soak` sets, leaves nothing out (WHOLE)."""

import atexit
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

ONLY = os.environ.get("TASKGLASS_TEST_PLATFORM", "")
GPU = ONLY == "cuda"
BUILD = pathlib.Path(os.environ.get("TASKGLASS_BUILD",
                                    pathlib.Path(__file__).parents[1] / "build")).resolve()


def _is_sanitized():
    cache = BUILD / "CMakeCache.txt"
    return cache.exists() and any(line.startswith("TASKGLASS_SANITIZE:") and line.split("=", 1)[1]
                                  for line in cache.read_text().splitlines())


SANITIZED = _is_sanitized()
WHOLE = os.environ.get("TASKGLASS_TEST_WHOLE", "") not in ("", "0")
SAMPLED = SANITIZED and not WHOLE

# a2a3sim maps the device's memory, a5sim copies it. The contract tests try every function on both under the
# sanitizers too, and what the programs make of it is the same.
SIMULATORS = ("a2a3sim", "a5sim")
PLATFORMS = (ONLY,) if ONLY else SIMULATORS[:1] if SAMPLED else SIMULATORS

# Environment of the command line: the platform, its driver, and a small share of the GPU's memory,
# because several devices are open at once and each takes its memory when it opens.
DRIVER = "TASKGLASS_CUDA_DRIVER"
FAKE = DRIVER in os.environ  # tests/gpu/driver: a GPU that the tests pretend to have
ENVIRONMENT = {"TASKGLASS_PLATFORM": ONLY} if ONLY else {}
if DRIVER in os.environ:
    ENVIRONMENT[DRIVER] = os.environ[DRIVER]
if GPU:
    ENVIRONMENT["TASKGLASS_DEVICE_MEMORY"] = "2G"
    # Seconds until a core gives up waiting for the host. Where other programs share the GPU it gives each a slice of
    # time in turn, and so all copies for the host take long. A run that hangs ends earlier, by its --timeout.
    ENVIRONMENT["TASKGLASS_DUMP_WAIT"] = "120"

# What the tests run is not noted in the user's home, and what the user has run is not known to them.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="taskglass_test_state_")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# Opening a device on a GPU takes half a second in every run.
SLOW_TO_OPEN = GPU
MOST_SCHEDULERS = 3 if GPU else 4

# The driver opens a GPU for one process after the other, however many tests run at a time, and takes 0.1 s for each.
# So a test tries fewer sets of arguments on a real GPU where more of them show nothing more about it. Simulators and
# the fake driver get all. TASKGLASS_TEST_SPARING=0 gives a real GPU all, too, and 1 the fake driver few.
SPARING = GPU and not WHOLE and os.environ.get("TASKGLASS_TEST_SPARING", "0" if FAKE else "1") == "1"


def few(values, n):
    """All values; on a real GPU only n of them, from the first on and evenly spread."""
    values = list(values)
    return [values[i * len(values) // n] for i in range(n)] if SPARING and n < len(values) else values


simulators_only = pytest.mark.skipif(GPU, reason="about the simulators' process")


# After this many seconds a process counts as hanging. No busy machine makes it take that long.
PATIENCE = 600

# For runs that must end before their --timeout: the --timeout, and a time that is far below it.
FAR = 600
FAR_LIMIT = ("--timeout", str(FAR))
AT_ONCE = 120


def limits_for(status, seconds):
    """The --timeouts to try, one after the other, for a run that must end with this status. A failure
    that shows at once gets a single, very long one. For a hang the test waits: first `seconds`, then
    longer, because on a busy machine the run may not reach the task that hangs in time. A GPU gets
    more, because its first launch may take a second."""
    if status != "HANG":
        return (FAR,)
    first = 3 if GPU else seconds
    return (first, 4 * first, 16 * first)


def until(is_far_enough, run, limits):
    """Calls run(limit) with one limit after the other until the run gets far enough. Returns the last
    result. A run that reaches its limit before the bad task begins says nothing about that task."""
    for limit in limits:
        result = run(limit)
        if is_far_enough(result):
            break
    return result


def is_in_task_3(said):
    """True if a hanging run of the workload faults reached its bad task, according to its message."""
    return re.search(r"\b3 of 7 finished, [1-9]\d* running", said) is not None


def is_under_way(pid):
    """True if a simulated device runs tasks: one of its threads, other than the first, has used 50 ms
    of CPU time. Starting and waiting takes less."""
    used = 0
    for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # the thread has just ended
        if stat.parent.name != str(pid):
            used = max(used, int(fields[11]) + int(fields[12]))
    return used * 1000 >= 50 * os.sysconf("SC_CLK_TCK")


@functools.lru_cache(maxsize=None)
def _whole_cores():
    """How many cores have a multiprocessor each, with the most schedulers. This many always fit."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TASKGLASS_")}
    with tempfile.TemporaryDirectory(prefix="taskglass_test_cores.") as directory:
        subprocess.run([BUILD / "bin" / "taskglass", "run", "vector_add", "--platform", ONLY,
                        "--schedulers", str(MOST_SCHEDULERS), "--output", f"{directory}/out"],
                       env={**kept, **ENVIRONMENT}, stdout=subprocess.DEVNULL, check=True,
                       timeout=PATIENCE)
        report = json.loads(pathlib.Path(directory, "out", "run.json").read_text())
    return report["device"]["cores"]


def cores_up_to(n):
    """n cores, or the most that this GPU has, if that is less."""
    return min(n, _whole_cores()) if GPU else n


def has_platform(listed, name):
    """True if `listed`, from `taskglass list --json`, shows the platform as available."""
    return any(entry["name"] == name and entry["available"] for entry in listed["platforms"])
