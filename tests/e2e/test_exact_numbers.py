# SPDX-License-Identifier: Apache-2.0
"""Numbers in --json and in exports are exact for every element type."""

import csv
import io
import math

import numpy
import pytest

import wire_reader
from recordings import TYPES, Recording

SHORT = [name for name in wire_reader.BITS if name.startswith(("float", "bfloat"))
         and wire_reader.BITS[name] < 32]


def every_bit_pattern(dtype):
    bits = wire_reader.BITS[dtype]
    return numpy.arange(1 << bits, dtype="u1" if bits <= 8 else "<u2")


def exact_values(dtype):
    """The value of each bit pattern, as a double; the independent reader of the document decodes."""
    return wire_reader.decode(dtype, every_bit_pattern(dtype)).astype(float)


def as_double(number):
    """A value of a --json document as a double. NaN and the infinities are strings."""
    return float(number)


def is_same(a, b):
    """Equal as doubles; zeros of the same sign."""
    return (math.isnan(a) and math.isnan(b)) or (a == b and
                                                 math.copysign(1, a) == math.copysign(1, b))


def record_tensor(tmp_path, name, dtype, array):
    recording = Recording(tmp_path / name)
    recording.add_tensor(dtype, array)
    recording.write()


@pytest.mark.parametrize("dtype", SHORT)
def test_view_gives_every_value_of_a_short_float_exactly(tg, tmp_path, dtype):
    bits, want = every_bit_pattern(dtype), exact_values(dtype)
    if TYPES[dtype][1]:
        bits = bits.view(TYPES[dtype][0])
    record_tensor(tmp_path, "run", dtype, bits)
    values = tg.json("view", "run", "--index", "0", "--all")["records"][0]["values"]
    wrong = [(i, got, exact) for i, (got, exact) in enumerate(zip(values, want))
             if not is_same(as_double(got), exact)]
    assert len(values) == want.size and not wrong, wrong[:5]


@pytest.mark.parametrize("dtype, held", [("float32", "<u4"), ("float64", "<u8")])
def test_view_gives_floats_back_bit_by_bit(tg, tmp_path, dtype, held):
    kind = numpy.dtype(TYPES[dtype][0])
    bits = numpy.random.default_rng(1).integers(0, 256, 500 * kind.itemsize, dtype="u1").view(held)
    record_tensor(tmp_path, "run", dtype, bits.view(kind))
    values = tg.json("view", "run", "--index", "0")["records"][0]["values"]
    got = numpy.array([as_double(value) for value in values]).astype(kind)
    want = bits.view(kind)
    finite = ~numpy.isnan(want)
    assert (got[finite].view(held) == want[finite].view(held)).all()
    assert numpy.isnan(got[~finite]).all()


@pytest.mark.parametrize("dtype", SHORT)
def test_stats_give_the_range_of_a_short_float_exactly(tg, tmp_path, dtype):
    bits, want = every_bit_pattern(dtype), exact_values(dtype)
    finite = numpy.isfinite(want)
    kept = bits[finite]
    record_tensor(tmp_path, "run", dtype, kept.view(TYPES[dtype][0]) if TYPES[dtype][1] else kept)
    stats, = tg.json("stats", "run")["tensors"]
    assert as_double(stats["min"]) == want[finite].min()
    assert as_double(stats["max"]) == want[finite].max()


@pytest.mark.parametrize("dtype, a, b", [("float8_e4m3fn", 0x20, 0x78), ("bfloat16", 0x3dcd, 0x3dce),
                                         ("float16", 0x2e66, 0x2e67), ("float8_e5m2", 1, 2)])
def test_diff_gives_both_values_exactly(tg, tmp_path, dtype, a, b):
    held = numpy.dtype(TYPES[dtype][0])
    for name, bits in (("a", a), ("b", b)):
        array = numpy.array([bits], "u1" if held.itemsize == 1 else "<u2").view(held)
        record_tensor(tmp_path, name, dtype, array)
    result = tg("diff", "a", "b", "--atol", "0", "--rtol", "0", "--json")
    values = exact_values(dtype)
    assert result.returncode == 1
    assert f'"a": {values[a]!r}' in result.stdout and f'"b": {values[b]!r}' in result.stdout


SCALARS = [("float8_e4m3fn", 0x20, 0.125), ("float8_e4m3fn", 0x78, 256.0), ("float16", 0x2e66, None),
           ("bfloat16", 0x3dcd, None), ("float8_e8m0fnu", 0, 2.0 ** -127), ("float16", 0x8000, -0.0)]


@pytest.mark.parametrize("dtype, bits, value", SCALARS)
def test_scalars_are_exact_in_view_and_in_csv(tg, tmp_path, dtype, bits, value):
    recording = Recording(tmp_path / "run")
    recording.add(kind="scalar", dtype=dtype, raw=f"0x{bits:016x}")
    recording.write()
    value = exact_values(dtype)[bits] if value is None else value
    assert is_same(tg.json("view", "run")["records"][0]["value"], value)
    text = tg.good("export", "run", "--to", "csv", "--output", "-").stdout
    row, = csv.DictReader(io.StringIO(text))
    assert is_same(float(row["value"]), value)


@pytest.mark.parametrize("dtype, text", [("int64", "-9007199254740993"), ("uint64", str(2**64 - 1))])
def test_integers_beyond_2_to_53_are_strings(tg, tmp_path, dtype, text):
    record_tensor(tmp_path, "run", dtype, numpy.array([int(text)], TYPES[dtype][0]))
    record, = tg.json("view", "run", "--index", "0")["records"]
    assert record["values"] == [text] and record["statistics"]["min"] == text
