#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures messages and all-reduces between ranks beside plain MPI, and cholesky over ranks beside StarPU-MPI.

Every round of the first part measures a wake-up of a thread, then plain MPI, then Taskglass over the same MPI in the
same processes; cholesky.py has the second part. A figure is the median over rounds; ratios and the overhead of a
message are medians of what each round gave.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cholesky  # noqa: E402
from options import counts, positive, write_json  # noqa: E402

LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "--mca", "mpi_yield_when_idle", "1"],
    "mpich": ["mpirun.mpich"],
}


def sizes(text):
    """An argparse type: N/TILE, with commas between them."""
    pairs = [[positive(part) for part in size.split("/")] for size in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise argparse.ArgumentTypeError(f"{text}: must be like 384/16,1024/64")
    return pairs


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bench", metavar="DIR", help="where the programs are (default: %(default)s)")
    parser.add_argument("--rounds", type=positive, default=5, help="(default: %(default)s)")
    parser.add_argument("--messages", type=positive, default=2000, help="of a ping-pong (default: %(default)s)")
    parser.add_argument("--platform", default="a2a3sim", help="(default: %(default)s)")
    parser.add_argument("--calls", action=argparse.BooleanOptionalAction, default=True,
                        help="messages and all-reduces beside plain MPI")
    parser.add_argument("--cholesky", action=argparse.BooleanOptionalAction, default=True,
                        help="cholesky over ranks beside StarPU-MPI")
    parser.add_argument("--ranks", type=counts, default=[1, 2, 4], help="of cholesky (default: 1,2,4)")
    parser.add_argument("--sizes", type=sizes, default=[[384, 16], [1024, 64]], metavar="N/TILE,...",
                        help="of cholesky (default: 384/16,1024/64)")
    parser.add_argument("--taskglass", metavar="FILE", help="the program (default: bin/taskglass beside --bin)")
    parser.add_argument("--quick", action="store_true", help="1 round of 200 messages")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.messages = 1, 200
    if not options.taskglass:
        options.taskglass = os.path.join(os.path.dirname(os.path.abspath(options.bin)), "bin", "taskglass")
    return options


def measure(mpi, options):
    """The lines that the program printed: one for each figure of each round."""
    command = [*LAUNCHERS[mpi], "-n", "2", f"{options.bin}/bench_comm_{mpi}", f"{options.bin}/bench_comm_calls.so",
               options.platform, str(options.rounds), str(options.messages)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def by_round(figures, what, who, size):
    return {f["round"]: f["ns"] for f in figures if (f["what"], f["who"], f["bytes"]) == (what, who, size)}


def summarize(mpi, figures):
    wake = by_round(figures, "wake", "linux", 0)
    plain, ours = by_round(figures, "ping", "mpi", 8), by_round(figures, "ping", "taskglass", 8)
    rows = [{"mpi": mpi, "what": "message", "bytes": 8,
             "wake_ns": statistics.median(wake.values()),
             "mpi_ns": statistics.median(plain.values()), "taskglass_ns": statistics.median(ours.values()),
             "wakes_more": statistics.median((ours[r] - plain[r]) / wake[r] for r in wake)}]
    for size in sorted({f["bytes"] for f in figures if f["what"] == "reduce"}):
        plain, ours = by_round(figures, "reduce", "mpi", size), by_round(figures, "reduce", "taskglass", size)
        rows.append({"mpi": mpi, "what": "all-reduce", "bytes": size,
                     "mpi_gbs": size / statistics.median(plain.values()),
                     "taskglass_gbs": size / statistics.median(ours.values()),
                     "share": statistics.median(plain[r] / ours[r] for r in plain)})
    return rows


def show(rows):
    for row in rows:
        if row["what"] == "message":
            print(f"{row['mpi']:8} message of {row['bytes']} bytes: MPI {row['mpi_ns'] / 1e3:.2f} us, "
                  f"Taskglass {row['taskglass_ns'] / 1e3:.2f} us: {row['wakes_more']:.2f} wake-ups of "
                  f"{row['wake_ns'] / 1e3:.2f} us more (aim: at most 2)")
        elif row["what"] == "cholesky":
            cholesky.show(row)
        else:
            print(f"{row['mpi']:8} all-reduce of {row['bytes'] >> 20:3} MiB: MPI {row['mpi_gbs']:.2f} GB/s, "
                  f"Taskglass {row['taskglass_gbs']:.2f} GB/s: {row['share']:.2f} of it (aim: 0.90)")


def measure_calls(options):
    rows = []
    for mpi, launcher in LAUNCHERS.items():
        if not os.path.exists(f"{options.bin}/bench_comm_{mpi}") or not shutil.which(launcher[0]):
            print(f"{mpi}: not installed, left out", file=sys.stderr)
            continue
        rows += summarize(mpi, measure(mpi, options))
    return rows


def measure_cholesky(options):
    if not cholesky.is_there(options):
        print("StarPU-MPI: not installed, left out", file=sys.stderr)
        return []
    return cholesky.measure(LAUNCHERS["openmpi"], options)


def main():
    options = parse_arguments()
    rows = measure_calls(options) if options.calls else []
    rows += measure_cholesky(options) if options.cholesky else []
    show(rows)
    if options.json:
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
