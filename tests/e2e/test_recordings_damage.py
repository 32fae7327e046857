# SPDX-License-Identifier: Apache-2.0
"""What the commands say about a recording with one wrong byte. tests/unit/recording/damage.c changes
many bytes; here each command goes on behind one, and names it."""

import json

import pytest

HEAD, RECORD = 256, 128


@pytest.fixture
def folder(tg):
    """The recording of a run under "run": 74 records."""
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "run")
    return tg.directory / "run" / "tensor_dump"


def flip(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    path.write_bytes(content)


def damage_record(folder, number):
    """Damages argument `number` of the journal."""
    journal = folder / "tensor_dump.rec"
    content = journal.read_bytes()
    first = next(at for at in range(HEAD, len(content), RECORD) if content[at] == 1)
    flip(journal, first + RECORD * number + 100)


def told(tg, path="run"):
    return [(record["task_id"], record["stage"], record["arg_index"])
            for record in tg.json("view", path, "--limit", "1000")["records"]]


def test_recover_keeps_a_good_manifest_beside_a_damaged_journal(tg, folder):
    whole, text = told(tg), (folder / "tensor_dump.json").read_text()
    assert len(whole) == 74
    damage_record(folder, 15)
    assert told(tg) == whole
    report = tg.json("recover", "run")
    assert (report["records"], report["from_manifest"], report["damaged"]) == (74, 1, 0)
    assert report["kept_manifest"] and (folder / "tensor_dump.json").read_text() == text
    assert told(tg) == whole


def test_every_command_goes_on_behind_a_damaged_record(tg, folder):
    whole = told(tg)
    damage_record(folder, 15)
    (folder / "tensor_dump.json").unlink()
    assert told(tg) == whole[:15] + whole[16:]
    summary = tg.json("view", "run", "--summary")["summary"]
    assert (summary["records"], summary["damaged"]) == (73, 1)
    assert "DAMAGED 1 record" in tg.good("view", "run", "--summary").stdout
    result = tg("verify", "run")
    assert result.returncode == 1 and "of tensor_dump.rec is damaged" in result.stdout
    assert "1 record damaged and left out" in result.stdout
    result = tg("export", "run", "--to", "csv", "--output", "x.csv")
    assert result.returncode == 0 and "1 record damaged and left out" in result.stderr
    assert "skipped 1 damaged record" in tg.good("recover", "run").stdout
    (folder / "tensor_dump.rec").unlink()
    assert told(tg) == whole[:15] + whole[16:]
    assert tg.json("view", "run", "--summary")["summary"]["damaged"] == 1


def test_a_damaged_manifest_costs_nothing_beside_its_journal_and_one_record_alone(tg, folder):
    whole, manifest = told(tg), folder / "tensor_dump.json"
    flip(manifest, manifest.read_bytes().index(b"{", 2000) + 20)
    assert told(tg) == whole
    result = tg("verify", "run")
    assert result.returncode == 1 and "  manifest  record " in result.stdout
    (folder / "tensor_dump.rec").rename(tg.directory / "away")
    assert len(told(tg)) == 73
    result = tg("verify", "run")
    assert result.returncode == 1 and "1 of the entries" in result.stdout
    (tg.directory / "away").rename(folder / "tensor_dump.rec")
    tg.good("recover", "run")
    assert json.loads(manifest.read_text())["total_tensors"] == 74
    tg.good("verify", "run")


def test_zeros_at_the_end_have_other_words_than_damage(tg, folder):
    journal = folder / "tensor_dump.rec"
    (folder / "tensor_dump.json").unlink()
    journal.write_bytes(journal.read_bytes()[:-4 * RECORD] + bytes(4 * RECORD))
    text = tg.good("verify", "run").stdout
    assert "512 bytes of zeros, as a power loss leaves them" in text
    text = tg.good("recover", "run").stdout
    assert "cut 512 bytes of zeros" in text and "72 records" in text and "damaged" not in text
