# SPDX-License-Identifier: Apache-2.0
"""Runs the graphs of several ranks of this process together."""

from __future__ import annotations

import pathlib
import threading
from typing import Any, Dict, List, Optional, Sequence

from . import errors
from ._arguments import path as path_of, shown
from .graph import Graph, Run, RunResult

__all__ = ["run_all"]


class _Wait(threading.Thread):
    """Waits for one run. A run with communication ends when the others do, so that each has a thread."""

    def __init__(self, run: Run) -> None:
        super().__init__(daemon=True)
        self._run = run
        self.result: Optional[RunResult] = None
        self.failed: Optional[BaseException] = None

    def run(self) -> None:
        try:
            self.result = self._run.wait()
        except BaseException as error:
            self.failed = error


def run_all(graphs: Sequence[Graph], *, output_dir: Any = None, **options: Any) -> List[RunResult]:
    """Runs graphs whose devices are the ranks of one job (`Comm.local`) at the same time, to their end, and
    returns their results in the same order. The options are those of `Graph.start`; of `output_dir`, each has a
    folder of its own: rank0, rank1 and so on. Ctrl-C cancels them.

    If several fail, it raises the error of one that failed by itself, and not because of another rank."""
    given = list(graphs) if isinstance(graphs, (list, tuple)) else []
    if not given or not all(isinstance(graph, Graph) for graph in given):
        raise errors.BadType(f"run_all takes graphs, not {shown(graphs)}")
    runs: List[Run] = []
    try:
        for rank, graph in enumerate(given):
            own: Dict[str, Any] = {} if output_dir is None else {
                "output_dir": pathlib.Path(path_of(output_dir, "output_dir")) / f"rank{rank}"}
            runs.append(graph.start(**options, **own))
        waits = [_Wait(run) for run in runs]
        for wait in waits:
            wait.start()
        for wait in waits:
            wait.join()
    finally:
        for run in runs:
            run.cancel()
        for run in runs:
            run.close()
    failed = [wait.failed for wait in waits if wait.failed is not None]
    if failed:
        raise next((error for error in failed if not isinstance(error, errors.RankLost)), failed[0])
    return [wait.result for wait in waits if wait.result is not None]
