# SPDX-License-Identifier: Apache-2.0
"""Builds the C parts with CMake, as `make` does, and installs them into a folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
from typing import Dict, Iterator, List, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[3]


def _environment() -> Dict[str, str]:
    """DESTDIR would move the installation, and the flags of a calling make do not concern CMake's."""
    return {name: value for name, value in os.environ.items()
            if name not in ("DESTDIR", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")}


def _compiles() -> bool:
    """Whether the compiler is there, and the C library's headers with it."""
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    try:
        done = subprocess.run([*compiler, "-x", "c", "-", "-fsyntax-only"], input=b"#include <stdlib.h>\n",
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return False
    return done.returncode == 0


def check_tools() -> None:
    """Ends with one line that says what to install."""
    missing = [] if shutil.which("cmake") else [("CMake", "cmake")]
    if not _compiles():
        missing.append(("C compiler", "gcc libc6-dev"))
    if not shutil.which("make") and not shutil.which("ninja"):
        missing.append(("make", "make"))
    if missing:
        what, packages = (" and no ".join(name for name, _ in missing),
                          " ".join(package for _, package in missing))
        raise SystemExit(f"taskglass: cannot build: there is no {what}; "
                         f"on Debian type 'sudo apt-get install {packages}'")


def _run(what: str, command: Sequence[str]) -> None:
    done = subprocess.run(command, env=_environment(), stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise SystemExit(f"taskglass: {what} failed: {shlex.join(command)}")


def _forget_other_tree(folder: pathlib.Path) -> None:
    """CMake refuses a build folder that was copied from elsewhere together with its source."""
    cache = folder / "CMakeCache.txt"
    if not cache.exists():
        return
    for line in cache.read_text(errors="replace").splitlines():
        name, _, value = line.partition("=")
        if name == "CMAKE_CACHEFILE_DIR:INTERNAL" and pathlib.Path(value) != folder:
            cache.unlink()
            shutil.rmtree(folder / "CMakeFiles", ignore_errors=True)


def build(folder: pathlib.Path, options: Sequence[str]) -> None:
    """Configures and builds everything that a user needs, without the tests."""
    check_tools()
    _forget_other_tree(folder)
    command = ["cmake", "-S", str(ROOT), "-B", str(folder), "--log-level=WARNING"]
    if not (folder / "CMakeCache.txt").exists():
        if "CMAKE_GENERATOR" not in os.environ and shutil.which("ninja"):
            command += ["-G", "Ninja"]
        # The first time only: a folder of `make` keeps what it was configured with.
        command += ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_LIBDIR=lib"]
        command += ["-DTASKGLASS_TESTS=OFF"] if folder != ROOT / "build" else []
    _run("configuring", [*command, *shlex.split(os.environ.get("CMAKE_ARGS", "")), *options])
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))
    _run("building", ["cmake", "--build", str(folder), "--target", "product", "--parallel", jobs])


def install(folder: pathlib.Path, stage: pathlib.Path) -> None:
    if not (folder / "cmake_install.cmake").exists():
        raise SystemExit(f"taskglass: {folder} is not a build folder; type 'make' first")
    _run("installing", ["cmake", "--install", str(folder), "--prefix", str(stage)])


@contextlib.contextmanager
def _build_folder() -> Iterator[pathlib.Path]:
    """build/pip of the source tree, for one process at a time, so that the next build compiles only what
    has changed; a new folder if the tree belongs to somebody else."""
    folder = ROOT / "build" / "pip"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / "lock", "w")
    except OSError:
        with tempfile.TemporaryDirectory(prefix="taskglass_build_") as other:
            yield pathlib.Path(other).resolve()
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def build_and_install(options: List[str], stage: pathlib.Path) -> None:
    with _build_folder() as folder:
        build(folder, options)
        install(folder, stage)
