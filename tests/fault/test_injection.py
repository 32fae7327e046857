# SPDX-License-Identifier: Apache-2.0
"""Memory, descriptors, threads and disks that run out, in every verb: injection.py says how, and what a
command may make of it. `make test` tries some of the faults, chosen by a seed that it prints;
`injection.py --all` tries each of them."""

import os
import re
import resource
import subprocess
import sys
import time

import pytest
from conftest import GPU, PROGRAM, SANITIZED, TIMEOUT, workload

from injection import MALLOC, Bench, Tally, can_trace, scenarios, soak

SECONDS = 6
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
    soak(bench, scenarios(), tally, SECONDS, SEED, jobs=2)
    assert sum(tally.tried.values()) > 0
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


def test_a_full_disk_is_named_or_counted(tmp_path):
    """Needs to mount a small file system."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk],
                                           stderr=subprocess.DEVNULL, check=False).returncode != 0:
        pytest.skip("cannot mount a small file system")
    try:
        for extra in ((), ("--dump-tensor",)):
            result = run(disk, "run", workload("bugs_none"), *extra, "--output", "run")
            assert result.returncode in (0, 2), result
            if extra:
                assert re.search("No space left on device", result.stderr), result
    finally:
        subprocess.run(["umount", disk], check=True)
