# SPDX-License-Identifier: Apache-2.0
"""What the sandbox of docs/security.md takes from the processes that run kernels and references, and what
it leaves to them."""

import ctypes
import json
import os
import pathlib
import platform as machine
import re
import shlex
import shutil
import signal
import subprocess

import pytest

from conftest import HERE, MARK, PLATFORMS, PROGRAM, SANITIZED, compiled, wait_until, workload
from platforms import ENVIRONMENT, FAR_LIMIT, GPU, PATIENCE

ROOT = HERE.parents[1]
TOOL, HARM = 1, 2  # flags of workloads/escape.c
SKIP = ("--set", f"skip={TOOL if SANITIZED else 0}")
LANDLOCK = (444, 445, 446)
SECCOMP = {"x86_64": 317, "aarch64": 277}.get(machine.machine())

pytestmark = pytest.mark.skipif(GPU or SECCOMP is None,
                                reason="about the simulators' process on x86-64 and AArch64")


def landlock():
    """The version of Landlock that this kernel has."""
    return max(0, ctypes.CDLL(None).syscall(LANDLOCK[0], None, 0, 1))


@pytest.fixture(scope="module")
def escape(tmp_path_factory):
    return compiled("escape", tmp_path_factory.mktemp("escape"))


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """older(numbers): the beginning of a command that has no such system calls."""
    program = tmp_path_factory.mktemp("older") / "older"
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-o", str(program),
                    str(HERE / "programs" / "older.c")], check=True)
    return lambda *numbers: [str(program), *map(str, numbers), "--"]


@pytest.fixture
def victim(tmp_path):
    """A folder that no deed may change."""
    folder = tmp_path / "victim"
    folder.mkdir()
    kept = folder / "kept"
    kept.write_text("as it was\n")
    kept.chmod(0o640)
    return folder


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TASKGLASS_")}
    return {**kept, **ENVIRONMENT, **more}


def run(folder, *args, before=(), **more):
    return subprocess.run([*before, str(PROGRAM), *map(str, args)], cwd=folder, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=PATIENCE, env=environment(
                              TASKGLASS_TEST_VICTIM=str(folder / "victim"), ESCAPE_SECRET="secret", **more))


def escapes(said):
    """The deeds that did not end as they should in the sandbox."""
    return set(re.findall(r"^escape: (\w+)$", said, re.M))


def sandbox(folder):
    return json.loads((folder / "out" / "run.json").read_text())["sandbox"]


def assert_unchanged(victim):
    assert [entry.name for entry in victim.iterdir()] == ["kept"]
    assert (victim / "kept").read_text() == "as it was\n"
    assert (victim / "kept").stat().st_mode & 0o777 == 0o640


# --- what is refused, and what is allowed -------------------------------------------------------


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_kernel_cannot_leave_the_sandbox(tmp_path, escape, victim, platform):
    result = run(tmp_path, "run", escape, *SKIP, "--platform", platform, "--output", "out")
    assert escapes(result.stderr) == set() and result.returncode == 0, result.stderr
    assert_unchanged(victim)
    assert sandbox(tmp_path) == {"no_new_privs": True, "seccomp": True, "landlock": min(landlock(), 7)}
    for line in ("stdout", "stderr", "/dev/stderr"):
        assert f"a kernel prints to {line}\n" in result.stderr


def test_a_reference_cannot_leave_the_sandbox(tmp_path, escape, victim):
    assert run(tmp_path, "run", escape, *SKIP, "--set", "by=reference", "--dump-tensor", "--output",
               "out").returncode == 0
    result = run(tmp_path, "check", "out", "--module", escape)
    assert escapes(result.stderr) == set() and result.returncode == 0, result
    assert_unchanged(victim)


def test_the_deeds_work_without_the_sandbox(tmp_path, escape, victim):
    result = run(tmp_path, "run", escape, "--set", f"skip={HARM}", "--sandbox", "off", "--output", "out")
    assert result.returncode == 1
    # Those that work on every machine, also in a container without rights.
    assert escapes(result.stderr) >= {"do_unix_socket", "do_datagram_pair", "do_create", "do_shell",
                                      "do_append", "do_own_environment", "do_signal_host", "do_schedule_host",
                                      "do_environment_of_host", "do_signal_by_descriptor"}
    assert not any(name.startswith("may_") for name in escapes(result.stderr))
    assert sandbox(tmp_path) == {"no_new_privs": False, "seccomp": False, "landlock": 0}


def test_references_have_all_rights_without_the_sandbox(tmp_path, escape, victim):
    assert run(tmp_path, "run", escape, "--set", f"skip={HARM}", "--set", "by=reference", "--dump-tensor",
               "--output", "out").returncode == 0
    result = run(tmp_path, "check", "out", "--module", escape, TASKGLASS_SANDBOX="off")
    assert result.returncode == 1
    assert escapes(result.stderr) >= {"do_unix_socket", "do_create", "do_own_environment"}


# --- older kernels ------------------------------------------------------------------------------


def test_files_are_safe_on_a_kernel_without_landlock(tmp_path, escape, victim, older):
    result = run(tmp_path, "run", escape, *SKIP, "--output", "out", before=older(*LANDLOCK))
    # Without Landlock no file is opened for writing, whatever its name, and the host of a user who is
    # not root shows its variables.
    assert escapes(result.stderr) <= {"may_print_by_name", "may_use_libc", "do_environment_of_host",
                                      "do_memory_of_host"}
    assert_unchanged(victim)
    assert sandbox(tmp_path) == {"no_new_privs": True, "seccomp": True, "landlock": 0}


def test_a_kernel_without_sandboxes_runs_everything(tmp_path, escape, victim, older):
    for module, options in (("vector_add", ()), (escape, ("--set", f"skip={HARM | TOOL}"))):
        result = run(tmp_path, "run", module, *options, "--dump-tensor", "--output", "out",
                     before=older(*LANDLOCK, SECCOMP, 436))  # 436 is close_range
        assert result.returncode in (0, 1), result
        assert sandbox(tmp_path) == {"no_new_privs": True, "seccomp": False, "landlock": 0}
        shutil.rmtree(tmp_path / "out")


# --- the process, seen from outside ---------------------------------------------------------------


GIVEN = {"LD_BIND_NOW": "1", "LANG": "C", "LC_ALL": "C", "LANGUAGE": "en", "TZ": "UTC",
         "UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_SYMBOLIZER_PATH": "/nowhere",
         "GLIBC_TUNABLES": "", "TASKGLASS_TEST_OWN": "1", "OMP_NUM_THREADS": "2"}
WITHHELD = {"AWS_SECRET_ACCESS_KEY": "x", "SSH_AUTH_SOCK": "/x", "HOME": "/root", "XLANG": "x",
            "LANGX": "x", "XTASKGLASS_Y": "x", "LC": "x", "SAN_OPTIONSX": "x", "GITHUB_TOKEN": "x"}


@pytest.fixture
def device(start, monkeypatch):
    """device(**options): the number of the process of a device that runs for ever."""
    for name, value in {**GIVEN, **WITHHELD}.items():
        monkeypatch.setenv(name, value)

    def opened(*more, **options):
        program = start("run", workload("faults"), "--case", "spin", *FAR_LIMIT, "--output", "out", *more,
                        **options)
        return program.running()
    return opened


def variables(pid):
    entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return dict(entry.decode().split("=", 1) for entry in entries if b"=" in entry)


def listed():
    """The table of variables of the sources: name, and whether only a GPU's process gets it."""
    source = (ROOT / "src" / "sandbox" / "environment.c").read_text()
    return dict(re.findall(r'^    \{"([A-Z_*]+)", (true|false)\},$', source, re.M))


def test_the_device_gets_only_variables_of_the_list(device):
    patterns = [re.compile(re.escape(name).replace(r"\*", ".*") + "$")
                for name, gpu_only in listed().items() if gpu_only == "false"]
    assert len(patterns) > 10
    got = variables(device())
    assert got.items() >= {name: value for name, value in GIVEN.items()}.items()
    assert [name for name in got if not any(pattern.match(name) for pattern in patterns)] == []
    assert not set(got) & set(WITHHELD) and MARK in got


def test_without_the_sandbox_the_device_gets_all_variables(device):
    assert set(variables(device("--sandbox", "off"))) >= {*GIVEN, *WITHHELD}


def test_the_list_of_variables_is_documented():
    names = set(listed())
    document = (ROOT / "docs" / "security.md").read_text().split("### Variables")[1].split("###")[0]
    assert set(re.findall(r"`([A-Z_*]+)`", document)) == names
    page = (ROOT / "man" / "taskglass.1").read_text().split(".Sh SANDBOX")[1].split(".Sh ")[0]
    assert {name for name in re.findall(r"[A-Z_*]+", page) if name in names} == names


def test_the_device_inherits_no_descriptor(device, tmp_path):
    with open(tmp_path / "open", "w") as leaked, open(tmp_path / "high", "w") as source:
        os.dup2(source.fileno(), 700)
        try:
            pid = device(pass_fds=(leaked.fileno(), 700))
        finally:
            os.close(700)
        links = {fd: os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    assert not any(link.startswith(str(tmp_path)) for link in links.values()), links
    # Its own: standard input to standard error, the socket, the memory, the socket for calls.
    others = {fd: link for fd, link in links.items() if int(fd) > 5}
    assert all("pidfd" in link for link in others.values()) and len(others) <= 1, links


def test_the_device_has_given_up_its_rights(device):
    pid = device()
    status = dict(line.split(":\t", 1) for line in
                  pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    read_search = 1 << 2
    for kind in ("CapEff", "CapPrm", "CapInh"):
        assert int(status[kind], 16) & ~read_search == 0
    for task in os.listdir(f"/proc/{pid}/task"):  # every thread
        assert "Seccomp:\t2\n" in pathlib.Path(f"/proc/{pid}/task/{task}/status").read_text()
    limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
    assert all(int(number) <= 1024 for number in re.search(r"Max open files +(\d+) +(\d+)", limits).groups())
    own = pathlib.Path("/proc/self/limits").read_text()
    for kept in ("Max core file size", "Max address space", "Max cpu time", "Max processes"):
        assert [line for line in limits.splitlines() if line.startswith(kept)] == \
               [line for line in own.splitlines() if line.startswith(kept)]


# --- debuggers ----------------------------------------------------------------------------------


def gdb(*args, **options):
    if SANITIZED:
        pytest.skip("a sanitizer's process is another thing to debug")
    program = shutil.which("gdb")
    if program is None:
        pytest.skip("no gdb")
    probe = subprocess.run([program, "-nx", "-batch", "-ex", "run", "--args", "/bin/true"], text=True,
                           capture_output=True, stdin=subprocess.DEVNULL)
    if "exited normally" not in probe.stdout:
        pytest.skip("gdb may not trace here")
    return subprocess.run([program, "-nx", "-batch", "-iex", "set debuginfod enabled off", *args],
                          text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE,
                          **options)


def test_gdb_attaches_to_the_device(device):
    pid = device()
    said = gdb("-p", str(pid), "-ex", "thread apply all bt", "-ex", "detach")
    assert "fault_spin" in said.stdout, said


def test_gdb_follows_into_the_device_and_stops_in_a_kernel(tmp_path):
    said = gdb("-ex", "set follow-fork-mode child", "-ex", "set breakpoint pending on", "-ex",
               "break fault_abort", "-ex", "run", "-ex", "bt", "-ex", "kill", "--args", str(PROGRAM), "run",
               workload("faults"), "--case", "abort", *FAR_LIMIT, "--output", "out", cwd=tmp_path,
               env=environment())
    assert "fault_abort" in said.stdout and "tg_" in said.stdout, said
