# SPDX-License-Identifier: Apache-2.0
"""Tasks of recordings that a stranger has changed: check leaves them out and says why, replay and bundles
refuse them with one line that names task and argument, and nothing is left behind.
tests/unit/host/recorded_task.c and tests/fuzz/task.c try many more."""

import json
import os
import shutil
import subprocess

import pytest

from conftest import TIMEOUT, Runner, one_line, workload
from forge import rewrite

pytestmark = pytest.mark.every_case

TASK = "0x0000000000000000"
TASKS = 20  # of the run, each with a reference


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    tg = Runner(tmp_path_factory.mktemp("recorded"))
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "out")
    return tg.directory / "out"


@pytest.fixture
def folder(tg, recorded):
    shutil.copytree(recorded, tg.directory / "out")
    return tg.directory / "out" / "tensor_dump"


def change(folder, changes, argument=None, entries=()):
    """Changes the records of an argument (None: of all) of the first task, and adds more records of it."""
    def apply(manifest):
        own = [entry for entry in manifest["tensors"] if entry["task_id"] == TASK]
        for entry in own:
            if argument is None or entry["arg_index"] == argument:
                entry.update(changes)
        for place, more in entries:
            manifest["tensors"].append({**own[place], **more})  # as it is after the changes
        manifest["total_tensors"] = len(manifest["tensors"])
    rewrite(folder, apply)


SCALAR = {"kind": "scalar", "dtype": "int32", "value": 1, "shape": [], "strides": [], "bin_size": 0}

# What changes in argument 0, an input of 32 × 32 float32; the words that name it.
CONTRADICTIONS = {
    "address_wraps": ({"data_ptr": "0xfffffffffffffffc"}, "leave its memory"),
    "end_wraps": ({"data_ptr": "0xfffffffffffff000"}, "leave its memory"),
    "start_before_memory": ({"start_offset": -1}, "leave its memory"),
    "start_beyond_all": ({"start_offset": 2**62}, "leave its memory"),
    "strides_beyond_all": ({"strides": [2**62, 2**62]}, "leave its memory"),
    "odd_address": ({"data_ptr": "0x0000000000010001"}, "not aligned"),
    "too_many_elements": ({"shape": [2**31, 2**31]}, "its shape is not one of a tensor"),
    "negative_dimension": ({"shape": [32, -32]}, "its shape is not one of a tensor"),
    "nine_dimensions": ({"shape": [1] * 7 + [32, 32]}, "its shape is not one of a tensor"),
    "fewer_elements_than_bytes": ({"shape": [16, 32]}, "4096 of its 2048 bytes are stored"),
    "larger_type": ({"dtype": "float64"}, "its content was not recorded"),
    "unknown_type": ({"dtype": "float31"}, "its type is unknown"),
    "unknown_stage": ({"stage": "meanwhile"}, "stage 'unknown'"),
    "orchestration": ({"stage": "orchestration"}, "stage 'orchestration'"),
    "after": ({"stage": "after_completion"}, "role 'input' contradicts stage 'after_completion'"),
    "output_before": ({"role": "output"}, "role 'output' contradicts stage 'before_dispatch'"),
    "unknown_role": ({"role": "thief"}, "its role is unknown"),
    "unknown_kind": ({"kind": "vector"}, "its kind is unknown"),
    "scalar_before_tensors": (SCALAR, "is a scalar, but a tensor comes after it"),
    "payload_too_short": ({"bin_offset": 2**40}, "its content is not in the payload file"),
    "beyond_all_arguments": ({"arg_index": 40}, "at most 32 arguments"),
    "beyond_all_tensors": ({"arg_index": 20}, "argument 20: a task has at most 16 tensors"),
    "gap": ({"arg_index": 5}, "argument 0 was not recorded"),
}


def refused(tg, words):
    """Neither a replay nor a bundle comes of the first task."""
    result = tg("replay", "out", "--task", 0)
    assert result.returncode == 2 and one_line(result.stderr), result
    assert "task 0: " in result.stderr and words in result.stderr
    result = tg("replay", "out", "--task", 0, "--bundle", "bundle", "--json")
    document = json.loads(result.stdout)
    assert (result.returncode, document["result"]) == (2, "not known") and words in document["reason"]
    assert not (tg.directory / "bundle").exists()


def not_checked(tg, words):
    """check leaves the first task out, and judges all others. Returns why."""
    result = tg.json("check", "out")
    assert (result["result"], result["good"], result["incomplete"]) == ("good", TASKS - 1, 1)
    (left,) = result["not_checked"]
    assert (left["task_id"], left["kernel"]) == (TASK, "tile_product") and words in left["why"]
    return left["why"]


def test_check_says_why_it_left_a_task_out(tg, folder):
    change(folder, {"role": "thief"}, 0)
    why = not_checked(tg, "argument 0: its role is unknown")
    assert f"  not checked task 0  tile_product  {why}\n" in tg.good("check", "out").stdout


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_task_that_contradicts_itself_is_refused(tg, folder, name):
    changes, words = CONTRADICTIONS[name]
    change(folder, changes, 0)
    not_checked(tg, words)
    refused(tg, words)


# Places in the task's records: its two inputs, its output.
TWICE = {
    "another_shape": (0, {"shape": [64, 64], "bin_size": 16384}, "disagree on its shape"),
    "another_shape_without_content": (0, {"shape": [64, 64], "bin_size": 0}, "disagree on its shape"),
    "another_address": (0, {"data_ptr": "0x0000000000010000"}, "disagree on its address"),
    "another_content": (0, {"bin_offset": 64, "hash": None}, "with different contents"),
    "another_role": (2, {"role": "inout"}, "disagree on its role"),
    "another_kernel": (0, {"kernel": ["tile_bias_relu"]}, "name different kernels"),
    "a_scalar": (0, SCALAR, "disagree on its kind"),
    "beyond_the_last": (0, {"arg_index": 33}, "at most 32 arguments"),
}


@pytest.mark.parametrize("name", TWICE)
def test_two_records_that_contradict_each_other_are_refused(tg, folder, name):
    place, changes, words = TWICE[name]
    change(folder, {}, entries=[(place, changes)])
    not_checked(tg, words)
    refused(tg, words)


def test_records_that_only_repeat_do_no_harm(tg, folder):
    change(folder, {}, entries=[(place % 3, {}) for place in range(3000)])
    assert tg.json("check", "out")["good"] == TASKS
    assert tg.json("replay", "out", "--task", 0)["same"]


def test_the_last_of_thousands_of_records_counts_like_the_first(tg, folder):
    change(folder, {}, entries=[(0, {})] * 3000 + [(0, {"shape": [1], "bin_size": 4})])
    not_checked(tg, "disagree on its shape")
    refused(tg, "disagree on its shape")


@pytest.mark.parametrize("changes,argument,words", [
    ({"dtype": "int32"}, 0, "argument 0: the kernel wants in:float32, got in:int32"),
    ({"dtype": "int8", "shape": [64, 64]}, 2, "argument 2: the kernel wants out:float32, got out:int8"),
    ({"role": "inout"}, 2, "argument 2: the kernel wants out:float32, got inout:float32"),
])
def test_a_kernel_gets_only_arguments_of_its_signature(tg, folder, changes, argument, words):
    if changes.get("role") == "inout":
        change(folder, changes, argument, [(2, {**changes, "stage": "before_dispatch"})])
    else:
        change(folder, {**changes, "strides": [64, 1]}, argument)
    not_checked(tg, words)
    result = tg("replay", "out", "--task", 0)
    assert result.returncode == 2 and one_line(result.stderr) and words in result.stderr


@pytest.mark.parametrize("argument", [1, 2])
def test_a_kernel_gets_all_arguments_of_its_signature(tg, folder, argument):
    def apply(manifest):
        manifest["tensors"] = [entry for entry in manifest["tensors"] if entry["task_id"] != TASK
                               or entry["arg_index"] < argument]
        manifest["total_tensors"] = len(manifest["tensors"])
    rewrite(folder, apply)
    not_checked(tg, f"{argument} of its 3 tensors")
    result = tg("replay", "out", "--task", 0)
    assert result.returncode == 2 and one_line(result.stderr)
    assert f"the kernel wants 3 tensors and 0 scalars, got {argument} and 0" in result.stderr


def test_more_arguments_than_the_kernel_takes_are_refused(tg, folder):
    change(folder, {}, entries=[(0, {**SCALAR, "arg_index": 3})])
    words = "the kernel wants 3 tensors and 0 scalars, got 3 and 1"
    not_checked(tg, words)
    assert words in tg("replay", "out", "--task", 0).stderr


@pytest.mark.parametrize("strides", [[2**40, 1], [2**24, 2**19], [-(2**40), 1]])
def test_views_that_span_petabytes_take_no_memory(tg, folder, strides):
    change(folder, {"strides": strides, "start_offset": 31 * 2**40 if strides[0] < 0 else 0}, 0)
    refused(tg, "bytes that a task of this recording may take")
    # A reference gets its arguments without gaps, so it can still be called.
    assert tg.json("check", "out")["good"] == TASKS


def test_a_user_can_allow_more_memory(tg, folder):
    change(folder, {"strides": [2**20, 1], "data_ptr": "0x0000000100000000"}, 0)
    refused(tg, "taskglass replay --device-memory allows more")
    assert tg.json("replay", "out", "--task", 0, "--device-memory", "1G")["same"]


def test_holes_of_terabytes_are_neither_read_nor_copied(tg, folder):
    os.truncate(folder / "tensor_dump.bin", 2**43)
    giant = {"shape": [2**39], "strides": [1], "bin_offset": 2**40, "bin_size": 2**41, "hash": "0x01"}
    change(folder, giant, 0)
    words = f"argument 0: with it the arguments take at least {2**41} bytes"
    not_checked(tg, words)
    refused(tg, words)


def test_arguments_without_an_address_are_checked_but_not_replayed(tg, folder):
    change(folder, {"data_ptr": "0x0000000000000000"})
    assert tg.json("check", "out")["good"] == TASKS
    refused(tg, "argument 0: its address was not recorded")


def test_arguments_at_one_place_with_two_contents_are_not_replayed(tg, folder):
    change(folder, {"data_ptr": "0x0000000000010000", "strides": [32, 1]})
    refused(tg, "elements that share memory were recorded with different contents")


@pytest.mark.parametrize("kernel", ["tile-product", "1tile", "while", 'x"; int y; /*', "a\nb", "x" * 101,
                                    "tile.product", "é"])
def test_only_identifiers_become_source(tg, folder, kernel):
    change(folder, {"kernel": [kernel]})
    result = tg("replay", "out", "--task", 0, "--bundle", "bundle")
    assert result.returncode == 2 and one_line(result.stderr)
    assert "is no identifier of C" in result.stderr
    assert not (tg.directory / "bundle").exists()


def test_a_mix_with_a_kernel_of_unknown_name_is_not_judged(tg, folder):
    change(folder, {"func_id": [0, 1], "kernel": ["tile_product", ""]})
    refused(tg, "its kernels have no names in the recording")
    assert tg.json("check", "out")["good"] == TASKS - 1


def test_a_bundle_that_fails_leaves_nothing(tg, folder):
    result = tg("replay", "out", "--task", 0, "--bundle", "bundle", "--module", "nowhere.so")
    assert result.returncode == 2 and one_line(result.stderr)
    assert not (tg.directory / "bundle").exists()
    (tg.directory / "there").mkdir()
    (tg.directory / "there" / "main.c").write_text("mine")
    assert tg("replay", "out", "--task", 0, "--bundle", "there").returncode == 2
    assert (tg.directory / "there" / "main.c").read_text() == "mine"


def build(folder):
    """Builds a bundle and runs it."""
    if not shutil.which("cmake") or not shutil.which("cc"):
        pytest.skip("no cmake or compiler here")
    if b"__asan_init" in (folder / "workload.so").read_bytes():
        pytest.skip("the module needs the runtime of a sanitizer, which the bundle has not")
    for command in (["cmake", "-B", "build", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"],
                    ["cmake", "--build", "build"]):
        subprocess.run(command, cwd=folder, check=True, timeout=TIMEOUT, stdout=subprocess.DEVNULL)
    return subprocess.run(["build/replay"], cwd=folder, timeout=TIMEOUT, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def test_a_bundle_of_an_odd_but_legal_task_agrees(tg, folder):
    """An input lies backwards, one begins where no allocation does, and records repeat."""
    change(folder, {"strides": [-96, -1], "start_offset": 31 * 97}, 0)
    change(folder, {"data_ptr": "0x0000000000010104"}, 1, [(0, {}), (1, {})])
    tg.good("replay", "out", "--task", 0, "--bundle", "bundle")
    done = build(tg.directory / "bundle")
    assert (done.returncode, done.stdout) == (0, "argument 2: as recorded\n"), done


def test_a_bundle_calls_no_kernel_with_other_arguments(tg, folder):
    change(folder, {"dtype": "int8", "shape": [64, 64], "strides": [64, 1]}, 2)
    tg.good("replay", "out", "--task", 0, "--bundle", "bundle")
    done = build(tg.directory / "bundle")
    assert done.returncode == 2 and "no kernel tile_product that takes this task's arguments" in done.stderr


def test_a_mix_of_vector_kernels_runs_on_its_parts_without_a_journal(tg):
    """A manifest does not say which parts a mix has."""
    tg.good("run", "mix", "--dump-tensor", "--output", "out")
    (tg.directory / "out/tensor_dump/tensor_dump.rec").unlink()
    assert tg.json("replay", "out", "--task", 3)["same"]
    tg.good("replay", "out", "--task", 3, "--bundle", "bundle")
    done = build(tg.directory / "bundle")
    assert done.returncode == 0 and "as recorded" in done.stdout, done


def test_a_task_with_elements_of_four_bits_can_be_replayed(tg):
    tg.good("run", workload("unwritten"), "--case", "types", "--dump-tensor", "--output", "out")
    for task in range(6):
        assert tg("replay", "out", "--task", task).returncode == 0
