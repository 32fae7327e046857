# SPDX-License-Identifier: Apache-2.0
"""Two runs, or a run and recover, that want one folder: one has it, the other is refused and changes
nothing. Readers never keep a run out."""

import fcntl
import json
import os
import subprocess

import pytest

from conftest import PROGRAM, TIMEOUT, Program, rounds

KINDS = {"plain": (), "recorded": ("--dump-tensor",), "deps": ("--deps",),
         "scopes": ("--enable-scope-stats", "--runtime", "aicpu_build_graph")}


def content(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}


def held_at(start, gate, tmp_path, place, *options):
    """A run into out/ that has stopped at the place, and waits for the file `key`. Its socket would appear
    at a time of its own."""
    return start("run", gate, "--output", "out", "--timeout", 1000, "--live=no", *options,
                 environment={"TASKGLASS_GATE": place,
                              "TASKGLASS_GATE_KEY": str(tmp_path / "key")}).at_gate(place)


def let_go(program, tmp_path):
    (tmp_path / "key").touch()
    return program.end()


@pytest.mark.parametrize("place", ["orchestration", "golden"])
@pytest.mark.parametrize("first", KINDS)
def test_a_second_run_into_a_folder_is_refused_and_changes_nothing(start, tg, gate, tmp_path, first,
                                                                   place):
    if first == "scopes" and place == "orchestration":
        pytest.skip("this orchestration runs on the device")
    program = held_at(start, gate, tmp_path, place, *KINDS[first])
    before = content(tmp_path / "out")
    for options in KINDS.values():
        for name in ("out", "./out/", str(tmp_path / "out")):
            code, said = tg("run", gate, "--output", name, *options)
            assert code == 2 and said.startswith("taskglass: BUSY: ") and said.count("\n") == 1
            assert f"'{name}'" in said
    code, said = tg("recover", "out")
    assert code == 2 and "is still being written" in said and said.count("\n") == 1
    assert content(tmp_path / "out") == before
    assert let_go(program, tmp_path) == (0, "")
    assert json.loads((tmp_path / "out" / "run.json").read_text())["result"]["status"] == "OK"
    if first == "recorded":
        assert tg("verify", "out") == (0, "")
    assert tg("run", gate, "--output", "out") == (0, "")


def test_a_run_that_is_killed_gives_its_folder_back(start, tg, gate, tmp_path):
    program = held_at(start, gate, tmp_path, "golden", "--dump-tensor")
    program.process.kill()
    assert program.end()[0] == -9
    assert tg("recover", "out") == (0, "")
    assert tg("run", gate, "--output", "out", "--dump-tensor") == (0, "")
    assert tg("verify", "out") == (0, "")


def test_of_two_runs_at_once_one_has_the_folder(tmp_path, gate):
    """Both may also succeed, one after the other. What is left belongs to one of them."""
    for _ in range(rounds(20, 5)):
        runs = [Program(tmp_path, ("run", gate, "--output", "out", "--dump-tensor", "--set", f"n={n}"))
                for n in (5, 9)]
        ends = [run.end() for run in runs]
        assert all(end == (0, "") or (end[0] == 2 and end[1].startswith("taskglass: BUSY: 'out' "))
                   for end in ends), ends
        assert (0, "") in ends
        report = json.loads((tmp_path / "out" / "run.json").read_text())
        n = int(report["params"]["n"])
        assert ends[(5, 9).index(n)] == (0, "")
        manifest = json.loads((tmp_path / "out/tensor_dump/tensor_dump.json").read_text())
        assert len({entry["task_id"] for entry in manifest["tensors"]
                    if entry["stage"] != "orchestration"}) == n
        assert Program(tmp_path, ("verify", "out")).end() == (0, "")


def test_runs_and_recover_at_once_leave_a_good_recording(tmp_path, gate):
    assert Program(tmp_path, ("run", gate, "--output", "out", "--dump-tensor")).end() == (0, "")
    for _ in range(rounds(15, 4)):
        both = [Program(tmp_path, args) for args in
                (("run", gate, "--output", "out", "--dump-tensor"), ("recover", "out"))]
        run, recover = [program.end() for program in both]
        assert run == (0, "") or run[0] == 2 and "BUSY" in run[1], run
        assert recover[0] == 0 or recover[0] == 2 and ("still being written" in recover[1] or
                                                       "has no " in recover[1]), recover
        assert Program(tmp_path, ("verify", "out")).end() == (0, "")


def test_readers_never_keep_a_run_or_recover_out(tmp_path, gate):
    """Several readers look at the folder all the time."""
    loop = f"while :; do {PROGRAM} view out --json; {PROGRAM} verify out; done"
    readers = [subprocess.Popen(["sh", "-c", loop], cwd=tmp_path, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for _ in range(3)]
    try:
        for _ in range(rounds(10, 3)):
            assert Program(tmp_path, ("run", gate, "--output", "out", "--dump-tensor")).end() == (0, "")
            assert Program(tmp_path, ("recover", "out")).end() == (0, "")
    finally:
        for reader in readers:
            reader.kill()
            reader.wait(TIMEOUT)


def test_leftovers_of_a_killed_run_are_removed_by_recover_and_by_the_next_run(tg, gate, tmp_path):
    names = (".run.json.tmp", ".probe.12345", "tensor_dump/.tensor_dump.json.tmp",
             "tensor_dump/.tensor_dump.rec.tmp")
    assert tg("run", gate, "--output", "out", "--dump-tensor") == (0, "")
    good = set(content(tmp_path / "out"))
    for args in (("recover", "out"), ("recover", "out/tensor_dump"),
                 ("run", gate, "--output", "out", "--dump-tensor")):
        for name in names:
            (tmp_path / "out" / name).write_bytes(b"left")
        assert tg("verify", "out") == (0, "")  # a reader does not mistake them for anything
        assert tg(*args) == (0, "")
        assert set(content(tmp_path / "out")) == good


def test_recover_removes_what_a_run_left_that_recorded_nothing(tg, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".probe.77").write_bytes(bytes(4096))
    (tmp_path / "out" / ".notes.tmp").touch()
    code, said = tg("recover", "out")
    assert code == 2 and "has no recording" in said
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".notes.tmp"]


INSIDE = ["out/tensor_dump", "out/tensor_dump/deep/er", "out/scope_stats", "out/new", "here/new",
          "other/../out/tensor_dump"]


@pytest.mark.parametrize("name", INSIDE)
def test_a_run_into_the_folder_of_a_run_at_work_is_refused_and_changes_nothing(start, tg, gate,
                                                                               tmp_path, name):
    (tmp_path / "here").symlink_to("out")
    (tmp_path / "other").mkdir()
    program = held_at(start, gate, tmp_path, "golden", "--dump-tensor")
    before = sorted((tmp_path / "out").rglob("*"))
    code, said = tg("run", gate, "--output", name)
    assert code == 2 and said.startswith("taskglass: BUSY: ") and said.count("\n") == 1
    assert f"'{name}'" in said and f"'{tmp_path / 'out'}'" in said
    assert sorted((tmp_path / "out").rglob("*")) == before
    assert let_go(program, tmp_path) == (0, "")
    assert tg("verify", "out") == (0, "")


def test_a_run_may_be_below_a_folder_that_another_program_locks(tg, gate, tmp_path):
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    assert tg("run", gate, "--output", "some/where") == (0, "")
    os.close(folder)
