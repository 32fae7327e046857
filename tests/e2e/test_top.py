# SPDX-License-Identifier: Apache-2.0
"""taskglass top, and the socket on which a run answers. Nothing here depends on how long something takes:
every test waits until it sees what it looks for."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import time

import pytest

from conftest import PROGRAM, TIMEOUT, clean_environment, workload
from test_terminal import Terminal

RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]
SIMULATORS = ["a2a3sim", "a5sim"]
# Tasks of a chain that no test waits for.
ENDLESS = [workload("slow"), "--case", "chain", "--set", "n=10000", "--set", "ms=20"]


class Job:
    """A run in the background; ends with the test."""

    def __init__(self, tg, *args, output="out", env=None):
        self.tg, self.dir = tg, tg.directory / output
        self.process = subprocess.Popen([PROGRAM, "run", *map(str, args), "--output", output],
                                        cwd=tg.directory, env=clean_environment(**(env or {})),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGINT)
        self.process.wait(TIMEOUT)

    @property
    def socket(self):
        return self.dir / "live.sock"

    def answers(self):
        """Answers, from the first on, for as long as the run gives them."""
        until(lambda: self.process.poll() is not None or is_listening(self.socket))
        connection = connect(self.socket)
        lines = connection.makefile()
        while True:
            connection.sendall(b'{"ask": "all"}\n')
            yield json.loads(lines.readline())

    def until(self, is_seen):
        """The first answer that shows what is looked for."""
        for answer in self.answers():
            if is_seen(answer):
                return answer
            time.sleep(0.01)


def until(is_so):
    end = time.monotonic() + TIMEOUT
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def connect(path):
    """A path may be longer than an address: go through the directory's descriptor."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(TIMEOUT)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
    return connection


def is_listening(path):
    try:
        connect(path).close()
    except OSError:
        return False
    return True


def has_lines(text, lines):
    return all(re.search(rf"^  {line}$", text, re.M) for line in lines)


def is_at_work(answer):
    return (answer["phase"] == "running" and answer["tasks"]["finished"] > 0
            and any(core["task"] for core in answer["cores"]) and answer["waits"])


# --- what a run answers -------------------------------------------------------------------------

@pytest.mark.parametrize("platform", SIMULATORS)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_run_says_what_it_does_on_every_runtime(tg, platform, runtime):
    with Job(tg, *ENDLESS, "--platform", platform, "--runtime", runtime, "--dump-tensor") as job:
        answer = job.until(lambda a: is_at_work(a) and a["recorder"]["records"] > 0)
        assert answer["version"] == 1 and answer["pid"] == job.process.pid
        assert [answer[key] for key in ("workload", "case", "platform", "runtime")] == \
            ["slow", "chain", platform, runtime]
        busy = [core for core in answer["cores"] if core["task"]]
        assert [core["kernel"] for core in busy] == ["slow_wait"]
        wait = answer["waits"][0]
        assert int(wait["task"], 16) == int(wait["waits_for"], 16) + 1
        assert answer["recorder"]["lost"] == {"full": 0, "gave_up": 0}
        assert answer["hang_seconds"] == 10
        if runtime == RUNTIMES[0]:
            assert answer["tasks"]["total"] == 10000 and answer["rings"] == []
            assert answer["orchestrator"] is None
        else:
            # An answer is sampled while tasks are submitted, so the two agree at the latest when all of them are.
            job.until(lambda a: sum(ring["tasks"] for ring in a["rings"]) == a["tasks"]["submitted"])
            assert re.search(r"slow/\w+\.c:\d+$", answer["orchestrator"]["scope"])
            assert answer["orchestrator"]["state"] in ("running", "returned")


def test_a_run_says_what_its_orchestration_waits_for(tg):
    with Job(tg, *ENDLESS, "--runtime", "aicpu_build_graph", "--ring-task-window", "16") as job:
        answer = job.until(lambda a: is_at_work(a) and a["orchestrator"]["waits_for"])
        assert answer["orchestrator"]["waits_for"] == "task slots"
        assert answer["orchestrator"]["waits_ring"] == 0 and answer["tasks"]["total"] is None
        assert answer["rings"][0]["task_window"] == 16 and not answer["rings_old"]
        lines = [r"tasks    \d+ of \d+ submitted so far, [\d.]+/s",
                 r"rings    fullest: task slots of ring 0, [\d.]+ % of --ring-task-window",
                 r"building waits for task slots of ring 0, in .*\.c:\d+"]
        until(lambda: has_lines(tg.good("top", "out", "--once").stdout, lines))


def test_the_socket_is_for_the_owner_alone_and_goes_with_the_run(tg):
    with Job(tg, *ENDLESS, "--shared") as job:
        job.until(is_at_work)
        mode = job.socket.lstat().st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600
    assert not job.socket.exists()
    assert json.loads((job.dir / "run.json").read_text())["result"]["status"] == "CANCELLED"


@pytest.mark.parametrize("how", [["--live=no"], []])
def test_a_run_may_be_told_not_to_answer(tg, how):
    env = {} if how else {"TASKGLASS_LIVE": "off"}
    with Job(tg, workload("slow"), "--set", "n=40", *how, env=env) as job:
        while job.process.poll() is None:
            assert not job.socket.exists()
            time.sleep(0.005)
    assert job.process.returncode == 0


def test_a_short_run_leaves_no_socket(tg):
    tg.good("run", "vector_add", "--output", "out")
    assert {path.name for path in (tg.directory / "out").iterdir()} == {"run.json"}


def test_a_path_may_be_longer_than_an_address(tg):
    deep = "/".join(["x" * 60] * 4)
    with Job(tg, *ENDLESS, output=deep) as job:
        job.until(is_at_work)
        assert ": slow, case chain, " in tg.good("top", deep, "--once").stdout


@pytest.mark.parametrize("garbage", [b"\n", b"GET / HTTP/1.1\r\n\r\n", b"[" * 2000, b"\xff" * 1024])
def test_garbage_gets_one_line_and_the_run_goes_on(tg, garbage):
    with Job(tg, *ENDLESS) as job:
        before = job.until(is_at_work)
        peer = connect(job.socket)
        peer.sendall(garbage)
        assert "error" in json.loads(peer.makefile().readline())
        job.until(lambda a: a["tasks"]["finished"] > before["tasks"]["finished"])


# --- a run that was killed, and the next one ----------------------------------------------------

def test_a_killed_run_is_told_from_one_that_ended_and_the_next_run_answers(tg):
    with Job(tg, *ENDLESS) as job:
        job.until(is_at_work)
        job.process.kill()
        job.process.wait(TIMEOUT)
        assert job.socket.exists()
        result = tg("top", "out")
        assert result.returncode == 2 and "was killed" in result.stderr
        assert "'taskglass recover out'" in result.stderr
        assert json.loads(tg("top", "out", "--json").stdout)["result"] == "not known"
    with Job(tg, *ENDLESS) as job:
        job.until(is_at_work)
        assert "slow, case chain" in tg.good("top", "out", "--once").stdout
    assert not job.socket.exists()


def test_a_short_run_removes_the_socket_of_a_killed_one(tg):
    with Job(tg, *ENDLESS) as job:
        job.until(is_at_work)
        job.process.kill()
    tg.good("run", "vector_add", "--output", "out")
    assert not job.socket.exists()


# --- top ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("runtime", RUNTIMES)
def test_top_follows_a_run_to_its_end(tg, runtime):
    with Job(tg, workload("slow"), "--case", "chain", "--set", "n=60", "--runtime", runtime) as job:
        until(job.dir.exists)
        result = tg.good("top", "out", "--interval", "0.05")
        assert job.process.wait(TIMEOUT) == 0
    first, *_, last = result.stdout.splitlines()
    assert re.fullmatch(rf"\w+ for [\d.]+ m?s: slow, case chain, on \w+, by {runtime}", first)
    assert re.fullmatch(r"the run in out has ended: OK, 60 of 60 tasks, [\d.]+ m?s", last)


def test_top_shows_tasks_rate_cores_waits_and_time_left(tg):
    with Job(tg, *ENDLESS, "--dump-tensor") as job:
        job.until(is_at_work)
        text = tg.good("top", "out", "--count", "2", "--interval", "0.2").stdout
    assert len(re.findall(r"^  tasks    \d+ of 10000 \(\d+ %\), [\d.]+/s, .* left$", text, re.M)) == 2
    assert len(re.findall(r"^  record   \d+ records, .*; .* records/s, .*/s$", text, re.M)) == 2
    assert re.search(r"^  waiting  \d+; among them \d+ for \d+$", text, re.M)
    assert re.search(r"^  cores    [01] of \d+ busy$", text, re.M)


def test_top_shows_a_hang_before_it_is_reported(tg):
    with Job(tg, workload("faults"), "--case", "spin", "--timeout", "600") as job:
        job.until(lambda a: a["tasks"]["finished"] == 3 and a.get("idle_seconds", 0) > 2)
        text = tg.good("top", "out", "--count", "2", "--interval", "0.1").stdout
        narrow = tg.good("top", "out", "--once", env={"COLUMNS": "40"}).stdout
    assert max(map(len, narrow.splitlines())) == 40
    assert re.search(r"^  tasks    3 of 7 \(43 %\), 0/s$", text, re.M)
    assert re.search(r"^  idle     no task has finished for .* s; a hang is reported at 600 s$", text,
                     re.M)
    assert re.search(r"^  waiting  3; among them 4 for 3$", text, re.M)
    assert re.search(r"AIV\d  fault_spin, task 3, for at least .* m?s$", text, re.M)


def test_top_follows_a_hang_to_its_end(tg):
    with Job(tg, workload("faults"), "--case", "spin", "--timeout", "0.5") as job:
        until(job.dir.exists)
        result = tg.good("top", "out", "--interval", "0.1")
    assert "has ended: HANG, 3 of 7 tasks" in result.stdout
    assert "kernel fault_spin" in result.stdout.splitlines()[-1]


def test_top_of_a_run_that_has_ended_says_how(tg):
    assert tg("run", workload("faults"), "--case", "null", "--output", "out").returncode == 3
    result = tg.good("top", "out")
    assert result.stdout.startswith("the run in out has ended: KERNEL_FAULT, ")
    end = json.loads(tg.good("top", "out", "--json").stdout)
    assert (end["phase"], end["result"], end["exit_code"]) == ("ended", "KERNEL_FAULT", 3)


def test_top_prints_the_answers_for_programs(tg):
    with Job(tg, workload("slow"), "--set", "n=60", "--case", "chain") as job:
        until(job.dir.exists)
        result = tg.good("top", "out", "--json", "--interval", "0.05")
    *answers, end = map(json.loads, result.stdout.splitlines())
    assert answers and all(answer["version"] == 1 and answer["cores"] is not None
                           for answer in answers if answer["phase"] == "running")
    finished = [answer["tasks"]["finished"] for answer in answers]
    assert finished == sorted(finished)
    assert end["phase"] == "ended" and end["tasks"] == {"total": 60, "finished": 60}


def test_top_finds_the_newest_run_that_goes_on(tg):
    result = tg("top")
    assert result.returncode == 2 and "no run under outputs/" in result.stderr
    tg.good("run", "vector_add")
    assert "has ended: OK" in tg.good("top").stdout
    with Job(tg, *ENDLESS, output="outputs/going_on") as job:
        job.until(is_at_work)
        tg.good("run", "vector_add")  # newer, but over
        assert ": slow, case chain, " in tg.good("top", "--once").stdout


@pytest.mark.parametrize("args, part", [
    (["--interval", "0"], "from 0.05 to 3600"), (["--interval", "0x10"], "from 0.05 to 3600"),
    (["--once", "--count", "3"], "contradict"), (["a", "b"], "b")])
def test_nonsense_is_one_line(tg, args, part):
    result = tg("top", *args)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.count("\n") == 1 and part in result.stderr


def test_what_is_not_known_is_a_document_too(tg):
    for args in (["nowhere"], ["."], []):
        result = tg("top", *args, "--json")
        answer = json.loads(result.stdout)
        assert result.returncode == 2 and answer["result"] == "not known"
        assert answer["reason"] in result.stderr and result.stderr.count("\n") == 1


def test_who_asks_a_stopped_run_once_is_told_so(tg):
    with Job(tg, *ENDLESS) as job:
        job.until(is_at_work)
        job.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, job.process.pid, os.WSTOPPED | os.WNOWAIT)
        try:
            result = tg("top", "out", "--once", "--json")
        finally:
            job.process.send_signal(signal.SIGCONT)
        assert result.returncode == 2 and "is the run stopped?" in result.stderr
        assert json.loads(result.stdout)["result"] == "not known"


def test_top_draws_in_place_and_q_ends_it(tg):
    with Job(tg, *ENDLESS) as job:
        job.until(is_at_work)
        terminal = Terminal(tg.directory, ["top", "out", "--interval", "0.05"])
        terminal.wait_for(b"A\r\x1b[J")  # up to the page's begin, and erased
        terminal.type(b"q")
        assert terminal.wait() == 0
        assert job.process.poll() is None


def test_ctrl_c_ends_top_and_not_the_run(tg):
    with Job(tg, *ENDLESS) as job:
        job.until(is_at_work)
        terminal = Terminal(tg.directory, ["top", "out", "--interval", "0.05"])
        terminal.wait_for(b"A\r\x1b[J")
        terminal.type(b"\x03")
        assert terminal.wait() == -signal.SIGINT
        assert job.process.poll() is None
