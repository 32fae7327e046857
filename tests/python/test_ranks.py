# SPDX-License-Identifier: Apache-2.0
"""Devices of several ranks in one process, and the calls by which their graphs talk to each other."""

import threading

import numpy
import pytest
import taskglass
from taskglass import In, InOut, Out

from conftest import PLATFORMS, TIMEOUT, test_workload
from platforms import few

RANKS = test_workload("ranks")


class Job:
    """Ranks in this process: their devices, and a graph of each."""

    def __init__(self, ranks, platform=PLATFORMS[0]):
        self.comms = taskglass.Comm.local(ranks)
        self.devices = [taskglass.Device(platform, cores=3, memory="64M", comm=comm) for comm in self.comms]
        self.graphs = [device.load(RANKS).graph() for device in self.devices]

    def __iter__(self):
        return iter(zip(range(len(self.comms)), self.devices, self.graphs))

    def run(self, **options):
        return taskglass.run_all(self.graphs, **options)

    def close(self):
        for each in (*self.graphs, *self.devices, *self.comms):
            each.close()


@pytest.fixture
def job():
    made = []

    def make(*arguments):
        made.append(Job(*arguments))
        return made[-1]

    yield make
    for each in made:
        each.close()


def ramp(rank, n=12):
    return numpy.arange(n, dtype="f4") + 100 * rank


# --- joining ------------------------------------------------------------------------------------

def test_a_process_that_nobody_started_is_a_job_of_one_rank():
    with taskglass.Comm() as comm:
        assert (comm.rank, comm.ranks, repr(comm)) == (0, 1, "<Comm: rank 0 of 1>")
    assert comm.closed and repr(comm) == "<Comm, closed>"


def test_the_ends_of_a_local_job_are_numbered():
    comms = taskglass.Comm.local(3)
    assert [(comm.rank, comm.ranks) for comm in comms] == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize("make", [
    lambda: taskglass.Comm.local(0), lambda: taskglass.Comm.local(5000), lambda: taskglass.Comm("pigeons"),
    lambda: taskglass.Comm(timeout=-1), lambda: taskglass.Device(comm="x"), lambda: taskglass.Comm.local("2")])
def test_what_is_no_job_is_refused(make):
    with pytest.raises(taskglass.BadArgument):
        make()


@pytest.mark.needs_no_gpu
def test_a_device_joins_once_and_before_a_module_is_loaded():
    first, second = taskglass.Comm.local(2)
    with taskglass.Device(PLATFORMS[0], memory="64M", comm=first) as device:
        assert device.comm is first
        with pytest.raises(taskglass.BadArgument, match="joins one job"):
            device.join(second)
    with taskglass.Device(PLATFORMS[0], memory="64M") as device:
        assert device.comm is None
        device.load(RANKS)
        with pytest.raises(taskglass.BadArgument, match="before a module is loaded"):
            device.join(second)


def test_a_comm_that_is_closed_lives_as_long_as_its_device(job):
    ranks = job(2)
    for comm in ranks.comms:
        comm.close()
    arrays = []
    for rank, device, graph in ranks:
        arrays.append(device.array(ramp(rank)))
        graph.all_reduce("sum", arrays[-1])
    ranks.run()
    assert all((array.numpy() == ramp(0) + ramp(1)).all() for array in arrays)
    with pytest.raises(taskglass.BadArgument, match="the comm is closed"):
        ranks.comms[0].rank


# --- calls --------------------------------------------------------------------------------------

@pytest.mark.parametrize("platform", PLATFORMS)
def test_messages_go_around_a_ring(job, platform):
    ranks, got = job(3, platform), []
    for rank, device, graph in ranks:
        got.append(device.zeros(12))
        graph.send((rank + 1) % 3, 7, device.array(ramp(rank)))
        graph.recv((rank + 2) % 3, 7, got[-1])
    results = ranks.run()
    for rank in range(3):
        assert (got[rank].numpy() == ramp((rank + 2) % 3)).all()
        comm = results[rank].comm
        assert (comm.rank, comm.ranks, comm.transport, comm.waiting) == (rank, 3, "local", 0)
        assert (comm.calls["tg_send"], comm.calls["tg_recv"], comm.calls["tg_broadcast"]) == (1, 1, 0)


@pytest.mark.parametrize("operation, combine", few([
    ("sum", numpy.sum), ("product", numpy.prod), ("min", numpy.min), ("max", numpy.max)], 2))
def test_values_of_all_ranks_become_one(job, operation, combine):
    ranks, got, pieces = job(2), [], []
    for rank, device, graph in ranks:
        x = device.array(ramp(rank))
        got.append(device.zeros(12))
        pieces.append(device.zeros(6))
        graph.all_reduce(operation, x, got[-1])
        graph.reduce_scatter(operation, x, pieces[-1])
    ranks.run()
    want = combine([ramp(0), ramp(1)], axis=0)
    assert (got[0].numpy() == want).all() and (got[1].numpy() == want).all()
    assert (numpy.concatenate([piece.numpy() for piece in pieces]) == want).all()


def test_pieces_are_cast_gathered_and_exchanged(job):
    ranks, got = job(2), []
    for rank, device, graph in ranks:
        x, cast = device.array(ramp(rank)), device.array(ramp(rank))
        gathered, exchanged = device.zeros((2, 12)), device.zeros(12)
        graph.broadcast(1, cast)
        graph.all_gather(x, gathered)
        graph.all_to_all(x, exchanged)
        got.append((cast, gathered, exchanged))
    ranks.run()
    for rank, arrays in enumerate(got):
        cast, gathered, exchanged = (array.numpy() for array in arrays)
        assert (cast == ramp(1)).all() and (gathered == [ramp(0), ramp(1)]).all()
        half = slice(6 * rank, 6 * rank + 6)
        assert (exchanged == numpy.concatenate([ramp(0)[half], ramp(1)[half]])).all()


def test_views_are_sent_and_received_and_tasks_wait_for_calls(job):
    ranks = job(2)
    (_, left, graph), (_, right, other) = ranks
    whole, filled = left.array(ramp(0, 16)).reshape(4, 4), right.zeros((4, 4))
    graph.send(1, 0, In(whole[:, 1]))
    first = other.recv(0, 0, Out(filled[2]))
    second = other.all_reduce("sum", InOut(filled[2]), after=first)
    graph.all_reduce("sum", left.zeros(4))
    assert (first, second, other.edges) == (0, 1, 1)
    ranks.run()
    assert (filled.numpy()[2] == [1, 5, 9, 13]).all() and filled.numpy().sum() == 28


def test_a_device_alone_talks_to_itself():
    with taskglass.Device(PLATFORMS[0], memory="64M") as device, device.load(RANKS).graph() as graph:
        x, y = device.array(ramp(0)), device.zeros(12)
        graph.send(0, 1, x)
        graph.recv(0, 1, y)
        result = graph.run()
        assert (y.numpy() == ramp(0)).all() and (result.comm.ranks, result.comm.waiting) == (1, 0)


@pytest.mark.needs_no_gpu
def test_a_graph_without_calls_has_no_comm():
    with taskglass.Device(PLATFORMS[0], memory="64M") as device, device.load("vector_add").graph() as graph:
        x = device.zeros(4)
        graph.add("vector_add_tile", x, x, device.zeros(4))
        assert graph.run().comm is None


@pytest.mark.needs_no_gpu
@pytest.mark.parametrize("call, says", [
    (lambda graph, x: graph.send(2, 0, x), "rank"), (lambda graph, x: graph.send(1, -2, x), "tag"),
    (lambda graph, x: graph.send(2**40, 0, x), "a rank is"), (lambda graph, x: graph.recv(1, 0, In(x)), "tg_recv"),
    (lambda graph, x: graph.all_reduce("average", x), "sum, product, min, max"),
    (lambda graph, x: graph.all_gather(x, x), "tg_all_gather"),
    (lambda graph, x: graph.send(1, 0, 3.5), "device array"),
    (lambda graph, x: graph.all_reduce(3, x), "operation")])
def test_a_call_that_cannot_be_is_refused(job, call, says):
    _, device, graph = next(iter(job(2)))
    with pytest.raises(taskglass.BadArgument, match=says):
        call(graph, device.zeros(4))


@pytest.mark.needs_no_gpu
def test_an_array_of_another_device_is_refused(job):
    (_, _, graph), (_, other, _) = job(2)
    with pytest.raises(taskglass.BadArgument, match="on another device"):
        graph.send(1, 0, other.zeros(4))


@pytest.mark.needs_no_gpu
def test_a_workload_that_does_not_communicate_is_named():
    with taskglass.Device(PLATFORMS[0], memory="64M") as device, device.load("vector_add").graph() as graph:
        with pytest.raises(taskglass.BadArgument, match="does not say that it communicates"):
            graph.all_reduce("sum", device.zeros(4))


def test_calls_that_differ_are_named_on_all_ranks(job):
    ranks = job(2)
    for rank, device, graph in ranks:
        graph.all_reduce(("sum", "max")[rank], device.zeros(8))
    runs, said = [graph.start() for graph in ranks.graphs], []
    for run in runs:
        with pytest.raises(taskglass.CommMismatch) as caught:
            run.wait(TIMEOUT)
        said.append(caught.value.text)
    assert "rank 0" in said[0] and "rank 1" in said[0] and "max" in said[0] and said[0] == said[1]


def test_runs_of_all_ranks_may_be_recorded(job, tmp_path):
    ranks = job(2)
    for rank, device, graph in ranks:
        graph.all_reduce("sum", device.array(ramp(rank)))
    results = ranks.run(record="full", output_dir=tmp_path / "out")
    assert [result.output_dir.name for result in results] == ["rank0", "rank1"]
    for result in results:
        with result.recording() as recording:
            assert (next(recording.select(stage="after", arg=0)).array() == ramp(0) + ramp(1)).all()


def test_run_all_raises_the_error_of_a_rank_that_failed_by_itself(job):
    ranks = job(2)
    for rank, device, graph in ranks:
        graph.all_reduce("sum", device.zeros(8 + rank))
    with pytest.raises(taskglass.CommMismatch):
        ranks.run()
    for bad in ([], None, [3], "graphs"):
        with pytest.raises(taskglass.BadType):
            taskglass.run_all(bad)


def test_ranks_may_be_threads(job):
    ranks, got = job(2), [None, None]

    def work(rank, device, graph):
        x = device.array(ramp(rank))
        graph.all_reduce("sum", x)
        graph.run()
        got[rank] = x.numpy()

    threads = [threading.Thread(target=work, args=each) for each in ranks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert (got[0] == ramp(0) + ramp(1)).all() and (got[1] == got[0]).all()


@pytest.mark.parametrize("runtime", [each.name for each in taskglass.runtimes()])
def test_orchestrations_of_all_ranks_communicate(runtime):
    devices = [taskglass.Device(PLATFORMS[0], cores=3, memory="256M", comm=comm)
               for comm in taskglass.Comm.local(2)]
    graphs = []
    for rank, device in enumerate(devices):
        buffers = [InOut(device.array(numpy.full(840, rank + i, "i8"))) for i in range(6)]
        graphs.append(device.load(RANKS).orchestrate(*buffers, numpy.int64(5), numpy.int64(12), runtime=runtime))
    results = taskglass.run_all(graphs)
    assert all(result.finished == result.tasks for result in results)
    assert all(sum(result.comm.calls.values()) > 0 and result.comm.waiting == 0 for result in results)
    for each in (*graphs, *devices):
        each.close()
