# SPDX-License-Identifier: Apache-2.0
"""`taskglass run` with several ranks: how they are started, what they leave, what is printed, how they end.
The workload passes values around a ring of ranks and sums them; its parameters name a rank that fails."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

from conftest import PROGRAM, TIMEOUT, clean_environment, one_line, workload
from mpi import mpirun

RING = workload("ranks_ring")
LAUNCHERS = ("local", "openmpi", "mpich")
# Several devices share a machine of maybe two CPUs.
FEW = ("--cores", "3")


def start(launcher, ranks):
    """The words before the workload: they start that many ranks."""
    if launcher == "local":
        return [str(PROGRAM), "run", "--ranks", str(ranks)]
    return [*mpirun(launcher, ranks), str(PROGRAM), "run"]


def parameters(**values):
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


class Job:
    """job(4, "--dump-tensor", crash=1) runs the ring on four ranks, with files in `out`."""

    def __init__(self, directory, launcher):
        self.directory, self.launcher = directory, launcher
        self.out = directory / "out"

    def command(self, ranks, *options, **values):
        return [*start(self.launcher, ranks), RING, *FEW, "--output", "out", *parameters(**values),
                *options]

    def begin(self, ranks, *options, **values):
        return subprocess.Popen(self.command(ranks, *options, **values), cwd=self.directory,
                                env=clean_environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __call__(self, ranks, *options, **values):
        process = self.begin(ranks, *options, **values)
        out, err = process.communicate(timeout=TIMEOUT)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def summary(self):
        return json.loads((self.out / "ranks.json").read_text())

    def statuses(self):
        return [rank["status"] for rank in self.summary()["rank"]]

    def runs(self):
        return [json.loads((self.out / rank["folder"] / "run.json").read_text())
                for rank in self.summary()["rank"]]


@pytest.fixture(params=LAUNCHERS)
def job(request, tmp_path):
    return Job(tmp_path, request.param)


@pytest.fixture
def local(tmp_path):
    return Job(tmp_path, "local")


def wait_until(condition):
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_ranks_run_and_are_described(job, ranks):
    result = job(ranks)
    assert result.returncode == 0, result
    assert f"rank 0 of {ranks}" in result.stdout.replace("\n ", "")
    summary = job.summary()
    assert (summary["version"], summary["ranks"], summary["status"]) == (1, ranks, "OK")
    assert (summary["workload"], summary["case"]) == ("ranks_ring", "ring")
    assert summary["transport"] == ("local" if job.launcher == "local" else "mpi")
    assert job.statuses() == ["OK"] * ranks
    assert [rank["folder"] for rank in summary["rank"]] == [f"rank{r}" for r in range(ranks)]
    assert len({rank["pid"] for rank in summary["rank"]}) == ranks
    for r, run in enumerate(job.runs()):
        assert run["result"] == {"status": "OK", "exit_code": 0}
        assert (run["comm"]["rank"], run["comm"]["ranks"], run["comm"]["waiting"]) == (r, ranks, 0)
        assert run["comm"]["calls"] == {"tg_send": 5, "tg_recv": 5, "tg_all_reduce": 5}


@pytest.mark.parametrize("runtime", ["aicpu_build_graph", "tensormap_and_ringbuffer"])
def test_ranks_run_on_every_runtime(job, runtime):
    assert job(3, "--runtime", runtime).returncode == 0
    assert job.statuses() == ["OK"] * 3


def test_only_the_first_rank_prints_the_report(job):
    result = job(3)
    assert result.stdout.count("ranks_ring") == 1
    if job.launcher == "local":
        assert result.stderr == ""


def test_a_workload_that_does_not_communicate_runs_on_every_rank(tg):
    tg.good("run", "--ranks", 3, "vector_add", "--output", "out", *FEW)
    for r in range(3):
        run = json.loads((tg.directory / "out" / f"rank{r}" / "run.json").read_text())
        assert run["result"]["status"] == "OK"


def test_a_process_alone_leaves_no_trace_of_ranks(tg):
    tg.good("run", RING, "--output", "out", *FEW)
    assert not (tg.directory / "out" / "ranks.json").exists()
    assert (tg.directory / "out" / "run.json").exists()


def test_a_run_of_ranks_leaves_nothing_of_a_run_of_one_device_that_was_there(tg):
    tg.good("run", RING, "--output", "out", "--dump-tensor", *FEW)
    tg.good("run", "--ranks", 2, RING, "--output", "out", *FEW)
    assert sorted(os.listdir(tg.directory / "out")) == ["rank0", "rank1", "ranks.json"]


@pytest.mark.parametrize("name", ["no_such_workload", __file__])
def test_a_workload_that_is_none_is_told_once(tg, name):
    result = tg("run", "--ranks", 3, name)
    assert (result.returncode, result.stdout) == (2, "") and one_line(result.stderr), result
    document = json.loads(tg("run", "--ranks", 3, name, "--json").stdout)
    assert document["result"]["exit_code"] == 2


def test_a_program_that_a_rank_starts_is_not_silent(tmp_path):
    """It has the variable of the rank, but not its descriptors."""
    result = subprocess.run([PROGRAM, "run", "no_such_workload"], cwd=tmp_path, capture_output=True, text=True,
                            env={**clean_environment(), "TASKGLASS_LOCAL_RANK": "1:1:2:90:91,-"}, check=False)
    assert result.returncode == 2 and one_line(result.stderr), result


def test_json_is_one_document_with_the_run_of_each_rank(job):
    result = job(3, "--json", wrong=1)
    document = json.loads(result.stdout)
    assert result.returncode == 1
    assert document["result"] == {"status": "MISMATCH", "exit_code": 1}
    assert document["directory"].endswith("out")
    assert [rank["result"]["status"] for rank in document["rank"]] == ["OK", "MISMATCH", "OK"]
    assert document["rank"][1]["run"]["result"]["status"] == "MISMATCH"
    assert [rank["run"]["comm"]["rank"] for rank in document["rank"]] == [0, 1, 2]


def test_the_worst_exit_code_is_that_of_all(job):
    result = job(3, wrong=2)
    assert result.returncode == 1, result
    assert job.statuses() == ["OK", "OK", "MISMATCH"]
    assert "rank 2   MISMATCH: output 'sum' differs" in result.stdout.replace("\r", "")
    assert job.summary()["status"] == "MISMATCH"


def test_a_rank_with_wrong_outputs_waits_for_those_that_still_check_theirs(tmp_path):
    """For longer than others have to write files after a failure."""
    job = Job(tmp_path, "local")
    result = job(2, wrong=1, slow=0, seconds=11)
    assert result.returncode == 1, result
    assert "RANK_LOST" not in result.stdout + result.stderr
    assert job.statuses() == ["OK", "MISMATCH"]


def test_a_kernel_that_crashes_on_one_rank_ends_the_others(job):
    result = job(3, crash=1)
    # mpirun of MPICH kills the rest when the first rank fails, and says so
    assert result.returncode == 3 or job.launcher == "mpich" and result.returncode != 0, result
    assert job.statuses() == ["RANK_LOST", "KERNEL_FAULT", "RANK_LOST"]
    for r in (0, 2):
        assert "rank 1" in job.summary()["rank"][r]["error"]
    text = result.stdout + result.stderr
    assert "KERNEL_FAULT: task" in text and "ring_work" in text


def test_a_rank_that_cannot_prepare_ends_all_before_there_are_files(job):
    result = job(3, refuse=2)
    assert result.returncode == 2, result
    text = result.stdout + result.stderr
    assert text.count("rank 2 could not prepare its case") == 1 and "this rank refuses" in text
    assert not job.out.exists()


def test_a_rank_that_cannot_begin_its_run_ends_the_others_with_its_error(local):
    """The others have begun theirs, and would wait for it for as long as the limit of a hang."""
    (local.out / "rank1").mkdir(parents=True)
    (local.out / "rank1" / "tensor_dump").touch()
    result = local(3, "--dump-tensor", "--timeout", "60")
    assert result.returncode == 2, result
    assert local.statuses() == ["RANK_LOST", "IO_ERROR", "RANK_LOST"]
    for r in (0, 2):
        assert "failed: IO_ERROR: cannot" in local.summary()["rank"][r]["error"]


def test_a_rank_that_cannot_make_its_folder_is_named_in_the_file_of_all(local):
    (local.out / "rank1" / "tensor_dump" / "tensor_dump.rec" / "full").mkdir(parents=True)
    result = local(3, "--dump-tensor")
    assert result.returncode == 2 and "rank 1 could not make its folder" in result.stderr, result
    assert local.summary()["status"] == "IO_ERROR"
    assert local.statuses() == ["IO_ERROR"] * 3
    assert local.summary()["rank"][1]["error"].startswith("cannot replace")
    for r in (0, 2):
        assert local.summary()["rank"][r]["error"].startswith("rank 1 could not make its folder: cannot replace")


def test_a_bad_case_is_said_once(local):
    result = local(4, "--case", "nothing")
    assert result.returncode == 2 and one_line(result.stderr), result
    assert "its cases are ring" in result.stderr


@pytest.mark.parametrize("ranks", ["-1", "x", "4097", "1.5"])
def test_bad_numbers_of_ranks_are_refused(tg, ranks):
    result = tg("run", RING, "--ranks", ranks)
    assert (result.returncode, result.stdout) == (2, "") and one_line(result.stderr), result
    assert "ranks" in result.stderr


def test_a_number_of_ranks_must_be_what_mpirun_started(tmp_path):
    result = Job(tmp_path, "openmpi")(2, "--ranks", "3")
    assert result.returncode == 2
    assert "--ranks 3: 2 ranks were started" in result.stdout + result.stderr


def test_a_workload_that_is_missing_on_one_rank_ends_all(tmp_path):
    """Each rank of mpirun may see other files."""
    words = start("openmpi", 1)
    bad = [str(PROGRAM), "run", "./missing.so"]
    result = subprocess.run([*words, RING, *FEW, ":", "-n", "1", *bad], cwd=tmp_path,
                            env=clean_environment(), capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode != 0
    assert "./missing.so" in result.stdout + result.stderr


def test_files_of_earlier_ranks_are_removed(local, tg):
    assert local(4, "--dump-tensor").returncode == 0
    (local.out / "rank3" / "mine.txt").write_text("a user's")
    assert local(2).returncode == 0
    assert sorted(path.name for path in local.out.iterdir()) == ["rank0", "rank1", "rank3", "ranks.json"]
    assert [path.name for path in (local.out / "rank3").iterdir()] == ["mine.txt"]
    assert not (local.out / "rank0" / "tensor_dump").exists()
    tg.good("run", RING, "--output", "out", *FEW)
    assert not (local.out / "ranks.json").exists() and not (local.out / "rank0").exists()


def test_a_directory_in_use_is_refused(local):
    first = local.begin(2, steps=4000, ms=5)
    wait_until((local.out / "rank1" / "live.sock").exists)
    second = local(2)
    assert second.returncode == 2 and one_line(second.stderr), second
    assert "in use by another run" in second.stderr
    first.terminate()
    first.communicate(timeout=TIMEOUT)
    assert first.returncode == -signal.SIGTERM


def test_recordings_and_calls_of_all_ranks_are_there(job, tg):
    assert job(3, "--dump-tensor").returncode == 0
    for r in range(3):
        tg.good("verify", job.out / f"rank{r}")
        head, *calls, end = map(json.loads, (job.out / f"rank{r}" / "comm.jsonl").read_text().splitlines())
        assert head == {"version": 1, "rank": r, "ranks": 3}
        assert end == {"end": True, "calls": 15}
        assert len(calls) == 15 and {call["state"] for call in calls} == {"done"}


def test_a_trace_of_all_ranks_is_one_file(local):
    assert local(2, "--trace", "all.json").returncode == 0
    assert json.loads((local.directory / "all.json").read_text())
    for r in range(2):
        assert (local.out / f"rank{r}" / "trace.json").exists()


# ── the end of a rank ───────────────────────────────────────────────────────────────────────────

def is_recording(job, ranks):
    journals = [job.out / f"rank{r}" / "tensor_dump" / "tensor_dump.rec" for r in range(ranks)]
    return all(path.exists() and path.stat().st_size > 20000 for path in journals)


def is_over(job):
    summary = job.summary()
    return summary["status"] != "RUNNING" and "RUNNING" not in job.statuses()


@pytest.mark.parametrize("victim", [0, 2])
def test_a_rank_that_is_killed_ends_the_others_with_a_report(job, tg, victim):
    process = job.begin(3, "--dump-tensor", steps=4000, ms=2)
    wait_until(lambda: is_recording(job, 3))
    os.kill(job.summary()["rank"][victim]["pid"], signal.SIGKILL)
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode != 0, (out, err)
    wait_until(lambda: is_over(job))  # under MPICH a process that outlives mpirun says it
    assert job.summary()["status"] == "RANK_LOST"
    assert job.statuses()[victim] == "RANK_LOST"
    assert "OK" not in job.statuses()
    for r in range(3):
        assert tg("verify", job.out / f"rank{r}").returncode == 0
    explained = tg("explain", job.out)
    assert (explained.returncode, explained.stderr) == (1, ""), explained
    if job.launcher == "local":
        assert process.returncode == 3
        assert explained.stdout.startswith(f"rank {victim}: RANK_LOST: its process was ended by signal 9")
        assert f"rank {victim} (pid" in err and "SIGKILL" in err
        assert "signal 9, SIGKILL" in job.summary()["rank"][victim]["error"]


def first_rank(launcher):
    """The process of rank 0: the launcher, or its own child, has started that first."""
    for child in pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
        if os.path.samefile(f"/proc/{child}/exe", PROGRAM):
            return int(child)
        if found := first_rank(child):
            return found
    return 0


def test_a_rank_that_is_killed_as_soon_as_it_is_described_is_named(job):
    """Not at every attempt in the moment that counts: before the watching process was there."""
    for attempt in range(8):
        process = job.begin(2, steps=4000, ms=2)
        wait_until(job.out.exists)
        victim = first_rank(process.pid)
        while not (job.out / "ranks.json").exists():
            assert process.poll() is None, process.communicate()
        os.kill(victim, signal.SIGKILL)
        process.communicate(timeout=TIMEOUT)
        wait_until(lambda: is_over(job))
        assert job.statuses()[0] == "RANK_LOST", attempt
        job.out.rename(job.directory / f"out{attempt}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_launcher_ends_all_ranks(local, tg, number):
    process = local.begin(3, "--dump-tensor", steps=4000, ms=2)
    wait_until(lambda: is_recording(local, 3))
    process.send_signal(number)
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == -number, (out, err)
    assert "CANCELLED" in err
    assert set(local.statuses()) <= {"CANCELLED", "RANK_LOST"}
    assert local.summary()["status"] == "CANCELLED"
    for r in range(3):
        assert tg("verify", local.out / f"rank{r}").returncode == 0


def test_ranks_end_if_their_launcher_is_killed(local):
    process = local.begin(3, steps=4000, ms=2)
    wait_until((local.out / "rank2" / "live.sock").exists)
    pids = [rank["pid"] for rank in local.summary()["rank"]]
    process.kill()
    process.communicate(timeout=TIMEOUT)

    def is_gone(pid):
        try:
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        return state in "ZX"
    wait_until(lambda: all(map(is_gone, pids)))
    wait_until(lambda: is_over(local))


def test_a_ranks_json_that_cannot_be_written_at_the_end_is_told(tmp_path):
    """It would say RUNNING for ever."""
    job = Job(tmp_path, "local")
    process = job.begin(2, steps=100, ms=20)
    while not (job.out / "ranks.json").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    first = job.summary()["rank"][0]["pid"]
    os.kill(first, signal.SIGSTOP)
    (job.out / "ranks.json").rename(job.out / "first.json")
    (job.out / "ranks.json" / "full").mkdir(parents=True)  # no file takes its place
    os.kill(first, signal.SIGCONT)
    _, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0, said
    assert "warning: " in said and "ranks.json" in said


def explained(job):
    """What `explain` says of the ranks together."""
    said = subprocess.run([PROGRAM, "explain", job.out, "--json"], capture_output=True, text=True, check=False)
    return json.loads(said.stdout)["together"]


def test_a_job_that_was_killed_whole_does_not_go_on(tmp_path):
    """Nobody was left to change what ranks.json says."""
    job = Job(tmp_path, "local")
    process = job.begin(2, "--dump-tensor", steps=2000, ms=2)
    while not all((job.out / f"rank{r}" / "tensor_dump").is_dir() for r in range(2)):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    assert explained(job)["state"] == "goes on"
    victims = [process.pid, *(rank["pid"] for rank in job.summary()["rank"] if rank["pid"])]
    for victim in victims:
        os.kill(victim, signal.SIGSTOP)  # so that none of them sees the end of another
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    process.communicate(timeout=TIMEOUT)
    assert job.statuses() == ["RUNNING"] * 2
    while (together := explained(job))["state"] == "goes on":
        time.sleep(0.1)  # a device has the folder's lock too, and takes a moment to see that its host is gone
    assert together["state"] == "failed"
    assert [end["status"] for end in together["ends"]] == ["RANK_LOST"] * 2
    assert "which of them was first is not known" in together["root"]
