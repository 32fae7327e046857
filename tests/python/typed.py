# SPDX-License-Identifier: Apache-2.0
"""A program that mypy --strict reads (tests/hints.py); nobody runs it. Lines that end in `# wrong` are
what a type checker must report, so that a function whose result became Any is noticed."""

from __future__ import annotations

import pathlib
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import taskglass
from taskglass import In, InOut, Out, Scalar


def run() -> taskglass.Execution:
    execution = taskglass.run("vector_add", dump_tensor="full", platform="a5sim", cores=3,
                              set={"rows": 3})
    status: str = execution.status
    tasks: int = execution.tasks
    where: pathlib.Path = execution.output_dir
    for name, output in execution.outputs.items():
        difference: Optional[int] = output.mismatches
        print(name, output.ok, difference, output.array().max())
    execution.nonsense  # wrong
    execution.tasks.upper()  # wrong
    print(status, tasks, where)
    return execution


def read(path: pathlib.Path) -> None:
    with taskglass.Recording(path) as recording:
        for record in recording.select(kernel="mat*", stage=["after"], task=range(3), arg=1):
            shape: Tuple[int, ...] = record.shape
            task: Optional[int] = record.task_id
            print(record.array(decode=True).sum(), shape, task, record.hash, record.statistics())
            record.nonsense  # wrong
        first: taskglass.Record = recording[0]
        checked: taskglass.Check = recording.check(limit=3.0)
        print(len(recording), first.dtype.upper(), checked.result, bool(recording.verify()))
        recording.select(nonsense=3)  # wrong
        print(recording.to_dataframe(kind="scalar", stage=["before", "after"]).describe())
        recording.to_dataframe(kind=3.5)  # wrong
        page: taskglass.Page = recording.show(height=400)
        print(page.document.upper(), recording.write_page("page.html", overwrite=True).bytes)
        recording["first"]  # wrong
        recording.nonsense  # wrong


def build() -> Dict[str, int]:
    with taskglass.Device("a5sim", cores=3, memory="64M") as device:
        x = device.array(np.ones(16, "f4"))
        y = device.empty((4, 4), "float32")
        module = device.load("vector_add")
        with module.graph() as graph:
            first: taskglass.Task = graph.add("add", In(x), Out(y[0]), Scalar(0.5, mark=True))
            graph.add("add", x, InOut(y.T), after=[first], mark=True)
            result = graph.run(record="full", output_dir="out")
            seconds: float = result.execute_seconds
            graph.nonsense  # wrong
        device.nonsense  # wrong
        x.shape.nonsense  # wrong
    print(seconds)
    return result.lost


def communicate() -> Optional[taskglass.RunComm]:
    comm: taskglass.Comm = taskglass.Comm.local(2)[0]
    with taskglass.Device(comm=comm) as device, device.load("mlp").graph() as graph:
        x = device.zeros(4)
        task: taskglass.Task = graph.send(1, 0, x)
        graph.all_reduce("sum", InOut(x), after=task)
        graph.all_reduce(3, x)  # wrong
        comm.nonsense  # wrong
        return graph.run().comm


def run_ranks() -> List[taskglass.Call]:
    execution: taskglass.RanksExecution = taskglass.run("mlp", ranks=2)
    execution.outputs  # wrong
    with execution.files() as ranks:
        first: taskglass.Rank = ranks[0]
        root: str = ranks.explain().root
        print(first.recording().level, root, bool(ranks.across(kernel="*")), ranks.verify().misfits)
        ranks.nonsense  # wrong
        return ranks.calls()


def fail() -> str:
    try:
        taskglass.Recording(3)  # wrong
    except taskglass.KernelFault as error:
        advice: str = error.advice
        return error.status + advice
    except (taskglass.Error, ValueError) as other:
        return str(other)
    return ""


def look(path: pathlib.Path) -> str:
    with taskglass.serve(path, open=False) as server:
        port: int = server.port
        server.nonsense  # wrong
        taskglass.serve(port="80")  # wrong
        return f"{server.address} {port}"


def ask(config: taskglass.Config) -> List[taskglass.Setting]:
    answer: Dict[str, Any] = taskglass.live("out", "rings")
    taskglass.Config(cores="three")  # wrong
    config.updated(cores=3).nonsense  # wrong
    compared: taskglass.Diff = taskglass.diff("a", "b", atol=1e-3)
    print(answer, compared.result, taskglass.workloads()[0].cases[0].name)
    return taskglass.settings(config)
