# SPDX-License-Identifier: Apache-2.0
"""taskglass new: what it makes builds, runs and passes; what it refuses."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, PLATFORMS, PROGRAM, TIMEOUT, Runner, clean_environment, one_line
from platforms import GPU
from test_columns import Terminal, lines_of

RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
FILES = {"kernels.c", "orchestrate.c", "cases.c", "kernels.h", "CMakeLists.txt", "README.md", ".gitignore"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A workload that was made, built and not changed; the commands are those that `new` prints."""
    folder = tmp_path_factory.mktemp("new")
    document = Runner(folder).json("new", "my-model")
    home = Runner(folder / "my-model")
    said = ""
    for command in document["commands"][:2]:
        # nvcc takes long; only runs on a GPU need what it makes.
        command += " -DTASKGLASS_CUDA=OFF" if " -B " in command and not GPU else ""
        result = subprocess.run(command, shell=True, cwd=home.directory, env=clean_environment(), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT)
        assert result.returncode == 0, result.stdout
        said += result.stdout
    home.said, home.document = said, document
    return home


def test_it_says_what_it_made(made):
    assert list(made.document) == ["name", "folder", "files", "commands"]
    assert made.document["name"] == "my_model" and made.document["folder"] == "my-model"
    assert set(made.document["files"]) == FILES
    assert FILES == {path.name for path in made.directory.iterdir()} - {"build"}


def test_it_builds_without_a_warning(made):
    assert "warning" not in made.said.lower()


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_case_passes(made, tmp_path, platform, runtime):
    for case in ("small", "large", "ragged"):
        out = tmp_path / case
        made.good("run", "build/my_model.so", "--platform", platform, "--runtime", runtime, "--case", case,
                  "--dump-tensor", "--output", out)
        made.good("check", out)


def test_each_task_has_a_reference(made, tmp_path):
    made.good("run", "build/my_model.so", "--dump-tensor", "--output", tmp_path / "out")
    document = json.loads(made.good("check", tmp_path / "out", "--json").stdout)
    assert {kernel["kernel"] for kernel in document["kernels"]} == {"my_model_scale", "my_model_add"}


def test_nothing_of_the_template_stays(made):
    for path in made.directory.iterdir():
        if path.is_file():
            assert not re.search("workload_name|SPDX|@[A-Z]+@", path.read_text(), re.I), path


NAMES_OF_SOURCES = ("reference", "references", "kernels", "cases", "golden", "prepare", "fill", "tg", "x")


@pytest.mark.parametrize("name", NAMES_OF_SOURCES)
def test_a_name_that_the_sources_use_makes_no_conflict(tg, name):
    tg.good("new", name)
    include = pathlib.Path(__file__).parents[2] / "include"
    for file in ("cases.c", "kernels.c", "orchestrate.c"):
        result = subprocess.run(["cc", "-std=c11", "-fsyntax-only", f"-I{include}", file],
                                cwd=tg.directory / name, capture_output=True, text=True, timeout=TIMEOUT)
        assert result.returncode == 0, result.stderr


def test_the_readme_has_the_commands(made):
    text = (made.directory / "README.md").read_text()
    assert all(f"\n{command}\n" in text for command in made.document["commands"])


def test_people_read_what_to_type(tg):
    said = tg.good("new", "mine").stdout
    assert all(name in said for name in FILES)
    assert re.search(r"^  cd mine$", said, re.M) and re.search(r"^  cmake --build build$", said, re.M)


def test_the_commands_name_the_runtime(tg):
    commands = tg.json("new", "mine", "--runtime", "tensormap_and_ringbuffer")["commands"]
    assert "build/mine.so --runtime tensormap_and_ringbuffer --dump-tensor" in commands[2]


def test_the_commands_name_an_installation_that_cmake_does_not_find(tg):
    commands = tg.json("new", "mine")["commands"]
    assert commands[0] == f"cmake -B build -DCMAKE_PREFIX_PATH={BUILD}"
    assert commands[2].startswith(f"{PROGRAM} run ")
    path = f"{BUILD / 'bin'}:{os.environ['PATH']}"
    commands = tg.json("new", "other", env={"PATH": path})["commands"]
    assert commands[0] == "cmake -B build" and commands[2].startswith("taskglass run ")


@pytest.mark.parametrize("folder", ["made", "a/b/c", "with space", "there/"])
def test_the_folder_can_be_another(tg, folder):
    (tg.directory / "there").mkdir()
    assert tg.json("new", "mine", "--output", folder)["folder"] == folder
    assert FILES == {path.name for path in (tg.directory / folder).iterdir()}
    assert "mine_scale" in (tg.directory / folder / "kernels.c").read_text()


@pytest.mark.parametrize("name, said", [
    ("", "is empty"),
    ("a/b", "type: taskglass new b --output a/b"),
    ("a b/c", "type: taskglass new c --output 'a b/c'"),
    ("a/", "is a path"),
    ("1st", "must begin with a letter"),
    ("_x", "must begin with a letter"),
    ("a b", "other characters"),
    ("größe", "other characters"),
    ("a.b", "other characters"),
    ("a\nb", "other characters"),
    ("x" * 61, "more than 60"),
    ("int", "is a word of C"),
    ("class", "is a word of C"),
    ("test", "CMake"),
    ("all", "CMake"),
    ("INSTALL", "CMake"),
    ("m", "CMake"),
])
def test_a_name_that_cannot_be_used_is_refused(tg, name, said):
    result = tg("new", name)
    assert result.returncode == 2 and said in result.stderr and one_line(result.stderr)
    assert not list(tg.directory.iterdir())


def test_a_name_is_needed(tg):
    result = tg("new")
    assert result.returncode == 2 and "taskglass new NAME" in result.stderr and one_line(result.stderr)


def test_a_second_name_is_refused(tg):
    result = tg("new", "a", "b")
    assert result.returncode == 2 and one_line(result.stderr) and not list(tg.directory.iterdir())


def test_a_folder_that_is_not_empty_is_left_alone(tg):
    (tg.directory / "mine").mkdir()
    (tg.directory / "mine" / "cases.c").write_text("precious")
    result = tg("new", "mine")
    assert result.returncode == 2 and "is not empty" in result.stderr and one_line(result.stderr)
    assert [path.name for path in (tg.directory / "mine").iterdir()] == ["cases.c"]
    assert (tg.directory / "mine" / "cases.c").read_text() == "precious"


@pytest.mark.parametrize("kind", ["file", "link", "fifo"])
def test_something_else_in_place_of_the_folder_is_left_alone(tg, kind):
    path = tg.directory / "mine"
    {"file": lambda: path.write_text("x"), "link": lambda: path.symlink_to("nowhere"),
     "fifo": lambda: os.mkfifo(path)}[kind]()
    result = tg("new", "mine")
    assert result.returncode == 2 and one_line(result.stderr)
    assert [entry.name for entry in tg.directory.iterdir()] == ["mine"] and not path.is_dir()


def test_a_parent_that_is_a_file_is_refused(tg):
    (tg.directory / "file").write_text("x")
    result = tg("new", "mine", "--output", "file/mine")
    assert result.returncode == 2 and "Not a directory" in result.stderr and one_line(result.stderr)


def test_an_unknown_runtime_is_refused(tg):
    result = tg("new", "mine", "--runtime", "fast")
    assert result.returncode == 2 and "host_build_graph" in result.stderr and one_line(result.stderr)
    assert not list(tg.directory.iterdir())


def test_a_full_disk_leaves_nothing(tg):
    """With a limit of 200 bytes a file, the first source does not fit."""
    result = tg("new", "mine", prefix=("prlimit", "--fsize=200"))
    assert result.returncode == 2 and one_line(result.stderr) and not list(tg.directory.iterdir())


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_commands_on_a_terminal_fit_and_can_be_copied(tg, columns):
    """A path stays whole, and with " \\" at its end."""
    name = "a_name_that_makes_the_commands_long"
    lines = lines_of(tg.directory, ["new", name], columns)
    assert [line for line in lines if len(line) > columns and not re.fullmatch(r"\s*\S*/\S*( \\)?", line)] == []
    commands = tg.json("new", name, "--output", "again")["commands"]
    typed = re.sub(r" \\\n +", " ", "\n".join(lines)).split("\n")
    assert [command for command in commands if f"  {command}" not in typed] == []


def test_a_command_is_not_broken_within_quotes(tg, monkeypatch):
    """The folder of the program has blanks in its name."""
    place = tg.directory / "a place with some blanks"
    (place / "bin").mkdir(parents=True)
    shutil.copy2(PROGRAM, place / "bin" / "taskglass")
    (place / "lib").symlink_to(BUILD / "lib")
    monkeypatch.setattr(sys.modules[Terminal.__module__], "PROGRAM", place / "bin" / "taskglass")
    lines = lines_of(tg.directory, ["new", "mine"], 40)
    assert f"      -DCMAKE_PREFIX_PATH='{place}'" in lines and f"  '{place}/bin/taskglass' \\" in lines
