#!/usr/bin/env python3
"""Measures what scope stats cost the host, each figure beside a limit, in one run.

write scope_stats.jsonl and .json, against as many bytes by write() alone (median of the ratios of
        neighbours)
read taskglass scope: the report page taskglass scope --html: how long, how large
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# Formatting a line costs at most a few times as much as handing it to the kernel.
WRITE_LIMIT = 6.0
PAGE_LIMIT_S = 1.0
PAGE_LIMIT_BYTES = 5_000_000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bench", metavar="DIR",
                        help="where the programs are (default: %(default)s)")
    parser.add_argument("--dir", metavar="DIR",
                        help="where files are written (default: where the programs are)")
    parser.add_argument("--scopes", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="10,000 scopes, 3 times")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout")
    options = parser.parse_args()
    if options.quick:
        options.scopes, options.repeat = 10_000, 3
    return options


def timed(repeat, *command):
    """Median seconds of a command."""
    times = []
    for _ in range(repeat):
        began = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.monotonic() - began)
    return statistics.median(times)


def measure(options, kind, folder):
    done = subprocess.run([os.path.join(options.bin, "bench_scope"), folder, str(options.scopes),
                           str(options.repeat), kind], check=True, stdout=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    program = os.path.join(options.bin, os.pardir, "bin", "taskglass")
    page = os.path.join(folder, "page.html")
    written = statistics.median(line["written_s"] for line in lines)
    return {
        "kind": kind, "scopes": lines[0]["scopes"], "samples": lines[0]["samples"],
        "bytes": lines[0]["bytes"], "written_s": written,
        "ns_per_sample": written / lines[0]["samples"] * 1e9,
        "plain_s": statistics.median(line["plain_s"] for line in lines),
        "ratio": statistics.median(line["written_s"] / line["plain_s"] for line in lines),
        "ratio_limit": WRITE_LIMIT,
        "read_s": timed(options.repeat, program, "scope", folder),
        "page_s": timed(options.repeat, program, "scope", folder, "--html", page, "--force"),
        "page_limit_s": PAGE_LIMIT_S, "page_bytes": os.path.getsize(page),
        "page_limit_bytes": PAGE_LIMIT_BYTES,
    }


def over(value, limit):
    return "  over" if value > limit else ""


def tell(row):
    print(f"{row['scopes']} scopes, {row['kind']}")
    print(f"  write  {row['bytes'] / 1e6:.1f} MB in {row['written_s'] * 1e3:.1f} ms, "
          f"{row['ns_per_sample']:.0f} ns a sample; write() alone {row['plain_s'] * 1e3:.1f} ms: "
          f"ratio {row['ratio']:.2f} (limit {row['ratio_limit']:.1f})"
          f"{over(row['ratio'], row['ratio_limit'])}")
    print(f"  read   {row['read_s'] * 1e3:.0f} ms")
    print(f"  page   {row['page_bytes'] / 1e6:.2f} MB (limit {row['page_limit_bytes'] / 1e6:.0f}) in "
          f"{row['page_s'] * 1e3:.0f} ms (limit {row['page_limit_s'] * 1e3:.0f})"
          f"{over(row['page_bytes'], row['page_limit_bytes'])}"
          f"{over(row['page_s'], row['page_limit_s'])}")


def main():
    options = parse_arguments()
    rows = []
    for kind in ("loop", "worst"):
        with tempfile.TemporaryDirectory(prefix="scope.", dir=options.dir or options.bin) as folder:
            rows.append(measure(options, kind, folder))
        if options.json != "-":
            tell(rows[-1])
    if options.json == "-":
        print(json.dumps(rows, indent=1))
    elif options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            file.write(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
