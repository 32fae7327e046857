# SPDX-License-Identifier: Apache-2.0
"""Element types of libtaskglass compared with NumPy's, if NumPy has the same type."""

import ctypes
import os
import pathlib

import numpy as np
import pytest

FLOAT32, FLOAT16, BOOL = 2, 3, 18
INTEGERS = {9: np.int64, 10: np.int32, 11: np.int16, 12: np.int8,
            14: np.uint64, 15: np.uint32, 16: np.uint16, 17: np.uint8}


@pytest.fixture(scope="module")
def library():
    build = os.environ.get("TASKGLASS_BUILD")
    if not build:
        pytest.skip("TASKGLASS_BUILD is not set")
    path = pathlib.Path(build, "lib", "libtaskglass.so")
    content = path.read_bytes()
    if b"__asan_init" in content or b"__tsan_init" in content:
        pytest.skip("a Python without sanitizers cannot load a library that has them")
    lib = ctypes.CDLL(str(path))
    lib.tg_dtype_load.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
    lib.tg_dtype_load.restype = ctypes.c_double
    lib.tg_dtype_store.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
                                   ctypes.c_double)
    lib.tg_dtype_store.restype = None
    lib.tg_dtype_from_name.argtypes = (ctypes.c_char_p,)
    lib.tg_dtype_from_name.restype = ctypes.c_int
    return lib


def load_all(lib, dtype, array):
    base = array.ctypes.data
    return np.array([lib.tg_dtype_load(dtype, base, i) for i in range(array.size)])


def store_all(lib, dtype, values, like):
    array = np.zeros(values.size, like)
    base = array.ctypes.data
    for i, value in enumerate(values.tolist()):
        lib.tg_dtype_store(dtype, base, i, value)
    return array


def numbers_of_every_size(seed, count):
    """Doubles with random bits, so of every exponent, and as many within float16's range."""
    random = np.random.default_rng(seed)
    anything = random.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    near = np.ldexp(random.uniform(-2, 2, count), random.integers(-28, 17, count))
    return np.concatenate([anything, near])


def same(a, b):
    """Whether both are equal; zeros must have the same sign, and all NaN are alike."""
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(
        np.signbit(a[~np.isnan(a)]), np.signbit(b[~np.isnan(b)]))


def test_names_are_those_of_numpy(library):
    for number, name in [(FLOAT32, "float32"), (FLOAT16, "float16"), (BOOL, "bool")]:
        assert library.tg_dtype_from_name(np.dtype(name).name.encode()) == number
    for number, dtype in INTEGERS.items():
        assert library.tg_dtype_from_name(np.dtype(dtype).name.encode()) == number


def test_every_float16_is_the_same_number(library):
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    assert same(load_all(library, FLOAT16, halves), halves.astype(np.float64))


def test_doubles_round_to_the_same_float16(library):
    halves = np.arange(65535, dtype=np.uint16).view(np.float16).astype(np.float64)
    with np.errstate(all="ignore"):
        middles = (halves[:-1] + halves[1:]) / 2
        values = np.concatenate([middles, np.nextafter(middles, np.inf),
                                 np.nextafter(middles, -np.inf),
                                 numbers_of_every_size(1, 50000)])
        want = values.astype(np.float16)
    assert same(store_all(library, FLOAT16, values, np.float16), want)


def test_doubles_round_to_the_same_float32(library):
    values = numbers_of_every_size(2, 50000)
    with np.errstate(all="ignore"):
        want = values.astype(np.float32)
    assert same(store_all(library, FLOAT32, values, np.float32), want)


@pytest.mark.parametrize("number", INTEGERS)
def test_integers_within_range_are_the_same(library, number):
    dtype = INTEGERS[number]
    random = np.random.default_rng(3)
    info = np.iinfo(dtype)
    values = random.integers(info.min, info.max, 20000, dtype=dtype, endpoint=True)
    doubles = values.astype(np.float64)
    assert np.array_equal(load_all(library, number, values), doubles)
    inside = doubles[(doubles >= info.min) & (doubles < float(info.max))] / 3
    assert np.array_equal(store_all(library, number, inside, dtype), inside.astype(dtype))


def test_bools_are_the_same(library):
    values = np.array([0.0, -0.0, 1.0, -0.25, np.nan, np.inf, 5e-324])
    assert np.array_equal(store_all(library, BOOL, values, np.bool_), values.astype(np.bool_))
