# SPDX-License-Identifier: Apache-2.0
"""Starts ranks with the mpirun of Open MPI or MPICH, where the machine has it and the build its plug-in."""

import os
import shutil

import pytest

from conftest import BUILD


def mpirun(mpi, ranks):
    """The words before the program: they start that many ranks. `mpi` is openmpi or mpich."""
    program, plugin = f"mpirun.{mpi}", BUILD / "lib/taskglass" / f"taskglass-mpi-{mpi}.so"
    if not shutil.which(program):
        pytest.skip(f"there is no {program}")
    if not plugin.exists():
        pytest.skip(f"Taskglass was built without {plugin.name}")
    more = []
    if mpi == "openmpi":
        more = ["--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
    # Both libraries keep memory that they never free, in plug-ins that are gone when a leak is reported.
    return ["env", "ASAN_OPTIONS=detect_leaks=0", program, *more, "-n", str(ranks)]
