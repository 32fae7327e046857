# SPDX-License-Identifier: Apache-2.0
"""What a recording of examples/dump_tensor must contain, computed with NumPy: every argument of
every task at every stage, to the byte. It shares only the workload's rules with the C sources.

Tensors are flat arrays of elements (4-bit ones as their codes, one to a byte), views are NumPy's.
"""

import dataclasses
import struct

import numpy as np

import wire_reader

CUBE = (2, 1, 3, 1, 2, 1, 2, 2)
FLOAT4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
SCALAR_TYPES = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
                "float8_e8m0fnu", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16",
                "uint8", "bool")
ORDINARY = (0x3fb999999999999a, 0x3dcccccd, 0x2e66, 0x3dcd, 0x1d, 0x2e, 0x7c, 2**64 - 2**53 - 1,
            1 << 31, 1 << 15, 1 << 7, 2**64 - 1, 2**32 - 1, 2**16 - 1, 2**8 - 1, 1)
SPECIAL = (0x7ff8 << 48, 0xff800000, 0x7c00, 0xffc0, 0x7f, 0xfc, 0xff, 2**63 - 1, 2**31 - 1,
           2**15 - 1, 2**7 - 1, 2**53 + 1, 0, 0, 0, 0)
# Scalars of the orchestration.
GIVEN = (("float32", 0x3f000000), ("uint64", 2**64 - 1), ("float64", 0x7ff8 << 48))


def numbers(count, start):
    return (np.arange(count, dtype=np.int64) * 7919 + start) % 1001 - 500


class Tensor:
    """A tensor with its own storage: a flat array, its dtype by name, and its shape."""

    def __init__(self, dtype, shape, elements=None):
        numpy_type = "u1" if wire_reader.BITS[dtype] == 4 else dtype
        count = int(np.prod(shape, dtype=np.int64))
        self.dtype = dtype
        self.flat = np.zeros(count, numpy_type)
        if elements is not None:
            self.flat[:] = elements
        self.whole = self.flat.reshape(shape)


@dataclasses.dataclass
class View:
    """Part of a tensor: `array` is a view of its storage."""

    tensor: Tensor
    array: np.ndarray

    @property
    def start(self):
        """The number of elements from the beginning of the storage."""
        first = (self.array.__array_interface__["data"][0]
                 - self.tensor.flat.__array_interface__["data"][0])
        return first // self.array.itemsize

    @property
    def strides(self):
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    def bytes(self):
        """Its present logical bytes."""
        elements = np.ascontiguousarray(self.array).reshape(-1)
        if wire_reader.BITS[self.tensor.dtype] == 4:
            return wire_reader.pack(self.tensor.dtype, elements)
        return elements.tobytes()


@dataclasses.dataclass
class Expected:
    """One record, full level."""

    kernels: tuple
    role: str
    kind: str
    dtype: str
    marked: bool
    shape: tuple = ()
    strides: tuple = ()
    start: int = 0
    contiguous: bool = True
    storage: Tensor = None
    bytes: bytes = b""
    bits: int = 0


class Model:
    """records: {(task, stage, arg_index): Expected}, of all tasks and the orchestration."""

    def __init__(self, n=13):
        self.records = {}
        self.tasks = 0
        self.tensors = self._tensors(n)
        self._orchestration()
        self._add_up()
        self._take_views()
        self._pass_scalars()
        self._take_nibbles(n)
        self._fold(n)
        self._odd_shapes()

    @staticmethod
    def _tensors(n):
        """The tensors in the order in which the orchestration gets them: (role, tensor)."""
        return {
            "a": ("input", Tensor("float32", n, numbers(n, 1) / 4)),
            "b": ("input", Tensor("float32", n, numbers(n, 2) / 4)),
            "total": ("inout", Tensor("float32", n, numbers(n, 3) / 4)),
            "matrix": ("input", Tensor("int32", (4, 2 * n), numbers(8 * n, 4))),
            "nibbles": ("inout", Tensor("int4", n, (numbers(n, 5) + 500) % 16)),
            "codes": ("input", Tensor("float4_e2m1fn", n, (numbers(n, 6) + 500) % 16)),
            "cube": ("input", Tensor("int16", CUBE, 60 * numbers(48, 7))),
            "empty": ("input", Tensor("uint8", (0, 4))),
            "point": ("input", Tensor("float64", (), 42)),
            "pairs": ("output", Tensor("int32", (8, n))),
            "turned": ("output", Tensor("int32", (2 * n, 4))),
            "wide": ("output", Tensor("float32", (2, n - 1))),
            "mixed": ("output", Tensor("float32", n)),
            "bits": ("output", Tensor("uint64", (2, 16))),
            "turned_cube": ("output", Tensor("int16", CUBE[::-1])),
            "count": ("output", Tensor("int64", ())),
        }

    def view(self, name, take=lambda whole: whole):
        tensor = self.tensors[name][1] if isinstance(name, str) else name
        return View(tensor, take(tensor.whole))

    @staticmethod
    def _describe(kernels, role, view, marked):
        return Expected(kernels, role, "tensor", view.tensor.dtype, marked, view.array.shape,
                        view.strides, view.start, view.array.flags.c_contiguous,
                        view.tensor, view.bytes())

    def _orchestration(self):
        for index, (role, tensor) in enumerate(self.tensors.values()):
            expected = self._describe((), role, View(tensor, tensor.whole), False)
            self.records[wire_reader.NO_TASK, "orchestration", index] = expected
        for index, (dtype, bits) in enumerate(GIVEN, start=len(self.tensors)):
            self.records[wire_reader.NO_TASK, "orchestration", index] = Expected(
                (), "input", "scalar", dtype, False, bits=bits)

    def task(self, kernels, arguments, work, scalars=(), marks=()):
        """A task: arguments are (role, view), scalars (dtype, bits); marks are argument numbers, or
        everything. `work` changes the arrays as the kernels do."""
        task, self.tasks = self.tasks, self.tasks + 1
        kernels = tuple(f"dump_{kernel}" for kernel in kernels)

        def record(stage, roles):
            for index, (role, view) in enumerate(arguments):
                if role in roles:
                    self.records[task, stage, index] = self._describe(
                        kernels, role, view, marks == "all" or index in marks)

        record("before_dispatch", ("input", "inout"))
        for index, (dtype, bits) in enumerate(scalars, start=len(arguments)):
            self.records[task, "before_dispatch", index] = Expected(
                kernels, "input", "scalar", dtype, marks == "all" or index in marks, bits=bits)
        work()
        record("after_completion", ("output", "inout"))

    def copy(self, source, target, convert=lambda elements: elements, kernel="copy", marks=()):
        def work():
            target.array[...] = convert(source.array)
        self.task([kernel], [("input", source), ("output", target)], work, marks=marks)

    def _add_up(self):
        a, b, total = map(self.view, ("a", "b", "total"))
        result = self.view(Tensor("float32", a.array.shape))

        def add():
            result.array[:] = a.array + b.array

        def step():
            total.array[:] += np.float32(0.5)

        def accumulate():
            total.array[:] += result.array

        self.task(["add"], [("input", a), ("input", b), ("output", result)], add, marks={2})
        self.task(["add_scalar"], [("inout", total)], step, scalars=[GIVEN[0]])
        self.task(["accumulate"], [("input", result), ("inout", total)], accumulate, marks={1})

    def _take_views(self):
        even = self.view("matrix", lambda m: m[:, 0::2])
        odd = self.view("matrix", lambda m: m[:, 1::2])
        first = self.view("matrix", lambda m: np.broadcast_to(m[:1, 0::2], even.array.shape))
        pairs = self.view("pairs", lambda p: p[0::2])

        def add():
            pairs.array[:] = even.array + odd.array

        self.task(["add"], [("input", even), ("input", odd), ("output", pairs)], add)
        self.copy(first, self.view("pairs", lambda p: p[1::2]))
        self.copy(self.view("matrix", np.transpose), self.view("turned"), kernel="transpose")

    def _pass_scalars(self):
        for row, (bits, marks) in enumerate(((ORDINARY, {2, 16}), (SPECIAL, "all"))):
            out = self.view("bits", lambda whole, row=row: whole[row])

            def store(out=out, bits=bits):
                out.array[:] = np.array(bits, np.uint64)

            self.task(["scalars"], [("output", out)], store, scalars=list(zip(SCALAR_TYPES, bits)),
                      marks=marks)

    def _take_nibbles(self, n):
        odd = self.view("nibbles", lambda whole: whole[1:])
        narrow = Tensor("int8", n - 1)
        third = self.view("codes", lambda whole: whole[1::3])
        self.copy(odd, self.view(narrow), lambda codes: np.where(codes < 8, codes, codes - 16.0),
                  marks={0})
        self.copy(self.view(narrow, np.flip), odd, lambda values: values & 15, marks={0, 1})
        self.copy(self.view(narrow), self.view("wide", lambda whole: whole[0]))
        self.copy(third, self.view(Tensor("float4_e2m1fn", third.array.shape)))
        self.copy(self.view("codes", lambda whole: whole[:-2]),
                  self.view("wide", lambda whole: whole[1, :-1]), lambda codes: FLOAT4[codes])

    def _fold(self, n):
        a, mixed = self.view("a"), self.view("mixed")
        scaled = self.view(Tensor("float32", n))

        def fold():
            scaled.array[:] = 2 * a.array
            mixed.array[:] = scaled.array - scaled.array[::-1]

        minus_zero, = struct.unpack("<I", struct.pack("<f", -0.0))
        two, = struct.unpack("<Q", struct.pack("<d", 2.0))
        self.task(["scale", "fold", "fold"],
                  [("input", a), ("output", scaled), ("output", mixed)], fold,
                  scalars=[("float64", two), ("float32", minus_zero)], marks="all")

    def _odd_shapes(self):
        self.task(["copy"], [("input", self.view("empty")),
                             ("output", self.view("pairs", lambda p: p[3:3]))], lambda: None)
        self.copy(self.view("point"), self.view("count"))
        self.copy(self.view("cube", np.transpose), self.view("turned_cube"))
