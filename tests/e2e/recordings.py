# SPDX-License-Identifier: Apache-2.0
"""Recordings for tests: some of another implementation, and small ones made by hand."""

import json
import pathlib
import subprocess
import tempfile

import numpy
import pytest

# This folder is beside the checkout, not in it.
PEER = pathlib.Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "peer"
PEER_RECORDINGS = ["hbg_level2", "tmr_level1", "tmr_level2", "tmr_level3"]

# How the bits of each type are held in NumPy, and whether NumPy has the type itself.
TYPES = {
    "float64": ("<f8", True), "float32": ("<f4", True), "float16": ("<f2", True),
    "int64": ("<i8", True), "int32": ("<i4", True), "int16": ("<i2", True), "int8": ("<i1", True),
    "uint64": ("<u8", True), "uint32": ("<u4", True), "uint16": ("<u2", True),
    "uint8": ("<u1", True), "bool": ("?", True), "bfloat16": ("<u2", False),
    "float8_e4m3fn": ("<u1", False), "float8_e5m2": ("<u1", False),
    "float8_e8m0fnu": ("<u1", False), "float4_e2m1fn": ("<u1", False), "int4": ("<u1", False),
}
PACKED = ("float4_e2m1fn", "int4")


def peer(name):
    """The folder of a recording of the other implementation; skips the test if it is missing."""
    folder = PEER / name
    if not folder.is_dir():
        pytest.skip(f"no {folder}: the other implementation's recordings are not here")
    return folder


def peer_entries(name):
    return json.loads((peer(name) / "args_dump" / "args_dump.json").read_text())["args"]


def peer_array(name, entry):
    """What the other implementation stored for an entry, of a type that NumPy has."""
    payload = (peer(name) / "args_dump" / "args.bin").read_bytes()
    begin, size = entry["bin_offset"], entry["bin_size"]
    array = numpy.frombuffer(payload[begin:begin + size], TYPES[entry["dtype"].lower()][0])
    return array.reshape(entry["shape"])


def random_bits(dtype, shape, seed=0):
    """An array that holds the bits of the type, one element each; 4-bit types in bytes."""
    random = numpy.random.default_rng(seed)
    held = numpy.dtype(TYPES[dtype][0])
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype in PACKED:
        return random.integers(0, 16, shape, dtype="u1")
    if dtype.startswith("float") and held.kind == "f":
        return random.standard_normal(shape).astype(held)
    return random.integers(0, 256, (*shape, held.itemsize), dtype="u1").view(held).reshape(shape)


def pack(dtype, array):
    """The payload of an array of bits."""
    if dtype not in PACKED:
        return array.tobytes()
    flat = numpy.append(array.ravel(), numpy.zeros(array.size % 2, "u1"))
    return (flat[0::2] | flat[1::2] << 4).tobytes()


def has_sqlite(program):
    """Whether a build exports to SQLite; a build that does not says so in one line."""
    with tempfile.TemporaryDirectory() as folder:
        Recording(pathlib.Path(folder) / "run").write()
        result = subprocess.run([program, "export", "run", "--to", "sqlite", "--output", "x"],
                                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
    if result.returncode == 0:
        return True
    assert result.returncode == 2 and result.stderr.count("\n") == 1, result
    assert "this Taskglass was built without SQLite" in result.stderr
    return False


class Recording:
    """A manifest and its payload, as our own runs leave them without a journal."""

    def __init__(self, run_dir):
        self.folder = run_dir / "tensor_dump"
        self.folder.mkdir(parents=True)
        self.entries, self.payload = [], b""

    def add(self, **fields):
        entry = {"task_id": "0x%016x" % len(self.entries), "func_id": [0], "kernel": ["add"],
                 "arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "tensor",
                 "dtype": "float32", "is_contiguous": True, "shape": [], "strides": [],
                 "start_offset": 0, "bin_offset": 0, "bin_size": 0, "truncated": False,
                 "overwritten": False, "hash": None, "data_ptr": "0x0000000000000000", **fields}
        self.entries.append(entry)
        return entry

    def add_tensor(self, dtype, array, /, **fields):
        payload = pack(dtype, array)
        strides = [int(numpy.prod(array.shape[i + 1:])) for i in range(array.ndim)]
        entry = self.add(**{"dtype": dtype, "shape": list(array.shape), "strides": strides,
                            "bin_offset": len(self.payload), "bin_size": len(payload), **fields})
        self.payload += payload
        return entry

    def add_scalar(self, dtype, value, /, **fields):
        return self.add(kind="scalar", dtype=dtype, value=value, **fields)

    def count(self, **fields):
        return sum(all(entry[key] == value for key, value in fields.items())
                   for entry in self.entries)

    def write(self, **fields):
        tensors = {role: self.count(role=role, kind="tensor")
                   for role in ("input", "output", "inout")}
        manifest = {"version": 1, "run_dir": "run", "level": "full", "complete": True,
                    "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
                    "total_tensors": len(self.entries), "attempted": len(self.entries),
                    "before_dispatch": self.count(stage="before_dispatch"),
                    "after_completion": self.count(stage="after_completion"),
                    "orchestration": self.count(stage="orchestration"),
                    "input_tensors": tensors["input"], "output_tensors": tensors["output"],
                    "inout_tensors": tensors["inout"], "scalars": self.count(kind="scalar"),
                    "truncated_tensors": self.count(truncated=True),
                    "overwritten_tensors": self.count(overwritten=True),
                    "payload_bytes": len(self.payload),
                    "bin_file": "tensor_dump.bin", "tensors": self.entries, **fields}
        (self.folder / "tensor_dump.bin").write_bytes(self.payload)
        (self.folder / "tensor_dump.json").write_text(json.dumps(manifest))
        return self.folder
