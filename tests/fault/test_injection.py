# SPDX-License-Identifier: Apache-2.0
"""Memory, descriptors, threads and disks that run out, in every verb: injection.py says how, and what a
command may make of it. `make test` tries some of the faults, chosen by a seed that it prints;
`injection.py --all` tries each of them."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time

import pytest
from conftest import GPU, PROGRAM, SANITIZED, TIMEOUT, workload

from injection import MALLOC, Bench, Fault, Tally, can_trace, scenarios, soak

SECONDS, LEAST = 6, 16
SEED = int(os.environ.get("TASKGLASS_FAULT_SEED", time.time()))

pytestmark = pytest.mark.skipif(GPU, reason="about the simulators' processes")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    reason = can_trace()
    if reason:
        pytest.skip(f"cannot inject faults: {reason}")
    return Bench(tmp_path_factory.mktemp("injection") / "bench")


def test_a_fault_never_changes_an_answer(bench):
    tally = Tally()
    print(f"TASKGLASS_FAULT_SEED={SEED}; without {MALLOC}: {SANITIZED}", file=sys.stderr)
    soak(bench, scenarios(), tally, SECONDS, SEED, jobs=2, least=LEAST)
    assert sum(tally.tried.values()) >= LEAST
    assert tally.found == [], f"seed {SEED}; injection.py --one FAULT runs one of them again"


def limited(kind, number):
    return lambda: resource.setrlimit(kind, (number, number))


@pytest.fixture
def recording(tmp_path):
    result = subprocess.run([PROGRAM, "run", workload("bugs_none"), "--dump-tensor", "--cores", "3",
                             "--output", "run"], cwd=tmp_path, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=TIMEOUT, check=False)
    assert result.returncode == 0, result
    return tmp_path


def run(folder, *args, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": TIMEOUT, "text": True,
               "stdin": subprocess.DEVNULL, **options}
    return subprocess.run([PROGRAM, *args], cwd=folder, check=False, **options)


def is_honest(result, good):
    """The good answer, or one line and 2 or 3."""
    if result.returncode == good.returncode:
        return result.stdout == good.stdout
    lines = [line for line in result.stderr.splitlines() if line.startswith("taskglass: ")]
    return result.returncode in (2, 3) and len(lines) == 1


READERS = (("verify", "run"), ("check", "run"), ("find", "nan", "run"), ("stats", "run"), ("view", "run"),
           ("diff", "run", "run"))


@pytest.mark.skipif(SANITIZED, reason="sanitizers reserve terabytes of addresses")
@pytest.mark.parametrize("args", READERS)
def test_little_address_space_changes_no_answer(recording, args):
    good = run(recording, *args)
    for mebibytes in (8, 10, 12, 14, 16, 20, 24, 32, 48, 64):
        result = run(recording, *args, preexec_fn=limited(resource.RLIMIT_AS, mebibytes << 20))
        if "error while loading shared libraries" not in result.stderr and result.returncode >= 0:
            assert is_honest(result, good), (mebibytes, result)


@pytest.mark.skipif(SANITIZED, reason="a sanitizer needs a stack of its own")
@pytest.mark.parametrize("args", (*READERS, ("list",), ("run", "vector_add", "--output", "new")))
def test_a_small_stack_is_named_and_never_overrun(recording, args):
    for kibibytes in (32, 64, 255, 256):  # with 16, the loader itself crashes now and then
        result = run(recording, *args, preexec_fn=limited(resource.RLIMIT_STACK, kibibytes << 10))
        if kibibytes == 256:
            assert (result.returncode, result.stderr) == (0, "")
        else:
            assert result.returncode == 2, result
            assert result.stderr == \
                "taskglass: the stack is limited to less than 256 KiB; type 'ulimit -s 8192'\n"


@pytest.mark.parametrize("args", READERS)
def test_few_descriptors_change_no_answer(recording, args):
    good = run(recording, *args)
    for number in range(4, 16):
        result = run(recording, *args, preexec_fn=limited(resource.RLIMIT_NOFILE, number))
        if "error while loading shared libraries" not in result.stderr:
            assert is_honest(result, good), (number, result)


@pytest.mark.parametrize("size", (0, 1, 100, 5000, 20000))
def test_a_limit_on_the_size_of_files_is_named_or_counted(tmp_path, size):
    result = run(tmp_path, "run", workload("bugs_none"), "--dump-tensor", "--cores", "3", "--output", "run",
                 preexec_fn=limited(resource.RLIMIT_FSIZE, size))
    assert result.returncode in (0, 2), result
    assert "File too large" in result.stderr, result


@pytest.mark.parametrize("args", READERS)
def test_output_that_cannot_be_written_is_an_error(recording, args):
    with open("/dev/full", "w") as full:
        result = run(recording, *args, stdout=full)
    assert result.returncode == 2
    assert result.stderr == "taskglass: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("closed", (0, 1, 2))
def test_closed_standard_streams_change_no_answer(recording, closed):
    good = run(recording, "verify", "run")
    result = run(recording, "verify", "run", preexec_fn=lambda: os.close(closed))
    if closed == 1:
        assert (result.returncode, result.stderr) == (2, "taskglass: standard output is closed\n")
    else:
        assert (result.returncode, result.stdout) == (good.returncode, good.stdout)


@pytest.fixture
def small_disk(tmp_path):
    """Gives a function that makes an empty file system of so many KiB, in place of the one before."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def unmount():
        if disk.is_mount():
            subprocess.run(["umount", disk], check=True)

    def mount(kibibytes):
        unmount()
        command = ["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "none", disk]
        if os.geteuid() != 0 or subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode != 0:
            pytest.skip("cannot mount a small file system")
        return disk
    yield mount
    unmount()


RUN_FILES = ("run.json", "deps.json", "tensor_dump/tensor_dump.json", "tensor_dump/tensor_dump.rec",
             "tensor_dump/tensor_dump.bin")
SCOPE_FILES = ("scope_stats/scope_stats.jsonl", "scope_stats/scope_stats.json")


def check_losses(folder, result, files):
    """The run has its own result, and one line names every file that is missing."""
    said = result.stderr.splitlines()
    missing = [name for name in files if not (folder / name).exists()]
    assert result.returncode == 0, result
    assert len(said) == (1 if missing else len(said[:1])), result
    assert all(name.split("/")[-1] in said[0] for name in missing), (missing, result)
    assert all(line.startswith("taskglass: warning: ") for line in said), result
    assert not [name for name in folder.rglob("*") if name.suffix == ".tmp"]
    return missing


@pytest.mark.parametrize("runtime", ("host_build_graph", "tensormap_and_ringbuffer"))
def test_a_full_disk_costs_records_and_files_but_not_the_result(small_disk, tmp_path, runtime):
    lost = 0
    for size in (8, 16, 24, 28, 32, 40, 48, 64, 100, 128, 160, 180, 190, 200, 256):
        disk = small_disk(size)
        result = run(disk, "run", workload("bugs_none"), "--dump-tensor", "--cores", "3", "--runtime",
                     runtime, "--enable-scope-stats", "--output", "run")
        if result.returncode == 2:  # known before the run: no room for what it begins with
            assert size < 32 and len(result.stderr.splitlines()) == 1, result
            continue
        check_losses(disk / "run", result, RUN_FILES + SCOPE_FILES)
        if "tensor_dump.bin': No space" in result.stderr or "tensor_dump.rec': No space" in result.stderr:
            assert re.search(r"; \d+ of \d+ records lost: \d+ disk", result.stderr), result
        lost += bool(result.stderr)
        records = re.search(r"(\d+) of \d+ records lost", result.stderr)
        assert run(disk, "verify", "run").returncode == 0, (size, result)
        shutil.copytree(disk / "run", tmp_path / f"copy{size}")
        recovered = json.loads(run(tmp_path, "recover", f"copy{size}", "--json").stdout)
        if recovered["was_complete"]:  # there was room for the journal's summary
            assert recovered["lost"] == int(records[1] if records else 0)
        assert run(tmp_path, "verify", f"copy{size}").returncode == 0, (size, result)
    assert lost > 3


def test_a_manifest_takes_no_room_that_scope_samples_need(small_disk):
    for size in (6000, 6400, 6800):  # journal and samples fit; with the manifest they do not
        disk = small_disk(size)
        result = run(disk, "run", workload("rings"), "--case", "scopes", "--set", "n=4000", "--cores", "3",
                     "--runtime", "tensormap_and_ringbuffer", "--dump-args", "--enable-scope-stats",
                     "--output", "run")
        assert result.returncode == 0 and "tensor_dump.json" in result.stderr, result
        assert "records lost" not in result.stderr and "scope_stats.jsonl" not in result.stderr, result
        assert "INCOMPLETE" not in run(disk, "scope", "run").stdout


def test_on_a_full_disk_json_is_printed_all_the_same(small_disk):
    result = run(small_disk(8), "run", workload("bugs_none"), "--cores", "3", "--dump-tensor", "--json",
                 "--output", "run")
    report = json.loads(result.stdout)
    assert result.returncode == report["result"]["exit_code"] == 0
    assert report["recorder"]["status"] == "IO_ERROR"
    assert "run.json not written" in report["recorder"]["message"]
    assert report["recorder"]["lost"]["disk"] > 0


def test_a_run_that_is_not_recorded_says_that_run_json_is_missing(tmp_path):
    (tmp_path / "run/.run.json.tmp/x").mkdir(parents=True)
    result = run(tmp_path, "run", workload("bugs_none"), "--cores", "3", "--output", "run")
    assert result.returncode == 0
    assert result.stderr == "taskglass: warning: cannot write 'run/run.json': Is a directory\n"
    result = run(tmp_path, "run", workload("bugs_none"), "--cores", "3", "--output", "run", "--json")
    assert [warning["name"] for warning in json.loads(result.stdout)["warnings"]] == ["IO_ERROR"]


def test_a_file_that_was_asked_for_is_an_error_of_one_line(tmp_path):
    for name in ("deps", "run"):
        (tmp_path / f"run/.{name}.json.tmp/x").mkdir(parents=True)
    result = run(tmp_path, "run", workload("bugs_none"), "--cores", "3", "--deps", "--dump-tensor",
                 "--output", "run")
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1
    assert "run/deps.json" in result.stderr and "run/run.json" in result.stderr


@pytest.mark.skipif(SANITIZED, reason="a sanitizer ends the process when it cannot start a thread")
@pytest.mark.parametrize("name", ("run-json", "replay-json"))
def test_without_a_watchdog_json_says_that_nothing_is_known(bench, name):
    scenario = next(s for s in scenarios() if s.name == name)
    result, counted, place = bench.run(scenario, Fault(name, "taskglass", "clone", 1, "EAGAIN", "once"))
    document = json.loads(result.out)
    assert counted["failed"] == 1 and result.code == 2
    assert document["result"] == "not known" and "thread that watches" in document["reason"]
    assert len(result.err.splitlines()) == 1
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("folder", ((), ("--output", "new/folder")))
def test_a_run_that_is_refused_leaves_no_empty_folder(small_disk, folder):
    for size in range(4, 25, 4):
        disk = small_disk(size)
        spare = disk / "spare"
        for used in range(0, size * 1024, 4096):
            spare.write_bytes(bytes(used))
            result = run(disk, "run", workload("bugs_none"), "--dump-tensor", "--enable-scope-stats",
                         "--cores", "3", *folder)
            left = [path for path in disk.rglob("*") if path.is_dir() and not any(path.iterdir())]
            assert result.returncode in (0, 2) and left == [], (size, used, result, left)
            for path in disk.glob("[no]*"):
                shutil.rmtree(path)


def test_every_rename_that_fails_in_a_recorded_run_is_a_loss(bench):
    """Only the first files, without which there is no recording, are an error before the run."""
    scenario = next(s for s in scenarios() if s.name == "run-tmr-a2a3sim")
    for nth in range(1, 9):
        fault = Fault(scenario.name, "taskglass", "rename", nth, "EIO", "once")
        result, counted, place = bench.run(scenario, fault)
        if not counted["failed"]:
            break
        if result.code == 2:
            assert re.fullmatch(r"taskglass: IO_ERROR: cannot write 'out/\S*\.(bin|rec|jsonl)': Input/output "
                                "error\n", result.err), (nth, result)
        else:
            missing = [name for name in RUN_FILES + SCOPE_FILES if not (place / "out" / name).exists()]
            assert result.code == 0 and len(missing) == 1 and len(result.err.splitlines()) == 1, result
            assert missing[0] in result.err, result
    assert nth == 8
