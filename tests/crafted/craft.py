# SPDX-License-Identifier: Apache-2.0
"""Recordings that a stranger might send: each differs from a good one by something hostile.

crafts() lists them by name. The names say what is wrong, in the words of docs/wire-format.md; each is
made from the description of the format in e2e/wire_reader.py, never from the C sources. A craft changes a
copy of a good run's folder:

    for name, change in crafts(good):
        shutil.copytree(good, folder)
        change(folder)
"""

import json
import os
import pathlib
import socket
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import wire_reader as wire  # noqa: E402

JOURNAL = "tensor_dump/tensor_dump.rec"
MANIFEST = "tensor_dump/tensor_dump.json"
PAYLOAD = "tensor_dump/tensor_dump.bin"
SAMPLES = "scope_stats/scope_stats.jsonl"
PEAKS = "scope_stats/scope_stats.json"
FILES = ("run.json", "deps.json", JOURNAL, MANIFEST, PAYLOAD, SAMPLES, PEAKS)

GIGA = 1 << 30


# --- the journal ---------------------------------------------------------------------------------

def _journal(change, alone=True):
    """change(bytearray of the journal, as version 1 has it). What comes out is written in slots, a record
    that does not fit one in two. The manifest goes, unless both are to contradict each other."""
    def in_records(data):
        records = bytearray(wire.to_version_1(bytes(data)))
        change(records)
        data[:] = wire.to_version_2(bytes(records))
    return _slots(in_records, alone)


def _slots(change, alone=True):
    """change(bytearray of the journal as it is)."""
    def apply(folder):
        path = folder / JOURNAL
        data = bytearray(path.read_bytes())
        change(data)
        path.write_bytes(data)
        if alone:
            (folder / MANIFEST).unlink()
    return apply


def _seal_head(data):
    data[252:256] = int(wire.head_check(bytes(data[:256]))).to_bytes(4, "little")


def _seal(data, at):
    data[at + 4:at + 8] = int(wire.record_checks(bytes(data[at:at + 256]))[0]).to_bytes(4, "little")


def _heads():
    """Every byte of the head, with the check that it then has, and without."""
    for at in range(256):
        for name, value in (("ones", 0xff), ("flipped", None)):
            for sealed in (True, False):
                def change(data, at=at, value=value, sealed=sealed):
                    data[at] = data[at] ^ 0x5a if value is None else value
                    if sealed and at < 252:
                        _seal_head(data)
                if sealed and at >= 252:
                    continue
                yield f"head byte {at} {name}{' sealed' if sealed else ''}", _slots(change)


def _limits(kind, size):
    """Values at the limits of an integer of that many bits."""
    if kind == "i":
        top = 1 << (size - 1)
        return [0, 1, -1, 2, top - 1, -top, top // 2, 1 << 20]
    return [0, 1, 2, 3, (1 << size) - 1, (1 << size) - 2, 1 << (size - 1), (1 << (size - 1)) - 1,
            1 << (size // 2)]


def _fields(dtype):
    """Each integer field: name, offset, kind, size in bytes; the parts of arrays one by one."""
    for name, (field, offset) in ((n, dtype.fields[n][:2]) for n in dtype.names):
        base, shape = field.subdtype or (field, ())
        if base.kind not in "ui" or name in ("check", "reserved"):
            continue
        for i in range(int(np.prod(shape)) if shape else 1):
            if i in (0, 1, 7) or not shape:
                yield f"{name}[{i}]" if shape else name, offset + i * base.itemsize, base.kind, base.itemsize


def _records(journal):
    """One record of each sort: what it is called, where it is, how its fields are described."""
    data = np.frombuffer(journal, wire.ARGUMENT, offset=256)
    tensor = (data["type"] == 1) & (data["kind"] == 0)
    sorts = {"an input": tensor & (data["stage"] == 0), "an output": tensor & (data["stage"] == 1),
             "a scalar": (data["type"] == 1) & (data["kind"] == 1),
             "an argument of the orchestration": tensor & (data["stage"] == 2)}
    for name, found in sorts.items():
        if found.any():
            yield name, 256 * (1 + int(np.argmax(found))), wire.ARGUMENT
    yield "a kernel", 256 * (1 + int(np.argmax(data["type"] == 2))), wire.KERNEL
    yield "the summary", 256 * (1 + int(np.argmax(data["type"] == 3))), wire.SUMMARY


def _journal_fields(journal):
    for sort, at, dtype in _records(journal):
        for field, offset, kind, size in _fields(dtype):
            for value in _limits(kind, 8 * size):
                def change(data, place=at + offset, value=value, size=size, kind=kind, at=at):
                    data[place:place + size] = value.to_bytes(size, "little", signed=kind == "i")
                    _seal(data, at)
                yield f"{sort}: {field} = {value}", _journal(change)


def _slot_fields(slots):
    """The fields of packed arguments, which have fewer bits than those of records."""
    data = np.frombuffer(slots, wire.PACKED, offset=256)
    packed = (data["type"] == 1) & (data["flags"] & wire.MORE == 0)
    for sort, kind in (("a packed tensor", 0), ("a packed scalar", 1)):
        found = packed & (data["kind"] == kind)
        at = 256 + wire.SLOT * int(np.argmax(found))
        for field, offset, sign, size in _fields(wire.PACKED):
            for value in _limits(sign, 8 * size) if found.any() else ():
                def change(data, at=at, offset=offset, value=value, size=size, sign=sign):
                    slot = bytearray(data[at:at + wire.SLOT])
                    slot[offset:offset + size] = value.to_bytes(size, "little", signed=sign == "i")
                    data[at:at + wire.SLOT] = wire.seal_slot(bytes(slot))
                yield f"{sort}: {field} = {value}", _slots(change)


def _rests():
    """Records in two slots whose halves do not belong together."""
    def summary(data):
        return len(data) - 2 * wire.SLOT

    def swap(data):
        at = summary(data)
        data[at:] = data[at + wire.SLOT:] + data[at:at + wire.SLOT]

    def twice(data):
        data.extend(data[-wire.SLOT:])

    def alone(data):
        del data[256:-wire.SLOT]

    def without(data):
        at = 256 + data[256:].index(b"\1\0") // wire.SLOT * wire.SLOT
        slot = bytearray(data[at:at + wire.SLOT])
        slot[2] |= wire.MORE
        data[at:at + wire.SLOT] = wire.seal_slot(bytes(slot))

    def all_more(data):
        for at in range(256, len(data), wire.SLOT):
            slot = bytearray(data[at:at + wire.SLOT])
            slot[2] |= wire.MORE
            data[at:at + wire.SLOT] = wire.seal_slot(bytes(slot))

    for name, change in (("swapped", swap), ("twice", twice), ("alone", alone), ("missing", without),
                         ("missing everywhere", all_more)):
        yield f"the rest of a record: {name}", _slots(change)


NAMES = [b"", b"\xff" * 239, b"A" * 240, b"../../x", b"/etc/passwd", b"\x1b[31mred\x1b[0m", b"a\nb\rc",
         "\u202etxt.exe".encode(), "\x9b31m".encode(), b"%s%n%n", b'"; DROP TABLE records; --',
         b"</script><script>", b"=1+1", b"a; system(0)", b"-rf"]


def _texts(journal):
    places = {"bin_file": (0, 40, 80), "run_dir": (0, 120, 132)}
    places["a kernel's name"] = (next(at for name, at, _ in _records(journal) if name == "a kernel"), 16,
                                 240)
    for where, (at, offset, room) in places.items():
        for text in NAMES:
            def change(data, at=at, offset=offset, room=room, text=text):
                data[at + offset:at + offset + room] = text[:room].ljust(room, b"\0")
                if at == 0:
                    _seal_head(data)
                else:
                    _seal(data, at)
            yield f"{where} = {text[:20]!r}", (_slots if at == 0 else _journal)(change)


def _tensors(journal):
    """Geometry that contradicts itself, in all records of a task or in some."""
    data = np.frombuffer(journal, wire.ARGUMENT, offset=256)
    found = [256 * (1 + int(i)) for i in np.flatnonzero((data["type"] == 1) & (data["kind"] == 0))]

    def put(data, at, **fields):
        record = np.frombuffer(bytes(data[at:at + 256]), wire.ARGUMENT).copy()
        for name, value in fields.items():
            if isinstance(value, list):
                record[name][0, :len(value)] = value
            else:
                record[name][0] = value
        data[at:at + 256] = record.tobytes()
        _seal(data, at)

    huge = (1 << 63) - 1
    ideas = {
        "the address wraps": {"data_ptr": (1 << 64) - 16},
        "the address is the last": {"data_ptr": (1 << 64) - 1},
        "the start is far below": {"start": -(1 << 62)},
        "the start is far above": {"start": 1 << 62},
        "strides of petabytes": {"strides": [1 << 50, 1 << 49]},
        "strides backwards": {"strides": [-8, -1]},
        "strides of zero": {"strides": [0, 0]},
        "strides that overflow": {"strides": [huge, huge]},
        "a shape that overflows": {"ndim": 8, "shape": [1 << 31] * 8},
        "a shape of many zeros": {"ndim": 8, "shape": [0, huge, huge, huge, huge, huge, huge, huge]},
        "no dimensions": {"ndim": 0},
        "eight dimensions": {"ndim": 8, "shape": [1] * 8, "strides": [huge] * 8},
        "nine dimensions": {"ndim": 9},
        "255 dimensions": {"ndim": 255},
        "a negative shape": {"shape": [-1, 8]},
        "bytes for another shape": {"bytes": 1 << 40},
        "one byte": {"bytes": 1, "stored": 1},
        "no bytes": {"bytes": 0, "stored": 0},
        "more stored than bytes": {"stored": 1 << 40},
        "a position that wraps": {"position": (1 << 64) - 8},
        "a position behind the end": {"position": 1 << 40},
        "a type of 64 bits": {"dtype": 1},
        "a type of 4 bits": {"dtype": 8},
        "no type": {"dtype": 0},
        "an unknown type": {"dtype": 200},
        "argument 15": {"arg_index": 15},
        "argument 31": {"arg_index": 31},
        "argument 255": {"arg_index": 255},
        "a scalar with a shape": {"kind": 1},
        "an unknown kind": {"kind": 7},
        "an input after completion": {"stage": 1, "role": 1},
        "an output before dispatch": {"stage": 0, "role": 2},
        "no role": {"role": 0},
        "an unknown role": {"role": 9},
        "an unknown stage": {"stage": 3},
        "all flags": {"flags": 0xffff},
        "no flags": {"flags": 0},
        "no hash": {"flags": wire.CONTIGUOUS | wire.PAYLOAD},
        "kernels that have no name": {"kernel": [77, 78, 79]},
        "no kernels": {"kernel": [wire.NO_KERNEL] * 3},
        "a mix of one kernel": {"kernel": [0, 0, 0]},
        "no task": {"task_id": wire.NO_TASK},
        "ring 4 billion": {"task_id": 0xfffffffe00000001},
    }
    for name, fields in ideas.items():
        for which, places in (("the first tensor", found[:1]), ("the last tensor", found[-1:]),
                              ("every tensor", found), ("every second tensor", found[::2])):
            def change(data, places=places, fields=fields):
                for at in places:
                    put(data, at, **fields)
            yield f"{which}: {name}", _journal(change)
    for times in (1, 40, 5000):
        def repeat(data, times=times):
            extra = bytearray()
            for i in range(times):
                record = np.frombuffer(bytes(data[found[0]:found[0] + 256]), wire.ARGUMENT).copy()
                record["sequence"][0] += i
                record["shape"][0, 0] = 1 + i
                extra += record.tobytes()
                _seal(extra, 256 * i)
            data[found[0] + 256:found[0] + 256] = extra
        yield f"an argument {times + 1} times, each of another shape", _journal(repeat)


# --- claims --------------------------------------------------------------------------------------

# What the records claim of the payload file, whose size is the last number: records, bytes of each, bytes
# from one to the next.
CLAIMS = {
    "4000 records share 1 MiB": (4000, 1 << 20, 0, 1 << 20),
    "4000 records overlap by 1 MiB": (4000, 1 << 20, 4096, 32 << 20),
    "300 records share 64 KiB": (300, 64 << 10, 0, 64 << 10),
    "1000 records share a hole of 8 TiB": (1000, 8192 * GIGA, 0, 8192 * GIGA),
    "1000 records overlap in a hole of 8 TiB": (1000, 4096 * GIGA, GIGA, 8192 * GIGA),
    "64 records have 128 GiB of a hole each": (64, 128 * GIGA, 128 * GIGA, 8192 * GIGA),
    "one record has a hole of 8 TiB": (1, 8192 * GIGA, 0, 8192 * GIGA),
}


def claiming(journal, records, size, step):
    """A journal without a summary whose tensors claim these bytes, one input and one output in a task."""
    data = np.frombuffer(journal, wire.ARGUMENT, offset=256)
    names = journal[256:256 * (1 + int(np.argmax(data["type"] == 1)))]
    first = int(np.argmax((data["type"] == 1) & (data["kind"] == 0) & (data["stage"] == 0)))
    made = np.repeat(data[first:first + 1], records)
    number = np.arange(records, dtype=np.uint64)
    made["sequence"], made["task_id"] = number, number // 2
    made["stage"] = made["arg_index"] = number % 2
    made["role"] = 1 + number % 2
    made["dtype"], made["ndim"], made["start"] = 17, 1, 0
    made["shape"], made["strides"] = 0, 0
    made["shape"][:, 0], made["strides"][:, 0] = size, 1
    made["bytes"] = made["stored"] = size
    made["position"] = number * np.uint64(step)
    made["flags"] = wire.CONTIGUOUS | wire.PAYLOAD | wire.HASHED
    made["check"] = wire.record_checks(made.tobytes())
    return journal[:256] + names + made.tobytes()


def _entry_of(record):
    """An entry of a manifest."""
    return {"task_id": "0x%016x" % record["task_id"], "func_id": [0], "kernel": ["k"],
            "role": wire.ROLES[record["role"]], "stage": wire.STAGES[record["stage"]],
            "arg_index": int(record["arg_index"]), "kind": "tensor", "dtype": "uint8",
            "shape": [int(record["shape"][0])], "strides": [1], "start_offset": 0, "is_contiguous": True,
            "truncated": False, "overwritten": False, "bin_offset": int(record["position"]),
            "bin_size": int(record["stored"]), "hash": "0x%016x" % record["hash"],
            "data_ptr": "0x%016x" % record["data_ptr"]}


def _claims(journal):
    for name, (records, size, step, file_size) in CLAIMS.items():
        for kept in ("journal", "manifest", "both"):
            def change(folder, records=records, size=size, step=step, file_size=file_size, kept=kept):
                made = claiming(journal, records, size, step)
                data = np.frombuffer(made, wire.ARGUMENT, offset=256)
                document = json.loads((folder / MANIFEST).read_text())
                document = {"version": document["version"], "run_dir": "x", "bin_file": document["bin_file"],
                            "tensors": [_entry_of(record) for record in data[data["type"] == 1]]}
                (folder / JOURNAL).write_bytes(made)
                (folder / MANIFEST).write_text(json.dumps(document))
                if kept != "both":
                    (folder / (MANIFEST if kept == "journal" else JOURNAL)).unlink()
                os.truncate(folder / PAYLOAD, file_size)
            yield f"{name} ({kept})", change


# --- JSON ----------------------------------------------------------------------------------------

VALUES = ["null", "-1", "9223372036854775808", "18446744073709551616", "1e308", "-1e999", "0.5", "true",
          '""', '"x"', '"0xffffffffffffffff"', '"../../../x"', '"/dev/zero"', "[]", "{}", "[[[[[[]]]]]]",
          "[-1, 0, 9223372036854775807, 9223372036854775807]", '"\\u001b[2J\\u202e\\u0000\\ud800"',
          '"' + "A" * 100000 + '"', "[" + ", ".join(["1"] * 1000) + "]"]


def _paths(value, path=()):
    """The ways to every member, but only to the first element of each array."""
    if path:
        yield path
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _paths(member, (*path, name))
    elif isinstance(value, list) and value:
        yield from _paths(value[0], (*path, 0))


class _Raw:
    """Text that stands for a value: JSON that json.dumps would not write."""
    MARK = "@here@"


def _with(document, path, text):
    copy = json.loads(json.dumps(document))
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = _Raw.MARK
    return json.dumps(copy).replace(f'"{_Raw.MARK}"', text)


def _without_checks(document):
    document.pop("check", None)
    for entry in document["tensors"]:
        entry.pop("check", None)
        entry.pop("sum", None)
    return document


def _documents(good):
    """Every member of every document, once with each value. A setting of run.json stands for all."""
    for name in ("run.json", "deps.json", MANIFEST, PEAKS):
        document = json.loads((good / name).read_text())
        if name == MANIFEST:
            document = _without_checks(document)
        paths = [path for path in _paths(document)
                 if path[0] != "options" or path[1:2] in ((), ("platform",))]
        for path in paths:
            for text in VALUES:
                def change(folder, name=name, document=document, path=path, text=text):
                    (folder / name).write_text(_with(document, path, text))
                    if name == MANIFEST:
                        (folder / JOURNAL).unlink()
                yield f"{name}: {'.'.join(map(str, path))} = {text[:40]}", change
    lines = (good / SAMPLES).read_text().splitlines()
    for number in (0, 1, len(lines) - 1):
        document = json.loads(lines[number])
        for path in _paths(document):
            for text in VALUES:
                def change(folder, number=number, document=document, path=path, text=text):
                    changed = [*lines[:number], _with(document, path, text), *lines[number + 1:]]
                    (folder / SAMPLES).write_text("\n".join(changed) + "\n")
                yield f"{SAMPLES}, line {number + 1}: {'.'.join(map(str, path))} = {text[:40]}", change


def _bombs(good):
    texts = {"a million brackets": b"[" * 1000000, "a million objects": b'{"a":' * 1000000,
             "a long number": b"1" * 1000000, "a long string": b'"' + b"x" * 40000000 + b'"',
             "a string without end": b'{"version": "', "a byte order mark": b"\xef\xbb\xbf{}",
             "UTF-16": "{}".encode("utf-16"), "zeros": bytes(70000), "no UTF-8": b'{"\xff\xfe": "\xc0\xaf"}',
             "one zero": b"\0", "nothing but spaces": b" " * 1000000,
             "a key twice": b'{"version": 1, "version": 2, "tensors": [], "tensors": 3}',
             "a million tasks": b'{"tasks": [' + b'{"task_id": "0x0"},' * 1000000 + b"{}]}",
             "a million entries": b'{"version": 1, "tensors": [' + b"{}," * 1000000 + b"{}]}"}
    for name in ("run.json", "deps.json", MANIFEST, SAMPLES, PEAKS):
        for what, data in texts.items():
            def change(folder, name=name, data=data):
                (folder / name).write_bytes(data)
                if name == MANIFEST:
                    (folder / JOURNAL).unlink()
            yield f"{name}: {what}", change


# --- what is not a file --------------------------------------------------------------------------

def _socket(path):
    here = os.getcwd()
    os.chdir(path.parent)  # the address of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _grow(size):
    def apply(path):
        path.write_bytes(path.read_bytes() if path.exists() else b"")
        os.truncate(path, size)
    return apply


def _sparse(size):
    def apply(path):
        path.write_bytes(b"")
        os.truncate(path, size)
    return apply


def _link(target):
    def apply(path):
        path.symlink_to(target)
    return apply


REPLACED = {
    "missing": lambda path: None,
    "empty": lambda path: path.write_bytes(b""),
    "a folder": lambda path: path.mkdir(),
    "a FIFO": lambda path: os.mkfifo(path),
    "a socket": _socket,
    "a link to /dev/zero": _link("/dev/zero"),
    "a link to /dev/full": _link("/dev/full"),
    "a link to /dev/random": _link("/dev/random"),
    "a link to /dev/stdin": _link("/dev/stdin"),
    "a link to a terminal": _link("/dev/ptmx"),
    "a link to /proc/kmsg": _link("/proc/kmsg"),
    "a link to /proc/self/mem": _link("/proc/self/mem"),
    "a link to /proc/self/fd": _link("/proc/self/fd"),
    "a link to itself": _link("tensor_dump.rec"),
    "a link to nothing": _link("nowhere"),
    "a link to a password file": _link("/etc/passwd"),
    "holes of 20 GiB": _sparse(20 * GIGA),
    "holes of 8 TiB": _sparse(8192 * GIGA),
    "random bytes": lambda path: path.write_bytes(np.random.default_rng(1).bytes(300000)),
}
STRETCHED = {"20 GiB of holes behind it": 20 * GIGA, "8 TiB of holes behind it": 8192 * GIGA,
             "4096 zeros behind it": None}


def _files(good):
    for name in FILES:
        for what, make in REPLACED.items():
            def change(folder, name=name, make=make):
                (folder / name).unlink()
                make(folder / name)
            yield f"{name}: {what}", change
        size = (good / name).stat().st_size
        for what, length in STRETCHED.items():
            def change(folder, name=name, length=length or size + 4096):
                os.truncate(folder / name, length)
            yield f"{name}: {what}", change
        for part in range(12):
            def change(folder, name=name, length=size * part // 12 + (part % 3)):
                os.truncate(folder / name, length)
            yield f"{name}: cut to {part} twelfths", change
        def append(folder, name=name):
            with (folder / name).open("ab") as file:
                file.write(b"}\0\xff junk [" * 3)
        yield f"{name}: junk behind it", append
    for name in ("tensor_dump", "scope_stats"):
        def file(folder, name=name):
            (folder / name).rename(folder / "away")
            (folder / name).write_text("a file")
        yield f"{name} is a file", file
        def loop(folder, name=name):
            (folder / name).rename(folder / "away")
            (folder / name).symlink_to(name)
        yield f"{name} is a link to itself", loop


def crafts(good):
    """(name, change) of every crafted recording. The same ones in the same order every time."""
    slots = (good / JOURNAL).read_bytes()
    journal = wire.to_version_1(slots)
    for part in (_heads(), _journal_fields(journal), _slot_fields(slots), _rests(),
                 _texts(journal), _tensors(journal), _claims(journal), _documents(good),
                 _bombs(good), _files(good)):
        yield from part
