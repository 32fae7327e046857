# SPDX-License-Identifier: Apache-2.0
"""The contents of the files of taskglass export, read by other programs."""

import csv
import io
import json
import shutil
import sqlite3
import subprocess

import numpy
import pytest

import safetensors_reader
from recordings import PACKED, TYPES, Recording, pack, random_bits

OF_SAFETENSORS = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0",
    "float4_e2m1fn": "U8", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "int4": "U8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL"}


@pytest.fixture
def every_type(tg, tmp_path):
    """tg, and the arrays of the recording "run": one of each type, with an odd number of them."""
    recording, arrays = Recording(tmp_path / "run"), {}
    for number, dtype in enumerate(TYPES):
        arrays[dtype] = random_bits(dtype, (3, 5), seed=number)
        recording.add_tensor(dtype, arrays[dtype])
    recording.write()
    return tg, arrays


def export(tg, *arguments, format, folder="run"):
    """The bytes of an export."""
    result = tg("export", folder, "--to", format, "--output", "-", *arguments, text=False)
    assert result.returncode == 0, result
    return result.stdout


# --- safetensors --------------------------------------------------------------------------------

def load_safetensors(tg, *arguments, **options):
    arrays, metadata = safetensors_reader.read(export(tg, *arguments, format="safetensors",
                                                      **options))
    return arrays, {name: json.loads(text) for name, text in metadata.items() if name in arrays}


def test_safetensors_have_every_type(every_type):
    tg, arrays = every_type
    loaded, notes = load_safetensors(tg)
    assert len(loaded) == len(arrays)
    for number, (dtype, array) in enumerate(arrays.items()):
        name = f"task_0_{number}_before_arg0"
        assert loaded[name][0] == OF_SAFETENSORS[dtype]
        assert loaded[name][1].tobytes() == pack(dtype, array)
        assert loaded[name][1].shape == ((8,) if dtype in PACKED else (3, 5))
        assert (notes[name]["dtype"], notes[name]["shape"]) == (dtype, [3, 5])


@pytest.mark.parametrize("case", ["floats", "integers"])
def test_the_dtypes_example_is_the_same_in_npz_and_safetensors(tg, case):
    tg.good("run", "dtypes", "--case", case, "--dump-tensor", "--output", "run")
    loaded, notes = load_safetensors(tg)
    with numpy.load(io.BytesIO(export(tg, format="npz"))) as archive:
        assert sorted(archive) == sorted(loaded)
        for name, (_, array) in loaded.items():
            dtype, other = notes[name]["dtype"], archive[name]
            assert array.tobytes() == pack(dtype, other)
            assert dtype in PACKED or array.shape == other.shape


def test_safetensors_metadata_say_whose_tensor_it_is(tg):
    tg.good("run", "mix", "--dump-tensor", "--output", "run")
    _, notes = load_safetensors(tg)
    records = {record["index"]: record for record in tg.json("view", "run")["records"]}
    assert notes
    for note in notes.values():
        record = records[note["index"]]
        assert note["task"] == record["task_id"] and note["arg"] == record["arg_index"]
        assert all(note.get(key) == record[key]
                   for key in ("kernel", "stage", "role", "kind", "dtype", "shape", "hash"))


def test_safetensors_name_the_run_and_the_format(every_type):
    _, metadata = safetensors_reader.read(export(every_type[0], format="safetensors"))
    assert metadata["format"] == "taskglass" and metadata["taskglass_run"] == "run"


def test_safetensors_have_scalars_without_dimensions_and_empty_tensors(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_scalar("float32", 0.1)
    recording.add_tensor("float64", numpy.zeros((4, 0, 2)))
    recording.add_tensor("int16", numpy.array(7, "i2"))
    recording.write()
    arrays = {name: array for name, (_, array) in load_safetensors(tg)[0].items()}
    assert arrays["task_0_0_before_arg0"] == numpy.float32(0.1)
    assert arrays["task_0_1_before_arg0"].shape == (4, 0, 2)
    assert arrays["task_0_2_before_arg0"].shape == () and arrays["task_0_2_before_arg0"] == 7


def test_safetensors_tell_of_a_truncated_tensor(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("float32", numpy.float32([1, 2, 3]), shape=[2, 50], truncated=True)
    recording.write()
    arrays, notes = load_safetensors(tg)
    assert arrays["task_0_0_before_arg0"][1].tolist() == [1, 2, 3]
    assert notes["task_0_0_before_arg0"]["truncated"] is True
    assert notes["task_0_0_before_arg0"]["shape"] == [2, 50]


def test_safetensors_of_one_name_stay_apart(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    for value in (1, 2, 3):
        recording.add_scalar("int8", value, task_id="0x0000000000000007")
    recording.write()
    assert [int(array) for _, array in load_safetensors(tg)[0].values()] == [1, 2, 3]


def test_safetensors_have_kernel_names_with_quotes_in_them(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_scalar("int8", 1, kernel=['a "quoted" \\ name, é'])
    recording.write()
    assert load_safetensors(tg)[1]["task_0_0_before_arg0"]["kernel"] == ['a "quoted" \\ name, é']


# --- csv ----------------------------------------------------------------------------------------

def rows(tg, *arguments, **options):
    text = export(tg, *arguments, format="csv", **options).decode()
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_csv_lines_end_as_rfc_4180_wants(every_type):
    data = export(every_type[0], format="csv")
    assert data.endswith(b"\r\n") and data.count(b"\n") == data.count(b"\r\n") == 19


@pytest.mark.parametrize("workload", ["mix", "dtypes"])
def test_csv_has_what_view_has(tg, workload):
    tg.good("run", workload, "--dump-tensor", "--output", "run")
    records = tg.json("view", "run")["records"]
    lines = rows(tg)
    assert len(lines) == len(records)
    for line, record in zip(lines, records):
        for key in ("index", "task_id", "stage", "role", "kind", "arg_index", "dtype",
                    "start_offset", "bytes", "bin_offset", "bin_size", "data_ptr"):
            assert line[key] == str(record[key]), key
        for key in ("truncated", "overwritten", "partial", "marked", "is_contiguous"):
            assert line[key] == str(record[key]).lower(), key
        for key in ("shape", "strides", "func_id"):
            assert [int(number) for number in line[key].split()] == record[key], key
        assert line["kernel"] == "+".join(record["kernel"])
        assert line["hash"] == (record["hash"] or "") and line["raw"] == record.get("raw", "")


def test_csv_quotes_what_needs_it(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    names = ["plain", "with, comma", 'with "quotes"', "with\nline end", " blanks "]
    for name in names:
        recording.add_scalar("int8", 1, kernel=[name])
    recording.write()
    assert [line["kernel"] for line in rows(tg)] == [name.replace("\n", "?") for name in names]


def test_csv_has_values_of_scalars(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    for dtype, value in (("float32", 0.1), ("int64", "-9223372036854775808"), ("bool", True),
                         ("uint64", "18446744073709551615"), ("float64", "NaN")):
        recording.add_scalar(dtype, value)
    recording.write()
    assert [line["value"] for line in rows(tg)] == ["0.1", "-9223372036854775808", "true",
                                                    "18446744073709551615", "nan"]


def test_csv_of_nothing_is_its_head(tg, tmp_path):
    Recording(tmp_path / "run").write()
    assert rows(tg) == []


# --- sqlite -------------------------------------------------------------------------------------

@pytest.fixture
def database(tg):
    """Opens the database of a folder; skips the test if the program was built without SQLite."""
    opened = []

    def open_it(*arguments, folder="run"):
        result = tg("export", folder, "--to", "sqlite", "--output", "x.db", "--force", *arguments)
        if "built without SQLite" in result.stderr:
            assert result.returncode == 2
            pytest.skip("built without SQLite")
        assert (result.returncode, result.stderr) == (0, ""), result
        connection = sqlite3.connect(tg.directory / "x.db")
        connection.row_factory = sqlite3.Row
        opened.append(connection)
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        return connection

    yield open_it
    for connection in opened:
        connection.close()


def table(connection, query):
    return [dict(row) for row in connection.execute(query)]


def test_sqlite_has_every_record(tg, database):
    tg.good("run", "mix", "--dump-tensor", "--output", "run")
    records = tg.json("view", "run")["records"]
    found = table(database(), "SELECT r.*, t.task_id FROM records r LEFT JOIN tasks t USING (task)"
                              " ORDER BY record")
    assert len(found) == len(records)
    for row, record in zip(found, records):
        assert row["record"] == record["index"] and row["arg"] == record["arg_index"]
        assert (row["task_id"] or "0xffffffffffffffff") == record["task_id"]
        assert all(row[key] == record[key] for key in ("stage", "role", "kind", "dtype", "bytes",
                                                       "bin_offset", "bin_size", "hash"))
        assert json.loads(row["shape"]) == record["shape"]


def test_sqlite_has_the_edges_of_deps_json(tg, database):
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "run")
    tasks = json.loads((tg.directory / "run" / "deps.json").read_text())["tasks"]
    edges = {(int(task["task_id"], 16), int(before, 16), kind) for task in tasks
             for before, kind in zip(task["after"], task["kind"])}
    connection = database()
    assert set(map(tuple, connection.execute("SELECT * FROM edges"))) == edges
    assert {row["task"]: row["scope"] for row in connection.execute("SELECT * FROM tasks")} == {
        int(task["task_id"], 16): task["scope"] for task in tasks}


def test_sqlite_has_tasks_that_left_no_record(tg, database):
    tg.good("run", "matmul_chain", "--dump-tensor", "--dump-filter", "task=3", "--output", "run")
    connection = database()
    assert connection.execute("SELECT count(*) FROM tasks").fetchone()[0] == 20
    assert table(connection, "SELECT task FROM tasks WHERE records > 0") == [{"task": 3}]


def test_sqlite_takes_a_task_once_that_deps_json_has_twice(tg, database):
    """The first row counts, with the scope that was named last."""
    tg.good("run", "matmul_chain", "--dump-tensor", "--dump-filter", "task=0-3", "--output", "run")
    path = tg.directory / "run" / "deps.json"
    document = json.loads(path.read_text())
    again = [dict(task, scope="late.c:7", kernel=["other"], func_id=[4000 + number])
             for number, task in enumerate(document["tasks"][2:6])]
    document["tasks"] += again
    path.write_text(json.dumps(document))
    connection = database()
    found = {row["task"]: row for row in connection.execute("SELECT * FROM tasks")}
    twice = {int(task["task_id"], 16) for task in again}
    assert len(found) == len(document["tasks"]) - len(again)
    assert {task for task, row in found.items() if row["scope"] == "late.c:7"} == twice
    assert all(row["kernel"] != "other" for row in found.values())
    assert sum(row["records"] > 0 for row in found.values()) == 4


def test_sqlite_has_the_kernels_of_a_mix(tg, database):
    tg.good("run", "mix", "--dump-tensor", "--output", "run")
    tasks = json.loads((tg.directory / "run" / "deps.json").read_text())["tasks"]
    found = {}
    for task, name in database().execute("SELECT task, name FROM task_kernels JOIN kernels"
                                         " ON kernel = number ORDER BY task, position"):
        found.setdefault(task, []).append(name)
    assert found == {int(task["task_id"], 16): task["kernel"] for task in tasks}


def test_sqlite_knows_when_and_where_tasks_ran(tg, database):
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "run")
    connection = database()
    assert table(connection, "SELECT 1 FROM tasks WHERE core IS NULL OR begin_ns > end_ns") == []
    late = "SELECT 1 FROM edges e JOIN tasks a ON a.task = e.task JOIN tasks b ON" \
           " b.task = e.waits_for WHERE b.end_ns > a.begin_ns"
    assert table(connection, late) == []


def test_sqlite_statistics_are_those_of_numpy(every_type, database):
    _, arrays = every_type
    for row in table(database(), "SELECT * FROM tensors"):
        array = arrays[row["dtype"]]
        assert row["elements"] == 15
        if TYPES[row["dtype"]][1] and array.dtype.kind != "b":
            assert (row["min"], row["max"]) == (array.min(), array.max()) or row["dtype"] == "uint64"
            assert row["zeros"] == (array == 0).sum()
            assert row["mean"] == pytest.approx(array.astype("f8").mean(), rel=1e-6)


def test_sqlite_statistics_count_what_is_not_finite(tg, tmp_path, database):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("float32", numpy.float32([numpy.nan, 1, -numpy.inf, 0, -0.0, 3]))
    recording.add_tensor("float32", numpy.float32([numpy.nan, numpy.nan]))
    recording.add_tensor("uint64", numpy.uint64([2**64 - 1, 5]))
    recording.write()
    found = table(database(), "SELECT * FROM statistics ORDER BY record")
    assert found[0] == {"record": 0, "elements": 6, "min": -numpy.inf, "max": 3.0, "mean": 1.0,
                        "nans": 1, "infs": 1, "zeros": 2}
    assert (found[1]["min"], found[1]["mean"], found[1]["nans"]) == (None, None, 2)
    assert (found[2]["min"], found[2]["max"]) == (5, "18446744073709551615")


def test_sqlite_has_run_json_for_its_json_functions(tg, database):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    connection = database()
    try:
        workload = connection.execute("SELECT json_extract(value, '$.workload') FROM meta"
                                      " WHERE key = 'run_json'").fetchone()[0]
    except sqlite3.OperationalError:
        pytest.skip("Python's SQLite has no JSON functions")
    assert workload == "vector_add"


def test_sqlite_filters_select_records_and_leave_tasks(tg, database):
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "run")
    connection = database("--kernel", "*relu*", "--stage", "after")
    assert connection.execute("SELECT count(*) FROM records").fetchone()[0] == 4
    assert connection.execute("SELECT count(*) FROM tasks").fetchone()[0] == 20


def test_sqlite_takes_ids_beyond_its_integers(tg, tmp_path, database):
    recording = Recording(tmp_path / "run")
    recording.add_scalar("int8", 1, task_id="0xfffffffffffffffe")
    recording.add_scalar("int8", 1, task_id="0xffffffffffffffff", stage="orchestration")
    recording.write()
    connection = database()
    assert table(connection, "SELECT task, task_id, ring FROM tasks") == [
        {"task": -2, "task_id": "0xfffffffffffffffe", "ring": 0xffffffff}]
    assert table(connection, "SELECT task FROM records ORDER BY record") == [
        {"task": -2}, {"task": None}]


def test_the_sqlite_shell_reads_it_too(tg, database):
    if not shutil.which("sqlite3"):
        pytest.skip("no sqlite3 here")
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "run")
    database()
    result = subprocess.run(["sqlite3", "x.db", "SELECT count(*) FROM tasks", ".schema"],
                            cwd=tg.directory, stdout=subprocess.PIPE, text=True, check=True)
    assert result.stdout.splitlines()[0] == "20"


# --- trace --------------------------------------------------------------------------------------

def events(tg, *arguments, **options):
    document = json.loads(export(tg, *arguments, format="trace", **options))
    assert document["displayTimeUnit"] in ("ms", "ns")
    found = {}
    for event in document["traceEvents"]:
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and event["name"]
        found.setdefault(event["ph"], []).append(event)
    assert set(found) <= {"M", "X", "s", "f", "B", "E", "C"}  # test_trace_files.py: the last three
    return found


@pytest.fixture(params=["matmul_chain", "mix", "stencil"])
def traced(tg, request):
    tg.good("run", request.param, "--dump-tensor", "--cores", 6, "--output", "run")
    return tg, events(tg), json.loads((tg.directory / "run" / "deps.json").read_text())["tasks"]


def test_a_trace_has_a_slice_for_each_part_of_each_task(traced):
    _, found, tasks = traced
    slices = {}
    for event in found["X"]:
        slices.setdefault(event["args"]["task_id"], []).append(event)
        assert event["name"] == event["args"]["kernel"]
        assert event["ts"] >= 0 and event["dur"] >= 0 and event["args"]["completed"] is True
    assert sorted(slices) == [task["task_id"] for task in tasks]
    for task in tasks:
        assert sorted(event["name"] for event in slices[task["task_id"]]) == sorted(task["kernel"])
    assert min(event["ts"] for event in found["X"]) == 0


def test_a_trace_names_process_and_rows(traced):
    _, found, _ = traced
    names = {(event["name"], event["tid"]): event["args"] for event in found["M"]}
    assert names["process_name", 0] == {"name": "run"}
    assert all(names["thread_name", event["tid"]]["name"].startswith("core ")
               for event in found["X"])


def test_slices_of_a_row_do_not_overlap(traced):
    _, found, _ = traced
    ends = {}
    for event in sorted(found["X"], key=lambda event: (event["tid"], event["ts"])):
        assert event["ts"] >= ends.get(event["tid"], 0) - 1e-6
        ends[event["tid"]] = event["ts"] + event["dur"]


def test_a_trace_has_an_arrow_for_each_edge(traced):
    _, found, tasks = traced
    begins = {event["id"]: event for event in found["s"]}
    ends = {event["id"]: event for event in found["f"]}
    assert len(found["s"]) == len(found["f"]) == sum(len(task["after"]) for task in tasks)
    assert sorted(begins) == sorted(ends)
    for number, begin in begins.items():
        assert begin["ts"] <= ends[number]["ts"] and ends[number]["bp"] == "e"
        assert any(event["tid"] == begin["tid"] and
                   event["ts"] <= begin["ts"] <= event["ts"] + event["dur"]
                   for event in found["X"])


def test_times_are_microseconds(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    for event in events(tg)["X"]:
        lines = rows(tg, "--task", event["args"]["task_id"])
        times = [int(line["time_ns"]) for line in lines]
        assert event["dur"] == pytest.approx((max(times) - min(times)) / 1000)


def test_a_filtered_trace_has_the_edges_between_what_it_shows(tg):
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "run")
    found = events(tg, "--kernel", "*relu*")
    assert len(found["X"]) == 4 and "s" not in found


def test_a_task_that_crashed_is_in_the_trace(tg):
    from conftest import workload
    result = tg("run", workload("faults"), "--case", "null", "--dump-tensor", "--output", "run")
    assert result.returncode == 3
    crashed = [event for event in events(tg)["X"] if event["name"] == "fault_null"]
    assert [event["args"]["completed"] for event in crashed] == [False]


def test_a_manifest_alone_has_no_times(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    (tg.directory / "run" / "tensor_dump" / "tensor_dump.rec").unlink()
    result = tg("export", "run", "--to", "trace", "--output", "x.json")
    assert result.returncode == 2 and "there are no times in this recording" in result.stderr
