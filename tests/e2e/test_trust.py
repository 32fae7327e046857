# SPDX-License-Identifier: Apache-2.0
"""Which module `check`, `replay` and `find` load when only a recording names it, and what a module's
file must be before anything loads or copies it."""

import hashlib
import json
import os
import pty
import resource
import shutil
import signal
import stat
import struct
import subprocess

import pytest

from conftest import BUILD, PROGRAM, TIMEOUT, clean_environment, one_line

INSTALLED = BUILD / "lib" / "taskglass" / "workloads"
REFUSED = "taskglass: NOT_TRUSTED: "
NOT_NOTED = "taskglass: warning: cannot note that you run this module, so check and replay will not load it " \
            "without --module: "


@pytest.fixture
def mine(tg, tmp_path):
    """A module of the user's own, which nobody has run: a change at its end makes it a new one."""
    module = tmp_path / "mine.so"
    module.write_bytes((INSTALLED / "matmul_chain.so").read_bytes() + os.urandom(16))
    return module


@pytest.fixture
def state(tmp_path, monkeypatch):
    """The user's own notes, empty."""
    folder = tmp_path / "state of the user"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


@pytest.fixture
def recorded(tg, state, mine):
    """A recording of mine.so, made by the user."""
    tg.good("run", "./mine.so", "--dump-tensor", "--output", "out")
    return tg


# Somebody who has run nothing, and who cannot note anything: not even root can make a folder there.
STRANGER = {"XDG_STATE_HOME": "/proc/nowhere/state"}
WAYS = {
    "check": ["check", "out"],
    "check_json": ["check", "out", "--json"],
    "replay": ["replay", "out", "--task", "0"],
    "replay_json": ["replay", "out", "--task", "0", "--json"],
    "bundle": ["replay", "out", "--task", "0", "--bundle", "bundle"],
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def name_module(tg, module):
    """Changes which module the recording names."""
    path = tg.directory / "out" / "run.json"
    report = json.loads(path.read_text())
    report["module"] = str(module)
    path.write_text(json.dumps(report))


def refused(tg, way, *words, env=None):
    result = tg(*way, env=env)
    assert result.returncode == 2 and one_line(result.stderr), result
    for word in words:
        assert word in result.stderr, result
    if "--json" in way:
        assert json.loads(result.stdout)["result"] == "not known"
        assert json.loads(result.stdout)["reason"]
    else:
        assert result.stdout == ""
    assert not (tg.directory / "bundle").exists()
    return result.stderr


@pytest.mark.parametrize("name", ("plain.so", "my module's $(x).so", "two\nlines\t\x1b[31m.so", "\u202egnitfihs.so"))
def test_the_option_that_a_refusal_names_can_be_pasted_into_a_shell(recorded, tmp_path, name):
    shutil.copy(tmp_path / "mine.so", tmp_path / name)
    name_module(recorded, tmp_path / name)
    said = refused(recorded, WAYS["check"], env=STRANGER)
    assert said[:-1].isprintable()
    option = said[said.index("--module "):-1]
    pasted = subprocess.run(["bash", "-c", f"'{PROGRAM}' check out {option}"], cwd=tmp_path, check=False,
                            env=clean_environment(), timeout=TIMEOUT, stdout=subprocess.DEVNULL)
    assert pasted.returncode == 0, option


def test_a_path_that_is_too_long_for_a_line_is_not_cut(recorded, tmp_path):
    folder = tmp_path.joinpath(*["d" * 100] * 5)
    folder.mkdir(parents=True)
    name_module(recorded, shutil.copy(tmp_path / "mine.so", folder / "long.so"))
    assert refused(recorded, WAYS["check"], env=STRANGER).endswith("give --module with its path\n")


# --- what is loaded ------------------------------------------------------------------------------


@every_way
def test_what_the_user_has_run_is_loaded(recorded, way):
    recorded.good(*way)


@every_way
def test_what_another_user_has_run_is_refused_and_the_option_is_named(recorded, mine, way):
    said = refused(recorded, way, "you have not run it on this machine", f"--module {mine}",
                   env=STRANGER)
    assert said.startswith(REFUSED)


@every_way
def test_what_the_user_names_is_loaded(recorded, way):
    recorded.good(*way, "--module", "mine.so", env=STRANGER)


@every_way
def test_installed_workloads_are_loaded(tg, way):
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "out", env=STRANGER)
    tg.good(*way, env=STRANGER)


@every_way
def test_a_module_that_changed_since_is_refused(recorded, mine, way):
    with mine.open("ab") as file:
        file.write(b"x")
    refused(recorded, way, REFUSED, "it has changed since you ran it")


def test_the_same_content_is_known_elsewhere(recorded, mine, tmp_path):
    shutil.copy(mine, tmp_path / "copy.so")
    name_module(recorded, tmp_path / "copy.so")
    recorded.good("check", "out")


def test_the_word_of_the_recording_counts_for_nothing(recorded, tmp_path):
    """Neither a path that looks installed nor one that was run proves anything about the content."""
    evil = tmp_path / "evil.so"
    evil.write_bytes((INSTALLED / "matmul_chain.so").read_bytes() + b"evil")
    (tmp_path / "link.so").symlink_to(evil)
    (tmp_path / "workloads").mkdir()
    shutil.copy(evil, tmp_path / "workloads" / "matmul_chain.so")
    up = "../" * 30
    for name in (evil, tmp_path / "link.so", "evil.so", "./link.so", "workloads/matmul_chain.so",
                 f"{INSTALLED}/{up}{evil}", f"{INSTALLED}/../workloads/{up}{evil}"):
        name_module(recorded, name)
        refused(recorded, WAYS["check"], REFUSED)
    name_module(recorded, evil)
    assert str(evil) in refused(recorded, WAYS["replay"])


def test_a_relative_path_leads_to_the_same_rule(recorded):
    name_module(recorded, "mine.so")
    recorded.good("check", "out")
    refused(recorded, WAYS["check"], REFUSED, env=STRANGER)


def test_a_link_to_what_was_run_is_what_was_run(recorded, mine, tmp_path):
    (tmp_path / "link.so").symlink_to(mine)
    name_module(recorded, tmp_path / "link.so")
    recorded.good("check", "out")


def with_search_path(module):
    """Gives a module a relative search path for libraries, in place of an entry that only saves the
    linker some time."""
    bytes_ = bytearray(module.read_bytes())
    headers, = struct.unpack_from("<Q", bytes_, 32)
    count, = struct.unpack_from("<H", bytes_, 56)
    for i in range(count):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", bytes_, headers + 56 * i)
        for at in range(offset, offset + size, 16) if kind == 2 else ():
            if struct.unpack_from("<Q", bytes_, at)[0] == 0x6ffffff9:  # DT_RELACOUNT
                struct.pack_into("<QQ", bytes_, at, 29, 1)  # DT_RUNPATH: some symbol's name
                module.write_bytes(bytes_)
                return
    pytest.skip("the module has no entry to spare")


def test_a_library_beside_the_module_keeps_it_from_being_known_elsewhere(tg, state, mine, tmp_path):
    with_search_path(mine)
    tg.good("run", "./mine.so", "--dump-tensor", "--output", "out")
    tg.good("check", "out")
    (tmp_path / "other").mkdir()
    shutil.copy(mine, tmp_path / "other")
    name_module(tg, tmp_path / "other" / "mine.so")
    refused(tg, WAYS["check"], "loads libraries from beside itself")


def test_a_file_that_others_can_replace_is_known_only_where_it_was_run(recorded, mine, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shutil.copy(mine, shared)
    shared.chmod(0o777)
    name_module(recorded, shared / "mine.so")
    refused(recorded, WAYS["check"], "another user can replace it")
    recorded.good("run", "shared/mine.so", "--output", "again")
    recorded.good("check", "out")


def test_kernels_for_a_gpu_must_be_known_too(recorded, mine, tmp_path):
    image = tmp_path / "mine.cubin"
    image.write_bytes(b"an image")
    refused(recorded, WAYS["check"], REFUSED)
    recorded.good("run", "./mine.so", "--output", "again")
    recorded.good("check", "out")
    image.write_bytes(b"another image")
    refused(recorded, WAYS["check"], "it has changed since you ran it")


def test_find_goes_on_without_the_references_of_a_stranger(tg, state, tmp_path):
    module = tmp_path / "unwritten.so"
    shutil.copy(BUILD / "tests" / "workloads" / "unwritten.so", module)
    assert tg("run", "./unwritten.so", "--dump-tensor", "--output", "out").returncode in (0, 1)
    known = tg("find", "unwritten", "out")
    strange = tg("find", "unwritten", "out", env=STRANGER)
    assert REFUSED not in known.stderr and "no reference was asked" not in known.stderr
    if known.stdout != strange.stdout:
        assert "no reference was asked" in strange.stderr and "--module" in strange.stderr


# --- the notes -----------------------------------------------------------------------------------


def test_the_notes_are_private_and_have_one_line_for_each_content(recorded, state, mine):
    folder, notes = state / "taskglass", state / "taskglass" / "modules"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(notes.stat().st_mode) == 0o600
    recorded.good("run", "./mine.so", "--output", "again")
    digest = hashlib.sha256(mine.read_bytes()).hexdigest()
    assert notes.read_text() == f"{digest} {mine.stat().st_size} {mine}\n"


def test_nothing_is_noted_of_installed_workloads(tg, state):
    tg.good("run", "vector_add")
    assert not state.exists()


def test_without_xdg_state_home_the_notes_are_in_the_home(tg, mine, tmp_path):
    home = {"XDG_STATE_HOME": "", "HOME": str(tmp_path / "home")}
    tg.good("run", "./mine.so", "--dump-tensor", "--output", "out", env=home)
    tg.good("check", "out", env=home)
    assert (tmp_path / "home" / ".local" / "state" / "taskglass" / "modules").exists()


@pytest.mark.parametrize("variable", ["relative/path", ""])
def test_without_a_home_a_run_is_good_and_a_check_says_why_it_asks(tg, mine, variable):
    nowhere = {"XDG_STATE_HOME": variable, "HOME": variable}
    result = tg("run", "./mine.so", "--dump-tensor", "--output", "out", env=nowhere)
    assert result.returncode == 0 and one_line(result.stderr) and "neither XDG_STATE_HOME nor HOME" in result.stderr
    refused(tg, WAYS["check"], "neither XDG_STATE_HOME nor HOME", env=nowhere)


@pytest.mark.parametrize("kind", ["file", "fifo", "folder", "foreign", "link"])
def test_notes_that_cannot_be_used_cost_a_run_nothing(tg, mine, state, tmp_path, kind):
    folder = state / "taskglass"
    state.mkdir()
    if kind == "file":
        folder.write_text("")
    else:
        folder.mkdir()
    notes = folder / "modules"
    if kind == "fifo":
        os.mkfifo(notes)
    elif kind == "folder":
        notes.mkdir()
    elif kind == "foreign":
        digest = hashlib.sha256(mine.read_bytes()).hexdigest()
        notes.write_text(f"{digest} {mine.stat().st_size} {mine}\n")
        notes.chmod(0o666)
    elif kind == "link":
        (tmp_path / "elsewhere").write_text("")
        notes.symlink_to(tmp_path / "elsewhere")
    result = tg("run", "./mine.so", "--dump-tensor", "--output", "out")
    assert result.returncode == 0 and one_line(result.stderr) and result.stderr.startswith(NOT_NOTED), result
    assert str(folder) in result.stderr
    report = json.loads(tg("run", "./mine.so", "--dump-tensor", "--output", "out", "--json").stdout)
    assert [warning["name"] for warning in report["warnings"]] == ["IO_ERROR"]
    assert NOT_NOTED.endswith(report["warnings"][0]["text"].split(":")[0] + ": ")
    refused(tg, WAYS["check"], REFUSED, "notes of the modules that you have run", "modules")


def test_a_note_after_a_torn_one_counts(tg, mine, state):
    (state / "taskglass").mkdir(parents=True)
    (state / "taskglass" / "modules").write_text("0123456789abcdef")
    (state / "taskglass" / "modules").chmod(0o600)
    tg.good("run", "./mine.so", "--dump-tensor", "--output", "out")
    tg.good("check", "out")


def forge(state, mine):
    """Notes that say that mine.so was run."""
    folder = state / "taskglass"
    folder.mkdir(parents=True)
    digest = hashlib.sha256(mine.read_bytes()).hexdigest()
    notes = folder / "modules"
    notes.write_text(f"{digest} {mine.stat().st_size} {mine}\n")
    folder.chmod(0o700)
    notes.chmod(0o600)
    return folder, notes


def link_of_another(folder, notes):
    """The user's own folder, but by a link that another user can lead elsewhere."""
    own = folder.rename(folder.with_name("own"))
    folder.symlink_to(own)
    os.chown(folder, 12345, -1, follow_symlinks=False)


OTHERS = {
    "folder_group": (lambda folder, notes: folder.chmod(0o770), "others can write to", "remove it"),
    "folder_all": (lambda folder, notes: folder.chmod(0o1777), "others can write to", "remove it"),
    "file_group": (lambda folder, notes: notes.chmod(0o620), "others can write to", "remove it"),
    "folder_owner": (lambda folder, notes: os.chown(folder, 12345, -1), "belongs to another user",
                     "XDG_STATE_HOME"),
    "link_owner": (link_of_another, "belongs to another user", "XDG_STATE_HOME"),
    "file_owner": (lambda folder, notes: os.chown(notes, 12345, -1), "belongs to another user",
                   "XDG_STATE_HOME"),
}


@pytest.mark.parametrize("change, why, advice", OTHERS.values(), ids=OTHERS)
def test_notes_that_others_could_have_written_are_neither_believed_nor_written(tg, state, mine, change,
                                                                               why, advice):
    if "another" in why and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    assert tg("run", "./mine.so", "--dump-tensor", "--output", "out", env=STRANGER).returncode == 0
    assert not os.path.exists(STRANGER["XDG_STATE_HOME"])
    folder, notes = forge(state, mine)
    tg.good("check", "out")
    change(folder, notes)
    for way in (WAYS["check"], WAYS["replay_json"], WAYS["bundle"]):
        assert len(refused(tg, way, REFUSED, why, str(folder), advice, "--module")) < 1000
    notes.write_text("")
    result = tg("run", "./mine.so", "--output", "again")
    assert result.returncode == 0 and why in result.stderr and one_line(result.stderr), result
    assert notes.read_text() == ""


def with_few_descriptors(tg, count, *arguments):
    return tg(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)))


@pytest.mark.parametrize("arguments", [WAYS["check"], WAYS["replay"], ["export", "out", "--to", "trace",
                                                                       "--output", "x", "--force"]])
def test_a_want_of_descriptors_is_told_as_what_it_is(recorded, arguments):
    said = set()
    for count in range(4, 14):
        result = with_few_descriptors(recorded, count, *arguments)
        if result.returncode != 0:
            assert result.returncode in (2, 127) and one_line(result.stderr), result
            said.add(result.stderr)
    assert said
    for line in said:
        assert "Too many open files" in line or "shared libraries" in line
        assert "NOT_" not in line and "NO_MEMORY" not in line and "cannot write" not in line and "/../" not in line


def test_a_run_without_descriptors_does_not_blame_memory(tg):
    results = [with_few_descriptors(tg, count, "run", "vector_add", "--output", f"few{count}")
               for count in range(4, 14)]
    said = "".join(result.stderr for result in results if result.returncode != 0)
    assert "Too many open files" in said and "NO_MEMORY" not in said, said


def test_notes_that_are_no_notes_are_skipped(recorded, state):
    notes = state / "taskglass" / "modules"
    good = notes.read_text()
    notes.write_text("\n" + "x" * 100000 + "\n" + good[:70] + "\n" + good.upper() + "\0\n")
    refused(recorded, WAYS["check"], REFUSED)
    notes.write_text("no note\n" * 1000 + good)
    recorded.good("check", "out")


def test_many_notes_are_forgotten_from_the_oldest_on(recorded, state, mine):
    notes = state / "taskglass" / "modules"
    notes.write_text("".join(f"{i:064x} 1 /old/{i}.so\n" for i in range(20000)))
    recorded.good("run", "./mine.so", "--output", "again")
    lines = notes.read_text().splitlines()
    assert 1000 < len(lines) < 10000
    assert lines[-2].endswith("/old/19999.so") and lines[-1].endswith(str(mine))
    recorded.good("check", "out")


def test_runs_at_the_same_time_lose_no_note(tg, state, tmp_path):
    modules = []
    for i in range(6):
        modules.append(tmp_path / f"m{i}.so")
        modules[-1].write_bytes((INSTALLED / "vector_add.so").read_bytes() + bytes([i]))
    runs = [subprocess.Popen([str(PROGRAM), "run", str(module), "--output", f"out{i}"], cwd=tmp_path,
                             env=clean_environment(), stdout=subprocess.DEVNULL)
            for i, module in enumerate(modules)]
    assert [run.wait(TIMEOUT) for run in runs] == [0] * 6
    noted = (state / "taskglass" / "modules").read_text()
    assert all(str(module) in noted for module in modules)


# --- asking --------------------------------------------------------------------------------------


def on_terminal(tg, answer, *args):
    """Runs a command with a terminal as its standard input and error; returns status, what it showed
    there, and its output. `answer` is typed, b"" ends the input; a number is a signal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([str(PROGRAM), *args], cwd=tg.directory, stdin=theirs, stderr=theirs,
                               stdout=subprocess.PIPE, env=clean_environment(**STRANGER))
    os.close(theirs)
    shown = b""
    while b"[y/N]" not in shown and process.poll() is None:
        shown += os.read(ours, 4096)
    if isinstance(answer, int):
        process.send_signal(answer)
    else:
        os.write(ours, answer or b"\x04")
    stdout, _ = process.communicate(timeout=TIMEOUT)
    try:
        while True:
            more = os.read(ours, 4096)
            if not more:
                break
            shown += more
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    return process.returncode, shown.decode(), stdout.decode()


@pytest.mark.parametrize("answer", [b"y\n", b"yes\n", b"Y\n"])
def test_on_a_terminal_the_user_is_asked_and_may_say_yes(recorded, mine, answer):
    code, shown, _ = on_terminal(recorded, answer, "check", "out")
    assert code == 0, shown
    assert f"    {mine}\r\n" in shown and "out/run.json names the module" in shown


@pytest.mark.parametrize("answer", [b"\n", b"n\n", b"", b"no, y\n", b" y\n"])
@pytest.mark.parametrize("way", [WAYS["check"], WAYS["replay"], WAYS["bundle"]])
def test_on_a_terminal_anything_else_is_no(recorded, mine, answer, way):
    code, shown, stdout = on_terminal(recorded, answer, *way)
    # A terminal breaks the message between words.
    assert (code, stdout) == (2, "") and f"--module {mine}" in " ".join(shown.split())
    assert not (recorded.directory / "bundle").exists()


def test_ctrl_c_ends_the_question(recorded):
    code, shown, _ = on_terminal(recorded, signal.SIGINT, "check", "out")
    assert code in (2, -2), shown


def test_the_answer_holds_for_one_time(recorded):
    assert on_terminal(recorded, b"y\n", "check", "out")[0] == 0
    assert on_terminal(recorded, b"n\n", "check", "out")[0] == 2


def test_a_path_cannot_write_on_the_terminal(recorded, mine, tmp_path):
    strange = tmp_path / "a\x1b[2Jb\u202e.so"
    shutil.copy(mine, strange)
    name_module(recorded, strange)
    _, shown, _ = on_terminal(recorded, b"n\n", "check", "out")
    assert "\x1b[2J" not in shown and "\u202e" not in shown


# --- files that are no modules -------------------------------------------------------------------


def strange_files(folder):
    """Paths of things that are not modules."""
    os.mkfifo(folder / "fifo.so")
    (folder / "folder.so").mkdir()
    (folder / "empty.so").write_bytes(b"")
    (folder / "text.so").write_text("root:x:0:0:root:/root:/bin/bash\n")
    with (folder / "giant.so").open("wb") as file:
        file.write((INSTALLED / "vector_add.so").read_bytes()[:4096])
        file.truncate(1 << 40)
    return [folder / name for name in ("fifo.so", "folder.so", "empty.so", "text.so", "giant.so")] + [
        "/dev/zero", "/dev/null", "/proc/self/maps", "/etc/passwd", "/", ".", "", "/no/such/file.so"]


@pytest.mark.parametrize("how", ["named by run.json", "--module"])
def test_what_is_no_module_is_refused_in_one_line(recorded, tmp_path, how):
    for path in strange_files(tmp_path):
        for way in (WAYS["check"], WAYS["replay"], WAYS["bundle"]):
            if how == "--module":
                if str(path) in ("", "."):
                    continue
                refused(recorded, [*way, "--module", str(path)])
            else:
                name_module(recorded, path)
                refused(recorded, way)


def cut_modules(folder):
    """Copies of a module, cut at 40 lengths and around the ends of its headers."""
    whole = (INSTALLED / "vector_add.so").read_bytes()
    lengths = {len(whole) * i // 40 for i in range(40)} | {1, 63, 64, 65, 119, 120, len(whole) - 1}
    for length in sorted(lengths):
        (folder / f"cut{length}.so").write_bytes(whole[:length])
    return [folder / f"cut{length}.so" for length in sorted(lengths)]


def test_a_module_cut_short_costs_the_list_one_line(tg, tmp_path):
    cuts = cut_modules(tmp_path)
    strange_files(tmp_path)
    listed = tg.json("list", env={"TASKGLASS_WORKLOAD_PATH": str(tmp_path)})["workloads"]
    errors = {entry["name"]: entry["error"] for entry in listed}
    assert all(errors[path.stem] for path in cuts)
    assert errors["fifo"] and errors["folder"] and errors["giant"]
    assert errors["vector_add"] is None
    text = tg.good("list", env={"TASKGLASS_WORKLOAD_PATH": str(tmp_path)}).stdout
    assert sum(line.strip().startswith("cut") for line in text.splitlines()) == len(cuts)


def test_a_module_cut_short_is_refused_by_everything_that_loads_it(recorded, tmp_path):
    for path in cut_modules(tmp_path)[::6]:
        refused(recorded, ["run", str(path)], str(path))
        for way in (WAYS["check"], WAYS["replay"], WAYS["bundle"]):
            refused(recorded, [*way, "--module", str(path)])


def test_a_module_with_damage_anywhere_kills_nobody(tg, tmp_path):
    """The file says of itself where its parts are; the list survives what it says."""
    whole = (INSTALLED / "vector_add.so").read_bytes()
    for i in range(24):
        damaged = bytearray(whole)
        at = (i * 37) % 1024
        damaged[at:at + 8] = (0xffffffffffffffff >> (i % 8) * 8).to_bytes(8, "little")
        (tmp_path / f"damaged{i}.so").write_bytes(damaged)
    result = tg("list", "--json", env={"TASKGLASS_WORKLOAD_PATH": str(tmp_path)})
    assert result.returncode == 0 and len(json.loads(result.stdout)["workloads"]) > 24


def replace(path, kind):
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "giant":
        path.touch()
        os.truncate(path, 1 << 40)


@pytest.mark.parametrize("kind, why", [
    ("fifo", "it is not a regular file"), ("folder", "Is a directory"),
    ("giant", "too large"), ("nothing", "no run.json beside the recording")])
def test_a_run_json_that_cannot_be_read_is_not_called_absent(recorded, kind, why):
    replace(recorded.directory / "out" / "run.json", kind)
    for way in (WAYS["check"], WAYS["replay"], WAYS["bundle"]):
        result = recorded(*way)
        assert result.returncode == 2 and one_line(result.stderr), result
        assert why in result.stderr and "--module" in result.stderr, result
        assert (kind == "nothing") == ("no run.json" in result.stderr), result
