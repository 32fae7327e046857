#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the Debian packages in a clean root and uses them there, as packaging/docker/Dockerfile says: one new
Debian in which `make deb` builds them, others in which apt installs them with what they depend on. Nothing of this
machine's installation is in a root, so a dependency that a package forgets is noticed.

    clean_root.py      some minutes; `make soak` calls it

It needs root, debootstrap, a network with the mirror that this machine's apt uses, and 3 GB in /tmp. If one of them
is missing it says so and exits with 77.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(ROOT / "packaging" / "pip")]
from dockerfile import Builder  # noqa: E402
from taskglass_build import contents, sdist  # noqa: E402

SUITE = "bookworm"  # the 12 of debian:12-slim
PROGRAM = """
import taskglass
execution = taskglass.run("vector_add", dump_tensor="full", output="/tmp/by-python")
print(len(list(execution.recording())), "records with", taskglass.version())
"""
PROJECT = """set -e
cd "$(mktemp -d)"
cc -std=c11 -Wall -Werror /use.c -o use $(pkg-config --cflags --libs taskglass)
./use
taskglass new first
cmake -S first -B first/build >/dev/null
cmake --build first/build >/dev/null
taskglass run first/build/first.so --dump-tensor
taskglass check
python3 -m pytest -q first --platform a5sim --dump-tensor
cp -R /usr/share/doc/libtaskglass-dev/examples/vector_add .
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(mine LANGUAGES C)
find_package(Taskglass REQUIRED)
add_subdirectory(vector_add)
END
cmake -B build >/dev/null
cmake --build build >/dev/null
taskglass run build/vector_add/vector_add.so
"""


def leave(why):
    print(f"skipped: {why}")
    sys.exit(77)


def mirror():
    """Where this machine's apt gets Debian's packages from."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)",
                             "Created-By: Packages"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            check=False).stdout
    found = [line.split(" ")[3] for line in listed.splitlines() if line.startswith(f"Debian {SUITE} main ")]
    return found[0] if found else leave(f"this machine's apt has no mirror of Debian {SUITE} (or needs apt-get update)")


def say(text, began=time.monotonic()):
    print(f"clean root: {time.monotonic() - began:4.0f} s: {text}", flush=True)


def make_base(folder):
    """A Debian with nothing but apt."""
    say("debootstrap")
    log = folder / "debootstrap.log"
    with open(log, "w") as out:
        done = subprocess.run(["debootstrap", "--variant=minbase", SUITE, folder / "base", mirror()], stdout=out,
                              stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        leave("debootstrap failed: " + log.read_text().strip().rpartition("\n")[2])
    return folder / "base"


def unpack_source(folder):
    """The files of the source tree, as docker build gets them from git archive."""
    name = sdist.write(str(folder))
    with tarfile.open(folder / name) as archive:
        archive.extractall(folder)
    return folder / name.removesuffix(".tar.gz")


def expect(condition, what):
    if not condition:
        raise SystemExit(f"clean root: FAILED: {what}")


def use_tools(stage):
    say("the program and the Python package, as a user")
    expect("vector_add" in stage.started("list"), "list shows no vector_add")
    said = stage.started("run", "matmul_chain", "--dump-tensor", "--output", "/tmp/run")
    expect("ok" in said, said)
    stage.started("check", "/tmp/run")
    said = stage.run(["python3", "-c", PROGRAM])
    expect(contents.version() in said, said)
    expect(stage.run(["id", "-un"]).strip() == "taskglass", "the image's user is root")
    expect("taskglass" in stage.started(), "the image says nothing about itself")


def use_pip(stage):
    """In the root in which the packages were built, as a developer: from the source, and without a network."""
    say("pip install . in a virtual environment")
    stage.run(["apt-get", "install", "-y", "--no-install-recommends", "python3-venv", "python3-numpy"])
    said = stage.run(["sh", "-c", "python3 -m venv --system-site-packages '/an environment' && "
                      "'/an environment/bin/pip' install . && cd / && '/an environment/bin/taskglass' --version && "
                      "'/an environment/bin/taskglass' run vector_add --output /tmp/by-pip && "
                      "'/an environment/bin/python' -c 'import taskglass; print(taskglass.run(\"vector_add\"))'"],
                     offline=True)
    expect(f"taskglass {contents.version()}" in said, said)


def use_dev(stage):
    say("a program, a workload and an example with the dev package, as a user")
    shutil.copy(ROOT / "tests/install/use.c", stage.inside("use.c"))
    said = stage.run(["bash", "-c", PROJECT])
    expect(f"library {contents.version()}, headers {contents.version()}" in said, said)


def purge(stage):
    say("purging leaves nothing")
    stage.inside("use.c").unlink()
    stage.run(["sh", "-c", "rm -rf /tmp/* && python3 -c 'import taskglass.recording' && "
               "apt-get purge -y '*taskglass*' && userdel -r taskglass"], user="")
    left = stage.run(["find", "/", "-xdev", "-name", "*taskglass*", "-not", "-path", "/proc/*"], user="").split()
    expect(not left, f"purging leaves {left}")


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--base", type=pathlib.Path, help="a root that debootstrap has made before")
    options.add_argument("--keep", action="store_true", help="keep the folder with the roots")
    request = options.parse_args()
    if os.geteuid() != 0:
        leave("only root can make a root")
    if not shutil.which("debootstrap"):
        leave("there is no debootstrap")
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                      capture_output=True, check=False).returncode != 0:
        leave("this machine lets nobody mount")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="taskglass_test_root_"))
    try:
        builder = Builder({"debian:12-slim": request.base or make_base(folder)}, unpack_source(folder), folder, say)
        stages = builder.build(ROOT / "packaging/docker/Dockerfile")
        use_tools(stages["tools"])
        use_pip(stages["build"])
        use_dev(stages["dev"])
        purge(stages["dev"])
        say("all is well")
    finally:
        if request.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
