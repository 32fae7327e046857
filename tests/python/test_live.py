# SPDX-License-Identifier: Apache-2.0
"""Asking a run that goes on."""

import time

import pytest

import taskglass
from conftest import TIMEOUT, test_workload
from taskglass import InOut


@pytest.fixture
def run(directory):
    """A chain of tasks that nobody waits for, recorded into `out`."""
    with taskglass.Device(cores=3) as device, \
            device.load(test_workload("slow")).graph() as graph:
        count, last = device.zeros(1, "int32"), []
        for _ in range(2000):
            last = [graph.add("slow_wait", InOut(count), 20_000_000, after=last)]
        with graph.start(record="meta", output_dir="out", timeout=TIMEOUT) as started:
            yield started


def connect():
    end = time.monotonic() + TIMEOUT
    while True:
        try:
            return taskglass.Live("out")
        except taskglass.NotFound:
            assert time.monotonic() < end
            time.sleep(0.01)


def test_a_run_answers_until_it_ends(run):
    with connect() as live:
        while (answer := live.ask("cores"))["tasks"]["finished"] == 0:
            time.sleep(0.01)
        assert answer["tasks"]["total"] == 2000 and "waits" not in answer
        assert set(live.ask()) > {"recorder", "rings", "cores", "orchestrator", "waits"}
        assert taskglass.live("out", "recorder")["recorder"]["level"] == "meta"
        run.cancel()
        with pytest.raises(taskglass.Cancelled):
            run.wait()
        with pytest.raises(taskglass.NotFound, match="has ended"):
            live.ask()
    with pytest.raises(taskglass.NotFound):
        taskglass.live("out")


def test_nonsense_raises(directory):
    with pytest.raises(taskglass.NotFound, match="no directory"):
        taskglass.live("nowhere")
    with pytest.raises(taskglass.NotFound, match="no run answers"):
        taskglass.live(directory)


def test_an_unknown_section_is_named(run):
    with connect() as live, pytest.raises(taskglass.BadArgument, match="unknown section 'all'"):
        live.ask("all")
