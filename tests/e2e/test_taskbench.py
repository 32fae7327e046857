# SPDX-License-Identifier: Apache-2.0
"""bench/taskbench works, and its check finds what it must: tiny grids, and no word about speed."""

import json
import pathlib
import subprocess

import pytest

from conftest import BUILD, TIMEOUT, clean_environment

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "taskbench"
PROGRAM = BUILD / "bench" / "bench_taskbench_taskglass"
PATTERNS = ("trivial", "no_comm", "stencil", "sweep", "fft", "tree", "nearest", "spread", "random")
RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="this build has no bench_taskbench_taskglass")


def call(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=TIMEOUT,
                          check=False, env=clean_environment())


def one_size(system, pattern, *more):
    """Runs tasks of one size: (exit code, what was printed as JSON)."""
    done = call(PROGRAM, "--system", system, "--pattern", pattern, "--steps", 12, "--runs", 2,
                "--iterations", 4, *more)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_task_runs_once_in_each_run_and_finds_its_inputs(pattern):
    code, found = one_size("tensormap_and_ringbuffer", pattern)
    tasks = 1 + 2 + 4 + 9 * 8 if pattern == "tree" else 12 * 8
    assert (code, found["tasks"], found["errors"]) == (0, tasks, 0)
    assert found["executed"] == found["expected"] == 3 * tasks  # a first run and two more


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("plant, more", (("value", 0), ("lost", -1), ("twice", 1)))
def test_a_planted_fault_is_noticed(runtime, plant, more):
    code, found = one_size(runtime, "stencil", "--plant", plant)
    assert code == 1
    assert found["errors"] > 0
    assert found["executed"] == found["expected"] + more


def test_a_sweep_over_all_systems_prints_its_figures_as_json():
    done = call(SOURCE / "run.py", "--bin", PROGRAM.parent, "--patterns", "stencil", "--kernel",
                "imbalanced", "--steps", 10, "--cpus", 1, "--rounds", 1, "--runs", 1, "--json", "-")
    assert (done.returncode, done.stderr) == (0, ""), done
    found = json.loads(done.stdout)
    assert found["problems"] == []
    rows = {row["system"]: row for row in found["rows"]}
    assert set(RUNTIMES) <= set(rows)
    assert not set(rows) & set(found["missing"])
    for row in rows.values():
        assert row["executed"] == row["expected"] > 0
        assert row["errors"] == 0
        for mode in ("first", "again"):
            for point in row[mode]["rounds"][0]["points"]:
                assert point["us"] > 0 and point["efficiency"] >= 0
    for ratio in found["ratios"]:
        assert {"over", "under", "pattern", "cpus", "ratio"} == set(ratio)


def test_a_planted_fault_fails_the_whole_benchmark():
    done = call(SOURCE / "run.py", "--bin", PROGRAM.parent, "--systems", "aicpu_build_graph",
                "--patterns", "fft", "--steps", 10, "--cpus", 1, "--rounds", 1, "--plant", "value")
    assert done.returncode == 1
    assert "failed: aicpu_build_graph fft cpus=1" in done.stdout


def test_a_wrong_option_is_named():
    done = call(PROGRAM, "--system", "host_build_graph", "--pattern", "sphere")
    assert done.returncode == 2
    assert "--pattern" in done.stderr
