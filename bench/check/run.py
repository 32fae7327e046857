#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what `taskglass check` costs, beside the time of the references alone in the same run.

add    the reference computes the recorded bits
blend  the reference rounds differently in most elements, within its tolerance
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

CASES = ("add", "blend")
TASK_BYTES = 3 << 20
MOST_RATIO = 4.0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bench", metavar="DIR",
                        help="where the programs are (default: %(default)s)")
    parser.add_argument("--dir", metavar="DIR", help="where recordings are made")
    parser.add_argument("--tasks", type=int, default=341,
                        help="tasks of 3 MiB each; the default makes 1 GiB")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (default: %(default)s)")
    parser.add_argument("--quick", action="store_true",
                        help="2 rounds of 20 tasks: does it work, not how fast is it")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.tasks, options.rounds = 20, 2
    return options


def run(command):
    """Runs a command that must succeed; returns its seconds and its output."""
    began = time.monotonic()
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True)
    return time.monotonic() - began, done.stdout




def cat(path):
    began = time.monotonic()
    with open(os.devnull, "wb") as nowhere:
        subprocess.run(["cat", str(path)], stdout=nowhere, check=True)
    return time.monotonic() - began


def measure(options, case, folder):
    binaries = pathlib.Path(options.bin)
    program = binaries / os.pardir / "bin" / "taskglass"
    module = binaries / "bench_check_workload.so"
    run([program, "run", module, "--case", case, "--set", f"tasks={options.tasks}", "--dump-tensor",
         "--output", folder / "out"])
    payload = folder / "out" / "tensor_dump" / "tensor_dump.bin"
    cat(payload)  # the file is in memory afterwards
    took = []
    for _ in range(options.rounds):
        check, text = run([program, "check", folder / "out", "--json"])
        assert json.loads(text)["good"] == options.tasks
        own = float(run([binaries / "bench_check_own", module, folder / "out"])[1])
        took.append((check, own, cat(payload)))
    return {"case": case, "bytes": options.tasks * TASK_BYTES,
            "seconds": statistics.median(check for check, _, _ in took),
            "own_seconds": statistics.median(own for _, own, _ in took),
            "cat_seconds": statistics.median(cat for _, _, cat in took),
            "ratio": statistics.median(check / own for check, own, _ in took)}


def main():
    options = parse_arguments()
    figures = []
    out = sys.stderr if options.json == "-" else sys.stdout
    print(f"{'case':8}{'recorded':>10}{'check':>10}{'references':>12}{'cat':>10}{'ratio':>7}", file=out)
    for case in CASES:
        with tempfile.TemporaryDirectory(dir=options.dir) as folder:
            figure = measure(options, case, pathlib.Path(folder))
        figures.append(figure)
        verdict = "" if options.quick else "ok" if figure["ratio"] <= MOST_RATIO else "SLOW"
        print(f"{case:8}{figure['bytes'] / 2**30:>6.2f} GiB{figure['seconds']:>8.3f} s"
              f"{figure['own_seconds']:>10.3f} s{figure['cat_seconds']:>8.3f} s{figure['ratio']:>7.2f}"
              f"  {verdict}", file=out, flush=True)
    if options.json == "-":
        json.dump(figures, sys.stdout, indent=2)
    elif options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=2))
    return 1 if not options.quick and any(figure["ratio"] > MOST_RATIO for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
