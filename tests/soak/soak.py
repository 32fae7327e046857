#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mixes random rounds (rounds.py) for as long as it is told: random graphs, levels and policies, kills,
pauses, full disks, small limits, hostile files, and all verbs, on every platform of this machine.

    tests/soak/soak.py --seconds 3600
    tests/soak/soak.py --seed 17 --round 204      # one round again, as a failure names it

All choices of a round come from its seed and number. What fails is kept, with its command lines, in the
folder that --keep names, and the soak goes on. Exit code 1: something failed.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time
import traceback

import rounds


def run_round(build, seed, number, keep, only):
    """Returns (name, what went wrong or None)."""
    choices = random.Random(f"{seed} {number}")
    kinds = [kind for kind in rounds.ROUNDS if not only or kind.__name__ == only]
    kind = choices.choices(kinds, [rounds.ROUNDS[kind] for kind in kinds])[0]
    with tempfile.TemporaryDirectory(prefix="taskglass_test_soak.", ignore_cleanup_errors=True) as scratch:
        folder = pathlib.Path(scratch, "round")
        folder.mkdir()
        machine = rounds.Machine(build)
        machine.state = pathlib.Path(scratch, "state")
        try:
            kind(machine, choices, folder)
            return kind.__name__, None
        except Exception as error:
            target = keep / f"{seed}-{number}"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target, symlinks=True, ignore=_not_regular)
            text = str(error) if isinstance(error, rounds.Failed) else traceback.format_exc()
            (target / "failure").write_text(f"{kind.__name__}: {text}\n")
            return kind.__name__, text


def _not_regular(folder, names):
    """Leaves out pipes, devices and giants of holes."""
    paths = [(name, pathlib.Path(folder, name)) for name in names]
    return [name for name, path in paths if not path.is_symlink() and not path.is_dir()
            and not (path.is_file() and path.stat().st_size < 1 << 30)]


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=600)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--round", type=int, help="only this round")
    options.add_argument("--only", default="", help="only rounds of this kind: "
                         + ", ".join(kind.__name__ for kind in rounds.ROUNDS))
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/soak"))
    request = options.parse_args()
    build, keep = request.build.resolve(), request.keep.resolve()
    keep.mkdir(parents=True, exist_ok=True)
    began, counts, bad = time.monotonic(), {}, 0
    platforms = " ".join(rounds.Machine(build).platforms)
    print(f"taskglass: soak: seed {request.seed}, {request.jobs} at a time, on {platforms}", flush=True)
    numbers = iter([request.round] if request.round is not None else range(1 << 60))
    waiting, told = {}, began
    with concurrent.futures.ProcessPoolExecutor(request.jobs) as pool:
        while True:
            while len(waiting) < request.jobs and time.monotonic() - began < request.seconds:
                number = next(numbers, None)
                if number is None:
                    break
                waiting[pool.submit(run_round, build, request.seed, number, keep, request.only)] = number
            if not waiting:
                break
            ended, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in ended:
                number = waiting.pop(future)
                name, wrong = future.result()
                counts[name] = counts.get(name, 0) + 1
                if wrong:
                    bad += 1
                    print(f"taskglass: soak: round {number}, {name}: {wrong}\n"
                          f"  kept in {keep}/{request.seed}-{number}; again with --seed {request.seed} "
                          f"--round {number}", flush=True)
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print(f"taskglass: soak: {told - began:.0f} s, {sum(counts.values())} rounds, {bad} failed",
                      flush=True)
    spread = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    print(f"taskglass: soak: {sum(counts.values())} rounds in {time.monotonic() - began:.0f} s, "
          f"{bad} failed, seed {request.seed}: {spread}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
