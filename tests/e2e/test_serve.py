# SPDX-License-Identifier: Apache-2.0
"""taskglass serve: what it serves, its questions, and runs that go on. Nothing here depends on how long something
takes: every test waits until it sees what it looks for."""

import io
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess

import numpy as np
import pytest

from conftest import PROGRAM, TIMEOUT, clean_environment, one_line, workload
from platforms import FAR_LIMIT, simulators_only
from recordings import peer
from serving import Direct, Server, is_alive, needs_server, until
from test_top import ENDLESS, Job

pytestmark = needs_server
RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]
ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def recorded(tg):
    tg.good("run", "matmul_chain", "--dump-tensor", "--deps", "--output", "outputs/one")
    return tg


def columns(answer):
    """The header and the columns of an answer in columns, as docs/workbench-protocol.md has it."""
    magic, version, size, zero = struct.unpack_from("<4I", answer.body)
    assert (magic, version, zero) == (0x43574754, 1, 0)
    header = json.loads(answer.body[16:16 + size])
    begin = 16 + (size + 7) // 8 * 8
    types = {"u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "f32": "<f4", "f64": "<f8"}
    return header, {column["name"]: np.frombuffer(answer.body, types[column["type"]], column["count"],
                                                  begin + column["offset"]) for column in header["columns"]}


# --- starting and ending -------------------------------------------------------------------------

def test_the_page_and_its_files_are_at_the_printed_address(recorded):
    with Server(recorded) as server:
        assert re.fullmatch(rf"http://127\.0\.0\.1:{server.port}/[0-9a-f]{{32}}/", server.address)
        page = server.get("")
        assert page.status == 200 and page.headers["Content-Type"].startswith("text/html")
        for name, kind in (("app.js", "text/javascript"), ("app.css", "text/css")):
            assert name in page.text
            file = server.get(name)
            assert file.status == 200 and file.headers["Content-Type"].startswith(kind), name


def test_the_address_without_its_last_slash_leads_to_the_page(recorded):
    with Server(recorded) as server:
        answer = server.get(server.base[:-1], base="")
        assert (answer.status, answer.headers["Location"]) == (308, server.base)


def test_it_prints_the_address_alone_in_a_pipe(recorded):
    process = subprocess.Popen([PROGRAM, "serve"], cwd=recorded.directory, env=clean_environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    rest, stderr = process.communicate(timeout=TIMEOUT)
    assert first.startswith("http://127.0.0.1:") and (rest, stderr, process.returncode) == ("", "", 0)


def test_the_only_run_is_read_before_anybody_asks(recorded):
    with Server(recorded, "outputs/one") as server:
        until(lambda: "tensor_dump.rec" in pathlib.Path(f"/proc/{server.pid}/maps").read_text())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_its_process(recorded, number):
    server = Server(recorded)
    assert server.end(number) == (0, "")
    assert not is_alive(server.pid)


def test_it_ends_when_the_command_is_killed(recorded):
    server = Server(recorded)
    server.process.kill()
    server.process.communicate(timeout=TIMEOUT)
    until(lambda: not is_alive(server.pid))


def test_a_server_that_is_killed_is_an_error(recorded):
    server = Server(recorded)
    os.kill(server.pid, signal.SIGKILL)
    stderr = server.process.communicate(timeout=TIMEOUT)[1]
    assert server.process.returncode == 2 and one_line(stderr) and "the server was killed" in stderr


@pytest.mark.parametrize("args, words", [
    (["nowhere"], "nowhere"), (["--port", "65536"], "from 0 to 65535"), (["--port", "x"], "--port"),
    (["a", "b", "c"], "one too many"), (["--host", "nowhere.invalid"], "nowhere.invalid"),
    (["--host", ""], "host ''"), (["/dev/null"], "neither a directory nor a file")])
def test_what_cannot_be_served_is_one_line(recorded, args, words):
    result = recorded("serve", *args)
    assert result.returncode == 2 and one_line(result.stderr) and words in result.stderr, result
    assert result.stdout == ""


def test_an_address_that_nobody_can_read_ends_it(recorded):
    with open("/dev/full", "w") as full:
        result = subprocess.run([PROGRAM, "serve"], cwd=recorded.directory, env=clean_environment(), stdout=full,
                                stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
    assert result.returncode == 2 and one_line(result.stderr) and "standard output" in result.stderr


def test_programs_are_told_why_it_does_not_start(recorded):
    result = recorded("serve", "nowhere", "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 2 and document["result"] == "not known" and "nowhere" in document["reason"]


def test_a_port_can_be_chosen_and_a_taken_one_is_refused(recorded):
    with Server(recorded) as server:
        result = recorded("serve", "--port", server.port)
        assert result.returncode == 2 and one_line(result.stderr) and f"port {server.port} is in use" in result.stderr
    with Server(recorded, "--port", server.port) as again:
        assert again.port == server.port and again.base != server.base


def test_open_gives_the_browser_a_file_that_leads_to_the_page(recorded):
    """And no command line has the token, because other users can read it."""
    browser = recorded.directory / "browser"
    browser.write_text('#!/bin/sh\ncp -p "$1" seen.html.new\nmv seen.html.new seen.html\n')
    browser.chmod(0o755)
    with Server(recorded, "--open", env={"BROWSER": str(browser), "XDG_RUNTIME_DIR": "",
                                         "TMPDIR": str(recorded.directory)}) as server:
        seen = recorded.directory / "seen.html"
        until(seen.exists)
        assert server.address in seen.read_text() and seen.stat().st_mode & 0o777 == 0o600
        for process in (server.pid, server.process.pid):
            assert server.base.strip("/").encode() not in pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
        assert len(list(recorded.directory.glob("taskglass-*.html"))) == 1
    assert list(recorded.directory.glob("taskglass-*.html")) == []


def test_a_missing_browser_is_a_warning(recorded):
    server = Server(recorded, "--open", env={"BROWSER": "./no-such-browser"})
    assert server.get("").status == 200
    code, stderr = server.end()
    assert code == 0 and one_line(stderr) and "no-such-browser" in stderr


# --- what it serves ------------------------------------------------------------------------------

def requests_of(record, task):
    """Every request of the workbench, with parameters for a recording that has this tensor and this task."""
    at = {"rows": -1, "cols": 0, "at": "0", "level": 0, "row": 0, "col": 0}
    return {
        "runs": {}, "run": {"run": "KEY"}, "timeline": {"run": "KEY"}, "edges": {"run": "KEY"},
        "task": {"run": "KEY", "task": task}, "records": {"run": "KEY", "first": 0, "count": 5},
        "tensor": {"run": "KEY", "record": record}, "heatmap": {"run": "KEY", "record": record, **at},
        "difference": {"run": "KEY", "record": record, "other": "KEY", "other_record": record, "mode": "abs", **at},
        "values": {"run": "KEY", "record": record, **{key: at[key] for key in ("rows", "cols", "at", "row", "col")}},
        "stats": {"run": "KEY", "record": record}, "histogram": {"run": "KEY", "record": record},
        "npy": {"run": "KEY", "record": record}, "rings": {"run": "KEY"}, "explain": {"run": "KEY"},
        "ranks": {"run": "KEY"}, "calls": {"run": "KEY"}}


def fitted(server, key, name, parameters):
    """The parameters for that run, with the default plane of its tensor."""
    asked = {word: key if value == "KEY" else value for word, value in parameters.items()}
    if "rows" in asked:
        tensor = server.ask("tensor", run=key, record=asked["record"])
        asked.update(rows=tensor["rows"], cols=tensor["cols"], at=",".join("0" for _ in tensor["view"]))
    return asked


def first_tensor(server, key):
    """A record of a task's tensor that has values."""
    for record in server.ask("records", run=key, first=0, count=500)["records"]:
        if record["kind"] == "tensor" and record["task"] is not None and \
                server.ask("tensor", run=key, record=record["index"])["readable"]:
            return record
    return None


def check_answer(name, answer):
    kind = answer.headers["Content-Type"]
    if answer.status != 200:
        assert answer.status == 409 and set(answer.json()["error"]) == {"status", "text"}, (name, answer.text)
    elif name in ("timeline", "edges", "heatmap", "difference", "calls"):
        assert kind == "application/octet-stream" and columns(answer)
    elif name == "npy":
        assert np.load(io.BytesIO(answer.body)).size > 0
        assert re.search(r'filename="[\w.-]+\.npy"', answer.headers["Content-Disposition"])
    else:
        assert kind == "application/json" and answer.json() is not None


def check_all_requests(server, key):
    record = first_tensor(server, key)
    for name, parameters in requests_of(record["index"], record["task"]).items():
        check_answer(name, server.api(name, **fitted(server, key, name, parameters)))


def test_the_test_knows_every_request():
    table = (ROOT / "src/workbench/requests.h").read_text()
    assert set(re.findall(r'X\("(\w+)"', table)) == set(requests_of(0, "0"))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_request_answers_on_a_recording_of_each_runtime(tg, runtime):
    tg.good("run", "matmul_chain", "--runtime", runtime, "--dump-tensor", "--deps", "--enable-scope-stats", "--output",
            "outputs/one")
    with Server(tg) as server:
        check_all_requests(server, server.ask("runs")["runs"][0]["key"])


def test_every_request_answers_on_a_run_of_ranks_and_on_each_rank(tg):
    tg.good("run", "--ranks", 2, "ring_attention", "--dump-tensor", "--output", "outputs/job")
    with Server(tg) as server:
        run, = server.ask("runs")["runs"]
        assert (run["key"], run["ranks"]) == ("job", 2)
        ranks = server.ask("ranks", run="job")["ranks"]
        assert [rank["key"] for rank in ranks] == ["job@0", "job@1"]
        calls = columns(server.api("calls", run="job"))
        assert calls
        for rank in ranks:
            check_all_requests(server, rank["key"])
        for name in ("run", "timeline", "edges", "records", "explain"):
            check_answer(name, server.api(name, **fitted(server, "job", name, {"run": "KEY"})))


@pytest.mark.parametrize("name", ["unified", "first_form"])
def test_recordings_of_the_other_implementation_are_served(tg, name):
    with Server(tg, ROOT / "tests" / "golden" / "peer" / name) as server:
        key = server.ask("runs")["only"]
        assert server.ask("run", run=key)["recording"]["foreign"]
        assert server.ask("records", run=key)["records"]


@pytest.mark.parametrize("name", ["hbg_level2", "tmr_level1", "tmr_level2", "tmr_level3", "truncated_manifest_only"])
def test_recordings_beside_the_checkout_are_served(tg, name):
    with Server(tg, peer(name)) as server:
        key = server.ask("runs")["only"]
        record = first_tensor(server, key)
        if record is not None:
            check_all_requests(server, key)
        assert server.ask("records", run=key)["records"]


def test_a_directory_of_runs_one_run_and_two_runs_are_told_apart(recorded):
    recorded.good("run", "vector_add", "--dump-tensor", "--output", "outputs/two")
    with Server(recorded) as server:
        runs = server.ask("runs")
        assert (runs["only"], runs["compare"]) == (None, None)
        assert {run["name"] for run in runs["runs"]} == {"one", "two"}
    with Server(recorded, "outputs/two") as server:
        runs = server.ask("runs")
        assert runs["only"] == runs["runs"][0]["key"] and len(runs["runs"]) == 1
    with Server(recorded, "outputs/one", "outputs/two") as server:
        compare = server.ask("runs")["compare"]
        names = {run["key"]: run["name"] for run in server.ask("runs")["runs"]}
        assert (names[compare["a"]], names[compare["b"]]) == ("one", "two")


def test_a_download_is_the_tensor_itself(recorded):
    with Server(recorded) as server:
        record = first_tensor(server, "one")
        array = np.load(io.BytesIO(server.api("npy", run="one", record=record["index"]).body))
    recorded.good("export", "outputs/one", "--index", record["index"], "-o", "right.npy")
    assert np.array_equal(array, np.load(recorded.directory / "right.npy"))


def test_a_head_has_the_headers_of_a_get_and_no_body(recorded):
    with Server(recorded) as server:
        whole, head = server.get("api/runs"), server.get("api/runs", method="HEAD")
        assert head.status == 200 and head.body == b""
        assert head.headers["Content-Length"] == whole.headers["Content-Length"] == str(len(whole.body))


def test_one_connection_serves_many_requests(recorded):
    with Server(recorded) as server:
        connection = server.connect()
        for _ in range(3):
            connection.request("GET", server.base + "api/runs")
            assert connection.getresponse().read()
        connection.close()


def test_a_failed_run_is_shown_with_its_explanation(tg):
    assert tg("run", workload("faults"), "--case", "null", "--dump-tensor", "--output", "outputs/bad").returncode == 3
    with Server(tg) as server:
        run = server.ask("runs")["runs"][0]
        assert (run["state"], run["status"]) == ("failed", "KERNEL_FAULT")
        assert "fault_null" in server.ask("explain", run=run["key"])["root"]["text"]


# --- questions -----------------------------------------------------------------------------------

def test_every_question_gives_the_answer_of_its_command(recorded):
    recorded.good("run", "matmul_chain", "--dump-tensor", "--deps", "--output", "outputs/two")
    with Server(recorded) as server:
        for question in server.ask("questions"):
            parameters = {"verb": question["verb"], "run": "one"}
            if question["what"]:
                parameters["what"] = question["what"]
            if question["runs"] == 2:
                parameters["b"] = "two"
            job = server.job(**parameters)
            assert (job["state"], job["error"]) == ("done", ""), job
            pasted = subprocess.run(["bash", "-c", job["command"] + " --json"], cwd=recorded.directory, text=True,
                                    env=clean_environment(PATH=f"{PROGRAM.parent}:{os.environ['PATH']}"),
                                    capture_output=True, timeout=TIMEOUT)
            assert job["exit"] == pasted.returncode, job
            if question["verb"] != "check":  # whose answer has times
                assert job["answer"] == json.loads(pasted.stdout), job["command"]


def test_an_option_of_a_question_narrows_its_answer(recorded):
    with Server(recorded) as server:
        wide, narrow = server.job(verb="stats", run="one"), server.job(verb="stats", run="one", task="3", stage="after")
        assert 0 < len(narrow["answer"]["tensors"]) < len(wide["answer"]["tensors"])
        assert narrow["command"] == "taskglass stats outputs/one --task 3 --stage after"


def test_what_a_command_refuses_is_an_answer_with_its_words(recorded):
    with Server(recorded) as server:
        job = server.job(verb="stats", run="one", task="nonsense")
        assert (job["state"], job["exit"]) == ("failed", 2)
        assert "nonsense" in job["error"] and job["text"] == job["error"] + "\n"


@pytest.mark.parametrize("parameters, status", [
    ({"verb": "run", "run": "one"}, 400), ({"verb": "find", "run": "one"}, 400), ({"run": "one"}, 400),
    ({"verb": "check", "run": "one", "module": "x.so"}, 400), ({"verb": "stats", "run": "one", "task": "-1"}, 400),
    ({"verb": "stats", "run": "../one"}, 404), ({"verb": "stats", "run": "nowhere"}, 404)])
def test_what_is_no_question_is_refused(recorded, parameters, status):
    with Server(recorded) as server:
        answer = server.api("ask", **parameters)
        assert answer.status == status and answer.json()["error"]["text"]


def test_a_job_that_does_not_exist_is_not_found(recorded):
    with Server(recorded) as server:
        assert server.api("job", job=7).status == server.api("cancel", job=7).status == 404
        assert server.api("job").status == server.api("job", job="x").status == 400


def test_the_same_question_is_asked_once_until_the_files_change(recorded):
    with Server(recorded) as server:
        first = server.job(verb="verify", run="one")
        assert server.job(verb="verify", run="one")["job"] == first["job"]
        recorded.good("run", "matmul_chain", "--dump-tensor", "--output", "outputs/one")
        assert until(lambda: (job := server.job(verb="verify", run="one"))["job"] != first["job"] and job)


def program(tg, text):
    """A program in the place of the command line."""
    path = tg.directory / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def sleeper(tg):
    return program(tg, "echo $$ >>started; sleep 10000 & echo $! >>started; wait")


def started(tg, n):
    """The processes that the program has started."""
    path = tg.directory / "started"
    return until(lambda: path.exists() and len(path.read_text().split()) >= n and path.read_text().split())


def test_a_cancelled_job_ends_with_all_that_it_started(recorded):
    with Direct(recorded.directory, sleeper(recorded), "outputs") as server:
        job = server.ask("ask", verb="verify", run="one")
        processes = started(recorded, 2)
        server.ask("cancel", job=job["job"])
        end = until(lambda: (seen := server.ask("job", job=job["job"]))["state"] != "working" and seen)
        assert (end["state"], end["exit"], end["answer"]) == ("stopped", None, None)
        until(lambda: not any(map(is_alive, processes)))


def test_jobs_end_with_the_server(recorded):
    with Direct(recorded.directory, sleeper(recorded), "outputs") as server:
        server.ask("ask", verb="verify", run="one")
        processes = started(recorded, 2)
    until(lambda: not any(map(is_alive, processes)))


def test_jobs_end_when_the_server_is_killed(recorded):
    server = Direct(recorded.directory, program(recorded, "echo $$ >started; exec sleep 10000"), "outputs")
    server.ask("ask", verb="verify", run="one")
    processes = started(recorded, 1)
    server.process.kill()
    server.process.communicate(timeout=TIMEOUT)
    os.close(server.life)
    until(lambda: not any(map(is_alive, processes)))


def test_two_jobs_run_at_a_time_and_too_many_are_refused(recorded):
    with Direct(recorded.directory, sleeper(recorded), "outputs") as server:
        jobs = [server.ask("ask", verb="stats", run="one", task=str(task)) for task in range(18)]
        assert len({job["job"] for job in jobs}) == 18
        started(recorded, 4)
        states = [server.ask("job", job=job["job"])["queued"] for job in jobs]
        assert states == [False] * 2 + [True] * 16
        refused = server.api("ask", verb="stats", run="one", task="99")
        assert refused.status == 503 and refused.json()["error"]["status"] == "BUSY"
        server.ask("cancel", job=jobs[0]["job"])
        until(lambda: not server.ask("job", job=jobs[2]["job"])["queued"])


@pytest.mark.parametrize("text, words", [
    ("echo '{\"half\": '", "no answer in JSON"), ("true", "no answer in JSON"), ("kill -SEGV $$", "Segmentation fault"),
    ("yes '[1, 2, 3],'", "larger than 64 MiB"), ("echo 1 2", "no answer in JSON")])
def test_a_command_without_an_answer_has_failed(recorded, text, words):
    with Direct(recorded.directory, program(recorded, text), "outputs") as server:
        job = server.job(verb="verify", run="one")
        assert (job["state"], job["answer"]) == ("failed", None) and words in job["error"], job


def test_a_job_has_no_input_no_terminal_and_few_variables(recorded):
    text = 'printf \'{"in": "%s", "secret": "%s"}\' "$(cat; tty)" "$SECRET$SSH_AUTH_SOCK"'
    with Direct(recorded.directory, program(recorded, text), "outputs",
                env={"SECRET": "x", "SSH_AUTH_SOCK": "y"}) as server:
        assert server.job(verb="verify", run="one")["answer"] == {"in": "not a tty", "secret": ""}


def test_without_the_command_line_there_are_no_questions(recorded):
    with Direct(recorded.directory, "", "outputs") as server:
        assert server.ask("runs")["runs"]
        answer = server.api("questions")
        assert answer.status == 409 and answer.json()["error"]["status"] == "UNSUPPORTED"


# --- runs that go on -----------------------------------------------------------------------------

@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_run_is_watched_from_its_work_to_its_end(tg, runtime):
    with Job(tg, *ENDLESS, "--runtime", runtime, "--dump-tensor", "--deps") as job:
        job.until(lambda answer: answer["phase"] == "running" and answer["tasks"]["finished"] > 0)
        with Server(tg, "out") as server:
            key = server.ask("runs")["only"]
            assert server.ask("run", run=key)["live"]
            with server.events(key) as events:
                finished, generations = [], set()
                for name, data in events:
                    if name == "live":
                        finished.append(data["tasks"]["finished"])
                    elif name == "grown":
                        generations.add(data["generation"])
                    if len(generations) > 2 and finished and finished[-1] > finished[0]:
                        break
                job.process.send_signal(signal.SIGINT)
                name, data = next(event for event in events if event[0] == "ended")
                assert data["key"] == key and data["state"] != "running"
                assert next(events, None) is None
            assert not server.ask("run", run=key)["live"]


def test_the_events_of_a_run_that_has_ended_are_its_end(recorded):
    with Server(recorded) as server:
        with server.events("one") as events:
            assert [(name, data["key"]) for name, data in events] == [("ended", "one")]


def test_events_need_a_run_that_is_served(recorded):
    with Server(recorded) as server:
        assert server.get("events?run=nowhere").status == 404
        assert server.get("events").status == server.get("events?run=one&x=1").status == 400


@simulators_only
def test_a_hang_is_explained_and_goes_on(tg):
    with Job(tg, workload("faults"), "--case", "spin", *FAR_LIMIT) as job:
        job.until(lambda answer: answer["phase"] == "running" and any(core["task"] for core in answer["cores"]))
        with Server(tg, "out") as server:
            key = server.ask("runs")["only"]
            until(lambda: "fault_spin" in server.ask("explain", run=key)["root"]["text"])
            asked = server.job(verb="explain", run=key)
            assert asked["exit"] == 0 and asked["answer"]["result"] == "goes on"
            assert job.process.poll() is None


def test_a_new_run_appears_in_the_list(recorded):
    with Server(recorded) as server:
        assert len(server.ask("runs")["runs"]) == 1
        recorded.good("run", "vector_add", "--output", "outputs/new")
        assert until(lambda: len(runs := server.ask("runs")["runs"]) == 2 and runs)
        shutil.rmtree(recorded.directory / "outputs/new")
        until(lambda: len(server.ask("runs")["runs"]) == 1)
