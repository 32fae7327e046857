#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the file of a trace costs: collecting the events, sorting and encoding them, and beside
that writing as many bytes without looking at them. Seconds are of CPU, medians."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from options import counts, write_json  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bench", metavar="DIR",
                        help="where the programs are (default: %(default)s)")
    parser.add_argument("--dir", metavar="DIR", help="where files are written")
    parser.add_argument("--tasks", type=counts, default=[100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="100,000 tasks, once")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.tasks, options.rounds = [100_000], 1
    return options


def measure(options, folder, tasks, name):
    program = pathlib.Path(options.bin) / "bench_trace_file"
    runs = [json.loads(subprocess.run([program, str(tasks), f"{folder}/{name}"], check=True,
                                      stdout=subprocess.PIPE).stdout) for _ in range(options.rounds)]
    return {"format": "chrome" if name.endswith(".json") else "perfetto",
            **{key: statistics.median(run[key] for run in runs) for key in runs[0]}}


def main():
    options = parse_arguments()
    out = sys.stderr if options.json == "-" else sys.stdout
    figures = []
    print(f"{'tasks':>10} {'format':9}{'file':>10}{'a task':>9}{'spool':>9}{'write':>9}{'rate':>11}"
          f"{'plain':>9}{'resident':>10}", file=out)
    for tasks in options.tasks:
        for name in ("x.pftrace", "x.json"):
            with tempfile.TemporaryDirectory(dir=options.dir) as folder:
                figure = measure(options, folder, tasks, name)
            figures.append(figure)
            print(f"{tasks:>10} {figure['format']:9}{figure['bytes'] / 2**20:>6.0f} MiB"
                  f"{figure['bytes'] / tasks:>7.0f} B{figure['spool_seconds'] / tasks * 1e9:>6.0f} ns"
                  f"{figure['write_seconds'] / tasks * 1e9:>6.0f} ns"
                  f"{figure['bytes'] / figure['write_seconds'] / 2**20:>6.0f} MiB/s"
                  f"{figure['plain_seconds'] / tasks * 1e9:>6.0f} ns"
                  f"{figure['resident_kib'] / 1024:>6.0f} MiB", file=out, flush=True)
    if options.json:
        write_json(options.json, figures)


if __name__ == "__main__":
    main()
