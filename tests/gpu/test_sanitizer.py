# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's compute-sanitizer must find nothing in the device program and in kernels. The CUDA
context belongs to the device's process, a child of the command line."""

import os
import pathlib
import re
import shutil

import pytest

from conftest import PLATFORM, RUNTIMES, workload

TOOL = shutil.which("compute-sanitizer", path=os.pathsep.join(
    [os.environ.get("PATH", ""), "/usr/local/cuda/bin",
     str(pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin")]))

pytestmark = [pytest.mark.skipif(TOOL is None, reason="no compute-sanitizer here"),
              pytest.mark.skipif(PLATFORM != "cuda", reason="compute-sanitizer looks at GPUs alone")]

# The sanitizer slows every access down a hundredfold, so: few cores, small cases, long limits. It looks at
# kernels that end.
SMALL = ("--cores", 6, "--timeout", 120, "--linger", 0)
SECONDS = 300
FOUND = 9

# Covers kernels of both kinds that run together, tensor cores, several panels and slabs, unaligned rows, and more
# than one round of heads. Smaller runs would repeat what these do.
RUNS = [("mix", "--case", "uneven"),
        ("bgemm", "--case", "large", "--set", "batch=1", "--set", "m=67", "--set", "k=99", "--set",
         "n=133", "--set", "tile=135"),
        ("paged_attention", "--case", "small", "--set", "heads=20", "--set", "kv_heads=1", "--set",
         "head_dim=24")]


def look(tg, tool, *arguments):
    """Returns the run, and how many mistakes the tool found in each process that used the GPU."""
    prefix = (TOOL, "--tool", tool, "--target-processes", "all", "--error-exitcode", FOUND)
    result = tg("run", *arguments, *SMALL, "--platform", PLATFORM, "--output", "out",
                prefix=prefix, timeout=SECONDS)
    text = result.stdout + result.stderr
    found = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", text)
    assert found, f"it saw no CUDA context: {text}"
    return result, [int(count) for count in found]


def check(tg, tool, *arguments):
    result, found = look(tg, tool, *arguments)
    assert result.returncode == 0 and not any(found), result


def test_memcheck_finds_a_bad_store(tg):
    """So it does look at the process that has the GPU, and at what kernels do there."""
    _, found = look(tg, "memcheck", workload("faults"), "--case", "far")
    assert any(found)


@pytest.mark.parametrize("run", RUNS)
def test_memcheck_finds_nothing_in_a_recorded_run(tg, run):
    check(tg, "memcheck", *run, "--dump-tensor")


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("runtime", RUNTIMES[1:])
def test_memcheck_finds_nothing_where_the_device_builds_the_graph(tg, runtime, where):
    check(tg, "memcheck", "matmul_chain", "--case", "one", "--runtime", runtime, "--orchestrator",
          where)


@pytest.mark.parametrize("run", RUNS)
def test_racecheck_finds_nothing(tg, run):
    check(tg, "racecheck", *run, "--dump-tensor")
