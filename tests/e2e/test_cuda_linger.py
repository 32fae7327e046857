# SPDX-License-Identifier: Apache-2.0
"""The kernel that stays on a GPU between runs (--linger), on the fake CUDA driver (tests/gpu/driver). The driver
is strict about what needs a GPU without a kernel, and its kernel can be made deaf: it leaves just when the
next run is rung for."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD

DRIVER = BUILD / "tests" / "driver" / "libcuda.so.1"
pytestmark = pytest.mark.skipif(not DRIVER.exists(), reason="built without the driver for tests")

ROOT = pathlib.Path(__file__).resolve().parents[2]

HEAD = """
import os, sys, time
import numpy, taskglass

def opened(linger, **more):
    config = taskglass.Config(linger=linger, sandbox="off", **more)
    return taskglass.Device("cuda", cores=3, memory="64M", config=config)

class Adder:
    '''A graph of one task; each run adds to other numbers, and is checked.'''
    def __init__(self, device, module=None):
        self.module = module or device.load("vector_add")
        self.a, self.b, self.c = (device.array(numpy.zeros(64, "float32")) for _ in range(3))
        self.graph = self.module.graph()
        self.graph.add("vector_add_tile", taskglass.In(self.a), taskglass.In(self.b), taskglass.Out(self.c))
        self.runs = 0

    def run(self):
        self.runs += 1
        self.a.copy_from(numpy.full(64, self.runs, "float32"))
        self.b.copy_from(numpy.arange(64, dtype="float32"))
        result = self.graph.run()
        assert (result.status, result.finished) == ("OK", 1), result
        assert (self.c.numpy() == numpy.arange(64) + self.runs).all()
        return result.lingered
"""


def run(code, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-c", HEAD + code, *map(str, arguments)], stderr=subprocess.PIPE, text=True, timeout=600,
        env={**os.environ, "TASKGLASS_CUDA_DRIVER": str(DRIVER), "PYTHONPATH": str(ROOT / "bindings" / "python"),
             "TASKGLASS_LIBRARY": str(BUILD / "lib" / "libtaskglass.so"), **environment})
    assert (done.returncode, done.stderr) == (0, "")



def test_a_run_finds_the_kernel_of_the_run_before():
    run("""
with opened(3600) as device:
    adder = Adder(device)
    assert [adder.run() for _ in range(20)] == [False] + 19 * [True]
""")


def test_without_linger_every_run_has_a_kernel_of_its_own():
    run("""
with opened(0) as device:
    adder = Adder(device)
    assert not any(adder.run() for _ in range(20))
""")


def test_a_kernel_leaves_by_itself():
    run("""
with opened(0.001) as device:
    adder = Adder(device)
    adder.run()
    for pause in range(1, 1000): # on a busy machine it may take its time
        time.sleep(0.001 * pause)
        if not adder.run():
            break
    else:
        sys.exit("the kernel always stayed")
""")


@pytest.mark.parametrize("deaf", [1, 2, 3])
def test_a_run_that_a_leaving_kernel_misses_is_launched(deaf):
    run("""
deaf = int(sys.argv[1])
with opened(3600) as device:
    adder = Adder(device)
    lingered = [adder.run() for _ in range(12)]
    assert lingered == [run > 0 and run % deaf != 0 for run in range(12)], lingered
""", deaf, TASKGLASS_FAKE_CUDA_DEAF=str(deaf))


def test_loading_a_module_sends_the_kernel_away(tmp_path):
    for name in ("vector_add.so", "vector_add.cubin"):
        shutil.copy(BUILD / "lib" / "taskglass" / "workloads" / name, tmp_path / name.replace("vector_add", "mine"))
    run("""
with opened(3600) as device:
    first = Adder(device)
    assert [first.run(), first.run()] == [False, True]
    second = Adder(device, device.load(sys.argv[1]))
    assert [first.run(), first.run()] == [False, True]
    assert [second.run(), second.run(), first.run(), second.run()] == [False, True, False, False]
""", tmp_path / "mine.so")


def test_a_recording_between_runs_changes_nothing_for_the_others():
    run("""
import tempfile
with opened(3600) as device:
    adder = Adder(device)
    adder.run()
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            result = adder.graph.run(record="full", output_dir=folder, shared=True)
            assert result.status == "OK" and result.recorded == 3, result
        result = adder.graph.run()
        assert result.recorded == 0 and result.finished == 1
        adder.run()
""")


def test_a_graph_built_on_the_device_needs_larger_stacks_than_the_kernel_that_stays():
    run("""
with opened(3600) as device:
    adder = Adder(device)
    a, b, c = (device.array(numpy.ones(4096, "float32")) for _ in range(3))
    for _ in range(3):
        adder.run()
        for runtime in ("aicpu_build_graph", "tensormap_and_ringbuffer"):
            with adder.module.orchestrate(taskglass.In(a), taskglass.In(b), taskglass.Out(c),
                                          numpy.int64(1024), runtime=runtime,
                                          heap=1 << 20, task_window=64) as graph:
                assert graph.run().status == "OK" and graph.run().status == "OK"
            assert (c.numpy() == 2).all()
""")


def test_a_kernel_that_stays_does_not_keep_a_device_from_closing():
    run("""
for _ in range(5):
    with opened(3600) as device:
        Adder(device).run()
        pid = device.info.pid
    assert not os.path.exists(f"/proc/{pid}")
""")


def test_a_device_that_is_killed_while_its_kernel_waits_is_lost():
    run("""
with opened(3600) as device:
    adder = Adder(device)
    adder.run()
    os.kill(device.info.pid, 9)
    try:
        adder.graph.run()
    except taskglass.Error as error:
        assert error.status == "DEVICE_LOST", error
    else:
        sys.exit("a dead device ran a graph")
with opened(3600) as device:
    assert not Adder(device).run()
""")


def test_a_thousand_runs_leave_nothing_behind():
    run("""
def holds(pids): # of a fake GPU's process, threads are blocks, which come and go
    return [len(os.listdir(f"/proc/{pid}/fd")) for pid in pids] + [len(os.listdir("/proc/self/task"))]

with opened(0.002) as device:
    adder = Adder(device)
    pids = device.info.pid, os.getpid()
    for _ in range(100):
        adder.run()
    memory, before = device.info.memory_used, holds(pids)
    for _ in range(900):
        adder.run()
    assert holds(pids) == before
    assert device.info.memory_used == memory
""")
