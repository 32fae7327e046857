#!/usr/bin/env python3
"""Measures the cost of an empty task: Taskglass beside its peers, in one run.

--first measures graphs that run once, instead: each in a process of its own, everything counted but the
start of the process and opening the device. --tiles measures what submitting a task costs that uses tiles of
matrices, by how the tiles lie in memory and how many tasks are in flight.

Every round runs every program once for each shape and number of cores, each round starting at
another program. A shared machine may slow down by a factor of two for a while, so a figure is the
median over rounds, and a ratio is the median of the ratios taken within each round.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from options import counts, names, positive, write_json  # noqa: E402

SHAPES = ("independent", "chain", "fan", "stencil", "tree")
SELF = "taskglass"    # host_build_graph: a graph that is built, then run
FINDER = "tensormap"  # tensormap_and_ringbuffer: submitted while it runs, edges found
TILES = "tiles"       # what submitting tiles costs; with --tiles only
NAMER = "aicpu"       # aicpu_build_graph: submitted while it runs, edges named; with --first only
PHASES = {
    SELF: ("rerun", "build", "build_run"),
    FINDER: ("build_run",),
    "onetbb": ("rerun", "build_run"),
    "libgomp": ("build_run",),
    "libomp": ("build_run",),
    "starpu": ("build_run",),
    "starpu_data": ("build_run",),
}
# With --first: the phase that runs again what `first` ran once.
AGAIN = {SELF: "rerun", NAMER: "build_run", FINDER: "build_run", "onetbb": "rerun",
         "libgomp": "build_run", "libomp": "build_run", "starpu": "build_run",
         "starpu_data": "build_run"}
OURS = (SELF, NAMER, FINDER)
PEERS = [name for name in PHASES if name not in (SELF, FINDER)]
RERUN_PEER = "onetbb"  # the only peer whose graph stays built
# Peers of FINDER: first the one that also finds edges from data, then those with explicit edges.
FINDER_PEERS = {"starpu_data": "StarPU data", "starpu": "StarPU explicit", "libgomp": "libgomp",
                "libomp": "libomp", "onetbb": "oneTBB"}
PROCESS_LIMIT_S = 60


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bench", metavar="DIR",
                        help="where the programs are (default: %(default)s)")
    parser.add_argument("--shapes", type=names(SHAPES), default=list(SHAPES))
    parser.add_argument("--cores", type=counts, default=[1, 2])
    parser.add_argument("--peers", type=names(PEERS), default=PEERS)
    parser.add_argument("--tasks", default="4000,20000", metavar="N1,N2",
                        help="sizes whose difference gives the cost of a task (%(default)s)")
    parser.add_argument("--repeat", type=positive, default=7,
                        help="runs within a process (default: %(default)s)")
    parser.add_argument("--rounds", type=positive, default=7,
                        help="processes per figure (default: %(default)s)")
    parser.add_argument("--quick", action="store_true",
                        help="2 rounds of 3 runs: does it work, not how fast is it")
    parser.add_argument("--verify", action="store_true",
                        help="time nothing; check that every task runs once, after its "
                             "predecessors")
    parser.add_argument("--first", action="store_true",
                        help="graphs that run once, beside the same graphs run again")
    parser.add_argument("--tiles", action="store_true",
                        help="submitting tasks on tiles of matrices, beside contiguous memory")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.repeat = 2, 3
    return options


class Runner:
    """Starts the programs; remembers which are missing and what went wrong."""

    def __init__(self, options):
        self.options = options
        self.problems = []
        wanted = ([*OURS] if options.first else [SELF, FINDER]) + options.peers
        self.present = [name for name in wanted if os.access(self.path(name), os.X_OK)]
        self.missing = [name for name in wanted if name not in self.present]

    def path(self, name):
        return os.path.join(self.options.bin, f"bench_tasks_{name}")

    def run(self, name, shape, cores, phase, *more):
        """The objects that the program printed; none, with the problem noted, if it failed."""
        command = [self.path(name), "--shape", shape, "--cores", str(cores),
                   "--tasks", self.options.tasks, "--repeat", str(self.options.repeat),
                   "--phase", phase, *more]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  timeout=PROCESS_LIMIT_S)
            if done.returncode == 0:
                return [json.loads(line) for line in done.stdout.splitlines()]
            why = done.stderr.strip().splitlines()[-1:] or [done.stdout.strip()]
            self.note(name, shape, cores, phase, f"exit {done.returncode}: {why[0]}")
        except subprocess.TimeoutExpired:
            self.note(name, shape, cores, phase, f"over {PROCESS_LIMIT_S} s")
        except (OSError, ValueError) as error:
            self.note(name, shape, cores, phase, str(error))
        return []

    def note(self, name, shape, cores, phase, what):
        text = f"{name} {shape} cores={cores} {phase}: {what}"
        if text not in self.problems:
            self.problems.append(text)


def rotated(items, by):
    by %= max(len(items), 1)
    return items[by:] + items[:by]


def measure(runner):
    """{(name, shape, cores, phase): [object of each round, None where it failed]}."""
    options = runner.options
    jobs = [(name, phase) for name in runner.present
            for phase in (("first", AGAIN[name]) if options.first else PHASES[name])]
    figures = {}
    for round_number in range(options.rounds):
        for shape in options.shapes:
            for cores in options.cores:
                for name, phase in rotated(jobs, round_number):
                    printed = runner.run(name, shape, cores, phase)
                    figures.setdefault((name, shape, cores, phase), []).append(
                        printed[0] if printed else None)
        progress(f"round {round_number + 1} of {options.rounds}")
    progress("")
    return figures


def measure_fixed(runner):
    """Milliseconds of open, one task and close, for each number of cores."""
    if SELF not in runner.present:
        return {}
    found = {}
    for cores in runner.options.cores:
        printed = [line["ms"] for _ in range(runner.options.rounds)
                   for line in runner.run(SELF, "chain", cores, "fixed")]
        if printed:
            found[cores] = statistics.median(printed)
    return found


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:<40}\r", end="", file=sys.stderr, flush=True)


def samples(figures, name, shape, cores, phase, field="ns_per_task"):
    return [line.get(field) if line else None
            for line in figures.get((name, shape, cores, phase), [])]


def median(values):
    good = [value for value in values if value is not None]
    return statistics.median(good) if good else None


def ratio(ours, theirs):
    """Median over rounds of theirs / ours: above 1 Taskglass is cheaper."""
    return median([b / a if a and b and a > 0 else None for a, b in zip(ours, theirs)])


def summarise(figures, shape, cores, peers):
    """One row of the table."""
    def of(name, phase, field="ns_per_task"):
        return samples(figures, name, shape, cores, phase, field)

    row = {"shape": shape, "cores": cores, "ns_per_task": {}, "undeferred": []}
    for name in [SELF] + peers:
        row["ns_per_task"][name] = {phase: median(of(name, phase)) for phase in PHASES[name]}
        if any(of(name, "build_run", "undeferred")):
            row["undeferred"].append(name)
    if RERUN_PEER in peers:
        row["ns_per_task"][RERUN_PEER]["build"] = median(
            of(RERUN_PEER, "build_run", "build_ns_per_task"))
        row["rerun_ratio"] = ratio(of(SELF, "rerun"), of(RERUN_PEER, "rerun"))
    costs = {name: row["ns_per_task"][name]["build_run"] for name in peers}
    costs = {name: cost for name, cost in costs.items() if cost is not None}
    row["best_peer"] = min(costs, key=costs.get) if costs else None
    row["build_run_ratio"] = (ratio(of(SELF, "build_run"), of(row["best_peer"], "build_run"))
                              if costs else None)
    return row


def summarise_found(figures, shape, cores, peers):
    """One row of the second table."""
    def of(name, field="ns_per_task"):
        return samples(figures, name, shape, cores, "build_run", field)

    return {"shape": shape, "cores": cores,
            "ns_per_task": {name: median(of(name)) for name in [FINDER] + peers},
            "ratio": {name: ratio(of(FINDER), of(name)) for name in peers},
            "undeferred": [name for name in peers if any(of(name, "undeferred"))]}


def summarise_first(figures, shape, cores, names):
    """One row of the table of first runs: whole runs, divided by their tasks."""
    row = {"shape": shape, "cores": cores, "first": {}, "again": {}, "first_to_again": {}}
    for name in names:
        first = samples(figures, name, shape, cores, "first")
        again = [line["t2_ns"] / line["n2"] if line else None
                 for line in figures.get((name, shape, cores, AGAIN[name]), [])]
        row["first"][name], row["again"][name] = median(first), median(again)
        row["first_to_again"][name] = ratio(again, first)
    return row


def show(value, digits=0, mark=""):
    return "-" if value is None else f"{value:.{digits}f}{mark}"


def table_cells(row, peers):
    cost = row["ns_per_task"]
    ours = cost[SELF]
    cells = [row["shape"], str(row["cores"]), show(ours["rerun"], 1)]
    cells += [show(cost.get(RERUN_PEER, {}).get("rerun"), 1), show(row.get("rerun_ratio"), 2)]
    cells += [show(ours["build_run"])]
    cells += [show(cost[name]["build_run"], 0, "*" if name in row["undeferred"] else "")
              for name in peers]
    return cells + [row["best_peer"] or "-", show(row["build_run_ratio"], 2)]


def found_cells(row, peers):
    cost = row["ns_per_task"]
    cells = [row["shape"], str(row["cores"]), show(cost[FINDER])]
    for name in peers:
        cells.append(show(cost[name], 0, "*" if name in row["undeferred"] else ""))
        cells.append(show(row["ratio"][name], 1))
    return cells


def print_lines(lines):
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def print_table(rows, peers):
    head = ["shape", "cores", f"{SELF} run", "oneTBB re-run", "ratio",
            f"{SELF} build+run", *peers, "best peer", "ratio"]
    print("host_build_graph: built, then executed\n"
          "ns per task; ratio = peer / taskglass, above 1 Taskglass is the cheaper one\n")
    print_lines([head] + [table_cells(row, peers) for row in rows])


def print_found_table(rows, peers):
    head = ["shape", "cores", FINDER]
    for name in peers:
        head += [FINDER_PEERS[name], "ratio"]
    print("\ntensormap_and_ringbuffer: submitted and executed, edges found from tensors\n"
          f"ns per task; ratio = peer / {FINDER}, above 1 Taskglass is the cheaper one\n")
    print_lines([head] + [found_cells(row, peers) for row in rows])


def print_first_table(rows, names):
    head = ["shape", "cores"]
    for name in names:
        head += [f"{name} first", "again", "ratio"]
    print("a graph that runs once on a fresh device, or in a fresh process: built, sent and executed\n"
          "ns per task, the whole run divided by its tasks; ratio = first / again\n")
    print_lines([head] + [[row["shape"], str(row["cores"])] + [
        cell for name in names for cell in (show(row["first"][name]), show(row["again"][name]),
                                            show(row["first_to_again"][name], 2))]
        for row in rows])


def print_notes(runner, fixed, rows=()):
    if any(row["undeferred"] for row in rows):
        print("\n* one thread: the runtime runs most tasks inside the call that creates them")
    for cores, ms in fixed.items():
        print(f"taskglass open + one task + close, cores={cores}: {ms:.3f} ms")
    if runner.missing:
        print(f"no executable in {runner.options.bin} for: {', '.join(runner.missing)}")
    for problem in runner.problems:
        print(f"failed: {problem}")


def sample_list(figures):
    return [{"peer": name, "shape": shape, "cores": cores, "phase": phase, "rounds": lines}
            for (name, shape, cores, phase), lines in figures.items()]


def verify(runner):
    checked = 0
    for name in runner.present:
        for shape in runner.options.shapes:
            for cores in runner.options.cores:
                for phase in ("first", *PHASES.get(name, (AGAIN[name],))):
                    if phase != "build":  # runs no task
                        checked += len(runner.run(name, shape, cores, phase, "--verify"))
    print(f"{checked} graphs ran every task once and in order")
    print_notes(runner, {})
    return 1 if runner.problems else 0


def report_first(runner, figures):
    options = runner.options
    rows = [summarise_first(figures, shape, cores, runner.present)
            for shape in options.shapes for cores in options.cores]
    if options.json != "-":
        print_first_table(rows, runner.present)
        print_notes(runner, {})
    if options.json:
        write_json(options.json, {
            "tasks": options.tasks, "repeat": options.repeat, "rounds": options.rounds,
            "first_rows": rows, "missing": runner.missing, "problems": runner.problems,
            "samples": sample_list(figures)})
    return 1 if runner.problems else 0


def measure_tiles(options):
    """{(layout, in flight): [ns per task in each round]}, in the order of the program's lines."""
    program = os.path.join(options.bin, f"bench_tasks_{TILES}")
    figures = {}
    for round_number in range(options.rounds):
        done = subprocess.run([program], capture_output=True, text=True, check=False,
                              timeout=PROCESS_LIMIT_S)
        if done.returncode != 0:
            sys.exit(f"{program}: {done.stderr.strip()}")
        for line in map(json.loads, done.stdout.splitlines()):
            figures.setdefault((line["layout"], line["in_flight"]), []).append(line["ns_per_task"])
        progress(f"round {round_number + 1} of {options.rounds}")
    progress("")
    return figures


def report_tiles(options):
    figures = measure_tiles(options)
    layouts = list(dict.fromkeys(layout for layout, _ in figures))
    rows = []
    for in_flight in dict.fromkeys(number for _, number in figures):
        base = figures[(layouts[0], in_flight)]
        rows.append({"in_flight": in_flight,
                     "ns_per_task": {name: median(figures[(name, in_flight)]) for name in layouts},
                     "ratio": {name: ratio(base, figures[(name, in_flight)])
                               for name in layouts[1:]}})
    if options.json != "-":
        print("submitting a task with three tiles, tensormap_and_ringbuffer\n"
              f"ns per task by layout; ratio = layout / {layouts[0]}\n")
        head = ["in flight", layouts[0]]
        for name in layouts[1:]:
            head += [name, "ratio"]
        print_lines([head] + [[str(row["in_flight"]), show(row["ns_per_task"][layouts[0]])] + [
            cell for name in layouts[1:]
            for cell in (show(row["ns_per_task"][name]), show(row["ratio"][name], 2))]
            for row in rows])
    if options.json:
        write_json(options.json, {"rounds": options.rounds, "tile_rows": rows})
    return 0


def main():
    options = parse_arguments()
    if options.tiles:
        return report_tiles(options)
    runner = Runner(options)
    if options.verify:
        return verify(runner)
    figures = measure(runner)
    if options.first:
        return report_first(runner, figures)
    fixed = measure_fixed(runner)
    told = [name for name in options.peers if name != "starpu_data"]
    found = [name for name in FINDER_PEERS if name in options.peers]
    places = [(shape, cores) for shape in options.shapes for cores in options.cores]
    rows = [summarise(figures, *place, told) for place in places]
    found_rows = [summarise_found(figures, *place, found) for place in places]
    if options.json != "-":  # else stdout holds only the JSON
        print_table(rows, told)
        print_found_table(found_rows, found)
        print_notes(runner, fixed, rows + found_rows)
    if options.json:
        write_json(options.json, {
            "tasks": options.tasks, "repeat": options.repeat, "rounds": options.rounds,
            "rows": rows, "found_rows": found_rows, "fixed_ms": fixed, "missing": runner.missing,
            "problems": runner.problems,
            "samples": sample_list(figures)})
    return 1 if runner.problems else 0


if __name__ == "__main__":
    sys.exit(main())
