# SPDX-License-Identifier: Apache-2.0
"""taskglass runs: lists what is under outputs/, and removes it."""

import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from conftest import PROGRAM, TIMEOUT, Runner, clean_environment, one_line, workload
from test_terminal import ENDLESS, Terminal, shown

RUN_JSON = {"workload": "made", "case": "small", "platform": "a2a3sim", "runtime": "host_build_graph",
            "result": {"status": "OK", "exit_code": 0},
            "counters": {"tasks": 1, "finished": 1}, "recorder": None}


def make_run(tg, name, days=0, **changes):
    """A run of so many days ago that left only its run.json."""
    folder = tg.directory / "outputs" / name
    folder.mkdir(parents=True)
    began = time.strftime("%Y-%m-%dT%H:%M:%S+0000", time.gmtime(time.time() - days * 86400))
    (folder / "run.json").write_text(
        json.dumps({**RUN_JSON, "times": {"started": began, "total_seconds": 1}, **changes}))
    return folder


def names(tg, *args):
    return [run["name"] for run in tg.json("runs", *args)["runs"]]


def test_a_run_is_listed_with_what_it_did(tg):
    tg.good("run", "vector_add", "--dump-tensor")
    run, = tg.json("runs")["runs"]
    assert run["name"] == tg.outputs()[0].name
    assert (run["workload"], run["case"]) == ("vector_add", "small")
    assert (run["result"], run["status"], run["tasks"]) == ("finished", "OK", 4)
    assert (run["records"], run["lost"]) == (16, 0) and run["bytes"] > 12 * 1024
    text = tg.good("runs").stdout
    assert run["name"] in text and "finished" in text and "1 run, " in text


def test_runs_that_failed_say_how(tg):
    tg("run", workload("faults"), "--case", "spin", "--timeout", "0.5")
    run, = tg.json("runs")["runs"]
    assert (run["result"], run["status"]) == ("failed", "HANG")
    assert "failed, HANG" in tg.good("runs").stdout


def test_the_newest_comes_first_and_the_limit_holds(tg):
    for days in range(25):
        make_run(tg, f"run{days:02}", days=days)
    assert names(tg)[:3] == ["run00", "run01", "run02"] and len(names(tg)) == 25
    assert names(tg, "--limit", "2") == ["run00", "run01"]
    text = tg.good("runs").stdout
    assert "and 5 more; --all shows them" in text and "run24" not in text
    assert "run24" in tg.good("runs", "--all").stdout


def test_filters_select_runs(tg):
    make_run(tg, "good", workload="one")
    make_run(tg, "bad", workload="two", result={"status": "MISMATCH", "exit_code": 1})
    make_run(tg, "old", days=30)
    assert names(tg, "--workload", "one") == ["good"]
    assert names(tg, "--result", "mismatch") == ["bad"]
    assert sorted(names(tg, "--result", "finished")) == ["bad", "good", "old"]
    assert names(tg, "--older-than", "7d") == ["old"]
    assert names(tg, "--keep", "2") == ["old"]


def test_a_live_run_is_running_and_a_killed_one_interrupted(tg):
    run = subprocess.Popen([PROGRAM, *ENDLESS], cwd=tg.directory, env=clean_environment(),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + TIMEOUT
        while not (tg.directory / "outputs").is_dir() or "running" not in tg.good("runs").stdout:
            assert time.monotonic() < end
        refused = tg("runs", "--remove", tg.outputs()[0], "--yes")
        assert refused.returncode == 2 and "still at work" in refused.stderr
        assert "No run to remove" in tg.good("runs", "--remove", "--all", "--yes").stdout
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait(TIMEOUT)
    assert tg.json("runs")["runs"][0]["result"] == "interrupted"
    assert "removed 1 run" in tg.good("runs", "--remove", "--all", "--yes").stdout
    assert tg.outputs() == []


def test_named_runs_are_removed(tg):
    for name in ("one", "two", "three"):
        make_run(tg, name)
    tg.good("runs", "--remove", "one", "outputs/two", "--yes")
    assert [path.name for path in tg.outputs()] == ["three"]


def test_a_listed_name_means_the_run_under_outputs(tg):
    make_run(tg, "one")
    (tg.directory / "one").mkdir()
    (tg.directory / "one" / "notes").touch()
    tg.good("runs", "--remove", "one", "--yes")
    assert tg.outputs() == [] and (tg.directory / "one" / "notes").exists()


def test_a_name_of_two_runs_is_refused(tg):
    shutil.copytree(make_run(tg, "one"), tg.directory / "one")
    result = tg("runs", "--remove", "one", "--yes")
    assert result.returncode == 2 and one_line(result.stderr) and "type ./one or outputs/one" in result.stderr
    tg.good("runs", "--remove", "./one", "--yes")
    assert len(tg.outputs()) == 1 and not (tg.directory / "one").exists()


def test_a_run_that_is_named_twice_is_removed_once(tg):
    make_run(tg, "one")
    assert "removed 1 run," in tg.good("runs", "--remove", "one", "outputs/one", "./outputs/one/", "--yes").stdout


def test_a_run_can_be_removed_from_within(tg):
    inside = Runner(make_run(tg, "one"))
    assert "removed 1 run," in inside.good("runs", "--remove", ".", "--yes").stdout
    assert tg.outputs() == []


def test_the_newest_are_kept(tg):
    for days in range(4):
        make_run(tg, f"run{days}", days=days)
    removed = tg.json("runs", "--remove", "--keep", "1", "--yes")
    assert removed["runs"] == 3 and names(tg) == ["run0"]


@pytest.mark.parametrize("answer, left", [(b"y\n", 0), (b"n\n", 2), (b"\n", 2), (b"\x04", 2)])
def test_a_terminal_is_asked(tg, answer, left):
    make_run(tg, "one")
    make_run(tg, "two")
    terminal = Terminal(tg.directory, ["runs", "--remove", "--all"])
    terminal.wait_for(b"remove 2 runs, ")
    terminal.wait_for(b"[y/N] ")
    terminal.type(answer)
    assert terminal.wait() == 0
    assert len(tg.outputs()) == left
    assert ("removed 2 runs" if left == 0 else "Nothing was removed.") in shown(terminal.text)


def test_without_a_terminal_nothing_is_removed_unless_asked_for(tg):
    make_run(tg, "one")
    for more in ([], ["--json"]):
        result = tg("runs", "--remove", "one", *more)
        assert result.returncode == 2 and one_line(result.stderr) and "--yes" in result.stderr
    assert len(tg.outputs()) == 1


def test_other_files_stay_and_are_named(tg):
    folder = make_run(tg, "one")
    (folder / "notes.txt").write_text("mine")
    result = tg.good("runs", "--remove", "one", "--yes")
    assert "'notes.txt', which no run writes" in result.stdout
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("args, words", [
    (["none"], "there is no directory 'none'"),
    (["--remove"], "--remove needs the names of runs"),
    (["--remove", "none", "--yes"], "there is no run 'none'"),
    (["--remove", ".", "--yes"], "is not the directory of a run"),
    (["--remove", "/", "--yes"], "is not the directory of a run"),
    (["--remove", "one", "--all", "--yes"], "takes names of runs or selects them"),
    (["--older-than", "7"], "is not an age"),
    (["--older-than", "-7d"], "is not an age"),
    (["--result", "fine"], "unknown result 'fine'"),
    (["--yes"], "--yes needs --remove"),
])
def test_mistakes_are_one_line(tg, args, words):
    make_run(tg, "one")
    result = tg("runs", *args)
    assert result.returncode == 2 and one_line(result.stderr) and words in result.stderr, result
    assert len(tg.outputs()) == 1


def test_a_program_gets_a_document_where_nothing_is_known(tg):
    result = tg("runs", "none", "--json")
    assert result.returncode == 2 and one_line(result.stderr)
    document = json.loads(result.stdout)
    assert document["result"] == "not known" and "none" in document["reason"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_directory_of_somebody_else_is_named(tg):
    make_run(tg, "mine")
    make_run(tg, "theirs").chmod(0)
    result = tg("runs")
    assert result.returncode == 2 and "mine" in result.stdout
    assert one_line(result.stderr) and "theirs' cannot be read" in result.stderr


def test_verbose_says_where_it_looks(tg):
    folder = make_run(tg, "one").parent
    assert "looks for runs in 'outputs'" in tg("runs", "-v").stderr
    assert f"looks for runs in '{folder}'" in tg("runs", folder, "-v").stderr


def test_no_outputs_are_no_error(tg):
    assert "No run under outputs." in tg.good("runs").stdout
    assert tg.json("runs")["runs"] == []


def test_hostile_directories_are_listed_without_waiting(tg):
    make_run(tg, "good")
    pipe = make_run(tg, "x_y_20260101_120000")
    (pipe / "run.json").unlink()
    os.mkfifo(pipe / "run.json")
    huge = make_run(tg, "huge")
    os.truncate(huge / "run.json", 1 << 40)
    broken = make_run(tg, "broken")
    (broken / "run.json").write_text('{"workload": "\\u001b[2J", "result": [' + "[" * 1000)
    os.symlink("/etc", tg.directory / "outputs" / "link")
    found = {run["name"]: run for run in tg.json("runs")["runs"]}
    assert sorted(found) == ["broken", "good", "huge"]
    assert "\x1b" not in tg.good("runs").stdout
    assert found["broken"]["result"] == found["huge"]["result"] == "unknown"
