#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""made.py FOLDER: recordings in which every byte is chosen, times too, for pictures that are always the same.

    outputs/good      25 tasks on 6 cores: two layers of four tiles, and their sum; with edges and scopes
    outputs/wrong     the same, but one task writes a wrong number
    outputs/nan       the same, but it writes a NaN
    hostile/...       the same as nan, but every name is an attack
    plain/...         without edges, times and scopes
    ranks/job         three ranks that talk to each other: rank 2 did not send what rank 0 waits for
    ranks_hostile/... the same, but every name is an attack

A recording is written from docs/wire-format.md alone, with the checks of tests/e2e/wire_reader.py.
"""

import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import wire_reader as wire  # noqa: E402
from scopes import ScopeStats  # noqa: E402

SHAPE = (48, 64)
TILES = 4
RING = 1 << 32
START = 1_000_000_000  # of the device's clock, in nanoseconds
ATTACK = "<script>window.stolen=1</script>\"'><img src=x onerror=window.stolen=1></script>\u202egnp &amp;"
AIC, AIV = 0, 1


class Run:
    """The files of a run. `named` gives each name its form, so that a run can be hostile."""

    def __init__(self, folder, named=str, status="OK"):
        self.folder, self.named, self.status = folder, named, status
        self.kernels, self.tasks, self.records, self.payload = [], [], [], b""
        self.tensors = []  # of the case
        self.start = START

    def kernel(self, name, core):
        self.kernels.append((self.named(name), core))
        return len(self.kernels) - 1

    def tensor(self, name, role, array, address):
        self.tensors.append({"name": self.named(name), "arg": len(self.tensors), "role": role,
                             "dtype": "float32", "shape": list(array.shape), "bytes": array.nbytes,
                             "address": f"{address:#018x}"})

    def record(self, task, stage, role, index, value, address):
        """One argument: an array, or a number."""
        one = np.zeros(1, wire.ARGUMENT)[0]
        one["type"], one["task_id"], one["kernel"] = 1, task["id"], wire.NO_KERNEL
        one["kernel"][1 if self.kernels[task["kernel"]][1] == AIV else 0] = task["kernel"]
        one["stage"], one["role"], one["arg_index"] = stage, role, index
        one["stream"] = one["core"] = task["core"]
        one["sequence"] = sum(other["core"] == task["core"] for other in self.records)
        one["time"] = task["begin"] if stage == 0 else task["end"]
        if isinstance(value, np.ndarray):
            data = value.astype("<f4").tobytes()
            one["flags"] = wire.CONTIGUOUS | wire.HASHED | wire.PAYLOAD
            one["dtype"], one["ndim"], one["data_ptr"] = 2, value.ndim, address
            one["shape"][:value.ndim] = value.shape
            one["strides"][:value.ndim] = [int(np.prod(value.shape[i + 1:])) for i in range(value.ndim)]
            one["hash"], one["bytes"] = wire.content_hash(data), len(data)
            one["stored"], one["position"] = len(data), len(self.payload)
            self.payload += data
        else:
            one["kind"], one["dtype"], one["value"] = 1, 9, value
        self.records.append(one)

    def task(self, kernel, core, begin, end, inputs, output, scalar, after, scope, line):
        """`inputs`, `output`: pairs of an array and its address."""
        task = {"id": RING + len(self.tasks), "kernel": kernel, "core": core,
                "begin": self.start + begin * 1000, "end": self.start + end * 1000, "after": after,
                "scope": self.named(scope), "line": self.named(line)}
        self.tasks.append(task)
        for index, (array, address) in enumerate(inputs):
            self.record(task, 0, 1, index, array, address)
        self.record(task, 0, 1, len(inputs) + 1, scalar, 0)
        self.record(task, 1, 2, len(inputs), *output)
        return task

    def write(self, edges=True):
        self.folder.mkdir(parents=True)
        self._write_journal()
        if edges:
            self._write_edges()
        self._write_report()

    def _write_journal(self):
        head = np.zeros(1, wire.HEAD)[0]
        head["magic"], head["version"], head["head_size"], head["record_size"] = wire.MAGIC, 1, 256, 256
        head["compatible"], head["level"] = wire.CHECKED, 5
        head["bin_file"], head["run_dir"] = b"tensor_dump.bin", b"run"
        records = []
        for number, (name, core) in enumerate(self.kernels):
            one = np.zeros(1, wire.KERNEL)[0]
            one["type"], one["kernel"], one["core"], one["name"] = 2, number, core, name.encode()
            records.append(one.tobytes())
        records += [one.tobytes() for one in sorted(self.records, key=lambda one: int(one["time"]))]
        records.append(self._summary().tobytes())
        folder = self.folder / "tensor_dump"
        folder.mkdir()
        (folder / "tensor_dump.bin").write_bytes(self.payload)
        (folder / "tensor_dump.rec").write_bytes(
            wire.to_version_2(head.tobytes() + b"".join(records)))

    def _summary(self):
        one = np.zeros(1, wire.SUMMARY)[0]
        one["type"], one["attempted"], one["recorded"] = 3, len(self.records), len(self.records)
        one["payload_bytes"] = len(self.payload)
        for name, wanted in (("before_dispatch", ("stage", 0)), ("after_completion", ("stage", 1)),
                             ("scalars", ("kind", 1)), ("outputs", ("role", 2))):
            one[name] = sum(record[wanted[0]] == wanted[1] for record in self.records)
        one["inputs"] = sum(record["role"] == 1 and record["kind"] == 0 for record in self.records)
        return one

    def _write_edges(self):
        tasks = [{"task_id": f"{task['id']:#018x}", "func_id": [task["kernel"]],
                  "kernel": [self.kernels[task["kernel"]][0]], "scope": task["scope"],
                  "line": task["line"], "submitted": self.start + 300 * number,
                  "after": [f"{other['id']:#018x}" for other in task["after"]],
                  "kind": ["raw"] * len(task["after"])}
                 for number, task in enumerate(self.tasks)]
        (self.folder / "deps.json").write_text(json.dumps(
            {"version": "0.1.0", "workload": self.named("layers"), "case": self.named("small"),
             "runtime": "tensormap_and_ringbuffer", "lost": 0, "tasks": tasks}))

    def _write_report(self):
        good = self.status == "OK"
        (self.folder / "run.json").write_text(json.dumps({
            "version": "0.1.0", "workload": self.named("layers"), "module": "layers.so",
            "case": self.named("small"), "params": {"tile": self.named("64")}, "platform": "a2a3sim",
            "runtime": "tensormap_and_ringbuffer",
            "command_line": ["taskglass", "run", self.named("layers"), "--dump-tensor"],
            "options": {}, "result": {"status": self.status, "exit_code": 0 if good else 1},
            "error": None if good else {"status": self.status,
                                        "message": self.named("sum differs from the reference")},
            "device": {"cores": 6, "blocks": 2, "schedulers": 0, "memory": 1 << 32,
                       "memory_used": 1 << 20, "host_sees_memory": True, "lost": False},
            "times": {"started": "2026-01-02T03:04:05+0000", "execute_seconds": 0.25,
                      "total_seconds": 0.5},
            "counters": {"tasks": len(self.tasks), "edges": sum(len(t["after"]) for t in self.tasks),
                         "finished": len(self.tasks), "waiting": 0, "cores": 6, "schedulers": 0},
            "tensors": self.tensors, "outputs": [],
            "recorder": {"status": "OK", "message": "", "attempted": len(self.records),
                         "recorded": len(self.records), "truncated": 0, "overwritten": 0,
                         "lost": dict.fromkeys(wire.LOSSES, 0),
                         "payload_bytes": len(self.payload)},
            "warnings": []}))


def pattern(tile):
    """What the first tasks read: waves, with zeros, an infinity and numbers that are too small."""
    row, column = np.mgrid[:SHAPE[0], :SHAPE[1]]
    array = (np.sin(row / 6 + tile) * np.cos(column / 9)).astype("<f4")
    array[:4, :6] = 0
    array[-1, -1] = 1e-40
    return array


def layers(folder, wrong=None, named=str, status="OK", edges=True, timed=True, calls=None, start=START):
    """Two layers of four tiles: product, bias, step; then the sum. `wrong` takes the place of one element that the bias
    of tile 2 in layer 0 writes. `calls` adds tasks to the run before it is written."""
    run = Run(folder, named, status)
    run.start = start
    product, bias, step = run.kernel("product", AIC), run.kernel("bias", AIV), run.kernel("step", AIV)
    total = run.kernel("sum", AIV)
    weights, at_weights = np.outer(np.linspace(-1, 1, SHAPE[0]), np.ones(SHAPE[1])).astype("<f4"), 0x900000
    tiles = [(pattern(tile), 0x100000 + tile * 0x10000) for tile in range(TILES)]
    run.tensor("weights", "in", weights, at_weights)
    for tile, (array, address) in enumerate(tiles):
        run.tensor(f"x{tile}", "in", array, address)
    before = [[] for _ in range(TILES)]
    for layer in range(2):
        for tile in range(TILES):
            begin = layer * 120 + tile * 9
            value, address = tiles[tile]
            chain = [(product, 3 * (tile % 2), 0, 14 + 2 * tile, value * weights + 0.25),
                     (bias, 1 + 3 * (tile % 2), 40 + 5 * tile, 60 + 7 * tile, None),
                     (step, 2 + 3 * (tile % 2), 75 + 9 * tile, 84 + 9 * tile, None)]
            for kernel, core, first, last, result in chain:
                if kernel == bias:
                    result = value + np.float32(layer + 1)
                    if wrong is not None and (layer, tile) == (0, 2):
                        result = result.copy()
                        result[17, 41] = wrong
                elif kernel == step:
                    result = np.maximum(value, np.float32(1))  # passes a NaN on
                inputs = [(value, address)] + ([(weights, at_weights)] if kernel == product else [])
                address = 0x1000000 * (layer + 1) + tile * 0x100000 + kernel * 0x10000
                value = result.astype("<f4")
                task = run.task(kernel, core, begin + first, begin + last, inputs, (value, address), layer,
                                before[tile], f"model.c:{20 + layer}", f"model.c:{30 + kernel}")
                before[tile] = [task]
            tiles[tile] = (value, address)
    result = sum(array for array, _ in tiles).astype("<f4")
    run.tensor("sum", "out", result, 0x800000)
    run.task(total, 4, 260, 275, tiles, (result, 0x800000), 2, [task for group in before for task in group],
             "model.c:12", "model.c:40")
    if calls:
        calls(run, (result, 0x800000))
    if not timed:
        for record in run.records:
            record["time"] = 0
    run.write(edges)


def scopes(folder):
    stats = ScopeStats(folder, task_window=64, heap=1 << 16, dep_pool=64, tensormap=256)
    stats.begin("model.c:12")
    for number in range(40):
        stats.tensormap = 3 * number
        stats.scope(f"model.c:{20 + number % 2}", task_window=number % 17, heap=700 * (number % 23),
                    dep_pool=number % 11)
    stats.end()
    stats.write()


RANKS = 3
# What each rank calls, in microseconds of rank 0's clock since the run began:
# (name, peer, tag, operation, number, posted, matched, done).
CALLS = [
    [("tg_send", 1, 3, None, 0, 280, 291, 296), ("tg_all_reduce", None, None, "sum", 0, 300, 330, 342),
     ("tg_recv", 2, 9, None, 0, 350, None, None)],
    [("tg_recv", 0, 3, None, 0, 276, 282, 298), ("tg_all_reduce", None, None, "sum", 0, 312, 330, 344),
     ("tg_send", 2, 4, None, 0, 348, 352, 358)],
    [("tg_all_reduce", None, None, "sum", 0, 329, 330, 343), ("tg_recv", 1, 4, None, 0, 346, 349, 360)],
]


def write_calls(folder, rank, start, tasks, named):
    lines = [{"version": 1, "rank": rank, "ranks": RANKS}]
    for task, (name, peer, tag, operation, number, *times) in zip(tasks, CALLS[rank]):
        posted, matched, done = (None if time is None else str(start + time * 1000) for time in times)
        lines.append({"task": f"{task['id']:016x}", "call": name, "peer": peer, "tag": tag,
                      "operation": operation, "number": number, "dtype": "float32",
                      "elements": SHAPE[0] * SHAPE[1], "bytes": SHAPE[0] * SHAPE[1] * 4,
                      "site": named(f"model.c:{50 + number}"), "posted_ns": posted,
                      "matched_ns": matched, "done_ns": done, "state": "waits" if done is None else "done"})
    lines.append({"end": True, "calls": len(lines) - 1})
    (folder / "comm.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def ranks(folder, named=str):
    """Three ranks on three machines, whose clocks are seconds apart."""
    listed = []
    for rank in range(RANKS):
        start, tasks = START + rank * 7_000_000_000, []

        def add(run, value, rank=rank, tasks=tasks):
            for name, *_, posted, _, done in CALLS[rank]:
                tasks.append(run.task(run.kernel(name, AIV), 1, posted, done or 400, [value], value, 0, [],
                                      "model.c:12", "model.c:50"))

        place = folder / f"rank{rank}"
        layers(place, named=named, calls=add, start=start)
        write_calls(place, rank, start, tasks, named)
        listed.append({"rank": rank, "folder": place.name, "host": named(f"node{rank}"), "pid": 100 + rank,
                       "local_rank": 0, "status": "HANG" if rank == 0 else "RANK_LOST",
                       "error": named("rank 0 waits in tg_recv from rank 2") if rank == 0 else "",
                       "clock": {"offset_ns": str(-rank * 7_000_000_000), "drift": 0, "at_ns": str(start),
                                 "error_ns": 900 * rank, "samples": 64}})
    (folder / "ranks.json").write_text(json.dumps({
        "version": 1, "workload": named("layers"), "case": named("small"), "ranks": RANKS,
        "transport": "local", "about": named("shared memory"), "status": "HANG", "rank": listed}))


def main():
    base = pathlib.Path(sys.argv[1])
    layers(base / "outputs" / "good")
    scopes(base / "outputs" / "good")
    layers(base / "outputs" / "wrong", 7.5, status="MISMATCH")
    layers(base / "outputs" / "nan", np.nan, status="MISMATCH")
    layers(base / "hostile" / ATTACK.replace("/", "\u2215"), np.nan, named=lambda name: f"{name}{ATTACK}")
    layers(base / "plain" / "plain", edges=False, timed=False)
    ranks(base / "ranks" / "job")
    ranks(base / "ranks_hostile" / "job", named=lambda name: f"{name}{ATTACK}")


if __name__ == "__main__":
    main()
