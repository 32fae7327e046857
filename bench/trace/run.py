#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a trace costs, beside what the clock costs, and how much memory the host needs for it."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from options import names, write_json  # noqa: E402

RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
SHAPES = ("independent", "chain", "fan", "stencil", "tree")
# Nanoseconds a task: this many, or two looks at the clock and so many more.
LIMIT_NS, MORE_NS = 30, 10


def run(options, folder, runtime, shape, tasks, rounds):
    done = subprocess.run([os.path.join(options.bin, "bench_trace"), runtime, shape, str(tasks),
                           str(options.cores), str(rounds), os.path.join(folder, "x.pftrace")],
                          check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def cost(options, folder):
    rows = []
    print(f"{'runtime':26} {'shape':12} {'off':>8} {'on':>8} {'more':>8} {'clock':>8} {'limit':>8}   ns a task; "
          f"(least)")
    for runtime in options.runtimes:
        for shape in options.shapes:
            row = run(options, folder, runtime, shape, options.tasks, options.rounds)
            row["limit_ns"] = max(LIMIT_NS, 2 * row["clock_ns"] + MORE_NS)
            row["least_more_ns"] = row["least_on_ns"] - row["least_off_ns"]
            rows.append(row)
            print(f"{runtime:26} {shape:12} {row['off_ns']:8.1f} {row['on_ns']:8.1f} {row['more_ns']:8.1f} "
                  f"{row['clock_ns']:8.1f} {row['limit_ns']:8.1f}   ({row['least_more_ns']:.1f} with a clock of "
                  f"{row['least_clock_ns']:.1f})", flush=True)
    return rows


def memory(options, folder):
    rows = [run(options, folder, "tensormap_and_ringbuffer", "chain", tasks, 0) for tasks in options.memory]
    for row in rows:
        print(f"{row['tasks']:>12,} tasks: at most {row['peak_kib'] / 1024:.1f} MiB of host memory, "
              f"{row['events']:,} events, {row['lost']} lost, a file of {row['bytes'] / 1e6:,.0f} MB in "
              f"{row['finish_s']:.1f} s", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bench", metavar="DIR",
                        help="where the programs are (default: %(default)s)")
    parser.add_argument("--runtimes", type=names(RUNTIMES), default=RUNTIMES)
    parser.add_argument("--shapes", type=names(SHAPES), default=("independent", "chain", "stencil"))
    parser.add_argument("--tasks", type=int, default=200_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--memory", type=lambda text: [int(part) for part in text.split(",")],
                        default=[1_000_000, 10_000_000], metavar="TASKS,...",
                        help="trace so many tasks and show the memory (default: 1000000,10000000)")
    parser.add_argument("--quick", action="store_true", help="fewer tasks and rounds")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.tasks, options.rounds, options.memory = 20_000, 5, [100_000, 1_000_000]
    with tempfile.TemporaryDirectory(prefix="taskglass_bench_", dir=options.bin) as folder:
        result = {"cost": cost(options, folder), "memory": memory(options, folder)}
    if options.json:
        write_json(options.json, result)


if __name__ == "__main__":
    main()
