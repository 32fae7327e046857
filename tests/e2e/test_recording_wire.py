# SPDX-License-Identifier: Apache-2.0
"""Recordings of examples/dump_tensor, read by a reader that knows only docs/wire-format.md, and
compared with a model of the workload: every record, every byte, on every platform."""

import functools
import json
import pathlib
import re
import shutil

import numpy as np
import pytest

import wire_reader
from conftest import PLATFORMS, Runner
from dump_tensor_model import Model
from platforms import SPARING, few

LEVELS = wire_reader.LEVELS[1:]
CORES = (3, 8) if SPARING else range(1, 9)  # 3 are those of most recordings here
DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "wire-format.md"


@functools.lru_cache(maxsize=None)
def model(n=13):
    return Model(n).records


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """record(platform="a5sim", level="hash", …): a recording; each is made once."""
    @functools.lru_cache(maxsize=None)
    def make(*options, platform=PLATFORMS[0], level="full", cores=3, n=13):
        directory = tmp_path_factory.mktemp("recording")
        Runner(directory).good("run", "dump_tensor", "--platform", platform, "--cores", cores,
                               f"--dump-tensor={level}", "--set", f"n={n}", "--output", "out",
                               *options)
        return wire_reader.Recording(directory / "out" / "tensor_dump")
    return make


def by_key(recording):
    found = {wire_reader.key(one): one for one in recording.arguments}
    assert len(found) == len(recording.arguments), "two records of the same argument and stage"
    return found


def wanted(level, key, expected):
    """(recorded, hashed, with payload) according to section 8."""
    if key[1] == "orchestration":
        return True, level != "meta" and expected.kind == "tensor", False
    payload = level == "full" or (level in ("marked", "hybrid") and expected.marked)
    return (level != "marked" or expected.marked), payload or level == "hash", payload


def has_flag(one, flag):
    return bool(int(one["flags"]) & flag)


def check_description(recording, key, one, expected):
    names = tuple(recording.kernels[number] for number in one["kernel"]
                  if number != wire_reader.NO_KERNEL)
    dtype, _ = wire_reader.DTYPES[one["dtype"]]
    assert (names, wire_reader.ROLES[one["role"]], wire_reader.KINDS[one["kind"]], dtype,
            recording.shape(one), has_flag(one, wire_reader.MARKED)) == (
        expected.kernels, expected.role, expected.kind, expected.dtype, expected.shape,
        expected.marked), key
    if expected.kind == "scalar":
        assert int(one["value"]) == expected.bits, key
        return
    assert has_flag(one, wire_reader.CONTIGUOUS) == expected.contiguous, key
    assert one["bytes"] == len(expected.bytes), key
    if 0 in expected.shape:
        return  # the start of an empty view is NumPy's choice
    assert one["start"] == expected.start, key
    for size, stride, right in zip(expected.shape, one["strides"], expected.strides):
        assert size == 1 or stride == right, key


def check_content(recording, key, one, expected, hashed, payload):
    assert has_flag(one, wire_reader.HASHED) == hashed, key
    assert has_flag(one, wire_reader.PAYLOAD) == payload, key
    assert recording.bytes(one) == (expected.bytes if payload else b""), key
    if hashed:
        assert int(one["hash"]) == wire_reader.content_hash(expected.bytes), key


def check(recording, expected_records, level, keep=lambda key, expected: True):
    """Checks that the recording has exactly the records of its level that the filters keep."""
    found = by_key(recording)
    expected_records = {key: expected for key, expected in expected_records.items()
                        if wanted(level, key, expected)[0] and keep(key, expected)}
    assert found.keys() == expected_records.keys()
    for key, expected in expected_records.items():
        is_tensor = expected.kind == "tensor"
        _, hashed, payload = wanted(level, key, expected)
        check_description(recording, key, found[key], expected)
        check_content(recording, key, found[key], expected, hashed and is_tensor,
                      payload and is_tensor)


# --- the document --------------------------------------------------------------------------------

def test_the_documents_hashes_are_those_of_the_reader():
    rows = dict(re.findall(r"^\| (.*?) \| `(0x[0-9a-f]{16})` \|$", DOCUMENT.read_text(), re.M))
    vectors = {"none": b"", "`00`": bytes(1), "`00 00`": bytes(2), '`61` ("a")': b"a",
               '"taskglass" (9 bytes)': b"taskglass", "`00 01 … 07`": bytes(range(8)),
               "`ff` × 8": b"\xff" * 8, "`00 01 … 3f` (64 bytes)": bytes(range(64)),
               "`00 01 … 40` (65 bytes)": bytes(range(65)),
               "`00 01 … ff` (256 bytes)": bytes(range(256)), "2^20 zero bytes": bytes(1 << 20)}
    assert {name: int(value, 16) for name, value in rows.items()} == {
        name: wire_reader.content_hash(data) for name, data in vectors.items()}


def test_a_record_of_zeros_is_not_intact():
    assert wire_reader.record_checks(bytes(256)).tolist() == [0x12165122]
    assert wire_reader.intact_records(bytes(512)) == 0


def test_the_documents_element_types_are_those_of_the_reader():
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| (\d+) \|", DOCUMENT.read_text(), re.M)
    assert {int(number): (name, int(bits)) for number, name, bits in rows} == wire_reader.DTYPES


@pytest.mark.parametrize("section,layout", (
    ("6.1", wire_reader.HEAD), ("6.3", wire_reader.ARGUMENT), ("6.5", wire_reader.SUMMARY)))
def test_the_documents_offsets_are_those_of_the_reader(section, layout):
    text = DOCUMENT.read_text().split(f"### {section} ")[1].split("\n##")[0]
    rows = {name: int(offset)
            for offset, name in re.findall(r"^\| (\d+) \| [\w\[\]]+ \| `(\w+)` \|", text, re.M)}
    fields = {name: offset for name, (_, offset, *_) in layout.fields.items() if name in rows}
    assert rows == fields and len(rows) >= 10


# --- every record --------------------------------------------------------------------------------

@pytest.mark.parametrize("cores", CORES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_recording_has_exactly_what_its_level_says(record, platform, level, cores):
    recording = record(platform=platform, level=level, cores=cores)
    assert recording.level == level
    assert wire_reader.problems(recording) == []
    check(recording, model(), level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_journal_and_manifest_agree_entry_by_entry(record, platform, level):
    recording = record(platform=platform, level=level)
    manifest, expected = recording.manifest(), wire_reader.manifest_of(recording)
    entries, expected_entries = manifest.pop("tensors"), expected.pop("tensors")
    assert manifest == expected
    assert entries == expected_entries


def test_entries_have_their_keys_in_one_order(record):
    common = ["task_id", "func_id", "kernel", "arg_index", "role", "stage", "kind", "dtype",
              "is_contiguous"]
    view = ["shape", "strides", "truncated", "overwritten", "start_offset", "bin_offset", "bin_size"]
    content = ["hash", "data_ptr"]
    tensor = common + view + content
    scalar = common + ["ndims"] + view + ["value", "raw"] + content
    for entry in record().manifest()["tensors"]:
        entry.pop("marked", None)
        assert list(entry) == (scalar if entry["kind"] == "scalar" else tensor)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("cores", CORES)
@pytest.mark.parametrize("level", ("hash", "full"))
def test_hashes_do_not_depend_on_platform_or_cores(record, level, cores, platform):
    def hashes(recording):
        return {key: int(one["hash"]) for key, one in by_key(recording).items()}
    assert hashes(record(platform=platform, level=level, cores=cores)) == hashes(
        record(platform="a2a3sim"))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_schedulers_of_their_own_record_the_same(record, platform):
    recording = record("--schedulers", 2, platform=platform, cores=6)
    assert wire_reader.problems(recording) == []
    check(recording, model(), "full")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_dump_args_is_the_level_meta(tg, platform):
    tg.good("run", "dump_tensor", "--dump-args", "--platform", platform, "--output", "out")
    recording = wire_reader.Recording(tg.directory / "out" / "tensor_dump")
    assert (recording.level, recording.payload) == ("meta", b"")
    check(recording, model(), "meta")


@pytest.mark.parametrize("n", few((3, 4, 64, 127, 1000), 2))
@pytest.mark.parametrize("platform", PLATFORMS)
def test_payloads_are_right_for_other_sizes(record, platform, n):
    recording = record(platform=platform, n=n)
    assert wire_reader.problems(recording) == []
    check(recording, model(n), "full")


@pytest.mark.parametrize("n", (8192, 30001))
@pytest.mark.parametrize("platform", PLATFORMS)
def test_tensors_larger_than_the_arena_come_through_in_pieces(record, platform, n):
    recording = record("--dump-arena", "4K", "--dump-buffers", 2, platform=platform, n=n)
    assert wire_reader.problems(recording) == []
    check(recording, model(n), "full")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_large_case_is_recorded_whole(record, platform):
    recording = record("--case", "large", platform=platform, cores=4, n=262144)
    assert wire_reader.problems(recording) == []
    check(recording, model(262144), "full")


@pytest.mark.parametrize("policy", wire_reader.POLICIES)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_with_room_for_everything_no_policy_loses_anything(record, platform, policy):
    recording = record("--dump-policy", policy, "--dump-arena", "1M", platform=platform)
    assert wire_reader.POLICIES[recording.head["policy"]] == policy
    assert wire_reader.problems(recording) == []
    check(recording, model(), "full")


@pytest.mark.parametrize("buffers", few((2, 16), 1))
@pytest.mark.parametrize("cores", few((1, 3, 8), 2))
@pytest.mark.parametrize("policy", ("drop", "overwrite"))
@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_a_policy_loses_is_counted_and_the_rest_is_true(tg, platform, policy, cores, buffers):
    result = tg("run", "dump_tensor", "--set", "n=5001", "--platform", platform, "--cores", cores,
                "--dump-tensor", "--dump-policy", policy, "--dump-arena", "4K", "--dump-buffers",
                buffers, "--output", "out")
    recording = wire_reader.Recording(tg.directory / "out" / "tensor_dump")
    summary = recording.summary
    missing = summary["lost"].any() or summary["truncated"] or summary["overwritten"]
    assert (result.returncode, bool(result.stderr)) == (0, bool(missing))
    assert wire_reader.problems(recording) == []
    assert recording.manifest() == wire_reader.manifest_of(recording)
    assert summary["attempted"] == len(model(5001))
    for key, one in by_key(recording).items():
        expected = model(5001)[key]
        check_description(recording, key, one, expected)
        assert expected.bytes.startswith(recording.bytes(one)), key
        if has_flag(one, wire_reader.HASHED):
            assert int(one["hash"]) == wire_reader.content_hash(expected.bytes), key


def test_tensors_in_one_storage_have_one_address(record):
    addresses = {}
    for key, one in by_key(record()).items():
        expected = model()[key]
        if expected.bytes:
            addresses.setdefault(id(expected.storage), set()).add(int(one["data_ptr"]))
    assert all(len(found) == 1 and 0 not in found for found in addresses.values())
    assert len({min(found) for found in addresses.values()}) == len(addresses)


def test_times_of_a_task_are_in_the_order_of_its_stages(record):
    times = {}
    for (task, stage, _), one in by_key(record()).items():
        times.setdefault((task, stage), []).append(int(one["time"]))
    for (task, stage), before in times.items():
        if stage == "before_dispatch" and (task, "after_completion") in times:
            assert max(before) <= min(times[task, "after_completion"])
    assert times[wire_reader.NO_TASK, "orchestration"] == [0] * 19


def test_records_come_through_the_stream_of_the_core_that_ran_the_task(record):
    recording = record(cores=6)
    tasks = recording.arguments[recording.arguments["stage"] < 2]
    assert (tasks["stream"] == tasks["core"]).all() and tasks["core"].max() < 6
    given = recording.arguments[recording.arguments["stage"] == 2]
    assert set(given["stream"]) == {wire_reader.NO_STREAM}
    assert recording.types[0] == "kernel" and recording.types[-1] == "summary"


def test_run_json_has_the_counters_of_the_summary(record):
    recording = record()
    report = json.loads((recording.folder.parent / "run.json").read_text())["recorder"]
    summary = recording.summary
    assert report["status"] == "OK"
    for name in ("attempted", "recorded", "truncated", "overwritten", "payload_bytes"):
        assert report[name] == summary[name]
    assert list(report["lost"].values()) == summary["lost"].tolist()


# --- scalars -------------------------------------------------------------------------------------

def test_scalars_of_the_manifest_are_exact(record):
    values = {(entry["task_id"][-2:], entry["arg_index"]): entry["value"]
              for entry in record().manifest()["tensors"] if entry["kind"] == "scalar"}
    ordinary = [values["06", index] for index in range(1, 17)]
    special = [values["07", index] for index in range(1, 17)]
    assert ordinary[0] == 0.1
    assert np.float32(ordinary[1:7]).tolist() == [
        np.float32(0.1), np.float16(0.1), 0.10009765625, 0.1015625, 0.09375, 0.125]
    assert ordinary[7:] == [str(-2**53 - 1), -2**31, -2**15, -2**7, str(2**64 - 1), 2**32 - 1,
                            2**16 - 1, 2**8 - 1, True]
    assert special[:7] == ["NaN", "-Infinity", "Infinity", "NaN", "NaN", "-Infinity", "NaN"]
    assert special[7:] == [str(2**63 - 1), 2**31 - 1, 2**15 - 1, 2**7 - 1, str(2**53 + 1), 0, 0, 0,
                           False]
    assert values["0d", 3] == 2.0 and str(values["0d", 4]) == "-0.0"


def test_the_orchestration_is_recorded_as_it_was_given(record):
    entries = [entry for entry in record().manifest()["tensors"]
               if entry["stage"] == "orchestration"]
    assert [entry["arg_index"] for entry in entries] == list(range(19))
    assert {entry["task_id"] for entry in entries} == {"0x" + "f" * 16}
    assert all(entry["func_id"] == entry["kernel"] == [] for entry in entries)
    assert all((entry["hash"] is None) == (entry["kind"] == "scalar") for entry in entries)
    assert all(entry["bin_size"] == 0 for entry in entries)
    assert [entry["value"] for entry in entries[16:]] == [0.5, str(2**64 - 1), "NaN"]


# --- filters -------------------------------------------------------------------------------------

def kernel_is(*names):
    return lambda key, expected: any(f"dump_{name}" in expected.kernels for name in names)


FILTERS = {
    "task=2": lambda key, expected: key[0] == 2,
    "task=3-5": lambda key, expected: 3 <= key[0] <= 5,
    "task=0x7": lambda key, expected: key[0] == 7,
    "task=0:15-0:16": lambda key, expected: 15 <= key[0] <= 16,
    "kernel=dump_copy": kernel_is("copy"),
    "kernel=dump_fold": kernel_is("fold"),
    "kernel=dump_a*": kernel_is("add", "add_scalar", "accumulate"),
    "stage=before": lambda key, expected: key[1] == "before_dispatch",
    "stage=after_completion": lambda key, expected: key[1] == "after_completion",
    "stage=orchestration": lambda key, expected: key[1] == "orchestration",
    "role=inout": lambda key, expected: expected.role == "inout",
    "role=in": lambda key, expected: expected.role == "input" and expected.kind == "tensor",
    "role=scalar": lambda key, expected: expected.kind == "scalar",
    "role=out+scalar": lambda key, expected: expected.role == "output" or expected.kind == "scalar",
    "arg=0": lambda key, expected: key[2] == 0,
    "arg=1+3-4": lambda key, expected: key[2] in (1, 3, 4),
    "kernel=dump_copy,stage=after,task=8-9":
        lambda key, expected: key[0] in (8, 9) and key[1] == "after_completion",
    "task=0;task=13,arg=2": lambda key, expected: key[0] == 0 or (key[0] == 13 and key[2] == 2),
}


@pytest.mark.parametrize("text", few(FILTERS, 4))
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_filter_selects_exactly(record, platform, text):
    recording = record("--dump-filter", text, platform=platform)
    assert wire_reader.problems(recording) == []
    check(recording, model(), "full", keep=FILTERS[text])


def test_what_a_filter_selects_is_what_the_whole_recording_has(record):
    whole = by_key(record())
    for key, one in by_key(record("--dump-filter", "kernel=dump_copy")).items():
        assert one["hash"] == whole[key]["hash"]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_filters_and_marks_work_together(record, platform):
    recording = record("--dump-filter", "role=out,task=0-16", platform=platform, level="marked")
    assert by_key(recording).keys() == {
        (0, "after_completion", 2), (7, "after_completion", 0), (9, "after_completion", 1),
        (13, "after_completion", 1), (13, "after_completion", 2)}


def test_a_filter_that_matches_nothing_is_a_warning(tg):
    result = tg("run", "dump_tensor", "--dump-tensor", "--dump-filter", "kernel=other", "--output",
                "out")
    assert result.returncode == 0
    assert "kernel=other" in result.stderr and "matched nothing" in result.stderr


# --- one run after the other ---------------------------------------------------------------------

@pytest.mark.parametrize("platform", PLATFORMS)
def test_nothing_of_one_run_is_in_the_next(tg, platform):
    def run(*options):
        tg.good("run", "dump_tensor", "--platform", platform, "--output", "out", *options)
        return wire_reader.Recording(tg.directory / "out" / "tensor_dump")

    check(run("--dump-tensor", "--set", "n=1000"), model(1000), "full")
    second = run("--dump-tensor=hybrid")
    assert wire_reader.problems(second) == []
    check(second, model(), "hybrid")


def test_a_run_without_the_recorder_leaves_no_recording_of_an_earlier_one(tg):
    tg.good("run", "dump_tensor", "--dump-tensor", "--output", "out")
    tg.good("run", "dump_tensor", "--output", "out")
    assert not list((tg.directory / "out").glob("tensor_dump/*"))


# --- torn journals -------------------------------------------------------------------------------

def cut(recording, tmp_path, change):
    folder = tmp_path / "cut"
    shutil.copytree(recording.folder, folder)
    journal = folder / "tensor_dump.rec"
    journal.write_bytes(change(journal.read_bytes()))
    return wire_reader.Recording(folder)


def test_a_torn_journal_is_read_up_to_its_last_whole_record(record, tmp_path):
    whole = record()
    torn = cut(whole, tmp_path, lambda data: data[:-256 - 100])
    assert torn.summary is None and torn.torn_bytes == 28
    assert (torn.arguments == whole.arguments[:-1]).all()


def test_a_journal_ends_at_its_first_damaged_record(record, tmp_path):
    types = []  # of the slots before the damage

    def damage(data):
        data = bytearray(data)
        at = next(at for at in range(128 * 50, len(data), 128) if data[at] == 1)
        types.extend(data[256:at:128])
        data[at] ^= 1
        return data
    damaged = cut(record(), tmp_path, damage)
    assert damaged.summary is None
    assert len(damaged.arguments) == types.count(1)
