#!/usr/bin/env python3
"""Measures what comparing two recordings costs, beside reading both files in the same run.

hashes equal hashes settle all tensors but one equal no hashes, equal bytes one no hashes, one
element of one tensor differs TYPE every element differs, within the tolerance
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

TENSOR = 64 << 20
BITS = {"float64": 64, "float32": 32, "float16": 16, "bfloat16": 16, "float8_e4m3fn": 8,
        "int32": 32, "int64": 64}
TYPES = ("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "int32", "int64")
CASES = ("hashes", "equal", "one", *TYPES)
# Bytes of both recordings per second, at least. From memory the loops are several times faster.
LEAST_RATE = {"equal": 4e9, "one": 4e9, "float32": 2e9}
LEAST_INSTANT_S = 0.2


def names(text):
    chosen = text.split(",")
    for name in chosen:
        if name not in CASES:
            raise argparse.ArgumentTypeError(f"{name}: not one of {', '.join(CASES)}")
    return chosen


def size(text):
    units = {"M": 1 << 20, "G": 1 << 30}
    try:
        return int(float(text[:-1]) * units[text[-1].upper()])
    except (KeyError, ValueError, IndexError):
        raise argparse.ArgumentTypeError(f"{text}: 512M, 4G …") from None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bench", metavar="DIR",
                        help="where the programs are (default: %(default)s)")
    parser.add_argument("--dir", metavar="DIR", help="where recordings are made")
    parser.add_argument("--cases", type=names, default=list(CASES))
    parser.add_argument("--size", type=size, default="1G",
                        help="payload of one recording (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (default: %(default)s)")
    parser.add_argument("--quick", action="store_true",
                        help="2 rounds of 128 MiB: does it work, not how fast is it")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.size, options.rounds = 128 << 20, 2
    return options


def write_recording(folder, dtype, arrays, hashes):
    folder = folder / "tensor_dump"
    folder.mkdir(parents=True)
    entries, position = [], 0
    with open(folder / "tensor_dump.bin", "wb") as payload:
        for task, array in enumerate(arrays):
            data = memoryview(array).cast("B")
            payload.write(data)
            entries.append({
                "task_id": f"0x{task:016x}", "func_id": [0], "kernel": ["k"], "arg_index": 0,
                "role": "output", "stage": "after_completion", "kind": "tensor", "dtype": dtype,
                "is_contiguous": True, "shape": [len(data) * 8 // BITS[dtype]], "strides": [1],
                "start_offset": 0, "bin_offset": position, "bin_size": len(data),
                "truncated": False, "overwritten": False, "data_ptr": f"0x{4096 + position:016x}",
                "hash": f"0x{hashes[task]:016x}" if hashes else None})
            position += len(data)
    manifest = {"version": 1, "level": "full", "complete": True, "bin_file": "tensor_dump.bin",
                "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
                "total_tensors": len(entries), "payload_bytes": position, "tensors": entries}
    (folder / "tensor_dump.json").write_text(json.dumps(manifest))


def two_tensors(dtype):
    """A tensor, and one that differs a little in every element."""
    random = numpy.random.default_rng(1)
    count = TENSOR * 8 // BITS[dtype]
    if dtype == "float8_e4m3fn":
        codes = random.integers(8, 0x60, count, dtype="u1")
        return codes, codes + numpy.uint8(1)
    if dtype.startswith("int"):
        values = random.integers(-1000000, 1000000, count, dtype=dtype)
        return values, values + numpy.dtype(dtype).type(1)
    if dtype == "bfloat16":
        values = random.standard_normal(count, dtype="f4").view("u4")
        codes = (values >> 16).astype("u2")
        return codes, codes ^ numpy.uint16(1)
    values = random.standard_normal(count, dtype="f4").astype(dtype)
    return values, numpy.nextafter(values, numpy.dtype(dtype).type(numpy.inf))


def make_pair(folder, case, total):
    """Makes a pair of recordings in a child process: memory that this process holds would count as
    memory of the programs that it starts."""
    process = multiprocessing.Process(target=write_pair, args=(folder, case, total))
    process.start()
    process.join()
    if process.exitcode != 0:
        sys.exit(f"cannot make the recordings of {case}")
    return 2 * max(2, total // TENSOR) * TENSOR


def write_pair(folder, case, total):
    dtype = case if case in TYPES else "float32"
    count = max(2, total // TENSOR)
    a, b = two_tensors(dtype)
    if case not in TYPES:
        b = a
    changed = a.copy()
    changed[len(changed) // 2] += 1
    hashes = list(range(1, count + 1)) if case == "hashes" else None
    write_recording(folder / "a", dtype, [a] * count, hashes)
    others = [b] * count
    if case in ("hashes", "one"):
        others[count // 2] = changed
        hashes = hashes and [*hashes[:count // 2], 999, *hashes[count // 2 + 1:]]
    write_recording(folder / "b", dtype, others, hashes)


def run(command, codes):
    """Runs a command; returns its seconds and its largest resident size in KiB."""
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - began
    if process.returncode not in codes:
        sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}")
    return took, usage.ru_maxrss


def measure(options, case, folder):
    total = make_pair(folder, case, options.size)
    binaries = pathlib.Path(options.bin)
    program = binaries / os.pardir / "bin" / "taskglass"
    diff = [program, "diff", folder / "a", folder / "b", "--limit", "0"]
    if case.startswith("int"):
        diff += ["--atol", f"dtype={case}:1"]
    floor = [binaries / "bench_diff_floor", *(folder / side / "tensor_dump" / "tensor_dump.bin"
                                              for side in "ab")]
    run(floor, (0,))  # the files are in memory afterwards
    took = [(run(diff, (0, 1)), run(floor, (0,))[0]) for _ in range(options.rounds)]
    seconds = statistics.median(ours for (ours, _), _ in took)
    return {"case": case, "bytes": total, "seconds": seconds, "rate": total / seconds,
            "floor_seconds": statistics.median(floor for _, floor in took),
            "ratio": statistics.median(ours / floor for (ours, _), floor in took),
            "resident_kib": max(resident for (_, resident), _ in took)}


def judge(figure):
    if figure["case"] == "hashes":
        return "ok" if figure["seconds"] <= LEAST_INSTANT_S else "SLOW"
    least = LEAST_RATE.get(figure["case"])
    return "" if least is None else "ok" if figure["rate"] >= least else "SLOW"


def main():
    options = parse_arguments()
    figures = []
    out = sys.stderr if options.json == "-" else sys.stdout
    print(f"{'case':14}{'both':>9}{'diff':>10}{'rate':>12}{'reading':>10}{'ratio':>7}"
          f"{'resident':>11}", file=out)
    for case in options.cases:
        with tempfile.TemporaryDirectory(dir=options.dir) as folder:
            figure = measure(options, case, pathlib.Path(folder))
        figures.append(figure)
        print(f"{case:14}{figure['bytes'] / 2**30:>5.2f} GiB{figure['seconds']:>8.3f} s"
              f"{figure['rate'] / 1e9:>7.2f} GB/s{figure['floor_seconds']:>8.3f} s"
              f"{figure['ratio']:>7.2f}{figure['resident_kib'] / 1024:>7.0f} MiB"
              f"  {judge(figure)}", file=out, flush=True)
    if options.json == "-":
        json.dump(figures, sys.stdout, indent=2)
    elif options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=2))
    return 1 if any(judge(figure) == "SLOW" for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
