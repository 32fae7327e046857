#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails the n-th allocation, or the n-th system call of a kind, in every verb, and judges what the command
makes of it.

    injection.py --all                         every n of every kind, of every verb
    injection.py --seconds 600 --seed 7        faults at random for this long; prints its seed
    injection.py --all --verb verify           one verb (may be repeated)
    injection.py --one 'verify:taskglass:open:3:EMFILE:once'   one fault again, with all its output

The rule: with a fault the command gives the answer that it gives without it, or it says in one line what
failed and ends with 2 (3 if the device failed). A run may also lose records, if it says how many, and files,
if it names them. Anything
else is a failure of this program: a crash, a hang, another answer, a message without the cause, files or
processes that are left behind.
"""

import argparse
import collections
import concurrent.futures
import errno
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("TASKGLASS_BUILD", HERE.parents[1] / "build")).resolve()
PROGRAM = BUILD / "bin" / "taskglass"
TRACER = BUILD / "tests" / "bin" / "fault-tracer"
MEMORY = BUILD / "tests" / "bin" / "libfault-memory.so"
WORKLOADS = BUILD / "tests" / "workloads"

# A command that takes longer hangs. With a fault or without one they take less than a second.
LIMIT = 120
REPORT_BYTES = 4096
HOST, DEVICE, REFERENCE = "taskglass", "taskglass-device", "taskglass-reference"

# What each kind of call can fail with; "short" reads or writes a part. A name from tests/fault/inject/kinds.h.
ERRORS = {
    "open": ("EMFILE", "ENFILE", "ENOMEM", "EACCES", "EIO", "EINTR"),
    "read": ("EIO", "EINTR", "short"), "write": ("ENOSPC", "EIO", "EINTR", "EFBIG", "short"),
    "mmap": ("ENOMEM",), "munmap": ("ENOMEM",), "mprotect": ("ENOMEM",), "madvise": ("ENOMEM",),
    "brk": ("ENOMEM",), "truncate": ("ENOSPC", "EFBIG", "EINTR"), "stat": ("ENOMEM", "EACCES", "EIO"),
    "access": ("EACCES", "ENOMEM"), "rename": ("EIO", "ENOSPC", "EACCES"), "unlink": ("EIO", "EACCES"),
    "mkdir": ("ENOSPC", "EACCES"), "mode": ("EPERM",), "close": ("EIO", "EINTR"),
    "dup": ("EMFILE",), "fcntl": ("EMFILE", "EINTR"), "socket": ("EMFILE", "ENFILE", "ENOMEM"),
    "send": ("ENOBUFS", "ENOMEM", "EINTR"), "receive": ("ENOMEM", "EINTR"),
    "poll": ("ENOMEM", "EINTR"), "memfd": ("EMFILE", "ENOMEM"), "clone": ("EAGAIN", "ENOMEM"),
    "exec": ("ENOMEM", "EACCES"), "wait": ("EINTR",), "pidfd": ("EMFILE", "ENOMEM"),
    "flock": ("ENOLCK", "EINTR"), "getdents": ("EIO", "ENOMEM"), "readlink": ("EACCES", "ENOMEM", "EIO"),
    "getrandom": ("EINTR", "ENOSYS"), "seek": ("EINVAL",), "sync": ("EIO", "ENOSPC"),
    "copy": ("EIO", "ENOSPC", "EINTR"), "sleep": ("EINTR",), "limit": ("EPERM", "EINVAL"),
    "affinity": ("EINVAL",), "ioctl": ("ENOTTY",), "vm": ("EPERM", "ENOMEM"),
}
MALLOC = "malloc"
# A sanitizer's runtime ends the process when one of its own calls of these kinds fails.
NOT_SANITIZED = ("mmap", "munmap", "mprotect", "madvise", "brk", "clone", "limit", "affinity", "readlink",
                 "getrandom")


class Fault(collections.namedtuple("Fault", "scenario process kind nth error how")):
    """One fault: the nth call of a kind in a process, once or from there on."""

    def __str__(self):
        return ":".join(map(str, self))

    @staticmethod
    def parse(text):
        scenario, process, kind, nth, error, how = text.split(":")
        return Fault(scenario, process, kind, int(nth), error, how)


# ── the commands ────────────────────────────────────────────────────────────────────────

class Scenario:
    """A command line; `copied` are recordings that it changes, so that each call gets a copy."""

    def __init__(self, name, *args, copied=(), processes=(HOST,), writes=False):
        self.name, self.args, self.copied = name, args, copied
        self.processes, self.writes = processes, writes
        self.verb = args[0] if args else name

    @property
    def is_run(self):
        return self.verb == "run"


def scenarios():
    found = []

    def add(name, *args, **more):
        found.append(Scenario(name, *args, **more))

    both = (HOST, DEVICE)
    small = ("--cores", "3", "--output", "out")
    recorded = ("--dump-tensor", "--enable-scope-stats", *small)
    bug = str(WORKLOADS / "bugs_nan.so")
    for platform in ("a2a3sim", "a5sim"):
        for runtime, short in (("host_build_graph", "hbg"), ("aicpu_build_graph", "abg"),
                               ("tensormap_and_ringbuffer", "tmr")):
            add(f"run-{short}-{platform}", "run", "vector_add", "--platform", platform, "--runtime",
                runtime, *recorded, processes=both, writes=True)
    add("run-plain", "run", "vector_add", *small, processes=both, writes=True)
    add("run-deps", "run", "vector_add", "--deps", "--runtime", "tensormap_and_ringbuffer", *small,
        processes=both, writes=True)
    add("run-meta", "run", "vector_add", "--dump-args", "--platform", "a5sim", *small, processes=both,
        writes=True)
    add("run-json", "run", "vector_add", "--json", *small, processes=both, writes=True)
    add("run-default-folder", "run", "vector_add", "--cores", "3", processes=both, writes=True)
    add("run-crash", "run", str(WORKLOADS / "faults.so"), "--case", "null", "--dump-tensor", *small,
        processes=both, writes=True)
    add("new", "new", "mine", writes=True)
    add("new-json", "new", "mine", "--output", "a/b", "--json", writes=True)
    add("list", "list")
    add("list-json", "list", "--json")
    add("config", "config")
    add("config-json", "config", "--json")
    add("help", "help")
    add("help-run", "help", "run")
    add("version", "--version")
    add("view", "view", "../in/none")
    add("view-json", "view", "../in/none", "--json")
    add("view-index", "view", "../in/none", "--index", "4-6", "--all")
    for kind in ("txt", "npy", "npz"):
        add(f"view-{kind}", "view", "../in/none", "--export", kind, "--out", f"x.{kind}", writes=True)
    for kind in ("npy", "npz", "safetensors", "sqlite", "csv", "trace", "txt", "simpler"):
        add(f"export-{kind}", "export", "../in/none", "--to", kind, "--output", f"x.{kind}", writes=True)
    add("export-pftrace", "export", "../in/none", "--output", "x.pftrace", writes=True)
    add("export-stdout", "export", "../in/none", "--to", "csv", "--output", "-")
    add("export-json", "export", "../in/none", "--to", "npz", "--json", writes=True)
    add("diff-equal", "diff", "../in/none", "../in/none")
    add("diff", "diff", "../in/none", "../in/nan")
    add("diff-blame", "diff", "../in/none", "../in/nan", "--blame")
    add("diff-json", "diff", "../in/none", "../in/nan", "--json")
    add("diff-noise", "diff", "../in/none", "../in/nan", "--noise", "../in/none")
    add("verify", "verify", "../in/none")
    add("verify-json", "verify", "../in/none", "--json")
    add("verify-old", "verify", "../in/manifest_only")
    add("verify-bad", "verify", "../in/bad")
    add("recover", "recover", "killed", copied=("killed",), writes=True)
    add("recover-json", "recover", "killed", "--json", copied=("killed",), writes=True)
    # Without locks, nobody knows whether the killed run is still at work.
    add("runs", "runs", "../in", "--result", "finished")
    add("runs-json", "runs", "../in", "--result", "finished", "--json")
    add("runs-remove", "runs", "--remove", "killed", "--yes", copied=("killed",), writes=True)
    add("check", "check", "../in/none", processes=(HOST, REFERENCE))
    add("check-wrong", "check", "../in/nan", processes=(HOST, REFERENCE))
    add("check-json", "check", "../in/nan", "--json", processes=(HOST, REFERENCE))
    add("check-npz", "check", "../in/none", "--against", "../in/golden.npz")
    add("check-npy", "check", "../in/none", "--against", "../in/golden.npy", "--index", "4")
    add("replay", "replay", "../in/nan", "--task", "30", "--cores", "3", processes=both)
    add("replay-json", "replay", "../in/nan", "--task", "30", "--cores", "3", "--json", processes=both)
    add("replay-all", "replay", "../in/nan", "--all", "--workers", "1", processes=both)
    add("replay-all-guard", "replay", "../in/nan", "--all", "--workers", "1", "--task", "30",
        "--guard", "--json", processes=both)
    add("replay-bundle", "replay", "../in/nan", "--task", "30", "--bundle", "b", writes=True)
    for kind in ("nan", "inf", "overflow", "constant", "stomp"):
        add(f"find-{kind}", "find", kind, "../in/nan")
    add("find-unwritten", "find", "unwritten", "../in/nan", processes=(HOST, REFERENCE))
    add("find-stomped", "find", "stomp", "../in/stray_write", "--no-replay")
    add("find-stomped-json", "find", "stomp", "../in/stray_write", "--no-replay", "--json")
    add("find-json", "find", "nan", "../in/nan", "--json")
    add("stats", "stats", "../in/none")
    add("stats-json", "stats", "../in/none", "--json")
    add("scope", "scope", "../in/scopes")
    add("scope-json", "scope", "../in/scopes", "--json")
    return found


# ── running a command ───────────────────────────────────────────────────────────────────

Result = collections.namedtuple("Result", "code out err files")

_CHANGING = [
    (re.compile(r"\d+(\.\d+)?(e[+-]?\d+)? ?(ns|µs|us|ms|s)\b"), "TIME"),
    (re.compile(r"\d+(\.\d+)? (B|KiB|MiB|GiB)/s"), "SPEED"),
    (re.compile(r"\d{8}_\d{6}(_\d+)?"), "DATE"),
    (re.compile(r"core \d+ \(AI[CV]\d?\)"), "CORE"),
    (re.compile(r"\bai[cv]\d? +\d+  "), "CORE  "),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.0-9]*Z?"), "DATE"),
    (re.compile(r'("[a-z_]*(?:seconds|_ns|_us|_ms|time|started|ended|micros)[a-z_]*": ?)[-0-9.e"+]+'), r"\1T"),
]


def steady(text):
    """The text without what differs from run to run."""
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    return re.sub(r"TIME +", "TIME ", text)


def files_of(folder):
    """Path and content's hash of everything below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[re.sub(r"\d{8}_\d{6}(_\d+)?", "DATE", name)] = (
            hashlib.sha1(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else "-")
    return found


def is_sanitized():
    cache = BUILD / "CMakeCache.txt"
    return cache.exists() and any(line.startswith("TASKGLASS_SANITIZE:") and line.split("=", 1)[1]
                                  for line in cache.read_text().splitlines())


SANITIZED = is_sanitized()


class Bench:
    """A folder with recordings, in which commands run with faults."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.inputs = self.folder / "in"
        self.inputs.mkdir(parents=True)
        self.number, self.lock = 0, threading.Lock()
        self.good, self.counts = {}, {}
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("TASKGLASS_") and name not in ("NO_COLOR", "LD_PRELOAD")}
        # LeakSanitizer cannot work in a process that is traced. Whether a run makes a socket depends on how
        # long it takes, and what is injected must not.
        self.environment = {**kept, "TERM": "dumb", "TASKGLASS_LIVE": "off",
                            "XDG_STATE_HOME": str(self.folder / "state"),
                            "ASAN_OPTIONS": "detect_leaks=0:handle_abort=0"}
        self._make_recordings()
        self.before = files_of(self.inputs)

    def _plain(self, *args):
        result = subprocess.run([PROGRAM, *args], cwd=self.inputs, env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                timeout=LIMIT, check=False)
        assert result.returncode in (0, 1), (args, result)
        return result

    def _make_recordings(self):
        for name in ("none", "nan", "stray_write"):
            self._plain("run", str(WORKLOADS / f"bugs_{name}.so"), "--dump-tensor", "--poison", "--cores",
                        "3", "--output", name)
        self._plain("run", "vector_add", "--runtime", "tensormap_and_ringbuffer", "--dump-tensor", "--cores",
                    "3", "--enable-scope-stats", "--output", "scopes")
        shutil.copytree(self.inputs / "none", self.inputs / "killed")
        (self.inputs / "killed" / "tensor_dump" / "tensor_dump.json").unlink()
        (self.inputs / "killed" / "run.json").unlink()
        shutil.copytree(self.inputs / "none", self.inputs / "manifest_only")
        (self.inputs / "manifest_only" / "tensor_dump" / "tensor_dump.rec").unlink()
        shutil.copytree(self.inputs / "none", self.inputs / "bad")
        payload = self.inputs / "bad" / "tensor_dump" / "tensor_dump.bin"
        data = bytearray(payload.read_bytes())
        data[100] ^= 1
        payload.write_bytes(data)
        self._plain("view", "none", "--export", "npz", "--out", "golden.npz")
        self._plain("view", "none", "--index", "4", "--export", "npy", "--out", "golden.npy")
        if (self.inputs / "golden.npy").is_dir():
            folder = self.inputs / "golden.npy"
            next(folder.iterdir()).rename(self.inputs / "one.npy")
            shutil.rmtree(folder)
            (self.inputs / "one.npy").rename(folder)

    def _place(self, scenario):
        with self.lock:
            self.number += 1
            place = self.folder / f"w{self.number}"
        place.mkdir()
        for name in scenario.copied:
            shutil.copytree(self.inputs / name, place / name)
        return place

    def _execute(self, scenario, prefix, environment, place):
        """Runs the command in a process group of its own, so that all of it can be ended."""
        process = subprocess.Popen([*map(str, prefix), str(PROGRAM), *scenario.args], cwd=place,
                                   env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(timeout=LIMIT)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            code = "hang"
        if isinstance(code, int) and code < 0:
            code = 128 - code
        return Result(code, steady(out.decode(errors="replace")), steady(err.decode(errors="replace")),
                      files_of(place))

    def run(self, scenario, fault=None, process=HOST):
        """Runs a command; returns its result, what was counted or failed, and where it ran."""
        place = self._place(scenario)
        report = self.folder / f"{place.name}.report"
        if fault is None or fault.kind != MALLOC:
            prefix = [TRACER, "--process", fault.process if fault else process, "--report", report]
            if fault:
                prefix += ["--kind", fault.kind, "--nth", str(fault.nth)]
                prefix += ["--short"] if fault.error == "short" else ["--errno", getattr(errno, fault.error)]
                prefix += ["--from"] if fault.how == "from" else []
            result = self._execute(scenario, [*prefix, "--"], {}, place)
            counted = {}
            if report.exists():
                counted = {key: int(value) for key, value in
                           (line.split() for line in report.read_text().splitlines())}
        else:
            report.write_bytes(bytes(REPORT_BYTES))
            result = self._execute(scenario, [], self._memory(fault, report), place)
            fields = struct.unpack("27Q", report.read_bytes()[:27 * 8])
            counted = {MALLOC: fields[0], "failed": fields[1], "left": 0, "base": fields[2],
                       "frames": [frame for frame in fields[3:] if frame]}
        report.unlink(missing_ok=True)
        return result, counted, place

    def _memory(self, fault, report):
        return {"LD_PRELOAD": str(MEMORY), "TASKGLASS_FAULT_PROCESS": fault.process,
                "TASKGLASS_FAULT_NTH": str(fault.nth), "TASKGLASS_FAULT_REPORT": str(report),
                "TASKGLASS_FAULT_FROM": "1" if fault.how == "from" else "0"}

    def learn(self, scenario):
        """The good answer, and how many calls of each kind each process makes."""
        if scenario.name in self.good:
            return
        counts = {}
        for process in scenario.processes:
            result, counted, place = self.run(scenario, process=process)
            shutil.rmtree(place)
            assert result.code in (0, 1, 2, 3), (scenario.name, result)
            for kind, count in counted.items():
                if kind not in ("failed", "left") and count:
                    counts[process, kind] = count
            if not SANITIZED:  # its allocator takes the place of ours
                fault = Fault(scenario.name, process, MALLOC, 0, "ENOMEM", "once")
                _, counted, place = self.run(scenario, fault)
                shutil.rmtree(place)
                counts[process, MALLOC] = counted[MALLOC]
        self.counts[scenario.name] = counts
        self.good[scenario.name] = result

    # ── the verdict ─────────────────────────────────────────────────────────────────────

    def judge(self, scenario, fault):
        """None if the command did as the rule says, else what is wrong."""
        result, counted, place = self.run(scenario, fault)
        problem = None
        if counted.get("failed", 0):
            problem = self._problem(scenario, fault, result, counted, place)
        elif result.code == 125:
            problem = "the tracer failed: " + result.err
        shutil.rmtree(place, ignore_errors=True)
        return problem, result, counted

    def _problem(self, scenario, fault, result, counted, place):
        good = self.good[scenario.name]
        if result.code == "hang":
            return "hang"
        if result.code not in (0, 1, 2, 3):
            return f"crash, {result.code}"
        if re.search(r"Sanitizer|runtime error:", result.err):
            return "sanitizer"
        if counted.get("left", 0):
            return "a process is left"
        left = [name for name in result.files if re.search(r"\.tmp|\.probe|\.part", name)]
        if left and fault.kind != "unlink":
            return f"left {left}"
        if "Success" in result.err:
            return "errno is lost"
        same = (result.code, result.out, result.err) == (good.code, good.out, good.err)
        if scenario.is_run:
            return self._run_problem(scenario, fault, result, good, same, place)
        if same:
            by_name = scenario.verb == "recover" or scenario.name == "export-sqlite"  # the same in other bytes
            alike = set(result.files) == set(good.files) if by_name else result.files == good.files
            return None if alike else "other files"
        if result.code not in (2, 3):
            return "another answer"
        return self._line_problem(fault, result, good) or self._leftover(scenario, result, good)

    @staticmethod
    def _leftover(scenario, result, good):
        """Files that were begun; whole ones may stay if only their report could not be printed."""
        kept = {name for name, content in result.files.items()
                if name.split("/")[0] not in scenario.copied and good.files.get(name) != content}
        whole = "standard output" in result.err and set(result.files) == set(good.files)
        return f"left {sorted(kept)[:4]}" if kept and not whole else None

    @staticmethod
    def _line_problem(fault, result, good):
        usual = good.err.splitlines()
        lines = [line for line in result.err.splitlines() if line and line not in usual]
        if not lines and result.out.startswith("{"):  # --json says it in its document
            lines = ["taskglass: " + reason for reason in
                     re.findall(r'"(?:reason|error|why)": "(.*)"', result.out)][:1]
            result = result._replace(err="\n".join(lines))
        lines = [line for line in lines if not line.startswith("taskglass: warning: ")]
        if result.code == good.code and not lines:
            return None  # it fails as it does without the fault; only the recording lost something
        ours = [line for line in lines if line.startswith("taskglass: ")]
        if ours and result.code == good.code and \
                all(any(known.startswith(f"{line}, at ") for known in usual) for line in ours):
            return None  # the same failure, whose source line could not be looked up
        if len(ours) != 1 and result.code == 2 or not ours:
            return f"{len(ours)} lines"
        if result.code == 2 and len(lines) != 1:
            return f"{len(lines)} lines"
        if result.code == 3 and fault.process == HOST and "DEVICE_LOST" not in result.err \
                and "KERNEL_FAULT" not in result.err:
            return "exit 3 for a fault of the host"
        text = result.err.lower()
        causes = [] if fault.error == "short" else [os.strerror(getattr(errno, fault.error)).lower()]
        if fault.error == "ENOMEM":  # the C library turns some of them into EAGAIN when it starts a thread
            causes += ["memory", os.strerror(errno.EAGAIN).lower()]
        if fault.process != HOST:
            causes += ["device", "reference"]
        if fault.kind == "write" and fault.how == "once":  # the C library does not keep the errno
            causes += ["standard output: a write failed"]
        if fault.scenario.startswith("list") and fault.kind == "write":  # a pipe never has these errors
            causes += ["cannot start a process to look into it"]
        if fault.scenario == "export-sqlite":  # SQLite has words of its own
            causes += ["disk i/o error", "disk is full", "unable to open", "database", "memory", "lock"]
        return None if any(cause in text for cause in causes) else "the cause is not named"

    def _run_problem(self, scenario, fault, result, good, same, place):
        if result.code in (2, 3) and not same:
            return self._line_problem(fault, result, good)
        if result.code != good.code:
            return "another answer"
        said = result.out + result.err
        loses = re.search(r"\blost\b|not written|warning: ", said)
        if not same and not loses and not self._differs_in_numbers_only(result, good):
            return "another answer"
        unnamed = [name for name in set(good.files) - set(result.files) if name.split("/")[-1] not in said]
        if unnamed:
            return f"nothing is said about {unnamed}"
        return self._recording_problem(scenario, place, bool(loses))

    @staticmethod
    def _differs_in_numbers_only(result, good):
        """run --json prints numbers that differ from run to run."""
        def shape(text):
            return re.sub(r'"?-?\d[-+.0-9a-fx]*"?', "N", text)
        return result.out.startswith("{") and shape(result.out) == shape(good.out) and \
            result.err == good.err

    def _recording_problem(self, scenario, place, loses):
        """A recording that the run calls whole must verify, and have all its records."""
        out = place / "out"
        if not (out / "tensor_dump").is_dir():
            recorded = any(arg.startswith("--dump") for arg in scenario.args)
            return "no recording" if recorded and not loses else None
        result = subprocess.run([PROGRAM, "verify", "out", "--json"], cwd=place, env=self.environment,
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
                                check=False)
        if result.returncode == 0:
            return None
        if loses and result.returncode in (1, 2):
            return None
        return f"verify says {result.returncode} of the recording: {result.stdout[:300]}{result.stderr}"

    def faults(self, scenario):
        """Every fault of a scenario: each kind, each n, each error once, and one error from there on."""
        self.learn(scenario)
        for (process, kind), count in sorted(self.counts[scenario.name].items()):
            if SANITIZED and kind in NOT_SANITIZED:
                continue
            errors = ("ENOMEM",) if kind == MALLOC else ERRORS[kind]
            for nth in range(1, count + 1):
                for error in errors:
                    yield Fault(scenario.name, process, kind, nth, error, "once")
                last = next((error for error in errors if error not in ("EINTR", "short")), None)
                if last and kind not in ("poll", "sleep", "wait"):
                    yield Fault(scenario.name, process, kind, nth, last, "from")


# ── the command line ────────────────────────────────────────────────────────────────────

def where(counted):
    """The functions in which an allocation failed."""
    frames = [hex(frame - counted["base"] - 1) for frame in counted.get("frames", [])]
    if not frames or not shutil.which("addr2line"):
        return ""
    text = subprocess.run(["addr2line", "-fs", "-e", str(PROGRAM), *frames], stdout=subprocess.PIPE,
                          text=True, check=False).stdout.splitlines()
    pairs = [f"{text[i]} {text[i + 1]}" for i in range(0, len(text) - 1, 2)]
    return " < ".join(pair for pair in pairs if "??" not in pair)


class Tally:
    """Counts what was tried, and prints what failed."""

    def __init__(self):
        self.tried, self.failed, self.found = collections.Counter(), collections.Counter(), []

    def add(self, good, fault, problem, result, counted):
        self.tried[fault.scenario] += 1
        if not problem:
            return
        self.failed[fault.scenario] += 1
        self.found.append((fault, problem))
        print(f"FAILED {fault}: {problem}\n    exit {result.code}; "
              f"stderr: {result.err.strip()[:600]!r}", flush=True)
        if problem == "another answer":
            news = [line for line in result.out.splitlines() if line not in good.out.splitlines()]
            print(f"    stdout: {news[:3]}"[:400], flush=True)
        if fault.kind == MALLOC:
            print(f"    in {where(counted)}", flush=True)


def can_trace():
    """Why faults cannot be injected here, or None."""
    if not TRACER.exists():
        return f"{TRACER} is not built"
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([TRACER, "--report", f"{folder}/r", "--", "true"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, check=False)
    return None if result.returncode == 0 else result.stderr.strip() or "the tracer cannot trace"


def sweep(bench, chosen, tally, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for scenario in chosen:
            faults = list(bench.faults(scenario))
            for fault, outcome in zip(faults, pool.map(lambda f: bench.judge(scenario, f), faults)):
                tally.add(bench.good[scenario.name], fault, *outcome)
            print(f"{scenario.name}: {tally.tried[scenario.name]} faults, "
                  f"{tally.failed[scenario.name]} failed", flush=True)


def soak(bench, chosen, tally, seconds, seed, jobs, least=0, most=None):
    """Random faults for this long, but at least `least` and at most `most`. Every scenario gets the same
    share."""
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    order = list(chosen)
    rng.shuffle(order)
    lists = {}

    def goes_on():
        return time.monotonic() < end or sum(tally.tried.values()) < least

    def one(pair):
        scenario, fault = pair
        if goes_on():
            tally.add(bench.good[scenario.name], fault, *bench.judge(scenario, fault))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while goes_on() and (most is None or sum(tally.tried.values()) < most):
            batch = []
            for scenario in order:
                if not goes_on():
                    break
                if scenario.name not in lists:
                    lists[scenario.name] = list(bench.faults(scenario))
                batch += [(scenario, rng.choice(lists[scenario.name])) for _ in range(4)]
                if len(batch) >= 16 or scenario is order[-1]:
                    list(pool.map(one, batch))
                    batch = []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every fault, not a sample")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--verb", action="append", help="a verb, or the beginning of a scenario's name")
    parser.add_argument("--one", help="one fault, as a FAILED line names it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    reason = can_trace()
    if reason:
        sys.exit(f"injection: {reason}")
    known = scenarios()
    chosen = [s for s in known if not options.verb or
              any(s.verb == verb or s.name.startswith(verb) for verb in options.verb)]
    if options.one:
        fault = Fault.parse(options.one)
        chosen = [s for s in known if s.name == fault.scenario]
    with tempfile.TemporaryDirectory(prefix="taskglass_test_injection.") as folder:
        bench, tally = Bench(folder), Tally()
        if options.one:
            bench.learn(chosen[0])
            problem, result, counted = bench.judge(chosen[0], fault)
            print(f"exit {result.code}, {counted.get('failed')} failed\n--- stdout\n{result.out}"
                  f"--- stderr\n{result.err}--- files\n{json.dumps(result.files, indent=1)}")
            print(where(counted))
            sys.exit(f"FAILED: {problem}" if problem else 0)
        if options.all:
            sweep(bench, chosen, tally, options.jobs)
        else:
            print(f"seed {options.seed}", flush=True)
            soak(bench, chosen, tally, options.seconds, options.seed, options.jobs)
        if files_of(bench.inputs) != bench.before:
            tally.found.append(("-", "a recording was changed by a verb that only reads"))
    print(f"{sum(tally.tried.values())} faults in {len(tally.tried)} commands, {len(tally.found)} failed")
    sys.exit(1 if tally.found else 0)


if __name__ == "__main__":
    main()
