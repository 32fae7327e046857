# SPDX-License-Identifier: Apache-2.0
"""Recordings as tables of pandas. (Optional: Debian's package python3-pandas.)"""

import math

import numpy
import pytest
import taskglass

from conftest import PLATFORMS, ROOT, python

try:
    import pandas
except ImportError:
    pandas = None
needs_pandas = pytest.mark.skipif(pandas is None, reason="pandas is not installed (Debian: python3-pandas)")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Of an example with every element type, scalars, mixes and values that are read back."""
    folder = tmp_path_factory.mktemp("dataframe")
    execution = taskglass.run("dump_tensor", output=folder / "out", dump_tensor="full",
                              platform=PLATFORMS[0], runtime="tensormap_and_ringbuffer")
    with execution.recording() as opened:
        yield opened


SAME = ("task_id", "kernel", "stage", "role", "kind", "arg", "dtype", "shape", "nbytes", "stored", "bits",
        "hash", "core", "time_ns", "data_ptr", "start", "strides", "truncated", "overwritten", "partial",
        "marked", "read")


def row_of(record):
    return {name: getattr(record, name) for name in SAME}


def plain(value):
    """A cell as a Python object; <NA> is None."""
    return None if value is getattr(pandas, "NA", None) else getattr(value, "item", lambda: value)()


@needs_pandas
def test_every_row_is_its_record(recording):
    table = recording.to_dataframe()
    assert len(table) == len(recording) > 50
    assert list(table.index) == list(range(len(recording))) and table.index.name == "index"
    for index, row in zip(table.index, table.to_dict("records")):
        record = recording[index]
        assert {name: plain(row[name]) for name in SAME} == row_of(record)
        ring, task = plain(row["ring"]), plain(row["task"])
        assert record.task_id == (None if task is None else ring << 32 | task)
        if record.value is None:
            assert math.isnan(row["value"])
        else:
            assert row["value"] == pytest.approx(float(record.value), nan_ok=True, rel=1e-15)


@needs_pandas
def test_words_are_categories_and_numbers_are_numbers(recording):
    kinds = recording.to_dataframe().dtypes
    assert all(str(kinds[name]) == "category" for name in ("kernel", "stage", "role", "kind", "dtype"))
    assert [str(kinds[name]) for name in ("task_id", "hash", "value", "marked", "time_ns")] == [
        "UInt64", "UInt64", "float64", "bool", "uint64"]


@needs_pandas
def test_the_filters_are_those_of_select(recording):
    for filters in ({"kernel": "dump_*", "stage": "after"}, {"kind": "scalar"}, {"arg": range(2)},
                    {"task": (1, 3)}, {"index": [3, 5]}, {"role": ["in", "inout"]}):
        table = recording.to_dataframe(**filters)
        assert list(table.index) == [record.index for record in recording.select(**filters)]
        assert len(table)
    for nothing in ({"kernel": "nobody"}, {"task": []}, {"arg": range(0)}):
        table = recording.to_dataframe(**nothing)
        assert len(table) == 0 and list(table.columns) == list(recording.to_dataframe().columns)
        assert (table["value"] > 3).sum() == 0
    with pytest.raises(taskglass.NotFound, match="nonsense"):
        recording.to_dataframe(nonsense=3)
    with pytest.raises(taskglass.BadArgument):
        recording.to_dataframe(stage="during")


@needs_pandas
def test_a_table_outlives_its_recording(recording):
    with taskglass.Recording(recording.dir) as other:
        table = other.to_dataframe(kind="tensor")
    assert table.groupby("kernel", observed=True)["nbytes"].sum().sum() == table["nbytes"].sum()
    assert "dump_add" in set(table["kernel"])
    with pytest.raises(taskglass.BadArgument, match="closed"):
        other.to_dataframe()


@needs_pandas
def test_many_records_are_read_in_several_parts(tmp_path):
    with taskglass.Device(PLATFORMS[0], cores=1, memory="64M") as device:
        x, y = device.zeros(4), device.zeros(4)
        with device.load("mix").graph() as graph:
            for number in range(3000):
                graph.add("mix_scale", x, y, number / 2, after=[number - 1] if number else [])
            result = graph.run(record="meta", output_dir=tmp_path / "many")
    with result.recording() as recording:
        table = recording.to_dataframe()
        assert len(table) == len(recording) == 9000 and list(table.index) == list(range(9000))
        scalars = table[table["kind"] == "scalar"]
        assert sorted(scalars["value"]) == [number / 2 for number in range(3000)]
        assert (scalars["value"] == scalars["task"] / 2).all()


@needs_pandas
def test_recordings_of_others_become_tables(tmp_path):
    for path in sorted((ROOT / "tests" / "golden").rglob("*_dump")):
        with taskglass.Recording(path) as recording:
            table = recording.to_dataframe()
            for index, kernel in zip(table.index, table["kernel"]):
                assert recording[index].kernel == kernel
            assert len(table) == len(list(recording))


def test_without_pandas_an_error_says_what_to_install():
    result = python("""
import sys
sys.modules["pandas"] = None
import taskglass
try:
    taskglass._dataframe.pandas()
except taskglass.MissingPackage as error:
    assert isinstance(error, ImportError) and isinstance(error, taskglass.Unsupported)
    print(error.text, error.advice)
""")
    assert "pandas" in result.stdout and "apt-get install python3-pandas" in result.stdout, result


def test_importing_the_package_imports_no_pandas():
    result = python("import sys, taskglass; print('pandas' in sys.modules)")
    assert result.stdout == "False\n", result


def test_values_of_every_type_are_decoded():
    """Of scalars that no kernel takes, too: those of 4 bits."""
    from taskglass import _dataframe, dtypes
    names = dtypes.names()
    entries = numpy.zeros(len(names), [("dtype", "u1"), ("value", "u8")])
    for at, name in enumerate(names):
        kind = dtypes.dtype(name)
        bits = dtypes.encode(numpy.float64([1.0, 1.0]), kind).tobytes()
        entries[at] = (kind.number, int.from_bytes(bits[:max(kind.bits // 8, 1)], "little"))
    values = _dataframe._values(entries, numpy.ones(len(names), bool))
    assert dict(zip(names, values)) == dict.fromkeys(names, 1.0)
