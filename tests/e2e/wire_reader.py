# SPDX-License-Identifier: Apache-2.0
"""A reader of recordings written from docs/wire-format.md alone: it shares nothing with the C
sources, so a recording that it understands is described by that document. Numbers in comments are
sections of that page.

    recording = wire_reader.Recording(folder)       # with tensor_dump.rec and its payload file
    for record in recording.arguments:
        print(record["task_id"], recording.values(record))

NumPy compares its unsigned 64-bit integers with Python's as floats, so numbers that can exceed 2^53
go through int() first.
"""

import json
import pathlib
import re

import numpy as np

ONES64 = (1 << 64) - 1
NO_TASK = ONES64
NO_KERNEL = 0xffffffff
NO_STREAM = 0xffff

# --- 3: element types ----------------------------------------------------------------------------

# number: (name, bits)
DTYPES = {1: ("float64", 64), 2: ("float32", 32), 3: ("float16", 16), 4: ("bfloat16", 16),
          5: ("float8_e4m3fn", 8), 6: ("float8_e5m2", 8), 7: ("float8_e8m0fnu", 8),
          8: ("float4_e2m1fn", 4), 9: ("int64", 64), 10: ("int32", 32), 11: ("int16", 16),
          12: ("int8", 8), 13: ("int4", 4), 14: ("uint64", 64), 15: ("uint32", 32),
          16: ("uint16", 16), 17: ("uint8", 8), 18: ("bool", 8)}
BITS = dict(DTYPES.values())

# exponent bits, mantissa bits, and what the upper end of the codes means
SMALL_FLOATS = {"bfloat16": (8, 7, "ieee"), "float8_e4m3fn": (4, 3, "one nan"),
                "float8_e5m2": (5, 2, "ieee"), "float4_e2m1fn": (2, 1, "all finite")}


def bytes_of(dtype, elements):
    return (elements * BITS[dtype] + 7) // 8


def unpack(dtype, data, elements):
    """The bit pattern of each element, as unsigned integers."""
    if BITS[dtype] == 4:
        both = np.frombuffer(data, "u1")
        return np.stack([both & 15, both >> 4], axis=1).reshape(-1)[:elements]
    return np.frombuffer(data, f"<u{BITS[dtype] // 8}", count=elements)


def pack(dtype, codes):
    """The logical bytes of bit patterns; the inverse of unpack."""
    codes = np.asarray(codes)
    if BITS[dtype] == 4:
        even = np.zeros(codes.size + codes.size % 2, "u1")
        even[:codes.size] = codes.reshape(-1)
        return (even[0::2] | even[1::2] << 4).tobytes()
    return codes.astype(f"<u{BITS[dtype] // 8}").tobytes()


def _decode_small_float(dtype, codes):
    exponent_bits, mantissa_bits, top = SMALL_FLOATS[dtype]
    codes = codes.astype(np.int64)
    negative = codes >> (exponent_bits + mantissa_bits) & 1
    exponent = codes >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = codes & ((1 << mantissa_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    value = np.where(exponent > 0,
                     np.ldexp(1 + mantissa / (1 << mantissa_bits), exponent - bias),
                     np.ldexp(mantissa / (1 << mantissa_bits), 1 - bias))
    highest = exponent == (1 << exponent_bits) - 1
    if top == "ieee":
        value = np.where(highest, np.where(mantissa > 0, np.nan, np.inf), value)
    elif top == "one nan":
        value = np.where(highest & (mantissa == (1 << mantissa_bits) - 1), np.nan, value)
    return np.where(negative > 0, -value, value)


def decode(dtype, codes):
    """Bit patterns as numbers: float64 for small floats, otherwise NumPy's own type."""
    codes = np.asarray(codes)
    if dtype in SMALL_FLOATS:
        return _decode_small_float(dtype, codes)
    if dtype == "float8_e8m0fnu":
        return np.where(codes == 255, np.nan, np.ldexp(1.0, codes.astype(np.int64) - 127))
    if dtype == "int4":
        return (codes.astype(np.int8) ^ 8) - 8
    if dtype == "bool":
        return codes != 0
    return np.ascontiguousarray(codes, f"<u{BITS[dtype] // 8}").view(np.dtype(dtype))


# --- 4: the content hash -------------------------------------------------------------------------

KEY = 0x9E3779B97F4A7C15


def _mix(x, factor):
    x = (x ^ x >> 32) * factor & ONES64
    return x ^ x >> 29


def _sums(words):
    """The sums a and b of words along the last axis; unsigned arithmetic of NumPy wraps."""
    count = words.shape[-1]
    keyed = words ^ np.arange(1, count + 1, dtype=np.uint64) * np.uint64(KEY)
    product = (keyed & np.uint64(0xffffffff)) * (keyed >> np.uint64(32))

    def add(values):
        return values.sum(axis=-1, dtype=np.uint64)
    a = add(product[..., 0::2]) + add(words[..., 1::2])
    b = add(product[..., 1::2]) + add(words[..., 0::2])
    return a, b


def _final(a, b, size):
    a = _mix(int(a), 0xD6E8FEB86659FD93)
    b = _mix(int(b) ^ size * KEY & ONES64, 0xA0761D6478BD642F)
    return _mix(a + (b << 23 | b >> 41) & ONES64, 0xE7037ED1A0B428DB)


def content_hash(data):
    data = bytes(data)
    with np.errstate(over="ignore"):
        a, b = _sums(np.frombuffer(data + bytes(-len(data) % 8), "<u8"))
        return _final(a, b, len(data))


def text_sum(text):
    """The sum of an entry's text without white space (7)."""
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    found = content_hash(text)
    found = (found ^ found >> 24 ^ found >> 48) & 0xffffff
    return "".join(digits[found >> shift & 63] for shift in (18, 12, 6, 0))


# --- 6: the journal ------------------------------------------------------------------------------

HEAD = np.dtype([("magic", "<u8"), ("version", "<u4"), ("head_size", "<u4"),
                 ("record_size", "<u4"), ("compatible", "<u4"), ("incompatible", "<u4"),
                 ("level", "<u4"), ("policy", "<u4"), ("poison", "<u4"), ("bin_file", "S80"),
                 ("run_dir", "S132"), ("check", "<u4")])
COMMON = [("type", "<u2"), ("flags", "<u2"), ("check", "<u4")]
ARGUMENT = np.dtype(COMMON + [
    ("sequence", "<u8"), ("task_id", "<u8"), ("kernel", "<u4", 3), ("stage", "u1"), ("role", "u1"),
    ("kind", "u1"), ("dtype", "u1"), ("ndim", "u1"), ("arg_index", "u1"), ("stream", "<u2"),
    ("core", "<u4"), ("data_ptr", "<u8"), ("start", "<i8"), ("shape", "<i8", 8),
    ("strides", "<i8", 8), ("hash", "<u8"), ("bytes", "<u8"), ("stored", "<u8"),
    ("position", "<u8"), ("value", "<u8"), ("time", "<u8"), ("reserved", "<u8", 2)])
KERNEL = np.dtype(COMMON + [("kernel", "<u4"), ("core", "<u4"), ("name", "S240")])
SUMMARY = np.dtype(COMMON + [
    ("attempted", "<u8"), ("recorded", "<u8"), ("lost", "<u8", 6), ("truncated", "<u8"),
    ("overwritten", "<u8"), ("payload_bytes", "<u8"), ("before_dispatch", "<u8"),
    ("after_completion", "<u8"), ("orchestration", "<u8"), ("inputs", "<u8"), ("outputs", "<u8"),
    ("inouts", "<u8"), ("scalars", "<u8"), ("record_ns", "<u8"), ("wait_ns", "<u8"),
    ("result", "<i4"), ("reserved0", "<u4"), ("reserved", "<u8", 10)])
assert {HEAD.itemsize, ARGUMENT.itemsize, KERNEL.itemsize, SUMMARY.itemsize} == {256}

CHECKED = 1  # in "compatible": the head has a check
MAGIC = int.from_bytes(b"tgtrec01", "little")
TYPES = {1: "argument", 2: "kernel", 3: "summary"}
STAGES = ("before_dispatch", "after_completion", "orchestration")
ROLES = (None, "input", "output", "inout")
KINDS = ("tensor", "scalar")
LEVELS = (None, "meta", "hash", "marked", "hybrid", "full")
POLICIES = ("block", "drop", "overwrite")
LOSSES = ("full", "gave_up", "overwritten", "disk", "corrupt", "unfinished")
CONTIGUOUS, HASHED, PAYLOAD, TRUNCATED, OVERWRITTEN, PARTIAL, MARKED = (1 << i for i in range(7))
READ = 1 << 8


def record_checks(records, size=256):
    """The check that each of n records of so many bytes should have."""
    words = np.frombuffer(records, "<u8").reshape(-1, size // 8).copy()
    words[:, 0] &= np.uint64(0xffffffff)  # type and flags stay, check becomes zero
    with np.errstate(over="ignore"):
        a, b = _sums(words)
    hashes = (_final(*sums, size) for sums in zip(a, b))
    return np.array([(h ^ h >> 32) & 0xffffffff for h in hashes], np.uint32)


def head_check(head):
    """The check of a journal's head (6.1)."""
    found = content_hash(head[:252] + bytes(4))
    return (found ^ found >> 32) & 0xffffffff


def intact_records(data):
    """How many whole records of version 1 there are before the first one that is not intact (6.6)."""
    whole = len(data) // 256
    found = np.frombuffer(data, ARGUMENT, count=whole)
    good = record_checks(data[:256 * whole]) == found["check"]
    good &= np.isin(found["type"], list(TYPES))
    return whole if good.all() else int(np.argmin(good))


# --- 6.7: slots ----------------------------------------------------------------------------------

SLOT = 128
REST, MORE, ROW_MAJOR = 6, 1 << 7, 1 << 9
PACKED = np.dtype(ARGUMENT.descr[:16] + [
    ("hash", "<u8"), ("stored", "<u8"), ("position", "<u8"), ("time", "<u8"), ("dims", "<u4", 8)])
assert PACKED.itemsize == SLOT and PACKED.names[15] == "start"


def rest_check(rest, first_check):
    """The check of a REST behind a half with that check."""
    found = content_hash(rest[:4] + int(first_check).to_bytes(4, "little") + rest[8:])
    return (found ^ found >> 32) & 0xffffffff


def _row_major(shape):
    strides = [1] * len(shape)
    for i in range(len(shape) - 1, 0, -1):
        strides[i - 1] = strides[i] * max(shape[i], 1) & ONES64
    return strides


def unpack_slot(slot):
    """The argument of a packed slot as a record of 256 bytes, without its check."""
    packed = np.frombuffer(slot, PACKED)[0]
    record = np.zeros(1, ARGUMENT)
    for name in PACKED.names[:16] + ("stored", "position", "time"):
        record[name][0] = packed[name]
    flags, ndim = int(packed["flags"]), min(int(packed["ndim"]), 8)
    record["flags"][0] = flags & ~ROW_MAJOR
    record["check"][0] = 0
    record["value" if packed["kind"] == 1 else "hash"][0] = packed["hash"]
    if flags & ROW_MAJOR:
        shape = [int(size) for size in packed["dims"][:ndim]]
        record["shape"][0, :ndim] = shape
        record["strides"][0, :ndim] = np.array(_row_major(shape), "<u8").view("<i8")
    else:
        record["shape"][0, :4] = packed["dims"][:4] * (np.arange(4) < ndim)
        record["strides"][0, :4] = packed["dims"][4:].view("<i4")
    if packed["kind"] != 1 and int(packed["dtype"]) in DTYPES:
        elements = int(np.prod([int(n) for n in record["shape"][0, :ndim]], dtype=object))
        record["bytes"][0] = bytes_of(DTYPES[int(packed["dtype"])][0], elements) & ONES64
    return record.tobytes()


def pack_record(record):
    """The slots of a record of 256 bytes: one if it fits, or two."""
    one = np.frombuffer(record, ARGUMENT)[0]
    if one["type"] == 1:
        packed = np.zeros(1, PACKED)
        for name in PACKED.names[:16] + ("stored", "position", "time"):
            packed[name][0] = one[name]
        packed["hash"][0] = one["value" if one["kind"] == 1 else "hash"]
        shape = [int(size) for size in one["shape"]][:one["ndim"]]
        for flags, dims in ((ROW_MAJOR, shape), (0, (shape + [0] * 4)[:4] + [
                int(n) & 0xffffffff for n in one["strides"][:4]])):
            packed["flags"][0] = int(one["flags"]) & ~ROW_MAJOR | flags
            packed["dims"][0] = 0
            try:
                packed["dims"][0, :len(dims)] = dims
            except (OverflowError, ValueError):
                continue
            slot = packed.tobytes()
            if not int(one["flags"]) & (MORE | ROW_MAJOR) and unpack_slot(slot)[8:] == record[8:]:
                return seal_slot(slot)
    if one["type"] == 2 and not any(record[128:248]):
        return seal_slot(record[:128])
    flags = int(one["flags"]) | MORE
    first = seal_slot(record[:2] + flags.to_bytes(2, "little") + record[4:128])
    rest = REST.to_bytes(2, "little") + bytes(6) + record[128:248]
    check = rest_check(rest, int.from_bytes(first[4:8], "little"))
    return first + rest[:4] + int(check).to_bytes(4, "little") + rest[8:]


def seal_slot(slot):
    return slot[:4] + int(record_checks(slot, SLOT)[0]).to_bytes(4, "little") + slot[8:]


def slots_to_records(slots):
    """The records of 256 bytes that are in the slots before the first one that is not intact, and how
    many slots they take."""
    count = len(slots) // SLOT
    checks = record_checks(slots[:count * SLOT], SLOT)
    records, at = [], 0
    while at < count:
        slot = slots[at * SLOT:(at + 1) * SLOT]
        kind, flags = (int.from_bytes(slot[i:i + 2], "little") for i in (0, 2))
        if int.from_bytes(slot[4:8], "little") != checks[at] or kind not in TYPES:
            break
        if flags & MORE:
            rest = slots[(at + 1) * SLOT:(at + 2) * SLOT]
            found = int.from_bytes(rest[4:8], "little")
            if len(rest) < SLOT or rest[:2] != REST.to_bytes(2, "little") or \
                    found != rest_check(rest, int.from_bytes(slot[4:8], "little")):
                break
            record = slot[:2] + (flags & ~MORE).to_bytes(2, "little") + slot[4:] + rest[8:] + bytes(8)
        elif kind == 1:
            record = unpack_slot(slot)
        else:
            record = slot + bytes(SLOT)
        record = record[:4] + bytes(4) + record[8:]
        records.append(record[:4] + int(record_checks(record)[0]).to_bytes(4, "little") + record[8:])
        at += 2 if flags & MORE else 1
    return b"".join(records), at


def _with_version(head, version):
    head = head[:8] + version.to_bytes(4, "little") + head[12:16] + \
        (256 // version).to_bytes(4, "little") + head[20:252]
    return head + int(head_check(head + bytes(4))).to_bytes(4, "little")


def to_version_1(journal):
    """A journal of version 2 as version 1 has it."""
    return _with_version(journal[:256], 1) + slots_to_records(journal[256:])[0]


def to_version_2(journal):
    """A journal of version 1 as version 2 has it, with the check of its head."""
    records = (journal[at:at + 256] for at in range(256, len(journal) - 255, 256))
    return _with_version(journal[:256], 2) + b"".join(map(pack_record, records))


def _as_version_2(manifest):
    """A manifest of version 1 as version 2 has it."""
    for entry in manifest["tensors"]:
        del entry["numel"]
        if entry["kind"] == "tensor":
            del entry["ndims"]
        entry["data_ptr"] = f"0x{int(entry['data_ptr'], 16):x}"
    return {**manifest, "version": 2}


class Malformed(Exception):
    """Not a journal of this format."""


class Recording:
    """A folder with a journal: head, kernels {number: name}, arguments (records of 6.3), summary
    (None if the journal is not complete)."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        data = (self.folder / "tensor_dump.rec").read_bytes()
        self.head = self._read_head(data)
        if self.head["version"] == 1:
            count = intact_records(data[256:])
            self.torn_bytes = len(data) - 256 * (count + 1)
            records = data[256:256 * (count + 1)]
        else:
            records, slots = slots_to_records(data[256:])
            count = len(records) // 256
            self.torn_bytes = len(data) - 256 - SLOT * slots
        types = np.frombuffer(records, ARGUMENT)["type"]
        self.types = [TYPES[number] for number in types]
        self.arguments = np.frombuffer(records, ARGUMENT)[types == 1]
        self.kernel_cores = {}
        self.kernels = {}
        for kernel in np.frombuffer(records, KERNEL)[types == 2]:
            self.kernels[int(kernel["kernel"])] = kernel["name"].decode()
            self.kernel_cores[int(kernel["kernel"])] = ("AIC", "AIV", "either")[kernel["core"]]
        complete = count > 0 and types[-1] == 3
        self.summary = np.frombuffer(records, SUMMARY)[-1] if complete else None
        self.payload = (self.folder / self.head["bin_file"].decode()).read_bytes()

    @staticmethod
    def _read_head(data):
        if len(data) < 256:
            raise Malformed("shorter than a head")
        head = np.frombuffer(data, HEAD, count=1)[0]
        if int(head["magic"]) != MAGIC:
            raise Malformed("another magic")
        if (head["version"], head["head_size"], head["record_size"]) not in ((1, 256, 256),
                                                                             (2, 256, SLOT)):
            raise Malformed("another version or other sizes")
        if head["incompatible"]:
            raise Malformed("flags that this reader does not know")
        if head["compatible"] & CHECKED and head["check"] != head_check(data[:256]):
            raise Malformed("the check of the head")
        if b"/" in head["bin_file"] or head["bin_file"] in (b"", b".", b".."):
            raise Malformed("a payload file elsewhere")
        return head

    @property
    def level(self):
        return LEVELS[self.head["level"]]

    def manifest(self):
        """The manifest without its checks (7), which must be right; the first ones have none."""
        text = (self.folder / "tensor_dump.json").read_text()
        document = json.loads(text)
        for entry in document["tensors"]:
            entry.pop("check", None)
            entry.pop("sum", None)
        head, _, _ = text.partition(',\n  "check"')
        one_line = head.replace("{\n  ", "{", 1).replace(",\n  ", ", ")
        found = document.pop("check", None)
        if found is not None and int(found, 16) != content_hash(one_line.encode()):
            raise Malformed("the check of the manifest's head")
        for entry, found in re.findall(r'^    (\{.*), "check": "(0x[0-9a-f]{16})"\},?$', text, re.M):
            if int(found, 16) != content_hash(entry.encode()):
                raise Malformed(f"the check of {entry}")
        for entry, found in re.findall(r'^(\{.*),"sum":"(.*)"\},?$', text, re.M):
            if found != text_sum(entry.encode()):
                raise Malformed(f"the sum of {entry}")
        return _as_version_2(document) if document["version"] == 1 else document

    def shape(self, record):
        return tuple(int(size) for size in record["shape"][:record["ndim"]])

    def bytes(self, record):
        """The stored bytes; None if the payload file does not have them (6.6)."""
        first, size = int(record["position"]), int(record["stored"])
        return self.payload[first:first + size] if first + size <= len(self.payload) else None

    def values(self, record):
        """A tensor as an array, a scalar as one number."""
        dtype, _ = DTYPES[record["dtype"]]
        if record["kind"] == 1:
            code = np.array([record["value"]], "<u8")
            return decode(dtype, code.astype(f"<u{BITS[dtype] // 8}"))[0]
        elements = int(np.prod(self.shape(record), dtype=np.int64))
        return decode(dtype, unpack(dtype, self.bytes(record), elements)).reshape(
            self.shape(record))


def key(record):
    """The identity of a record: the same in every recording of the same run."""
    return int(record["task_id"]), STAGES[record["stage"]], int(record["arg_index"])


def problems(recording):
    """The violations of 6.3, 6.5 and 6.6 in a complete recording; empty if all is well."""
    found = []

    def expect(condition, *what):
        if not condition:
            found.append(" ".join(map(str, what)))

    extents = []
    for record in recording.arguments:
        name = key(record)
        flags = int(record["flags"])
        dtype, bits = DTYPES.get(int(record["dtype"]), (None, 0))
        expect(dtype, name, "dtype", record["dtype"])
        expect(record["ndim"] <= 8 and (record["shape"] >= 0).all(), name, "shape")
        expect(not record["shape"][record["ndim"]:].any(), name, "shape beyond ndim")
        expect(not record["strides"][record["ndim"]:].any(), name, "strides beyond ndim")
        expect(not record["reserved"].any() and not flags & ~(127 | READ), name, "reserved bits")
        expect(record["arg_index"] < 32 or (flags & READ and record["arg_index"] == 255), name,
               "arg_index")
        expect(not flags & READ or (record["kind"] == 1 and record["stage"] == 2), name, "read")
        if record["kind"] == 1:
            expect(bits >= 8 and record["ndim"] == 0 and record["bytes"] == 0, name, "scalar")
            expect(bits == 64 or int(record["value"]) < 1 << bits, name, "bits above the type")
            expect(not flags & ~(MARKED | READ), name, "flags of a scalar", flags)
            continue
        elements = int(np.prod(recording.shape(record), dtype=object))
        expect(int(record["bytes"]) == bytes_of(dtype, elements), name, "bytes")
        expect(record["value"] == 0, name, "value of a tensor")
        expect(record["stored"] <= record["bytes"], name, "stored more than there was")
        expect(record["stored"] > 0 or record["position"] == 0, name, "position of nothing")
        if flags & PAYLOAD and not flags & (TRUNCATED | OVERWRITTEN):
            expect(record["stored"] == record["bytes"], name, "payload not whole")
        data = recording.bytes(record)
        expect(data is not None, name, "payload beyond its file")
        if data and flags & HASHED and record["stored"] == record["bytes"]:
            expect(content_hash(data) == int(record["hash"]), name, "hash")
        if record["stored"] > 0:
            extents.append((int(record["position"]), int(record["stored"])))

    extents.sort()
    for (first, size), (second, _) in zip(extents, extents[1:]):
        expect(first + size <= second, "payloads at", first, "and", second, "overlap")
    found += _sequence_problems(recording) + _summary_problems(recording, extents)
    return found


def _sequence_problems(recording):
    found = []
    for stream in set(recording.arguments["stream"]) - {NO_STREAM}:
        sequence = recording.arguments["sequence"][recording.arguments["stream"] == stream]
        if (sequence != np.arange(len(sequence))).any():
            found.append(f"stream {stream}: sequence {sequence}")
    return found


def _summary_problems(recording, extents):
    summary, records = recording.summary, recording.arguments
    if summary is None:
        return ["not complete"]
    tensors = records[records["kind"] == 0]
    lost = int(summary["lost"].sum())
    expected = {
        "recorded": len(records), "attempted": len(records) + lost,
        "truncated": np.count_nonzero(records["flags"] & TRUNCATED),
        "overwritten": np.count_nonzero(records["flags"] & OVERWRITTEN),
        "payload_bytes": len(recording.payload), "scalars": len(records) - len(tensors),
        **{stage: np.count_nonzero(records["stage"] == i) for i, stage in enumerate(STAGES)},
        **{name: np.count_nonzero(tensors["role"] == i)
           for i, name in enumerate(("inputs", "outputs", "inouts"), start=1)},
    }
    found = [f"summary: {name} is {summary[name]}, not {value}"
             for name, value in expected.items() if int(summary[name]) != value]
    nothing_missing = not (lost or summary["truncated"] or summary["overwritten"])
    if nothing_missing and sum(size for _, size in extents) != len(recording.payload):
        found.append("bytes of the payload file that no record names")
    return found


# --- 7: the manifest -----------------------------------------------------------------------------

def hex_string(number):
    return f"0x{int(number):016x}"


def json_value(dtype, bits):
    """The manifest's `value`, as json.loads returns it."""
    value = decode(dtype, np.array([bits], "<u8").astype(f"<u{BITS[dtype] // 8}"))[0]
    if BITS[dtype] == 64 and "int" in dtype:
        return str(value)
    if "float" not in dtype:
        return value.item()
    if np.isnan(value) or np.isinf(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return float(str(value if dtype == "float64" else np.float32(value)))


def manifest_entry(recording, record):
    """The entry that the manifest has for a record of the journal."""
    dtype, _ = DTYPES[record["dtype"]]
    kernels = [int(number) for number in record["kernel"] if number != NO_KERNEL]
    flags, is_scalar = int(record["flags"]), record["kind"] == 1
    shape = list(recording.shape(record))
    entry = {
        "task_id": hex_string(record["task_id"]), "func_id": kernels,
        "kernel": [recording.kernels.get(number, "") for number in kernels],
        "arg_index": int(record["arg_index"]), "role": ROLES[record["role"]],
        "stage": STAGES[record["stage"]], "kind": KINDS[record["kind"]], "dtype": dtype,
        "is_contiguous": bool(is_scalar or flags & CONTIGUOUS),
        "shape": shape, "strides": [int(n) for n in record["strides"][:record["ndim"]]],
        "start_offset": int(record["start"]),
        "bin_offset": int(record["position"]), "bin_size": int(record["stored"]),
        "truncated": bool(flags & TRUNCATED), "overwritten": bool(flags & OVERWRITTEN),
        "hash": hex_string(record["hash"]) if flags & HASHED else None,
        "data_ptr": f"0x{int(record['data_ptr']):x}",
    }
    if is_scalar:
        entry["ndims"] = 0
        entry["value"] = json_value(dtype, int(record["value"]))
        entry["raw"] = hex_string(record["value"])
    if flags & PARTIAL:
        entry["partial"] = True
    if flags & MARKED:
        entry["marked"] = True
    if flags & READ:
        entry["read"] = True
    return entry


RESULTS = {0: "OK", -11: "CANCELLED", -32: "KERNEL_FAULT", -33: "HANG", -34: "DEVICE_LOST"}


def result_of(summary):
    """How the run ended; older journals do not say."""
    return {"result": RESULTS[int(summary["result"])]} if summary["flags"] & 1 else {}


def manifest_of(recording):
    """The whole manifest that belongs to a complete journal."""
    summary = recording.summary
    lost = {name: int(count) for name, count in zip(LOSSES, summary["lost"])}
    counted = {name: int(summary[field]) for name, field in (
        ("total_tensors", "recorded"), ("before_dispatch", "before_dispatch"),
        ("after_completion", "after_completion"), ("orchestration", "orchestration"),
        ("input_tensors", "inputs"), ("output_tensors", "outputs"), ("inout_tensors", "inouts"),
        ("scalars", "scalars"), ("truncated_tensors", "truncated"),
        ("overwritten_tensors", "overwritten"), ("attempted", "attempted"),
        ("record_ns", "record_ns"), ("wait_ns", "wait_ns"), ("payload_bytes", "payload_bytes"))}
    poison = int(recording.head["poison"])
    return {
        **({"poison": f"0x{poison:016x}"} if poison else {}),
        "version": 2, "run_dir": recording.head["run_dir"].decode(),
        "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
        "hash_algorithm": "tg64", "level": recording.level,
        "policy": POLICIES[recording.head["policy"]], "complete": True, **result_of(summary), **counted,
        "dropped_records": sum(lost.values()) - lost["overwritten"],
        "dropped_overwrite": counted["overwritten_tensors"] + lost["overwritten"],
        "lost": lost, "bin_file": recording.head["bin_file"].decode(),
        "tensors": [manifest_entry(recording, record) for record in recording.arguments],
    }
