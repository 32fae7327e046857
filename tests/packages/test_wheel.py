# SPDX-License-Identifier: Apache-2.0
"""The wheel: its files, and what a user does with it in a virtual environment."""

import base64
import csv
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest
from taskglass_build import contents
from taskglass_build.wheel import Wheel, platform_tag

from conftest import BUILD, ROOT, environment, look_at_page, offline, say

WHEEL = f"taskglass-{contents.version()}-py3-none-{platform_tag()}.whl"


def has_venv():
    return subprocess.run([sys.executable, "-c", "import ensurepip, venv"], capture_output=True,
                          check=False).returncode == 0


pytestmark = pytest.mark.skipif(not has_venv(), reason="no venv: Debian's package is python3-venv")


@pytest.fixture(scope="session")
def venv(room):
    folder = room / "environment"
    say([sys.executable, "-m", "venv", "--system-site-packages", folder], cwd=room, env=environment(room))
    return folder


@pytest.fixture(scope="session")
def wheel(room, venv):
    """Made by pip from the tests' build, without network."""
    say([*offline(), venv / "bin/pip", "wheel", ROOT, "--no-deps", "--wheel-dir", room / "wheels",
         f"--config-settings=build-dir={BUILD}"], cwd=room, env=environment(room))
    assert os.listdir(room / "wheels") == [WHEEL]
    return room / "wheels" / WHEEL


@pytest.fixture(scope="session")
def installed(room, venv, wheel):
    """An environment with the wheel that was moved after the installation."""
    say([*offline(), venv / "bin/pip", "install", wheel], cwd=room, env=environment(room))
    moved = room / "moved environment"
    shutil.copytree(venv, moved, symlinks=True)
    return moved


def used(room, installed, **more):
    """The variables of a user who activated the environment."""
    path = f"{installed / 'bin'}:{os.environ['PATH']}"
    return environment(room, PATH=path, **more)


def test_the_list_of_files_is_complete_and_right(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        record = next(name for name in names if name.endswith("/RECORD"))
        rows = list(csv.reader(archive.read(record).decode().splitlines()))
        assert [row[0] for row in rows[:-1]] == sorted(set(names) - {record})
        assert rows[-1] == [record, "", ""]
        for name, digest, size in rows[:-1]:
            data = archive.read(name)
            right = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (f"sha256={right}", len(data)), name


def test_it_holds_what_make_install_installs(wheel, room):
    """Except for what a wheel cannot hold (links) or what depends on the Python that installs it."""
    stage = room / "stage"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", stage], check=True, stdout=subprocess.DEVNULL,
                   env=environment(room))
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
    stem = f"taskglass-{contents.version()}"
    for path in stage.rglob("*"):
        if path.is_dir() or path.is_symlink() or path.name.startswith("libtaskglass.so"):
            continue
        name = path.relative_to(stage).as_posix().replace("lib/python3/dist-packages/", "")
        places = [name, f"{stem}.data/data/{name}", f"{stem}.data/scripts/{path.name}"]
        found = [place for place in places if place in names]
        assert found, name
        assert modes[found[0]] == (0o755 if path.stat().st_mode & 0o100 else 0o644), name
    assert f"{stem}.data/data/lib/libtaskglass.so.0" in names


def test_the_same_content_gives_the_same_bytes(tmp_path, monkeypatch):
    def write(folder, order):
        wheel = Wheel("a", "1", "py3-none-any")
        for name in order:
            wheel.add(name, name.encode())
        return (tmp_path / folder / wheel.write(str(tmp_path / folder))).read_bytes()

    first = write("first", ["b", "a", "c,d"])
    assert first == write("second", ["c,d", "a", "b"])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert first != write("third", ["a", "b", "c,d"])


def test_the_program_runs_from_an_environment_that_was_moved(installed, room):
    env = used(room, installed)
    assert say(["taskglass", "--version"], cwd=room, env=env).startswith(f"taskglass {contents.version()}\n")
    assert "vector_add" in say(["taskglass", "list"], cwd=room, env=env)
    say(["taskglass", "run", "matmul_chain", "--dump-tensor", "--output", "by-program"], cwd=room, env=env)
    say(["taskglass", "check", "by-program"], cwd=room, env=env)


@pytest.mark.skipif(not (BUILD / "lib/taskglass/taskglass-serve").exists(), reason="built without libmicrohttpd")
def test_the_server_runs_from_an_environment_that_was_moved(installed, room):
    env = used(room, installed)
    say(["taskglass", "run", "vector_add", "--dump-tensor", "--output", "served"], cwd=room, env=env)
    page, questions = look_at_page("served", cwd=room, env=env)
    assert "app.js" in page and questions


def test_the_package_loads_its_own_library(installed, room):
    said = say([installed / "bin/python", "-c",
                "import taskglass, importlib.metadata as m, taskglass._library as l\n"
                "print(taskglass.run('vector_add', dump_tensor='full', output='by-python').recording())\n"
                "print(l.lib().functions._name, m.version('taskglass'), sep='\\n')"],
               cwd=room, env=environment(room)).splitlines()
    assert pathlib.Path(said[-2]).resolve() == installed / "lib/libtaskglass.so.0"
    assert said[-1] == contents.version()


def test_a_project_finds_the_package_of_the_environment(installed, room):
    env = used(room, installed, PKG_CONFIG_PATH=str(installed / "lib/pkgconfig"),
               LD_LIBRARY_PATH=str(installed / "lib"))
    if BUILD.joinpath("lib/taskglass/cuda").exists():  # nvcc would compile the workload too, for long
        shutil.rmtree(installed / "lib/taskglass/cuda")
    say(["taskglass", "new", "mine"], cwd=room, env=env)
    say(["cmake", "-S", "mine", "-B", "mine/build"], cwd=room, env=env)
    say(["cmake", "--build", "mine/build"], cwd=room, env=env)
    say(["taskglass", "run", "mine/build/mine.so", "--output", "of-mine"], cwd=room, env=env)
    said = say([installed / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "mine", "--platform", "a5sim"],
               cwd=room, env=env)
    assert "3 passed" in said  # the plugin came with the wheel
    if shutil.which("pkg-config"):
        flags = say(["pkg-config", "--cflags", "--libs", "taskglass"], cwd=room, env=env).strip()
        say(["sh", "-c", f"{os.environ.get('CC', 'cc')} '{ROOT}/tests/install/use.c' -o use {flags} && ./use"],
            cwd=room, env=env)


def test_a_second_installation_replaces_the_first_and_removing_it_leaves_no_file(venv, wheel, installed, room):
    def files():
        return {path for path in venv.rglob("*") if "taskglass" in str(path.relative_to(venv))}

    before = files()
    say([venv / "bin/pip", "install", "--force-reinstall", "--no-deps", wheel], cwd=room, env=environment(room))
    assert files() == before
    say([venv / "bin/pip", "uninstall", "-y", "taskglass"], cwd=room, env=environment(room))
    assert files() == set()


def test_it_can_be_installed_under_another_prefix(venv, wheel, room):
    say([venv / "bin/pip", "install", "--no-deps", "--prefix", room / "prefix", wheel], cwd=room,
        env=environment(room))
    package = next((room / "prefix").rglob("py.typed")).parent
    said = say([sys.executable, "-c", "import taskglass, taskglass._library as l; print(l.lib().functions._name)"],
               cwd=room, env=environment(room, PYTHONPATH=str(package.parent)))
    assert pathlib.Path(said.strip()).resolve() == room / "prefix/lib/libtaskglass.so.0"
    say(["prefix/bin/taskglass", "run", "vector_add", "--output", "of-prefix"], cwd=room, env=environment(room))


def test_without_tools_one_line_says_what_to_install(venv, room):
    said = say([venv / "bin/pip", "install", ROOT], code=1, cwd=room,
               env=environment(room, PATH=str(venv / "bin"), CC=""))
    lines = [line.strip() for line in said.splitlines() if "taskglass:" in line]
    assert lines == ["taskglass: cannot build: there is no CMake and no C compiler and no make; on Debian type "
                     "'sudo apt-get install cmake gcc libc6-dev make'"]
    assert "Traceback" not in said


@pytest.mark.parametrize("setting, message", [
    ("colour=red", "taskglass: unknown config setting 'colour'; settings are build-dir, cmake-args"),
    ("build-dir=/nowhere", "taskglass: /nowhere is not a build folder; type 'make' first")])
def test_a_wrong_setting_is_one_line(venv, room, setting, message):
    said = say([venv / "bin/pip", "wheel", ROOT, "--no-deps", "--wheel-dir", room / "none",
                f"--config-settings={setting}"], code=1, cwd=room, env=environment(room))
    assert [line.strip() for line in said.splitlines() if "taskglass:" in line] == [message]
    assert "Traceback" not in said
