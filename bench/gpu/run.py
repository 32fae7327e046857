#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cuda platform beside its peers and the limits of the machine, in one run.

    limits     memory, copy engine, messages, fences: the limits of the machine
    tasks      an empty task, and starting a run, beside CUDA Graphs and launches into a stream
    metg       how small tasks may be, METG(50 %), beside the same
    record     a recorded run, beside the memory it is written to or read from
    attention  every tensor of a step of paged attention saved, beside PyTorch with hooks

The last table sets what was measured beside what Taskglass wants to reach on an H200.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from options import names, write_json  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ("limits", "tasks", "metg", "record", "attention")
HOST, AICPU, TENSORMAP = "host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"
BUILDING = (AICPU, TENSORMAP)
BUILT_SHAPES = ("independent", "chain", "fan", "stencil")
SHAPES = BUILT_SHAPES + ("tree", "fft")
PATTERNS = ("independent", "chain", "stencil", "fan", "tree", "fft", "random", "nearest")
QUICK_PATTERNS = ("chain", "stencil", "fan", "tree")
# And all cores. Whole blocks of 3: in each, one column is for the matrix core and two for vector cores.
WIDTHS = (1, 9, 33)
METG_ROUNDS, METG_LIMIT_S = 3, 30  # no round begins after that time
PAUSE_MS = 50  # between runs: longer than a kernel stays
# Payload of a recorded run by tensor size, chosen so that a run takes seconds at most.
TOTALS = {"4K": "256M", "64K": "1G", "1M": "1G", "16M": "2G"}
HASHED = "8G"
PROCESS_LIMIT_S = 180
NO_ROOM, NO_DEVICE = 76, 77  # exit statuses
QUICK_MEMORY = "6G"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.path.normpath(os.path.join(HERE, "../../build/bench")),
                        metavar="DIR", help="where the programs are (default: %(default)s)")
    parser.add_argument("--parts", type=names(PARTS), default=list(PARTS))
    parser.add_argument("--sizes", type=names(TOTALS), default=list(TOTALS),
                        help="of recorded tensors (default: all)")
    parser.add_argument("--disk", metavar="DIR",
                        help="a folder on a disk, to record to (default: where the programs are)")
    parser.add_argument("--memory", metavar="DIR", default="/dev/shm",
                        help="a folder in memory (default: %(default)s)")
    parser.add_argument("--cores", type=int, default=0, help="default: the platform's")
    parser.add_argument("--device-memory", metavar="BYTES",
                        help="at most so much of the GPU's memory, as 10G; what wants more is left "
                             f"out (default: all that is wanted, with --quick {QUICK_MEMORY})")
    parser.add_argument("--metg-tasks", type=int, metavar="N",
                        help="in a grid of part metg, at most (default: 131072)")
    parser.add_argument("--quick", action="store_true",
                        help="small and few: does it work, not how fast is it")
    parser.add_argument("--json", metavar="FILE", help="write all figures there; - is stdout")
    parser.add_argument("--platform", default="cuda", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.disk = options.disk or options.bin
    if options.quick and options.platform == "cuda":  # simulators use only what they touch
        options.device_memory = options.device_memory or QUICK_MEMORY
    return options


class Runner:
    """Starts the programs; keeps their output and their failures."""

    def __init__(self, options):
        self.options = options
        self.calls = 0
        self.notes = []
        self.problems = []
        self.missing = []
        self.scratch = self.memory_folder()

    def path(self, name):
        return os.path.join(self.options.bin, f"bench_gpu_{name}")

    def command(self):
        return os.path.join(self.options.bin, os.pardir, "bin", "taskglass")

    def memory_folder(self):
        """A folder in memory if it has room for the largest recording, else one on the disk."""
        need = (1 if self.options.quick else 4) << 30
        try:
            if shutil.disk_usage(self.options.memory).free > need:
                return self.options.memory
        except OSError:
            pass
        self.notes.append(f"{self.options.memory}: less than {need >> 30} GiB free, recordings go "
                          f"to {self.options.disk}")
        return self.options.disk

    def run(self, command):
        """The objects that a program printed, also those printed before it failed."""
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  timeout=PROCESS_LIMIT_S)
            text, error = done.stdout, ""
            if done.returncode != 0:
                why = done.stderr.strip().splitlines()[-1:] or [""]
                error = f"exit {done.returncode}: {why[0]}"
            if done.returncode == NO_DEVICE and os.environ.get("TASKGLASS_CUDA_DRIVER"):
                self.missing.append("a CUDA device beside the driver that was named")
                return []
            if done.returncode == NO_ROOM:
                self.notes.append(f"left out for --device-memory {self.options.device_memory}: "
                                  f"{why[0]}")
                return []
        except subprocess.TimeoutExpired as late:
            text = late.stdout.decode() if late.stdout else ""
            error = f"over {PROCESS_LIMIT_S} s"
        except OSError as wrong:
            text, error = "", str(wrong)
        if error:
            self.problems.append(f"{os.path.basename(command[0])} {' '.join(command[1:])}: {error}")
        lines = []
        for line in text.splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                self.problems.append(f"{os.path.basename(command[0])}: {line}")
        return lines

    def ours(self, name, *arguments):
        """Runs one of our programs on the platform."""
        limits = ["--cores", str(self.options.cores)] if self.options.cores else []
        if self.options.device_memory:
            limits += ["--memory", self.options.device_memory]
        self.calls += 1
        lines = self.run([self.path(name), "--platform", self.options.platform, *limits,
                          *map(str, arguments)])
        return [dict(line, call=self.calls) for line in lines]

    def peer(self, name, *arguments):
        """Runs a CUDA program; it is absent if nvcc was."""
        if not os.access(self.path(name), os.X_OK):
            self.missing.append(os.path.basename(self.path(name)))
            return []
        return self.run([self.path(name), *map(str, arguments)])


def is_available(runner):
    """Asks the command line whether the platform is available."""
    try:
        done = subprocess.run([runner.command(), "list", "--json"], capture_output=True, text=True,
                              check=True, timeout=60)
        return any(platform["name"] == runner.options.platform and platform["available"]
                   for platform in json.loads(done.stdout)["platforms"])
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        sys.exit(f"bench/gpu: {runner.command()}: {error}")


# ── printing ────────────────────────────────────────────────────────────────────────────


def find(lines, **wanted):
    """The first line with these values, or an empty one."""
    for line in lines:
        if all(line.get(key) == value for key, value in wanted.items()):
            return line
    return {}


def highest(lines, **wanted):
    """The largest GB/s of lines with these values."""
    rates = [line["gbs"] for line in lines
             if all(line.get(key) == value for key, value in wanted.items())]
    return max(rates) if rates else None


def positive(value):
    """The value, or None if it is below zero: then the difference of times is only noise."""
    return value if value is not None and value > 0 else None


def over(a, b):
    return a / b if a is not None and b else None


def shown(value, unit="", digits=None):
    """A number with three or four significant digits."""
    if value is None:
        return "-"
    if digits is None:
        digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2
    return f"{value:,.{digits}f}{' ' if unit else ''}{unit}"


WORDS = ("what", "peer", "limit", "")  # columns that do not hold numbers


def print_table(title, head, rows):
    if not rows:
        return
    print(f"\n{title}\n")
    widths = [max(len(line[k]) for line in [head] + rows) for k in range(len(head))]
    for line in [head] + rows:
        cells = [cell.ljust(width) if name in WORDS else cell.rjust(width)
                 for name, cell, width in zip(head, line, widths)]
        print(("  " + "  ".join(cells)).rstrip())
    sys.stdout.flush()


# ── limits ──────────────────────────────────────────────────────────────────────────────


def measure_limits(runner):
    return runner.peer("limits")


LIMITS = {
    "pin": "pinning host memory",
    "host_write": "blocks write host memory",
    "host_copy": "blocks copy device memory to host memory",
    "device_copy": "blocks copy device memory",
    "device_read": "blocks read device memory",
    "device_memcpy": "cudaMemcpy in device memory",
    "copy_engine": "copy engine to host memory",
    "copy_engine_beside_kernel": "the same beside a persistent kernel",
    "host_round_trip": "device to host and back",
    "block_round_trip": "block to block and back, release and acquire",
    "block_round_trip_relaxed": "block to block and back, relaxed",
    "block_barrier_288": "barrier of a block of 288 threads",
    "cooperative_launch": "cooperative launch of an empty kernel, to its end",
    "cooperative_launch_after_a_pause": "the same, 50 ms after another",
}


def limit_row(line):
    text = LIMITS[line["what"]]
    if "blocks" in line:
        text += f", {line['blocks']} block{'s' if line['blocks'] > 1 else ''}"
    if "piece" in line:
        text += f", pieces of {line['piece'] >> 10} KiB"
    return [text, shown(line.get("gbs"), "GB/s") if "gbs" in line else shown(line["ns"], "ns")]


def print_limits(lines, _limits):
    device = find(lines, what="device")
    if not device:
        return
    print_table(f"limits: {device['name']}, {device['sms']} multiprocessors",
                ["what", "at most"],
                [limit_row(line) for line in lines if line["what"] in LIMITS])
    fences = [line for line in lines if line["what"] == "fence"]
    waits = list(dict.fromkeys(line["outstanding"] for line in fences))
    rows = []
    for op in dict.fromkeys(line["op"] for line in fences):
        cells = [find(fences, op=op, outstanding=wait) for wait in waits]
        rows.append([op] + [f"{cell['cycles']:,.0f} / {cell['ns']:,.0f}" if cell else "-"
                            for cell in cells])
    print_table("fences: cycles / ns, by who has stores to host memory under way",
                ["what", *waits], rows)
    beside = find(lines, what="beside_kernel")
    if beside and not (beside["still_running"] and beside["blocks"] == device["sms"]):
        print("  the persistent kernel was not there all the time: do not trust what was beside it")


# ── tasks ───────────────────────────────────────────────────────────────────────────────


def orchestrators(runner):
    """Where orchestrations can run, the default first; [None] for programs that have no choice."""
    try:
        said = subprocess.run([runner.path("tasks"), "--help"], capture_output=True, text=True,
                              check=False, timeout=60).stderr
    except (OSError, subprocess.SubprocessError):
        return [None]
    return ["host", "device"] if "--orchestrator" in said else [None]


def measure_built(runner, *arguments):
    """The graphs that are built while they run, by every kind of orchestrator."""
    lines = []
    for where in orchestrators(runner):
        choice = ["--orchestrator", where] if where else []
        lines += [dict(line, orchestrator=where) for line in runner.ours(
            "tasks", "--runtimes", ",".join(BUILDING), "--shapes", ",".join(BUILT_SHAPES),
            *choice, *arguments)]
    return lines


def measure_starts(runner):
    starts = 5 if runner.options.quick else 40
    return (runner.ours("tasks", "--start", 10 * starts) +
            runner.ours("tasks", "--start", starts, "--pause", PAUSE_MS))


def measure_tasks(runner):
    quick = runner.options.quick
    repeat = ["--repeat", 3 if quick else 7]
    host = ["--runtimes", HOST, "--tasks"]
    every = ["--shapes", ",".join(SHAPES)]
    most = 20000 if quick else 100000
    lines = runner.ours("tasks", "--check", *host, 5000, *every)
    lines += measure_built(runner, "--check", "--built-tasks", 5000)
    lines += runner.ours("tasks", *host, most, *every, *repeat)
    lines += runner.ours("tasks", *host, most, "--kinds", "both", "--shapes", "independent", *repeat)
    lines += measure_built(runner, "--built-tasks", 5000 if quick else 20000, *repeat)
    lines += measure_starts(runner)
    if runner.options.platform == "cuda":
        lines += runner.peer("graphs", "--tasks", 2000 if quick else 10000, *repeat)
    return lines


def graph_cost(lines, shape, builds):
    """Nanoseconds of a node of a CUDA Graph; includes making the graph if ours is made in the run
    too."""
    line = find(lines, peer="cuda_graph", shape=shape)
    if not line:
        return None
    made = line["build_s"] + line["instantiate_s"] + line["upload_s"] if builds else 0
    return positive(line["ns_per_task"] + made / line["n"] * 1e9)


def stream_cost(lines):
    """Nanoseconds of a launch into a stream; one stream runs kernels in turn, whatever the shape."""
    return positive(find(lines, peer="stream").get("ns_per_task"))


def task_line(lines, runtime, shape, kinds="aiv", where=None):
    return find(lines, program="tasks", runtime=runtime, shape=shape, kinds=kinds, faults=None,
                orchestrator=where)


def task_cost(lines, runtime, shape, kinds="aiv", where=None):
    return positive(task_line(lines, runtime, shape, kinds, where).get("ns_per_task"))


def used_orchestrators(lines):
    found = [line["orchestrator"] for line in lines if "orchestrator" in line]
    return list(dict.fromkeys(found))


def again_row(lines, shape, kinds):
    if not task_line(lines, HOST, shape, kinds):
        return []
    cost, graph = task_cost(lines, HOST, shape, kinds), graph_cost(lines, shape, False)
    return [[shape + (", all cores" if kinds == "both" else ""), shown(cost, "ns"),
             shown(graph, "ns"), shown(over(graph, cost))]]


def built_row(lines, runtime, shape, where):
    if not task_line(lines, runtime, shape, "aiv", where):
        return []
    cost = task_cost(lines, runtime, shape, "aiv", where)
    peers = [graph_cost(lines, shape, True), stream_cost(lines)]
    row = [f"{runtime} {shape}" + (f", on the {where}" if where else ""), shown(cost, "ns")]
    for peer in peers:
        row += [shown(peer, "ns"), shown(over(peer, cost))]
    return [row]


def start_rows(lines, limits):
    """What starting a run costs, beside CUDA's launches."""
    at_once, paused = (find(lines, program="start", pause_ms=pause) for pause in (0, PAUSE_MS))
    if not at_once or not paused:
        return []
    rows = []
    for what, ours, peer in (("the first run of a device", at_once["first_us"], ""),
                             ("at once after another", at_once["us"], ""),
                             (f"{PAUSE_MS} ms after another", paused["us"], "_after_a_pause")):
        empty = find(limits, what="cooperative_launch" + peer).get("ns")
        empty = empty / 1e3 if empty is not None else None
        rows.append([what, shown(ours, "µs"), "cooperative launch" + peer.replace("_", " "),
                     shown(empty, "µs"), shown(over(empty, ours))])
    graph = positive(find(lines, peer="cuda_graph", shape="chain").get("launch_host_us"))
    host = positive(task_line(lines, HOST, "chain").get("launch_us"))
    rows.append(["without tasks, by the slope", shown(host, "µs"), "CUDA Graph launch",
                 shown(graph, "µs"), shown(over(graph, host))])
    return rows + [["opening a device", shown(at_once["open_ms"], "ms"), "-", "-", "-"],
                   ["loading a module", shown(at_once["load_ms"], "ms"), "-", "-", "-"]]


def print_checks(lines):
    checks = [line for line in lines if "faults" in line]
    wrong = [f"{line['runtime']} {line['shape']}: {line['faults']} tasks out of turn"
             for line in checks if line["faults"]]
    print(f"  checked: {len(checks) - len(wrong)} of {len(checks)} graphs ran every task once and "
          "after its predecessors" + "".join(f"; {text}" for text in wrong))


def print_tasks(lines, limits):
    again = [row for shape in SHAPES for kinds in ("aiv", "both")
             for row in again_row(lines, shape, kinds)]
    built = [row for where in used_orchestrators(lines) for runtime in BUILDING
             for shape in BUILT_SHAPES for row in built_row(lines, runtime, shape, where)]
    cores = find(lines, program="tasks").get("cores")
    print_table(f"tasks: {HOST} run again, one more empty task on {cores} cores; ratio above 1: we "
                "are cheaper", ["what", "Taskglass", "CUDA Graph", "ratio"], again)
    print_table("tasks: submitted and run, one more; CUDA Graph: made and run; stream: a launch "
                "for each",
                ["what", "Taskglass", "CUDA Graph", "ratio", "stream", "ratio"], built)
    print_table("tasks: starting a run of one task", ["what", "Taskglass", "peer", "its cost",
                                                      "ratio"], start_rows(lines, limits))
    graphs = [line for line in lines if line.get("peer") == "cuda_graph"]
    if graphs:
        print(f"  CUDA Graphs of {graphs[0]['n']} nodes took so many ms to make: " + ", ".join(
            f"{line['shape']} "
            f"{(line['build_s'] + line['instantiate_s'] + line['upload_s']) * 1e3:.0f}"
            for line in graphs))
    print_checks(lines)


# ── metg ────────────────────────────────────────────────────────────────────────────────

# Column of the table and system.
METG_SYSTEMS = {"host": HOST, "aicpu": AICPU, "tensormap": TENSORMAP, "CUDA Graph": "cuda_graph",
                "made, run": "cuda_graph_made", "stream": "stream", "streams": "streams"}


def metg_widths(runner):
    widths = () if runner.options.quick else WIDTHS
    return [width for width in widths if not 0 < runner.options.cores <= width]


def measure_metg_round(runner, number, options):
    widths = metg_widths(runner)
    lines = runner.ours("metg", "--widths", ",".join([*map(str, widths), "all"]), *options)
    cores = max([line["cores"] for line in lines], default=None)
    if cores and runner.options.platform == "cuda":
        widths = [width for width in widths if width < cores] + [cores]
        lines += runner.peer("metg_peers", "--widths", ",".join(map(str, widths)), *options)
    return [dict(line, round=number) for line in lines]


def measure_metg(runner):
    """Rounds of everything, as many as there is time for."""
    quick = runner.options.quick
    options = ["--repeat", 1 if quick else 3, "--patterns",
               ",".join(QUICK_PATTERNS if quick else PATTERNS)]
    if runner.options.metg_tasks:
        options += ["--tasks", runner.options.metg_tasks]
    began, lines = time.monotonic(), []
    for number in range(1 if quick else METG_ROUNDS):
        if time.monotonic() - began < METG_LIMIT_S:
            lines += measure_metg_round(runner, number, options)
    return lines


def metg_lines(lines, system, pattern, cores):
    return [line for line in lines if line["system"] == system and line["pattern"] == pattern and
            line["cores"] == cores]


def metg(lines, system, pattern, cores):
    """Median over rounds, in µs; None if at least half of them found none."""
    found = [line["metg_us"] for line in metg_lines(lines, system, pattern, cores)]
    good = [value for value in found if value is not None]
    return statistics.median(good) if 2 * len(good) > len(found) else None


def metg_row(lines, pattern, cores):
    row = [pattern] + [shown(metg(lines, system, pattern, cores))
                       for system in METG_SYSTEMS.values()]
    return row + [shown(over(metg(lines, "cuda_graph", pattern, cores),
                             metg(lines, HOST, pattern, cores)))]


def print_metg(lines, _limits):
    if not lines:
        return
    for cores in sorted({line["cores"] for line in lines}):
        patterns = [pattern for pattern in PATTERNS
                    if find(lines, pattern=pattern, cores=cores)]
        print_table(f"metg: METG(50 %) in µs on {cores} core{'s' if cores > 1 else ''}; ratio: CUDA "
                    "Graph over host", ["what", *METG_SYSTEMS, "ratio"],
                    [metg_row(lines, pattern, cores) for pattern in patterns])
    print(f"  rounds: {len({line['round'] for line in lines})}; "
          f"{sum(line['executed'] for line in lines):,} of "
          f"{sum(line['expected'] for line in lines):,} tasks executed, "
          f"{sum(line['errors'] for line in lines)} found a wrong input or left a wrong output")


# ── record ──────────────────────────────────────────────────────────────────────────────


def transports(runner):
    return ["copied"] if runner.options.platform == "a5sim" else ["mapped", "copied"]


def measure_record(runner):
    quick, both = runner.options.quick, ",".join(transports(runner))
    repeat = 2 if quick else 3
    lines = []
    for size in runner.options.sizes:
        lines += runner.ours("record", "--tensor", size, "--total",
                             "64M" if quick else TOTALS[size], "--levels", "off,full",
                             "--transports", both, "--repeat", repeat, "--dir", runner.scratch)
    # These levels have no payload, so one transport suffices.
    lines += runner.ours("record", "--tensor", "1M", "--total", "256M" if quick else HASHED,
                         "--levels", "off,hash,off", "--transports", both.split(",")[0],
                         "--repeat", repeat + 2, "--dir", runner.scratch)
    lines += runner.ours("record", "--tensor", "4K", "--total", "16M" if quick else "256M",
                         "--levels", "off,meta,hash", "--transports", both.split(",")[0],
                         "--repeat", repeat, "--dir", runner.scratch)
    for folder in dict.fromkeys([runner.scratch, runner.options.disk]):
        lines += runner.ours("record", "--tensor", "1M", "--total", "64M" if quick else "1G",
                             "--levels", "full", "--transports", both, "--arena", "default",
                             "--repeat", repeat, "--dir", folder, "--plain")
    return lines


def size_name(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def waited(line):
    """Says that cores waited for the host: then the figure is not the cost of recording into
    memory."""
    share = line["wait_s"] / (line["execute_s"] * line["cores"])
    return f"cores waited {share:.0%} of the time" if share > 0.01 else ""


def full_row(line, limits):
    """A row for a recording that fits into the arenas, which lie in device memory if it is copied
    later."""
    if line["transport"] == "copied":
        name, limit = "blocks copying device memory", highest(limits, what="device_copy")
    else:
        name, limit = "blocks writing host memory", highest(limits, what="host_write")
    return [f"full, {size_name(line['tensor'])}, {line['transport']}", shown(line["gbs"], "GB/s"),
            name, shown(limit, "GB/s"), shown(over(line["gbs"], limit)), waited(line)]


def file_rows(line, plain, limits):
    """Rows for what the user sees. A copied recording passes the copy engine, and all recordings
    the file."""
    what = f"full, 1 MiB, {line['transport']}, files in {os.path.dirname(line['dir'])}"
    rows = [(f"pwrite() of {plain.get('threads', 1)} threads", plain.get("gbs"))]
    if line["transport"] == "copied":
        rows.append(("copy engine", highest(limits, what="copy_engine_beside_kernel")))
    return [[what, shown(line["gbs_all"], "GB/s"), name, shown(limit, "GB/s"),
             shown(over(line["gbs_all"], limit)), ""] for name, limit in rows]


def hashing(lines, tensor):
    """The line of level hash, and how many seconds its runs took longer than without; {} and None if
    they were not measured."""
    hashed = find(lines, level="hash", tensor=tensor)
    off = find(lines, level="off", call=hashed.get("call"))
    return (hashed, hashed["execute_s"] - off["execute_s"]) if off else ({}, None)


def hash_row(lines, tensor, limits):
    hashed, more = hashing(lines, tensor)
    if not hashed:
        return []
    rate = over(hashed["bytes"] * 1e-9, positive(more))
    limit = highest(limits, what="device_read")
    return [[f"hash, {size_name(tensor)}", shown(rate, "GB/s"), "blocks reading device memory",
             shown(limit, "GB/s"), shown(over(rate, limit)),
             f"{more * 1e3:.2f} ms for {hashed['bytes'] / 2**30:.2f} GiB"]]


def meta_row(lines):
    meta = find(lines, level="meta")
    off = find(lines, level="off", call=meta.get("call"))
    if not off:
        return []
    more = positive(meta["execute_s"] - off["execute_s"])
    each = over(more, meta["records"] * 1e-9)
    return [["meta, for each record", shown(each, "ns"), "-", "-", "-",
             f"{meta['records'] / meta['execute_s'] / 1e6:.2f} million records/s"]]


def off_row(lines):
    hashed = find(lines, level="hash", tensor=1 << 20)
    off = [line for line in lines
           if line["level"] == "off" and line["call"] == hashed.get("call")]
    if len(off) < 2:
        return []
    first, second = off[0]["execute_s"], off[1]["execute_s"]
    spread = max(line["execute_worst_s"] for line in off) / min(
        line["execute_best_s"] for line in off)
    return [["off, twice", shown(first * 1e3, "ms"), "off", shown(second * 1e3, "ms"),
             shown(first / second), f"slowest / quickest {spread:.2f}"]]


def print_record(lines, limits):
    fitting = [line for line in lines if line["level"] == "full" and line["arena"] == "fit"]
    files = [line for line in lines if line["level"] == "full" and line["arena"] == "default"]
    measured = [line for line in lines if "tensor" in line]
    rows = [full_row(line, limits) for line in fitting]
    rows += hash_row(measured, 1 << 20, limits) + hash_row(measured, 4 << 10, limits)
    rows += meta_row(measured) + off_row(measured)
    for line in files:
        rows += file_rows(line, find(lines, level="plain", dir=line["dir"]), limits)
    cores = find(lines, program="record").get("cores")
    print_table(f"record: tasks that copy a tensor, on {cores} cores; ratio: how much of the limit "
                "is reached", ["what", "Taskglass", "limit", "it is", "ratio", ""], rows)


# ── attention ───────────────────────────────────────────────────────────────────────────


def measure_attention(runner):
    """A small step, where what a recording costs at all shows, and a large one."""
    command = [sys.executable, os.path.join(HERE, "attention.py"), "--taskglass", runner.command(),
               "--dir", runner.scratch, "--platform", runner.options.platform]
    quick = runner.options.quick
    lines = [dict(line, size="small")
             for line in runner.run(command + ["--quick", "--repeat", "1" if quick else "5"])]
    if not quick:
        lines += [dict(line, size="large") for line in runner.run(command)]
    return lines


def attention_more(line):
    """Seconds that saving adds to a run."""
    return positive(line["saved_s"] - line["plain_s"]) if "saved_s" in line else None


def print_attention(lines, _limits):
    for size in ("small", "large"):
        print_step(find(lines, peer="taskglass", size=size), find(lines, peer="torch", size=size))


def print_step(ours, torch):
    if not ours:
        return
    ours, torch = (dict(line, more_s=attention_more(line)) for line in (ours, torch))
    rows = []
    for what, key, peer, scale, unit, digits in (
            ("nothing saved", "plain_s", "PyTorch", 1e3, "ms", None),
            ("every tensor saved", "saved_s", "PyTorch, hooks and torch.save", 1e3, "ms", None),
            ("saving alone", "more_s", "the same", 1e3, "ms", None),
            ("tensors saved", "tensors", "PyTorch", 1, "", 0),
            ("bytes saved", "bytes", "PyTorch", 2**-20, "MiB", None)):
        mine, other = (line[key] * scale if line.get(key) is not None else None
                       for line in (ours, torch))
        rows.append([what, shown(mine, unit, digits), peer, shown(other, unit, digits),
                     shown(over(other, mine))])
    print_table(f"attention: {ours['tasks']} tasks, {ours['case']}",
                ["what", "Taskglass", "peer", "it", "ratio"], rows)
    if torch.get("largest_error", 0) > 1e-4:
        print(f"  PyTorch's result is off by {torch['largest_error']:.1e}: it computes otherwise")
    if "skipped" in torch:
        print(f"  PyTorch left out: {torch['skipped']}")


# ── what was to be reached ──────────────────────────────────────────────────────────────


def figure(what, unit, measured, target, most=True):
    """One figure and its target: at most that, or at least. None: not measured, so not known."""
    reached = None
    if measured is not None and target is not None:
        reached = measured <= target if most else measured >= target
    return {"what": what, "unit": unit, "measured": measured, "target": target,
            "at": "most" if most else "least", "reached": reached}


def task_figures(lines, _limits):
    found = [figure(f"{HOST} {shape}, beside CUDA Graph", "ns", task_cost(lines, HOST, shape),
                    graph_cost(lines, shape, False)) for shape in ("fan", "tree", "stencil", "fft")]
    for shape, target in (("chain", 400), ("independent", 60)):
        found.append(figure(f"{HOST} {shape}", "ns", task_cost(lines, HOST, shape), target))
    where = (used_orchestrators(lines) or [None])[0]
    for runtime in BUILDING:
        for shape in BUILT_SHAPES:
            name, cost = f"{runtime} {shape}", task_cost(lines, runtime, shape, "aiv", where)
            ratio = over(graph_cost(lines, shape, True), cost)
            found.append(figure(name, "ns", cost, 500))
            found.append(figure(f"{name}, ahead of CUDA Graph", "×", ratio, 8, most=False))
            found.append(figure(f"{name}, beside a stream", "ns", cost, stream_cost(lines)))
    for what, pause, target in (("lingering", 0, 30), ("cold", PAUSE_MS, 150)):
        us = find(lines, program="start", pause_ms=pause).get("us")
        found.append(figure(f"starting a run, {what}", "µs", us, target))
    return found


def part_of(rate, limit):
    """Percent of a limit."""
    return 100 * rate / limit if rate is not None and limit else None


def record_figures(lines, limits):
    bus, found = highest(limits, what="host_write"), []
    for name, tensor, target in (("1 MiB", 1 << 20, 97), ("4 KiB", 4 << 10, 80)):
        rate = find(lines, level="full", arena="fit", transport="mapped", tensor=tensor).get("gbs")
        found.append(figure(f"full, {name} tensors, of the bus", "%", part_of(rate, bus), target,
                            most=False))
    hashed, more = hashing(lines, 4 << 10)
    found.append(figure("hash of 4 KiB tensors", "GB/s",
                        over(hashed.get("bytes", 0) * 1e-9, positive(more)), 500, most=False))
    for folder in dict.fromkeys(line["dir"] for line in lines if line.get("level") == "plain"):
        plain = highest(lines, level="plain", dir=folder)
        for name, tensor, target in (("1 MiB", 1 << 20, 90), ("4 KiB", 4 << 10, 50)):
            rates = [line["gbs_all"] for line in lines if line.get("arena") == "default" and
                     line.get("dir") == folder and line.get("tensor") == tensor]
            found.append(figure(f"files, {name} tensors, of plain writes, "
                                f"{os.path.dirname(folder)}", "%",
                                part_of(max(rates, default=None), plain), target, most=False))
    return found


def attention_figures(lines, _limits):
    ours, torch = (find(lines, peer=peer, size="small") for peer in ("taskglass", "torch"))
    more = attention_more(ours)
    return [figure("small run: what recording adds", "ms", more * 1e3 if more else None, 20),
            figure("small run, recorded, beside PyTorch's hooks", "ms", *(
                line["saved_s"] * 1e3 if "saved_s" in line else None for line in (ours, torch)))]


FIGURES = {"tasks": task_figures, "record": record_figures, "attention": attention_figures}


def all_figures(result):
    return [found for part, find_figures in FIGURES.items() if part in result
            for found in find_figures(result[part], result.get("limits", []))]


def print_figures(found):
    words = {True: "yes", False: "no", None: "not known"}
    print_table("figures: what was to be reached on an H200; it decides no test",
                ["what", "measured", "target", "reached"],
                [[f["what"], shown(f["measured"], f["unit"]),
                  f"{'≤' if f['at'] == 'most' else '≥'} {shown(f['target'], f['unit'])}"
                  if f["target"] is not None else "-",
                  words[f["reached"]]] for f in found])
    known = [f["reached"] for f in found if f["reached"] is not None]
    if found:
        print(f"  {sum(known)} of {len(found)} reached, {len(found) - len(known)} not known")


# ── all of it ───────────────────────────────────────────────────────────────────────────


MEASURES = {"limits": (measure_limits, print_limits), "tasks": (measure_tasks, print_tasks),
            "metg": (measure_metg, print_metg), "record": (measure_record, print_record),
            "attention": (measure_attention, print_attention)}


def measure(runner):
    """Measures every part; the limits come first because later tables show them."""
    result = {}
    for name in runner.options.parts:
        take, tell = MEASURES[name]
        began = time.monotonic()
        if name == "limits" and runner.options.platform != "cuda":
            continue
        result[name] = take(runner)
        if runner.options.json != "-":  # else stdout holds only the JSON
            tell(result[name], result.get("limits", []))
            print(f"  ({name}: {time.monotonic() - began:.0f} s)", flush=True)
    return result


def main():
    options = parse_arguments()
    runner = Runner(options)
    if not is_available(runner):
        print(f"bench/gpu: skipped, platform {options.platform} is not available on this machine "
              "(cuda needs a build with nvcc, an NVIDIA GPU and its driver)",
              file=sys.stderr if options.json == "-" else sys.stdout)
        return 0
    with tempfile.TemporaryDirectory(prefix="gpu.", dir=options.disk) as on_disk, \
            tempfile.TemporaryDirectory(prefix="gpu.", dir=runner.scratch) as in_memory:
        options.disk, runner.scratch = on_disk, in_memory
        result = measure(runner)
    found = all_figures(result)
    if options.json != "-":
        print_figures(found)
        if runner.missing:
            print(f"\nnot here, left out: {', '.join(dict.fromkeys(runner.missing))}")
        for note in runner.notes + [f"failed: {problem}" for problem in runner.problems]:
            print(note)
    if options.json:
        write_json(options.json, {"platform": options.platform, "missing": runner.missing,
                                  "notes": runner.notes, "problems": runner.problems, **result,
                                  "figures": found})
    return 1 if runner.problems else 0


if __name__ == "__main__":
    sys.exit(main())
