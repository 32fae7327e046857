#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what `taskglass replay --all` costs, beside the same tasks as one run and a device per task."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from options import positive, write_json  # noqa: E402

TASKS_PER_BATCH = 288  # of bgemm, case medium
ALONE = 20  # tasks that are replayed with a device for each
MOST_SECONDS_OF_10000 = 20.0
MOST_SHARE = 0.1


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/bin/taskglass", metavar="FILE",
                        help="the command (default: %(default)s)")
    parser.add_argument("--dir", metavar="DIR", help="where the recording is made")
    parser.add_argument("--batch", type=positive, default=36,
                        help=f"matrix products of {TASKS_PER_BATCH} tasks each (default: %(default)s)")
    parser.add_argument("--rounds", type=positive, default=5, help="runs of each (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="1 round of 1 product: does it work, not how fast is it")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.batch, options.rounds = 1, 1
    return options


def run(command):
    """Runs a command that must succeed; returns its seconds and its output."""
    began = time.monotonic()
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True)
    return time.monotonic() - began, done.stdout


def measure(options, folder):
    case = [options.program, "run", "bgemm", "--case", "medium", "--set", f"batch={options.batch}"]
    run([*case, "--dump-tensor", "--output", folder / "out"])
    tasks = options.batch * TASKS_PER_BATCH
    took = {"run": [], "all": [], "guard": [], "alone": []}
    for _ in range(options.rounds):
        took["run"].append(run([*case, "--output", folder / "again", "--quiet"])[0])
        subprocess.run(["rm", "-rf", folder / "again"], check=True)
        for name, more in (("all", []), ("guard", ["--guard"])):
            seconds, text = run([options.program, "replay", folder / "out", "--all", "--json", *more])
            assert json.loads(text)["counts"]["same"] == tasks, text
            took[name].append(seconds)
        seconds = sum(run([options.program, "replay", folder / "out", "--task", tasks // ALONE * task])[0]
                      for task in range(ALONE))
        took["alone"].append(seconds / ALONE * tasks)
    return {"tasks": tasks, **{name: statistics.median(values) for name, values in took.items()}}


def main():
    options = parse_arguments()
    out = sys.stderr if options.json == "-" else sys.stdout
    with tempfile.TemporaryDirectory(dir=options.dir, prefix="taskglass_bench_") as folder:
        figure = measure(options, pathlib.Path(folder))
    figure["guard_of_10000"] = figure["guard"] * 10000 / figure["tasks"]
    figure["share"] = figure["all"] / figure["alone"]
    print(f"{figure['tasks']} tasks             seconds    a task", file=out)
    for name, label in (("run", "one run"), ("all", "replay --all"), ("guard", "replay --all --guard"),
                        ("alone", "replay --task, each")):
        print(f"{label:22}{figure[name]:10.2f}{figure[name] / figure['tasks'] * 1e6:8.0f} µs", file=out)
    good = figure["guard_of_10000"] <= MOST_SECONDS_OF_10000 and figure["share"] <= MOST_SHARE
    if not options.quick:
        print("ok" if good else "SLOW", file=out)
    if options.json:
        write_json(options.json, figure)
    return 0 if good or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
