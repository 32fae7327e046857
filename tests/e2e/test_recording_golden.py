# SPDX-License-Identifier: Apache-2.0
"""Recordings of every version of the format stay readable: tests/golden."""

import hashlib
import pathlib
import shutil

import pytest

import wire_reader

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"

# A golden recording does not change. A new version of a format gets a new folder.
CHECKSUMS = {
    "dump_tensor_v1": {
        "tensor_dump.bin": "2a329b4fabc63eb8deb64a005a1f5d7cda63c8137d3e1f0d88f16d52ce4dba4c",
        "tensor_dump.json": "7afae3de14d2d2e87cb24f4ae1aef0ddab1b00ec01f58914e4029697ebefd27f",
        "tensor_dump.rec": "7c141b0cffb377d49794111f5d76862ba0e87206410a1c479abe11dbf5f7388b",
    },
    "dump_tensor_v1_checked": {
        "tensor_dump.bin": "67d242bd843570f4f692187c96eb62696547a805f5d4eb3f83eed1b5ed7c10cf",
        "tensor_dump.json": "d4577bceefb3954ff790e90f98e6a23ca000cbe8025cb51ca1666a6454d31324",
        "tensor_dump.rec": "e5822d0ed609368b36e06c0fc06e58679bf38ed9be0c0d8013c298c80ba039cb",
    },
    "dump_tensor_v2": {
        "tensor_dump.bin": "d9146b930e1dcc2afe8db058628f22971da9810c456b856252f92877dbb403dd",
        "tensor_dump.json": "1a8be883d5e8ce56ebf5df9726ef7372262ce11d04c42c7c8154e139795084d2",
        "tensor_dump.rec": "ddc73d91d3f0a78945b5bc8f570fc92e90fd02c1e69820c19142678ab0bcac60",
    },
}
# (task, stage, argument): (dtype, values, hash), written down when the recording was made
BEFORE, AFTER = "before_dispatch", "after_completion"
KNOWN = {
    (0, AFTER, 2): ("float32", [-249.25, 206.75, 162.25, 117.75, 73.25, 28.75, -15.75, -60.25,
                                -104.75, -149.25, -193.75, -238.25, 217.75], 0x020ac85f0fe4d25d),
    (2, AFTER, 1): ("float32", [-373.0, 311.0, 244.25, 177.5, 110.75, 44.0, -22.75, -89.5, -156.25,
                                -223.0, -289.75, -356.5, 327.5], 0x383eafefceb6cd2c),
    (4, BEFORE, 0): ("int32", [[-496, 327, 149, -29, -207, -385, 438, 260, 82, -96, -274, -452,
                                371]] * 4, 0x6cccc4dd90ae4ef1),
    (8, BEFORE, 0): ("int4", [5, -4, 3, -6, 1, -8, -1, 6, -3, 4, -5, -5], 0xb5a339f203005236),
    (9, AFTER, 1): ("int4", [-5, -5, 4, -3, 6, -1, -8, 1, -6, 3, -4, 5], 0x1634345453fd27c0),
    (12, BEFORE, 0): ("float4_e2m1fn", [4, 4, -3, 2, -1.5, 1, -0.5, 0, 6, -4, 3],
                      0x8b5cbb9d602c9039),
    (14, AFTER, 1): ("int32", [], 0),
    (15, AFTER, 1): ("int64", 42, 0x5255d9e8347d2687),
}
SCALARS = {(7, 2): "-Infinity", (6, 8): "-9007199254740993", (6, 12): "18446744073709551615",
           (6, 10): -32768, (6, 16): True, (7, 1): "NaN", (13, 3): 2.0, (1, 1): 0.5}


def folder(name="dump_tensor_v1"):
    return GOLDEN / name / "tensor_dump"


@pytest.mark.parametrize("name", CHECKSUMS)
def test_a_golden_recording_has_not_changed(name):
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder(name).iterdir()} == CHECKSUMS[name]


def test_every_golden_recording_is_tested():
    assert {path.name for path in GOLDEN.glob("dump_tensor_v*")} == CHECKSUMS.keys()


@pytest.mark.parametrize("name", CHECKSUMS)
def test_the_reader_of_the_document_reads_it(name):
    recording = wire_reader.Recording(folder(name))
    assert wire_reader.problems(recording) == []
    assert recording.manifest() == wire_reader.manifest_of(recording)
    assert (recording.level, len(recording.arguments), recording.head["run_dir"]) == (
        "full", 90, name.encode())
    assert recording.kernels == dict(enumerate((
        "dump_add", "dump_add_scalar", "dump_accumulate", "dump_copy", "dump_transpose",
        "dump_scalars", "dump_scale", "dump_fold")))


@pytest.mark.parametrize("key", KNOWN)
def test_the_reader_of_the_document_finds_known_values(key):
    recording = wire_reader.Recording(folder())
    one, = (one for one in recording.arguments if wire_reader.key(one) == key)
    dtype, values, content_hash = KNOWN[key]
    assert wire_reader.DTYPES[one["dtype"]][0] == dtype
    assert recording.values(one).tolist() == values
    assert int(one["hash"]) == content_hash


def checked(tg, path):
    report = tg.json("verify", path)
    assert report["good"] and report["complete"] and report["records"] == 90
    assert report["hashes_compared"] == 34 and report["problems"] == 0
    return report


@pytest.mark.parametrize("name", CHECKSUMS)
def test_verify_finds_it_good(tg, name):
    assert checked(tg, GOLDEN / name)["manifest_compared"]


def entries(tg, path):
    return {(int(entry["task_id"], 16), entry["stage"], entry["arg_index"]): entry
            for entry in tg.json("view", path)["records"]}


def check_entries(found):
    assert len(found) == 90
    for key, (dtype, _, content_hash) in KNOWN.items():
        assert (found[key]["dtype"], int(found[key]["hash"], 16)) == (dtype, content_hash)
    for (task, argument), value in SCALARS.items():
        assert found[task, BEFORE, argument]["value"] == value
    assert found[13, AFTER, 2]["kernel"] == ["dump_scale", "dump_fold", "dump_fold"]
    assert found[9, AFTER, 1]["marked"] and not found[10, AFTER, 1]["marked"]


@pytest.mark.parametrize("name", CHECKSUMS)
def test_view_finds_known_values(tg, name):
    check_entries(entries(tg, GOLDEN / name))


@pytest.mark.parametrize("golden", CHECKSUMS)
@pytest.mark.parametrize("left", ("tensor_dump.rec", "tensor_dump.json"))
def test_journal_and_manifest_are_each_enough(tg, left, golden):
    for name in (left, "tensor_dump.bin"):
        shutil.copy(folder(golden) / name, tg.directory)
    checked(tg, tg.directory / left)
    check_entries(entries(tg, tg.directory / left))


@pytest.mark.parametrize("golden", CHECKSUMS)
def test_recover_writes_the_same_manifest_again(tg, golden):
    for name in ("tensor_dump.rec", "tensor_dump.bin"):
        shutil.copy(folder(golden) / name, tg.directory)
    tg.good("recover", tg.directory)
    recovered = wire_reader.Recording(tg.directory).manifest()
    assert recovered == wire_reader.Recording(folder(golden)).manifest()
