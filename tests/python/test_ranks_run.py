# SPDX-License-Identifier: Apache-2.0
"""Runs of several processes: `run(ranks=…)`, scripts that are started as ranks, and mpirun."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest
import taskglass
from taskglass import launch

from conftest import PACKAGE, PLATFORMS, TIMEOUT, assert_gone, processes_of, test_workload

MISTAKES = test_workload("comm_mistakes")
RANKS = test_workload("ranks")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A run of two ranks that was recorded; tests only read it."""
    return taskglass.run(RANKS, ranks=2, dump_tensor="full", deps=True, set={"seed": 3, "steps": 20},
                         output=tmp_path_factory.mktemp("ranks") / "job")


def test_a_run_of_ranks_has_an_outcome_of_each(recorded):
    assert (recorded.ok, recorded.status, recorded.error, recorded.workload) == (True, "OK", "", "ranks")
    assert [rank.rank for rank in recorded.ranks] == [0, 1]
    for rank in recorded.ranks:
        assert rank.ok and rank.report["params"] == {"seed": "3", "steps": "20"}
        assert rank.output_dir == recorded.output_dir / f"rank{rank.rank}"
        assert rank.comm["ranks"] == 2 and rank.comm["rank"] == rank.rank
        with rank.recording() as recording:
            assert recording.complete and len(recording) > 0
    assert recorded.ranks[0].pid != recorded.ranks[1].pid != os.getpid()
    assert "OK" in recorded._repr_html_()


def test_one_rank_is_a_run_of_ranks_too(tmp_path):
    execution = taskglass.run("vector_add", ranks=1, output=tmp_path / "out")
    assert len(execution.ranks) == 1 and (tmp_path / "out" / "ranks.json").exists()


def test_a_run_that_cannot_begin_says_why():
    with pytest.raises(taskglass.NotFound, match="has no case 'nonsense'") as caught:
        taskglass.run("mlp", "nonsense", ranks=2)
    assert caught.value.exit_code == 2 and caught.value.execution is None
    with pytest.raises(taskglass.NotFound):
        taskglass.run("no-such-workload", ranks=2)
    with pytest.raises(taskglass.NotFound, match="unknown platform 'nonsense'"):
        taskglass.run("mlp", ranks=2, platform="nonsense")
    with pytest.raises(taskglass.BadArgument, match="cores"):
        taskglass.run("mlp", ranks=2, cores="many")


def test_ranks_that_fail_raise_the_error_of_one_that_failed_by_itself(tmp_path):
    with pytest.raises(taskglass.CommMismatch) as caught:
        taskglass.run(MISTAKES, ranks=2, set={"which": 1}, output=tmp_path / "out")
    execution = caught.value.execution
    assert isinstance(execution, taskglass.RanksExecution) and not execution.ok
    assert execution.status == "COMM_MISMATCH" and execution.advice
    assert caught.value.text.startswith("rank ") and "comm_mistakes/" in caught.value.text
    again = taskglass.run(MISTAKES, ranks=2, set={"which": 1}, output=tmp_path / "again", check=False)
    assert again.status == "COMM_MISMATCH" and len(again.ranks) == 2


@pytest.mark.parametrize("options", [{"ranks": 0}, {"ranks": 5000}, {"ranks": "2"}, {"ranks": 2.5},
                                     {"ranks": 2, "progress": print}])
def test_what_is_no_number_of_ranks_is_refused(options):
    with pytest.raises(taskglass.BadArgument):
        taskglass.run("vector_add", **options)


def test_a_rank_starts_no_ranks(monkeypatch):
    monkeypatch.setenv("PMI_RANK", "0")
    with pytest.raises(taskglass.BadArgument, match="is a rank already"):
        taskglass.run("vector_add", ranks=2)


def test_the_environment_alone_starts_no_ranks(monkeypatch):
    monkeypatch.setenv("TASKGLASS_RANKS", "2")
    with pytest.raises(taskglass.Unsupported, match="this process is alone"):
        taskglass.run("vector_add")


def test_an_interrupt_ends_the_ranks(device_program):
    script = f"""
import taskglass
taskglass.run({test_workload("slow")!r}, "chain", ranks=2, set={{"n": 100000, "ms": 5}}, output="out",
              device_program={str(device_program)!r})
"""
    child = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "PYTHONPATH": str(PACKAGE)},
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end and not (pathlib.Path("out/rank0/live.sock").exists()
                                          and len(processes_of(device_program)) >= 2):
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=TIMEOUT)
    assert said.splitlines()[-1] == "KeyboardInterrupt" and child.returncode != 0
    assert_gone(device_program)
    with taskglass.Ranks("out") as ranks:
        ends = {rank.status for rank in ranks}  # one may hear of the other's end first
        assert "CANCELLED" in ends and ends <= {"CANCELLED", "RANK_LOST"}


RING = """
import numpy, sys, taskglass
with taskglass.Comm() as comm, taskglass.Device(%r, cores=1, memory="64M", comm=comm) as device:
    with device.load(%r).graph() as graph:
        got = device.zeros(4)
        graph.send((comm.rank + 1) %% comm.ranks, 0, device.array(numpy.full(4, comm.rank, "f4")))
        graph.recv((comm.rank - 1) %% comm.ranks, 0, got)
        graph.run()
    print(f"{comm.rank} of {comm.ranks} got {got.numpy()[0]:g}", *sys.argv[1:])
"""


def launched(tmp_path, script, *words):
    (tmp_path / "script.py").write_text(script)
    return subprocess.run([sys.executable, "-m", "taskglass.launch", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE)})


def test_a_script_is_started_as_ranks(tmp_path):
    done = launched(tmp_path, RING % (PLATFORMS[0], RANKS), "-n", "3", "script.py", "well", "-x")
    assert (done.returncode, done.stdout) == (0, "0 of 3 got 2 well -x\n"), done.stderr
    assert sorted(done.stderr.splitlines()) == ["rank 1: 1 of 3 got 0 well -x", "rank 2: 2 of 3 got 1 well -x"]


def test_a_script_that_runs_a_workload_is_one_rank_of_it(tmp_path):
    done = launched(tmp_path, f"import taskglass; e = taskglass.run({RANKS!r}, output='out')\n"
                    "assert (e.job.ranks, e.job.status, e.comm.rank) == (2, 'OK', e.job.rank)", "-n", "2", "script.py")
    assert done.returncode == 0, done.stderr
    with taskglass.Ranks("out") as ranks:
        assert [rank.status for rank in ranks] == ["OK", "OK"]


#: Joins, and waits until all have: a rank that leaves before would end the joining of the others.
JOINED = """
import os, pathlib, sys, taskglass, time
comm = taskglass.Comm()
pathlib.Path(f"joined{comm.rank}").touch()
while not all(pathlib.Path(f"joined{rank}").exists() for rank in range(comm.ranks)):
    time.sleep(0.01)
"""


def test_the_exit_code_of_a_job_is_the_worst(tmp_path):
    done = launched(tmp_path, JOINED + "rank = comm.rank; comm.close(); sys.exit(5 * rank)", "-n", "2", "script.py")
    assert done.returncode == 5, done.stderr


def test_a_rank_that_is_killed_is_named(tmp_path):
    done = launched(tmp_path, JOINED + "if comm.rank: os.kill(os.getpid(), 9)", "-n", "2", "script.py")
    assert done.returncode == 3 and "rank 1 was ended by signal 9" in done.stderr


def test_what_cannot_be_launched_is_said(tmp_path):
    done = launched(tmp_path, "", "-n", "0", "script.py")
    assert done.returncode == 2 and "ranks is 0" in done.stderr
    with pytest.raises(taskglass.NotFound, match="no program 'no-such-program'"):
        launch.launch(2, ["no-such-program"])
    with pytest.raises(taskglass.NotFound, match="no command"):
        launch.launch(2, [])


def mpirun():
    """Each mpirun of this machine, with the options that let it run here."""
    found = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"], "mpich": ["mpirun.mpich"]}
    return [pytest.param(words, id=name) for name, words in found.items()]


def started(start, script):
    """What comes of two ranks that mpirun starts."""
    if not shutil.which(start[0]):
        pytest.skip(f"there is no {start[0]} here")
    plugin = pathlib.Path(os.environ["TASKGLASS_LIBRARY"]).parent / "taskglass"
    if not list(plugin.glob(f"taskglass-mpi-{start[0].split('.')[1]}.so")):
        pytest.skip("this build has no plug-in for it")
    return subprocess.run([*start, "-n", "2", sys.executable, "-c", script], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE)})


@pytest.mark.parametrize("start", mpirun())
def test_a_script_that_mpirun_starts_is_a_rank(start, tmp_path):
    script = (f"import taskglass, json; e = taskglass.run({RANKS!r}, output='out'); "
              "open(f'said{e.job.rank}', 'w').write(json.dumps("
              "[e.job.ranks, e.job.status, e.comm.rank, str(e.job.output_dir), str(e.output_dir)]))")
    done = started(start, script)
    assert done.returncode == 0, done.stdout
    for rank in range(2):
        said = json.loads((tmp_path / f"said{rank}").read_text())
        assert said[:3] == [2, "OK", rank]
        assert pathlib.Path(said[4]).resolve() == tmp_path / "out" / f"rank{rank}"


@pytest.mark.parametrize("start", mpirun())
def test_a_rank_of_mpirun_may_leave_long_after_the_others(start, tmp_path):
    done = started(start, "import taskglass, time; comm = taskglass.Comm(); rank = comm.rank; time.sleep(5 * rank); "
                   "comm.close(); open(f'left{rank}', 'w').close()")
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "left0").exists() and (tmp_path / "left1").exists()
