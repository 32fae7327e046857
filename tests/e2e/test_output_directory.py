# SPDX-License-Identifier: Apache-2.0
"""Where a run leaves its files, and what happens if it cannot."""

import json
import os
import pathlib
import re
import stat
import subprocess

import pytest

from conftest import PROGRAM, TIMEOUT, clean_environment, one_line, workload

NAME = re.compile(r"vector_add_small_\d{8}_\d{6}(_\d+)?")


def test_a_run_makes_a_directory_named_after_workload_case_and_time(tg):
    tg.good("run", "vector_add")
    assert [bool(NAME.fullmatch(path.name)) for path in tg.outputs()] == [True]


def test_the_directory_that_a_run_prints_is_the_one_it_made(tg):
    printed = tg.good("run", "vector_add").stdout.splitlines()[-1].split()[-1]
    assert tg.directory / printed == tg.outputs()[0]


def test_runs_at_the_same_time_have_directories_of_their_own(tg):
    runs = [subprocess.Popen([PROGRAM, "run", "vector_add"], cwd=tg.directory,
                             env=clean_environment(), stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE) for _ in range(12)]
    assert [run.wait(TIMEOUT) for run in runs] == [0] * 12
    assert len(tg.outputs()) == 12
    assert all((path / "run.json").is_file() for path in tg.outputs())


def test_nothing_but_the_files_is_left(tg):
    tg.good("run", "vector_add", "--deps")
    files = {path.relative_to(tg.outputs()[0]).as_posix()
             for path in tg.outputs()[0].rglob("*")}
    assert files == {"run.json", "deps.json"}


def test_a_run_writes_the_files_that_the_wire_format_lists(tg):
    text = (pathlib.Path(__file__).parents[2] / "docs/wire-format.md").read_text()
    table = text[text.index("\n## 2. "):text.index("\n## 3. ")]
    listed = set(re.findall(r"^\| `([\w/]+\.\w+)` \|", table, re.M))
    tg.good("run", "stencil", "--runtime", "tensormap_and_ringbuffer", "--dump-tensor=full",
            "--enable-scope-stats")
    written = {path.relative_to(tg.outputs()[0]).as_posix()
               for path in tg.outputs()[0].rglob("*") if path.is_file()}
    assert written == listed


def test_a_named_directory_is_made_with_its_parents(tg):
    tg.good("run", "vector_add", "--output", "a/b/c")
    assert (tg.directory / "a/b/c/run.json").is_file()
    assert not (tg.directory / "outputs").exists()


def test_a_named_directory_may_exist_and_keeps_what_is_not_ours(tg):
    (tg.directory / "mine").mkdir()
    (tg.directory / "mine" / "notes").write_text("mine")
    tg.good("run", "vector_add", "--output", "mine")
    assert (tg.directory / "mine" / "notes").read_text() == "mine"


def test_a_named_directory_loses_what_an_earlier_run_left(tg):
    tg.good("run", "vector_add", "--deps", "--output", "mine")
    tg.good("run", "vector_add", "--output", "mine")
    assert [path.name for path in (tg.directory / "mine").iterdir()] == ["run.json"]


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


RECORDED = ("--dump-tensor", "--enable-scope-stats")


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o077])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", ["new/run", "new/run/", "new//run/.", None])
def test_only_the_owner_may_enter_what_a_run_makes_unless_it_is_shared(tg, name, shared, umask):
    options = (*(("--output", name) if name else ()), *(("--shared",) if shared else ()))
    before = os.umask(umask)
    try:
        tg.good("run", "vector_add", *RECORDED, *options)
    finally:
        os.umask(before)
    run = tg.directory / name if name else tg.outputs()[0]
    wanted = (0o777 if shared else 0o700) & ~umask
    assert [mode(path) for path in (run, run / "tensor_dump", run / "scope_stats")] == [wanted] * 3
    assert mode(run.parent) == 0o777 & ~umask
    assert {mode(path) for path in run.rglob("*") if path.is_file()} == {0o666 & ~umask}


def test_a_directory_that_exists_keeps_its_mode(tg):
    for name, bits in (("open", 0o755), ("closed", 0o500 | 0o200)):
        (tg.directory / name).mkdir()
        (tg.directory / name).chmod(bits)
        for options in ((), ("--shared",)):
            tg.good("run", "vector_add", "--output", name, *options)
            assert mode(tg.directory / name) == bits


def test_the_environment_can_name_the_directory(tg):
    tg.good("run", "vector_add", env={"TASKGLASS_OUTPUT": "there"})
    assert (tg.directory / "there" / "run.json").is_file()


def test_a_directory_that_may_not_be_written_is_named_with_the_cause(tg):
    options = {}
    if os.geteuid() == 0:  # root may write anywhere, so run as the user nobody
        options = {"user": 65534, "group": 65534, "extra_groups": []}
    tg.directory.chmod(0o555)
    try:
        result = tg("run", "vector_add", **options)
    except PermissionError:
        pytest.skip("the build is not readable for an unprivileged user")
    finally:
        tg.directory.chmod(0o755)
    if "error while loading shared libraries" in result.stderr:
        pytest.skip("the build is not readable for an unprivileged user")
    assert result.returncode == 2 and one_line(result.stderr), result
    assert "'outputs'" in result.stderr and "Permission denied" in result.stderr


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place],
                             stderr=subprocess.PIPE, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a small file system: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_named_before_the_run(tg, small_disk):
    with open(small_disk / "filler", "wb", buffering=0) as filler:
        with pytest.raises(OSError):
            while True:
                filler.write(bytes(4096))
    result = tg("run", "vector_add", "--output", small_disk / "out")
    assert result.returncode == 2 and one_line(result.stderr), result
    assert str(small_disk / "out") in result.stderr and "No space left" in result.stderr


def test_a_disk_that_fills_up_is_named_with_the_file(tg, small_disk):
    result = tg("run", workload("graphs"), "--case", "wide", "--deps", "--output",
                small_disk / "out")
    assert result.returncode == 2 and one_line(result.stderr), result
    assert str(small_disk / "out" / "deps.json") in result.stderr
    assert "No space left" in result.stderr


def test_a_file_that_did_not_fit_is_not_there_in_part(tg, small_disk):
    tg("run", workload("graphs"), "--case", "wide", "--deps", "--output", small_disk / "out")
    assert [path.name for path in (small_disk / "out").iterdir()] == ["run.json"]
    report = json.loads((small_disk / "out" / "run.json").read_text())
    assert report["result"]["status"] == "IO_ERROR"


@pytest.mark.parametrize("filled", (0, 20, 40, 60))
def test_shaking_on_a_disk_that_fills_up_says_so_and_leaves_nothing(tg, small_disk, filled):
    (small_disk / "filler").write_bytes(bytes(filled << 10))
    result = tg("shake", "stencil", "--runs", "3", cwd=small_disk)
    assert result.returncode == 2 and one_line(result.stderr), result
    assert "No space left" in result.stderr
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


@pytest.mark.parametrize("args", [["list"], ["config"], ["--help"], ["run", "vector_add"]])
def test_output_that_cannot_be_written_is_an_error(tg, args):
    with open("/dev/full", "w") as full:
        result = tg(*args, stdout=full)
    assert result.returncode == 2 and one_line(result.stderr), result
    assert "standard output" in result.stderr and "No space left" in result.stderr


def test_a_closed_standard_output_is_an_error(tg):
    result = tg("list", preexec_fn=lambda: os.close(1))
    assert result.returncode == 2 and "standard output" in result.stderr, result


def test_a_run_is_good_with_standard_input_and_error_closed(tg):
    result = tg("run", "vector_add", preexec_fn=lambda: (os.close(0), os.close(2)))
    assert result.returncode == 0, result


def test_the_message_about_a_file_that_stays_has_a_plain_path(tg):
    (tg.directory / "mine" / "run.json" / "x").mkdir(parents=True)
    for name in ("mine", "mine/"):
        result = tg("run", "vector_add", "--output", name)
        assert result.stderr == "taskglass: IO_ERROR: cannot replace 'mine/run.json': Is a directory\n"
