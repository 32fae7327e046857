# SPDX-License-Identifier: Apache-2.0
"""taskglass replay runs recorded tasks again, one at a time; taskglass check compares them with
their references."""

import json
import shutil
import subprocess

import pytest

from conftest import PLATFORMS, TIMEOUT, workload
from forge import forge, is_output, put_nan
from platforms import few

RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]


def record(tg, workload, *options):
    tg.good("run", workload, "--dump-tensor", "--output", "out", *options)
    return "out"


def tasks(tg):
    document = json.loads((tg.directory / "out" / "deps.json").read_text())
    return [task["task_id"] for task in document["tasks"]]


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_recorded_task_gives_the_same_again_alone(tg, runtime, platform):
    record(tg, "matmul_chain", "--runtime", runtime)
    task = tasks(tg)[5]
    result = tg.json("replay", "out", "--task", task, "--platform", platform, "--repeat", 3)
    assert result["same"] and result["deterministic"] and result["runs"] == 3
    assert all(output["recorded"] and output["mismatches"] == 0 for output in result["outputs"])


@pytest.mark.parametrize("workload", ["views", "mix", "dtypes", "dump_tensor", "stencil"])
def test_every_kind_of_argument_can_be_replayed(tg, workload):
    record(tg, workload)
    for task in few(tasks(tg)[:12], 3):
        assert tg.json("replay", "out", "--task", task)["same"], task


def test_a_bundle_builds_by_itself_and_agrees(tg):
    if not shutil.which("cmake") or not shutil.which("cc"):
        pytest.skip("no cmake or compiler here")
    record(tg, "mix")
    tg.good("replay", "out", "--task", tasks(tg)[0], "--bundle", "bundle")
    folder = tg.directory / "bundle"
    if b"__asan_init" in (folder / "workload.so").read_bytes():
        pytest.skip("the module needs the runtime of a sanitizer, which the bundle has not")
    for command in (["cmake", "-B", "build"], ["cmake", "--build", "build"]):
        subprocess.run(command, cwd=folder, check=True, timeout=TIMEOUT, stdout=subprocess.DEVNULL)
    done = subprocess.run(["build/replay"], cwd=folder, timeout=TIMEOUT, stdout=subprocess.PIPE,
                          text=True)
    assert done.returncode == 0 and "as recorded" in done.stdout
    expected = next((folder / "data").glob("arg*.expected.bin"))
    spoilt = bytearray(expected.read_bytes())
    spoilt[0] ^= 1
    expected.write_bytes(spoilt)
    assert subprocess.run(["build/replay"], cwd=folder, timeout=TIMEOUT,
                          stdout=subprocess.DEVNULL).returncode == 1


def test_a_bundle_never_overwrites(tg):
    record(tg, "vector_add")
    (tg.directory / "there").mkdir()
    result = tg("replay", "out", "--task", 0, "--bundle", "there")
    assert result.returncode == 2 and "there" in result.stderr


def spoil_payload(tg, task, stage):
    """Changes the recorded content of one output, as a wrong kernel would."""
    def change(payload, entry):
        payload[entry["bin_offset"] + 3] ^= 0x40  # the exponent of a little-endian float32

    forge(tg.directory / "out/tensor_dump", lambda entry: entry["task_id"] == task
          and entry["stage"] == stage and entry["kind"] == "tensor", change)


def test_a_task_that_recorded_something_else_differs(tg):
    record(tg, "matmul_chain")
    spoil_payload(tg, tasks(tg)[3], "after_completion")
    result = tg("replay", "out", "--task", tasks(tg)[3])
    assert result.returncode == 1 and "DIFFERS" in result.stdout


def test_check_agrees_with_a_good_run(tg):
    record(tg, "matmul_chain", "--case", "ragged")
    result = tg.json("check", "out")
    assert result["wrong"] == [] and result["good"] == result["tasks"] > 0


def test_check_names_the_one_wrong_task(tg):
    record(tg, "matmul_chain", "--runtime", "tensormap_and_ringbuffer")
    guilty = tasks(tg)[7]
    spoil_payload(tg, guilty, "after_completion")
    result = tg("check", "out", "--json")
    assert result.returncode == 1
    assert [task["task_id"] for task in json.loads(result.stdout)["wrong"]] == [guilty]


def not_known(tg, *more):
    """The document of a check that could judge nothing."""
    result = tg("check", "out", *more)
    assert result.returncode == 2 and result.stderr.startswith("taskglass: not known: ")
    assert len(result.stderr.splitlines()) == 1
    result = tg("check", "out", "--json", *more)
    document = json.loads(result.stdout)
    assert result.returncode == 2 and document["result"] == "not known"
    assert document["reason"] in result.stderr
    assert document["good"] == 0 and document["wrong"] == [] == document["failed"]
    return document


def test_check_counts_kernels_without_a_reference(tg):
    record(tg, "vector_add")
    result = not_known(tg)
    assert result["without_reference"] == result["tasks"] > 0
    assert "reference" in result["reason"]


@pytest.mark.parametrize("level", ["meta", "hash", "hybrid"])
def test_check_does_not_know_without_the_contents(tg, level):
    tg.good("run", "matmul_chain", f"--dump-tensor={level}", "--output", "out")
    result = not_known(tg)
    assert result["incomplete"] == result["tasks"] > 0
    assert "--dump-tensor=full" in result["reason"]


@pytest.mark.parametrize("level", ["meta", "hash", "full"])
def test_a_task_whose_outputs_are_empty_does_not_agree(tg, level):
    tg.good("run", workload("unwritten"), "--case", "no_elements", f"--dump-tensor={level}",
            "--output", "out")
    result = not_known(tg) if level != "full" else tg.json("check", "out")
    assert result["empty"] == 1 and result["good"] == (1 if level == "full" else 0)
    assert "1 not checked: their outputs are empty" in tg("check", "out").stdout


def test_check_does_not_know_where_nothing_was_marked(tg):
    tg.good("run", "matmul_chain", "--dump-tensor=marked", "--output", "out")
    assert "marked" in not_known(tg)["reason"]


@pytest.mark.parametrize("wanted", ["stage=before", "role=in", "arg=0", "arg=1-2", "role=out"])
def test_check_compares_no_task_whose_arguments_were_filtered_out(tg, wanted):
    tg.good("run", "matmul_chain", "--dump-tensor", "--dump-filter", wanted, "--output", "out")
    result = not_known(tg)
    assert result["incomplete"] == result["tasks"] > 0


def test_check_says_how_many_tasks_it_could_not_check(tg):
    tg.good("run", "matmul_chain", "--dump-tensor", "--dump-filter",
            "kernel=tile_product;kernel=tile_bias_relu,stage=before", "--output", "out")
    result = tg.json("check", "out")
    assert result["result"] == "good" and result["good"] == 8 and result["incomplete"] == 4
    kernels = {kernel["kernel"]: kernel for kernel in result["kernels"]}
    assert kernels["tile_product"]["good"] == 8 and kernels["tile_bias_relu"]["incomplete"] == 4
    text = tg.good("check", "out").stdout
    assert "8 agree with their reference, 0 wrong, 4 not checked: not recorded in full, or damaged" in text


def test_check_of_a_run_without_tasks_finds_nothing(tg):
    tg.good("run", workload("graphs"), "--case", "empty", "--dump-tensor", "--output", "out")
    assert tg.good("check", "out").stdout == "nothing recorded, nothing found\n"
    result = tg.json("check", "out")
    assert (result["result"], result["tasks"]) == ("good", 0)


def test_check_sums_up_by_kernel_with_the_largest_errors(tg):
    record(tg, "matmul_chain")
    kernels = {kernel["kernel"]: kernel for kernel in tg.json("check", "out")["kernels"]}
    assert sorted(kernels) == ["tile_accumulate", "tile_bias_relu", "tile_product"]
    assert kernels["tile_product"]["tasks"] == kernels["tile_product"]["good"] == 8
    assert kernels["tile_bias_relu"]["max_ulp"] == 0 == kernels["tile_bias_relu"]["max_error"]
    assert kernels["tile_product"]["max_ulp"] > 0 and kernels["tile_product"]["max_relative"] > 0
    lines = tg.good("check", "out").stdout.splitlines()
    assert lines[0].split() == ["kernel", "checked", "wrong", "failed", "not", "checked", "max", "ulp",
                                "max", "relative"]
    assert lines[1].split()[:5] == ["tile_product", "8", "0", "0", "0"]
    assert max(map(len, lines)) <= 80


def test_a_nan_against_a_number_has_no_distance(tg):
    record(tg, "matmul_chain")
    forge(tg.directory / "out/tensor_dump", is_output, put_nan)
    result = json.loads(tg("check", "out", "--json").stdout)
    assert [kernel["max_ulp"] for kernel in result["kernels"] if kernel["wrong"]] == ["nan"]


@pytest.mark.parametrize("arguments,named", [
    (["replay", "out"], "--task"),
    (["replay", "out", "--task", "99999"], "no task 99999"),
    (["replay", "out", "--task", "0-3"], "more than one"),
    (["replay", "out", "--task", "0", "--repeat", "0"], "--repeat"),
    (["replay", "out", "--task", "0", "--module", "nowhere.so"], "nowhere.so"),
    (["check", "out", "--module", "nowhere.so"], "nowhere.so"),
    (["check", "nowhere"], "nowhere"),
    (["check", "out", "--atol", "1"], "--against"),
    (["check", "out", "--rtol", "0"], "--against"),
    *[(["check", "out", "--against", "golden.npy", f"--{name}={value}"], f"--{name}: '{value}'")
      for name in ("atol", "rtol")
      for value in ("inf", "nan", "INFINITY", "1e999", "-1", "-0", "0x10", "+1", " 1", "", "1e", ".", "e")],
])
def test_nonsense_gets_one_line_and_exit_2(tg, arguments, named):
    record(tg, "vector_add")
    result = tg(*arguments)
    assert result.returncode == 2 and named in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_recording_without_payloads_says_what_would_help(tg):
    tg.good("run", "vector_add", "--dump-tensor=hash", "--output", "out")
    result = tg("replay", "out", "--task", 0)
    assert result.returncode == 2 and "--dump-tensor=full" in result.stderr


def exported(tg, *filters):
    """A recorded tensor as NumPy has it."""
    import numpy
    tg.good("view", "out", *filters, "--export", "npz", "--out", "golden.npz")
    with numpy.load(tg.directory / "golden.npz") as archive:
        return {name: archive[name] for name in archive.files}


def test_check_against_an_npz_of_numpy(tg):
    numpy = pytest.importorskip("numpy")
    record(tg, "matmul_chain")
    arrays = exported(tg, "--stage", "after")
    numpy.savez(tg.directory / "golden.npz", **arrays)
    assert tg("check", "out", "--against", "golden.npz").returncode == 0
    name = sorted(arrays)[0]
    arrays[name] = arrays[name] + 1
    numpy.savez(tg.directory / "golden.npz", **arrays)
    result = tg("check", "out", "--against", "golden.npz")
    assert result.returncode == 1 and result.stdout.count("wrong") == 1


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_check_against_an_npy_of_numpy(tg, dtype, order):
    numpy = pytest.importorskip("numpy")
    record(tg, "matmul_chain")
    (golden,) = exported(tg, "--task", 3, "--stage", "after").values()
    numpy.save(tg.directory / "golden.npy", numpy.asarray(golden.astype(dtype), order=order))
    selected = ("--task", 3, "--stage", "after")
    assert tg("check", "out", "--against", "golden.npy", *selected).returncode == 0
    numpy.save(tg.directory / "golden.npy", numpy.asarray(golden.astype(dtype) + 0.5, order=order))
    assert tg("check", "out", "--against", "golden.npy", *selected).returncode == 1
    assert tg("check", "out", "--against", "golden.npy", *selected, "--atol", 1).returncode == 0
    assert tg("check", "out", "--against", "golden.npy").returncode == 2


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04", b"\x93NUMPY\x01\x00\xff\xff",
                                     b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4'}"])
def test_golden_values_that_are_none(tg, content):
    record(tg, "vector_add")
    (tg.directory / "golden.npy").write_bytes(content)
    result = tg("check", "out", "--against", "golden.npy", "--index", 2)
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1
