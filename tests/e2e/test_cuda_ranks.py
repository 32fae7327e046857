# SPDX-License-Identifier: Apache-2.0
"""Ranks on the platform `cuda`, with one or several GPUs of the fake CUDA driver (tests/gpu/driver): which
GPU each rank has, what is said if they share one, and calls between them."""

import json
import signal
import subprocess
import time

import pytest

import wire_reader
from conftest import BUILD, PROGRAM, TIMEOUT, clean_environment, workload

DRIVER = BUILD / "tests" / "driver" / "libcuda.so.1"
pytestmark = pytest.mark.skipif(not DRIVER.exists(), reason="built without the driver for tests")

RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]
SMALL = ("--platform", "cuda", "--cores", "3", "--device-memory", "64M", "--ring-heap", "1M",
         "--ring-task-window", "1024", "--timeout", "60", "--output", "out")
# Each example that has a case for several ranks.
CALLING = [("mlp", "tensor_parallel"), ("moe", "expert_parallel"), ("ring_attention", "causal"),
           ("stencil", "halos"), ("cholesky", "block_cyclic")]
NAMES = ["GPU made of threads"] + [f"GPU made of threads, number {n}" for n in range(1, 4)]


def run(tg, module, *options, gpus=1, **environment):
    return tg("run", module, *SMALL, *options,
              env={"TASKGLASS_CUDA_DRIVER": str(DRIVER), "TASKGLASS_FAKE_CUDA_DEVICES": str(gpus),
                   "CUDA_VISIBLE_DEVICES": "0,1,2,3", **environment})


def runs(tg, ranks):
    return [json.loads((tg.directory / f"out/rank{r}/run.json").read_text()) for r in range(ranks)]


@pytest.mark.parametrize("ranks,gpus", [(1, 2), (2, 1), (2, 2), (3, 2), (4, 1), (4, 4)])
def test_ranks_take_the_gpus_in_turn_and_say_if_they_share(tg, ranks, gpus):
    result = run(tg, "vector_add", "--ranks", str(ranks), gpus=gpus)
    assert (result.returncode, result.stderr) == (0, ""), result
    shared = f"{ranks} ranks share {gpus} GPU{'s' if gpus > 1 else ''}" if ranks > gpus else ""
    assert result.stdout.count(" ranks share ") == (1 if shared else 0) and shared in result.stdout
    for rank, report in enumerate(runs(tg, ranks)):
        index = rank % gpus
        assert report["device"]["gpu"] == {"index": index, "of": gpus, "name": NAMES[index]}
        assert [one["text"] for one in report["warnings"]] == ([shared] if shared else [])


def test_numbers_are_those_of_the_gpus_that_are_shown(tg):
    result = run(tg, "vector_add", "--ranks", "2", gpus=4, CUDA_VISIBLE_DEVICES="3,1")
    assert result.returncode == 0 and " ranks share " not in result.stdout
    assert [one["device"]["gpu"] for one in runs(tg, 2)] == [
        {"index": 0, "of": 2, "name": NAMES[3]}, {"index": 1, "of": 2, "name": NAMES[1]}]


def test_a_run_without_ranks_has_the_first_gpu(tg):
    assert run(tg, "vector_add", gpus=2).returncode == 0
    report = json.loads((tg.directory / "out/run.json").read_text())
    assert report["device"]["gpu"] == {"index": 0, "of": 2, "name": NAMES[0]}
    assert report["warnings"] == []


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("example,case", CALLING)
def test_gpus_make_calls(tg, example, case, runtime):
    result = run(tg, example, "--case", case, "--ranks", "2", "--runtime", runtime, "--dump-tensor", gpus=2)
    assert (result.returncode, result.stderr) == (0, ""), result
    checked = tg("verify", "out")
    assert checked.returncode == 0, checked


def test_one_gpu_alone_makes_calls(tg):
    result = run(tg, "stencil", "--case", "ragged", "--runtime", "tensormap_and_ringbuffer")
    assert (result.returncode, result.stderr) == (0, ""), result


@pytest.mark.parametrize("schedulers", ["0", "2"])
@pytest.mark.parametrize("which", [1, 20])
def test_mistakes_of_gpus_are_named_with_their_lines(tg, which, schedulers):
    result = run(tg, workload("comm_mistakes"), "--ranks", "3", "--set", f"which={which}", "--timeout", "2",
                 "--schedulers", schedulers, gpus=2)
    assert result.returncode == 3, result
    assert "orchestrate.c:" in result.stderr, result


def test_many_calls_at_once_fit_the_rings_of_a_gpu(tg):
    """More calls wait for the host than either ring between the GPU and its process has room for."""
    result = run(tg, workload("ranks_ring"), "--case", "pieces", "--ranks", "2", "--ring-task-window", "8192",
                 "--runtime", "tensormap_and_ringbuffer", gpus=2)
    assert (result.returncode, result.stderr) == (0, ""), result


def test_a_run_of_gpus_with_calls_in_flight_can_be_cancelled(tg):
    """The host still says what is done when the GPU's run is over; somebody has to read it."""
    many = ("--case", "pieces", "--set", "n=6000", "--set", "pieces=6000", "--set", "steps=20", "--ring-task-window", "65536",
            "--ring-heap", "16M", "--device-memory", "512M", "--runtime", "tensormap_and_ringbuffer")
    process = subprocess.Popen([PROGRAM, "run", workload("ranks_ring"), *SMALL, *many, "--ranks", "2"], cwd=tg.directory,
                               env=clean_environment(TASKGLASS_CUDA_DRIVER=str(DRIVER)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    while not (tg.directory / "out/rank1/live.sock").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == -signal.SIGTERM, (out, err)
    ranks = json.loads((tg.directory / "out/ranks.json").read_text())["rank"]
    assert {rank["status"] for rank in ranks} <= {"CANCELLED", "RANK_LOST"}, ranks
    assert not any("signal 9" in rank.get("error", "") for rank in ranks), ranks  # the launcher had to kill none


@pytest.mark.parametrize("place", ["host", "device"])
@pytest.mark.parametrize("runtime", RUNTIMES[1:])
def test_filters_select_values_that_a_call_has_brought(tg, runtime, place):
    result = run(tg, workload("comm_mistakes"), "--ranks", "2", "--set", "which=23", "--runtime", runtime,
                 "--orchestrator", place, "--dump-tensor=meta", "--dump-filter", "stage=orchestration")
    assert (result.returncode, result.stderr) == (0, ""), result
    for rank in range(2):
        arguments = wire_reader.Recording(tg.directory / f"out/rank{rank}/tensor_dump").arguments
        assert len([one for one in arguments if int(one["flags"]) & wire_reader.READ]) == 1
