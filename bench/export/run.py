#!/usr/bin/env python3
"""Measures what exporting a recording of many tiny tasks to SQLite costs.

Beside it stands a Python program that writes the records alone (peer.py). The two take turns, so that a
busy machine slows both; seconds of CPU wander less than those of the clock.
"""

import argparse
import json
import os
import pathlib
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TILE = 16  # elements of a tensor


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/taskglass", metavar="FILE",
                        help="the taskglass to measure (default: %(default)s)")
    parser.add_argument("--dir", metavar="DIR", help="where the recording is made")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="50,000 records, twice")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    if options.quick:
        options.records, options.rounds = 50_000, 2
    return options


def record(options, folder):
    """Adds vectors in small tiles: three records for each task."""
    tasks = options.records // 3
    subprocess.run([options.program, "run", "vector_add", "--set", f"n={TILE * tasks}", "--set",
                    f"tile={TILE}", "--runtime", "tensormap_and_ringbuffer", "--ring-task-window",
                    str(max(tasks, 4)), "--deps", "--dump-tensor", "--output", folder], check=True, stdout=subprocess.DEVNULL)


def timed(command):
    """Seconds on the clock, seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def rows_of(path):
    """How many rows the table `records` has."""
    connection = sqlite3.connect(path)
    count, = connection.execute("SELECT count(*) FROM records").fetchone()
    connection.close()
    return count


def measure(options, folder):
    run, ours, theirs = (os.path.join(folder, name) for name in ("run", "ours.sqlite", "theirs.sqlite"))
    record(options, run)
    journal = os.path.join(run, "tensor_dump", "tensor_dump.rec")
    commands = {"export": ([options.program, "export", run, "--to", "sqlite", "--output", ours], ours),
                "python": ([sys.executable, str(HERE / "peer.py"), journal, theirs], theirs)}
    times = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, (command, path) in commands.items():
            pathlib.Path(path).unlink(missing_ok=True)
            times[name].append(timed(command))
    if rows_of(ours) != rows_of(theirs):
        sys.exit(f"{rows_of(ours)} records against {rows_of(theirs)}: the two do not do the same")
    return {"records": rows_of(ours),
            **{name: {"bytes": os.path.getsize(commands[name][1]),
                      "seconds": statistics.median(seconds for seconds, _ in found),
                      "cpu_seconds": statistics.median(cpu for _, cpu in found)}
               for name, found in times.items()}}


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        result = measure(options, folder)
    print(f"{result['records']:,} records", file=sys.stderr)
    for name in ("export", "python"):
        print(f"  {name:<8}{result[name]['seconds']:8.3f} s {result[name]['cpu_seconds']:8.3f} s of CPU"
              f"{result[name]['bytes'] / 1e6:8,.0f} MB", file=sys.stderr)
    if options.json == "-":
        print(json.dumps(result))
    elif options.json:
        pathlib.Path(options.json).write_text(json.dumps(result) + "\n")
    if result["export"]["cpu_seconds"] > result["python"]["cpu_seconds"] and not options.quick:
        sys.exit("slower than Python's records alone")


if __name__ == "__main__":
    main()
