# SPDX-License-Identifier: Apache-2.0
"""Graphs built and run from Python."""

import math
import os
import pathlib
import shutil
import subprocess
import threading
import time
import warnings

import numpy
import pytest
import taskglass
import wire_reader
from recordings import TYPES
from taskglass import In, InOut, Out, Scalar

from conftest import BUILD, GPU, PLATFORMS, ROOT, assert_gone, test_workload
from platforms import few


@pytest.fixture(params=PLATFORMS)
def device(request):
    with taskglass.Device(request.param, cores=3, memory="256M") as opened:
        yield opened


@pytest.fixture
def add(device):
    """A graph of vector_add, which adds float32."""
    with device.load("vector_add").graph() as graph:
        yield graph


def ones(device, n=100):
    return device.array(numpy.ones(n, "f4"))


# --- building and running -----------------------------------------------------------------------

def test_a_chain_adds_up(device, add):
    x, y = ones(device), device.zeros(100)
    last = ()
    for _ in range(20):
        last = add.add("vector_add_tile", x, y, y, after=last)
    result = add.run()
    assert (y.numpy() == 20).all()
    assert (result.status, result.tasks, result.edges, result.finished) == ("OK", 20, 19, 20)
    assert repr(add) == "<Graph of vector_add: 20 tasks, 19 edges>" and last == 19


def test_a_graph_runs_again(device, add):
    x, y = ones(device), device.zeros(100)
    add.add("vector_add_tile", x, y, y)
    for count in range(1, 4):
        add.run()
        assert (y.numpy() == count).all()


def test_a_schedule_says_in_which_order_tasks_start():
    with taskglass.Device(PLATFORMS[0], cores=1, memory="256M") as device, \
            device.load("vector_add").graph() as graph:
        x = ones(device)
        for _ in range(4):
            graph.add("vector_add_tile", x, x, device.zeros(100))
        assert graph.run().schedule is None
        schedule = graph.run(schedule="lifo", keep_starts=3).schedule
        assert (schedule.serial, schedule.choices, schedule.starts) == (True, 4, (3, 2, 1))
        schedule = graph.run(schedule="order:2-0,9-1", keep_starts=4).schedule
        assert (schedule.starts, schedule.pairs, schedule.unknown) == ((2, 0, 3, 1), 2, 1)
        with pytest.raises(taskglass.BadArgument, match="schedule: 'first' is not fifo"):
            graph.run(schedule="first")


def test_a_graph_can_be_cleared(device, add):
    x, y = ones(device), device.zeros(100)
    add.add("vector_add_tile", x, y, y)
    add.clear()
    assert add.tasks == 0
    add.run()
    assert (y.numpy() == 0).all()


def test_a_graph_can_be_reset_and_built_again(device, add):
    x, y = ones(device), device.zeros(100)
    for count in range(1, 4):
        add.reset()
        assert add.tasks == add.edges == 0
        y.copy_from(numpy.zeros(100, "float32"))
        last = []
        for _ in range(count):
            last = [add.add("vector_add_tile", x, y, y, after=last)]
        add.run()
        assert (y.numpy() == count).all()


def test_roles_can_be_said(device, add):
    x, y = ones(device), device.empty(100)
    add.add("vector_add_tile", In(x), In(x), Out(y))
    add.run()
    assert (y.numpy() == 2).all()


def test_views_are_arguments(device, add):
    x, y = device.array(numpy.arange(100, dtype="f4")), device.zeros((4, 100))
    add.add("vector_add_tile", x[10:20], x[20:30], y[2, 50:60])
    add.run()
    want = numpy.zeros((4, 100))
    want[2, 50:60] = numpy.arange(10, 20) + numpy.arange(20, 30)
    assert (y.numpy() == want).all()


def test_many_edges_are_kept(device, add):
    x, y = ones(device), device.zeros(100)
    first = [add.add("vector_add_tile", x, x, device.empty(100)) for _ in range(50)]
    add.add("vector_add_tile", x, y, y, after=first)
    add.edge(0, 49)
    assert add.edges == 51
    add.check()
    add.run()


def test_arrays_live_as_long_as_the_graph_that_uses_them(device, add):
    y = device.zeros(100)
    add.add("vector_add_tile", ones(device), ones(device), y)
    stray = [device.array(numpy.full(100, -1, "f4")) for _ in range(8)]
    add.run()
    assert (y.numpy() == 2).all() and stray


def test_scalars_get_the_type_of_the_signature(device):
    with device.load("mix").graph() as graph:
        x, y = ones(device, 16), device.empty(16)
        graph.add("mix_scale", x, y, 3)
        graph.run()
    assert (y.numpy() == 3).all()


def test_scalars_of_every_type_arrive(device):
    kernel = device.load("dtypes").kernels["dtypes_scalars"]
    types = [word.partition(":")[2] for word in kernel.signature.split() if "scalar" in word]
    with device.load("dtypes").graph() as graph:
        raw, values = device.zeros(16, "uint64"), device.zeros(16, "float64")
        graph.add("dtypes_scalars", raw, values, *(True if name == "bool" else 2 for name in types))
        graph.run()
    assert values.numpy()[:len(types)].tolist() == [1 if name == "bool" else 2 for name in types]


@pytest.mark.parametrize("dtype", few(TYPES, 4))
def test_every_type_goes_through_a_kernel(device, dtype):
    values = numpy.float32([0, 1, 2, 4, 1, 1, 2] if dtype != "float8_e8m0fnu" else [1, 2, 4, 8])
    values = values != 0 if dtype == "bool" else values
    with device.load("dtypes").graph() as graph:
        x, y = device.array(values, dtype), device.zeros(values.shape, "float64")
        graph.add("dtypes_cast", x, y)
        graph.run()
    assert (y.numpy() == values).all()


def test_a_mix_runs_its_kernels_together(device):
    host = numpy.arange(256, dtype="f4").reshape(16, 16)
    with device.load("mix").graph() as graph:
        x, up, down = device.array(host), device.zeros((16, 16)), device.zeros((16, 16))
        graph.add_mix(x, up, down, aiv0="mix_row_shift", aiv1="mix_row_shift")
        assert graph.run().finished == 1
    assert up.numpy().any() or down.numpy().any()


@pytest.mark.parametrize("runtime", ["host_build_graph", "aicpu_build_graph",
                                     "tensormap_and_ringbuffer"])
def test_an_orchestration_makes_the_graph(device, runtime):
    module = device.load("vector_add")
    a, b = numpy.arange(1000, dtype="f4"), numpy.ones(1000, "f4")
    c = device.zeros(1000)
    with module.orchestrate(In(device.array(a)), In(device.array(b)), Out(c), numpy.int64(64),
                            runtime=runtime, task_window=32) as graph:
        result = graph.run(record="full", output_dir="out")
    assert (c.numpy() == a + b).all() and result.finished == 16
    with result.recording() as recording:
        given = [record.role for record in recording.select(stage="orchestration")]
        assert given == ["input", "input", "output", "input"]


def test_a_ring_that_is_too_small_is_a_deadlock(device):
    x = ones(device, 1000)
    with device.load("vector_add").orchestrate(
            In(x), In(x), Out(device.zeros(1000)), numpy.int64(10), task_window=4,
            runtime="tensormap_and_ringbuffer") as graph:
        with pytest.raises(taskglass.Deadlock, match="--ring-task-window") as caught:
            graph.run()
    assert caught.value.status == "SCOPE_DEADLOCK" and caught.value.exit_code == 3


# --- recording ----------------------------------------------------------------------------------

def test_a_recorded_run_can_be_read(device, add):
    x, y = ones(device), device.zeros(100)
    add.add("vector_add_tile", x, x, y)
    result = add.run(record=True, output_dir="made/here")
    assert pathlib.Path("made/here").stat().st_mode & 0o777 == 0o700
    assert pathlib.Path("made/here/tensor_dump").stat().st_mode & 0o777 == 0o700
    add.run(record=True, output_dir="made/there", shared=True)
    assert pathlib.Path("made/there").stat().st_mode == pathlib.Path("made").stat().st_mode
    assert pathlib.Path("made/there/tensor_dump").stat().st_mode == pathlib.Path("made").stat().st_mode
    assert result.recorded == 3 and not any(result.lost.values())
    assert wire_reader.problems(wire_reader.Recording("made/here/tensor_dump")) == []
    with result.recording() as recording:
        assert [record.array().sum() for record in recording] == [100, 100, 200]


def test_what_is_marked_is_recorded(device, add):
    x, y = ones(device), device.zeros(100)
    add.add("vector_add_tile", In(x), In(x, mark=True), Out(y))
    add.add("vector_add_tile", x, x, device.empty(100), mark=True)
    result = add.run(record="marked", output_dir="out", policy="block", arena=1 << 20)
    with result.recording() as recording:
        assert sorted((record.task_id, record.arg) for record in recording) == [
            (0, 1), (1, 0), (1, 1), (1, 2)]


@pytest.mark.parametrize("level", ["marked", "hybrid"])
def test_single_scalars_are_marked(device, level):
    values = [1.5, 2.5, 0.5, 1.0, 2.0, 4.0, 1.0, 7, 6, 5, 4, 3, 2, 1, 9, True]
    marked = {0, 3, 8, 15}
    with device.load("dtypes").graph() as graph:
        outputs = [device.zeros(16, "uint64"), device.zeros(16, "float64")]
        graph.add("dtypes_scalars", *outputs, *(Scalar(value, mark=number in marked)
                                                for number, value in enumerate(values)))
        graph.add("dtypes_scalars", *outputs, *values, after=0)
        result = graph.run(record=level, output_dir="out")
    with result.recording() as recording:
        found = {(record.task_id, record.arg - 2): record.value for record in recording if record.marked}
        assert found == {(0, number): values[number] for number in marked}
        assert (len(recording) == len(marked)) == (level == "marked")


def test_a_scalar_has_the_type_that_is_said(device):
    with device.load("mix").graph() as graph:
        x, y = ones(device, 16), device.empty(16)
        graph.add("mix_scale", x, y, Scalar(3, "float32"))
        with pytest.raises(taskglass.BadArgument, match="float64"):
            graph.add("mix_scale", x, y, Scalar(3, "float64"))
        graph.run()
    assert (y.numpy() == 3).all()
    assert repr(Scalar(3, "float32")) == "Scalar(3, float32)"
    for bad in ("text", None, [1]):
        with pytest.raises(taskglass.BadType):
            Scalar(bad)
    with pytest.raises(taskglass.BadArgument, match="int4"):
        Scalar(1, "int4")


@pytest.mark.needs_no_gpu
@pytest.mark.parametrize("value, dtype", [
    (300, "uint8"), (-1, "uint32"), (2**32, "int32"), (1.5, "int32"), (math.nan, "int32"), (math.inf, "int64"),
    (1e30, "int32"), (numpy.int64(300), "uint8"), (numpy.uint64(2**63), "int64"), (numpy.array(-1), "uint64")])
def test_a_whole_number_is_not_cut_to_fit_its_type(add, value, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(taskglass.BadArgument, match=f"is no {dtype}"):
            add.add("vector_add_tile", Scalar(value, dtype))


def test_numbers_that_an_integer_type_has_are_taken(device):
    ends = {"uint64": 2**64 - 1, "int32": -2.0**31, "uint8": numpy.int64(255), "int8": numpy.array(-128)}
    module, bits = device.load("dtypes"), device.zeros(16, "uint64")
    types = [word.partition(":")[2] for word in module.kernels["dtypes_scalars"].signature.split()
             if word.startswith("scalar")]
    with module.graph() as graph:
        graph.add("dtypes_scalars", bits, device.zeros(16, "float64"),
                  *(Scalar(ends.get(name, 1), name) for name in types))
        graph.run()
    taken = dict(zip(types, bits.numpy()))
    assert {name: taken[name] for name in ends} == {
        "uint64": 2**64 - 1, "int32": 2**31, "uint8": 255, "int8": 128}


@pytest.mark.parametrize("bad", [numpy.str_("5"), numpy.bytes_(b"5"), numpy.timedelta64(3, "s"), numpy.void(b"abcd")])
def test_what_numpy_has_beside_numbers_is_no_scalar(bad):
    with pytest.raises(taskglass.BadType, match="a device array or a number"):
        Scalar(bad, "int32")


def test_a_filter_selects_what_is_recorded(device, add):
    for _ in range(4):
        add.add("vector_add_tile", ones(device), ones(device), device.empty(100))
    result = add.run(record="meta", output_dir="out", filter="task=1-2,role=out")
    assert {record.task_id for record in result.recording()} == {1, 2}


@pytest.mark.needs_no_gpu
def test_a_run_that_was_not_recorded_has_no_recording(add):
    with pytest.raises(taskglass.NotFound, match="nothing was recorded"):
        add.run().recording()


@pytest.mark.needs_no_gpu
@pytest.mark.parametrize("options, why", [
    ({"record": "loud", "output_dir": "out"}, "record is one of"),
    ({"record": "full"}, "go together"), ({"output_dir": "out"}, "go together"),
    ({"record": "full", "output_dir": "out", "policy": "hope"}, "policy one of"),
    ({"record": "full", "output_dir": "out", "filter": "colour=red"}, "colour")])
def test_options_that_make_no_sense_are_refused(device, add, options, why):
    add.add("vector_add_tile", ones(device), ones(device), device.empty(100))
    with pytest.raises(taskglass.BadArgument, match=why):
        add.run(**options)


# --- what is refused ----------------------------------------------------------------------------

@pytest.mark.needs_no_gpu
def test_a_kernel_that_is_none_is_refused(device, add):
    with pytest.raises(taskglass.NotFound, match="no kernel 'subtract'; it has vector_add_tile"):
        add.add("subtract")


@pytest.mark.needs_no_gpu
def test_arguments_that_make_no_sense_are_refused(device, add):
    x = ones(device)
    for arguments, why in (
            ((), "vector_add_tile"), ((x, x), "vector_add_tile"), ((x, x, x, x), "takes 3 tensors"),
            ((In(x), In(x), In(x)), "vector_add_tile"), ((x, x, "x"), "not 'x'"),
            ((x, x, device.empty(100, "int32")), "float32"), ((x, x, numpy.zeros(3)), "number"),
            ((x, x, x, *[1] * 17), "16 scalars"), ((x, x, x, 2**70), "is no int64")):
        with pytest.raises(taskglass.BadArgument, match=why):
            add.add("vector_add_tile", *arguments)
    assert add.tasks == 0
    with pytest.raises(taskglass.BadArgument, match="takes a device array"):
        In(numpy.zeros(3))


@pytest.mark.needs_no_gpu
def test_edges_that_make_no_sense_are_refused(device, add):
    x = ones(device)
    task = add.add("vector_add_tile", x, x, device.empty(100))
    with pytest.raises(taskglass.BadArgument):
        add.add("vector_add_tile", x, x, device.empty(100), after=7)
    for before, after in ((task, task), (5, task), (task, 5)):
        with pytest.raises(taskglass.BadArgument):
            add.edge(before, after)


@pytest.mark.needs_no_gpu
def test_a_cycle_is_found(device, add):
    x = ones(device)
    a, b = (add.add("vector_add_tile", x, x, device.empty(100)) for _ in range(2))
    add.edge(a, b)
    add.edge(b, a)
    for use in (add.check, add.run):
        with pytest.raises(taskglass.Cycle):
            use()


@pytest.mark.needs_no_gpu
def test_arrays_of_another_device_are_refused(device, add):
    with taskglass.Device("a5sim", cores=1) as other:
        x = ones(other)
        with pytest.raises(taskglass.BadArgument, match="another device"):
            add.add("vector_add_tile", x, x, x)


@pytest.mark.needs_no_gpu
def test_a_runtime_that_is_none_is_refused(device):
    module = device.load("vector_add")
    with pytest.raises(taskglass.NotFound, match="no runtime 'magic'"):
        module.orchestrate(runtime="magic")
    with pytest.raises(taskglass.BadArgument, match="rings have no 'colour'"):
        module.orchestrate(runtime="aicpu_build_graph", colour=3)
    with pytest.raises(taskglass.BadArgument, match="one number or four"):
        module.orchestrate(runtime="aicpu_build_graph", heap=[1, 2])


def test_what_is_closed_says_so(device, add):
    add.close()
    add.close()
    with pytest.raises(taskglass.BadArgument, match="the graph is closed"):
        add.run()
    assert repr(add) == "<Graph, closed>"
    module = device.load("vector_add")
    graph = module.graph()
    device.close()  # closes the graph with it
    for use in (graph.run, module.graph):
        with pytest.raises(taskglass.BadArgument, match="is closed"):
            use()


# --- what goes wrong ----------------------------------------------------------------------------

@pytest.fixture
def slow(device):
    """A run of 100000 tasks of 5 ms in a chain."""
    with device.load(test_workload("slow")).graph() as graph:
        count = device.zeros(1, "int32")
        last = ()
        for _ in range(2000):
            last = graph.add("slow_wait", InOut(count), 5_000_000, after=last)
        yield graph


def test_a_run_can_be_waited_for_in_pieces(slow):
    with slow.start() as run:
        with pytest.raises(taskglass.TimedOut):
            run.wait(0.05)
        while run.progress[0] == 0:
            time.sleep(0.001)
        assert run.result().status == "TIMED_OUT" and run.progress[1] == 2000
        assert "of 2000 tasks" in repr(run)
        run.cancel()
        with pytest.raises(taskglass.Cancelled) as caught:
            run.wait()
    assert 0 < caught.value.execution.finished < 2000 and repr(run) == "<Run, closed>"


def test_leaving_a_run_cancels_it(slow, device):
    with slow.start():
        pass
    assert not device.info.lost
    with slow.start() as again:
        assert again.progress[1] == 2000


def test_a_run_can_be_cancelled_from_another_thread(slow):
    with slow.start() as run:
        threading.Timer(0.1, run.cancel).start()
        with pytest.raises(taskglass.Cancelled):
            run.wait()


def test_one_run_at_a_time(slow):
    with slow.start():
        with pytest.raises(taskglass.Busy):
            slow.start()


def test_a_kernel_that_crashes_is_named(device):
    with device.load(test_workload("faults")).graph() as graph:
        graph.add("fault_null", device.zeros(1, "int32"))
        with pytest.raises(taskglass.KernelFault, match="fault_null") as caught:
            graph.run(record="full", output_dir="out")
    running = caught.value.execution.running
    assert [(task.id, task.kernel, task.faulted) for task in running] == [(0, "fault_null", True)]
    if shutil.which("addr2line") and running[0].site:  # a GPU does not report the line
        assert running[0].site.file.endswith("workloads/faults/kernels.c") and running[0].site.line > 0
        assert running[0].called_at.function == "fault_null"
    assert len(taskglass.Recording("out")) == 1 and device.info.lost


def test_a_kernel_that_never_returns_is_a_hang(device_program):
    with taskglass.Device(cores=1, program=device_program) as device:
        with device.load(test_workload("faults")).graph() as graph:
            graph.add("fault_spin", device.zeros(1, "int32"))
            with pytest.raises(taskglass.Hang):
                graph.run(timeout=0.2)
    assert_gone(device_program)


def test_a_device_that_is_closed_during_a_run_ends_it(device_program):
    device = taskglass.Device(cores=1, program=device_program)
    graph = device.load(test_workload("faults")).graph()
    graph.add("fault_spin", device.zeros(1, "int32"))
    run = graph.start(timeout=0.2)
    device.close()
    assert run.closed and graph.closed
    assert_gone(device_program)


def test_the_order_of_closing_does_not_matter(device_program):
    device = taskglass.Device(cores=1, program=device_program)
    graph = device.load("vector_add").graph()
    x = device.zeros(4)
    graph.add("vector_add_tile", x, x, device.empty(4))
    run = graph.start()
    del device
    run.wait()
    graph.close()
    assert run.closed
    del graph, run, x
    assert_gone(device_program)
    assert not pathlib.Path("outputs").exists()


@pytest.fixture
def chain_of_two(device, add):
    x, y = ones(device), device.zeros(100)
    add.add("vector_add_tile", x, y, y, after=add.add("vector_add_tile", x, y, y))
    return add


def test_a_run_takes_scope_stats_a_trace_and_a_transport(chain_of_two, tmp_path):
    graph = chain_of_two
    result = graph.run(record="full", output_dir=tmp_path / "out", scope_stats=True, live=False,
                       trace=tmp_path / "run.json", transport="copied")
    assert result.scopes.no_rings and result.scopes.status == "OK"
    assert taskglass.scope(tmp_path / "out").no_rings
    assert (result.trace.tasks, result.trace.lost, result.trace.status) == (2, 0, "OK")
    assert result.trace.path == tmp_path / "run.json" and result.trace.bytes > 0
    assert result.trace.bytes == result.trace.path.stat().st_size
    alone = graph.run(scope_stats=tmp_path / "stats")
    assert alone.trace is None and alone.output_dir is None
    assert taskglass.scope(tmp_path / "stats").samples == alone.scopes.samples == 0


@pytest.mark.needs_no_gpu
def test_what_is_no_transport_and_no_folder_is_refused(chain_of_two, tmp_path):
    with pytest.raises(taskglass.BadArgument, match="dump-transport: 'odd' is not one of: auto mapped copied"):
        chain_of_two.run(record="full", output_dir=tmp_path / "out", transport="odd")
    with pytest.raises(taskglass.BadArgument, match="go together"):
        chain_of_two.run(scope_stats=True)
    with pytest.raises(taskglass.IoError):
        chain_of_two.run(trace=tmp_path / "nowhere" / "run.json")


# --- modules without kernels ----------------------------------------------------------------------

WITHOUT_KERNELS = """
#include <taskglass/workload.h>
#include <taskglass/orchestration.h>
TG_ORCHESTRATION(NAME)
{
    (void)args;
    tg_fail(rt, TEXT);
}
static void prepare(struct tg_case *c)
{
    (void)c;
}
static const struct tg_case_def cases[] = {{"only", "no task", ""}};
TG_WORKLOAD = {TG_WORKLOAD_HEAD, .name = TEXT, .summary = "no task", .cases = cases, .n_cases = 1,
               .orchestrate = NAME, .orchestrate_site = TG_SITE, .prepare = prepare, .golden = prepare};
"""


@pytest.mark.skipif(GPU, reason="the modules have no code for a GPU")
@pytest.mark.parametrize("runtime", ["aicpu_build_graph", "tensormap_and_ringbuffer"])
def test_a_module_without_kernels_runs_its_own_orchestration(tmp_path, device, runtime):
    compiler = shutil.which("cc") or pytest.skip("no C compiler here")
    include = next(each for each in (ROOT / "include", BUILD / "include") if each.exists())
    (tmp_path / "none.c").write_text(WITHOUT_KERNELS)
    modules = {}
    for name in ("first", "second"):
        subprocess.run([compiler, "-shared", "-fPIC", f"-DNAME={name}", f'-DTEXT="{name}"', "-I", include, "-o",
                        tmp_path / f"{name}.so", tmp_path / "none.c"], check=True,
                       env={**os.environ, "LD_PRELOAD": ""})
        modules[name] = device.load(tmp_path / f"{name}.so")
    for name, module in modules.items():
        with module.orchestrate(runtime=runtime, heap=1 << 16, task_window=16) as graph:
            with pytest.raises(taskglass.BadArgument, match=name):
                graph.run()
