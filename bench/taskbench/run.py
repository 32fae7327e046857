#!/usr/bin/env python3
"""Measures METG(50 %) on Task Bench's patterns: Taskglass beside its peers, in one run.

Every round runs every system once for each pattern and number of CPUs, each round starting at another
system. A shared machine may slow down by a factor of two for a while, so a figure is the median over
rounds, and a ratio is the median of the ratios taken within each round.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from options import counts, names, positive, write_json  # noqa: E402

PATTERNS = ("trivial", "no_comm", "stencil", "sweep", "fft", "tree", "nearest", "spread", "random")
KERNELS = ("compute", "imbalanced")
MODES = ("first", "again")
CLOCKS = ("wall", "cpu")
PLANTS = ("nothing", "value", "lost", "twice")
HOST, AICPU, TENSORMAP = "host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"
FLOW = "onetbb"
# The program of each system, and its name in narrow tables.
SYSTEMS = {
    HOST: ("taskglass", "host"),
    AICPU: ("taskglass", "aicpu"),
    TENSORMAP: ("taskglass", "tensor"),
    FLOW: ("onetbb", "onetbb"),
    "onetbb_counters": ("onetbb", "counters"),
    "libgomp": ("libgomp", "libgomp"),
    "libomp": ("libomp", "libomp"),
    "starpu": ("starpu", "starpu"),
}
# What a ratio compares: (system, mode) / (system, mode). The two runtimes whose orchestration runs on the
# device build their graph anew in every run, so both are compared with a flow graph that is built and run.
RATIOS = {
    "host 1st/again": ((HOST, "first"), (HOST, "again")),
    "aicpu 1st/again": ((AICPU, "first"), (AICPU, "again")),
    "tensor 1st/again": ((TENSORMAP, "first"), (TENSORMAP, "again")),
    "host 1st/TBB": ((HOST, "first"), (FLOW, "first")),
    "host again/TBB*": ((HOST, "again"), (FLOW, "again")),
    "aicpu 1st/TBB": ((AICPU, "first"), (FLOW, "first")),
    "aicpu again/TBB": ((AICPU, "again"), (FLOW, "first")),
    "tensor 1st/TBB": ((TENSORMAP, "first"), (FLOW, "first")),
    "tensor again/TBB": ((TENSORMAP, "again"), (FLOW, "first")),
}
RATIO_NOTE = "TBB: oneTBB's flow graph, built and run once; TBB*: run again"
PROCESS_LIMIT_S = 120


def cpu_counts(text):
    most = len(os.sched_getaffinity(0))
    chosen = counts(text)
    if max(chosen) > most:
        raise argparse.ArgumentTypeError(f"{text}: this process may use {most} CPUs")
    return chosen


def parse_arguments():
    every = ",".join(str(n) for n in range(1, len(os.sched_getaffinity(0)) + 1))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bench", metavar="DIR",
                        help="where the programs are (default: %(default)s)")
    parser.add_argument("--systems", type=names(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--patterns", type=names(PATTERNS),
                        default=[name for name in PATTERNS if name != "sweep"],
                        help="default: all but sweep")
    parser.add_argument("--kernel", choices=KERNELS, default="compute",
                        help="whether all tasks take the same time (default: %(default)s)")
    parser.add_argument("--cpus", type=cpu_counts, default=every, metavar="N,N...",
                        help="for everything that a system starts (default: 1 to all, %(default)s)")
    parser.add_argument("--width", type=positive, default=8)
    parser.add_argument("--steps", type=positive, default=1000)
    parser.add_argument("--radix", type=positive, default=5,
                        help="inputs of nearest, spread and, at most, of random (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=positive, default=3,
                        help="searches per figure (default: %(default)s)")
    parser.add_argument("--repeat", type=positive, default=1,
                        help="processes per size of task in a search (default: %(default)s)")
    parser.add_argument("--runs", type=positive, default=3,
                        help="repeated runs in a process (default: %(default)s)")
    parser.add_argument("--clock", choices=CLOCKS, default="wall",
                        help="cpu: CPU time, for a machine that is busy with other things; it leaves out "
                             "the time in which a CPU has nothing to do (default: %(default)s)")
    parser.add_argument("--plant", choices=PLANTS, default="nothing",
                        help="a fault that the check must find")
    parser.add_argument("--markdown", action="store_true",
                        help="print the tables of docs/design.md")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    return parser.parse_args()


class Runner:
    """Starts the programs; remembers which are missing and what went wrong."""

    def __init__(self, options):
        self.options = options
        self.problems = []
        self.present = [name for name in options.systems if os.access(self.path(name), os.X_OK)]
        self.missing = [name for name in options.systems if name not in self.present]

    def path(self, system):
        return os.path.join(self.options.bin, f"bench_taskbench_{SYSTEMS[system][0]}")

    def run(self, system, pattern, cpus):
        """The object that the program printed, also if tasks ran wrongly; None without one."""
        o = self.options
        command = [self.path(system), "--system", system, "--pattern", pattern]
        values = {"cpus": cpus, "width": o.width, "steps": o.steps, "radix": o.radix, "seed": o.seed,
                  "repeat": o.repeat, "runs": o.runs, "plant": o.plant, "clock": o.clock,
                  "imbalanced": int(o.kernel == "imbalanced")}
        for key, value in values.items():
            command += [f"--{key}", str(value)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  timeout=PROCESS_LIMIT_S)
            if done.returncode != 0:
                why = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
                self.note(system, pattern, cpus, why[0])
            return json.loads(done.stdout) if done.returncode in (0, 1) else None
        except subprocess.TimeoutExpired:
            self.note(system, pattern, cpus, f"over {PROCESS_LIMIT_S} s")
        except (OSError, ValueError) as error:
            self.note(system, pattern, cpus, str(error))
        return None

    def note(self, system, pattern, cpus, what):
        text = f"{system} {pattern} cpus={cpus}: {what}"
        if text not in self.problems:
            self.problems.append(text)


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:<70}\r", end="", file=sys.stderr, flush=True)


def measure(runner):
    """{(system, pattern, cpus): [object of each round, None where there was none]}. Ctrl-C ends it
    early, with what there is."""
    options, figures = runner.options, {}
    jobs = [(number, pattern, cpus, system) for number in range(options.rounds)
            for pattern in options.patterns for cpus in options.cpus
            for system in rotated(runner.present, number)]
    try:
        for number, pattern, cpus, system in jobs:
            progress(f"round {number + 1} of {options.rounds}: {pattern}, {plural(cpus)}, {system}")
            figures.setdefault((system, pattern, cpus), []).append(runner.run(system, pattern, cpus))
    except KeyboardInterrupt:
        runner.problems.append("interrupted")
    progress("")
    return figures


def rotated(items, by):
    by %= max(len(items), 1)
    return items[by:] + items[:by]


class Figures:
    """METGs by system, mode, pattern and CPUs, and their ratios."""

    def __init__(self, lines):
        self.lines = lines

    def rounds(self, side, pattern, cpus):
        system, mode = side
        return [line[mode]["metg_us"] if line and mode in line else None
                for line in self.lines.get((system, pattern, cpus), [])]

    def metg(self, side, pattern, cpus):
        return median(self.rounds(side, pattern, cpus))

    def ratio(self, over, under, pattern, cpus):
        pairs = zip(self.rounds(over, pattern, cpus), self.rounds(under, pattern, cpus))
        return median([a / b if a and b else None for a, b in pairs])


def median(values):
    good = [value for value in values if value is not None]
    return statistics.median(good) if good else None


def short(value):
    """Two significant digits are what a shared machine gives."""
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 0.995 else f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def span(values):
    good = sorted(value for value in values if value is not None)
    return f"{short(good[0])}–{short(good[-1])}" if good else "-"


def side_name(side):
    return f"{SYSTEMS[side[0]][1]} {side[1]}"


def ratios_of(runner):
    return [(name, over, under) for name, (over, under) in RATIOS.items()
            if over[0] in runner.present and under[0] in runner.present]


def detail_rows(figures, runner, cpus):
    return [[side_name((system, mode))] + [short(figures.metg((system, mode), pattern, cpus))
                                           for pattern in runner.options.patterns]
            for system in runner.present for mode in MODES]


def ratio_rows(figures, runner, cpus):
    return [[name] + [short(figures.ratio(over, under, pattern, cpus))
                      for pattern in runner.options.patterns]
            for name, over, under in ratios_of(runner)]


def print_lines(lines):
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        print("  ".join(cells).rstrip())
    print()


def print_markdown(lines):
    for number, line in enumerate(lines):
        print("| " + " | ".join(line) + " |")
        if number == 0:
            print("| " + " | ".join("---" for _ in line) + " |")
    print()


def plural(cpus):
    return f"{cpus} CPU" + ("s" if cpus > 1 else "")


def summary(figures, runner):
    """For each system and number of CPUs the lowest and the highest METG over the patterns."""
    o = runner.options
    return [["lowest–highest"] + [f"{plural(cpus)} {mode}" for cpus in o.cpus for mode in MODES]] + [
        [system] + [span([figures.metg((system, mode), pattern, cpus) for pattern in o.patterns])
                    for cpus in o.cpus for mode in MODES] for system in runner.present]


def ratio_summary(figures, runner):
    o = runner.options
    return [["ratios"] + [plural(cpus) for cpus in o.cpus]] + [
        [name] + [span([figures.ratio(over, under, pattern, cpus) for pattern in o.patterns])
                  for cpus in o.cpus] for name, over, under in ratios_of(runner)]


def print_tables(figures, runner):
    o = runner.options
    print(f"METG(50 %) in µs, {o.kernel} kernel, {o.clock} clock, width {o.width}, {o.steps} steps, "
          f"{o.rounds} rounds\n")
    if o.markdown:
        print_markdown(summary(figures, runner))
        print_markdown(ratio_summary(figures, runner))
        return
    print_lines(summary(figures, runner))
    for cpus in o.cpus:
        print_lines([[plural(cpus)] + o.patterns] + detail_rows(figures, runner, cpus))
        if ratios_of(runner):
            print_lines([["ratios"] + o.patterns] + ratio_rows(figures, runner, cpus))
    if ratios_of(runner):
        print(RATIO_NOTE)


def print_notes(figures, runner):
    ran = [line for lines in figures.lines.values() for line in lines if line]
    print(f"{sum(line['executed'] for line in ran)} of {sum(line['expected'] for line in ran)} tasks "
          f"executed, {sum(line['errors'] for line in ran)} wrong inputs or outputs")
    if runner.missing:
        print(f"no executable in {runner.options.bin} for: {', '.join(runner.missing)}")
    for problem in runner.problems:
        print(f"failed: {problem}")


def document(figures, runner):
    o = runner.options
    rows = []
    for (system, pattern, cpus), lines in figures.lines.items():
        row = {"system": system, "pattern": pattern, "cpus": cpus,
               "executed": sum(line["executed"] for line in lines if line),
               "expected": sum(line["expected"] for line in lines if line),
               "errors": sum(line["errors"] for line in lines if line)}
        for mode in MODES:
            row[mode] = {"metg_us": figures.metg((system, mode), pattern, cpus), "rounds": [
                line[mode] if line and mode in line else None for line in lines]}
        rows.append(row)
    ratios = [{"over": list(over), "under": list(under), "pattern": pattern, "cpus": cpus,
               "ratio": figures.ratio(over, under, pattern, cpus)}
              for _, over, under in ratios_of(runner) for pattern in o.patterns for cpus in o.cpus]
    return {"kernel": o.kernel, "clock": o.clock, "width": o.width, "steps": o.steps, "radix": o.radix, "seed": o.seed,
            "rounds": o.rounds, "repeat": o.repeat, "runs": o.runs, "plant": o.plant, "rows": rows,
            "ratios": ratios, "missing": runner.missing, "problems": runner.problems}


def main():
    options = parse_arguments()
    runner = Runner(options)
    figures = Figures(measure(runner))
    if options.json != "-":  # else stdout holds only the JSON
        print_tables(figures, runner)
        print_notes(figures, runner)
    if options.json:
        write_json(options.json, document(figures, runner))
    return 1 if runner.problems else 0


if __name__ == "__main__":
    sys.exit(main())
