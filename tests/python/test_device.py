# SPDX-License-Identifier: Apache-2.0
"""Devices and their memory."""

import gc
import os
import pathlib
import threading

import numpy
import pytest
import taskglass
import wire_reader
from recordings import PACKED, TYPES, random_bits

from conftest import GPU, PLATFORMS, assert_gone, processes_of, python
from platforms import few


@pytest.fixture(params=PLATFORMS)
def device(request):
    with taskglass.Device(request.param, cores=3, memory="64M") as opened:
        yield opened


# --- devices ------------------------------------------------------------------------------------

def test_a_device_says_what_it_is(device):
    info = device.info
    assert info.platform in repr(device) and (info.cores, info.memory) == (3, 64 << 20)
    assert info.pid > 0 and not info.lost
    assert info.host_sees_memory == (info.platform == "a2a3sim")


def test_a_device_says_what_keeps_its_process_from_harm():
    with taskglass.Device(cores=3) as device:
        assert device.info.no_new_privs
    with taskglass.Device(cores=3, config=taskglass.Config(sandbox="off")) as device:
        info = device.info
        assert (info.no_new_privs, info.seccomp, info.landlock) == (False, False, 0)


def test_memory_has_the_pattern_where_the_config_asks_for_it():
    with taskglass.Device(config=taskglass.Config(poison=True)) as device:
        assert (device.empty(6, "uint32").numpy() == 0x7FFB7FD3).all()
        assert numpy.isnan(device.empty(6, "float16").numpy()).all()
        assert device.array(numpy.float32([1, 2])).numpy().tolist() == [1, 2]


def test_a_device_goes_by_a_config_and_the_environment(monkeypatch):
    monkeypatch.setenv("TASKGLASS_CORES", "6")
    config = taskglass.Config(platform="a5sim", device_memory="32M")
    with taskglass.Device(config=config, schedulers=1) as device:
        info = device.info
    assert (info.platform, info.cores, info.schedulers, info.memory) == ("a5sim", 6, 1, 32 << 20)


@pytest.mark.needs_no_gpu
@pytest.mark.parametrize("arguments, kind", [
    ({"platform": "a9sim"}, taskglass.Error), ({"cores": 5000}, taskglass.BadArgument),
    ({"platform": "a5sim", "program": "/no/such/program"}, taskglass.Error),
    ({"memory": "x"}, taskglass.BadArgument)])
def test_a_device_that_cannot_be_is_refused(arguments, kind):
    with pytest.raises(kind):
        taskglass.Device(**arguments)


@pytest.mark.parametrize("end", ["with", "close", "forget", "exception", "cycle"])
def test_the_process_of_a_device_ends_with_it(device_program, end):
    if end == "with":
        with taskglass.Device(program=device_program, cores=1):
            assert processes_of(device_program)
    elif end == "exception":
        with pytest.raises(RuntimeError):
            with taskglass.Device(program=device_program, cores=1):
                raise RuntimeError
    else:
        device = taskglass.Device(program=device_program, cores=1)
        assert processes_of(device_program)
        if end == "close":
            device.close()
            device.close()
            assert device.closed and repr(device) == "<Device, closed>"
        if end == "cycle":
            device.myself = device
        del device
        gc.collect()
    assert_gone(device_program)


@pytest.mark.parametrize("end", ["", "import os; os.kill(os.getpid(), 9)", "raise SystemExit(3)",
                                 "import os; os._exit(0)", "1 / 0"])
def test_the_process_of_a_device_ends_with_the_interpreter(device_program, end):
    python(f"""
import numpy, taskglass
device = taskglass.Device(program={str(device_program)!r}, cores=1)
array = device.array(numpy.arange(10.0))
graph = device.load("vector_add").graph()
mapped = array.map()
{end}
""")
    assert_gone(device_program)


def test_a_fork_does_not_end_its_parents_device():
    with taskglass.Device(cores=1) as device:
        array = device.array([1.0, 2.0])
        child = os.fork()
        if child == 0:
            device.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert array.numpy().tolist() == [1, 2] and not device.info.lost


def test_opening_and_closing_leaves_nothing_open():
    def files():
        gc.collect()
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    def use():
        with taskglass.Device(PLATFORMS[-1], cores=1) as device:
            x = device.array(numpy.ones(100, "f4"))
            with device.load("vector_add").graph() as graph:
                graph.add("vector_add_tile", x, x, device.empty(100))
                graph.run()

    use()
    before = files()
    for _ in range(5):
        use()
    assert files() == before


def test_a_device_that_was_killed_is_lost(device):
    import signal
    import time
    array = device.array(numpy.arange(10))
    os.kill(device.info.pid, signal.SIGKILL)
    with pytest.raises(taskglass.DeviceLost):
        for _ in range(1000):
            with device.load("vector_add").graph() as graph:
                x = device.empty(4)
                graph.add("vector_add_tile", x, x, device.empty(4))
                graph.run()
            time.sleep(0.01)
    assert device.info.lost and "lost" in repr(device)
    if GPU:
        with pytest.raises(taskglass.DeviceLost):
            array.numpy()
    else:
        assert array.numpy().tolist() == list(range(10))  # its memory can still be read


# --- memory -------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", few(TYPES, 4))
def test_bits_of_every_type_go_there_and_back(device, dtype):
    bits = random_bits(dtype, (3, 5), seed=1)
    array = device.array(bits, dtype, bits=True)
    assert (array.dtype, array.shape) == (dtype, (3, 5))
    assert array.nbytes == (8 if dtype in PACKED else 15 * bits.itemsize)
    got = array.numpy()
    assert got.dtype == bits.dtype and got.tobytes() == bits.tobytes()
    codes = bits if not TYPES[dtype][1] else bits.view(f"u{bits.itemsize}")
    want = wire_reader.decode(dtype, codes)
    assert numpy.array_equal(array.numpy(decode=True), want.astype(array.numpy(
        decode=True).dtype), equal_nan=True)


@pytest.mark.needs_no_gpu
@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float4_e2m1fn", "int4", "float16"])
def test_numbers_are_rounded_to_the_type(device, dtype):
    array = device.array([0, 1, -2, 3], dtype)
    assert numpy.asarray(array).tolist() == [0, 1, -2, 3]


@pytest.mark.needs_no_gpu
def test_the_type_of_numpy_is_taken_where_none_is_named(device):
    for values in (numpy.int16([1, 2]), [1.5], 3, True, numpy.zeros((2, 0, 3), "u1")):
        array = device.array(values)
        assert array.dtype == numpy.asarray(values).dtype.name
        assert array.shape == numpy.shape(values)
        assert numpy.array_equal(array.numpy(), values)


def test_zeros_are_zero(device):
    for _ in range(2):
        array = device.zeros((100, 10), "int32")
        assert not array.numpy().any()
        array.copy_from(numpy.ones((100, 10)))
        del array


def test_memory_is_given_back(device):
    before = device.info.memory_used
    for _ in range(10):
        array = device.empty(40 << 20, "uint8")
        view = array[100:]
        assert device.info.memory_used > before
        del array
        assert device.info.memory_used > before
        view.free()
        view.free()
        del view
    assert device.info.memory_used == before


def test_more_memory_than_there_is_is_refused(device):
    with pytest.raises(taskglass.NoMemory, match="free"):
        device.empty(1 << 40, "float64")


@pytest.mark.needs_no_gpu
@pytest.mark.parametrize("shape", [-1, (2, -3), (1,) * 9])
def test_a_shape_that_makes_no_sense_is_refused(device, shape):
    with pytest.raises(taskglass.BadArgument, match="dimensions"):
        device.empty(shape)


@pytest.mark.needs_no_gpu
def test_values_of_another_shape_are_refused(device):
    with pytest.raises(taskglass.BadArgument, match=r"shape \(3,\) for an array of \(4,\)"):
        device.empty(4).copy_from([1, 2, 3])


def test_an_array_of_a_closed_device_says_so(device):
    array = device.empty(4)
    device.close()
    with pytest.raises(taskglass.BadArgument, match="the device is closed"):
        array.numpy()


def test_arrays_let_go_by_other_threads_do_no_harm(device):
    arrays = [device.array(numpy.full(100, i)) for i in range(400)]
    parts = [arrays[i::4] for i in range(4)]
    del arrays
    kept = device.array(numpy.arange(100))

    def let_go(part):
        while part:
            part.pop()

    threads = [threading.Thread(target=let_go, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for _ in range(200):
        assert (kept.numpy() == numpy.arange(100)).all()
    for thread in threads:
        thread.join()


# --- views --------------------------------------------------------------------------------------

HOST = numpy.arange(4 * 6 * 5, dtype="i4").reshape(4, 6, 5)
VIEWS = [
    lambda a: a[1], lambda a: a[-1, 2], lambda a: a[1:3], lambda a: a[::2, 1::2], lambda a: a[::-1],
    lambda a: a[..., 0], lambda a: a[1, ..., ::-2], lambda a: a[:, 5:1:-2], lambda a: a.T,
    lambda a: a[1:].transpose(1, 0, 2), lambda a: a.transpose(2, 0, 1)[1:, ::-1],
    lambda a: a.reshape(24, 5), lambda a: a.reshape((-1, 10)), lambda a: a[2].reshape(30),
    lambda a: a[0:0], lambda a: a[3, 5, 4], lambda a: a[1:2, 3][0], lambda a: a[2:, :0]]
VIEWS = few(VIEWS, 3)


@pytest.mark.parametrize("view", VIEWS, ids=range(len(VIEWS)))
@pytest.mark.parametrize("dtype", ["int32", "int4"])
def test_views_are_those_of_numpy(device, dtype, view):
    host = HOST if dtype == "int32" else (HOST % 16).astype("u1")
    array = device.array(host, dtype, bits=True)
    got, want = view(array), view(host)
    assert got.shape == want.shape and numpy.array_equal(got.numpy(), want)


@pytest.mark.parametrize("view", VIEWS, ids=range(len(VIEWS)))
@pytest.mark.parametrize("dtype", ["int32", "int4"])
def test_writing_to_a_view_writes_what_it_shows(device, dtype, view):
    host = (HOST if dtype == "int32" else HOST % 16).astype("i4" if dtype == "int32" else "u1")
    array, copy = device.array(host, dtype, bits=True), host.copy()
    values = numpy.array(numpy.broadcast_to(7, view(host).shape)).astype(host.dtype)
    view(array).copy_from(values, bits=True)
    if view(copy).shape == ():  # NumPy returns a number, which cannot be written to
        copy[tuple(int(i) for i in numpy.argwhere(copy == view(copy))[0])] = 7
        if dtype == "int4":
            return
    else:
        view(copy)[...] = 7
    assert numpy.array_equal(array.numpy(), copy)


@pytest.mark.needs_no_gpu
@pytest.mark.parametrize("wrong, kind", [
    (lambda a: a[4], IndexError), (lambda a: a[0, 0, 0, 0], IndexError),
    (lambda a: a["x"], TypeError), (lambda a: a[[1, 2]], TypeError), (lambda a: a.transpose(0, 0, 1), ValueError),
    (lambda a: a.reshape(7), ValueError), (lambda a: a.T.reshape(120), ValueError),
    (lambda a: len(a[0, 0, 0]), TypeError)])
def test_a_view_that_makes_no_sense_is_refused(device, wrong, kind):
    with pytest.raises(kind):
        wrong(device.array(HOST))


# --- mapped memory ------------------------------------------------------------------------------

def test_mapped_memory_is_the_devices_own():
    with taskglass.Device("a2a3sim", cores=1) as device:
        array = device.array(HOST)
        mapped = array[1:3, ::-1].map()
        assert numpy.array_equal(mapped, HOST[1:3, ::-1])
        mapped[0, 0, 0] = -7
        assert array.numpy()[1, 5, 0] == -7


def test_a_device_stays_until_its_mapped_arrays_are_gone(device_program):
    with taskglass.Device("a2a3sim", cores=1, program=device_program) as device:
        mapped = device.array(HOST).map()
    assert device.closed and processes_of(device_program)
    assert numpy.array_equal(mapped, HOST)
    with pytest.raises(taskglass.BadArgument, match="closed"):
        device.empty(3)
    del mapped
    gc.collect()
    assert_gone(device_program)


def test_memory_that_the_host_does_not_see_cannot_be_mapped():
    with taskglass.Device("a5sim", cores=1) as device:
        with pytest.raises(taskglass.Unsupported, match="does not see the memory"):
            device.array(HOST).map()


@pytest.mark.needs_no_gpu
def test_elements_of_four_bits_cannot_be_mapped(device):
    with pytest.raises(taskglass.BadArgument, match="4 bits"):
        device.empty(4, "int4").map()


@pytest.mark.needs_no_gpu
def test_reprs_help(device):
    array = device.array(HOST)
    assert repr(array).startswith("<DeviceArray int32 (4, 6, 5) at 0x") and "view" in repr(array[1])
    assert pathlib.Path(device.load("vector_add").workload.path).name == "vector_add.so"
    assert repr(device.load("vector_add")) == "<Module vector_add: vector_add_tile>"
