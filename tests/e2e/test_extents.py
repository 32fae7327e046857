# SPDX-License-Identifier: Apache-2.0
"""Records that share the bytes of a payload, or that are holes, make no verb work without end.

No writer makes them, but a stranger may. What bounds the work is that such a record is not read with all
others; so the tests ask what was read, never how long it took.
"""

import json
import os

import pytest

from recordings import Recording

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


def test_verify_calls_giants_of_holes_bad_without_reading_them(tg, tmp_path):
    write(tmp_path / "run", "holes", hash="0x0123456789abcdef")
    document = json.loads(tg("verify", "run", "--json").stdout)
    assert not document["good"] and document["hashes_compared"] == 0
    assert document["by_problem"]["record"] == RECORDS
    assert document["first"][0]["text"].startswith("its payload was not read")


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
