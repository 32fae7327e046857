# SPDX-License-Identifier: Apache-2.0
"""taskglass export: files and names, refusals, and every format on every kind of recording."""

import json
import os
import shutil
import signal
import subprocess
import zipfile

import numpy
import pytest

from conftest import PROGRAM, TIMEOUT, Runner, clean_environment, one_line
from recordings import PEER, PEER_RECORDINGS, TYPES, Recording, has_sqlite, peer, random_bits
from test_terminal import Terminal, shown

FORMATS = ["npy", "npz", "safetensors", "csv", "trace", "txt", "simpler"]
if has_sqlite(PROGRAM):
    FORMATS.append("sqlite")
needs_sqlite = pytest.mark.skipif("sqlite" not in FORMATS, reason="built without SQLite")
WITH_EDGES = [format for format in ("sqlite", "trace", "simpler") if format in FORMATS]
WITHOUT_VALUES = ["sqlite", "csv", "simpler"]  # what needs neither values nor times
OF_VALUES = ["npy", "npz", "safetensors", "txt"]
ENDINGS = {"npy": "_npy", "trace": ".trace.json",
           **{name: f".{name}" for name in ("npz", "safetensors", "sqlite", "csv", "txt", "simpler")}}


@pytest.fixture
def recorded(tg):
    """tg, with the recorded run "run"."""
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "run")
    return tg


def refused(result, why):
    assert (result.returncode, result.stdout) == (2, ""), result
    assert one_line(result.stderr) and why in result.stderr, result
    return True


@pytest.mark.parametrize("format", FORMATS)
def test_the_help_has_a_line_about_each_format(tg, format):
    lines = [line.split() for line in tg.good("export", "--help").stdout.split("Formats:\n")[1]
             .splitlines()]
    about = [line for line in lines if line[:1] == [format]]
    assert len(about) == 1 and len(about[0]) > 3 and about[0][1].startswith(".")


@pytest.mark.parametrize("format", FORMATS)
def test_the_file_has_the_name_of_the_run(recorded, format):
    result = recorded("export", "run", "--to", format)
    assert result.returncode == 0 and result.stdout.endswith(f" in run{ENDINGS[format]}\n")
    assert (recorded.directory / f"run{ENDINGS[format]}").exists()


@pytest.mark.parametrize("format", FORMATS)
def test_the_newest_run_is_meant_where_none_is_named(tg, format):
    tg.good("run", "vector_add", "--dump-tensor")
    assert tg("export", "--to", format, "--output", "x.npy" if format == "npy" else "x",
              "--index", 13).returncode == 0


@pytest.mark.parametrize("name, format", [
    ("x.npz", "npz"), ("x.safetensors", "safetensors"), ("x.sqlite", "sqlite"), ("x.db", "sqlite"),
    ("x.csv", "csv"), ("x.trace.json", "trace"), ("x.pftrace", "trace"), ("x.txt", "txt")])
def test_the_format_can_be_told_by_the_name_of_the_file(recorded, name, format):
    if format not in FORMATS:
        pytest.skip("built without SQLite")
    document = json.loads(recorded("export", "run", "--output", name, "--json").stdout)
    assert (document["format"], document["path"]) == (format, name)


def test_json_says_what_came_of_it(recorded):
    document = recorded.json("export", "run", "--to", "npz", "--output", "x.npz")
    with zipfile.ZipFile(recorded.directory / "x.npz") as archive:
        assert document["written"] == len(archive.namelist())
    assert document["written"] + document["missing"] == recorded.json("view", "run")["summary"][
        "records"]


def files_of(path):
    """The bytes of a file, or of all files in a folder."""
    paths = path.rglob("*") if path.is_dir() else [path]
    return {path: path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_there_is_not_overwritten(recorded, format):
    arguments = ["export", "run", "--to", format, "--output", "x", "--index", "8-20"]
    assert recorded(*arguments).returncode == 0
    before = files_of(recorded.directory / "x")
    refused(recorded(*arguments), "already exists; --force overwrites it")
    assert before == files_of(recorded.directory / "x") != {}


@pytest.mark.parametrize("format", FORMATS)
def test_force_overwrites(recorded, format):
    arguments = ["export", "run", "--to", format, "--output", "x", "--force", "--task", "3"]
    assert recorded(*arguments).returncode == 0
    assert recorded(*arguments).returncode == 0


def test_a_directory_is_not_overwritten(recorded):
    (recorded.directory / "x").mkdir()
    refused(recorded("export", "run", "--to", "csv", "--output", "x", "--force"), "Is a directory")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """tg, with a run that has every file a run can have, and a link to its folder."""
    tg = Runner(tmp_path_factory.mktemp("whole"))
    tg.good("run", "matmul_chain", "--dump-tensor", "--deps", "--enable-scope-stats", "--output", "run")
    (tg.directory / "elsewhere").symlink_to("run")
    return tg


OWN_FILES = ["run.json", "deps.json", "tensor_dump/tensor_dump.rec", "tensor_dump/tensor_dump.bin",
             "tensor_dump/tensor_dump.json", "scope_stats/scope_stats.jsonl",
             "scope_stats/scope_stats.json"]


def never_replaced(tg, name, *commands):
    """No way to the file leads over its content."""
    path = tg.directory / "run" / name
    before = path.read_bytes()
    link, hard = tg.directory / "link", tg.directory / "hard"
    link.symlink_to(path)
    hard.hardlink_to(path)
    try:
        for way in (f"run/{name}", f"elsewhere/./{name}", f"/proc/self/cwd/run/{name}", "link", "hard"):
            for command in commands:
                refused(tg(*command, way, "--force"), "is a file of the recording itself")
    finally:
        link.unlink()
        hard.unlink()
    assert path.read_bytes() == before


@pytest.mark.parametrize("file", OWN_FILES)
def test_the_recordings_own_files_are_not_overwritten(whole, file):
    never_replaced(whole, file, ["export", "run", "--to", "csv", "--output"],
                   ["scope", "run", "--html"], ["view", "run", "--html"])


@pytest.mark.parametrize("format", FORMATS)
def test_no_format_overwrites_the_run_it_reads(whole, format):
    if format == "simpler":
        refused(whole("export", "run", "--to", format, "--output", "elsewhere", "--force"), "itself")
    else:
        never_replaced(whole, "run.json", ["export", "run", "--index", 10, "--to", format, "--output"])


def test_view_does_not_overwrite_the_run_it_reads(whole):
    never_replaced(whole, "deps.json", ["view", "run", "--export", "npz", "--out"])


def test_a_link_to_the_run_is_not_replaced_by_an_export(whole):
    for format in ("npz", "npy"):
        refused(whole("export", "run", "--to", format, "--output", "elsewhere", "--force"), "itself")
    assert (whole.directory / "elsewhere").is_symlink()


def test_a_name_that_a_run_gives_its_files_is_not_used_in_the_run(recorded):
    (recorded.directory / "run" / "deps.json").unlink()
    refused(recorded("export", "run", "--to", "csv", "--output", "run/deps.json"), "itself")
    assert not (recorded.directory / "run" / "deps.json").exists()


def test_no_file_that_a_recorder_wrote_is_replaced_whatever_its_name(whole, tmp_path):
    shutil.copytree(whole.directory / "run", tmp_path / "run", symlinks=True)
    tg = Runner(tmp_path)
    for name in ("tensor_dump/other.bin", "scope_stats/notes", "chip_swimlane_records.json"):
        (tmp_path / "run" / name).write_text("theirs")
    for name in ("tensor_dump/other.bin", "scope_stats/notes", "chip_swimlane_records.json",
                 "tensor_dump/.tensor_dump.json.tmp", ".run.json.tmp"):
        for command in (["export", "run", "--to", "csv", "--output"], ["scope", "run", "--html"],
                        ["view", "run", "--export", "npz", "--out"]):
            refused(tg(*command, f"run/{name}", "--force"), "is a file of the recording itself")
    assert (tmp_path / "run/tensor_dump/other.bin").read_text() == "theirs"
    tg.good("export", "run", "--to", "csv", "--output", "run/mine.csv")
    tg.good("export", "run", "--to", "csv", "--output", "run/mine.csv", "--force")


def test_a_planted_link_in_the_shared_memory_folder_is_not_followed(recorded, tmp_path):
    (tmp_path / "mine").write_text("mine")
    link = f"/dev/shm/taskglass-test-{os.getpid()}"
    os.symlink(tmp_path / "mine", link)
    try:
        assert recorded("export", "run", "--to", "csv", "--output", link, "--force").returncode == 0
        assert not os.path.islink(link) and (tmp_path / "mine").read_text() == "mine"
    finally:
        os.unlink(link)


@pytest.mark.parametrize("format", ["npz", "safetensors", "csv", "trace", "txt"])
def test_standard_output_gets_what_a_file_would(recorded, format):
    recorded("export", "run", "--to", format, "--output", "x")
    result = recorded("export", "run", "--to", format, "--output", "-", text=False)
    assert result.returncode == 0 and result.stdout == (recorded.directory / "x").read_bytes()


def test_one_npy_goes_to_standard_output(recorded):
    recorded("export", "run", "--to", "npy", "--output", "x.npy", "--index", 10)
    result = recorded("export", "run", "--to", "npy", "--output", "-", "--index", 10, text=False)
    assert result.stdout == (recorded.directory / "x.npy").read_bytes()


@pytest.mark.parametrize("arguments, why", [
    ([], "export needs a format"),
    (["--output", "x.what"], "export needs a format"),
    (["--to", "cvs"], "unknown format 'cvs'; did you mean csv?"),
    (["--to", "spreadsheet"], "unknown format 'spreadsheet'; formats are npy, npz, safetensors"),
    (["--to", "csv", "more"], "export takes one directory"),
    (["--to", "csv", "--output", ""], "--output needs the name of a file"),
    (["--to", "csv", "--output", "no/such/place"], "cannot write 'no/such/place': No such file"),
    (["--to", "csv", "--output", "-", "--json"], "both write to standard output"),
    (["--to", "csv", "--output", "/dev/full"], "No space left"),
    (["--to", "trace", "--output", "/dev/full"], "No space left"),
    (["--to", "safetensors", "--output", "/dev/full"], "No space left"),
    (["--to", "npy", "--output", "x.npy"], "name a directory for several"),
    (["--to", "npz", "--task", "999"], "nothing to export"),
    (["--to", "safetensors", "--task", "999"], "nothing to export"),
    (["--to", "trace", "--task", "999"], "nothing to export: no record matches the filters"),
    (["--to", "csv", "--task", "999"], "nothing to export: no record matches the filters"),
    (["--to", "simpler", "--task", "999"], "nothing to export: no record matches the filters"),
    (["--to", "csv", "--index", "999"], "there is no record 999; the recording has 0 to"),
    (["--to", "csv", "--stage", "during"], "--stage: 'during' is not a valid stage"),
    (["--to", "csv", "--limit", "none"], "--limit needs a whole number"),
    (["--to", "csv", "--limit", "0"], "--limit needs a whole number above 0"),
])
def test_what_makes_no_sense_is_one_line(recorded, arguments, why):
    refused(recorded("export", "run", *arguments), why)
    assert sorted(path.name for path in recorded.directory.iterdir()) == ["run"]


@needs_sqlite
@pytest.mark.parametrize("output, why", [
    ("no/such/place", "cannot write 'no/such/place': No such"),
    ("-", "a database cannot go to the standard output"), ("/dev/null", "it is not a regular file")])
def test_a_database_wants_a_file(recorded, output, why):
    refused(recorded("export", "run", "--to", "sqlite", "--output", output), why)


@pytest.mark.parametrize("format", FORMATS)
def test_a_disk_that_is_full_leaves_no_half_file(tg, tmp_path, format):
    recording = Recording(tmp_path / "run")
    for number in range(3000):
        recording.add_tensor("uint8", numpy.zeros(100, "u1"))
    recording.write()
    if format == "trace":  # a trace needs times, and so a journal
        shutil.rmtree(tmp_path / "run")
        tg.good("run", "stencil", "--dump-tensor", "--output", "run")
    result = tg("export", "run", "--to", format, "--output", "x",
                prefix=["sh", "-c", "ulimit -f 4; trap '' XFSZ; exec \"$@\"", "sh"])
    if format == "npy":  # many small files: those that fitted are whole
        assert result.returncode == 0
    else:
        refused(result, "cannot write 'x/args_dump/" if format == "simpler" else "cannot write 'x': ")
        assert sorted(path.name for path in tg.directory.iterdir()) == ["run"]


# --- the filters --------------------------------------------------------------------------------

@pytest.mark.parametrize("filters", [
    ["--task", "3"], ["--kernel", "*relu*"], ["--stage", "after"], ["--role", "inout"],
    ["--kind", "scalar"], ["--arg", "0"], ["--index", "20-30"], ["--limit", "7"],
    ["--task", "0-9", "--stage", "before", "--arg", "1"]])
def test_filters_select_what_view_shows(recorded, filters):
    indices = [record["index"] for record in recorded.json("view", "run", *filters)["records"]]
    lines = recorded.good("export", "run", "--to", "csv", "--output", "-", *filters).stdout
    assert [int(line.split(",")[0]) for line in lines.splitlines()[1:]] == indices


# --- every kind of recording --------------------------------------------------------------------

def export_all(tg, folder, works):
    """Checks that the formats in `works` work, and that each other one is refused in one line."""
    for format in FORMATS:
        result = tg("export", folder, "--to", format, "--output", f"x_{format}", "--force")
        if format in works:
            assert result.returncode == 0, result
        else:
            refused(result, "")
            assert not (tg.directory / f"x_{format}").exists()


@pytest.mark.parametrize("name", PEER_RECORDINGS)
def test_every_format_takes_the_other_implementations_recordings(tg, name):
    values = OF_VALUES if any(entry for entry in tg.json("view", peer(name))["records"]
                              if entry["kind"] == "scalar" or entry["bin_size"]) else []
    export_all(tg, peer(name), [*values, *WITHOUT_VALUES])  # a trace needs times


def test_a_foreign_manifest_that_was_cut_is_refused(tg):
    peer("truncated_manifest_only")
    result = tg("view", PEER / "truncated_manifest_only")
    export_all(tg, PEER / "truncated_manifest_only",
               WITHOUT_VALUES if result.returncode == 0 else [])


def test_every_format_takes_an_empty_recording(tg, tmp_path):
    Recording(tmp_path / "run").write()
    export_all(tg, "run", WITHOUT_VALUES)


def test_every_format_takes_a_recording_without_payloads(tg):
    tg.good("run", "vector_add", "--dump-args", "--dump-filter", "kernel=*,role=in+out",
            "--output", "run")
    export_all(tg, "run", [*WITHOUT_VALUES, "trace"])


def test_every_format_takes_a_journal_that_was_cut(recorded):
    journal = recorded.directory / "run" / "tensor_dump" / "tensor_dump.rec"
    journal.write_bytes(journal.read_bytes()[:128 * 41 + 77])
    export_all(recorded, "run", FORMATS)


def test_every_format_takes_a_payload_that_was_cut(recorded):
    payload = recorded.directory / "run" / "tensor_dump" / "tensor_dump.bin"
    payload.write_bytes(payload.read_bytes()[:100001])
    export_all(recorded, "run", FORMATS)


def test_every_format_takes_a_journal_with_damage_in_it(recorded):
    journal = recorded.directory / "run" / "tensor_dump" / "tensor_dump.rec"
    data = bytearray(journal.read_bytes())
    for record in (12, 13, 30):
        data[128 * record + 20:128 * record + 60] = b"\xff" * 40
    journal.write_bytes(data)
    export_all(recorded, "run", FORMATS)


@pytest.mark.parametrize("data", [b"", b"{", b"nonsense", b"\0" * 4096])
def test_what_is_no_recording_is_refused(tg, tmp_path, data):
    (tmp_path / "tensor_dump").mkdir()
    (tmp_path / "tensor_dump" / "tensor_dump.json").write_bytes(data)
    export_all(tg, ".", [])


def test_every_format_takes_a_recording_of_every_type(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    for number, dtype in enumerate(TYPES):
        recording.add_tensor(dtype, random_bits(dtype, (3, 5), seed=number))
    recording.write()
    export_all(tg, "run", [*OF_VALUES, *WITHOUT_VALUES])


HOSTILE_DEPS = [
    b"", b"[]", b"{}", b'{"tasks": 3}', b'{"tasks": [3]}', b'{"tasks": [{}]}', b'{"tasks": [{"',
    b'{"tasks": [{"task_id": "what"}]}', b'{"tasks": [{"task_id": 1, "after": 2}]}',
    b'{"tasks": [{"task_id": 1, "after": [[2]]}]}', b'{"tasks": [{"task_id": 1, "kind": ["raw"]}]}',
    b'{"tasks": [{"task_id": 1, "func_id": [1, 2, 3, 4]}]}',
    b'{"tasks": [{"task_id": 1, "kernel": [1]}]}', b'{"tasks": ' + b"[" * 1000]


@pytest.mark.every_case
@pytest.mark.parametrize("text", HOSTILE_DEPS, ids=range(len(HOSTILE_DEPS)))
@pytest.mark.parametrize("format", WITH_EDGES)
def test_a_deps_json_that_makes_no_sense_is_one_line(recorded, format, text):
    (recorded.directory / "run" / "deps.json").write_bytes(text)
    refused(recorded("export", "run", "--to", format, "--output", "x"), "deps.json', line ")
    assert not (recorded.directory / "x").exists()


@pytest.mark.parametrize("format", WITH_EDGES)
def test_a_run_without_deps_json_has_no_edges(recorded, format):
    (recorded.directory / "run" / "deps.json").unlink()
    recorded.good("export", "run", "--to", format, "--output", "x", "--kernel", "*relu*")


# --- terminals ----------------------------------------------------------------------------------

def large_recording(directory):
    """A recording that takes long to read, but no room on the disk: as many holes as readers still read."""
    recording, tensors, size = Recording(directory / "run"), 1500, 8 << 20
    for number in range(tensors):
        recording.add(shape=[size // 4], strides=[1], bin_offset=number * size, bin_size=size)
    recording.write()
    with open(directory / "run" / "tensor_dump" / "tensor_dump.bin", "r+b") as payload:
        payload.truncate(tensors * size)


@needs_sqlite
def test_progress_is_shown_on_a_terminal_and_gone_in_the_end(tg):
    large_recording(tg.directory)
    terminal = Terminal(tg.directory, ["export", "run", "--to", "sqlite", "--output", "x.db"])
    terminal.wait_for(b"export  ")
    terminal.type(b"\x03")
    terminal.wait()
    assert b" %" in terminal.text and "export  " not in shown(terminal.text).replace("^C", "")


@needs_sqlite
def test_ctrl_c_ends_an_export_and_removes_what_it_has_written(tg):
    large_recording(tg.directory)
    terminal = Terminal(tg.directory, ["export", "run", "--to", "sqlite", "--output", "x.db"])
    terminal.wait_for(b"export  ")
    terminal.type(b"\x03")
    assert terminal.wait() == -signal.SIGINT
    assert not (tg.directory / "x.db").exists()


@needs_sqlite
def test_an_export_that_is_terminated_leaves_no_half_file(tg):
    large_recording(tg.directory)
    export = subprocess.Popen([PROGRAM, "export", "run", "--to", "sqlite", "--output", "x.db"],
                              cwd=tg.directory, env=clean_environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not list(tg.directory.glob(".taskglass-*.tmp")) and export.poll() is None:
        pass
    export.terminate()
    export.communicate(timeout=TIMEOUT)
    assert export.returncode == -signal.SIGTERM
    assert [path.name for path in tg.directory.iterdir()] == ["run"]
