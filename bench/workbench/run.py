#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the workbench on this machine: a run of a million tasks from the address to the first picture, frames while
panning and zooming, the server's memory, and screens of a tensor of 4 GiB. Beside it stand limits of the machine and
what another viewer would need first. Times are medians of the rounds."""

import argparse
import array
import json
import math
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from options import positive, write_json  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MIB = 1 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=TREE / "build", type=pathlib.Path, metavar="DIR",
                        help="the build folder (default: %(default)s)")
    parser.add_argument("--dir", type=pathlib.Path, metavar="DIR",
                        help="where recordings are written and kept (default: a temporary folder)")
    parser.add_argument("--tasks", type=positive, default=1_000_000)
    parser.add_argument("--tensor-mib", type=positive, default=4096)
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--quick", action="store_true", help="10,000 tasks, 64 MiB, once")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.tasks, options.tensor_mib, options.rounds = 10_000, 64, 1
    options.build = options.build.resolve()
    return options


def leave(why):
    """The other benchmarks go on."""
    print(f"bench/workbench: not measured: {why}", file=sys.stderr)
    sys.exit(0)


def prepare_web(build):
    """Node, a browser and the packages of web/, or why there are none."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        leave(f"no browser here ({', '.join(BROWSERS)})")
    result = subprocess.run([TREE / "tests" / "web" / "run.py", "packages", build], text=True,
                            stdout=subprocess.PIPE)
    if result.returncode != 0:
        leave(result.stdout.strip())
    return {**os.environ, "TASKGLASS_WEB": str(build / "web"), "BROWSER": browser}


class Server:
    """taskglass serve for one run, and how much memory it took."""

    def __init__(self, build, run):
        self.process = subprocess.Popen([build / "bin" / "taskglass", "serve", run], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.address = None
        for line in self.process.stdout:
            found = re.search(r"http://\S+/", line)
            if found:
                self.address = found.group(0)
                break
        if not self.address:
            sys.exit("bench/workbench: taskglass serve printed no address")

    def _status(self, name):
        """The largest such figure of the command's process and its child, the server, in MiB."""
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], text=True,
                                  stdout=subprocess.PIPE).stdout.split()
        texts = (pathlib.Path("/proc", pid, "status").read_text()
                 for pid in (str(self.process.pid), *children))
        return max(int(re.search(rf"{name}:\s+(\d+)", text).group(1)) / 1024 for text in texts)

    def memory(self):
        """The most and the present resident MiB."""
        return self._status("VmHWM"), self._status("VmRSS")

    def private(self):
        """Resident MiB that are not pages of files."""
        return self._status("RssAnon")

    def link(self, view):
        """The address of a view of the run."""
        with urllib.request.urlopen(f"{self.address}api/runs") as answer:
            key = json.load(answer)["runs"][0]["key"]
        return f"{self.address}#/{view}?run={key}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def drop_from_cache(run):
    """Lets the system forget the pages of a run's files, so that the next read goes to the disk. Returns how many MiB
    stay nevertheless, because another process has them mapped or the disk has yet to take them."""
    paths = [path for path in run.rglob("*") if path.is_file()]
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        os.fdatasync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
    result = subprocess.run(["fincore", "--bytes", "--noheadings", "--output", "res", *paths], text=True,
                            stdout=subprocess.PIPE, check=True)
    return sum(map(int, result.stdout.split())) / MIB


def read_seconds(path):
    """Reads a file and does nothing with it."""
    began = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        buffer = bytearray(4 * MIB)
        while file.readinto(buffer):
            pass
    return time.perf_counter() - began


def measure(environment, what, address):
    result = subprocess.run(["node", HERE / "measure.mjs", what, address], env=environment, text=True,
                            stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout)


# --- recordings -----------------------------------------------------------------------------------

def record_tasks(options, folder):
    run = folder / f"tasks_{options.tasks}"
    if not run.exists():
        subprocess.run([options.build / "bin" / "taskglass", "run", "vector_add", "--set",
                        f"n={options.tasks}", "--set", "tile=1", "--dump-args", "--output", run],
                       check=True, stdout=subprocess.DEVNULL)
    return run


def record_tensor(options, folder):
    """A recording with one square tensor of float32, written by hand: a manifest and its payload."""
    run = folder / f"tensor_{options.tensor_mib}"
    if run.exists():
        return run
    side = int((options.tensor_mib * MIB // 4) ** 0.5)
    dump = run / "tensor_dump"
    dump.mkdir(parents=True)
    rows = [array.array("f", (math.sin(column / 300) * math.cos(row / 5) for column in range(side)))
            for row in range(32)]
    with open(dump / "tensor_dump.bin", "wb") as file:
        for row in range(side):
            rows[row % len(rows)].tofile(file)
    entry = {"task_id": "0x0000000000000000", "func_id": [0], "kernel": ["fill"], "arg_index": 0,
             "role": "output", "stage": "after_completion", "kind": "tensor", "dtype": "float32",
             "is_contiguous": True, "shape": [side, side], "strides": [side, 1], "truncated": False,
             "overwritten": False, "start_offset": 0, "bin_offset": 0, "bin_size": 4 * side * side,
             "hash": None, "data_ptr": "0x1000"}
    (dump / "tensor_dump.json").write_text(json.dumps({
        "version": 2, "run_dir": "run", "level": "full", "complete": True,
        "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
        "total_tensors": 1, "attempted": 1, "before_dispatch": 0, "after_completion": 1,
        "orchestration": 0, "input_tensors": 0, "output_tensors": 1, "inout_tensors": 0, "scalars": 0,
        "truncated_tensors": 0, "overwritten_tensors": 0, "payload_bytes": 4 * side * side,
        "bin_file": "tensor_dump.bin", "tensors": [entry]}))
    return run


# --- what is measured -----------------------------------------------------------------------------

def median(rounds, *path):
    values = []
    for one in rounds:
        for name in path:
            one = one[name]
        values.append(one)
    return statistics.median(values)


def measure_tasks(options, environment, folder):
    run = record_tasks(options, folder)
    journal = run / "tensor_dump" / "tensor_dump.rec"
    rounds, cold, fresh = [], [], []
    for _ in range(options.rounds):
        stays = drop_from_cache(run)
        with Server(options.build, run) as server:
            cold.append({**measure(environment, "first", server.link("timeline")), "stays_mib": stays})
        with Server(options.build, run) as server:
            fresh.append(measure(environment, "first", server.link("timeline")))
            again = measure(environment, "frames", server.link("timeline"))
            most, now = server.memory()
            rounds.append({**again, "server_most_mib": most, "server_now_mib": now,
                           "server_anonymous_mib": server.private()})
    drop_from_cache(run)
    plain_cold = read_seconds(journal)
    figures = {"tasks": options.tasks, "journal_mib": journal.stat().st_size / MIB,
               "first_picture_cold_ms": median(cold, "first_picture_ms"),
               "first_picture_cold_stays_mib": median(cold, "stays_mib"),
               "first_picture_ms": median(fresh, "first_picture_ms"),
               "first_picture_again_ms": median(rounds, "first_picture_ms"),
               "read_journal_cold_ms": 1000 * plain_cold,
               "read_journal_ms": 1000 * read_seconds(journal)}
    for name in ("zoom", "pan"):
        figures[name] = {key: median(rounds, name, key) for key in rounds[0][name]}
    for name in ("server_most_mib", "server_now_mib", "server_anonymous_mib"):
        figures[name] = median(rounds, name)
    figures["trace"] = export_trace(options, run, folder)
    return figures


def export_trace(options, run, folder):
    """What Perfetto would need first: the trace as a file."""
    target = folder / "bench.pftrace"
    target.unlink(missing_ok=True)
    began = time.perf_counter()
    subprocess.run([options.build / "bin" / "taskglass", "export", run, "--to", "trace", "--output", target],
                   check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - began
    size = target.stat().st_size / MIB
    target.unlink()
    return {"seconds": seconds, "mib": size}


def measure_tensor(options, environment, folder):
    run = record_tensor(options, folder)
    rounds = []
    for _ in range(options.rounds):
        drop_from_cache(run)
        with Server(options.build, run) as server:
            screens = measure(environment, "heatmap", f"{server.link('tensor')}&record=0")
            most, _ = server.memory()
            rounds.append({"screens": screens, "server_most_mib": most,
                           "server_anonymous_mib": server.private()})
    payload = run / "tensor_dump" / "tensor_dump.bin"
    drop_from_cache(run)
    return {"mib": options.tensor_mib,
            "screens": {name: {key: median(rounds, "screens", name, key) for key in ("ms", "tiles")}
                        for name in rounds[0]["screens"]},
            "server_most_mib": median(rounds, "server_most_mib"),
            "server_anonymous_mib": median(rounds, "server_anonymous_mib"),
            "read_payload_cold_ms": 1000 * read_seconds(payload)}


def print_table(figures, out):
    def row(name, value, beside=""):
        print(f"{name:46}{value:>22}  {beside}".rstrip(), file=out)

    def frames(one):
        return f"{one['median_ms']:.1f} / {one['p95_ms']:.1f} / {one['most_ms']:.0f} ms"
    tasks, tensor, blank = figures["tasks"], figures["tensor"], figures["blank"]
    row(f"{tasks['tasks']:,} tasks, journal {tasks['journal_mib']:.0f} MiB", "", "beside it")
    row("  first picture, files not in memory", f"{tasks['first_picture_cold_ms']:.0f} ms",
        f"reading the journal alone: {tasks['read_journal_cold_ms']:.0f} ms")
    if tasks["first_picture_cold_stays_mib"] >= 1:
        row("", "", f"but {tasks['first_picture_cold_stays_mib']:.0f} MiB of the files stayed in memory")
    row("  first picture, files in memory", f"{tasks['first_picture_ms']:.0f} ms",
        f"reading the journal alone: {tasks['read_journal_ms']:.0f} ms")
    row("  first picture, the page once more", f"{tasks['first_picture_again_ms']:.0f} ms")
    for name in ("zoom", "pan"):
        row(f"  frames while {name}ming: median / 95 % / most".replace("panming", "panning").replace(
            "zoomming", "zooming"), frames(tasks[name]), f"an empty page: {frames(blank[name])}")
    row("  server, most memory", f"{tasks['server_most_mib']:.0f} MiB",
        f"of it not pages of files: {tasks['server_anonymous_mib']:.0f} MiB")
    row("  export --to trace, before Perfetto starts", f"{tasks['trace']['seconds']:.1f} s",
        f"{tasks['trace']['mib']:.0f} MiB to load")
    row(f"a tensor of {tensor['mib']:,} MiB", "")
    for name, one in tensor["screens"].items():
        row(f"  screen, {name}", f"{one['ms']:.0f} ms", f"{one['tiles']:.0f} requests")
    row("  server, most memory", f"{tensor['server_most_mib']:.0f} MiB",
        f"of it not pages of files: {tensor['server_anonymous_mib']:.0f} MiB")
    row("  reading the payload once", f"{tensor['read_payload_cold_ms']:.0f} ms", "files not in memory")


def main():
    options = parse_arguments()
    environment = prepare_web(options.build)
    with tempfile.TemporaryDirectory(prefix="taskglass_bench_workbench.") as temporary:
        folder = options.dir or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        figures = {"blank": measure(environment, "blank", ""),
                   "tasks": measure_tasks(options, environment, folder),
                   "tensor": measure_tensor(options, environment, folder)}
    print_table(figures, sys.stderr if options.json == "-" else sys.stdout)
    if options.json:
        write_json(options.json, figures)


if __name__ == "__main__":
    main()
