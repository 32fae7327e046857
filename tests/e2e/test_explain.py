# SPDX-License-Identifier: Apache-2.0
"""taskglass explain: planted hangs and failures, each with the root that it must name, after the run has ended
and while it hangs. Nothing here depends on how long something takes."""

import json
import os
import shutil
import signal
import socket
import threading

import pytest

from conftest import PLATFORMS, TEST_WORKLOADS, workload
from platforms import FAR_LIMIT, SANITIZED, limits_for, simulators_only, until
from test_top import Job, until as wait_until

HOST, AICPU, TENSORMAP = "host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"
RUNTIMES = (HOST, AICPU, TENSORMAP)
FAULTS, RINGS, HANGS = workload("faults"), workload("rings"), workload("hangs")
THREE = ("--cores", "3")

# name: workload, case, runtimes, options, status, kind of the root, words of the root, kinds of the links, words
# of the chain.
PLANTED = {
    "a kernel spins": (FAULTS, "spin", RUNTIMES, (), "HANG", "kernel",
                       "task 3 (fault_spin) does not return", ["task"] * 4,
                       ["task 6 (fault_none)", "task 3 (fault_spin) ran on core"]),
    "a long chain behind it": (FAULTS, "spin", (TENSORMAP,), ("--set", "after=300"), "HANG", "kernel",
                               "task 3 (fault_spin) does not return",
                               ["task"] * 3 + ["more"] + ["task"] * 6,
                               ["task 303 (fault_none)", "292 more tasks"]),
    "a task waits for one of two": (HANGS, "join", (HOST,), (), "HANG", "kernel",
                                    "task 1 (spin) does not return", ["task"] * 2,
                                    ["task 2 (step) waits for 1 of 2 predecessors"]),
    "a part of a mix has returned": (FAULTS, "mix_skip", (HOST, TENSORMAP), THREE, "HANG", "mix",
                                     "its part AIC has returned, and AIV0 and AIV1 still run",
                                     ["task"] * 4, []),
    "a mix waits for a core": (HANGS, "mix_core", (AICPU,), THREE, "HANG", "kernel",
                               "(spin) does not return", ["task"] * 2,
                               ["task 3 (part_aic+part_aiv+part_aiv) waits for core", "(spin) ran on core"]),
    "a ring is full behind a kernel": (FAULTS, "spin", (AICPU,),
                                       ("--set", "after=40", "--ring-task-window", "8"), "HANG", "kernel",
                                       "task 3 (fault_spin) does not return",
                                       ["orchestration", "ring", "task", "task", "task"],
                                       ["waits", "task slots of ring 0 (8 of 8 in use)", "workloads/faults/"]),
    "a value of a task behind a hung one": (HANGS, "result", (AICPU, TENSORMAP), (), "HANG", "kernel",
                                            "task 0 (spin) does not return",
                                            ["orchestration", "task", "task"],
                                            ["for the result of task 1", "task 1 (step) waits"]),
    "a ready task whose only core is busy": (HANGS, "beside", (AICPU, TENSORMAP),
                                             ("--cores", "1", "--schedule", "lifo"), "HANG", "kernel",
                                             "task 1 (spin) does not return", ["orchestration", "task", "task"],
                                             ["for the result of task 0", "task 0 (step) is ready, but core 0"]),
    "a pair of the schedule": (HANGS, "beside", (AICPU, TENSORMAP), (*THREE, "--schedule", "order:1-0"), "HANG",
                               "kernel", "task 1 (spin) does not return", ["orchestration", "task", "task"],
                               ["task 0 (step) is held back by the schedule until task 1 has completed"]),
    "a pair that waits for what cannot run": (HANGS, "beside", (TENSORMAP,),
                                              (*THREE, "--schedule", "order:9-0"), "HANG", "kernel",
                                              "task 1 (spin) does not return", ["orchestration", "task", "task"],
                                              ["held back by the schedule until task 9 has completed"]),
    "the orchestration computes": (RINGS, "hang_here", (TENSORMAP,), (), "HANG", "orchestration",
                                   "the orchestration computes in the scope of", ["orchestration"], []),
    "a scope is too large": (RINGS, "tasks", (TENSORMAP,), ("--ring-task-window", "8"), "SCOPE_DEADLOCK",
                             "scope", "is still open and needs more task slots of ring",
                             ["orchestration", "ring", "scope", "scope"], ["8 of 8 are in use"]),
    "a heap is too small": (RINGS, "outputs", (AICPU,),
                            ("--ring-heap", "1024", "--set", "n=1", "--set", "size=100000"),
                            "HEAP_RING_DEADLOCK", "scope", "needs more heap of ring",
                            ["orchestration", "ring", "scope", "scope"], []),
    "a scope holds back what is read": (RINGS, "read_behind_held", (TENSORMAP,), (),
                                        "FLOW_CONTROL_DEADLOCK", "scope", "is still open, and holds back task",
                                        ["orchestration", "task", "task", "scope"], ["waits for the result"]),
    "slots wait for a held task": (RINGS, "after_held", (TENSORMAP,), ("--ring-task-window", "8"),
                                   "FLOW_CONTROL_DEADLOCK", "scope", "holds back task 2:0 (set)",
                                   ["orchestration", "ring", "task", "task", "scope"], []),
    "the map is too small": (RINGS, "held_tensors", (TENSORMAP,), ("--tensormap", "4", "--set", "n=100"),
                             "TENSORMAP_OVERFLOW", "scope", "needs more tensor map entries than there are",
                             ["orchestration", "ring", "scope", "scope"], []),
    "a kernel crashes": (FAULTS, "null", RUNTIMES, (), "KERNEL_FAULT", "crash", "Segmentation fault",
                         ["task"] * 4, ["task 3 (fault_null) crashed on core"]),
    "a kernel ends the device": (FAULTS, "exit", (AICPU,), (), "DEVICE_LOST", "device",
                                 "the device exited with status 7", [], []),
}


class Hung(Job):
    """A run that hangs in the background. The test kills it: a hung kernel that is asked to end gets a second."""

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


ROWS = [pytest.param(runtime, row, id=f"{name}-{runtime}") for name, row in PLANTED.items()
        for runtime in row[2]]


def explained(tg, *args, code=1):
    result = tg("explain", "out", "--json", *args)
    assert result.returncode == code, result
    return json.loads(result.stdout)


def is_like(why, kind, root, links):
    return (why["root"]["kind"] == kind and root in why["root"]["text"] and
            [link["kind"] for link in why["chain"]] == links)


def run_planted(tg, runtime, row, *more):
    """The explanation of a run that got as far as its planted fault."""
    path, case, _, options, status, kind, root, links, _ = row

    def run(limit):
        shutil.rmtree(tg.directory / "out", ignore_errors=True)
        tg("run", path, "--case", case, "--runtime", runtime, *options, "--output", "out", "--timeout", limit,
           *more)
        return explained(tg)
    return until(lambda why: is_like(why, kind, root, links), run, limits_for(status, 0.2))


def check(why, row):
    *_, status, kind, root, links, words = row
    assert (why["result"], why["status"]) == ("failed", status)
    assert why["root"]["kind"] == kind and root in why["root"]["text"], why
    assert [link["kind"] for link in why["chain"]] == links, why
    text = " <- ".join(link["text"] for link in why["chain"])
    assert all(word in text for word in words), text


@simulators_only
@pytest.mark.parametrize("runtime,row", ROWS)
def test_a_planted_fault_is_explained_by_its_root(tg, runtime, row):
    check(run_planted(tg, runtime, row), row)


@simulators_only
def test_the_other_simulator_explains_the_same(tg):
    row = PLANTED["a ring is full behind a kernel"]
    check(run_planted(tg, AICPU, row, "--platform", "a5sim"), row)


@simulators_only
def test_the_root_is_the_first_line_and_all_fits_on_a_screen(tg):
    row = PLANTED["a long chain behind it"]
    run_planted(tg, TENSORMAP, row)
    lines = tg("explain", "out").stdout.splitlines()
    assert lines[0].startswith("task 3 (fault_spin) does not return: it has run on core ")
    assert len(lines) <= 18
    assert [line.split()[0] for line in lines if line[2:3] not in (" ", "s")] == ["run", "chain", "cores", "also"]


@simulators_only
def test_a_killed_device_is_the_root(tg):
    with Job(tg, FAULTS, "--case", "spin", *FAR_LIMIT) as job:
        job.until(lambda answer: any(core["task"] for core in answer.get("cores") or []))
        os.kill(device_of(job.process.pid), signal.SIGKILL)
        job.process.wait()
    why = explained(tg)
    assert why["status"] == "DEVICE_LOST" and why["root"]["kind"] == "device"
    assert "killed by signal 9" in why["root"]["text"]


def device_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        for child in children.read().split():
            with open(f"/proc/{child}/comm") as name:
                if name.read().startswith("taskglass-devic"):
                    return int(child)
    raise AssertionError("the run has no device")


@simulators_only
def test_a_cancelled_run_says_so(tg):
    with Job(tg, workload("slow"), "--case", "chain", "--set", "n=10000", "--set", "ms=5") as job:
        job.until(lambda answer: answer["tasks"]["finished"] > 0)
    why = explained(tg)
    assert why["status"] == "CANCELLED" and why["root"]["kind"] == "cancelled"


def test_a_run_that_ended_well_says_so(tg):
    tg.good("run", HANGS, "--case", "none", "--output", "out")
    assert explained(tg, code=0)["result"] == "ended well"
    assert tg.good("explain", "out").stdout.startswith("the run in out ended well: all 1 tasks finished")


def test_a_wrong_result_is_no_hang(tg):
    tg("run", TEST_WORKLOADS / "broken" / "careless.so", "--case", "wrong_close", "--output", "out")
    why = explained(tg)
    assert (why["status"], why["root"]["kind"], why["looked"]) == ("MISMATCH", "result", False)
    assert "output 'y'" in why["root"]["text"]


def test_the_message_of_a_failed_run_names_the_command(tg):
    result = tg("run", FAULTS, "--case", "trap", "--output", "a b")
    assert "  why      taskglass explain 'a b'\n" in result.stderr


# --- while it hangs -----------------------------------------------------------------------------

def explain_live(tg, is_seen):
    """The first answer that shows what is looked for."""
    found = []

    def look():
        result = tg("explain", "out", "--json")
        found[:] = [json.loads(result.stdout)] if result.returncode == 0 else []
        return bool(found) and is_seen(found[0])
    wait_until(look)
    return found[0]


LIVE = ["a kernel spins", "a part of a mix has returned", "a mix waits for a core", "a ring is full behind a kernel",
        "a value of a task behind a hung one", "the orchestration computes"]


@simulators_only
@pytest.mark.parametrize("name,platform", [(name, PLATFORMS[i % len(PLATFORMS)]) for i, name in enumerate(LIVE)])
def test_a_run_that_hangs_explains_itself_and_goes_on(tg, name, platform):
    path, case, runtimes, options, _, kind, root, links, _ = PLANTED[name]
    with Hung(tg, path, "--case", case, "--runtime", runtimes[-1], *options, *FAR_LIMIT, "--platform",
             platform) as job:
        why = explain_live(tg, lambda why: is_like(why, kind, root.replace("does not return", "runs"), links))
        assert why["result"] == "goes on" and why["status"] is None
        assert job.process.poll() is None  # it was not ended


@simulators_only
@pytest.mark.skipif(SANITIZED, reason="a sanitizer may keep the signal from a thread that computes")
def test_a_run_that_hangs_says_in_which_line(tg):
    with Hung(tg, HANGS, "--case", "result", "--runtime", AICPU, *FAR_LIMIT):
        def has_lines(why):
            return len(why["cores"]) == 2 and all("site" in core for core in why["cores"])
        core, orchestration = explain_live(tg, has_lines)["cores"]
    assert core["site"]["file"].endswith("hangs/kernels.c") and core["kernel"] == "spin"
    assert orchestration["kind"] == "orchestration" and orchestration["called_at"]["function"] == "hangs"


@simulators_only
def test_an_answer_has_no_explanation_unless_it_is_asked_for(tg):
    with Hung(tg, FAULTS, "--case", "spin", *FAR_LIMIT) as job:
        answer = job.until(lambda answer: answer["phase"] == "running")
    assert "explanation" not in answer


def test_a_run_of_an_older_version_is_told_from_one_that_explains_itself(tg):
    """It refuses the word, and closes the connection; what it does answer is shown."""
    (tg.directory / "out").mkdir()
    old = socket.socket(socket.AF_UNIX)
    old.bind(str(tg.directory / "out" / "live.sock"))
    old.listen()
    answers = [b'{"version": 1, "error": "ask takes status, all, or a list"}\n',
               b'{"version": 1, "phase": "running", "tasks": {"submitted": 9, "finished": 2}}\n']

    def serve():
        for answer in answers:
            peer, _ = old.accept()
            peer.recv(1000)
            peer.sendall(answer)
            peer.close()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    why = explained(tg, code=0)
    thread.join()
    old.close()
    assert why["result"] == "goes on" and why["tasks"] == {"submitted": 9, "finished": 2}
    assert why["root"]["kind"] == "not known" and not why["looked"] and why["not_known"]


# --- what files say -----------------------------------------------------------------------------

def failed(tg):
    assert tg("run", FAULTS, "--case", "trap", "--output", "out").returncode == 3
    path = tg.directory / "out" / "run.json"
    return path, json.loads(path.read_text())


def test_an_older_run_json_says_what_is_not_known(tg):
    path, report = failed(tg)
    del report["explanation"]
    path.write_text(json.dumps(report))
    why = explained(tg)
    assert why["status"] == "KERNEL_FAULT" and not why["looked"] and why["root"]["kind"] == "not known"
    assert why["root"]["text"] == report["error"]["text"]
    assert "older version" in why["not_known"][0]
    assert "unknown" in tg("explain", "out").stdout


HOSTILE = [
    {"root": {"text": "\x1b[2J", "kind": "no such kind", "core": 1 << 40}},
    {"root": "text", "chain": {}, "cores": 3, "also": "x", "not_known": None},
    {"root": {"text": "x" * 10000}, "chain": [{"text": "y" * 10000}] * 1000, "cores": [{}] * 1000,
     "also": ["z" * 1000] * 1000, "not_known": [[[]]] * 100},
    {"root": {"text": "x", "core": 7}, "chain": [1, None, [], {"core": -1, "tasks": 1e300}],
     "cores": [{"core": 7, "site": {"file": "\x1b]0;a", "line": -3}, "seconds": -1, "task_id": "0xzz"}]},
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_explanation_is_bounded_and_inert(tg, hostile):
    path, report = failed(tg)
    report["explanation"] = hostile
    path.write_text(json.dumps(report))
    why = explained(tg)
    assert len(why["chain"]) <= 16 and len(why["cores"]) <= 32 and len(why["also"]) <= 8
    result = tg("explain", "out")
    assert result.returncode == 1 and len(result.stdout) < 20000
    assert all(letter.isprintable() or letter == "\n" for letter in result.stdout)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"result": 3}', '{"result": {"status": "OK"}} x',
                                  '{"explanation": {"root": '])
def test_a_file_that_is_no_run_json_is_exit_2(tg, text):
    (tg.directory / "out").mkdir()
    (tg.directory / "out" / "run.json").write_text(text)
    result = tg("explain", "out")
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1, result
    assert explained(tg, code=2)["result"] == "not known"


def test_without_a_run_there_is_nothing_to_explain(tg):
    assert tg("explain", "nowhere").returncode == 2
    (tg.directory / "out").mkdir()
    result = tg("explain", "out")
    assert result.returncode == 2 and "has no run.json" in result.stderr
