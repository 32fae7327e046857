# SPDX-License-Identifier: Apache-2.0
"""taskglass stats: statistics of the values of each tensor."""

import json
import re

import numpy
import pytest

import wire_reader
from conftest import one_line
from recordings import PEER_RECORDINGS, TYPES, Recording, peer, peer_array, peer_entries, random_bits

KEYS = ["index", "task_id", "kernel", "stage", "role", "arg_index", "kind", "dtype", "shape",
        "stored", "cut", "count", "min", "max", "mean", "std", "nan", "inf", "zero", "denormal"]
SMALLEST = {"float64": 2.0 ** -1022, "float32": 2.0 ** -126, "float16": 2.0 ** -14,
            "bfloat16": 2.0 ** -126, "float8_e4m3fn": 2.0 ** -6, "float8_e5m2": 2.0 ** -14,
            "float4_e2m1fn": 1.0}


def numbers(dtype, array):
    own = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn", "int4")
    return (wire_reader.decode(dtype, array) if dtype in own else array).astype("f8")


def stats(tg, *arguments):
    return tg.json("stats", *arguments)["tensors"]


def one(tg, tmp_path, dtype, array):
    recording = Recording(tmp_path / "run")
    recording.add_tensor(dtype, array)
    recording.write()
    return stats(tg, "run")[0]


@pytest.mark.parametrize("dtype", TYPES)
def test_the_numbers_are_those_that_numpy_gives(tg, tmp_path, dtype):
    array = random_bits(dtype, (30, 50), seed=5)
    found = one(tg, tmp_path, dtype, array)
    with numpy.errstate(all="ignore"):
        values = numbers(dtype, array)
        finite = values[numpy.isfinite(values)]
        small = (finite != 0) & (abs(finite) < SMALLEST.get(dtype, 0))
    assert list(found) == KEYS and found["count"] == array.size
    assert (found["nan"], found["inf"]) == (numpy.isnan(values).sum(), numpy.isinf(values).sum())
    assert (found["zero"], found["denormal"]) == ((finite == 0).sum(), small.sum())
    assert found["mean"] == pytest.approx(finite.mean(), rel=1e-9, abs=1e-12)
    assert found["std"] == pytest.approx(finite.std(), rel=1e-9)
    if not numpy.isinf(values).any():
        assert float(found["min"]) == pytest.approx(numpy.nanmin(values), rel=1e-7)
        assert float(found["max"]) == pytest.approx(numpy.nanmax(values), rel=1e-7)


def test_what_is_no_number_is_counted_and_left_out(tg, tmp_path):
    found = one(tg, tmp_path, "float32", numpy.float32([1, numpy.nan, 3, numpy.inf, 0, 1e-40]))
    assert (found["min"], found["max"]) == (0.0, "Infinity")
    assert (found["nan"], found["inf"], found["zero"], found["denormal"]) == (1, 1, 1, 1)
    assert found["mean"] == pytest.approx(1)


def test_nothing_but_nan_has_neither_range_nor_mean(tg, tmp_path):
    found = one(tg, tmp_path, "float32", numpy.float32([numpy.nan]))
    assert [found[key] for key in ("min", "max", "mean", "std")] == [None] * 4


def test_a_tensor_without_elements_has_a_count(tg, tmp_path):
    assert one(tg, tmp_path, "float32", numpy.zeros((2, 0), "f4"))["count"] == 0


@pytest.fixture
def recorded(tg):
    tg.good("run", "vector_add", "--dump-tensor")
    return tg


def test_the_table_has_a_line_for_each_tensor(recorded):
    text = recorded.good("stats").stdout
    assert re.match(r"index +task +kernel .* min +max +mean +std +nan +inf +zero +denormal$",
                    text.splitlines()[0])
    assert len(text.splitlines()) == 13  # without scalars and arguments of the orchestration


@pytest.mark.parametrize("filters, count", [
    (["--task", "2"], 3), (["--stage", "after"], 4), (["--stage", "orchestration"], 3),
    (["--role", "in"], 8), (["--kind", "scalar"], 1), (["--arg", "2"], 4), (["--index", "0,5"], 2),
    (["--kernel", "vector*"], 12), (["--limit", "5"], 5)])
def test_filters_say_which_records(recorded, filters, count):
    assert len(stats(recorded, *filters)) == count


def test_a_limit_says_what_it_leaves_out(recorded):
    assert "and 7 more; --all shows them" in recorded.good("stats", "--limit", "5").stdout
    result = recorded("stats", "--task", "99")
    assert result.returncode == 2 and "no record matches the filters" in result.stderr
    result = recorded("stats", "--task", "99", "--json")
    assert result.returncode == 2 and json.loads(result.stdout)["result"] == "not known"


def test_what_is_not_stored_says_so(tg):
    tg.good("run", "vector_add", "--dump-tensor=hash")
    assert not any(tensor["stored"] for tensor in stats(tg))
    assert "not stored" in tg.good("stats").stdout


def test_a_tensor_that_was_cut_off_is_measured_as_far_as_it_goes(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("float32", numpy.float32([1, 2]), shape=[4], truncated=True)
    recording.write()
    found = stats(tg, "run")[0]
    assert found["cut"] and found["count"] == 2 and found["max"] == 2


@pytest.mark.parametrize("name", PEER_RECORDINGS)
def test_recordings_of_the_other_implementation_are_measured(tg, name):
    found = {entry["index"]: entry for entry in stats(tg, peer(name))}
    for index, entry in enumerate(peer_entries(name)):
        if entry["dtype"] == "FLOAT32" and entry["bin_size"] > 0:
            assert found[index]["mean"] == pytest.approx(peer_array(name, entry).mean(dtype="f8"))


@pytest.mark.parametrize("arguments, why", [
    (["nowhere"], "there is no 'nowhere'"), ([], "no recording under outputs/"),
    (["a", "b"], "'b' is one too many"), (["--limit", "x"], "--limit needs a whole number"),
    (["--all", "--limit", "2"], "contradict"), (["--role", "inn"], "it takes in, out"),
    (["--alll"], "did you mean --all?")])
def test_what_makes_no_sense_is_one_line(tg, arguments, why):
    result = tg("stats", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert one_line(result.stderr) and why in result.stderr


def test_a_record_that_is_not_there_is_an_error(recorded):
    result = recorded("stats", "--index", "99")
    assert result.returncode == 2 and "there is no record 99" in result.stderr
