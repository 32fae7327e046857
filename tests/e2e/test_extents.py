# SPDX-License-Identifier: Apache-2.0
"""Records that share the bytes of a payload, or that are holes, make no verb work without end.

No writer makes them, but a stranger may. What bounds the work is that such a record is not read with all
others; so the tests ask what was read, never how long it took.
"""

import json
import os
import shlex
import signal
import subprocess
import time

import numpy
import pytest

from conftest import PATIENCE, PROGRAM, clean_environment
from recordings import Recording

pytestmark = pytest.mark.every_case

MIB = 1 << 20
RECORDS = 300
# A record's bytes, bytes from one record to the next, bytes of the payload file. All claims together must
# be above 64 MiB, and above twice the payload file.
SHAPES = {"shared": (MIB, 0, MIB), "chain": (MIB, 4096, 4 * MIB), "holes": (32 << 30, 32 << 30, RECORDS * 32 << 30),
          "one giant": (8 << 40, 0, 8 << 40)}
# How many records of each are read: those that no other one overlaps.
READ = {"shared": 1, "chain": 2, "holes": 0, "one giant": 0}


def write(folder, name, records=RECORDS, **fields):
    size, step, file_size = SHAPES[name]
    recording = Recording(folder)
    for number in range(records):
        recording.add(**{"dtype": "uint8", "shape": [size], "strides": [1], "bin_size": size,
                         "bin_offset": number * step, "data_ptr": "0x%016x" % (0x10000 * number),
                         "role": "output", "stage": "after_completion", **fields})
    payload = recording.write(payload_bytes=file_size) / "tensor_dump.bin"
    try:
        os.truncate(payload, file_size)
    except OSError:
        pytest.skip("the file system has no such large files")


@pytest.fixture(params=SHAPES)
def shape(request, tmp_path):
    write(tmp_path / "run", request.param)
    return request.param


def test_verify_says_which_records_share_bytes_and_hashes_none_twice(tg, tmp_path):
    write(tmp_path / "run", "shared", hash="0x0123456789abcdef")
    result = tg("verify", "run", "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 1 and not document["good"]
    assert document["by_problem"]["overlap"] == RECORDS - 1
    assert document["hashes_compared"] == 1 and document["payload_bytes"] == MIB
    assert "those of records 0 and 1" in tg("verify", "run").stdout


@pytest.mark.parametrize("name, records", [("holes", RECORDS), ("one giant", 1)])
def test_verify_calls_giants_of_holes_unknown_without_reading_them(tg, tmp_path, name, records):
    write(tmp_path / "run", name, records, hash="0x0123456789abcdef")
    result = tg("verify", "run", "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 2 and document["result"] == "not known" and not document["good"]
    assert document["not_read"] == records and document["problems"] == 0
    assert document["hashes_compared"] == 0 and "--force" in document["reason"]
    result = tg("verify", "run")
    assert result.returncode == 2 and result.stdout.startswith("NOT KNOWN  run")
    assert f"{records} tensor" in result.stdout and "taskglass verify --force" in result.stdout


def test_the_advice_of_verify_can_be_pasted(tg, tmp_path):
    write(tmp_path / "it's a run", "holes", hash="0x0123456789abcdef")
    report = tg("verify", "it's a run").stdout.splitlines()
    document = json.loads(tg("verify", "it's a run", "--json").stdout)
    for line in (report[1], document["reason"]):
        command = shlex.split(line.partition("type: ")[2])
        assert command == ["taskglass", "verify", "--force", "it's a run/tensor_dump"], line


def test_verify_needs_no_bytes_of_giants_without_a_hash(tg, tmp_path):
    write(tmp_path / "run", "holes")
    document = tg.json("verify", "run")
    assert document["good"] and document["without_hash"] == RECORDS
    assert f"{RECORDS} records not read with the others" in tg.good("verify", "run").stdout


def test_verify_calls_giants_that_share_bytes_bad(tg, tmp_path):
    write(tmp_path / "run", "one giant", records=2, hash="0x0123456789abcdef")
    result = tg("verify", "run", "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 1 and document["result"] == "bad"
    assert document["by_problem"]["overlap"] == 1


def test_force_lets_verify_read_holes_but_no_bytes_twice(tg, tmp_path):
    write(tmp_path / "run", "holes")  # without hashes, so that nothing needs to be read
    assert "not read" not in tg.good("verify", "run", "--force").stdout
    write(tmp_path / "shared", "shared", hash="0x0123456789abcdef")
    result = tg("verify", "shared", "--force", "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 1 and document["hashes_compared"] == 1
    assert document["by_problem"]["overlap"] == document["not_read"] == RECORDS - 1


def test_stats_reads_no_bytes_twice(tg, shape):
    rows = tg.json("stats", "run")["tensors"]
    read = sum(row["stored"] for row in rows)
    # A report may read some of the others as well, up to the size of the file, but no giants of holes.
    size, _, file_size = SHAPES[shape]
    assert len(rows) == RECORDS
    assert READ[shape] <= read <= (READ[shape] + file_size // size if READ[shape] else 0)


def test_one_record_of_many_that_share_bytes_can_be_looked_at(tg, tmp_path):
    write(tmp_path / "run", "shared")
    assert "values    1048576: min 0" in tg.good("view", "run", "--index", "7").stdout
    assert tg.json("stats", "run", "--index", "7")["tensors"][0]["zero"] == MIB


def test_a_giant_that_is_not_read_is_said_to_be(tg, tmp_path):
    write(tmp_path / "run", "one giant", records=1)
    assert "not read: other records have the same bytes, or they are a hole" in \
        tg.good("view", "run", "--index", "0").stdout
    assert "not read" in tg.good("stats", "run").stdout


def test_find_searches_no_bytes_twice(tg, shape):
    for kind in ("nan", "constant", "unwritten"):
        result = tg("find", kind, "run", "--json")
        document = json.loads(result.stdout)
        assert document["looked_at"] <= READ[shape], kind
        assert document["not_stored"] >= RECORDS - READ[shape], kind
        assert document["left_out"], kind


def test_diff_compares_what_is_read_and_calls_the_rest_unknown(tg, shape, tmp_path):
    write(tmp_path / "other", shape)
    result = tg("diff", "run", "other", "--json")
    document = json.loads(result.stdout)
    assert result.returncode in (1, 2) and document["result"] != "equal"
    assert document["counts"]["unknown"] == RECORDS - READ[shape]


@pytest.mark.parametrize("to", ["npy", "npz", "safetensors", "txt", "simpler"])
def test_an_export_of_more_than_the_payload_has_is_refused(tg, shape, tmp_path, to):
    before = sorted(os.listdir(tmp_path))
    result = tg("export", "run", "--to", to, "--output", "out")
    assert result.returncode == 2 and result.stderr.count("\n") == 1 and not result.stdout
    assert "they share bytes or are holes" in result.stderr and "--force" in result.stderr
    assert sorted(os.listdir(tmp_path)) == before


def test_an_oversize_export_is_written_with_force(tg, tmp_path):
    write(tmp_path / "run", "shared", records=80)
    assert tg("view", "run", "--export", "npz", "--out", "x.npz").returncode == 2
    assert not (tmp_path / "x.npz").exists()
    assert tg("view", "run", "--export", "npz", "--out", "x.npz", "--force").returncode == 0
    assert len(numpy.load(tmp_path / "x.npz").files) == 80


def test_some_records_of_many_that_share_bytes_are_exported(tg, tmp_path):
    write(tmp_path / "run", "shared")
    assert tg("export", "run", "--index", "7-9", "--output", "x.npz").returncode == 0
    arrays = numpy.load(tmp_path / "x.npz")
    assert len(arrays.files) == 3 and all(arrays[name].shape == (MIB,) for name in arrays.files)


@pytest.mark.parametrize("to", ["csv", "sqlite"])
def test_formats_without_values_are_written(tg, shape, to):
    result = tg("export", "run", "--to", to, "--output", "out")
    assert result.returncode == 0 or "without SQLite" in result.stderr


def test_a_sparse_copy_of_zeros_is_exported(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    for number in range(4):
        recording.add(dtype="uint8", shape=[32 * MIB], strides=[1], bin_size=32 * MIB,
                      bin_offset=32 * MIB * number)
    payload = recording.write(payload_bytes=128 * MIB) / "tensor_dump.bin"
    os.truncate(payload, 128 * MIB)
    tg.good("verify", "run")
    tg.good("export", "run", "--output", "x.npz")


# --- signals ----------------------------------------------------------------------------------------

GIANT = 12 << 30  # a hole that is still read
MIDDLE = 5  # ticks of the CPU: more than a command needs to begin, far fewer than the giant takes
INTERRUPTED = [
    ["verify", "run"], ["stats", "run"], ["find", "constant", "run"], ["diff", "run", "other"],
    ["view", "run", "--index", "0"], *(["export", "run", "--to", to, "--force", "--output", "-"]
                                       for to in ("npz", "safetensors")),
    ["export", "run", "--to", "sqlite", "--output", "x.sqlite"],
]


def has_begun(child):
    """Whether a process has worked enough to be in the middle of the giant."""
    with open(f"/proc/{child.pid}/stat", encoding="ascii") as file:
        words = file.read().rpartition(")")[2].split()
    return int(words[11]) + int(words[12]) > MIDDLE


@pytest.fixture(scope="module")
def giants(tmp_path_factory):
    folder = tmp_path_factory.mktemp("giants")
    for name in ("run", "other"):
        recording = Recording(folder / name)
        recording.add(dtype="uint8", shape=[GIANT], strides=[1], bin_size=GIANT,
                      **({"hash": "0x0123456789abcdef"} if name == "run" else {}))
        os.truncate(recording.write(payload_bytes=GIANT) / "tensor_dump.bin", GIANT)
    return folder


@pytest.mark.parametrize("words", INTERRUPTED, ids=" ".join)
def test_a_signal_ends_a_command_in_the_middle_of_a_tensor(giants, words):
    before = sorted(os.listdir(giants))
    child = subprocess.Popen([PROGRAM, *words], cwd=giants, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=clean_environment())
    while child.poll() is None and not has_begun(child):
        time.sleep(0.001)
    if child.poll() is not None and b"without SQLite" in child.stderr.read():
        pytest.skip("a build without SQLite")
    assert child.returncode is None, "it has ended before"
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=PATIENCE)
    assert child.returncode == -signal.SIGINT
    assert sorted(os.listdir(giants)) == before
