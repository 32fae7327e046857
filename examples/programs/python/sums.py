#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sums.py DIR: builds a graph of two tasks by hand, t = x + x and y = t + x, runs and records it, and reads
the recording back from DIR. The kernel is that of the installed workload vector_add."""

import sys

import numpy
import taskglass


def run(folder):
    with taskglass.Device("a5sim") as device:
        x = device.array(numpy.arange(1024, dtype="f4"))
        t, y = device.empty(1024), device.empty(1024)
        with device.load("vector_add").graph() as graph:
            first = graph.add("vector_add_tile", x, x, t)
            graph.add("vector_add_tile", t, x, y, after=first)
            graph.run(record="full", output_dir=folder)
        print("y ends in", y.numpy()[-1])


def read_back(folder):
    with taskglass.Recording(folder) as recording:
        for record in recording.select(stage="after"):
            values = record.array()  # NumPy, without copying
            print("task", record.task, "wrote", values[0], "to", values[-1])


def main():
    if len(sys.argv) != 2:
        print("usage: sums.py DIR", file=sys.stderr)
        return 2
    try:
        run(sys.argv[1])
        read_back(sys.argv[1])
        return 0
    except taskglass.Error as error:
        print(f"sums: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
