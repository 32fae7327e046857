#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the table of docs/math.md: for each function of taskglass/math.h its largest error in ulp and the time
of an element, beside libm's and CUDA's.

Errors come from tests/bin/math-sweep, on a part of all float32, or from a file with lines of
tests/math/exhaustive.sh. The GPU's times come from bench_math_gpu, or from a file that it wrote elsewhere.
"""

import argparse
import json
import pathlib
import re
import subprocess

LINE = re.compile(r"(\w+) +(f32|f64) +(\d+) cases +largest error ([\d.]+) ulp, bound ([\d.]+), at ([^\s,]+)(?:, (\S+))?")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", metavar="DIR", help="the build folder (default: %(default)s)")
    parser.add_argument("--errors", metavar="FILE", help="lines of tests/math/exhaustive.sh")
    parser.add_argument("--gpu", metavar="FILE", help="lines of bench_math_gpu")
    parser.add_argument("--gpu-errors", metavar="FILE", help="lines of math-gpu")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there")
    return parser.parse_args()


def output(*words):
    """What a program prints, or nothing if it is not there or finds no GPU."""
    try:
        done = subprocess.run([*map(str, words)], stdout=subprocess.PIPE, text=True)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def errors_of(text):
    """{(name, type): (cases, ulp, bound, where)}"""
    return {(m[1], m[2]): (int(m[3]), float(m[4]), float(m[5]), m[6] + (", " + m[7] if m[7] else ""))
            for m in LINE.finditer(text)}


def times_of(text):
    """{(name, type): (ours, the peer's)}"""
    rows = [line.split() for line in text.splitlines()]
    return {(row[0], row[1]): (float(row[2]), float(row[3])) for row in rows if len(row) == 4}


def measure(options):
    build = pathlib.Path(options.build)
    sweep = build / "tests/bin/math-sweep"
    lines = (pathlib.Path(options.errors).read_text() if options.errors else
             output(sweep, "f32", "all", 997) + output(sweep, "f64", "all", 1_000_000) +
             output(sweep, "pow_f32", 4_000_000) + output(sweep, "pow_f64", 1_000_000))
    gpu = pathlib.Path(options.gpu).read_text() if options.gpu else output(build / "bench/bench_math_gpu")
    gpu_errors = pathlib.Path(options.gpu_errors).read_text() if options.gpu_errors else ""
    return {"errors": errors_of(lines), "native": times_of(output(build / "bench/bench_math_native")),
            "plain": times_of(output(build / "bench/bench_math_plain")), "gpu": times_of(gpu),
            "gpu_errors": errors_of(gpu_errors)}


def cell(times, key, index):
    return f"{times[key][index]:.2f}" if key in times else "-"


def table(found, kind):
    print(f"| float{kind[1:]} | bound | largest error | at | on a GPU | ns, this CPU | ns, any x86-64 | libm | ps, GPU | CUDA |")
    print("|" + " --- |" * 10)
    for name, type_ in found["errors"]:
        key = name, type_
        if type_ != kind:
            continue
        _, ulp, bound, where = found["errors"][key]
        gpu = f"{found['gpu_errors'][key][1]:.4f}" if key in found["gpu_errors"] else "-"
        print(f"| {name} | {bound:g} | {ulp:.4f} | `{where}` | {gpu} | {cell(found['native'], key, 0)} | "
              f"{cell(found['plain'], key, 0)} | {cell(found['native'], key, 1)} | {cell(found['gpu'], key, 0)} | "
              f"{cell(found['gpu'], key, 1)} |")


def main():
    options = parse_arguments()
    found = measure(options)
    if not found["errors"]:
        raise SystemExit(f"bench/math: there is no {options.build}/tests/bin/math-sweep; build it")
    for kind in ("f32", "f64"):
        table(found, kind)
        print()
    if options.json:
        rows = {what: [[*key, *values] for key, values in rows.items()] for what, rows in found.items()}
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
