#!/usr/bin/env python3
"""Measures graphs that are built on the host and run once: nanoseconds and bytes of a task, beside oneTBB's
flow graph.

A task has three tensors of two dimensions, one scalar and two edges. Every round runs every program once,
because a shared machine may slow down by a factor of two for a while: a figure is the median over rounds,
and a ratio is the median of the ratios taken within each round.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

SELF, PEER = "taskglass", "onetbb"
PHASES = ("build", "send", "first", "again", "next")
COLUMNS = ("program", "tasks", *PHASES, "bytes")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bench", metavar="DIR",
                        help="where the programs are (default: %(default)s)")
    parser.add_argument("--tasks", default="100000,1000000", metavar="N,…",
                        help="sizes of the graph (default: %(default)s); 10000000 takes 2.4 GB, and 5 GB for oneTBB")
    parser.add_argument("--rounds", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--platform", default="a2a3sim", help="(default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="1 round of 20000 tasks")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.tasks = 1, "20000"
    return options


def measure(program, tasks, platform):
    """One process; figures of a task."""
    command = [program, str(tasks), "5"] + ([platform] if program.endswith(SELF) else [])
    figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {**{phase: figures[f"{phase}_ns"] / tasks for phase in PHASES},
            "bytes": figures["bytes"] / tasks}


def summarize(rounds, tasks):
    """A row for each program, and the ratios of Taskglass."""
    rows = []
    for name in rounds[0]:
        rows.append({"program": name, "tasks": tasks,
                     **{key: statistics.median(each[name][key] for each in rounds)
                        for key in (*PHASES, "bytes")}})
    ratios = {"first_by_again": statistics.median(
        each[SELF]["first"] / each[SELF]["again"] for each in rounds)}
    if PEER in rounds[0]:
        ratios["first_by_peer"] = statistics.median(
            each[SELF]["first"] / each[PEER]["first"] for each in rounds)
    return rows, ratios


def print_table(rows, ratios):
    print("  ".join(f"{column:>10}" for column in COLUMNS))
    for row in rows:
        print("  ".join(f"{row[column]:>10}" if column in ("program", "tasks")
                        else f"{row[column]:>10.0f}" for column in COLUMNS))
    print(f"  a first run takes {ratios['first_by_again']:.1f} times as long as a repeated one", end="")
    if "first_by_peer" in ratios:
        print(f", and {ratios['first_by_peer']:.2f} times as long as oneTBB's", end="")
    print("\n")


def main():
    options = parse_arguments()
    programs = {name: os.path.join(options.bin, f"bench_graph_{name}") for name in (SELF, PEER)}
    programs = {name: path for name, path in programs.items() if os.path.exists(path)}
    if SELF not in programs:
        sys.exit(f"bench/graph: no programs in {options.bin}; build with -DTASKGLASS_BENCH=ON")
    document = []
    for tasks in map(int, options.tasks.split(",")):
        rounds = [{name: measure(path, tasks, options.platform) for name, path in programs.items()}
                  for _ in range(options.rounds)]
        rows, ratios = summarize(rounds, tasks)
        document.append({"tasks": tasks, "rows": rows, **ratios})
        if options.json != "-":
            print_table(rows, ratios)
    if options.json == "-":
        json.dump(document, sys.stdout, indent=1)
    elif options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)


if __name__ == "__main__":
    main()
