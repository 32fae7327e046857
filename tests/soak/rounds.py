# SPDX-License-Identifier: Apache-2.0
"""The kinds of rounds that a soak mixes. Each is a function round(machine, random, folder) that makes
all its choices with `random`, works in the empty folder and raises Failed where something is not as it
must be. ROUNDS has them with their weights."""

import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# A program that takes longer hangs, however busy the machine is.
PATIENCE = 900


class Failed(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Failed(" ".join(map(str, what)))


class Machine:
    """The build under test, and what this machine can run."""

    def __init__(self, build):
        self.build = build
        self.program = build / "bin" / "taskglass"
        self.state = None  # XDG_STATE_HOME of the programs, a folder of the soak
        listed = json.loads(subprocess.run([self.program, "list", "--json"], check=True,
                                           stdout=subprocess.PIPE).stdout)
        self.platforms = [p["name"] for p in listed["platforms"] if p["available"]]
        self.runtimes = [r["name"] for r in listed["runtimes"] if r["available"]]
        self.cases = [(w["name"], c["name"]) for w in listed["workloads"] for c in w["cases"]
                      if c["name"] not in ("large", "medium", "scopes")]
        self.large = [(w["name"], c["name"]) for w in listed["workloads"] for c in w["cases"]
                      if c["name"] == "medium"]

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TASKGLASS_")
                or name == "TASKGLASS_CUDA_DRIVER"}
        return {**kept, "XDG_STATE_HOME": str(self.state)} if self.state else kept

    def start(self, folder, *words, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                   "text": True, **options}
        with (folder / "commands").open("a") as log:
            print("taskglass", *words, file=log)
        return subprocess.Popen([self.program, *map(str, words)], cwd=folder, env=self.environment(),
                                **options)

    def call(self, folder, *words, codes=(0,), **options):
        """Runs a command line to its end; its exit code must be one of `codes`."""
        process = self.start(folder, *words, **options)
        return finish(process, words, codes)


def finish(process, words, codes=(0,)):
    try:
        out, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failed(f"taskglass {' '.join(map(str, words))}: still runs after {PATIENCE} s") from None
    process.out, process.said = out or "", said or ""
    expect("Sanitizer" not in process.said, process.said)
    expect(process.returncode in codes, "taskglass", *words, "ended with", process.returncode, process.said)
    return process


def children(pid):
    with contextlib.suppress(OSError):
        return [int(child) for thread in os.scandir(f"/proc/{pid}/task")
                for child in pathlib.Path(thread.path, "children").read_text().split()]
    return []


def send(pid, number):
    with contextlib.suppress(OSError):
        os.kill(pid, number)


# --- choices -------------------------------------------------------------------------------------

def how_to_run(machine, random, large=False):
    """A workload, and options that change where and how it runs, but not what it computes."""
    name, case = random.choice(machine.large if large else machine.cases)
    platform = random.choice(machine.platforms)
    runtimes = [r for r in machine.runtimes if name != "moe" or r != "host_build_graph"]  # it reads back
    words = [name, "--case", case, "--platform", platform, "--runtime", random.choice(runtimes)]
    if platform != "cuda":
        words += ["--cores", 3 * random.randint(1, 4), "--schedulers", random.randint(0, 3)]
        words += ["--device-memory", "1G", "--ring-heap", "64M"]
    if random.random() < 0.3 and name != "dump_tensor":  # which leaves an element unwritten on purpose
        words += ["--poison"]
    if random.random() < 0.3:
        words += ["--deps"]
    if random.random() < 0.3:
        words += ["--enable-scope-stats"]
    return words


def how_to_record(random, policy=None):
    words = [f"--dump-tensor={random.choice(['meta', 'hash', 'hybrid', 'marked', 'full', 'full'])}",
             "--dump-policy", policy or random.choice(["block", "block", "drop", "overwrite"]),
             "--dump-arena", random.choice(["4K", "64K", "4M"]),
             "--dump-buffers", random.choice([2, 4, 16]),
             "--dump-transport", random.choice(["auto", "copied"])]
    if random.random() < 0.2:
        words += ["--dump-filter", random.choice(["stage=after", "role=in", "task=0-5", "arg=0"])]
    return words


def recorded(folder, run):
    """The recorder's account in run.json; None if there is none."""
    return json.loads((folder / run / "run.json").read_text())["recorder"]


def check_account(folder, run, lossless):
    account = recorded(folder, run)
    lost = sum(account["lost"].values())
    expect(account["attempted"] == account["recorded"] + lost, run, "does not count every record:", account)
    if lossless:
        expect(lost == 0 and account["truncated"] == 0, run, "lost records under policy block:", account)


# --- rounds --------------------------------------------------------------------------------------

READERS = (["view"], ["view", "--json"], ["stats"], ["find", "nan"], ["find", "stomp"],
           ["find", "unwritten"], ["check"], ["scope"])
FORMATS = ("npy", "npz", "safetensors", "sqlite", "csv", "trace", "txt", "simpler")


def read(machine, random, folder, run):
    """Some of the verbs that read. Exit code 2 says that a question has no answer here."""
    for words in random.sample(READERS, 3):
        at = 2 if words[0] == "find" else 1
        machine.call(folder, *words[:at], run, *words[at:], codes=(0, 1, 2))
    to = random.choice(FORMATS)
    machine.call(folder, "export", run, "--to", to, "--output", f"{run}.{to}", codes=(0, 2))


def record_and_read(machine, random, folder):
    """Records, verifies, reads; a second run in another way records the same."""
    how = how_to_run(machine, random)
    record = how_to_record(random)
    lossless = "block" in record
    machine.call(folder, "run", *how, *record, "--output", "a")
    check_account(folder, "a", lossless)
    machine.call(folder, "verify", "a")
    read(machine, random, folder, "a")
    if lossless and "--dump-tensor=full" in record:
        machine.call(folder, "run", *how, *record, "--output", "b")
        machine.call(folder, "diff", "a", "b", codes=(0, 1))
        machine.call(folder, "diff", "a", "a")


def kill_something(machine, random, folder):
    """Kills the host or the device at some moment; what the journal claims is there."""
    how = [*how_to_run(machine, random, large=random.random() < 0.5), *how_to_record(random, "block"),
           "--output", "a"]
    process = machine.start(folder, "run", *how)
    time.sleep(random.random() * random.choice([0.02, 0.2, 1]))
    victim = random.choice(["host", "device"])
    if victim == "host":
        process.kill()
        process.communicate(timeout=PATIENCE)
        if not (folder / "a" / "tensor_dump" / "tensor_dump.rec").exists():
            return
        machine.call(folder, "recover", "a")
    else:
        for child in children(process.pid):
            send(child, signal.SIGKILL)
        finish(process, how, codes=(0, 3))
    machine.call(folder, "verify", "a")
    machine.call(folder, "view", "a")
    left = [path.name for path in folder.rglob(".*")]
    expect(not left, "left behind:", left)
    machine.call(folder, "run", *how)
    machine.call(folder, "verify", "a")


def pause(machine, random, folder):
    """Stops host, device or both for longer than the limits: nothing is lost, nothing hangs."""
    how = [*how_to_run(machine, random, large=True), "--dump-tensor=full", "--dump-arena", "64K",
           "--dump-wait", "0.2", "--timeout", "1", "--output", "a"]
    process = machine.start(folder, "run", *how)
    for _ in range(random.randint(1, 3)):
        time.sleep(random.random() * 0.3)
        who = random.choice([{"host"}, {"device"}, {"host", "device"}])
        device = children(process.pid)
        stopped = ([process.pid] if "host" in who else []) + (device if "device" in who else [])
        for pid in stopped:
            send(pid, signal.SIGSTOP)
        time.sleep(1.5)
        for pid in stopped:
            send(pid, signal.SIGCONT)
    finish(process, how)
    check_account(folder, "a", lossless=True)
    machine.call(folder, "verify", "a")


def interrupt(machine, random, folder):
    """Ctrl-C, TERM or HUP ends a run in any phase, and every verb."""
    number = random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    how = [*how_to_run(machine, random, large=True), *how_to_record(random, "block"), "--output", "a"]
    process = machine.start(folder, "run", *how)
    time.sleep(random.random() * random.choice([0.02, 0.2, 1]))
    process.send_signal(number)
    finish(process, how, codes=(0, -number))
    if (folder / "a" / "tensor_dump" / "tensor_dump.rec").exists():
        machine.call(folder, "verify", "a")
        read(machine, random, folder, "a")
    expect(not children(process.pid), "the device outlives the host")


def _limit(which, value):
    def apply():
        resource.setrlimit(which, (value, value))
    return apply


def small_limits(machine, random, folder):
    """Few descriptors, small files, little address space: an answer, or one line and exit code 2 or 3."""
    which, value = random.choice([(resource.RLIMIT_NOFILE, random.randint(4, 24)),
                                  (resource.RLIMIT_FSIZE, random.randint(1, 300000)),
                                  (resource.RLIMIT_AS, random.randint(30, 3000) << 20)])
    machine.call(folder, "run", *how_to_run(machine, random), "--dump-tensor", "--output", "good")
    process = machine.call(folder, "run", *how_to_run(machine, random), *how_to_record(random, "block"),
                           "--output", "a", codes=(0, 2, 3), preexec_fn=_limit(which, value))
    if process.returncode == 0 and (folder / "a" / "run.json").exists():
        check_account(folder, "a", lossless=False)
    if (folder / "a" / "tensor_dump" / "tensor_dump.json").exists():
        machine.call(folder, "verify", "a")
    for words in (["verify", "good"], ["find", "stomp", "good"], ["diff", "good", "good"]):
        machine.call(folder, *words, codes=(0, 2), preexec_fn=_limit(which, value))


def full_disk(machine, random, folder):
    """A file system that fills up: what is missing is counted, the run ends as it would."""
    disk = folder / "disk"
    disk.mkdir()
    size = random.randint(64, 1000)
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk],
                                           stderr=subprocess.DEVNULL).returncode != 0:
        return  # needs root
    try:
        how = how_to_run(machine, random)
        machine.call(folder, "run", *how, *how_to_record(random, "block"), "--output", "disk/a",
                     codes=(0, 2) if "--deps" in how else (0,))  # only a file that was asked for is an error
        machine.call(folder, "verify", "disk/a")
        machine.call(folder, "view", "disk/a")
    finally:
        subprocess.run(["umount", disk], check=True)


def one_folder(machine, random, folder):
    """Several runs into one folder: each has it alone, or is refused."""
    hows = [[*how_to_run(machine, random), *how_to_record(random, "block"), "--output", "a"]
            for _ in range(random.randint(2, 4))]
    processes = [machine.start(folder, "run", *how) for how in hows]
    for process, how in zip(processes, hows):
        finish(process, how, codes=(0, 2))
        expect(process.returncode == 0 or "BUSY" in process.said, "refused, but not as busy:", process.said)
    expect(any(process.returncode == 0 for process in processes), "every run was refused")
    machine.call(folder, "verify", "a")
    check_account(folder, "a", lossless=True)


def _contract(machine, folder, name, **variables):
    """The tests of a contract program that compare random programs with their serial execution."""
    program = machine.build / "tests" / "bin" / f"contract.{name}"
    variables = {key: str(value) for key, value in variables.items()}
    environment = {**machine.environment(), **variables,
                   "TASKGLASS_DEVICE_PROGRAM": str(machine.build / "lib/taskglass/taskglass-device"),
                   "TASKGLASS_TEST_WORKLOADS": str(machine.build / "tests/workloads")}
    with (folder / "commands").open("a") as log:
        print(*(f"{key}={value}" for key, value in variables.items()), program, "serial_execution", file=log)
    process = subprocess.Popen([program, "serial_execution"], cwd=folder, env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    finish(process, [f"contract.{name}"])


def random_graphs(machine, random, folder):
    """Random programs on every runtime, compared with their serial execution."""
    _contract(machine, folder, "oracle", TASKGLASS_ORACLE_SEED=random.randrange(1 << 40), TASKGLASS_ORACLE_SECONDS=10)


def random_communication(machine, random, folder):
    """Random programs of several ranks."""
    _contract(machine, folder, "ranks", TASKGLASS_RANKS_SEED=random.randrange(1 << 40), TASKGLASS_RANKS_PROGRAMS=50)


def kill_a_rank(machine, random, folder):
    """Kills a rank, or the device of one, at some moment: the others end, and all recordings are good."""
    ranks = random.randint(2, 4)
    words = ["run", "--ranks", ranks, machine.build / "tests/workloads/ranks_ring.so", "--cores", 3, "--platform",
             random.choice(machine.platforms), "--runtime", random.choice(machine.runtimes), "--device-memory", "256M",
             "--ring-heap", "16M", "--dump-tensor", "--set", "steps=4000", "--set", "ms=1", "--output", "job"]
    process = machine.start(folder, *words)
    summary = folder / "job" / "ranks.json"
    while not summary.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(random.random() * random.choice([0.05, 0.5, 2]))
    rank = random.randrange(ranks)
    pid = json.loads(summary.read_text())["rank"][rank]["pid"] if summary.exists() else 0
    victims = [pid] if pid and random.random() < 0.7 else children(pid)
    for victim in victims:
        send(victim, signal.SIGKILL)
    killed = time.monotonic()
    if not victims:  # it had none yet
        send(process.pid, signal.SIGTERM)
    finish(process, words, codes=(3,) if victims else (3, -signal.SIGTERM))
    with (folder / "commands").open("a") as log:
        print(f"ended {time.monotonic() - killed:.2f} s after the kill of", "rank" if victims == [pid] else "device",
              rank, file=log)
    said = json.loads(summary.read_text())
    expect("RUNNING" not in [one["status"] for one in said["rank"]], said)
    expect(not victims or said["status"] in ("RANK_LOST", "DEVICE_LOST"), said)
    for number in range(ranks):
        if (folder / "job" / f"rank{number}" / "tensor_dump").exists():
            machine.call(folder, "verify", folder / "job" / f"rank{number}")
    machine.call(folder, "explain", "job", codes=(1,))


def _tool(machine, folder, *words):
    with (folder / "commands").open("a") as log:
        print(*words, file=log)
    process = subprocess.run([*map(str, words)], cwd=folder, env=machine.environment(), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expect(process.returncode == 0, process.stdout[-4000:])


def crafted(machine, random, folder):
    """Some of the crafted recordings through every verb."""
    limit = ["--no-memory-limit"] if "asan" in machine.build.name else []
    _tool(machine, folder, sys.executable, HERE.parent / "crafted" / "run.py", "--build",
          machine.build, "--sample", 20, "--jobs", 1, "--seed", random.randrange(1 << 30), "--keep",
          folder / "crafted", *limit)


def fuzz(machine, random, folder):
    """One of the fuzzers for some seconds, from its corpus. Needs clang: scripts/soak builds them."""
    fuzzers = sorted((machine.build / "fuzz" / "tests" / "bin").glob("fuzzer.*"))
    if not fuzzers:
        return
    fuzzer = random.choice(fuzzers)
    found = folder / "found"
    found.mkdir()
    _tool(machine, folder, fuzzer, "-max_total_time=20", "-timeout=60", "-rss_limit_mb=4096",
          f"-seed={random.randrange(1, 1 << 31)}", f"-artifact_prefix={folder}/", found,
          HERE.parent / "fuzz" / "corpus" / fuzzer.suffix[1:])


def faults(machine, random, folder):
    """Faults injected at random allocations and system calls of random verbs."""
    _tool(machine, folder, "env", f"TASKGLASS_BUILD={machine.build}", sys.executable,
          HERE.parent / "fault" / "injection.py", "--seconds", 20, "--jobs", 1, "--seed",
          random.randrange(1 << 30))


def large_trace(machine, random, folder):
    """A trace of ten million tasks, in the memory that one of a million takes."""
    if "asan" in machine.build.name:
        return  # a sanitizer keeps memory that was freed
    _tool(machine, folder, "env", "TASKGLASS_TEST_TASKS=10000000",
          machine.build / "tests" / "bin" / "unit.trace.memory")


def shake(machine, random, folder):
    """No schedule changes a result of an example, and a planted race is found with any seed."""
    seed = random.randrange(1, 1 << 40)
    if random.random() < 0.3:
        case = random.choice(("war", "raw", "two", "stray", "crash"))
        result = machine.call(folder, "shake", machine.build / "tests" / "workloads" / "racy.so", "--case", case,
                              "--seed", seed, "--json", codes=(1,))
        expect(json.loads(result.out)["result"] == "order", "shake", case, seed, result.out)
        return
    workload, case = random.choice(machine.cases)
    options = ["--runtime", random.choice(machine.runtimes), "--platform",
               random.choice([name for name in machine.platforms if name != "cuda"])]
    result = machine.call(folder, "shake", workload, "--case", case, "--runs", 40, "--seed", seed, *options, "--json",
                          codes=(0, 2))
    answer = json.loads(result.out)
    expect(result.returncode == 0 or answer["result"] == "not known", "shake", workload, case, result.out)


# As in TG_MATH_MAP of taskglass/math.h; tests/math/sweep.c refuses others.
FUNCTIONS = ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "tanh", "erf", "sin", "cos", "sigmoid", "gelu", "gelu_tanh")


def maths(machine, random, folder):
    """One function of taskglass/math.h on every float32, or pow on as many pairs, and ten million float64.
    Takes some minutes. tests/math/exhaustive.sh tries them all."""
    sweep = machine.build / "tests" / "bin" / "math-sweep"
    if not sweep.exists():  # a build with sanitizers
        return
    seed, name = random.randrange(1 << 40), random.choice((*FUNCTIONS, "pow"))
    if name == "pow":
        _tool(machine, folder, sweep, "pow_f32", 1 << 32, seed)
        _tool(machine, folder, sweep, "pow_f64", 10_000_000, seed)
    else:
        _tool(machine, folder, sweep, "f32", name, 1)
        _tool(machine, folder, sweep, "f64", name, 10_000_000, seed)


ROUNDS = {record_and_read: 6, kill_something: 4, pause: 3, interrupt: 3, small_limits: 3, full_disk: 2,
          one_folder: 2, random_graphs: 2, random_communication: 2, kill_a_rank: 2, crafted: 2, fuzz: 2, faults: 2,
          shake: 2, large_trace: 1, maths: 1}
