# SPDX-License-Identifier: Apache-2.0
"""Objects that are closed while the library works with them, by a callback or by another thread."""

import threading

import pytest
import taskglass
from taskglass._library import lib

from conftest import BUILD, python


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """The directory of a recorded run of a module that is not installed."""
    folder = tmp_path_factory.mktemp("closing")
    installed = BUILD / "lib" / "taskglass" / "workloads" / "matmul_chain.so"
    (folder / "mine.so").write_bytes(installed.read_bytes() + b"mine")
    return taskglass.run(folder / "mine.so", dump_tensor="full", output=folder / "run").output_dir


WORK = {
    "export": "assert recording.export('x.npz', progress=progress).written > 0",
    "check": "assert recording.check(progress=progress).result == 'good'",
    "ask": "assert recording.check(ask=progress).result == 'good'",
}
CLOSERS = {"callback": "recording.close()",
           "thread": "t = threading.Thread(target=recording.close); t.start(); t.join()"}


@pytest.mark.parametrize("work, closer", [("export", "callback"), ("export", "thread"),
                                          ("check", "callback"), ("ask", "thread")])
def test_a_recording_that_is_closed_at_work_finishes_the_work(chain, tmp_path, work, closer):
    """In another interpreter, because a use of the library's object after its end would kill it."""
    stranger = {"XDG_STATE_HOME": str(tmp_path / "stranger")} if work == "ask" else {}
    done = python(f"""
import pathlib, threading, taskglass
recording, calls = taskglass.Recording({str(chain)!r}), []
def progress(*_):
    calls.append(1)
    {CLOSERS[closer]}
    assert recording.closed
    return True
{WORK[work]}
assert calls
for use in (lambda: recording[0], recording.verify, lambda: recording.export('y.npz')):
    try:
        use()
    except taskglass.BadArgument as error:
        assert 'the recording is closed' in str(error)
    else:
        raise AssertionError('it is not closed')
assert {str(chain)!r} not in pathlib.Path('/proc/self/maps').read_text(), 'it has not ended'
""", env=stranger)
    assert done.returncode == 0, done


ENDS = ["tg_run_destroy", "tg_graph_destroy", "tg_device_close"]  # in this order


@pytest.mark.parametrize("close", ["run", "device"])
@pytest.mark.parametrize("function, use", {
    "tg_device_get_info": lambda device, graph, run: device.info,
    "tg_module_kernel": lambda device, graph, run: graph.module.index("vector_add_tile"),
    "tg_graph_tasks": lambda device, graph, run: graph.tasks,
    "tg_run_progress": lambda device, graph, run: run.progress,
    "tg_run_cancel": lambda device, graph, run: run.cancel(),
    "tg_run_get_result": lambda device, graph, run: run.result(),
}.items(), ids=lambda value: value if isinstance(value, str) else "")
def test_what_a_call_uses_ends_after_the_call(monkeypatch, function, use, close):
    events = []
    for end in ENDS:
        monkeypatch.setattr(lib(), end, lambda pointer, end=end, real=getattr(lib(), end):
                            (events.append(end), real(pointer)))
    device = taskglass.Device(cores=1)
    graph = device.load("vector_add").graph()
    x = device.zeros(4)
    graph.add("vector_add_tile", x, x, device.empty(4))
    run = graph.start()
    closed = {"run": run, "graph": graph, "device": device}[close]

    def call(*_):
        closed.close()
        assert closed.closed and run.closed
        events.append("call")
        return 0

    with monkeypatch.context() as during:
        during.setattr(lib(), function, call)
        use(device, graph, run)
    kinds = ["run", "graph", "device"]
    used = kinds.index(function.split("_")[1].replace("module", "device"))
    ended = ENDS[:kinds.index(close) + 1]
    assert [event for event in events if event != "call"] == ended
    if ENDS[used] in ended:
        assert events.index("call") < events.index(ENDS[used])
        with pytest.raises(taskglass.BadArgument, match="is closed"):
            use(device, graph, run)
    device.close()
    assert events.count("tg_device_close") == 1


def test_a_run_that_another_thread_closes_ends_the_wait():
    with taskglass.Device(cores=1) as device:
        graph = device.load("vector_add").graph()
        x = device.zeros(1 << 16)
        last = ()
        for _ in range(500):
            last = graph.add("vector_add_tile", x, x, x, after=last)
        run = graph.start()
        closer = threading.Thread(target=device.close)
        closer.start()
        try:
            run.wait()
        except taskglass.BadArgument as error:
            assert "closed" in str(error)
        closer.join()
        assert run.closed and graph.closed and device.closed
