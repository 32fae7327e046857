#!/usr/bin/env python3
"""Measures what opening and verifying a recording of many tiny tasks costs.

Beside each figure stands what reading the same files costs: cat, and a checksum of all bytes. Each
command runs right after the other, in turn, so that a busy machine slows all of them.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT_S = 3.0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/taskglass", metavar="FILE",
                        help="the taskglass to measure (default: %(default)s)")
    parser.add_argument("--dir", metavar="DIR", help="where the recording is made")
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="50,000 tasks, twice")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    if options.quick:
        options.tasks, options.rounds = 50_000, 2
    return options


def record(options, folder):
    """Adds vectors in tiles of four elements: three records for each task."""
    subprocess.run([options.program, "run", "vector_add", "--set", f"n={4 * options.tasks}", "--set",
                    "tile=4", "--runtime", "tensormap_and_ringbuffer", "--ring-task-window",
                    str(options.tasks), "--dump-tensor", "--output", folder],
                   check=True, stdout=subprocess.DEVNULL)


def timed(command):
    """Seconds on the clock, seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(options, folder):
    record(options, folder)
    files = [str(path) for path in sorted((pathlib.Path(folder) / "tensor_dump").iterdir())]
    commands = {"open": [options.program, "view", folder, "--summary"],
                "verify": [options.program, "verify", folder],
                "cat": ["cat", *files], "b2sum": ["b2sum", *files]}
    times = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, command in commands.items():
            times[name].append(timed(command))
    return {"tasks": options.tasks, "bytes": sum(os.path.getsize(path) for path in files),
            **{name: {"seconds": statistics.median(seconds for seconds, _ in found),
                      "cpu_seconds": statistics.median(cpu for _, cpu in found)}
               for name, found in times.items()}}


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        result = measure(options, os.path.join(folder, "run"))
    print(f"{result['tasks']:,} tasks, {result['bytes'] / 1e6:,.0f} MB", file=sys.stderr)
    for name in ("open", "verify", "cat", "b2sum"):
        print(f"  {name:<8}{result[name]['seconds']:8.3f} s {result[name]['cpu_seconds']:8.3f} s of CPU",
              file=sys.stderr)
    if options.json == "-":
        print(json.dumps(result))
    elif options.json:
        pathlib.Path(options.json).write_text(json.dumps(result) + "\n")
    slow = [name for name in ("open", "verify") if result[name]["seconds"] > LIMIT_S]
    if slow and not options.quick:
        sys.exit(f"slower than {LIMIT_S:.0f} s: {', '.join(slow)}")


if __name__ == "__main__":
    main()
