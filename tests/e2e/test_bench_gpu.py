# SPDX-License-Identifier: Apache-2.0
"""bench/gpu's programs work, and their checks find what they must: tiny graphs on a simulator, and no
word about speed."""

import importlib.util
import json
import pathlib
import subprocess

import pytest

from conftest import BUILD, TIMEOUT, clean_environment

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "gpu"
METG, TASKS = (BUILD / "bench" / f"bench_gpu_{name}" for name in ("metg", "tasks"))
RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
PATTERNS = ("independent", "chain", "stencil", "fan", "tree", "fft", "random", "nearest")

pytestmark = pytest.mark.skipif(not METG.exists(), reason="this build has no bench_gpu_metg")


def call(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=TIMEOUT,
                          check=False, env=clean_environment())


def lines_of(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def metg(*more):
    """Grids of at least 24 rows: (exit code, one object for each)."""
    done = call(METG, "--platform", "a2a3sim", "--tasks", 48, "--repeat", 1, *more)
    return done.returncode, lines_of(done)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_task_of_every_pattern_runs_once_in_each_run_and_finds_its_inputs(runtime):
    code, found = metg("--systems", runtime, "--widths", "1,2")
    assert code == 0
    assert [(line["cores"], line["pattern"]) for line in found] == [
        (cores, pattern) for cores in (1, 2) for pattern in PATTERNS]
    for line in found:
        assert (line["system"], line["errors"]) == (runtime, 0)
        assert line["executed"] == line["expected"] > line["tasks"] > 0
        assert line["metg_us"] is None or line["metg_us"] > 0


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_fan_is_wider_than_a_row_of_one_core_and_ends_in_a_part_of_a_group(runtime):
    code, found = metg("--systems", runtime, "--patterns", "fan", "--widths", 18)
    assert (code, found[0]["errors"]) == (0, 0)
    assert found[0]["executed"] == found[0]["expected"]


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("plant, more", (("value", 0), ("lost", -1), ("twice", 1)))
def test_a_planted_fault_is_noticed(runtime, plant, more):
    code, found = metg("--systems", runtime, "--patterns", "stencil", "--widths", 2, "--plant", plant)
    assert code == 1
    assert found[0]["errors"] > 0
    assert found[0]["executed"] == found[0]["expected"] + 2 * more  # it ran twice before the check
    assert found[0]["metg_us"] is None


@pytest.mark.parametrize("wrong", (["--patterns", "chain,sphere"], ["--widths", "0"], ["--systems", "x"],
                                   ["--repeat", "100"]))
def test_a_wrong_option_is_named(wrong):
    done = call(METG, "--platform", "a2a3sim", *wrong)
    assert done.returncode == 2
    assert wrong[0] in done.stderr


@pytest.mark.parametrize("runtime, shapes", ((RUNTIMES[0], "tree,fft"), (RUNTIMES[1], "fft"),
                                             (RUNTIMES[2], "fft")))
def test_tasks_of_trees_and_ffts_run_after_their_predecessors(runtime, shapes):
    done = call(TASKS, "--platform", "a2a3sim", "--cores", 2, "--check", "--runtimes", runtime,
                "--shapes", shapes, "--tasks", 200, "--built-tasks", 200)
    assert done.returncode == 0, done
    assert [(line["shape"], line["faults"]) for line in lines_of(done)] == [
        (shape, 0) for shape in shapes.split(",")]


def test_the_start_of_a_run_is_measured_from_opening_on():
    done = call(TASKS, "--platform", "a2a3sim", "--cores", 1, "--start", 3, "--pause", 1)
    assert done.returncode == 0, done
    found, = lines_of(done)
    assert (found["runs"], found["pause_ms"]) == (3, 1)
    for name in ("open_ms", "load_ms", "first_us", "us"):
        assert found[name] > 0


def test_the_whole_benchmark_prints_its_figures_as_json():
    done = call(SOURCE / "run.py", "--bin", METG.parent, "--platform", "a2a3sim", "--parts", "metg",
                "--cores", 2, "--metg-tasks", 48, "--quick", "--json", "-")
    assert (done.returncode, done.stderr) == (0, ""), done
    found = json.loads(done.stdout)
    assert found["problems"] == []
    assert {line["system"] for line in found["metg"]} == set(RUNTIMES)
    assert {line["cores"] for line in found["metg"]} == {2}


@pytest.fixture(scope="module")
def run_py():
    spec = importlib.util.spec_from_file_location("bench_gpu_run", SOURCE / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_was_not_measured_is_not_reached_and_not_missed(run_py):
    found = run_py.all_figures({"tasks": [], "record": [], "attention": [], "limits": []})
    assert found
    assert {figure["reached"] for figure in found} == {None}


def test_a_figure_is_reached_on_the_right_side_of_its_target(run_py):
    lines = [{"program": "tasks", "runtime": "host_build_graph", "shape": shape, "kinds": "aiv",
              "ns_per_task": 100.0} for shape in ("chain", "independent", "fan")]
    lines.append({"peer": "cuda_graph", "shape": "fan", "ns_per_task": 100.5, "n": 10,
                  "build_s": 1.0, "instantiate_s": 1.0, "upload_s": 1.0})
    found = {figure["what"]: figure["reached"] for figure in run_py.all_figures({"tasks": lines})}
    assert found["host_build_graph chain"] is True
    assert found["host_build_graph independent"] is False
    assert found["host_build_graph fan, beside CUDA Graph"] is True
    assert found["host_build_graph tree, beside CUDA Graph"] is None
