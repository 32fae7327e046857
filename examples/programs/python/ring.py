#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ring.py: each rank gives a vector to the next one, and all ranks add up what they have. Runs alone, by mpirun, or by
`python3 -m taskglass.launch -n 3 ring.py`. The workload mlp is there because it says that it communicates."""

import sys

import numpy
import taskglass


def run():
    with taskglass.Comm() as comm, taskglass.Device("a5sim", comm=comm) as device:
        mine = device.array(numpy.full(1024, comm.rank, "f4"))
        got, total = device.empty(1024), device.empty(1024)
        with device.load("mlp").graph() as graph:
            graph.send((comm.rank + 1) % comm.ranks, 0, mine)
            received = graph.recv((comm.rank - 1) % comm.ranks, 0, got)
            graph.all_reduce("sum", got, total, after=received)
            graph.run()
        print(f"rank {comm.rank} of {comm.ranks} got {got.numpy()[0]} and the sum {total.numpy()[0]}")


def main():
    try:
        run()
        return 0
    except taskglass.Error as error:
        print(f"ring: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
