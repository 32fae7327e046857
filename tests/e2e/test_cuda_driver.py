# SPDX-License-Identifier: Apache-2.0
"""The platform `cuda` with a driver that fails, or with a GPU that lacks something: the tests use
the fake CUDA driver (tests/gpu/driver), which fails on request. Whatever fails, the run ends with
one line that says what it was, and no process is left running."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import uuid

import pytest

from conftest import BUILD

DRIVER = BUILD / "tests" / "driver" / "libcuda.so.1"
pytestmark = pytest.mark.skipif(not DRIVER.exists(), reason="built without the driver for tests")

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = BUILD / "lib" / "taskglass" / "workloads"

NO_MEMORY, UNKNOWN, ILLEGAL_ADDRESS = 2, 999, 700

# Every driver function that the device's process calls.
CALLS = re.findall(r"X\(\w+,\s*(cu\w+),",
                   (ROOT / "src/platform/cuda/process/driver.h").read_text().replace("\\\n", ""))
# A run stays good if these fail: names for messages, freeing after the run is over, and functions
# that no run calls.
HARMLESS = {"cuGetErrorName", "cuGetErrorString", "cuDeviceGetName", "cuMemHostUnregister",
            "cuDeviceGetCount", "cuModuleUnload", "cuMemGetInfo_v2", "cuMemFree_v2", "cuMemHostGetDevicePointer_v2",
            "cuModuleLoadData", "cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete", "cuLinkDestroy"}
# For functions that a run calls more than once: the calls from which on they fail.
LATER = {"cuCtxSetCurrent": (2,), "cuCtxSetLimit": (2,), "cuMemAlloc_v2": (2, 4, 6),
         "cuMemcpyHtoD_v2": (2,), "cuMemcpyDtoH_v2": (2, 3), "cuMemcpyHtoDAsync_v2": (3,),
         "cuMemcpyDtoHAsync_v2": (2,), "cuMemHostRegister_v2": (2,), "cuStreamCreate": (2,),
         "cuStreamSynchronize": (2, 6), "cuModuleGetFunction": (2,),
         "cuModuleGetGlobal_v2": (2,)}


class Gpu:
    """gpu("vector_add", TASKGLASS_FAKE_CUDA_MEMORY=…): a run on the fake CUDA driver; its first line."""

    def __init__(self, tg):
        self.tg = tg
        self.mark = uuid.uuid4().hex

    def __call__(self, workload, *options, code=None, **environment):
        result = self.tg("run", workload, "--platform", "cuda", "--timeout", "600", *options,
                         env={"TASKGLASS_CUDA_DRIVER": str(DRIVER),
                                          "TASKGLASS_FAKE_CUDA_MARK": self.mark,
                                          "CUDA_VISIBLE_DEVICES": "0", **environment})
        assert code is None or result.returncode == code, result
        assert not self.left_running(), result
        if result.returncode == 0:
            assert result.stderr == "", result
            return ""
        # The recording up to there may have a gap, which is reported as well.
        line = [one for one in result.stderr.splitlines() if "warning: recording" not in one][0]
        assert re.match(r"taskglass: [A-Z_]+: .", line), result
        return line

    def left_running(self):
        """Processes that had this test's mark in their environment."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (process / "environ").read_bytes():
                    found.append(process.name)
            except OSError:
                pass
        return found


@pytest.fixture
def gpu(tg):
    return Gpu(tg)


SMALL = ("--cores", "3", "--device-memory", "64M")
RECORDED = (*SMALL, "--dump-tensor", "--dump-arena", "64K", "--runtime", "tensormap_and_ringbuffer",
            "--ring-heap", "1M", "--ring-task-window", "64", "--output", "out")


def test_a_good_driver_is_good(gpu):
    assert gpu("vector_add", *RECORDED, code=0) == ""
    assert len(CALLS) > 25 and HARMLESS | set(LATER) <= set(CALLS)


@pytest.mark.parametrize("runtime", ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"])
@pytest.mark.parametrize("schedule", ["fifo", "lifo", "random:1", "adversarial:2", "order:1:5-1:3,3-2,2-3"])
def test_schedules_end_on_one_core_and_on_more(gpu, runtime, schedule):
    for cores, schedulers in (("1", "0"), ("1", "2"), ("3", "0"), ("6", "2")):
        result = gpu.tg("run", "mix", "--platform", "cuda", "--timeout", "600", "--cores", cores, "--schedulers",
                        schedulers, "--device-memory", "64M", "--ring-heap", "1M", "--ring-task-window", "64",
                        "--runtime", runtime, "--schedule", schedule, "--output", "out",
                        env={"TASKGLASS_CUDA_DRIVER": str(DRIVER), "CUDA_VISIBLE_DEVICES": "0"})
        assert result.returncode == 0, result
        became = json.loads((gpu.tg.directory / "out/run.json").read_text())["schedule"]
        assert became["serial"] == (cores == "1") and became["choices"] > 0
        shutil.rmtree(gpu.tg.directory / "out")


def orchestrated(number):
    """Only an orchestration on the GPU needs larger stacks than its kernels, and so a second call for them."""
    return "--orchestrator", "device" if number > 1 else "host"


@pytest.mark.parametrize("call", CALLS)
def test_a_driver_call_that_fails_ends_the_run_unless_harmless(gpu, call):
    for error in (NO_MEMORY, UNKNOWN, ILLEGAL_ADDRESS):
        for number in (1, *LATER.get(call, ())):
            said = gpu("vector_add", *RECORDED, *orchestrated(number),
                       TASKGLASS_FAKE_CUDA_FAIL=f"{call}:{error}:{number}")
            shutil.rmtree(gpu.tg.directory / "out", ignore_errors=True)
            if error == ILLEGAL_ADDRESS and call == "cuMemHostUnregister":
                continue  # a kernel's error, which this call reports
            assert (said == "") == (call in HARMLESS), (call, error, number)
            assert error == ILLEGAL_ADDRESS or "KERNEL_FAULT" not in said, (call, error, number)


@pytest.mark.parametrize("call,number", [("cuCtxSetLimit", 1), ("cuCtxSetLimit", 2),
                                         ("cuLaunchCooperativeKernel", 1)])
def test_a_run_for_whose_stacks_there_is_no_room_says_so(gpu, call, number):
    said = gpu("vector_add", *RECORDED, *orchestrated(number), code=2,
               TASKGLASS_FAKE_CUDA_FAIL=f"{call}:{NO_MEMORY}:{number}")
    assert "NO_MEMORY: " in said and "lower --device-memory" in said
    assert re.search(r"the stacks of \d+ threads \(\d+ MiB\)", said)


def test_too_many_blocks_at_a_time_are_reported_with_advice(gpu):
    said = gpu("vector_add", *SMALL, code=2, TASKGLASS_FAKE_CUDA_FAIL="cuLaunchCooperativeKernel:720")
    assert "BAD_ARGUMENT: " in said and "lower --cores" in said


# ── GPUs that are too small ──────────────────────────────────────────────────────────────────────


def test_a_gpu_that_is_too_old_is_named(gpu):
    said = gpu("vector_add", *SMALL, code=2, TASKGLASS_FAKE_CUDA_CAPABILITY="75")
    assert "UNSUPPORTED: " in said and "compute capability 7.5: 8.0 or newer is needed" in said


def test_an_older_gpu_that_is_new_enough_is_used(gpu):
    gpu("vector_add", *SMALL, code=0, TASKGLASS_FAKE_CUDA_CAPABILITY="80")


def test_a_small_gpu_has_its_cores_counted(gpu):
    gpu("vector_add", "--device-memory", "64M", code=0, TASKGLASS_FAKE_CUDA_MULTIPROCESSORS="4")
    said = gpu("vector_add", "--device-memory", "64M", "--cores", "30", code=2,
               TASKGLASS_FAKE_CUDA_MULTIPROCESSORS="4")
    assert "BAD_ARGUMENT: " in said and "--cores 30: " in said and "has room for 6 with 0" in said


@pytest.mark.parametrize("runtime", ["host_build_graph", "tensormap_and_ringbuffer"])
def test_a_large_gpu_runs_on_all_its_cores(gpu, runtime):
    """More workers than fit into four words of the engine's sets."""
    gpu("mix", "--cores", "300", "--runtime", runtime, "--device-memory", "256M", "--ring-heap", "1M",
        "--ring-task-window", "64", "--dump-tensor=meta", "--dump-arena", "64K", "--output", "out", code=0,
        TASKGLASS_FAKE_CUDA_MULTIPROCESSORS="200")
    assert json.loads((gpu.tg.directory / "out" / "run.json").read_text())["options"]["cores"]["value"] == "300"


def test_the_most_cores_are_as_many_as_the_engine_has_room_for(gpu):
    many = {"TASKGLASS_FAKE_CUDA_MULTIPROCESSORS": "600"}
    gpu("vector_add", "--cores", "1020", "--schedulers", "3", "--device-memory", "64M", code=0, **many)
    said = gpu("vector_add", "--cores", "1021", "--device-memory", "64M", code=2, **many)
    assert "BAD_ARGUMENT: " in said and "at most 1020" in said


def test_a_gpu_of_a_single_multiprocessor_has_no_room(gpu):
    said = gpu("vector_add", *SMALL, "--schedulers", "3", code=2, TASKGLASS_FAKE_CUDA_MULTIPROCESSORS="1")
    assert "BAD_ARGUMENT: " in said and "has room for 0 with 3 schedulers" in said


def test_a_gpu_with_little_memory_says_what_to_lower(gpu):
    said = gpu("vector_add", "--cores", "3", "--device-memory", "64M", code=2,
               TASKGLASS_FAKE_CUDA_MEMORY=str(32 << 20))
    assert "NO_MEMORY: " in said and said.endswith("lower --device-memory")
    gpu("vector_add", "--cores", "3", "--device-memory", "16M", code=0,
        TASKGLASS_FAKE_CUDA_MEMORY=str(32 << 20))


def test_a_driver_without_a_gpu_says_what_it_was_shown(gpu):
    said = gpu("vector_add", *SMALL, code=2, TASKGLASS_FAKE_CUDA_FAIL="cuInit:100", CUDA_VISIBLE_DEVICES="7")
    assert "UNSUPPORTED: " in said and "CUDA_VISIBLE_DEVICES is 7" in said


def test_a_driver_that_is_none_is_named(gpu):
    said = gpu("vector_add", *SMALL, code=2, TASKGLASS_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert "UNSUPPORTED: " in said and "/nowhere/libcuda.so.1" in said


# ── images ───────────────────────────────────────────────────────────────────────────────────────


def damaged(how, whole):
    return {"empty": b"", "head": whole[:64], "half": whole[:len(whole) // 2],
            "tail": whole[:-1], "text": b"this is not an image, but it is long enough " * 4}[how]


@pytest.mark.parametrize("how", ["empty", "head", "half", "tail", "text"])
def test_an_image_that_is_damaged_is_named_with_what_to_do(gpu, how):
    module = gpu.tg.directory / "mine.so"
    shutil.copy(WORKLOADS / "vector_add.so", module)
    module.with_suffix(".cubin").write_bytes(
        damaged(how, (WORKLOADS / "vector_add.cubin").read_bytes()))
    said = gpu("./mine.so", *SMALL, code=2)
    assert "mine.cubin" in said and "build it again" in said
    assert re.match("taskglass: (IO_ERROR|UNSUPPORTED): ", said)


# ── images for several GPUs in one file ──────────────────────────────────────────────────────────


def archive(members):
    """As `ar qcSD` makes it of a dict of names and bytes."""
    made = b"!<arch>\n"
    for name, content in members.items():
        made += f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{'644':<8}{len(content):<10}`\n".encode()
        made += content + b"\n" * (len(content) % 2)
    return made


def ptx(capability, **lists):
    """What the fake driver needs of PTX: names that the real one would find in the linked image."""
    text = f".version 9.0\n.target sm_{capability}\n.address_size 64\n"
    for name, words in lists.items():
        content = "".join(word + "\0" for word in words) + "\0"
        text += (f".visible .global .align 1 .b8 tg_cuda_{name}_names[{len(content)}] = "
                 f"{{{', '.join(str(ord(one)) for one in content)}}};\n")
    return text.encode()


def ptx_of_vector_add(capability):
    return {f"ptx_{capability}.0": ptx(capability, kernel=("vector_add_tile",)),
            f"ptx_{capability}.1": ptx(capability, orchestration=("vector_add",))}


@pytest.fixture
def several(gpu):
    """several(members, capability): a run of vector_add with such an image file; its result."""
    def run(members, capability):
        module = gpu.tg.directory / "mine.so"
        shutil.copy(WORKLOADS / "vector_add.so", module)
        module.with_suffix(".cubin").write_bytes(members if isinstance(members, bytes) else archive(members))
        return gpu.tg("run", "./mine.so", "--platform", "cuda", "--timeout", "600", *SMALL,
                      env={"TASKGLASS_CUDA_DRIVER": str(DRIVER), "CUDA_VISIBLE_DEVICES": "0",
                           "TASKGLASS_FAKE_CUDA_CAPABILITY": str(capability)})
    return run


GOOD, BAD = WORKLOADS / "vector_add.cubin", b"not an image"


@pytest.mark.parametrize("good,capability", [
    ("sm_80.cubin", 80), ("sm_80.cubin", 86), ("sm_80.cubin", 89), ("sm_90.cubin", 90), ("sm_120.cubin", 120),
    ("sm_120.cubin", 121), ("sm_100a.cubin", 100)])
def test_the_image_that_fits_the_gpu_is_loaded(several, good, capability):
    """All others are damaged."""
    names = ("sm_100a.cubin", "sm_120.cubin", "sm_80.cubin", "sm_90.cubin", "README", "sm_0.cubin")
    members = {name: GOOD.read_bytes() if name == good else BAD for name in names}
    result = several(members, capability)
    assert (result.returncode, result.stderr) == (0, "")
    members[good] = BAD
    assert several(members, capability).returncode == 2


def test_of_images_that_fit_the_newest_is_loaded(several):
    assert several({"sm_86.cubin": GOOD.read_bytes(), "sm_80.cubin": BAD, **ptx_of_vector_add(80)}, 89).stderr == ""


@pytest.mark.parametrize("capability", [120, 121, 150])
def test_ptx_is_linked_for_a_gpu_newer_than_every_image(several, capability):
    members = {"sm_80.cubin": BAD, "sm_90.cubin": BAD, "ptx_80.0": BAD, **ptx_of_vector_add(120)}
    result = several(members, capability)
    assert result.returncode == 0
    assert len(result.stderr.splitlines()) == 1 and result.stderr.startswith("taskglass: warning: ")
    assert "the driver compiled its PTX for 12.0" in result.stderr
    assert "a guess: 8192 bytes, 32768 for orchestrations" in result.stderr


@pytest.mark.parametrize("capability", [90, 101, 150])
def test_a_file_without_an_image_for_the_gpu_says_what_it_has_and_what_to_type(several, capability):
    result = several({"sm_80.cubin": BAD, "sm_100a.cubin": BAD, "sm_120.cubin": BAD, "ptx_160.0": BAD,
                      "ptx_160.1": BAD}, capability)
    assert result.returncode == 2 and ": UNSUPPORTED: " in result.stderr
    assert "mine.cubin has code for compute capability 8.0, 10.0a, 12.0, PTX for 16.0, but" in result.stderr
    assert f"has {capability // 10}.{capability % 10}; configure with {capability} in " in result.stderr
    assert "-DTASKGLASS_CUDA_ARCHITECTURES" in result.stderr


def test_ptx_that_the_driver_refuses_is_named(several):
    result = several({"ptx_80.0": b"not PTX"}, 90)
    assert result.returncode == 2 and "mine.cubin" in result.stderr and "UNSUPPORTED: " in result.stderr


def test_only_an_image_is_given_to_the_driver_as_one(several):
    """The driver takes other bytes for PTX, whose end it looks for."""
    for member in (BAD, ptx(90, kernel=("vector_add_tile",), orchestration=("vector_add",)), b"\x7fEL"):
        result = several({"sm_90.cubin": member}, 90)
        assert result.returncode == 2
        assert "IO_ERROR: " in result.stderr and "mine.cubin is cut short or damaged; build it again" in result.stderr


@pytest.mark.parametrize("cut", [8, 9, 40, 68, 100, -1])
def test_an_archive_that_is_cut_is_named(several, cut):
    result = several(archive({"sm_90.cubin": GOOD.read_bytes()})[:cut], 90)
    assert result.returncode == 2 and "mine.cubin is cut short or damaged; build it again" in result.stderr


def test_a_missing_image_is_named_with_what_makes_it(gpu):
    shutil.copy(WORKLOADS / "vector_add.so", gpu.tg.directory / "mine.so")
    said = gpu("./mine.so", *SMALL, code=2)
    assert "NOT_FOUND: " in said and "mine.cubin" in said and "taskglass_add_workload" in said


@pytest.mark.parametrize("error,status,fix", [
    (200, "UNSUPPORTED", "update the driver"), (222, "UNSUPPORTED", "update the driver"),
    (209, "UNSUPPORTED", "-DTASKGLASS_CUDA_ARCHITECTURES=90"), (2, "NO_MEMORY", "--device-memory")])
def test_an_image_that_the_driver_refuses_is_named_with_what_to_do(gpu, error, status, fix):
    said = gpu("vector_add", *SMALL, code=2, TASKGLASS_FAKE_CUDA_FAIL=f"cuModuleLoad:{error}")
    assert f": {status}: " in said and "vector_add.cubin" in said and fix in said


def test_an_image_that_cannot_be_read_is_named(gpu):
    if os.geteuid() == 0:
        pytest.skip("root can read every file")
    shutil.copy(WORKLOADS / "vector_add.so", gpu.tg.directory / "mine.so")
    image = gpu.tg.directory / "mine.cubin"
    shutil.copy(WORKLOADS / "vector_add.cubin", image)
    image.chmod(0)
    assert "mine.cubin" in gpu("./mine.so", *SMALL, code=2)


FAILED_LOADS = """
import sys, taskglass
bad, good = sys.argv[1:]
with taskglass.Device("cuda", cores=3, memory="64M") as device:
    for _ in range(3):
        try:
            device.load(bad)
        except taskglass.Error as error:
            assert "unused" in str(error), error
        else:
            sys.exit("the image has no such kernel")
    device.load(good)
"""


def test_a_load_that_fails_leaves_nothing_on_the_gpu(gpu):
    broken = BUILD / "tests" / "workloads" / "broken"
    environment = {**os.environ, "TASKGLASS_CUDA_DRIVER": str(DRIVER), "TASKGLASS_FAKE_CUDA_MODULES": "1",
                   "PYTHONPATH": str(ROOT / "bindings" / "python"),
                   "TASKGLASS_LIBRARY": str(BUILD / "lib" / "libtaskglass.so")}
    done = subprocess.run([sys.executable, "-c", FAILED_LOADS, broken / "kernel_on_the_host.so",
                           broken / "sound.so"], env=environment, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


RECORDED_RUNS = """
import sys, taskglass
with taskglass.Device("cuda", cores=3, memory="64M") as device:
    x, y = device.empty(1024), device.empty(1024)
    with device.load("vector_add").graph() as graph:
        graph.add("vector_add_tile", x, x, y)
        for number in range(5):
            graph.run(record="full", output_dir=f"{sys.argv[1]}/{number}")
"""


def test_the_memory_of_a_recording_is_registered_once(tmp_path):
    """The driver registers memory as the device opens and for the first recorded run, and then no more."""
    environment = {**os.environ, "TASKGLASS_CUDA_DRIVER": str(DRIVER), "PYTHONPATH": str(ROOT / "bindings" / "python"),
                   "TASKGLASS_FAKE_CUDA_FAIL": f"cuMemHostRegister_v2:{NO_MEMORY}:3",
                   "TASKGLASS_LIBRARY": str(BUILD / "lib" / "libtaskglass.so")}
    done = subprocess.run([sys.executable, "-c", RECORDED_RUNS, tmp_path], env=environment, stderr=subprocess.PIPE,
                          text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(tmp_path.glob("*/tensor_dump/tensor_dump.json"))) == 5
