#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the GPU's own sources for the CPU, and runs random graphs on them with many seeds.

    tests/gpu/emulated/run.py --seconds 300
    tests/gpu/emulated/run.py --scene fed --seed 87     # one seed again, as a failure names it
    tests/gpu/emulated/run.py --self-test               # two planted mistakes, which it must find

Exit code 1: something failed. 77: not possible here, because it needs g++ and x86-64.
"""

import argparse
import concurrent.futures
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

import patch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SCENES = ("fixed", "stopped", "fed", "fed-stopped")
# What is compiled of the repository; headers of these folders and the feeding ring's host end go with it.
FOLDERS = ("include", "src/common", "src/device", "src/platform/cuda")
RING = ("src/orchestrate/feed.c", "src/orchestrate/feed.h")
GPU_SOURCES = ("block", "chain", "lanes", "short")
OWN = ("fibers", "meetings", "accesses", "graphs", "scenes", "fed")
BATCH = 10  # seeds of one process
PATIENCE = 600  # seconds for a batch, which takes some; the program finds hangs itself
MUTANT_SEEDS = 1500  # of each scene

DIALECT = "-std=c++17 -g -fno-exceptions -fno-rtti -fno-strict-aliasing -fno-omit-frame-pointer".split()
HOST = "-O2 -Wall -Wextra -Wno-unknown-pragmas".split()  # #pragma unroll is nvcc's
# The thread sanitizer's calls let other fibers run (accesses.cpp). A warp meets at one place of the source if
# the return addresses are the same, so g++ may not make two places of one, or one of two.
DEVICE = ("-x c++ -w -O1 -fno-inline -fno-optimize-sibling-calls -fno-tree-dominator-opts -fno-tree-ch "
          "-fno-thread-jumps -fno-crossjumping -fno-ipa-cp -fno-ipa-sra -fno-ipa-icf -fsanitize=thread "
          "--param tsan-instrument-func-entry-exit=0").split()


def copy_sources(to):
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, to / folder)
    (to / "src/orchestrate").mkdir()
    for name in RING:
        shutil.copy(ROOT / name, to / name)


def compile_one(words):
    """Returns what g++ said, if it failed."""
    done = subprocess.run(["nice", "g++", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return done.stdout if done.returncode else ""


def build(folder, jobs, mutant=None):
    """Builds the program in an empty folder. `mutant`: one of patch.MUTANTS."""
    copy_sources(folder)
    if mutant:
        patch.plant(folder, mutant)
    patch.patch(folder)
    includes = [f"-I{folder / name}" for name in ("include", "src", "src/platform/cuda/gpu")] + [f"-I{HERE}"]
    gpu = folder / "src/platform/cuda/gpu"
    device = [*sorted((folder / "src/device").glob("*.c")), *(gpu / f"{name}.cu" for name in GPU_SOURCES),
              HERE / "drain.cpp"]
    commands = [[*DIALECT, *DEVICE, "-include", HERE / "cuda.h", *includes, "-c", source,
                 "-o", folder / f"{source.name}.o"] for source in device]
    commands += [[*DIALECT, *HOST, *includes, "-c", HERE / f"{name}.cpp", "-o", folder / f"{name}.o"]
                 for name in OWN]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        wrong = "".join(pool.map(compile_one, commands))
    wrong = wrong or compile_one(["-g", "-no-pie", *sorted(folder.glob("*.o")), "-o", folder / "scenes"])
    if wrong:
        sys.exit(f"taskglass: tests/gpu/emulated: g++ failed\n{wrong[-6000:]}")
    return folder / "scenes"


def run_batch(program, scene, first, count):
    """Returns (scene, tasks that ran, what failed or "")."""
    try:
        done = subprocess.run(["nice", program, scene, str(first), str(count)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return scene, 0, f"seeds {first} to {first + count - 1} take longer than {PATIENCE} s"
    if done.returncode == 0:
        return scene, int(done.stdout), ""
    return scene, 0, done.stderr or f"seeds {first} to {first + count - 1}: exit code {done.returncode}"


def with_names(program, text):
    """Functions in the place of return addresses."""
    addresses = sorted(set(re.findall(r"\b0x[0-9a-f]{6,}\b", text)))
    if not addresses or not shutil.which("addr2line"):
        return text
    names = subprocess.run(["addr2line", "-s", "-f", "-C", "-e", program, *addresses], stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    for address, function, line in zip(addresses, names[::2], names[1::2]):
        text = text.replace(address, f"{function.split('(')[0]}:{line.rsplit(':')[-1].split()[0]}")
    return text


def run_seeds(program, batches, jobs, until=None):
    """Runs batches until the time, the end, or a failure. Returns (seeds, tasks, scene, what failed or "")."""
    seeds, tasks, waiting = 0, 0, {}
    batches = iter(batches)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while True:
            while len(waiting) < jobs and (until is None or time.monotonic() < until):
                batch = next(batches, None)
                if batch is None:
                    break
                waiting[pool.submit(run_batch, program, *batch)] = batch[2]
            if not waiting:
                return seeds, tasks, "", ""
            ended, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in ended:
                count = waiting.pop(future)
                scene, ran, wrong = future.result()
                if wrong:
                    return seeds, tasks, scene, wrong
                seeds, tasks = seeds + count, tasks + ran


def batches_of(scenes, first, end=None):
    """Each scene with the next seeds, in turn."""
    while end is None or first < end:
        for scene in scenes:
            yield scene, first, BATCH
        first += BATCH


def self_test(folder, scenes, jobs):
    """True if every mutant is found."""
    good = True
    for number, mutant in enumerate(patch.MUTANTS):
        home = folder / f"mutant{number}"
        home.mkdir()
        program = build(home, jobs, mutant)
        seeds, _, scene, wrong = run_seeds(program, batches_of(scenes, 1, 1 + MUTANT_SEEDS), jobs)
        how = f"found after {seeds} seeds, by {scene}: {wrong.splitlines()[0]}" if wrong else "NOT FOUND"
        print(f"taskglass: emulated: planted: {mutant}: {how}", flush=True)
        good = good and bool(wrong)
    return good


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=300)
    options.add_argument("--first", type=int, help="the first seed; without it, another one each time")
    options.add_argument("--seed", type=int, help="only this seed")
    options.add_argument("--scene", choices=SCENES, action="append", help="only this scene; may be repeated")
    options.add_argument("--self-test", action="store_true", help="run planted mistakes instead")
    options.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument("--keep", type=pathlib.Path, help="build in this folder, which does not exist yet")
    request = options.parse_args()
    scenes = request.scene or SCENES
    if platform.machine() != "x86_64" or not shutil.which("g++"):
        print("taskglass: emulated: needs g++ and x86-64")
        return 77
    with tempfile.TemporaryDirectory(prefix="taskglass_test_emulated.") as scratch:
        folder = request.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=not request.keep)
        if request.self_test:
            return 0 if self_test(folder, scenes, request.jobs) else 1
        program = build(folder, request.jobs)
        began = time.monotonic()
        first = int(time.time()) * 1000 if request.first is None else request.first
        batches, until = batches_of(scenes, first), began + request.seconds
        if request.seed is not None:
            first, batches, until = request.seed, [(scene, request.seed, 1) for scene in scenes], None
        seeds, tasks, scene, wrong = run_seeds(program, batches, request.jobs, until)
        print(f"taskglass: emulated: {seeds} seeds from {first}, {tasks} tasks in {time.monotonic() - began:.0f} s")
        if wrong:
            seed = re.search(r"seeds? (\d+)", wrong)[1]
            print(f"taskglass: emulated: scene {scene}: {with_names(program, wrong)}\n"
                  f"  again with tests/gpu/emulated/run.py --scene {scene} --seed {seed}", file=sys.stderr)
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
