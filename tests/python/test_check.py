# SPDX-License-Identifier: Apache-2.0
"""Recording.check: tasks and the references of their kernels."""

import math

import pytest

import taskglass

from conftest import BUILD, TEST_WORKLOADS
from forge import forge, is_output, put_nan


@pytest.fixture
def chain(tmp_path):
    execution = taskglass.run("matmul_chain", dump_tensor="full", output=tmp_path / "out")
    return execution.output_dir


def test_a_good_run_agrees(chain):
    seen = []
    with taskglass.Recording(chain) as recording:
        result = recording.check(progress=lambda checked, tasks: seen.append((checked, tasks)))
    assert result.result == "good" and result.tasks == ()
    assert result.counts["agrees"] == sum(result.counts.values()) == 20
    assert result.by_kernel["tile_product"]["agrees"] == 8
    assert seen[-1] == (20, 20)


def test_a_wrong_task_is_found(chain):
    entry = forge(chain / "tensor_dump", is_output, put_nan)
    with taskglass.Recording(chain) as recording:
        result = recording.check()
    assert result.result == "wrong"
    (task,) = result.wrong
    assert task.task == int(entry["task_id"], 16) and task.kernel == entry["kernel"][0]
    assert (task.first, task.mismatches, task.max_ulp) == (0, 1, None)
    assert math.isnan(task.got) and math.isinf(task.max_error)


def test_what_cannot_be_checked_is_not_known(tmp_path):
    execution = taskglass.run("vector_add", dump_tensor="full", output=tmp_path / "out")
    with taskglass.Recording(execution.output_dir) as recording:
        result = recording.check()
    assert result.result == "not known"
    assert result.counts["no reference"] == len(result.tasks) > 0
    assert "reference" in result.tasks[0].why


def test_a_task_without_an_element_is_not_compared(tmp_path):
    execution = taskglass.run(TEST_WORKLOADS / "unwritten.so", case="no_elements", dump_tensor="hash",
                              output=tmp_path / "out")
    with taskglass.Recording(execution.output_dir) as recording:
        result = recording.check()
    assert result.result == "not known"
    assert (result.counts["empty"], result.counts["agrees"]) == (1, 0)
    assert [task.why for task in result.tasks if task.verdict == "empty"] == \
        ["its outputs have no elements"]


def test_an_exception_in_progress_ends_the_check(chain):
    def stop(checked, tasks):
        raise KeyError("enough")
    with taskglass.Recording(chain) as recording, pytest.raises(KeyError):
        recording.check(progress=stop)


@pytest.mark.parametrize("limit", [-1, math.nan, math.inf, 1e9])
def test_a_limit_that_is_no_time_is_refused(chain, limit):
    with taskglass.Recording(chain) as recording, pytest.raises(taskglass.BadArgument):
        recording.check(limit=limit)


def test_a_module_that_is_not_there_is_named(chain):
    with taskglass.Recording(chain) as recording, pytest.raises(taskglass.NotFound, match="nowhere.so"):
        recording.check("nowhere.so")


def test_a_module_that_was_not_run_here_is_loaded_only_after_a_question(tmp_path, monkeypatch):
    module = tmp_path / "mine.so"
    module.write_bytes((BUILD / "lib" / "taskglass" / "workloads" / "matmul_chain.so").read_bytes()
                       + b"mine")
    out = taskglass.run(module, dump_tensor="full", output=tmp_path / "out").output_dir
    asked = []

    def answer(path, why):
        asked.append((path, why))
        return len(asked) == 2

    with taskglass.Recording(out) as recording:
        assert recording.check().result == "good"
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "stranger"))
        with pytest.raises(taskglass.NotTrusted, match="you have not run it"):
            recording.check()
        with pytest.raises(taskglass.NotTrusted):
            recording.check(ask=answer)
        assert recording.check(ask=answer).result == "good"
        assert asked == [(str(module), "you have not run it on this machine, or no note of that "
                          "could be kept")] * 2
        with pytest.raises(ZeroDivisionError):
            recording.check(ask=lambda path, why: 1 // 0)
        assert recording.check(module).result == "good"
