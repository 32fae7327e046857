# SPDX-License-Identifier: Apache-2.0
"""Workloads whose own functions crash, loop or exit on the host: the command names the function and the
case, ends with exit 2, keeps what the run left, and leaves no process."""

import json
import pathlib
import signal

import pytest

from conftest import PLATFORMS, SANITIZED, TIMEOUT, wait_until
from platforms import FAR, until

FUNCTIONS = ("prepare", "orchestration", "golden")
# Case, and what the message says about it.
CRASHES = {"null": "Segmentation fault at address 0x0", "fpe": "Floating point exception",
           "stack": "Segmentation fault", "abort": "Aborted", "trap": "Illegal instruction",
           "locks": "", "thread": "thread of its own"}
EXITS = {"exit": "called exit(0)", "exit_9": "called exit(9)", "quick_exit": "called quick_exit(0)",
         "exit_at_once": "called _exit(0)", "exit_thread": "thread of its own"}
LOOPS = [*(("spin", function) for function in FUNCTIONS), ("sleep", "prepare"), ("deaf", "golden"),
         ("leave", "orchestration")]
# The guard ends the process in these, because it cannot leave the function, so there is no run.json.
BY_FORCE = ("locks", "thread", "exit_thread", "deaf", "leave")


def check(end, function, case, said):
    code, text = end
    assert code == 2, text
    line = next(line for line in text.splitlines() if line.startswith("taskglass: "))
    assert line.startswith("taskglass: WORKLOAD_FAULT: ")
    assert f"{function}() of workload 'unruly', case '{case}'" in line
    assert said in line


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("case,platform", [
    *((case, platform) for case in ("null", "abort", "exit") for platform in PLATFORMS),
    *((case, PLATFORMS[0]) for case in [*CRASHES, *EXITS] if case not in ("null", "abort", "exit"))])
def test_a_function_that_crashes_or_exits_is_named(tg, unruly, tmp_path, case, function, platform):
    if SANITIZED and case == "locks":
        pytest.skip("the sanitizer ends the process where memory is overwritten")
    end = tg("run", unruly, "--case", case, "--set", f"where={function}", "--platform", platform,
             "--timeout", FAR, "--output", "out", "--dump-tensor")
    check(end, function, case, {**CRASHES, **EXITS}[case])
    if function != "prepare" and case not in BY_FORCE:
        report = json.loads((tmp_path / "out" / "run.json").read_text())
        assert report["error"]["name"] == "WORKLOAD_FAULT"
        assert f"{function}() of workload 'unruly'" in report["error"]["text"]


@pytest.mark.parametrize("case,function", LOOPS)
def test_a_function_that_does_not_return_ends_at_the_timeout(start, unruly, case, function):
    if SANITIZED and case == "leave":
        pytest.skip("the sanitizer's own clean-up fails where the first thread ends itself")

    def run(limit):
        program = start("run", unruly, "--case", case, "--set", f"where={function}", "--timeout",
                        limit, "--output", f"out{limit}")
        end = program.end()
        assert program.left() == []
        return end
    # On a busy machine the device may not finish within the first limits.
    end = until(lambda end: "WORKLOAD_FAULT" in end[1], run, (0.4, 4, 40))
    check(end, function, case, "--timeout")


@pytest.mark.parametrize("case,function", [loop for loop in LOOPS if loop[0] != "leave"])
def test_the_first_interrupt_ends_a_function_that_does_not_return(start, unruly, case, function):
    program = start("run", unruly, "--case", case, "--set", f"where={function}", "--timeout", FAR,
                    "--output", "out")
    # Before prepare there is nothing to see; the handlers are there when the second thread is.
    threads = pathlib.Path(f"/proc/{program.process.pid}/task")
    if function == "prepare":
        assert wait_until(lambda: len(list(threads.iterdir())) > 1)
    else:
        assert program.device()
    program.process.send_signal(signal.SIGINT)
    assert program.end()[0] == -signal.SIGINT
    assert program.left() == []


@pytest.mark.parametrize("case", ["null", "abort", "exit", "exit_at_once", "spin"])
def test_a_module_that_misbehaves_when_it_is_loaded_is_named(tg, unruly, monkeypatch, case):
    monkeypatch.setenv("TASKGLASS_TEST_UNRULY", case)
    code, said = tg("run", unruly, "--timeout", 0.3 if case == "spin" else FAR)
    assert code == 2
    assert said.startswith(f"taskglass: WORKLOAD_FAULT: a constructor of module '{unruly}' ")


@pytest.mark.parametrize("case", ["deaf", "leave"])
def test_a_constructor_that_nothing_can_end_does_not_outlive_the_message(start, unruly, monkeypatch,
                                                                         case):
    if SANITIZED and case == "leave":
        pytest.skip("the sanitizer's own clean-up fails where the first thread ends itself")
    monkeypatch.setenv("TASKGLASS_TEST_UNRULY", case)
    program = start("run", unruly, "--timeout", 0.3)
    code, said = program.end()
    assert code == 2 and program.left() == []
    assert said.startswith(f"taskglass: WORKLOAD_FAULT: a constructor of module '{unruly}' ")


@pytest.fixture
def recorded(tg, unruly):
    assert tg("run", unruly, "--case", "none", "--output", "out", "--dump-tensor") == (0, "")
    return unruly


@pytest.mark.parametrize("case,words", [
    *((case, ("replay", "out", "--task", "0")) for case in ("null", "abort", "exit", "deaf")),
    *((case, ("replay", "out", "--task", "0", "--json")) for case in ("exit_at_once", "spin"))])
def test_a_module_that_misbehaves_when_replay_loads_it_is_named(start, recorded, monkeypatch, case,
                                                                words):
    monkeypatch.setenv("TASKGLASS_TEST_UNRULY", case)
    program = start(*words, "--timeout", 0.5 if case in ("spin", "deaf") else FAR)
    out, said = program.process.communicate(timeout=TIMEOUT)
    assert program.process.returncode == 2 and program.left() == []
    assert said.startswith(f"taskglass: WORKLOAD_FAULT: a constructor of module '{recorded}' ")
    if "--json" in words and case != "deaf":
        assert json.loads(out)["result"] == "not known"


def test_a_check_ends_soon_if_the_module_does_not_load(start, recorded, monkeypatch):
    monkeypatch.setenv("TASKGLASS_TEST_UNRULY", "spin")
    program = start("check", "out", "--timeout", 1)
    code, said = program.end()
    assert code == 2 and "did not return within the limit of --timeout" in said
    assert program.left() == []


@pytest.mark.parametrize("case", ["null", "exit_9", "spin", "print"])
@pytest.mark.parametrize("words", [("run", "UNRULY", "--case", "none", "--output", "again", "--json"),
                                   ("replay", "out", "--task", "0", "--json"),
                                   ("list", "--json")])
def test_what_a_module_does_when_it_is_unloaded_changes_no_answer(start, recorded, monkeypatch, case,
                                                                  words):
    monkeypatch.setenv("TASKGLASS_TEST_UNRULY_END", case)
    program = start(*(recorded if word == "UNRULY" else word for word in words), "--timeout", FAR)
    out, said = program.process.communicate(timeout=TIMEOUT)
    assert (program.process.returncode, said) == (0, "")
    assert json.loads(out)
    assert program.left() == []


@pytest.mark.parametrize("words", [("run", "UNRULY", "--case", "print", "--output", "again"),
                                   ("replay", "out", "--task", "0")])
def test_what_a_module_prints_stays_out_of_the_document(start, recorded, monkeypatch, words):
    monkeypatch.setenv("TASKGLASS_TEST_UNRULY", "print")
    words = [recorded if word == "UNRULY" else word for word in words]
    out, said = start(*words, "--json").process.communicate(timeout=TIMEOUT)
    assert json.loads(out) and "printed by the module" in said
    out, said = start(*words[:-1], words[-1] + ("2" if words[0] == "run" else "")
                      ).process.communicate(timeout=TIMEOUT)
    assert "printed by the module" in out and said == ""


@pytest.mark.parametrize("case,said", [
    ("null", "it crashed while it was loaded: "), ("abort", "it crashed while it was loaded: "),
    ("exit", "a constructor ended its process with exit status 0"),
    ("exit_9", "a constructor ended its process with exit status 9"),
    ("exit_at_once", "a constructor ended its process with exit status 0"),
    ("spin", "a constructor did not return within 1 s"),
    ("deaf", "a constructor did not return within 1 s"), ("stop", "did not return within 1 s"),
    ("leave", "a constructor ended its process"), ("print", None), ("orphan", None)])
def test_one_bad_module_costs_the_list_one_line(start, unruly, monkeypatch, case, said):
    if SANITIZED and case == "null":
        said = "a constructor ended its process"  # the sanitizer reports it and exits
    if SANITIZED and case == "leave":
        pytest.skip("the sanitizer's own clean-up fails where the first thread ends itself")
    monkeypatch.setenv("TASKGLASS_TEST_UNRULY", case)
    program = start("list", "--json", "--timeout", 1, "--workload-path",
                    pathlib.Path(unruly).parent)
    out, err = program.process.communicate(timeout=TIMEOUT)
    assert program.process.returncode == 0
    listed = {entry["name"]: entry for entry in json.loads(out)["workloads"]}
    assert listed["vector_add"]["error"] is None
    assert said is None or said in listed["unruly"]["error"]
    assert said is not None or listed["unruly"]["cases"]
    assert ("printed by the module" in err) == (case == "print")
    assert program.left() == []


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_was_recorded_before_golden_crashed_is_kept(tg, unruly, tmp_path, platform):
    code, _ = tg("run", unruly, "--case", "null", "--set", "where=golden", "--platform", platform,
                 "--output", "out", "--dump-tensor")
    assert code == 2
    report = json.loads((tmp_path / "out" / "run.json").read_text())
    assert report["counters"]["finished"] == 3
    assert tg("verify", "out") == (0, "")


def test_a_good_case_of_the_same_module_passes(tg, unruly):
    for function in FUNCTIONS:
        assert tg("run", unruly, "--case", "none", "--set", f"where={function}") == (0, "")


@pytest.mark.parametrize("function", ["prepare", "golden"])
def test_a_crash_is_caught_whoever_builds_the_graph(tg, unruly, function):
    for runtime in ("aicpu_build_graph", "tensormap_and_ringbuffer"):
        end = tg("run", unruly, "--case", "null", "--set", f"where={function}", "--runtime", runtime,
                 "--output", "out", "--timeout", FAR)
        check(end, function, "null", "Segmentation fault")
