# SPDX-License-Identifier: Apache-2.0
"""taskglass.Recording: records, arrays without copies, filters, the run's other files."""

import gc
import json
import os
import pathlib
import shutil
import threading

import numpy
import pytest
import taskglass
import wire_reader
from recordings import (PACKED, PEER, PEER_RECORDINGS, TYPES, Recording as Writer, pack, peer,
                        peer_array, peer_entries, random_bits)

from conftest import command_json, python


@pytest.fixture(scope="module")
def matmul(tmp_path_factory):
    """The directory of a recorded run."""
    folder = tmp_path_factory.mktemp("matmul") / "run"
    taskglass.run("matmul_chain", dump_tensor="full", output=folder)
    return folder


@pytest.fixture
def every_type(tmp_path):
    """The arrays of the recording "run": one of each type, with an odd number of elements."""
    writer, arrays = Writer(tmp_path / "run"), {}
    for number, dtype in enumerate(TYPES):
        arrays[dtype] = random_bits(dtype, (3, 5), seed=number)
        writer.add_tensor(dtype, arrays[dtype])
    writer.write()
    return arrays


def maps_of(path):
    return [line for line in pathlib.Path("/proc/self/maps").read_text().splitlines()
            if str(path) in line]


# --- values -------------------------------------------------------------------------------------

def test_arrays_of_every_type_have_their_bits(every_type):
    with taskglass.Recording("run") as recording:
        for record, (dtype, array) in zip(recording, every_type.items()):
            got = record.array()
            assert record.dtype == dtype and record.shape == (3, 5)
            if dtype in PACKED:
                assert got.dtype == numpy.uint8 and got.tobytes() == pack(dtype, array)
            else:
                assert got.dtype == array.dtype and got.shape == array.shape
                assert got.tobytes() == array.tobytes()


def test_arrays_of_every_type_decode_to_their_values(every_type):
    with taskglass.Recording("run") as recording:
        for record, (dtype, array) in zip(recording, every_type.items()):
            codes = array if not TYPES[dtype][1] else array.view(f"u{array.itemsize}")
            want = wire_reader.decode(dtype, codes)
            for got in (record.array(decode=True), numpy.asarray(record)):
                assert got.shape == (3, 5)
                assert got.dtype == (array.dtype if TYPES[dtype][1] else numpy.float32)
                assert numpy.array_equal(got, want.astype(got.dtype), equal_nan=True)


@pytest.mark.parametrize("case", ["floats", "integers"])
def test_the_dtypes_example_is_what_the_independent_reader_reads(case):
    execution = taskglass.run("dtypes", case, dump_tensor="full")
    reader = wire_reader.Recording(execution.output_dir / "tensor_dump")
    with execution.recording() as recording:
        assert len(recording) == len(reader.arguments)
        for record, other in zip(recording, reader.arguments):
            if record.has_values and record.kind == "tensor":
                got = record.array(decode=True)
                assert numpy.array_equal(got, reader.values(other).astype(got.dtype),
                                         equal_nan=True)


def test_arrays_are_not_copied(matmul):
    with taskglass.Recording(matmul) as recording:
        record = next(recording.select(stage="after"))
        assert numpy.shares_memory(record.array(), record.array())
        assert numpy.shares_memory(record.array(), record.raw())


def test_arrays_cannot_be_written(matmul):
    with taskglass.Recording(matmul) as recording:
        array = next(recording.select(stage="after")).array()
        with pytest.raises(ValueError):
            array[0, 0] = 1
        with pytest.raises(ValueError):
            array.flags.writeable = True


def test_arrays_stay_good_after_closing(matmul):
    with taskglass.Recording(matmul) as recording:
        record = next(recording.select(stage="after"))
        array, copy = record.array(), record.array().copy()
    assert recording.closed and maps_of(matmul)
    assert (array == copy).all()
    view = array[1:, ::2]
    del array
    gc.collect()
    assert maps_of(matmul) and (view == copy[1:, ::2]).all()
    del view
    gc.collect()
    assert maps_of(matmul) == []


def test_closing_lets_go_of_the_files(matmul):
    recording = taskglass.Recording(matmul)
    assert maps_of(matmul)
    recording.close()
    recording.close()
    assert maps_of(matmul) == []


def test_a_recording_that_is_forgotten_is_closed(matmul):
    taskglass.Recording(matmul)
    gc.collect()
    assert maps_of(matmul) == []


def test_a_closed_recording_says_so(matmul):
    with taskglass.Recording(matmul) as recording:
        record = recording[30]
    for use in (lambda: recording[0], lambda: list(recording), record.array, record.raw):
        with pytest.raises(taskglass.BadArgument, match="the recording is closed"):
            use()
    assert record.kernel and record.shape and repr(record)  # the metadata stays available
    assert "closed" in repr(recording)


def test_scalars_have_their_value(tmp_path):
    writer = Writer(tmp_path / "run")
    values = {"float32": 0.1, "int64": "-9223372036854775808", "uint64": "18446744073709551615",
              "bool": True, "float64": "NaN", "int8": -5, "float16": 1.5, "bfloat16": 2.0}
    for dtype, value in values.items():
        writer.add_scalar(dtype, value)
    writer.write()
    got = {record.dtype: record.value for record in taskglass.Recording("run")}
    assert got["float32"] == numpy.float32(0.1) and got["int64"] == -2**63
    assert got["uint64"] == 2**64 - 1 and got["bool"] is True and numpy.isnan(got["float64"])
    assert (got["int8"], got["float16"], got["bfloat16"]) == (-5, 1.5, 2.0)


def test_a_scalar_is_an_array_without_dimensions(tmp_path):
    writer = Writer(tmp_path / "run")
    writer.add_scalar("int16", 7)
    writer.write()
    array = taskglass.Recording("run")[0].array()
    assert array.shape == () and array.dtype == "i2" and array == 7


def test_a_truncated_tensor_is_what_is_there(tmp_path):
    writer = Writer(tmp_path / "run")
    writer.add_tensor("float32", numpy.float32([1, 2, 3]), shape=[2, 50], truncated=True)
    writer.add_tensor("int4", numpy.uint8([1, 2, 15]), shape=[2, 50], truncated=True)
    writer.write()
    whole, packed = taskglass.Recording("run")
    assert whole.truncated and whole.shape == (2, 50) and whole.array().tolist() == [1, 2, 3]
    assert packed.array(decode=True).tolist() == [1, 2, -1, 0]


def test_what_is_not_stored_has_no_array(tmp_path):
    writer = Writer(tmp_path / "run")
    writer.add(shape=[4], strides=[1])
    writer.write()
    record = taskglass.Recording("run")[0]
    assert not record.has_values
    with pytest.raises(taskglass.NotFound, match="nothing of <Record 0"):
        record.array()


def test_a_scalar_whose_value_is_unknown_is_none():
    golden = pathlib.Path(__file__).parents[1] / "golden" / "peer" / "unified"
    values = [(record.value, record.bits, record.has_values)
              for record in taskglass.Recording(golden) if record.kind == "scalar"]
    assert values[0] == (1.5, 0x3fc00000, True)
    assert values[4] == (0x3ff0000000000000, 0x3ff0000000000000, False)
    assert values[5:7] == [(None, None, False)] * 2
    assert "= unknown" in repr(taskglass.Recording(golden)[6])


def test_empty_tensors_keep_their_shape(tmp_path):
    writer = Writer(tmp_path / "run")
    writer.add_tensor("float64", numpy.zeros((4, 0, 2)))
    writer.write()
    assert taskglass.Recording("run")[0].array().shape == (4, 0, 2)


def test_statistics_are_those_of_numpy(tmp_path):
    writer = Writer(tmp_path / "run")
    writer.add_tensor("float32", numpy.float32([numpy.nan, 1, -numpy.inf, 0, 3]))
    writer.add_tensor("uint8", numpy.uint8([[0, 7]]))
    writer.add_tensor("float32", numpy.float32([numpy.nan]))
    writer.write()
    got = [record.statistics() for record in taskglass.Recording("run")]
    assert got[0] == {"elements": 5, "min": 0, "max": 3, "mean": pytest.approx(4 / 3), "nan": 1,
                      "inf": 1, "zero": 1}
    assert got[1] == {"elements": 2, "min": 0, "max": 7, "mean": 3.5, "nan": 0, "inf": 0, "zero": 1}
    assert got[2]["min"] is None and got[2]["nan"] == 1


# --- records ------------------------------------------------------------------------------------

def test_records_have_what_view_has():
    execution = taskglass.run("mix", dump_tensor="full")
    with execution.recording() as recording:
        entries = command_json("view", execution.output_dir)["records"]
        assert len(recording) == len(entries)
        for record, entry in zip(recording, entries):
            assert record.index == entry["index"] and list(record.kernels) == entry["kernel"]
            assert (2**64 - 1 if record.task_id is None else record.task_id) == int(
                entry["task_id"], 16)
            assert (record.stage, record.role, record.kind, record.dtype, record.arg) == tuple(
                entry[key] for key in ("stage", "role", "kind", "dtype", "arg_index"))
            assert [*record.shape] == entry["shape"] and [*record.strides] == entry["strides"]
            assert record.start == entry["start_offset"] and record.nbytes == entry["bytes"]
            assert record.stored == entry["bin_size"] and record.data_ptr == int(entry["data_ptr"],
                                                                                16)
            assert record.hash == (entry["hash"] and int(entry["hash"], 16))
            for flag in ("truncated", "overwritten", "partial", "marked", "is_contiguous"):
                assert getattr(record, flag) == entry[flag]


FILTERS = [
    ({}, []), ({"task": 3}, ["--task", "3"]), ({"task": [3, 5]}, ["--task", "3,5"]),
    ({"task": range(2, 6)}, ["--task", "2-5"]), ({"task": "0x3"}, ["--task", "3"]),
    ({"task": (0, 7)}, ["--task", "7"]), ({"task": [(0, 7), 8]}, ["--task", "7,8"]),
    ({"kernel": "*relu*"}, ["--kernel", "*relu*"]),
    ({"kernel": ["*relu*", "*mat*"]}, ["--kernel", "*relu*,*mat*"]),
    ({"stage": "after"}, ["--stage", "after"]),
    ({"stage": ["before", "orchestration"]}, ["--stage", "before,orchestration"]),
    ({"role": "inout"}, ["--role", "inout"]), ({"kind": "scalar"}, ["--kind", "scalar"]),
    ({"arg": 1}, ["--arg", "1"]), ({"arg": range(0, 3, 2)}, ["--arg", "0,2"]),
    ({"index": range(10, 20)}, ["--index", "10-19"]), ({"index": 7}, ["--index", "7"]),
    ({"task": numpy.int64(3), "stage": "before", "arg": 0}, ["--task", "3", "--stage", "before",
                                                            "--arg", "0"])]


@pytest.mark.parametrize("filters, options", FILTERS, ids=range(len(FILTERS)))
def test_filters_select_what_view_selects(matmul, filters, options):
    with taskglass.Recording(matmul) as recording:
        got = [record.index for record in recording.select(**filters)]
    assert got == [entry["index"] for entry in command_json("view", matmul, *options)["records"]]
    assert got


@pytest.mark.parametrize("filters", [{"task": []}, {"arg": range(0)}, {"kernel": ()}])
def test_a_filter_of_nothing_selects_nothing(matmul, filters):
    assert list(taskglass.Recording(matmul).select(**filters)) == []


@pytest.mark.parametrize("filters, why", [
    ({"stage": "during"}, "'during' is not a valid stage"), ({"task": "x"}, "'x' is not a valid task"),
    ({"role": ""}, "'' is not a valid role"), ({"index": "5-2"}, "'5-2' is not a valid index"),
    ({"task": -1}, "'-1' is not a valid task"), ({"kernel": "a\0b"}, "zero character")])
def test_a_filter_that_makes_no_sense_is_refused(matmul, filters, why):
    with pytest.raises(taskglass.BadArgument, match=why):
        taskglass.Recording(matmul).select(**filters)


def test_a_recording_is_a_sequence(matmul):
    with taskglass.Recording(matmul) as recording:
        assert recording[-1].index == len(recording) - 1 and recording[0].index == 0
        for wrong in (len(recording), -len(recording) - 1):
            with pytest.raises(IndexError, match="there is no record"):
                recording[wrong]


def test_a_damaged_record_is_counted_and_skipped(matmul, tmp_path):
    shutil.copytree(matmul, tmp_path / "run")
    journal = tmp_path / "run" / "tensor_dump" / "tensor_dump.rec"
    data = bytearray(journal.read_bytes())
    first = next(at for at in range(256, len(data), 128) if data[at] == 1)  # after head and kernels
    data[first + 128 * 5 + 100] ^= 0xff
    journal.write_bytes(data)

    def told(recording):
        return [(record.task_id, record.stage, record.arg) for record in recording]

    with taskglass.Recording(matmul) as whole:
        wanted = told(whole)
    with taskglass.Recording("run") as recording:  # the manifest has it too
        assert told(recording) == wanted and recording.damaged == 0
    journal.with_name("tensor_dump.json").unlink()
    with taskglass.Recording("run") as recording:
        assert told(recording) == wanted[:5] + wanted[6:] and recording.damaged == 1
        assert [record.index for record in recording] == list(range(len(wanted) - 1))


def test_reprs_help(matmul):
    with taskglass.Recording(matmul) as recording:
        assert repr(recording) == (f"<Recording '{matmul}/tensor_dump': {len(recording)} records, "
                                   "level full, complete>")
        texts = [repr(record) for record in recording]
    assert "<Record 0: orchestration input arg 0, float32 (64, 96)>" in texts
    assert any("tile_bias_relu after_completion inout arg 1, float32 (32, 32)" in each
               for each in texts)


def test_many_threads_can_read_one_recording(matmul):
    with taskglass.Recording(matmul) as recording:
        sums = []

        def read():
            sums.append(sum(float(record.array().sum())
                            for record in recording.select(stage="after")))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(set(sums)) == 1 and len(sums) == 4


# --- files --------------------------------------------------------------------------------------

def test_a_recording_can_be_named_in_every_way(matmul):
    folder = matmul / "tensor_dump"
    for path in (matmul, str(matmul), folder, folder / "tensor_dump.rec",
                 folder / "tensor_dump.json"):
        with taskglass.Recording(path) as recording:
            assert len(recording) == 74 and recording.run_dir == matmul
            assert recording.name == "run" and recording.dir == folder


def test_the_newest_is_meant_where_none_is_named():
    with pytest.raises(taskglass.NotFound, match="no recording under outputs/"):
        taskglass.Recording()
    first = taskglass.run("vector_add", dump_tensor="full")
    second = taskglass.run("vector_add", dump_tensor="full")
    os.utime(first.output_dir, ns=(1, 1))
    with taskglass.Recording() as recording:
        assert recording.run_dir == second.output_dir.resolve()


def test_the_runs_other_files_are_there(matmul):
    with taskglass.Recording(matmul) as recording:
        assert recording.run["workload"] == "matmul_chain"
        tasks = json.loads((matmul / "deps.json").read_text())["tasks"]
        assert [task.id for task in recording.deps] == [int(task["task_id"], 16) for task in tasks]
        assert [[edge.task for edge in task.after] for task in recording.deps] == [
            [int(before, 16) for before in task["after"]] for task in tasks]
        assert {edge.kind for task in recording.deps for edge in task.after} == {"explicit"}
        assert recording.deps[0].kernels == tuple(tasks[0]["kernel"])
        assert recording.deps[0].scope == tasks[0]["scope"]


def test_files_that_are_not_there_are_none(every_type):
    with taskglass.Recording("run") as recording:
        assert recording.run is None and recording.deps is None


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"tasks": [3]}', b'{"tasks": [{}]}', b"\xff"])
def test_a_deps_json_that_makes_no_sense_is_an_error(every_type, content):
    pathlib.Path("run/deps.json").write_bytes(content)
    with pytest.raises(taskglass.Error, match="deps.json"):
        taskglass.Recording("run").deps


@pytest.mark.parametrize("content", [b"", b"{", b"nonsense", b"\0" * 512, b'{"tensors": 3}'])
def test_what_is_no_recording_is_refused(tmp_path, content):
    (tmp_path / "tensor_dump").mkdir()
    (tmp_path / "tensor_dump" / "tensor_dump.json").write_bytes(content)
    with pytest.raises(taskglass.BadArgument):
        taskglass.Recording(tmp_path)


@pytest.mark.parametrize("path", ["no/such/place", "", "/dev/null"])
def test_what_is_not_there_is_refused(path):
    with pytest.raises(taskglass.Error):
        taskglass.Recording(path)


def test_a_path_with_a_zero_character_is_refused(matmul):
    with pytest.raises(taskglass.BadArgument, match="zero character"):
        taskglass.Recording(f"{matmul}\0")


def test_an_empty_recording_is_empty(tmp_path):
    Writer(tmp_path / "run").write()
    with taskglass.Recording("run") as recording:
        assert len(recording) == 0 and list(recording) == []


def test_a_journal_that_was_cut_has_what_is_there(matmul, tmp_path):
    shutil.copytree(matmul, tmp_path / "run")
    journal = tmp_path / "run" / "tensor_dump" / "tensor_dump.rec"
    journal.write_bytes(journal.read_bytes()[:128 * 30 + 100])
    with taskglass.Recording("run") as recording:  # the manifest has the rest
        assert recording.complete and len(recording) == len(taskglass.Recording(matmul))
    journal.with_name("tensor_dump.json").unlink()
    with taskglass.Recording("run") as recording:
        assert not recording.complete and 0 < len(recording) < 30
        assert all(record.kernel or record.task_id is None for record in recording)


@pytest.mark.parametrize("name", PEER_RECORDINGS)
def test_the_other_implementations_values_arrive(name):
    entries = peer_entries(name)
    with taskglass.Recording(peer(name)) as recording:
        assert recording.foreign and len(recording) == len(entries)
        for record, entry in zip(recording, entries):
            if entry.get("bin_size") and TYPES.get(entry["dtype"].lower(), ("", False))[1]:
                assert (record.array() == peer_array(name, entry)).all()


def test_a_foreign_manifest_that_was_cut_is_read_or_refused():
    peer("truncated_manifest_only")
    try:
        with taskglass.Recording(PEER / "truncated_manifest_only") as recording:
            assert all(repr(record) for record in recording)
    except taskglass.Error as error:
        assert error.exit_code == 2


# --- exports ------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["x.npz", "x.safetensors", "x.csv", "x.trace.json", "x.txt",
                                  "x.sqlite", "x.db"])
def test_an_export_is_that_of_the_command_line(matmul, name):
    if "sqlite" in name or name.endswith(".db"):
        if not taskglass.export_formats()["sqlite"]:
            pytest.skip("built without SQLite")
    with taskglass.Recording(matmul) as recording:
        result = recording.export(name)
    document = command_json("export", matmul, "--output", "y" + name[1:])
    assert (result.written, result.missing, result.truncated) == (
        document["written"], document["missing"], document["truncated"])
    assert pathlib.Path(name).read_bytes() == pathlib.Path("y" + name[1:]).read_bytes()


def test_an_export_of_a_folder_is_that_of_the_command_line(matmul):
    with taskglass.Recording(matmul) as recording:
        written = recording.export("x.simpler").written
    assert written == command_json("export", matmul, "--output", "y.simpler")["written"]
    for name in ("deps.json", "args_dump/args_dump.json", "args_dump/args.bin"):
        assert pathlib.Path("x.simpler", name).read_bytes() == pathlib.Path("y.simpler",
                                                                           name).read_bytes()


def test_an_export_takes_filters_and_a_limit(matmul):
    with taskglass.Recording(matmul) as recording:
        assert recording.export("x.csv", stage="after", kernel="*relu*").written == 4
        assert recording.export(pathlib.Path("y"), "csv", limit=3).written == 3


def test_an_export_overwrites_only_on_request(matmul):
    with taskglass.Recording(matmul) as recording:
        recording.export("x.csv")
        with pytest.raises(taskglass.BadArgument, match="already exists"):
            recording.export("x.csv")
        recording.export("x.csv", overwrite=True)


@pytest.mark.parametrize("arguments, why", [
    (("x.what",), "which format is 'x.what'"), (("x", "xls"), "there is no export format 'xls'"),
    (("no/such/x.csv",), "No such file"), (("x.csv", None, "during"), "'during' is not a valid stage")])
def test_an_export_that_makes_no_sense_is_refused(matmul, arguments, why):
    stage = arguments[2] if len(arguments) > 2 else None
    with taskglass.Recording(matmul) as recording, pytest.raises(taskglass.Error, match=why):
        recording.export(*arguments[:2], stage=stage)


def test_types_that_a_format_lacks_are_named(every_type):
    with taskglass.Recording("run") as recording:
        assert recording.export("x.safetensors").as_bits == ("float4_e2m1fn", "int4")


def test_progress_of_an_export_is_reported_and_may_end_it(matmul):
    class Enough(Exception):
        pass

    seen = []

    def tell(done, total):
        seen.append((done, total))
        raise Enough

    with taskglass.Recording(matmul) as recording:
        with pytest.raises(Enough):
            recording.export("x.csv", progress=tell)
        assert len(seen) == 1 and seen[0][0] <= seen[0][1]
        assert not pathlib.Path("x.csv").exists()
        recording.export("x.csv", progress=lambda done, total: seen.append((done, total)))
    assert len(seen) > 1


def test_nothing_is_left_mapped_at_the_end_of_the_interpreter(matmul):
    result = python(f"""
import taskglass
recording = taskglass.Recording({str(matmul)!r})
arrays = [record.array() for record in recording if record.has_values]
""")
    assert (result.returncode, result.stderr) == (0, "")


def test_a_whole_recording_verifies(matmul):
    with taskglass.Recording(matmul) as recording:
        found = recording.verify()
    assert found and found.findings == () and found.problems == {}
    assert found.records == len(recording) and found.hashes_compared > 0


def test_verify_names_the_record_whose_bytes_changed(matmul, tmp_path):
    shutil.copytree(matmul, tmp_path / "copy")
    payload = next((tmp_path / "copy" / "tensor_dump").glob("*.bin"))
    with open(payload, "r+b") as file:
        first = file.read(1)
        file.seek(0)
        file.write(bytes([first[0] ^ 1]))
    with taskglass.Recording(tmp_path / "copy") as recording:
        found = recording.verify()
    assert not found and found.problems == {"hash": 1}
    assert found.findings[0].problem == "hash" and found.findings[0].index is not None


def test_edges_of_the_other_implementation_are_read():
    golden = pathlib.Path(__file__).parents[1] / "golden" / "peer" / "meta"
    first, second = taskglass.Recording(golden).deps
    assert (first.id, first.kernels, first.after) == (0x100000000, ("#0",), ())
    assert second.after == (taskglass.recording.Edge(0x100000000, "tensormap"),)
