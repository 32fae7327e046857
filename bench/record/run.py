#!/usr/bin/env python3
"""Measures what recording costs, each figure beside the cost that no recorder can avoid, in one
run.

full a recorded run against copying the same bytes once and writing them to the same file
         system (median of the ratios of neighbours)
files how much of the speed of threads that only call pwrite() a recorded run reaches
hash copying with the content hash against copying alone off instructions a task has more than in a
build without the recorder, recorder off million a million records: recording, viewing, verifying;
verifying a gibibyte of payload memory how the host's memory grows while a gibibyte is recorded
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from options import counts, names, positive, write_json  # noqa: E402

PARTS = ("full", "files", "hash", "off", "million", "memory")
PLATFORMS = ("a2a3sim", "a5sim")
SIZES = {"256": 256, "4K": 4 << 10, "64K": 64 << 10, "1M": 1 << 20, "64M": 64 << 20}
LIMITS = {"256": None, "4K": 2.0, "64K": 1.3, "1M": 1.3, "64M": 1.3}
HASH_LIMIT = 1.2
# The share of pwrite()'s speed that a recorded run should reach at least.
FILE_SHARES = {"4K": 0.5, "1M": 0.9}
# One load, comparison and branch for each of two stages, and the moves that they need.
OFF_LIMIT = 6
VIEW_LIMIT_S = 0.3
PROCESS_LIMIT_S = 600


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bench", metavar="DIR",
                        help="where the programs are (default: %(default)s)")
    parser.add_argument("--dir", metavar="DIR",
                        help="where recordings are made (default: where the programs are)")
    parser.add_argument("--parts", type=names(PARTS), default=list(PARTS))
    parser.add_argument("--platforms", type=names(PLATFORMS), default=list(PLATFORMS))
    parser.add_argument("--sizes", type=names(SIZES), default=list(SIZES))
    parser.add_argument("--cores", type=counts, default=[1, 2, 3])
    parser.add_argument("--total", default="512M", metavar="BYTES",
                        help="payload of a recorded run (default: %(default)s)")
    parser.add_argument("--repeat", type=positive, default=7,
                        help="runs within a process (default: %(default)s)")
    parser.add_argument("--rounds", type=positive, default=3,
                        help="processes per figure (default: %(default)s)")
    parser.add_argument("--quick", action="store_true",
                        help="1 round of 3 runs, 64 MiB: does it work, not how fast is it")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.repeat, options.total = 1, 3, "64M"
    return options


class Runner:
    """Starts the programs; collects their failures."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.problems = []
        self.missing = []

    def path(self, name):
        return os.path.join(self.options.bin, name)

    def command(self):
        return os.path.join(self.options.bin, os.pardir, "bin", "taskglass")

    def run(self, command):
        """Its output and its seconds; (None, 0), with the problem noted, if it failed."""
        began = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  timeout=PROCESS_LIMIT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            self.note(command, str(error))
            return None, 0
        took = time.monotonic() - began
        if done.returncode != 0:
            why = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or [""]
            self.note(command, f"exit {done.returncode}: {why[0]}")
            return None, 0
        return done, took

    def lines(self, program, *arguments):
        """The objects that one of our programs printed."""
        done, _ = self.run([self.path(program), *map(str, arguments)])
        return [json.loads(line) for line in done.stdout.splitlines()] if done else []

    def record(self, *arguments):
        return self.lines("bench_record", "--dir", self.folder, *arguments)

    def note(self, command, what):
        text = f"{' '.join([os.path.basename(command[0]), *command[1:]])}: {what}"
        if text not in self.problems:
            self.problems.append(text)


def median(values):
    good = [value for value in values if value is not None]
    return statistics.median(good) if good else None


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:<40}\r", end="", file=sys.stderr, flush=True)


# ── the parts ───────────────────────────────────────────────────────────────────────────


def measure_full(runner):
    options = runner.options
    figures = {}
    for number in range(options.rounds):
        for platform in options.platforms:
            for size in options.sizes:
                for cores in options.cores:
                    progress(f"round {number + 1}: {platform} {size} cores={cores}")
                    figures.setdefault((platform, size, cores), []).extend(runner.record(
                        "--platform", platform, "--tensor", size, "--cores", cores,
                        "--total", options.total, "--repeat", options.repeat))
    progress("")
    rows = []
    for (platform, size, cores), lines in figures.items():
        if not lines:
            continue
        row = {key: median([line[key] for line in lines])
               for key in ("recorded_s", "first_s", "finish_s", "wait_s", "plain_s", "ratio",
                           "ratio_without_finish", "best", "worst")}
        row.update(platform=platform, tensor=size, cores=cores, limit=LIMITS[size],
                   payload=lines[0]["payload"], records=lines[0]["records"],
                   gbs=lines[0]["payload"] / row["recorded_s"] * 1e-9)
        rows.append(row)
    return rows


def measure_files(runner):
    cores = max(runner.options.cores)
    rows = []
    for platform in runner.options.platforms:
        for size in FILE_SHARES:
            progress(f"files: {platform} {size}")
            for line in runner.record("--platform", platform, "--tensor", size, "--cores", cores,
                                      "--total", runner.options.total, "--repeat",
                                      runner.options.repeat, "--pwrite"):
                line.update(size=size, least=FILE_SHARES[size],
                            gbs=line["payload"] / line["recorded_s"] * 1e-9,
                            pwrite_gbs=line["payload"] / line["pwrite_s"] * 1e-9)
                rows.append(line)
    progress("")
    return rows


def measure_hash(runner):
    repeat = 5 if runner.options.quick else 21
    rows = runner.lines("bench_record_hash", repeat)
    for row in rows:  # copies within the cache are only for information: no recorder does that
        row["limit"] = HASH_LIMIT if row["where"] == "memory" else None
    return rows


def instructions(runner, kind, tasks):
    """The instructions that callgrind counts while so many tasks run."""
    with tempfile.TemporaryDirectory() as folder:
        done, _ = runner.run(["valgrind", "--tool=callgrind", "--toggle-collect=run_tasks",
                              f"--callgrind-out-file={folder}/out",
                              runner.path(f"bench_record_off_{kind}"), str(tasks)])
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr) if done else None
    return int(found.group(1)) if found else None


def measure_off(runner):
    if not shutil.which("valgrind"):
        runner.missing.append("valgrind")
        return {}
    few, many = 1000, 21000
    result = {"limit": OFF_LIMIT}
    for kind in ("with", "without"):
        measured = [instructions(runner, kind, tasks) for tasks in (few, many)]
        if None in measured:
            return {}
        result[kind] = (measured[1] - measured[0]) / (many - few)
    result["difference"] = result["with"] - result["without"]
    return result


def timed(runner, *arguments):
    """Median seconds of a verb of the command line; None if it is missing or fails."""
    times = [runner.run([runner.command(), *arguments]) for _ in range(5)]
    return median([took if done else None for done, took in times])


def measure_million(runner):
    records = 100_002 if runner.options.quick else 1_000_002
    result = {}
    for platform in runner.options.platforms:
        lines = runner.record("--platform", platform, "--level", "meta", "--tensor", 64,
                              "--total", records * 64, "--cores", 2, "--repeat", 3, "--keep")
        if not lines:
            continue
        line = lines[0]
        row = {"records": line["records"], "recorded_s": line["recorded_s"],
               "finish_s": line["finish_s"],
               "records_per_s": line["records"] / (line["recorded_s"] - line["finish_s"]),
               "view_s": timed(runner, "view", line["dir"]), "view_limit_s": VIEW_LIMIT_S,
               "verify_s": timed(runner, "verify", line["dir"])}
        shutil.rmtree(line["dir"], ignore_errors=True)
        result[platform] = row
    lines = runner.record("--tensor", "1M", "--total", "1G", "--repeat", 1, "--keep")
    if lines:
        took = timed(runner, "verify", lines[0]["dir"])
        result["verify_gbs"] = lines[0]["payload"] / took * 1e-9 if took else None
        shutil.rmtree(lines[0]["dir"], ignore_errors=True)
    return result


def measure_memory(runner):
    rows = []
    for platform in runner.options.platforms:
        for size in ("4K", "1M"):
            rows += runner.record("--platform", platform, "--tensor", size, "--total", "1G",
                                  "--cores", 2, "--memory")
    return rows


# ── printing ────────────────────────────────────────────────────────────────────────────


def verdict(value, limit):
    return "  over" if limit is not None and value > limit else ""


def shown(value, form):
    return "-" if value is None else format(value, form)


def print_columns(head, lines):
    widths = [max(len(line[k]) for line in [head] + lines) for k in range(len(head))]
    for line in [head] + lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)).rstrip())
    print()


def print_full(rows):
    print("full: seconds of a recorded run, of a device's first one, and of copying the same bytes into a "
          "buffer of 4 MiB that write() takes when it is full\n")
    lines = [[row["platform"], row["tensor"], str(row["cores"]), f"{row['recorded_s']:.3f}",
              f"{row['first_s']:.3f}",
              f"{row['finish_s']:.3f}", f"{row['plain_s']:.3f}", f"{row['gbs']:.2f}",
              f"{row['ratio']:.2f}", f"{row['best']:.2f}-{row['worst']:.2f}",
              f"{row['ratio_without_finish']:.2f}",
              f"{shown(row['limit'], '.1f')}{verdict(row['ratio'], row['limit'])}"] for row in rows]
    print_columns(["platform", "tensor", "cores", "recorded", "first", "of it manifest", "plain", "GB/s",
                   "ratio", "range", "without manifest", "limit"], lines)


def print_files(rows):
    print("files: a recorded run, and the best of 1, 2, 4 and 8 threads that write as many bytes by "
          "pwrite() to one file\n")
    print_columns(["platform", "tensor", "cores", "GB/s", "pwrite GB/s", "threads", "share", "least"],
                  [[row["platform"], row["size"], str(row["cores"]), f"{row['gbs']:.2f}",
                    f"{row['pwrite_gbs']:.2f}", str(row["pwrite_threads"]), f"{row['of_pwrite']:.2f}",
                    f"{row['least']:.1f}{'  under' if row['of_pwrite'] < row['least'] else ''}"]
                   for row in rows])


def print_hash(rows):
    print("hash: copying with the hash against copying alone\n")
    print_columns(["tensor", "from", "copy GB/s", "with hash GB/s", "ratio", "limit"],
                  [[str(row["tensor"]), row["where"], f"{row['copy_gbs']:.1f}",
                    f"{row['hash_copy_gbs']:.1f}", f"{row['ratio']:.3f}",
                    f"{shown(row['limit'], '.1f')}{verdict(row['ratio'], row['limit'])}"]
                   for row in rows])


def print_off(result):
    if result:
        print(f"off: {result['with']:.2f} instructions a task, {result['without']:.2f} in a build "
              f"without the recorder: {result['difference']:.2f} more (limit {result['limit']})"
              f"{verdict(result['difference'], result['limit'])}\n")


def print_million(result):
    for platform in PLATFORMS:
        row = result.get(platform)
        if row:
            print(f"million: {platform}: {row['records']} records at "
                  f"{row['records_per_s'] / 1e6:.2f} million/s, manifest {row['finish_s']:.2f} s, "
                  f"view {shown(row['view_s'], '.3f')} s, verify {shown(row['verify_s'], '.3f')} s")
    if "verify_gbs" in result:
        print(f"million: verify of 1 GiB of payload: {shown(result['verify_gbs'], '.2f')} GB/s")
    print()


def print_memory(rows):
    for row in rows:
        print(f"memory: {row['platform']}: {row['payload'] >> 20} MiB in {row['records']} records, "
              f"peak of the host {row['peak_growth_kb'] / 1024:.1f} MiB above its start "
              f"(the journal, mapped for the manifest: {row['records'] * 128 / 2**20:.1f} MiB)")
    print()


def print_notes(runner):
    if runner.missing:
        print(f"not here, left out: {', '.join(runner.missing)}")
    for problem in runner.problems:
        print(f"failed: {problem}")


def measure(runner):
    parts = {"full": (measure_full, print_full), "files": (measure_files, print_files), "hash": (measure_hash, print_hash),
             "off": (measure_off, print_off), "million": (measure_million, print_million),
             "memory": (measure_memory, print_memory)}
    result = {}
    for name in runner.options.parts:
        take, tell = parts[name]
        result[name] = take(runner)
        if runner.options.json != "-":  # else stdout holds only the JSON
            tell(result[name])
    return result


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="record.", dir=options.dir or options.bin) as folder:
        runner = Runner(options, folder)
        result = measure(runner)
    if options.json != "-":
        print_notes(runner)
    if options.json:
        write_json(options.json, {"total": options.total, "repeat": options.repeat,
                                  "rounds": options.rounds, "missing": runner.missing,
                                  "problems": runner.problems, **result})
    return 1 if runner.problems else 0


if __name__ == "__main__":
    sys.exit(main())
