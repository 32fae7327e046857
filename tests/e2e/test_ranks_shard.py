# SPDX-License-Identifier: Apache-2.0
"""`diff --shard`: one device beside many ranks, in recordings made by hand. What was not compared is never equal, and
what differs stays so."""

import json
import shutil

import numpy
import pytest

from conftest import one_line
from recordings import Recording

WHOLE = numpy.arange(1, 17).reshape(4, 4)
INTEGERS = "int64 int32 int16 int8 uint64 uint32 uint16 uint8".split()


def record(folder, dtype, *arrays, lost=0, **fields):
    """Each array is what a task of kernel k left as its argument 0. `lost`: more records that it lost."""
    recording = Recording(folder)
    for number, array in enumerate(arrays):
        recording.add_tensor(dtype, numpy.asarray(array), **{
            "task_id": "0x%016x" % (number + 1), "kernel": ["k"], "role": "output", "stage": "after_completion",
            **fields})
    recording.write(attempted=len(arrays) + lost, **({"lost": {"full": lost}} if lost else {}))
    return folder


def job(tg, *parts, dtype="float32", name="many"):
    """A run whose ranks have these arrays, or lists of them; None: the rank's folder is missing."""
    folder = tg.directory / name
    folder.mkdir()
    (folder / "ranks.json").write_text(json.dumps({"version": 1, "ranks": len(parts), "rank": []}))
    for rank, part in enumerate(parts):
        if part is not None:
            record(folder / f"rank{rank}", dtype, *(part if isinstance(part, list) else [part]))
    return folder


def one(tg, array, dtype="float32"):
    return record(tg.directory / "one", dtype, array)


def compare(tg, spec):
    """The exit code, the only tensor, and the result over all."""
    result = tg("diff", "one", "many", "--shard", spec, "--all", "--json")
    document = json.loads(result.stdout)
    tensor, = document["tensors"]
    return result.returncode, tensor, document["result"]


def f32(array):
    return numpy.asarray(array, "<f4")


# --- do the parts cover the whole? -----------------------------------------------------------------------

@pytest.mark.parametrize("spec, places", [
    ("k.0=a(rank) b(rank)", [(0, 0), (2, 2)]),
    ("k.0=a(rank/2) b(rank/2)", [(0, 0), (0, 0), (2, 2), (2, 2)]),
    ("k.0=a(rank/2) b(rank%2)", [(0, 0), (0, 2), (2, 0)]),
])
def test_parts_that_leave_a_block_out_are_not_equal(tg, spec, places):
    one(tg, f32(WHOLE))
    job(tg, *(f32(WHOLE[y:y + 2, x:x + 2]) for y, x in places))
    code, tensor, result = compare(tg, spec)
    assert (code, tensor["result"], result) == (2, "not known", "not known")
    assert tensor["reason"] == "the parts of the ranks do not cover the tensor"


@pytest.mark.parametrize("spec, places", [
    ("k.0=a(rank/2) b(rank%2)", [(0, 0), (0, 2), (2, 0), (2, 2)]),
    ("k.0=a(rank%2) b(rank/2%2)", [(0, 0), (2, 0), (0, 2), (2, 2), (0, 0), (2, 0), (0, 2), (2, 2)]),
])
def test_a_grid_with_every_block_is_compared(tg, spec, places):
    one(tg, f32(WHOLE))
    job(tg, *(f32(WHOLE[y:y + 2, x:x + 2]) for y, x in places))
    code, tensor, _ = compare(tg, spec)
    assert (code, tensor["result"]) == (0, "equal")


def test_parts_of_different_sizes_lie_beside_each_other(tg):
    one(tg, f32(WHOLE))
    last = f32(WHOLE[3:])
    last[0, 1] = 99
    job(tg, f32(WHOLE[:1]), f32(WHOLE[1:3]), last)
    code, tensor, _ = compare(tg, "k.0=a(rank) b")
    assert (code, tensor["rank"], tensor["first"], tensor["mismatches"]) == (1, 2, [3, 1], 1)


# --- tiles -----------------------------------------------------------------------------------------------

def tiles(folder, array, first_task):
    """A tensor of which each of four tasks wrote a quarter."""
    recording = Recording(folder)
    for number, (y, x) in enumerate([(0, 0), (0, 2), (2, 0), (2, 2)]):
        recording.add_tensor("float32", f32(array[y:y + 2, x:x + 2]), task_id="0x%016x" % (first_task + number),
                             kernel=["k"], role="output", stage="after_completion", strides=[4, 1],
                             start_offset=4 * y + x, is_contiguous=False, data_ptr="0x0000000000001000")
    recording.write()


def test_the_task_whose_tile_is_wrong_is_named(tg):
    wrong = WHOLE.copy()
    wrong[2, 3] = 99
    folder = job(tg, None, None)
    tiles(tg.directory / "one", WHOLE, 10)
    tiles(folder / "rank0", WHOLE, 20)
    tiles(folder / "rank1", wrong, 30)
    result = tg("diff", "one", "many", "--shard", "k.0*=replicated")
    assert result.returncode == 1
    assert "task 13: 1 elements, first at (2, 3): 12 on one device, 99 on rank 1 (task 33)" in result.stdout


def test_an_element_that_is_no_number_has_no_error_of_0(tg):
    one(tg, f32(WHOLE))
    bad = f32(WHOLE)
    bad[1, 2] = numpy.nan
    job(tg, f32(WHOLE), bad)
    said = tg("diff", "one", "many", "--shard", "k.0=replicated").stdout
    assert "1 elements, first at (1, 2): 7 on one device, nan on rank 1 (task 1)\n" in said
    assert compare(tg, "k.0=replicated")[1]["max_abs"] is None
    said = tg("diff", "--across", "ranks", "many", "--kernel", "k").stdout
    assert "1 of 16 elements, first at (1, 2): nan on rank 1, 7 on rank 0\n" in said


# --- summands --------------------------------------------------------------------------------------------

@pytest.mark.every_case
@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_of_integers_wrap_around(tg, dtype):
    info = numpy.iinfo(dtype)
    parts = [numpy.array(values, dtype) for values in ([info.max, 3], [1, 4], [0, 5])]
    one(tg, numpy.array([info.min, 12], dtype), dtype)
    job(tg, *parts, dtype=dtype)
    assert compare(tg, "k.0=partial(sum)")[0] == 0


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("operation, parts, total", [
    ("sum", (2**53, 1), 2**53 + 1), ("product", (3, 2**60 + 1), 3 * 2**60 + 3),
    ("max", (2**53, 2**53 + 1), 2**53 + 1), ("min", (2**62 + 2, 2**62 + 1), 2**62 + 1),
])
def test_integers_are_reduced_exactly(tg, dtype, operation, parts, total):
    job(tg, *(numpy.array([part], dtype) for part in parts), dtype=dtype)
    one(tg, numpy.array([total], dtype), dtype)
    assert compare(tg, f"k.0=partial({operation})")[0] == 0
    shutil.rmtree(tg.directory / "one")
    one(tg, numpy.array([total - 1], dtype), dtype)
    code, tensor, _ = compare(tg, f"k.0=partial({operation})")
    assert (code, tensor["mismatches"], tensor["rank"]) == (1, 1, None)


@pytest.mark.parametrize("dtype, low, high", [("int8", -3, 2), ("uint8", 2, 200), ("int64", -2**63, 2**62)])
def test_the_least_and_the_greatest_integer_mind_the_sign(tg, dtype, low, high):
    job(tg, numpy.array([low, high], dtype), numpy.array([high, low], dtype), dtype=dtype)
    for operation, value in (("min", low), ("max", high)):
        one(tg, numpy.array([value, value], dtype), dtype)
        assert compare(tg, f"k.0=partial({operation})")[0] == 0
        shutil.rmtree(tg.directory / "one")


@pytest.mark.parametrize("operation, total", [("sum", [0, 1, 1]), ("max", [0, 1, 1]), ("product", [0, 0, 1]),
                                              ("min", [0, 0, 1])])
def test_a_sum_of_bools_is_or_and_a_product_and(tg, operation, total):
    one(tg, numpy.array(total, bool), "bool")
    job(tg, numpy.array([0, 0, 1], bool), numpy.array([0, 1, 1], bool), dtype="bool")
    assert compare(tg, f"k.0=partial({operation})")[0] == 0


@pytest.mark.parametrize("dtype, shape, why", [
    ("float32", (16,), "another number of dimensions"), ("float32", (2, 8), "another shape"),
    ("float64", (4, 4), "another type"), ("float32", (4, 5), "not as large"),
])
def test_summands_of_another_type_or_shape_are_not_added(tg, dtype, shape, why):
    one(tg, f32(WHOLE))
    half = numpy.resize(WHOLE / 2, shape).astype(dtype)
    job(tg, half, half, dtype=dtype)
    code, tensor, _ = compare(tg, "k.0=partial(sum)")
    assert code == 2 and why in tensor["reason"]


def test_a_sum_without_one_of_its_ranks_is_not_known(tg):
    one(tg, f32(WHOLE))
    job(tg, f32(WHOLE), None)
    code, tensor, _ = compare(tg, "k.0=partial(sum)")
    assert code == 2 and "rank 1: its folder" in tensor["reason"]


# --- what is there and what is not -----------------------------------------------------------------------

def test_a_difference_is_not_hidden_by_a_part_of_another_type(tg):
    one(tg, f32(WHOLE))
    folder = job(tg, f32(WHOLE + 1), None)
    record(folder / "rank1", "int32", WHOLE.astype("<i4"))
    code, tensor, result = compare(tg, "k.0=replicated")
    assert (code, tensor["result"], tensor["rank"], result) == (1, "differs", 0, "differs")
    assert "rank 1: its part has another type" in tensor["reason"]
    assert "; not compared: rank 1: its part has another type" in tg(
        "diff", "one", "many", "--shard", "k.0=replicated").stdout


@pytest.mark.parametrize("spec, cut", [("k.0=replicated", slice(0, 4)), ("k.0=a(rank) b", slice(2, 4))])
def test_what_is_there_is_compared_although_a_rank_is_missing(tg, spec, cut):
    one(tg, f32(WHOLE))
    part = f32(WHOLE[cut])
    job(tg, None, part)
    code, tensor, _ = compare(tg, spec)
    assert (code, tensor["result"]) == (2, "not known") and "rank 0: its folder" in tensor["reason"]
    shutil.rmtree(tg.directory / "many")
    part[-1, 0] = 99
    job(tg, None, part)
    code, tensor, _ = compare(tg, spec)
    assert (code, tensor["result"], tensor["rank"], tensor["first"]) == (1, "differs", 1, [3, 0])


def test_a_tensor_that_the_one_device_lacks_is_of_no_task(tg):
    one(tg, f32(WHOLE))
    job(tg, [f32(WHOLE)] * 2, f32(WHOLE))
    result = tg("diff", "one", "many", "--shard", "k.0=replicated")
    assert result.returncode == 2 and "task" not in result.stdout
    lacking, = json.loads(tg("diff", "one", "many", "--shard", "k.0=replicated", "--json").stdout)["tensors"]
    assert lacking["task_id"] is None and lacking["max_abs"] is None
    assert "the one device has 1 such tensor, and rank 0 has 2" in result.stdout


@pytest.mark.parametrize("spec", ["k.0=replicated", "k.0*=replicated"])
def test_what_a_task_that_had_not_finished_left_is_not_compared(tg, spec):
    one(tg, f32(WHOLE))
    folder = job(tg, f32(WHOLE), None)
    record(folder / "rank1", "float32", f32(WHOLE), partial=True, data_ptr="0x0000000000001000")
    code, tensor, _ = compare(tg, spec)
    assert (code, tensor["result"]) == (2, "not known") and tensor["reason"] == "rank 1: its task had not finished"


def numbered(*tasks):
    return [f32([task, task]) for task in tasks]


@pytest.mark.parametrize("on_one, on_rank, lost_one, lost_rank, words", [
    ((1, 3, 4), (1, 2, 3, 4), 1, 0, "the one device has 3 such tensors, and rank 0 has 4; which belong together"),
    ((1, 3, 4), (1, 2, 3, 4), 0, 0, "the one device has 3 such tensors, and rank 0 has 4; which belong together"),
    ((1, 3, 4), (1, 2, 4), 1, 1, "the recording of the one device lacks records; which belong together"),
])
def test_a_record_that_is_missing_on_one_side_accuses_nobody(tg, on_one, on_rank, lost_one, lost_rank, words):
    """The second of the one is the third of the other."""
    record(tg.directory / "one", "float32", *numbered(*on_one), lost=lost_one)
    folder = job(tg, None)
    record(folder / "rank0", "float32", *numbered(*on_rank), lost=lost_rank)
    code, tensor, result = compare(tg, "k.0=replicated")
    assert (code, tensor["result"], result) == (2, "not known", "not known") and words in tensor["reason"]
    assert compare(tg, "@1.0:@1.0=replicated")[0] == 0


def test_a_side_without_losses_says_which_tensors_belong_together(tg):
    record(tg.directory / "one", "float32", *numbered(1, 2))
    folder = job(tg, None)
    record(folder / "rank0", "float32", *numbered(1, 9), lost=5)
    result = tg("diff", "one", "many", "--shard", "k.0=replicated")
    assert result.returncode == 1 and "task 2: 2 elements" in result.stdout


def test_a_shard_that_selects_nothing_on_any_rank_is_refused(tg):
    one(tg, f32(WHOLE))
    job(tg, f32(WHOLE), f32(WHOLE))
    result = tg("diff", "one", "many", "--shard", "k.0:other.0=replicated")
    assert result.returncode == 2 and "selects no tensor of the ranks" in result.stderr


@pytest.mark.parametrize("words", [("--rank", 1), ("--blame",), ("--noise", "one")])
def test_an_option_that_a_shard_cannot_heed_is_refused(tg, words):
    """It was not heeded, or the shard was not."""
    one(tg, f32(WHOLE))
    job(tg, f32(WHOLE), f32(WHOLE))
    result = tg("diff", "one", "many", "--shard", "k.0=replicated", *words)
    assert result.returncode == 2 and not result.stdout
    assert one_line(result.stderr) and words[0] in result.stderr and "--shard" in result.stderr


@pytest.mark.parametrize("words", [("--blame",), ("--noise", "many")])
def test_an_option_that_a_comparison_across_ranks_cannot_heed_is_refused(tg, words):
    job(tg, f32(WHOLE), f32(WHOLE))
    result = tg("diff", "--across", "ranks", "many", "--kernel", "k", *words)
    assert result.returncode == 2 and not result.stdout
    assert one_line(result.stderr) and words[0] in result.stderr and "--across" in result.stderr
