# SPDX-License-Identifier: Apache-2.0
"""Element types, compared with the independent decoder of tests/e2e."""

import ctypes

import numpy
import pytest
import taskglass
import wire_reader
from taskglass import dtypes
from taskglass._library import lib

# The types that NumPy lacks.
OTHERS = [name for name in wire_reader.BITS if name != "bool" and not hasattr(numpy, name)]


def all_codes(name):
    bits = dtypes.dtype(name).bits
    return numpy.arange(1 << bits, dtype="u2" if bits == 16 else "u1")


def same(a, b):
    return numpy.array_equal(a, b, equal_nan=True)


def test_all_types_of_the_library_are_there():
    assert set(dtypes.names()) == set(wire_reader.BITS)
    assert {name: dtypes.dtype(name).bits for name in dtypes.names()} == wire_reader.BITS


@pytest.mark.parametrize("name", OTHERS)
def test_every_pattern_decodes_to_its_value(name):
    codes = all_codes(name)
    raw = dtypes.pack(codes) if wire_reader.BITS[name] < 8 else codes
    values = dtypes.decode(raw, name, codes.shape)
    assert values.dtype == numpy.float32
    assert same(values, wire_reader.decode(name, codes).astype("f4"))


@pytest.mark.parametrize("name", OTHERS)
def test_encoding_gives_the_pattern_back(name):
    codes = all_codes(name)
    values = wire_reader.decode(name, codes).astype("f8")
    good = ~numpy.isnan(values)
    packed = wire_reader.BITS[name] < 8
    encoded = dtypes.encode(values[good], name)
    assert (dtypes.unpack(encoded, good.sum()) if packed else encoded).tolist() == codes[
        good].tolist()


@pytest.mark.parametrize("name", OTHERS)
def test_encoding_rounds_as_the_library_does(name):
    random = numpy.random.default_rng(7)
    values = numpy.concatenate([random.standard_normal(500) * 10.0 ** random.integers(-8, 8, 500),
                                [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1e300, -1e300]])
    kind = dtypes.dtype(name)
    store = lib().functions.tg_dtype_store
    store.restype, store.argtypes = None, [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
                                           ctypes.c_double]
    want = numpy.zeros(kind.bytes_of(values.size), "u1")
    for i, value in enumerate(values):
        store(kind.number, want.ctypes.data, i, value)
    got = dtypes.encode(values, name)
    assert same(dtypes.decode(got, name, values.shape),
                dtypes.decode(want.view(kind.numpy), name, values.shape))
    finite = ~numpy.isnan(values)
    if not kind.packed:
        assert (got[finite] == want.view(kind.numpy)[finite]).all()


def test_bfloat16_rounds_ties_to_even_and_only_once():
    half = 2.0 ** -8
    values = [1 + half, 1 + 3 * half, 1 + half + 2.0 ** -40, 1 + half - 2.0 ** -40]
    assert dtypes.decode(dtypes.encode(values, "bfloat16"), "bfloat16").tolist() == [
        1, 1 + 4 * half, 1 + 2 * half, 1]


def test_types_that_numpy_has_pass_through():
    array = numpy.arange(6, dtype="i4").reshape(2, 3)
    assert dtypes.decode(array, "int32") is array
    assert dtypes.encode([1.9, -2.9], "int32").tolist() == [1, -2]


def test_a_type_is_found_by_name_and_by_numpys_type():
    assert dtypes.dtype("bfloat16").name == "bfloat16"
    assert dtypes.dtype(numpy.float32) == dtypes.dtype("f4") == dtypes.dtype("float32")
    assert dtypes.dtype(bool).name == "bool" and repr(dtypes.dtype("int4")) == (
        "<taskglass dtype int4>")


@pytest.mark.parametrize("what", ["float7", "complex64", object(), None.__class__, "S4"])
def test_what_is_no_type_is_refused(what):
    with pytest.raises(taskglass.BadArgument, match="there is no element type"):
        dtypes.dtype(what)


@pytest.mark.parametrize("name", OTHERS)
def test_arrays_of_ml_dtypes_keep_their_bits(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = wire_reader.decode(name, all_codes(name)).astype(getattr(ml_dtypes, name))
    got = dtypes.encode(values, name)
    assert same(dtypes.decode(got, name, values.shape), values.astype("f4"))
