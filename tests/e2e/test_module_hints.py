# SPDX-License-Identifier: Apache-2.0
"""A user who names something else than the module reads what to type instead."""

import json
import pathlib
import shlex
import shutil
import subprocess

import pytest

from conftest import one_line, workload
from platforms import GPU, SANITIZED

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"


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


def test_the_hint_cuts_no_word_of_the_reason(tg, here):
    here.module("mine.so")
    here.file("mine.cubin")
    assert "it does not begin with an ELF header; a cubin holds" in refused(tg, "./mine.cubin")


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


SOURCE = """
#include <taskglass/workload.h>
#include <taskglass/orchestration.h>
TG_KERNEL(scale) { TG_ARG(ctx, 1, float)[0] = TG_ARG(ctx, 0, const float)[0]; }
TG_ORCHESTRATION(orchestrate)
{
    struct tg_args a;
    tg_args_init(&a);
    tg_args_in(&a, args->tensor[0]);
    tg_args_out(&a, args->tensor[1]);
    tg_submit(rt, KERNEL, &a);
}
static const struct tg_kernel_def kernels[] = {{"scale", scale, TG_EITHER, "in:float32 out:float32"}};
static const struct tg_case_def cases[] = {{"only", "one case", ""}};
extern void elsewhere(struct tg_case *c);
static void prepare(struct tg_case *c)
{
    int64_t n = 1;
    tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &n);
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &n);
}
static void golden(struct tg_case *c) { GOLDEN; }
WORKLOAD = {TG_WORKLOAD_HEAD, .name = "first", .summary = "a first try", .kernels = kernels, .n_kernels = 1,
            .cases = cases, .n_cases = CASES, .orchestrate = orchestrate, .orchestrate_site = TG_SITE,
            .prepare = prepare, .golden = golden};
"""
FIRST = {"KERNEL": "0", "GOLDEN": 'tg_case_expect(c, "y", 0, 0)', "CASES": "1", "WORKLOAD": "TG_WORKLOAD"}


@pytest.mark.skipif(GPU or SANITIZED or not shutil.which("cc"), reason="compiles a plain module for processes")
@pytest.mark.parametrize("mistake,words", [
    ({}, None),
    ({"KERNEL": "3"}, "no kernel 3; the module has 1 kernel, numbered from 0"),
    ({"GOLDEN": "(void)c"}, 'call tg_case_expect(c, "y", atol, rtol)'),
    ({"GOLDEN": "elsewhere(c)"}, "undefined symbol: elsewhere; link the source file"),
    ({"CASES": "0"}, ".cases = cases, .n_cases = 1"),
    ({"WORKLOAD": "const struct tg_workload mine"}, "define it with TG_WORKLOAD ="),
])
def test_the_first_mistakes_of_an_own_workload_say_what_to_write(tg, here, mistake, words):
    here.file("first.c", SOURCE.encode())
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", "first.so", "first.c",
                    *(f"-D{name}={value}" for name, value in {**FIRST, **mistake}.items())],
                   cwd=here.folder, check=True)
    if words is None:
        tg.good("run", "./first.so")
    else:
        assert words in refused(tg, "./first.so")


@pytest.mark.skipif(not shutil.which("cc"), reason="no compiler")
def test_a_program_in_the_place_of_a_module_says_how_modules_are_linked(tg, here):
    here.file("main.c", b"int main(void) { return 0; }")
    subprocess.run(["cc", "-fPIE", "-pie", "-o", "first", "main.c"], cwd=here.folder, check=True)
    assert "cc -shared" in refused(tg, "./first")
