#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends crafted recordings (craft.py) through every verb and says what went wrong.

    tests/crafted/run.py --build build                 # all of them, one process for each CPU
    tests/crafted/run.py --build build/asan --sample 200 --seed 7
    tests/crafted/run.py --build build --only 'FIFO'   # those with this in their name

A verb may say whatever is true, but it ends by itself, with exit code 0, 1, 2 or 3, within the time and
the memory that it is given, and writes nothing but printable text. With a sanitizer there is no limit of
memory. What fails is kept in the folder that --keep names. Exit code 1: something failed.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import craft

MEMORY = 300 << 20
SECONDS = 120
LARGEST_FILE = 64 << 20  # bytes that a verb may write

READERS = [
    ["view"], ["view", "--json"], ["view", "--index", "0-9", "--all"], ["view", "--summary"],
    ["view", "--export", "npz", "--out", "view.npz"], ["view", "--export", "txt", "--out", "view.txt"],
    ["verify"], ["verify", "--json"], ["stats"], ["stats", "--json"],
    ["find", "nan"], ["find", "stomp"], ["find", "unwritten"], ["find", "constant", "--json"],
    ["scope"], ["scope", "--json"], ["scope", "--html", "page.html", "--force"],
    ["check"], ["check", "--json"], ["check", "--against", "golden.npz"],
    ["replay", "--task", "TASK"], ["replay", "--all", "--json"], ["replay", "--task", "TASK", "--bundle", "bundle"],
    *(["export", "--to", to, "--output", f"out.{to}"]
      for to in ("npy", "npz", "safetensors", "sqlite", "csv", "trace", "txt", "simpler")),
]


def verbs(task):
    """The command lines, in an order that leaves the one that changes the recording to the end."""
    for words in READERS:
        words = [task if word == "TASK" else word for word in words]
        at = 2 if words[0] == "find" else 1
        yield [*words[:at], "run", *words[at:]]
    yield ["diff", "run", "good"]
    yield ["diff", "good", "run", "--json", "--all"]
    yield ["diff", "run", "run"]
    yield ["recover", "run"]
    yield ["verify", "run"]


def _forbidden(text):
    """The first character that must not reach a terminal; None if there is none."""
    for character in text:
        code = ord(character)
        if (code < 32 and character not in "\n\t") or 127 <= code < 160 or 0xd800 <= code < 0xe000 or \
                code in (0x061c, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff) or 0x202a <= code <= 0x202e or \
                0x2066 <= code <= 0x2069:
            return hex(code)
    return None


def _limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))


def _giant(folder):
    """Says which file a verb has written up to the limit; "" if none. The recordings are not asked."""
    for path in (path for name in os.listdir(folder) if name not in ("run", "good")
                 for path in ([folder / name] if not (folder / name).is_dir()
                              else (folder / name).rglob("*"))):
        if path.is_file() and path.stat().st_size >= LARGEST_FILE:
            path.unlink()
            return f"wrote {path.name} without end"
    return ""


def _resident(pid):
    """Bytes of memory that a process holds; 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


class Runner:
    def __init__(self, build, good, memory):
        self.program = build / "bin" / "taskglass"
        self.good, self.memory = good, memory
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("TASKGLASS_")}
        self.environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"

    def call(self, words, folder):
        """What is wrong with how the verb ended; "" if nothing is."""
        out, err = folder / "stdout", folder / "stderr"
        began = time.monotonic()
        with out.open("wb") as stdout, err.open("wb") as stderr:
            child = subprocess.Popen([self.program, *words], cwd=folder, stdin=subprocess.DEVNULL,
                                     stdout=stdout, stderr=stderr, env=self.environment,
                                     start_new_session=True, preexec_fn=_limit_files)
            child.returncode = 0  # it is waited for here
            while True:
                pid, status, used = os.wait4(child.pid, os.WNOHANG)
                if pid:
                    break
                late = time.monotonic() - began > SECONDS
                if late or (self.memory and _resident(child.pid) > self.memory):
                    os.killpg(child.pid, signal.SIGKILL)
                    os.wait4(child.pid, 0)
                    return f"has not ended within {SECONDS} s" if late else "took too much memory"
                time.sleep(0.002)
        code = os.waitstatus_to_exitcode(status)
        said = err.read_bytes()
        if code not in (0, 1, 2, 3) or b"Sanitizer" in said or b"runtime error:" in said:
            return f"ended with {code}: {said[-3000:].decode(errors='replace')}"
        if self.memory and used.ru_maxrss * 1024 > self.memory:
            return f"took {used.ru_maxrss >> 10} MB"
        if code == 2 and not said and not out.stat().st_size:
            return "ended with 2 and said nothing"
        for what, data in (("stdout", out.read_bytes()[:1 << 20]), ("stderr", said)):
            try:
                found = _forbidden(data.decode() if what == "stderr" else data.decode(errors="ignore"))
            except UnicodeDecodeError as error:
                found = str(error)
            if found and not (what == "stdout" and words[0] == "export"):
                return f"wrote {found} to {what}"
        return ""

    def craft(self, name, change, folder, keep=None):
        """Runs all verbs over one crafted recording. Returns [(command line, what is wrong)]."""
        failed = []
        shutil.copytree(self.good / "run", folder / "run")
        shutil.copytree(self.good / "run", folder / "good")
        shutil.copy(self.good / "golden.npz", folder)
        change(folder / "run")
        outside = set(os.listdir(folder.parent))
        for words in verbs(self.task):
            wrong = self.call(words, folder) or _giant(folder)
            if wrong:
                failed.append((" ".join(words), wrong))
        grown = set(os.listdir(folder.parent)) - outside
        grown = {entry for entry in grown if not entry.startswith("craft")}
        if grown:
            failed.append(("all", f"wrote {sorted(grown)} outside of the folder"))
        if failed and keep:
            target = keep / "".join(c if c.isalnum() else "_" for c in name)[:100]
            if not target.exists():
                shutil.move(folder / "run", target)
        return failed

    def prepare(self):
        """Records the good run."""
        subprocess.run([self.program, "run", "matmul_chain", "--case", "one", "--runtime",
                        "tensormap_and_ringbuffer", "--dump-tensor", "--enable-scope-stats", "--deps",
                        "--output", "run"], cwd=self.good, check=True, stdout=subprocess.DEVNULL,
                       env=self.environment)
        subprocess.run([self.program, "export", "run", "--to", "npz", "--output", "golden.npz"],
                       cwd=self.good, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=self.environment)
        return self

    @property
    def task(self):
        return "1:0"


_state = {}


def _begin(build, good, memory, keep):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _state.update(runner=Runner(build, good, memory), keep=keep, crafts=dict(craft.crafts(good / "run")))


def _one(name):
    with tempfile.TemporaryDirectory(prefix="crafts-") as outer:
        inner = pathlib.Path(outer) / "craft"
        inner.mkdir()
        return name, _state["runner"].craft(name, _state["crafts"][name], inner, _state["keep"])


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    options.add_argument("--only", default="", help="those whose name has this in it")
    options.add_argument("--sample", type=int, default=0, help="this many, chosen by --seed")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--seconds", type=float, default=0, help="start no more after this time")
    options.add_argument("--no-memory-limit", action="store_true", help="for builds with sanitizers")
    options.add_argument("--keep", type=pathlib.Path, help="folder for what failed")
    options.add_argument("--list", action="store_true", help="print the names and end")
    request = options.parse_args()
    build = request.build.resolve()
    began = time.monotonic()
    if request.keep:
        request.keep.mkdir(parents=True, exist_ok=True)
        request.keep = request.keep.resolve()
    with tempfile.TemporaryDirectory(prefix="crafted-") as scratch:
        good = pathlib.Path(scratch)
        memory = 0 if request.no_memory_limit else MEMORY
        Runner(build, good, memory).prepare()
        names = [name for name, _ in craft.crafts(good / "run") if request.only in name]
        assert len(names) == len(set(names)), "two crafts have one name"
        if request.list:
            print("\n".join(names))
            return 0
        if request.sample or request.seconds:
            random.Random(request.seed).shuffle(names)
        if request.sample:
            names = names[:request.sample]
        bad = done = 0
        with concurrent.futures.ProcessPoolExecutor(request.jobs, initializer=_begin,
                                                    initargs=(build, good, memory, request.keep)) as pool:
            waiting, left = set(), iter(names)
            while True:
                for name in left:
                    if request.seconds and time.monotonic() - began > request.seconds:
                        left = iter(())
                        break
                    waiting.add(pool.submit(_one, name))
                    if len(waiting) >= 2 * request.jobs:
                        break
                if not waiting:
                    break
                ended, waiting = concurrent.futures.wait(
                    waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in ended:
                    name, failed = future.result()
                    done += 1
                    bad += bool(failed)
                    for words, wrong in failed:
                        print(f"{name}: taskglass {words}: {wrong}", flush=True)
        print(f"{done} crafted recordings, {len(list(verbs('')))} command lines each, {bad} failed, "
              f"{time.monotonic() - began:.0f} s, seed {request.seed}")
        return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
