# SPDX-License-Identifier: Apache-2.0
"""taskglass view: summary, table, filters, single records, JSON."""

import os
import re

import numpy
import pytest

from conftest import one_line
from recordings import PEER_RECORDINGS, Recording, peer, peer_array, peer_entries, random_bits

RECORD_KEYS = ["index", "task_id", "func_id", "kernel", "arg_index", "role", "stage", "kind",
               "dtype", "is_contiguous", "shape", "strides", "start_offset", "bytes", "bin_offset",
               "bin_size", "truncated", "overwritten", "partial", "marked", "hash", "data_ptr"]


def rows(text):
    """The indices that a table shows."""
    return [int(found.group(1)) for found in re.finditer(r"^ *(\d+)  ", text, re.M)]


@pytest.fixture
def recorded(tg):
    """A run of vector_add with everything recorded, in tg's outputs/."""
    tg.good("run", "vector_add", "--dump-tensor")
    return tg


def test_a_recorded_run_is_found_without_being_named(recorded):
    text = recorded.good("view").stdout
    assert recorded.outputs()[0].name in text and "complete, level full" in text
    assert "vector_add_tile" in text


def test_the_newest_run_with_a_recording_is_meant(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "outputs/old")
    tg.good("run", "vector_add", "--dump-tensor", "--output", "outputs/new")
    tg.good("run", "vector_add", "--output", "outputs/newest_without")
    os.utime(tg.directory / "outputs" / "old", (1000, 1000))
    assert tg.json("view", "--summary")["recording"]["run"] == "new"


def test_a_run_its_folder_and_its_files_are_the_same_recording(recorded):
    run = recorded.outputs()[0]
    named = [recorded.json("view", path)["records"]
             for path in (run, run / "tensor_dump", run / "tensor_dump" / "tensor_dump.rec")]
    assert named[0] == named[1] == named[2] and named[0]


def test_manifest_and_journal_show_the_same(recorded):
    folder = recorded.outputs()[0] / "tensor_dump"
    journal = recorded.json("view", folder)["records"]
    (folder / "tensor_dump.rec").unlink()
    assert recorded.json("view", folder)["records"] == journal


def test_recorded_values_are_those_that_were_added(recorded):
    values = {}
    for record in recorded.json("view", "--index", "0-15")["records"]:
        if record["stage"] != "orchestration":
            values[record["task_id"], record["arg_index"]] = numpy.float32(record["values"])
    tasks = {task for task, _ in values}
    assert len(tasks) == 4
    for task in tasks:
        assert (values[task, 0] + values[task, 1] == values[task, 2]).all()


def test_json_has_the_documented_members(recorded):
    document = recorded.json("view")
    assert list(document) == ["recording", "summary", "records"]
    assert list(document["recording"]) == ["run", "dir", "journal", "manifest", "payload", "level",
                                           "complete", "state", "foreign", "records"]
    assert list(document["summary"]) == [
        "records", "before_dispatch", "after_completion", "orchestration", "inputs", "outputs",
        "inouts", "scalars", "payload_bytes", "truncated", "overwritten", "cut_off",
        "damaged", "lost"]
    assert list(document["records"][-1]) == RECORD_KEYS
    assert list(recorded.json("view", "--summary")) == ["recording", "summary"]


def test_the_summary_adds_up(recorded):
    document = recorded.json("view")
    summary = document["summary"]
    assert summary["records"] == len(document["records"])
    assert summary["payload_bytes"] == sum(record["bin_size"] for record in document["records"])
    assert set(summary["lost"].values()) == {0}


def test_lines_fit_in_a_hundred_columns(recorded):
    for text in (recorded.good("view").stdout, recorded.good("view", "--index", "4").stdout):
        assert max(len(line) for line in text.splitlines()) <= 100


@pytest.mark.parametrize("filters", [
    ["--stage", "after"], ["--role", "out"], ["--kind", "scalar"], ["--arg", "0,2"],
    ["--kernel", "vector*"], ["--task", "1-2"], ["--task", "0:3", "--role", "in"],
    ["--index", "3,5-7"], ["--stage", "orchestration"], ["--role", "scalar"]])
def test_a_filter_keeps_the_indices_of_the_whole(recorded, filters):
    everything = recorded.json("view")["records"]
    chosen = recorded.json("view", *filters)["records"]
    assert 0 < len(chosen) < len(everything)
    for record in chosen:
        whole = everything[record["index"]]
        assert {key: record[key] for key in whole} == whole


def test_the_printed_index_and_the_option_agree_under_filters(recorded):
    text = recorded.good("view", "--stage", "after").stdout
    for index in rows(text):
        record = recorded.json("view", "--index", index)["records"][0]
        assert record["stage"] == "after_completion" and record["index"] == index
        assert f"record {index}\n" in recorded.good("view", "--index", index).stdout


def test_a_page_is_twenty_records(recorded):
    text = recorded.good("view", "--limit", "3").stdout
    assert rows(text) == [0, 1, 2] and "and 13 more" in text
    assert rows(recorded.good("view", "--all").stdout) == list(range(16))
    recorded.good("run", "vector_add", "--case", "large", "--dump-tensor=meta")
    assert len(rows(recorded.good("view").stdout)) == 20
    assert len(rows(recorded.good("view", "--all").stdout)) > 20


def test_nothing_that_matches_is_said(recorded):
    assert recorded.good("view", "--task", "77").stdout == "No record matches.\n"
    assert recorded.json("view", "--task", "77")["records"] == []


def test_losses_are_loud(tg, tmp_path):
    recording = Recording(tmp_path / "lossy")
    recording.add_tensor("float32", numpy.float32([1, 2]), shape=[4], truncated=True)
    recording.add(shape=[4], strides=[1], overwritten=True)
    recording.write(lost={"full": 7, "gave_up": 2}, attempted=11)
    text = tg.good("view", "lossy").stdout
    assert "LOST 9 records: 7 full, 2 gave_up" in text
    assert "TRUNCATED 1 payload" in text and "OVERWRITTEN 1 payload" in text
    assert re.search(r"^ +0 .*truncated 1 2", text, re.M) and re.search(r" overwritten$", text, re.M)


def test_an_incomplete_recording_says_so(recorded):
    folder = recorded.outputs()[0] / "tensor_dump"
    journal = folder / "tensor_dump.rec"
    journal.write_bytes(journal.read_bytes()[:-256])
    (folder / "tensor_dump.json").unlink()
    text = recorded.good("view").stdout
    assert "INCOMPLETE" in text and "taskglass recover" in text
    assert recorded.json("view")["summary"]["records"] == 16


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint64", "bool"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (1500,), (40, 40), (2, 0)])
def test_values_are_laid_out_as_numpy_does(tg, tmp_path, dtype, shape):
    recording = Recording(tmp_path / "run")
    array = random_bits(dtype, shape)
    recording.add_tensor(dtype, array)
    recording.write()
    text = tg.good("view", "run", "--index", "0").stdout
    with numpy.printoptions(linewidth=100, threshold=1000):
        assert text.endswith(f"\n{array}\n")


def test_statistics_leave_out_what_is_no_number(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("float32", numpy.float32([1, numpy.nan, 3, numpy.inf, 0]))
    recording.write()
    statistics = tg.json("view", "run", "--index", "0")["records"][0]["statistics"]
    assert statistics == {"min": 0, "max": "Infinity", "mean": 4 / 3, "nan": 1, "inf": 1, "zero": 1}
    assert "min 0, max inf, mean 1.33333333, 1 NaN, 1 Inf" in tg.good("view", "run", "--index",
                                                                     "0").stdout


@pytest.mark.parametrize("dtype, value, shown", [
    ("float32", 0.1, "0.1"), ("float64", 1e300, "1e+300"), ("float32", "NaN", "nan"),
    ("float32", "-Infinity", "-inf"), ("int64", "-9223372036854775808", "-9223372036854775808"),
    ("uint64", "18446744073709551615", "18446744073709551615"), ("int8", -3, "-3"),
    ("bool", True, "true")])
def test_a_scalar_shows_its_value(tg, tmp_path, dtype, value, shown):
    recording = Recording(tmp_path / "run")
    recording.add_scalar(dtype, value)
    recording.write()
    assert tg.json("view", "run")["records"][0]["value"] == value
    assert re.search(rf" {re.escape(shown)}$", tg.good("view", "run").stdout, re.M)
    assert f"value     {shown} (0x" in tg.good("view", "run", "--index", "0").stdout


@pytest.mark.parametrize("name", PEER_RECORDINGS)
def test_recordings_of_the_other_implementation_are_read(tg, name):
    entries, records = peer_entries(name), tg.json("view", peer(name))["records"]
    assert len(entries) == len(records)
    for entry, record in zip(entries, records):
        assert record["dtype"] == entry["dtype"].lower()
        assert {key: record[key] for key in ("task_id", "func_id", "arg_index", "role", "stage",
                                             "kind", "shape", "strides", "bin_size")} == \
            {key: entry[key] for key in ("task_id", "func_id", "arg_index", "role", "stage", "kind",
                                         "shape", "strides", "bin_size")}


def test_values_of_the_other_implementation_are_its_own(tg):
    entries = peer_entries("tmr_level2")
    for index, entry in enumerate(entries):
        if entry["bin_size"] == 0 or entry["dtype"] not in ("FLOAT32", "INT32", "UINT8"):
            continue
        record = tg.json("view", peer("tmr_level2"), "--index", index)["records"][0]
        assert record["values"] == peer_array("tmr_level2", entry).ravel().tolist()


BAD = [
    (["nowhere"], "there is no 'nowhere'"),
    ([], "no recording under outputs/"),
    (["a", "b"], "'b' is one too many"),
    (["--task", "x"], "--task: 'x' is not a valid task"),
    (["--stage", "during"], "it takes before, after and orchestration"),
    (["--role", "inn"], "it takes in, out, inout and scalar"),
    (["--arg", "1-"], "--arg: '1-' is not a valid arg"),
    (["--limit", "many"], "--limit needs a whole number"),
    (["--limit", "-1"], "--limit needs a whole number"),
    (["--limit", "5", "--all"], "contradict"),
    (["--output", "x"], "--output needs --to"),
    (["--out", "x"], "--out needs --to"),
    (["--export", "csv"], "--export: unknown format 'csv'; formats are txt, npy and npz"),
    (["--to", "npy", "--json"], "--to cannot be combined"),
    (["--export", "npy", "--json"], "--export cannot be combined"),
    (["--indx", "3"], "did you mean --index?"),
]


@pytest.mark.parametrize("arguments, why", BAD)
def test_what_makes_no_sense_is_one_line(tg, arguments, why):
    result = tg("view", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert one_line(result.stderr) and why in result.stderr


def test_a_record_that_is_not_there_is_an_error(recorded):
    result = recorded("view", "--index", "3,16")
    assert result.returncode == 2 and "no record 16; the recording has 0 to 15" in result.stderr


def test_a_range_of_indices_may_reach_beyond_the_end(recorded):
    assert [record["index"] for record in recorded.json("view", "--index", "14-99")["records"]] == \
        [14, 15]


def test_names_from_a_file_do_not_reach_the_terminal_as_they_are(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_scalar("int8", 1, kernel=["\x1b[31mred\n"])
    recording.write(run_dir="\x1b]0;title\x07")
    for arguments in ([], ["--index", "0"], ["--export", "txt"]):
        assert "\x1b" not in tg("view", "run", *arguments).stdout
