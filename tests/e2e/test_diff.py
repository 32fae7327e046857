# SPDX-License-Identifier: Apache-2.0
"""taskglass diff: what matches, what differs, and which task began it."""

import json
import os
import pty
import re
import shutil

import numpy
import pytest

import wire_reader
from conftest import PLATFORMS, PROGRAM, clean_environment, one_line, workload
from recordings import PEER_RECORDINGS, TYPES, Recording, peer, random_bits

RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
SHORT = tuple(wire_reader.SMALL_FLOATS) + ("float8_e8m0fnu", "float16", "int4")


def record(tg, name, *arguments, code=0):
    """A recorded run of the workload that makes mistakes; it exits with 1 if it makes one."""
    level = [] if any(str(argument).startswith("--dump") for argument in arguments) \
        else ["--dump-tensor"]
    result = tg("run", workload("mistakes"), "--output", name, *level, *arguments)
    assert result.returncode == code, result
    return name


@pytest.fixture
def pair(tg):
    """A run with a mistake in task 2, and one without."""
    record(tg, "wrong", "--case", "wrong", code=1)
    record(tg, "right", "--case", "none")
    return tg


def diff(tg, *arguments, code=0):
    result = tg("diff", *arguments, "--json")
    assert (result.returncode, result.stderr) == (code, ""), result
    return json.loads(result.stdout)


def tensors(tmp_path, name, *arrays, dtype="float32", **fields):
    """A recording of outputs, one task each."""
    recording = Recording(tmp_path / name)
    for task, array in enumerate(arrays):
        recording.add_tensor(dtype, array, task_id="0x%016x" % task, role="output",
                             stage="after_completion", **fields)
    return recording


def compare(tg, tmp_path, a, b, *arguments, dtype="float32", code=1):
    """Compares two tensors; returns the values of their one pair."""
    for name, array in (("a", a), ("b", b)):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
        tensors(tmp_path, name, array, dtype=dtype).write()
    pairs = diff(tg, "a", "b", "--all", *arguments, code=code)["pairs"]
    assert len(pairs) == 1
    return pairs[0]


# --- whole runs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("example", ["matmul_chain", "dump_tensor", "mix", "views"])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_two_platforms_and_runtimes_give_the_same(tg, example, runtime):
    tg.good("run", example, "--dump-tensor", "--output", "a")
    tg.good("run", example, "--dump-tensor", "--output", "b", "--platform", PLATFORMS[-1],
            "--runtime", runtime)
    document = diff(tg, "a", "b")
    assert document["result"] == "equal" and document["pairs"] == []
    assert document["tasks"]["only_a"] == document["tasks"]["only_b"] == []
    assert document["counts"]["same"] == document["a"]["records"]


def test_ids_of_another_runtime_match_by_dataflow(tg):
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "a")
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "b", "--runtime", RUNTIMES[2])
    assert diff(tg, "a", "b")["matched_by"] == "dataflow"
    assert "20 tasks matched by what they read and write" in tg.good("diff", "a", "b").stdout


def test_fused_tasks_match_the_tasks_that_they_replace(tg):
    for name, fused in (("a", 0), ("b", 1)):
        tg.good("run", "mlp", "--case", "small", "--set", f"fused={fused}", "--dump-tensor",
                "--output", name)
    document = diff(tg, "a", "b", code=1)  # the orchestration is given another `fused`
    tasks = document["tasks"]
    assert tasks["only_a"] == tasks["only_b"] == [] and tasks["matched"] > 0
    assert {part["in"] for part in tasks["fused"]} == {"a"}
    assert {(pair["stage"], pair["kind"]) for pair in document["pairs"]
            if pair["verdict"] == "differs"} == {("orchestration", "scalar")}


def test_equal_says_so_on_one_line(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "a")
    text = tg.good("diff", "a", "a").stdout
    assert re.search(r"^equal  16 pairs: 16 the same, 0 within tolerance, 0 differ, 0 incomplete$",
                     text, re.M)


def test_a_mistake_is_found_and_its_task_blamed(pair):
    document = diff(pair, "wrong", "right", code=1)
    assert document["result"] == "differs" and document["counts"]["differs"] == 5
    assert document["pairs"][0]["reason"] == "other_hash", "the case tells the kernel by its input"
    first = document["pairs"][1]
    assert (first["task_a"], first["kernel"], first["stage"]) == \
        ("0x0000000000000002", ["step"], "after_completion")
    assert first["values"]["max_abs"] == {"value": 1.0, "at": [3], "a": 3.125, "b": 2.125}
    blame = document["blame"]
    assert (blame["graph"], blame["wrong"], blame["inherited"]) == ("deps_a", 3, 2)
    assert [(suspect["guilt"], suspect["task_a"]) for suspect in blame["suspects"]] == \
        [("introduced", "0x0000000000000002")]
    assert [task["kernel"] for task in blame["suspects"][0]["path"]] == ["step", "step", "join"]


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_blame_is_the_same_on_every_runtime(tg, runtime):
    record(tg, "wrong", "--case", "wrong", "--runtime", runtime, code=1)
    record(tg, "right", "--case", "none")
    suspects = diff(tg, "wrong", "right", code=1)["blame"]["suspects"]
    assert [(suspect["guilt"], suspect["task_b"]) for suspect in suspects] == \
        [("introduced", "0x0000000000000002")]


def test_the_blame_is_shown_as_text(pair):
    text = pair("diff", "wrong", "right").stdout
    assert "1. task 2 step introduced it: its inputs agree bit for bit, but its outputs do not" in text
    assert "then 3 step > 4 join" in text
    assert "mismatch    1 of 8 (12.5 %), beyond 1e-06 + 1e-05 |b|" in text
    assert "max abs     1 at [3] 3.125, 2.125" in text
    assert "as records 11 and 11 do, bit for bit" in text
    assert re.search(r"^DIFFERS  18 pairs: 12 the same", text, re.M)


def test_blame_alone_leaves_the_differences_out(pair):
    text = pair("diff", "wrong", "right", "--blame").stdout
    assert "introduced it" in text and "max abs" not in text


def test_without_deps_the_addresses_are_the_graph(pair):
    for name in ("wrong", "right"):
        (pair.directory / name / "deps.json").unlink()
    blame = diff(pair, "wrong", "right", code=1)["blame"]
    assert blame["graph"] == "memory_a"
    assert [suspect["guilt"] for suspect in blame["suspects"]] == ["introduced"]
    assert len(blame["suspects"][0]["path"]) == 3
    assert "no deps.json" in pair("diff", "wrong", "right").stdout


def test_inputs_that_were_not_recorded_leave_the_blame_open(tg):
    record(tg, "wrong", "--case", "wrong", "--dump-tensor", "--dump-filter", "role=out", code=1)
    record(tg, "right", "--case", "none")
    document = diff(tg, "wrong", "right", code=1)
    assert [suspect["guilt"] for suspect in document["blame"]["suspects"]] == ["unclear"]
    assert document["reasons"]["only_b"] == 12
    assert "may have introduced it" in tg("diff", "wrong", "right").stdout


def test_arguments_that_both_runs_left_out_leave_the_blame_open(tg):
    record(tg, "wrong", "--case", "wrong", "--dump-tensor", "--dump-filter", "arg=0-1", code=1)
    record(tg, "right", "--case", "none", "--dump-tensor", "--dump-filter", "arg=0-1")
    document = diff(tg, "wrong", "right", code=1)
    assert {suspect["guilt"] for suspect in document["blame"]["suspects"]} == {"unclear"}


def test_where_no_write_was_recorded_nobody_changed_anything(tg):
    record(tg, "wrong", "--case", "wrong", "--dump-tensor", "--dump-filter", "role=in", code=1)
    record(tg, "right", "--case", "none", "--dump-tensor", "--dump-filter", "role=in")
    document = diff(tg, "wrong", "right", code=1)
    assert {suspect["guilt"] for suspect in document["blame"]["suspects"]} <= {"unclear"}


def test_inputs_of_the_run_that_differ_blame_no_task(tg):
    record(tg, "a", "--case", "none", "--set", "first=3")
    record(tg, "b", "--case", "none")
    suspects = diff(tg, "a", "b", code=1)["blame"]["suspects"]
    assert [(suspect["guilt"], suspect["record_a"]) for suspect in suspects] == [("given", 3)]


def test_a_stomp_is_blamed_as_a_change(tg):
    record(tg, "a", "--case", "stomp", code=1)
    record(tg, "b", "--case", "none")
    suspects = diff(tg, "a", "b", code=1)["blame"]["suspects"]
    assert [(suspect["guilt"], suspect["task_a"]) for suspect in suspects] == \
        [("changed", "0x0000000000000004")]


def test_hashes_alone_name_the_first_task_but_not_the_error(tg):
    for name, case, code in (("wrong", "wrong", 1), ("right", "none", 0)):
        record(tg, name, "--case", case, "--dump-tensor=hash", code=code)
    document = diff(tg, "wrong", "right", code=1)
    assert document["result"] == "incomplete" and document["reasons"]["other_hash"] == 6
    assert [suspect["guilt"] for suspect in document["blame"]["suspects"]] == ["introduced"]
    record(tg, "again", "--case", "none", "--dump-tensor=hash")
    assert diff(tg, "again", "right")["result"] == "equal"


def test_of_metadata_alone_nothing_is_known(tg):
    record(tg, "a", "--case", "none", "--dump-args")
    document = diff(tg, "a", "a", code=2)
    assert document["result"] == "not known" and "level meta" in document["reason"]
    assert document["reasons"]["not_stored"] == 11 and document["reasons"]["not_hashed"] == 1
    text = tg("diff", "a", "a").stdout
    assert "NOT KNOWN" in text and "neither hashes nor values" in text and "equal" not in text


def test_metadata_that_differs_is_a_difference(tg):
    record(tg, "a", "--case", "none", "--dump-args")
    record(tg, "b", "--case", "none", "--dump-args", "--set", "n=9")
    assert diff(tg, "a", "b", code=1)["result"] == "differs"


def test_arguments_of_the_run_without_hashes_are_said_and_leave_the_rest_equal(tg, tmp_path):
    for name in ("a", "b"):
        recording = tensors(tmp_path, name, numpy.ones(4, "f4"))
        recording.add(task_id="0x%016x" % (2**64 - 1), shape=[4], strides=[1], role="input",
                      stage="orchestration", func_id=[], kernel=[])
        recording.write()
    document = diff(tg, "a", "b")
    assert document["result"] == "equal" and document["reasons"]["not_hashed"] == 1
    assert "recorded without a hash" in tg.good("diff", "a", "b").stdout


def test_a_level_against_another_compares_what_both_have(tg):
    record(tg, "a", "--case", "none", "--dump-tensor=hash")
    record(tg, "b", "--case", "none")
    assert diff(tg, "a", "b")["result"] == "equal"


def test_more_steps_are_tasks_of_one_side_only(tg):
    record(tg, "a", "--case", "none", "--set", "steps=6")
    record(tg, "b", "--case", "none")
    document = diff(tg, "a", "b", code=1)
    assert document["result"] == "differs" and document["matched_by"] == "dataflow"
    assert len(document["tasks"]["only_a"]) == 2 and document["tasks"]["only_b"] == []
    suspects = document["blame"]["suspects"]
    assert [(s["guilt"], s["task_a"], s["given_a"]["value"], s["given_b"]["value"])
            for s in suspects] == [("scalar", None, "6", "4")]
    text = tg("diff", "a", "b").stdout
    assert "2 tasks only in A" in text and "the orchestration was given another scalar" in text


def test_fail_fast_stops_at_the_first_difference(pair):
    document = diff(pair, "wrong", "right", "--fail-fast", code=1)
    assert [p["verdict"] for p in document["pairs"]] == ["unknown", "differs"] and document["stopped"] and document["blame"] is None
    assert "stopped at the first difference" in pair("diff", "wrong", "right", "--fail-fast").stdout


def test_a_limit_says_what_it_leaves_out(pair):
    text = pair("diff", "wrong", "right", "--limit", "2").stdout
    assert text.count("  records ") == 2 and "and 3 more; --all shows them" in text
    assert len(diff(pair, "wrong", "right", "--limit", "2", code=1)["pairs"]) == 2


def test_all_has_what_is_equal_too(pair):
    assert len(diff(pair, "wrong", "right", "--all", code=1)["pairs"]) == 18


@pytest.mark.parametrize("filters, count, code", [
    (["--task", "0-1"], 6, 0), (["--task", "2"], 3, 1), (["--stage", "before"], 10, 1),
    (["--kernel", "join"], 3, 1), (["--role", "out"], 6, 1), (["--kind", "scalar"], 5, 0),
    (["--arg", "0"], 6, 1), (["--index", "1-5"], 5, 0), (["--kernel", "step", "--arg", "1"], 4, 1)])
def test_filters_say_what_is_compared(pair, filters, count, code):
    document = diff(pair, "wrong", "right", *filters, "--all", code=code)
    assert len(document["pairs"]) == count == sum(document["counts"].values())


# --- edges ---------------------------------------------------------------------------------------


def forget_edge(directory, task):
    """Takes all edges of a task out of a deps.json."""
    deps = json.loads((directory / "deps.json").read_text())
    deps["tasks"][task]["after"] = deps["tasks"][task]["kind"] = []
    (directory / "deps.json").write_text(json.dumps(deps))


def test_an_edge_of_one_side_is_listed_and_a_race_by_luck_is_a_warning(tg):
    record(tg, "a", "--case", "none")
    shutil.copytree(tg.directory / "a", tg.directory / "b")
    assert diff(tg, "a", "b")["edges"] == \
        {"compared": True, "reason": None, "only_a": [], "only_b": []}
    forget_edge(tg.directory / "a", 2)
    document = diff(tg, "a", "b")
    assert document["result"] == "equal" and document["blame"] is None
    assert document["edges"]["only_a"] == []
    assert document["edges"]["only_b"] == \
        [{"before_a": "0x0000000000000001", "before_b": "0x0000000000000001",
          "after_a": "0x0000000000000002", "after_b": "0x0000000000000002", "race": True}]
    text = tg.good("diff", "a", "b").stdout
    assert "1 edge only in B: 1 step > 2 step" in text
    assert "in A tasks 1 step and 2 step use the same bytes in no order" in text


def test_an_edge_that_others_imply_is_no_race(tg):
    record(tg, "a", "--case", "none")
    shutil.copytree(tg.directory / "a", tg.directory / "b")
    deps = json.loads((tg.directory / "b" / "deps.json").read_text())
    deps["tasks"][2]["after"].append(deps["tasks"][0]["task_id"])
    deps["tasks"][2]["kind"].append("explicit")
    (tg.directory / "b" / "deps.json").write_text(json.dumps(deps))
    edges = diff(tg, "a", "b")["edges"]["only_b"]
    assert [edge["race"] for edge in edges] == [False]
    assert "warning" not in tg.good("diff", "a", "b").stdout


def test_edges_of_different_runtimes_are_not_compared(tg):
    record(tg, "a", "--case", "none", "--runtime", RUNTIMES[0])
    record(tg, "b", "--case", "none", "--runtime", RUNTIMES[2])
    edges = diff(tg, "a", "b")["edges"]
    assert not edges["compared"] and "runtimes differ" in edges["reason"]


# --- incomplete recordings -----------------------------------------------------------------------


def test_a_recording_without_an_end_is_never_equal(tg):
    record(tg, "a", "--case", "none")
    shutil.copytree(tg.directory / "a", tg.directory / "b")
    journal = tg.directory / "b" / "tensor_dump" / "tensor_dump.rec"
    journal.write_bytes(journal.read_bytes()[:-256])
    assert diff(tg, "a", "b", code=0)["result"] == "equal"  # the manifest has the end
    journal.with_name("tensor_dump.json").unlink()
    document = diff(tg, "a", "b", code=1)
    assert document["result"] == "incomplete" and document["gaps"] == ["incomplete_b"]
    assert document["counts"] == {"same": 18, "close": 0, "differs": 0, "unknown": 0}
    assert "B has no end" in tg("diff", "a", "b").stdout


def test_a_damaged_record_is_never_equal(tg):
    record(tg, "a", "--case", "none")
    shutil.copytree(tg.directory / "a", tg.directory / "b")
    journal = tg.directory / "a" / "tensor_dump" / "tensor_dump.rec"
    data = bytearray(journal.read_bytes())
    data[-512] ^= 1  # the last record before the summary
    journal.write_bytes(data)
    assert diff(tg, "a", "b", code=0)["result"] == "equal"  # the manifest has the record
    journal.with_name("tensor_dump.json").unlink()
    document = diff(tg, "a", "b", code=1)
    assert document["result"] == "incomplete" and document["gaps"] == ["damaged_a"]
    assert document["reasons"]["only_b"] == 1


def test_a_recording_with_losses_is_never_equal(tg, tmp_path):
    ones = numpy.ones(4, "f4")
    tensors(tmp_path, "a", ones).write(lost={"full": 7})
    tensors(tmp_path, "b", ones).write()
    document = diff(tg, "a", "b", code=1)
    assert document["result"] == "incomplete" and document["gaps"] == ["lost_a"]


def test_what_is_cut_off_is_never_equal_but_may_differ(tg, tmp_path):
    values = numpy.arange(8, dtype="f4")
    tensors(tmp_path, "whole", values).write()
    tensors(tmp_path, "cut", values[:4], shape=[8], truncated=True).write()
    other = values.copy()
    other[1] = 77
    tensors(tmp_path, "other", other[:4], shape=[8], truncated=True).write()
    pair = diff(tg, "whole", "cut", code=1)["pairs"][0]
    assert (pair["verdict"], pair["reason"], pair["values"]["elements"]) == ("unknown", "cut", 4)
    pair = diff(tg, "whole", "other", code=1)["pairs"][0]
    assert (pair["verdict"], pair["values"]["cut"]) == ("differs", True)
    assert pair["values"]["first"] == [{"at": [1], "a": 1.0, "b": 77.0}]


def test_what_was_overwritten_is_never_equal(tg, tmp_path):
    tensors(tmp_path, "a", numpy.ones(4, "f4")).write()
    gone = Recording(tmp_path / "b")
    gone.add(shape=[4], strides=[1], overwritten=True, role="output", stage="after_completion")
    gone.write()
    document = diff(tg, "a", "b", code=2)
    assert document["pairs"][0]["reason"] == "not_stored" and document["result"] == "not known"


def test_a_killed_run_is_compared_as_far_as_it_came(tg):
    record(tg, "a", "--case", "none")
    shutil.copytree(tg.directory / "a", tg.directory / "b")
    folder = tg.directory / "b" / "tensor_dump"
    (folder / "tensor_dump.json").unlink()
    (tg.directory / "b" / "deps.json").unlink()
    journal = folder / "tensor_dump.rec"
    journal.write_bytes(journal.read_bytes()[:-128 * 5 - 100])
    document = diff(tg, "a", "b", code=1)
    assert document["result"] == "incomplete" and document["matched_by"] == "id"
    assert document["gaps"] == ["incomplete_b", "tasks_b"]


# --- values against NumPy -------------------------------------------------------------------------


def numbers(dtype, array):
    """Arrays of bits as float64."""
    if dtype in SHORT and dtype != "float16":
        return wire_reader.decode(dtype, array).astype("f8")
    return array.astype("f8")


@pytest.mark.parametrize("dtype", [name for name in TYPES if name != "bool"])
def test_the_numbers_are_those_that_numpy_gives(tg, tmp_path, dtype):
    random = numpy.random.default_rng(1)
    a = random_bits(dtype, (60, 70), seed=1)
    b = a.copy()
    chosen = random.random(a.shape) < 0.05
    b[chosen] = random_bits(dtype, (60, 70), seed=2)[chosen]
    pair = compare(tg, tmp_path, a, b, "--equal-nan", dtype=dtype)
    with numpy.errstate(all="ignore"):
        x, y = numbers(dtype, a), numbers(dtype, b)
        finite = numpy.isfinite(x) & numpy.isfinite(y)
        close = numpy.isclose(x, y, rtol=pair["rtol"], atol=pair["atol"], equal_nan=True)
        error = numpy.where(finite, abs(x - y), 0)
        relative = numpy.where(finite & (y != 0), error / abs(y), 0)
        p, q = numpy.where(finite, x, 0), numpy.where(finite, y, 0)
        cosine = (p * q).sum() / numpy.sqrt((p * p).sum() * (q * q).sum())
        sqnr = 10 * numpy.log10((q * q).sum() / ((p - q) ** 2).sum())
    values = pair["values"]
    assert values["elements"] == a.size and values["mismatches"] == (~close).sum()
    assert values["share"] == pytest.approx((~close).mean())
    assert values["nan"] == [numpy.isnan(x).sum(), numpy.isnan(y).sum()]
    assert values["inf"] == [numpy.isinf(x).sum(), numpy.isinf(y).sum()]
    assert values["special_mismatches"] == (~close & ~finite).sum()
    assert values["max_abs"]["value"] == pytest.approx(error.max(), rel=1e-15)
    assert values["max_rel"]["value"] == pytest.approx(relative.max(), rel=1e-15)
    assert values["max_abs"]["at"] == list(numpy.unravel_index(error.argmax(), a.shape))
    if numpy.isfinite(cosine):
        assert values["cosine"] == pytest.approx(cosine, rel=1e-9)
        assert values["sqnr_db"] == pytest.approx(sqnr, rel=1e-9)
    places = [list(place) for place in numpy.argwhere(~close)[:10]]
    assert [mismatch["at"] for mismatch in values["first"]] == places


@pytest.mark.parametrize("dtype, bits", [("float16", "i2"), ("float32", "i4"), ("float64", "i8")])
def test_ulp_distances_are_those_that_numpy_gives(tg, tmp_path, dtype, bits):
    a = random_bits(dtype, (500,), seed=3)
    b = a.copy()
    b[7] = numpy.nextafter(numpy.nextafter(a[7], a.dtype.type(9)), a.dtype.type(9))
    b[9] = -a[9]
    pair = compare(tg, tmp_path, a, b, "--rtol", "0", "--atol", "0", dtype=dtype)
    magnitude = abs(a).view(bits).astype("u8")
    assert int(pair["values"]["max_ulp"]["value"]) == 2 * int(magnitude[9])
    b[9] = a[9]
    pair = compare(tg, tmp_path, a, b, "--rtol", "0", "--atol", "0", dtype=dtype)
    assert int(pair["values"]["max_ulp"]["value"]) == 2
    assert isinstance(pair["values"]["max_ulp"]["value"], str) == (dtype == "float64")


def test_integers_are_exact_and_have_no_ulp(tg, tmp_path):
    a, b = numpy.int64([2 ** 62, 5]), numpy.int64([2 ** 62 + 1, 5])
    pair = compare(tg, tmp_path, a, b, "--rtol", "1", dtype="int64")
    assert pair["values"]["mismatches"] == 1 and pair["values"]["max_ulp"] is None
    assert pair["values"]["first"] == [{"at": [0], "a": str(2 ** 62), "b": str(2 ** 62 + 1)}]
    compare(tg, tmp_path, a, b, "--atol", "dtype=int*:1", dtype="int64", code=0)


def test_scalars_are_compared_too(tg, tmp_path):
    for name, value in (("a", 1.5), ("b", 1.75)):
        recording = Recording(tmp_path / name)
        recording.add_scalar("float32", value)
        recording.add_scalar("int64", "9007199254740993")
        recording.write()
    pairs = diff(tg, "a", "b", code=1)["pairs"]
    assert len(pairs) == 1 and pairs[0]["kind"] == "scalar"
    assert pairs[0]["values"]["max_abs"] == {"value": 0.25, "at": [], "a": 1.5, "b": 1.75}
    assert "max abs     0.25 at 1.5, 1.75" in tg("diff", "a", "b").stdout


def test_another_shape_or_dtype_is_a_difference(tg, tmp_path):
    pair = compare(tg, tmp_path, numpy.ones((2, 3), "f4"), numpy.ones((3, 2), "f4"))
    assert (pair["reason"], pair["shape"], pair["shape_b"]) == ("shape", [2, 3], [3, 2])
    assert "float32 (2, 3) in A, float32 (3, 2) in B" in tg("diff", "a", "b").stdout
    tensors(tmp_path, "c", numpy.ones((2, 3), "i4"), dtype="int32").write()
    assert diff(tg, "a", "c", code=1)["pairs"][0]["reason"] == "dtype"


def test_nan_of_other_bits_is_equal_only_when_asked(tg, tmp_path):
    a = numpy.uint32([0x7fc00000, 0x3f800000]).view("f4")
    b = numpy.uint32([0xffc00000, 0x3f800000]).view("f4")
    values = compare(tg, tmp_path, a, b)["values"]
    assert (values["mismatches"], values["special_mismatches"], values["nan"]) == (1, 1, [1, 1])
    compare(tg, tmp_path, a, b, "--equal-nan", code=0)
    compare(tg, tmp_path, a, a, code=0)


@pytest.mark.parametrize("options, code", [
    ([], 1), (["--rtol", "0.2"], 0), (["--atol", "0.2"], 0), (["--rtol", "kernel=add:0.2"], 0),
    (["--rtol", "kernel=mul:0.2"], 1), (["--rtol", "arg=0:0.2"], 0), (["--rtol", "arg=1-3:0.2"], 1),
    (["--rtol", "kernel=a*,arg=0:0.2"], 0), (["--rtol", "kernel=add:0", "--rtol", "0.2"], 1),
    (["--rtol", "dtype=float32:0.2"], 0), (["--rtol=0.2", "--rtol=1e-9"], 1)])
def test_tolerances_are_global_or_for_some(tg, tmp_path, options, code):
    compare(tg, tmp_path, numpy.float32([1.1]), numpy.float32([1]), *options, code=code)


# --- recordings of others, and no recordings -----------------------------------------------------


@pytest.mark.parametrize("name", PEER_RECORDINGS)
def test_a_recording_of_the_other_implementation_equals_itself_as_far_as_it_goes(tg, name):
    document = diff(tg, peer(name), peer(name), "--all", code=1 if name == "tmr_level3" else 0)
    assert document["result"] == ("incomplete" if name == "tmr_level3" else "equal")
    assert {pair["verdict"] for pair in document["pairs"]} <= {"same", "unknown"}


def test_two_runtimes_of_the_other_implementation_match(tg):
    """Everything is equal, except a tensor in which one run found another run's numbers."""
    document = diff(tg, peer("hbg_level2"), peer("tmr_level2"), code=1)
    assert document["matched_by"] == "dataflow" and document["tasks"]["matched"] == 13
    assert document["counts"] == {"same": 26, "close": 0, "differs": 2, "unknown": 0}
    assert [(suspect["guilt"], suspect["task_a"]) for suspect in document["blame"]["suspects"]] == \
        [("given", "0x0000000000000003")]


def test_a_manifest_without_its_payload_is_not_known_to_agree(tg):
    folder = peer("truncated_manifest_only")
    assert diff(tg, folder, folder, code=2)["result"] == "not known"


def test_ours_against_theirs_goes_by_the_numbers_of_kernels(tg, tmp_path):
    tensors(tmp_path, "ours", numpy.ones(3, "f4")).write()
    theirs = tensors(tmp_path, "theirs", numpy.ones(3, "f4"))
    for entry in theirs.entries:
        del entry["kernel"]
    theirs.write()
    assert diff(tg, "ours", "theirs")["tasks"]["matched"] == 1


BAD = [
    ([], "diff takes two recordings: taskglass diff A B"),
    (["a"], "diff takes two recordings: taskglass diff A B"),
    (["a", "a", "a"], "'a' is one too many"),
    (["a", "nowhere"], "there is no 'nowhere'"),
    (["a", "a", "--rtol", "x"], "--rtol: 'x': a tolerance is a number that is not negative"),
    (["a", "a", "--atol", "-1"], "--atol: '-1': a tolerance is a number"),
    (["a", "a", "--atol", "size=3:1"], "the keys are kernel, arg and dtype"),
    (["a", "a", "--task", "77"], "nothing to compare: no record matches"),
    (["a", "a", "--limit", "x"], "--limit needs a whole number"),
    (["a", "a", "--all", "--limit", "1"], "contradict"),
    (["a", "a", "--blame", "--fail-fast"], "--blame needs all differences"),
    (["a", "a", "--rtoll", "1"], "did you mean --rtol?"),
]


@pytest.mark.parametrize("arguments, why", BAD)
def test_what_makes_no_sense_is_one_line(tg, tmp_path, arguments, why):
    tensors(tmp_path, "a", numpy.ones(3, "f4")).write()
    result = tg("diff", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert one_line(result.stderr) and why in result.stderr


@pytest.mark.parametrize("data", [b"", b"{", b"\0" * 300, b"tgtrec01", b"tgtrec01" + b"\0" * 500])
def test_what_is_no_recording_is_one_line(tg, tmp_path, data):
    tensors(tmp_path, "a", numpy.ones(3, "f4")).write()
    (tmp_path / "b" / "tensor_dump").mkdir(parents=True)
    (tmp_path / "b" / "tensor_dump" / "tensor_dump.rec").write_bytes(data)
    result = tg("diff", "a", "b")
    assert (result.returncode, result.stdout) == (2, "") and one_line(result.stderr)


def test_two_runs_without_tasks_are_equal(tg, tmp_path):
    for name in ("a", "b"):
        Recording(tmp_path / name).write()
    assert diff(tg, "a", "b")["result"] == "equal"
    assert "nothing was recorded" in tg.good("diff", "a", "b").stdout


def test_where_nothing_was_marked_nothing_is_known(tg):
    for name in ("a", "b"):
        record(tg, name, "--case", "none", "--dump-tensor=marked", "--dump-filter", "stage=after")
    document = diff(tg, "a", "b", code=2)
    assert document["result"] == "not known" and "marked" in document["reason"]
    result = tg("diff", "a", "b")
    assert result.returncode == 2 and "nothing to compare: level marked" in result.stderr


def test_a_filter_that_selects_nothing_gives_a_document_too(pair):
    document = diff(pair, "wrong", "right", "--kernel", "nosuch", code=2)
    assert (document["result"], document["reason"]) == ("not known", "no record matches")


@pytest.mark.parametrize("text, why", [
    ("", "line 1"), ("{}", "no tasks"), ('{"tasks": [', "line 1"), ("[1]", "wrong kind"),
    ('{"tasks": [{}]}', "a task without a task_id")])
def test_a_deps_json_that_makes_no_sense_is_named_and_left_out(pair, text, why):
    (pair.directory / "wrong" / "deps.json").write_text(text)
    document = diff(pair, "wrong", "right", code=1)
    assert why in document["deps_error"] and document["blame"]["graph"] == "deps_b"
    assert [suspect["guilt"] for suspect in document["blame"]["suspects"]] == ["introduced"]
    assert "note: " in pair("diff", "wrong", "right").stdout


def test_names_from_files_do_not_reach_the_terminal_as_they_are(tg, tmp_path):
    for name, value in (("a", 1), ("b", 2)):
        recording = Recording(tmp_path / name)
        recording.add_scalar("int8", value, kernel=["\x1b[31mred\n"])
        recording.write(run_dir="\x1b]0;title\x07")
    assert "\x1b" not in tg("diff", "a", "b").stdout


def on_terminal(tg, *arguments):
    """What the command writes to standard error if that is a terminal."""
    import subprocess
    master, slave = pty.openpty()
    with subprocess.Popen([str(PROGRAM), *arguments], cwd=tg.directory, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=slave,
                          env=clean_environment()) as process:
        os.close(slave)
        seen = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        process.wait()
    os.close(master)
    return seen.decode()


def test_nothing_is_left_on_a_terminal_and_nothing_in_a_pipe(tg, tmp_path):
    try:
        os.close(pty.openpty()[1])
    except OSError:
        pytest.skip("no terminals here")
    big = numpy.arange(1 << 22, dtype="f4")
    for name, factor in (("a", 1), ("b", 1 + 1e-7)):
        tensors(tmp_path, name, *[(big * factor).astype("f4")] * 4).write()
    seen = on_terminal(tg, "diff", "a", "b")
    assert seen == "" or seen.endswith("\r\x1b[K")
    assert tg.good("diff", "a", "b").stderr == ""
