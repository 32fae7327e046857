# SPDX-License-Identifier: Apache-2.0
"""Sizes of recordings are those of their payloads, without the gaps in the payload file."""

import json
import os
import sqlite3

import numpy
import pytest

from conftest import PROGRAM
from recordings import Recording, has_sqlite


@pytest.fixture
def gaps(tg, tmp_path):
    """A recording with 400 bytes of payload in a file of 1 MiB."""
    recording = Recording(tmp_path / "gaps")
    recording.add_tensor("float32", numpy.zeros(50, "<f4"))
    recording.payload += bytes((1 << 20) - 400)
    recording.add(shape=[4096], strides=[1], overwritten=True)
    recording.add_tensor("float32", numpy.zeros(50, "<f4"))
    recording.write()
    assert (tmp_path / "gaps" / "tensor_dump" / "tensor_dump.bin").stat().st_size == 1 << 20
    return tg


def test_view_counts_payloads_and_not_gaps(gaps):
    assert gaps.json("view", "gaps")["summary"]["payload_bytes"] == 400
    assert "400 bytes in tensor_dump.bin" in gaps.good("view", "gaps").stdout


@pytest.mark.skipif(not has_sqlite(PROGRAM), reason="this build has no SQLite")
def test_the_database_counts_payloads_and_not_gaps(gaps, tmp_path):
    gaps.good("export", "gaps", "--to", "sqlite", "--output", "x.sqlite")
    database = sqlite3.connect(tmp_path / "x.sqlite")
    assert database.execute("SELECT value FROM meta WHERE key = 'payload_bytes'").fetchone() in (
        (400,), ("400",))


def test_a_sparse_file_has_no_more_than_its_records(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("uint8", numpy.zeros(10, "u1"))
    recording.write()
    with open(tmp_path / "run" / "tensor_dump" / "tensor_dump.bin", "r+b") as payload:
        payload.truncate(1 << 30)
    assert tg.json("view", "run")["summary"]["payload_bytes"] == 10


def test_records_that_share_bytes_do_not_count_more_than_the_file(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    for _ in range(5):
        recording.add(shape=[100], strides=[1], dtype="uint8", bin_size=100)
    recording.payload = bytes(100)
    recording.write()
    assert tg.json("view", "run")["summary"]["payload_bytes"] == 100


@pytest.mark.parametrize("policy", ["block", "drop", "overwrite"])
def test_a_run_says_how_much_payload_it_stored(tg, policy):
    """With little room for payloads, policy overwrite leaves gaps; how many depends on the machine."""
    result = tg("run", "stencil", "--dump-tensor", "--dump-policy", policy, "--dump-arena", "65536",
                "--output", "run")
    assert result.returncode == 0
    document = tg.json("view", "run")
    stored = sum(record["bin_size"] for record in document["records"])
    assert document["summary"]["cut_off"] == 0
    report = json.loads((tg.directory / "run" / "run.json").read_text())["recorder"]
    assert report["payload_bytes"] == document["summary"]["payload_bytes"] == stored
    (tg.directory / "run" / "tensor_dump" / "tensor_dump.json").unlink()
    assert tg.json("recover", "run")["payload_bytes"] == stored
    assert tg.json("verify", "run")["payload_bytes"] == stored


def cut(tg, size):
    payload = tg.directory / "run" / "tensor_dump" / "tensor_dump.bin"
    if size is None:
        payload.unlink()
    else:
        os.truncate(payload, payload.stat().st_size + size)
    return tg.json("view", "run", "--summary")["summary"]["cut_off"], tg.good("view", "run").stdout


@pytest.mark.parametrize("has_journal", [True, False])
def test_view_names_a_payload_file_that_is_too_short(tg, has_journal):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    if not has_journal:
        (tg.directory / "run" / "tensor_dump" / "tensor_dump.rec").unlink()
    whole, text = cut(tg, 0)
    assert whole == 0 and "CUT OFF" not in text
    one, text = cut(tg, -1)
    assert one == 1
    assert "CUT OFF 1 payload: the payload file is too short; 'taskglass verify'" in text
    every, text = cut(tg, None)
    assert every > 1 and f"CUT OFF {every} payloads: the payload file is missing" in text
