# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA's compute-sanitizer finds in the device program and in kernels: nothing. The CUDA
context is that of the device's process, a child of the command line."""

import os
import pathlib
import re
import shutil

import pytest

from conftest import PLATFORM, RUNTIMES

TOOL = shutil.which("compute-sanitizer", path=os.pathsep.join(
    [os.environ.get("PATH", ""), "/usr/local/cuda/bin",
     str(pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin")]))

pytestmark = [pytest.mark.skipif(TOOL is None, reason="no compute-sanitizer here"),
              pytest.mark.skipif(PLATFORM != "cuda", reason="compute-sanitizer looks at GPUs alone")]

# Every access is slowed down a hundredfold: few cores, small cases, long limits.
SMALL = ("--cores", 6, "--timeout", 120)
SECONDS = 300
FOUND = 9


def check(tg, tool, *arguments):
    prefix = (TOOL, "--tool", tool, "--target-processes", "all", "--error-exitcode", FOUND)
    result = tg("run", *arguments, *SMALL, "--platform", PLATFORM, "--output", "out",
                prefix=prefix, timeout=SECONDS)
    text = result.stdout + result.stderr
    found = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", text)
    assert found, f"it saw no CUDA context: {text}"
    assert result.returncode == 0 and not any(map(int, found)), text


@pytest.mark.parametrize("workload,case", [("vector_add", "small"), ("mix", "uneven"),
                                           ("bgemm", "one"), ("paged_attention", "small")])
def test_memcheck_finds_nothing_in_a_recorded_run(tg, workload, case):
    check(tg, "memcheck", workload, "--case", case, "--dump-tensor")


@pytest.mark.parametrize("runtime", RUNTIMES[1:])
def test_memcheck_finds_nothing_where_the_device_builds_the_graph(tg, runtime):
    check(tg, "memcheck", "matmul_chain", "--case", "one", "--runtime", runtime)


@pytest.mark.parametrize("workload,case", [("vector_add", "small"), ("mix", "uneven"),
                                           ("bgemm", "one"), ("paged_attention", "small")])
def test_racecheck_finds_nothing(tg, workload, case):
    check(tg, "racecheck", workload, "--case", case, "--dump-tensor")
