# SPDX-License-Identifier: Apache-2.0
"""taskglass.shake says what `taskglass shake` says."""

import pytest
import taskglass

from conftest import TEST_WORKLOADS

RACY = TEST_WORKLOADS / "racy.so"
SHORT = {"length": 20}


def test_a_planted_race_is_one_constraint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []
    answer = taskglass.shake(RACY, "war", set=SHORT, output="kept",
                             progress=lambda phase, done, total: seen.append(phase))
    assert not answer and answer.result == "order" and answer.exit_code == 1
    (constraint,) = answer.constraints
    assert (constraint.before.kernel, constraint.after.kernel) == ("step", "copy")
    assert constraint.race is not False
    assert answer.difference.change == "golden" and answer.difference.task.kernel == "copy"
    assert answer.reduced.startswith("order:") and answer.confirmed == 5 and answer.fewest
    assert {"try", "repeat", "reduce", "confirm"} >= set(seen) and "try" in seen
    assert answer.reduced_dir is not None
    with taskglass.Recording(answer.reduced_dir) as recording:
        assert len(recording) > 0
    again = taskglass.run(RACY, "war", set=SHORT, cores=1, schedule=answer.reduced, check=False)
    assert again.status == "MISMATCH"


def test_a_clean_case_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = taskglass.shake(RACY, "clean", set=SHORT, runs=6, seed=3)
    assert answer and answer.result == "same" and answer.schedules == 6 and answer.found_at is None
    assert answer.difference is None and answer.constraints == () and answer.baseline_dir is None


def test_nonsense_raises(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for wrong in ({"runs": 1}, {"seed": 0}, {"reduce_runs": 0}, {"set": 3}, {"progress": 3}):
        with pytest.raises(taskglass.Error):
            taskglass.shake("vector_add", **wrong)
    with pytest.raises(taskglass.NotFound):
        taskglass.shake("vector_add", "no_such_case")


def test_an_exception_in_progress_ends_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def stop(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        taskglass.shake(RACY, "clean", set=SHORT, progress=stop)
    assert not (tmp_path / "outputs").exists() or list((tmp_path / "outputs").iterdir()) == []
