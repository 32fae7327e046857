# SPDX-License-Identifier: Apache-2.0
"""taskglass.explain: why a run failed, as objects."""

import pytest
import taskglass

from conftest import GPU, test_workload as workload


def test_a_failed_run_is_explained(tmp_path):
    with pytest.raises(taskglass.KernelFault):
        taskglass.run(workload("faults"), case="trap", output=tmp_path / "out")
    why = taskglass.explain(tmp_path / "out")
    assert (why.result, why.status, why.root_kind, why.looked) == ("failed", "KERNEL_FAULT", "crash", True)
    assert (why.tasks, why.finished) == (7, 3)
    if not GPU:  # the lists of waiting tasks are gone with the memory
        assert [link.task for link in why.chain] == [6, 5, 4, 3]
    assert why.cores[0].kernel == "fault_trap" and why.cores[0].crashed
    assert why.root is not None and "fault_trap" in why.root


def test_a_run_that_ended_well_has_no_chain(tmp_path):
    taskglass.run(workload("faults"), case="none", output=tmp_path / "out")
    why = taskglass.explain(tmp_path / "out")
    assert (why.result, why.status, why.chain, why.root_kind) == ("ended well", "OK", [], "none")


def test_where_no_run_is_nothing_is_explained(tmp_path):
    with pytest.raises(taskglass.NotFound):
        taskglass.explain(tmp_path)
