# SPDX-License-Identifier: Apache-2.0
"""Checks recordings of the other examples by two rules that hold for every recording: a task reads
what the tasks before it left, and its outputs are what its kernel computes from what it read."""

import functools

import numpy as np
import pytest

import wire_reader
from conftest import PLATFORMS, Runner
from platforms import GPU, few

CASES = [("vector_add", "small"), ("vector_add", "odd"), ("vector_add", "empty"),
         ("matmul_chain", "small"), ("matmul_chain", "ragged"), ("matmul_chain", "one"),
         ("mix", "small"), ("mix", "uneven"), ("views", "small"), ("views", "thin"),
         ("dtypes", "floats"), ("dtypes", "integers"), ("dtypes", "odd"),
         ("dtypes", "odd_integers"), ("dump_tensor", "small")]
# A GPU fuses products with sums, and the bits of a NaN differ between targets.
ROUNDED_OTHERWISE = {("matmul_chain", "small"), ("matmul_chain", "ragged"),
                     ("matmul_chain", "one"), ("dtypes", "floats"), ("dtypes", "odd")}
EXACT = "exact"
CLOSE = "close"


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """record("mix", "small", "a5sim", 4): a recording; each is made once."""
    @functools.lru_cache(maxsize=None)
    def make(workload, case, platform, cores=4):
        directory = tmp_path_factory.mktemp("recording")
        Runner(directory).good("run", workload, "--case", case, "--platform", platform, "--cores",
                               cores, "--dump-tensor", "--output", "out")
        return wire_reader.Recording(directory / "out" / "tensor_dump")
    return make


def in_order(recording):
    """The records of tasks in a possible serial order of the tasks: in the examples every task
    waits only for earlier ones."""
    tasks = recording.arguments[recording.arguments["stage"] < 2]
    return sorted(tasks, key=lambda one: (int(one["task_id"]), int(one["stage"]),
                                          int(one["arg_index"])))


# --- what tasks read -----------------------------------------------------------------------------

class Memory:
    """The known part of device memory: {address of storage: {element: bits}}."""

    def __init__(self):
        self.storages = {}

    @staticmethod
    def elements(recording, one):
        """(offsets in the storage, bits), element by element."""
        shape = recording.shape(one)
        offsets = np.full(shape, int(one["start"]), np.int64)
        for dim, size in enumerate(shape):
            steps = np.arange(size, dtype=np.int64) * int(one["strides"][dim])
            offsets += steps.reshape([-1 if i == dim else 1 for i in range(len(shape))])
        dtype, _ = wire_reader.DTYPES[one["dtype"]]
        return (offsets.reshape(-1).tolist(),
                wire_reader.unpack(dtype, recording.bytes(one), offsets.size).tolist())

    def differences(self, recording, one):
        """The elements that differ from the known content; remembers the elements that were unknown
        before."""
        known = self.storages.setdefault(int(one["data_ptr"]), {})
        offsets, bits = self.elements(recording, one)
        return [(offset, found) for offset, found in zip(offsets, bits)
                if known.setdefault(offset, found) != found]

    def write(self, recording, one):
        self.storages.setdefault(int(one["data_ptr"]), {}).update(
            zip(*self.elements(recording, one)))


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("workload,case", CASES)
def test_a_task_sees_what_the_tasks_before_it_left(record, workload, case, platform):
    recording = record(workload, case, platform)
    assert wire_reader.problems(recording) == []
    memory = Memory()
    for one in in_order(recording):
        if one["kind"] == 1:
            continue
        if one["stage"] == 0:
            assert memory.differences(recording, one) == [], wire_reader.key(one)
        else:
            memory.write(recording, one)


@pytest.mark.parametrize("cores", few((1, 2, 8), 1))
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("workload,case", few([
    one for one in CASES if not (GPU and one in ROUNDED_OTHERWISE)], 3))
def test_hashes_do_not_depend_on_platform_or_cores(record, workload, case, platform, cores):
    def hashes(recording):
        return {wire_reader.key(one): int(one["hash"]) for one in recording.arguments}
    assert hashes(record(workload, case, platform, cores)) == hashes(
        record(workload, case, "a2a3sim"))


# --- what kernels compute ------------------------------------------------------------------------

class Task:
    """The records of one task: `before` and `after` by argument number, and the scalars."""

    def __init__(self, kernels):
        self.kernels, self.before, self.after, self.scalars = kernels, {}, {}, []
        self.dtypes = {}


def tasks_of(recording):
    tasks = {}
    for one in in_order(recording):
        kernels = tuple(recording.kernels[number] for number in one["kernel"]
                        if number != wire_reader.NO_KERNEL)
        task = tasks.setdefault(int(one["task_id"]), Task(kernels))
        if one["kind"] == 1:
            task.scalars.append(one)
        else:
            stage = task.before if one["stage"] == 0 else task.after
            stage[int(one["arg_index"])] = recording.values(one)
            task.dtypes[int(one["arg_index"])], _ = wire_reader.DTYPES[one["dtype"]]
    return tasks


def scalar_value(recording, task, index):
    return recording.values(task.scalars[index])


def vector_add_tile(task, _):
    return {2: task.before[0] + task.before[1]}, EXACT


def tile_product(task, _):
    return {2: task.before[0].astype(float) @ task.before[1].astype(float)}, CLOSE


def tile_accumulate(task, _):
    return {2: task.before[2] + task.before[0].astype(float) @ task.before[1].astype(float)}, CLOSE


def tile_bias_relu(task, _):
    return {1: np.maximum(task.before[1] + task.before[0], np.float32(0))}, EXACT


def mix_scale(task, recording):
    return {1: task.before[0] * scalar_value(recording, task, 0)}, EXACT


def mix_product(task, _):
    scratch = task.before[0] @ task.before[1]
    return {3: scratch, 4: np.maximum(scratch + task.before[2], np.float32(0))}, EXACT


def mix_residual(task, _):
    scratch = task.before[0] @ task.before[1]
    return {2: scratch, 3: task.before[0] + scratch}, EXACT


def mix_row_shift(task, _):
    z = task.before[0]
    half = z.shape[1] // 2
    largest = np.stack([z[:, :half].max(axis=1), z[:, half:].max(axis=1)])
    return {1: largest, 2: z - largest.max(axis=0)[:, None]}, EXACT


def mix_total(task, _):
    return {1: task.before[1] + task.before[0]}, EXACT


def views_copy(task, _):
    return {1: task.before[0]}, EXACT


def views_add(task, _):
    return {2: task.before[0] + task.before[1]}, EXACT


def views_sum(task, _):
    out = task.after[1]
    return {1: task.before[0].reshape(*out.shape, -1).sum(axis=-1, dtype=np.int32)}, EXACT


def all_values(dtype):
    """Every finite value of a type of up to 16 bits, in order."""
    bits = wire_reader.BITS[dtype]
    codes = np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)
    values = wire_reader.decode(dtype, codes).astype(np.float64)
    return np.unique(values[np.isfinite(values)])


def rounded(dtype, values):
    """The nearest value of the type, as float64; None for types where this function cannot resolve
    ties."""
    values = np.asarray(values, np.float64)
    if dtype == "float64":
        return values
    if dtype == "float32" or dtype == "float16":
        with np.errstate(over="ignore"):
            return values.astype(dtype).astype(np.float64)
    if dtype == "bool":
        return (values != 0).astype(np.float64)
    if "int" in dtype:
        bits = wire_reader.BITS[dtype]
        low = 0 if dtype[0] == "u" else -2.0**(bits - 1)
        high = low + 2.0**bits - 1
        return np.clip(np.trunc(np.nan_to_num(values, nan=0.0, posinf=high, neginf=low)), low, high)
    return None


def is_nearest(dtype, values, found):
    """Whether no value of the small type is nearer to the number than the one in `found`."""
    table = all_values(dtype)
    finite = np.isfinite(values)
    values, found = values[finite], found[finite]
    if dtype == "float8_e8m0fnu":
        assert np.isnan(found[values < 0]).all()
        found, values = found[values >= 0], values[values >= 0]
    right = np.clip(np.searchsorted(table, values), 0, len(table) - 1)
    left = np.clip(right - 1, 0, len(table) - 1)
    best = np.minimum(abs(table[right] - values), abs(table[left] - values))
    within = np.isfinite(found)
    assert (np.abs(values[~within]) > table[-1]).all()
    return (abs(found - values)[within] == best[within]).all()


def check_cast(task, recording):
    values = task.before[0].astype(np.float64)
    found, dtype = task.after[1].astype(np.float64), task.dtypes[1]
    expected = rounded(dtype, values)
    if expected is None:
        assert is_nearest(dtype, values, found)
    else:
        np.testing.assert_array_equal(found, expected)


def check_twice(task, recording):
    """Checks that doubling is exact within the range of the type."""
    dtype = task.dtypes[0]
    before, after = (stage[0].astype(np.float64) for stage in (task.before, task.after))
    with np.errstate(over="ignore", invalid="ignore"):  # signalling NaN among the patterns
        twice = 2 * before
    expected = rounded(dtype, twice)
    if expected is None:
        largest = all_values(dtype)[-1]
        end = np.inf if dtype in ("bfloat16", "float8_e5m2") else largest
        expected = np.where(np.abs(twice) > largest, np.copysign(end, twice), twice)
    np.testing.assert_array_equal(after, expected)


def check_scalars(task, recording):
    bits = [int(one["value"]) for one in task.scalars]
    values = [float(recording.values(one)) for one in task.scalars]
    assert task.after[0].tolist() == bits
    np.testing.assert_array_equal(task.after[1], values)


COMPUTE = {
    ("vector_add_tile",): vector_add_tile, ("tile_product",): tile_product,
    ("tile_accumulate",): tile_accumulate, ("tile_bias_relu",): tile_bias_relu,
    ("mix_scale",): mix_scale, ("mix_product", "mix_bias_relu", "mix_bias_relu"): mix_product,
    ("mix_residual_product", "mix_residual_add"): mix_residual,
    ("mix_row_shift", "mix_row_shift"): mix_row_shift, ("mix_total",): mix_total,
    ("views_copy",): views_copy, ("views_add",): views_add, ("views_sum",): views_sum,
}
CHECK = {("dtypes_cast",): check_cast, ("dtypes_twice",): check_twice,
         ("dtypes_scalars",): check_scalars}


def check_computed(task, recording):
    expected, how = COMPUTE[task.kernels](task, recording)
    assert task.after.keys() == expected.keys()
    for index, values in expected.items():
        if how == EXACT:
            assert values.dtype == task.after[index].dtype
            assert values.tobytes() == task.after[index].tobytes()
        else:  # the compiler chooses the order of a sum
            np.testing.assert_allclose(task.after[index], values, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("workload,case", [one for one in CASES if one[0] != "dump_tensor"])
def test_outputs_are_what_the_kernel_makes_of_the_recorded_inputs(record, workload, case, platform):
    recording = record(workload, case, platform)
    tasks = tasks_of(recording)
    assert bool(tasks) == (case != "empty")
    for task in tasks.values():
        CHECK.get(task.kernels, check_computed)(task, recording)
