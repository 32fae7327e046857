# SPDX-License-Identifier: Apache-2.0
"""taskglass export --to simpler: a folder as the other implementation writes it."""

import json
import pathlib
import shutil

import numpy
import pytest

from conftest import one_line
from recordings import Recording, peer, random_bits

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "peer"
RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]

# The members of its files in their order, and their types. NoneType: no payload file.
HEAD = {"run_dir": str, "bin_format": dict, "dump_args_level": int, "total_args": int,
        "before_dispatch": int, "after_completion": int, "input_args": int, "output_args": int,
        "inout_args": int, "truncated_args": int, "dropped_records": int, "dropped_overwrite": int,
        "bin_file": str, "args": list}
TENSOR = {"task_id": str, "func_id": list, "arg_index": int, "role": str, "stage": str, "kind": str,
          "dtype": str, "is_contiguous": bool, "shape": list, "strides": list, "start_offset": int,
          "numel": int, "bin_offset": int, "bin_size": int, "truncated": bool, "overwritten": bool}
DEPS = {"tasks": list, "tensors": list, "edges": list}
TASK = {"task_id": str, "scope": str, "early_dispatch": bool, "kernel_ids": list, "block_num": int,
        "args": list}
ARGUMENT = {"idx": int, "type": str, "tensor_id": str, "dtype": str, "shape": list,
            "start_offset": str, "strides": list}
BUFFER = {"tensor_id": str, "buffer_addr": str, "version": int, "dtype": str, "buffer_numel": str}
EDGE = {"pred": str, "succ": str, "arg": int, "source": str, "flags": list, "overlap": str,
        "tensor_id": str, "consumer_dtype": str, "consumer_shape": list,
        "consumer_start_offset": str, "consumer_strides": list, "producer_shape": list,
        "producer_start_offset": str, "producer_strides": list}


def members(entry):
    return {name: type(value) for name, value in entry.items()}


def is_like(entry, table):
    return list(members(entry).items()) == list(table.items())


def manifest(folder):
    return json.loads((folder / "args_dump" / "args_dump.json").read_text())


def check_manifest(document):
    assert is_like(document, HEAD), members(document)
    for entry in document["args"]:
        found = members(entry)
        if entry["kind"] == "scalar":
            names = list(found)
            assert names.index("value") == names.index("dtype") + 1
            del found["value"]
        assert list(found.items()) == list(TENSOR.items()), entry


def check_deps(document):
    assert is_like(document, DEPS)
    assert all(is_like(task, TASK) for task in document["tasks"])
    assert all(is_like(arg, ARGUMENT) for task in document["tasks"] for arg in task["args"])
    assert all(is_like(tensor, BUFFER) for tensor in document["tensors"])
    assert all(is_like(edge, EDGE) for edge in document["edges"])


def test_the_tables_are_those_of_its_own_files():
    check_manifest(manifest(peer("tmr_level2")))
    check_deps(json.loads((peer("tmr_deps_fan") / "deps.json").read_text()))


def exported(tg, run, *more):
    tg.good("export", run, "--to", "simpler", "--output", "copy", *more)
    return tg.directory / "copy"


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("workload", ["matmul_chain", "dump_tensor", "mix"])
def test_a_run_is_written_member_for_member_and_read_back_equal(tg, workload, runtime):
    tg.good("run", workload, "--runtime", runtime, "--dump-tensor", "--output", "run")
    folder = exported(tg, "run")
    check_manifest(manifest(folder))
    deps = json.loads((folder / "deps.json").read_text())
    check_deps(deps)
    ours = json.loads((tg.directory / "run" / "deps.json").read_text())["tasks"]
    assert {(edge["pred"], edge["succ"]) for edge in deps["edges"]} == {
        (str(int(before, 16)), str(int(task["task_id"], 16)))
        for task in ours for before in task["after"]}
    assert tg.json("diff", "run", "copy")["result"] == "equal"
    assert tg.json("verify", "copy")["good"]


@pytest.mark.parametrize("name", ["tmr_level1", "tmr_level2", "tmr_level3", "hbg_level2"])
def test_its_own_recording_is_written_as_it_was(tg, name):
    """Apart from the places in the payload file, and the digits that it rounds away."""
    folder = exported(tg, peer(name))
    got, want = manifest(folder), manifest(peer(name))
    for entry in [*got["args"], *want["args"]]:
        entry.pop("bin_offset")
    assert got == want


@pytest.mark.parametrize("name", ["tmr_deps_fan", "tmr_deps_war"])
def test_its_own_edges_are_written_as_they_were(tg, name):
    folder = exported(tg, peer(name))
    assert manifest(folder)["bin_file"] is None and manifest(folder)["dump_args_level"] == 3
    assert not (folder / "args_dump" / "args.bin").exists()
    got = json.loads((folder / "deps.json").read_text())
    want = json.loads((peer(name) / "deps.json").read_text())

    def without_ids(document):
        address = {tensor["tensor_id"]: tensor["buffer_addr"] for tensor in document["tensors"]}
        for row in [*document["edges"], *(arg for task in document["tasks"] for arg in task["args"])]:
            row["tensor_id"] = address[row["tensor_id"]]
        edges = sorted(json.dumps(edge) for edge in document["edges"])
        return document["tasks"], edges, sorted(address.values())

    assert without_ids(got) == without_ids(want)


def test_payloads_lie_where_the_manifest_says(tg):
    tg.good("run", "dump_tensor", "--dump-tensor", "--output", "run")
    folder = exported(tg, "run")
    payload = (folder / "args_dump" / "args.bin").read_bytes()
    entries = manifest(folder)["args"]
    assert sum(entry["bin_size"] for entry in entries) == len(payload)
    arrays = 0
    for index, entry in enumerate(entries):
        if entry["dtype"] != "FLOAT32" or entry["kind"] == "scalar" or not entry["bin_size"]:
            continue
        bytes_of_it = payload[entry["bin_offset"]:entry["bin_offset"] + entry["bin_size"]]
        values = tg.json("view", "run", "--index", index)["records"][0]["values"]
        assert numpy.frombuffer(bytes_of_it, "<f4").tolist() == numpy.float32(values).tolist()
        arrays += 1
    assert arrays > 3


VALUES = [("float32", 0x3fc00000, 1.5), ("float32", 0x7fc00000, None), ("float32", 0xff800000, "-$Inf"),
          ("float32", 0x3dcccccd, 0.1), ("int64", 2**64 - 42, -42), ("uint64", 2**64 - 1, 2**64 - 1),
          ("bool", 1, True), ("int32", 2**32 - 1, -1), ("bfloat16", 0x3f80, 0x3f80),
          ("float16", 0xbc00, 0xbc00), ("int8", 0xfb, 0xfb), ("float64", 0x3ff0000000000000, 1.0)]


@pytest.mark.parametrize("dtype, bits, value", VALUES)
def test_scalars_are_written_as_it_writes_them(tg, tmp_path, dtype, bits, value):
    recording = Recording(tmp_path / "run")
    recording.add(kind="scalar", dtype=dtype, raw=f"0x{bits:016x}")
    recording.write()
    entry, = manifest(exported(tg, "run"))["args"]
    assert entry["value"] == value and type(entry["value"]) is type(value)
    assert tg.json("view", "copy")["records"][0]["raw"] == f"0x{bits:016x}"


def test_unknown_scalars_stay_unknown(tg):
    exported(tg, GOLDEN / "unified")
    before, after = (tg.json("view", path)["records"] for path in (GOLDEN / "unified", "copy"))
    for one, other in zip(before, after):
        for key in ("task_id", "arg_index", "kind", "dtype", "shape", "strides", "stage", "role"):
            assert one[key] == other[key]
        assert (one.get("value"), one.get("raw")) == (other.get("value"), other.get("raw"))


@pytest.mark.parametrize("form", ["first_form", "offsets", "meta"])
def test_its_older_forms_become_its_present_one(tg, form):
    exported(tg, GOLDEN / form)
    before, after = (tg.json("view", path)["records"] for path in (GOLDEN / form, "copy"))
    for entry in [*before, *after]:
        entry.pop("data_ptr")  # only deps.json has addresses
    assert before == after


def test_a_run_without_deps_gets_none(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    (tg.directory / "run" / "deps.json").unlink()
    result = tg("export", "run", "--to", "simpler", "--output", "copy")
    assert result.returncode == 0 and "no deps.json" in result.stdout
    assert not (tg.directory / "copy" / "deps.json").exists()


def test_filters_select_records(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    folder = exported(tg, "run", "--stage", "before", "--limit", "5")
    document = manifest(folder)
    assert document["total_args"] == document["before_dispatch"] == len(document["args"]) == 5


def test_unfinished_outputs_are_left_out_because_the_format_cannot_mark_them(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("float32", random_bits("float32", (3,)))
    recording.add_tensor("float32", random_bits("float32", (3,)), partial=True)
    recording.write()
    result = tg("export", "run", "--to", "simpler", "--output", "copy")
    assert result.returncode == 0 and "left out 1 record of a task that had not finished" in \
        result.stderr
    assert len(manifest(tmp_path / "copy")["args"]) == 1


def test_an_existing_folder_is_replaced_only_with_force(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    exported(tg, "run")
    again = tg("export", "run", "--to", "simpler", "--output", "copy")
    assert again.returncode == 2 and one_line(again.stderr) and "--force" in again.stderr
    tg.good("export", "run", "--to", "simpler", "--output", "copy", "--force")


@pytest.mark.parametrize("target", ["run", "run/tensor_dump", "-"])
def test_the_run_itself_and_standard_output_are_refused(tg, target):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    before = (tg.directory / "run" / "deps.json").read_bytes()
    result = tg("export", "run", "--to", "simpler", "--output", target, "--force")
    assert result.returncode == 2 and one_line(result.stderr)
    assert (tg.directory / "run" / "deps.json").read_bytes() == before
    assert not (tg.directory / "run" / "args_dump").exists()


def test_an_export_that_fails_leaves_nothing(tg):
    shutil.copytree(GOLDEN / "meta", tg.directory / "run")
    (tg.directory / "run" / "deps.json").write_text('{"tasks": [1]}')
    result = tg("export", "run", "--to", "simpler", "--output", "copy")
    assert result.returncode == 2 and one_line(result.stderr)
    assert not (tg.directory / "copy").exists()


def test_the_ending_of_the_folder_names_the_format(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    tg.good("export", "run", "--output", "x.simpler")
    assert (tg.directory / "x.simpler" / "args_dump" / "args_dump.json").exists()
