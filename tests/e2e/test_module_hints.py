# SPDX-License-Identifier: Apache-2.0
"""A user who names something else than the module reads what to type instead."""

import json
import shlex
import shutil

import pytest

from conftest import one_line, workload


@pytest.fixture
def here(tg):
    """The folder in which commands run, with a function that puts a module there."""
    class Here:
        folder = tg.directory

        def module(self, name):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(workload("mistakes"), path)

        def file(self, name, content=b"nothing"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return Here()


def refused(tg, typed):
    result = tg("run", typed)
    assert result.returncode == 2 and one_line(result.stderr) and result.stdout == "", result
    return result.stderr


def follow(tg, said):
    """Types what the message says after 'taskglass run'."""
    words = shlex.split(said.partition("taskglass run ")[2])
    assert len(words) == 1, said
    tg.good("run", *words)
    return words[0]


@pytest.mark.parametrize("module,typed,right", [
    ("mine.so", "mine", "./mine.so"),
    ("mine.so", "./mine", "./mine.so"),
    ("build/mine.so", "mine", "build/mine.so"),
    ("build/mine.so", "./mine.so", "./build/mine.so"),
    ("build/mine.so", "build/mine", "build/mine.so"),
    ("a b/mine.so", "a b/mine", "a b/mine.so"),
    ("mine.so", "mine.cubin", "./mine.so"),
    ("mine.so", "./mine.cubin", "./mine.so"),
    ("mine.so", "mine.c", "./mine.so"),
    ("build/mine.so", "./mine.c", "./build/mine.so"),
    ("build/mine.so", "src/mine.cpp", "src/../build/mine.so"),
    ("build/mine.so", "build", "build/mine.so"),
    ("build/mine.so", ".", "./build/mine.so"),
    ("project/build/mine.so", "project/", "project/build/mine.so"),
])
def test_the_module_that_was_meant_is_named(tg, here, module, typed, right):
    here.module(module)
    if "." in typed.rpartition("/")[2] and not typed.endswith((".so", ".")):
        here.file(typed)
    assert follow(tg, refused(tg, typed)) == right


def test_a_cubin_without_its_module_says_which_file_is_missing(tg, here):
    here.file("mine.cubin")
    said = refused(tg, "./mine.cubin")
    assert "./mine.so, which is not there" in said


@pytest.mark.parametrize("typed,words", [("mine.c", "compile it first: cc -g"), ("mine.o", "link it: cc -shared"),
                                         ("./mine.py", "python3")])
def test_a_file_of_another_kind_says_what_to_do_with_it(tg, here, typed, words):
    here.file(typed)
    assert words in refused(tg, typed)


def test_a_folder_of_several_modules_or_none_says_so(tg, here):
    here.module("two/b.so")
    here.module("two/a.so")
    said = refused(tg, "two")
    assert "several modules" in said and follow(tg, said) == "two/a.so"
    (here.folder / "empty").mkdir()
    assert "a folder without a module" in refused(tg, "./empty")


def test_a_name_that_is_nothing_lists_the_workloads(tg):
    assert "vector_add" in refused(tg, "vector_ad")


def test_a_program_gets_the_hint_too(tg, here):
    here.module("mine.so")
    result = tg("run", "mine", "--json")
    assert result.returncode == 2
    assert "taskglass run ./mine.so" in json.loads(result.stdout)["error"]["text"]
