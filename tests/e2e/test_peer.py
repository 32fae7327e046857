# SPDX-License-Identifier: Apache-2.0
"""Recordings of the other implementation, in all of its forms: tests/golden/peer, and the recordings
beside the checkout where they are."""

import csv
import io
import json
import pathlib
import shutil
import sqlite3

import pytest

from conftest import PROGRAM
from recordings import has_sqlite, peer

pytestmark = pytest.mark.every_case

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "peer"
NO_TASK = "0x" + "f" * 16


def scalars(tg, path):
    return {record["arg_index"]: (record["dtype"], record["value"], record["raw"])
            for record in tg.json("view", path)["records"] if record["kind"] == "scalar"}


def test_scalar_values_are_64_bits(tg):
    assert scalars(tg, GOLDEN / "unified") == {
        2: ("float32", 1.5, "0x000000003fc00000"), 3: ("int64", "-42", "0xffffffffffffffd6"),
        4: ("uint64", "16045690984503111693", "0xdeadbeefcafef00d"),
        5: ("bfloat16", 1.0, "0x0000000000003f80"), 6: ("invalid", None, "0x3ff0000000000000"),
        7: ("float32", None, None), 8: ("invalid", None, None),
        9: ("bool", True, "0x0000000000000001")}


def test_the_first_form_is_what_the_orchestration_was_given(tg):
    document = tg.json("view", GOLDEN / "first_form")
    assert document["recording"]["level"] == "meta" and document["recording"]["foreign"]
    assert document["summary"]["orchestration"] == 10
    assert {record["task_id"] for record in document["records"]} == {NO_TASK}
    assert {record["stage"] for record in document["records"]} == {"orchestration"}
    first = document["records"][0]
    assert (first["shape"], first["strides"], first["data_ptr"]) == (
        [16, 16], [16, 1], "0x00007f0000001000")
    values = {arg: value for arg, (_, value, _) in scalars(tg, GOLDEN / "first_form").items()}
    assert values == {1: "7", 3: "-42", 4: "18446744073709551615", 5: 1.5, 6: 1.5, 7: None, 8: None,
                      9: True}


def test_a_file_of_the_first_form_may_be_named(tg):
    named = tg.json("view", GOLDEN / "first_form" / "args_dump.json")
    assert named["records"] == tg.json("view", GOLDEN / "first_form")["records"]


def test_unknown_values_are_unknown_in_text_and_never_zero(tg):
    lines = [line for line in tg.good("view", GOLDEN / "unified").stdout.splitlines()
             if "scalar " in line]
    assert [line.split()[-1] for line in lines] == [
        "1.5", "-42", "16045690984503111693", "1", "0x3ff0000000000000", "unknown", "unknown", "true"]
    assert "unknown: the recording does not have it" in tg.good(
        "view", GOLDEN / "unified", "--index", "6").stdout


def test_unknown_values_are_empty_in_csv(tg):
    text = tg.good("export", GOLDEN / "unified", "--to", "csv", "--kind", "scalar", "--output",
                   "-").stdout
    rows = [(row["value"], row["raw"]) for row in csv.DictReader(io.StringIO(text))]
    assert rows[4:7] == [("", "0x3ff0000000000000"), ("", ""), ("", "")]


@pytest.mark.skipif(not has_sqlite(PROGRAM), reason="this build has no SQLite")
def test_unknown_values_are_null_in_sqlite(tg, tmp_path):
    tg.good("export", GOLDEN / "unified", "--to", "sqlite", "--output", "x.sqlite")
    rows = sqlite3.connect(tmp_path / "x.sqlite").execute(
        "SELECT value, raw FROM records WHERE kind = 'scalar' ORDER BY record").fetchall()
    assert rows[4:7] == [(None, "0x3ff0000000000000"), (None, None), (None, None)]


def test_exports_of_values_leave_out_what_is_unknown(tg):
    result = tg("export", GOLDEN / "unified", "--to", "txt", "--output", "out.txt")
    assert result.returncode == 0 and "left out 3 records without values" in result.stderr


def test_a_diff_does_not_call_unknown_values_equal(tg):
    result = tg("diff", GOLDEN / "unified", GOLDEN / "unified", "--json")
    document = json.loads(result.stdout)
    assert document["reasons"]["no_value"] == 2 and document["result"] != "equal"


def test_other_bits_of_an_unknown_type_differ(tg, tmp_path):
    text = (GOLDEN / "first_form" / "args_dump.json").read_text()
    (tmp_path / "other.json").write_text(text.replace('"scalar_value": "7"', '"scalar_value": "8"'))
    result = tg("diff", GOLDEN / "first_form", "other.json", "--json")
    assert result.returncode == 1 and json.loads(result.stdout)["reasons"]["bits"] == 1


def test_a_view_by_the_shape_of_its_storage_is_read(tg):
    record, = tg.json("view", GOLDEN / "offsets", "--index", "0")["records"]
    assert (record["strides"], record["start_offset"], record["is_contiguous"]) == ([8, 1], 17, False)
    assert record["values"] == list(range(12))


def meta_recordings():
    return ["meta", "tmr_deps_war", "tmr_deps_fan"]


def folder(name):
    return GOLDEN / name if name == "meta" else peer(name)


@pytest.mark.parametrize("name", meta_recordings())
def test_a_recording_without_payloads_has_level_meta(tg, name):
    document = tg.json("view", folder(name), "--summary")
    assert document["recording"]["level"] == "meta" and document["recording"]["payload"] is None
    assert document["summary"]["truncated"] == 0
    assert tg.json("verify", folder(name))["good"]
    assert all(not row["stored"] for row in tg.json("stats", folder(name))["tensors"])


@pytest.mark.parametrize("name", meta_recordings())
@pytest.mark.parametrize("what", ["nan", "inf", "stomp", "unwritten"])
def test_find_says_what_it_lacks(tg, name, what):
    result = tg("find", what, folder(name))
    assert result.returncode == 2 and "payload" in result.stderr


def test_find_counts_the_scalars_that_it_cannot_judge(tg):
    document = tg.json("find", "nan", GOLDEN / "unified")
    assert (document["looked_at"], document["not_stored"]) == (2, 3)


def test_find_does_not_call_a_list_of_arguments_searched(tg):
    result = tg("find", "nan", GOLDEN / "first_form", "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 2 and document["result"] == "not known"
    assert "what the orchestration was given" in document["reason"]


@pytest.mark.parametrize("name", meta_recordings())
@pytest.mark.parametrize("form", ["npy", "npz", "safetensors", "txt", "trace"])
def test_exports_that_need_more_say_so(tg, name, form):
    result = tg("export", folder(name), "--to", form, "--output", "out")
    assert result.returncode == 2 and result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", meta_recordings())
def test_addresses_come_from_its_deps(tg, name):
    """Each argument has the address of the tensor that deps.json names for it."""
    document = json.loads((folder(name) / "deps.json").read_text())
    buffers = {tensor["tensor_id"]: int(tensor["buffer_addr"]) for tensor in document["tensors"]}
    want = {(int(task["task_id"]), arg["idx"]): buffers[arg["tensor_id"]]
            for task in document["tasks"] for arg in task["args"]}
    got = {(int(record["task_id"], 16), record["arg_index"]): int(record["data_ptr"], 16)
           for record in tg.json("view", folder(name), "--all")["records"]}
    assert got == want and all(got.values())


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tasks": 1, "tensors": 2}',
                                  '{"tensors": [{"tensor_id": "2", "buffer_addr": "x"}], "tasks": []}'])
def test_a_broken_deps_leaves_the_records(tg, tmp_path, text):
    shutil.copytree(GOLDEN / "meta", tmp_path / "run")
    (tmp_path / "run" / "deps.json").write_text(text)
    assert len(tg.json("view", "run")["records"]) == 4


@pytest.mark.parametrize("form", ["unified", "first_form", "offsets", "meta"])
def test_verify_finds_every_form_good(tg, form):
    assert tg.json("verify", GOLDEN / form)["good"]
