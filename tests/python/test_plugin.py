# SPDX-License-Identifier: Apache-2.0
"""The plugin of pytest, on a workload that `taskglass new` makes, as users run it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import pytest
import taskglass
from taskglass import _culprit, _module_file, pytest_plugin

from conftest import BUILD, GPU, PACKAGE, PROGRAM, TEST_WORKLOADS, TIMEOUT, command

pytest_plugins = ["pytester"]
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
pytestmark = [pytest.mark.skipif(GPU, reason="the workload of these tests has no code for a GPU"),
              pytest.mark.skipif(SANITIZED, reason="Python alone, and an interpreter with sanitizers is slow")]

HBG = "[a2a3sim-host_build_graph]"


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """Modules of a new workload: as it is, with a wrong kernel, and wrong without references."""
    if not shutil.which("cmake") or not shutil.which("cc"):
        pytest.skip("no CMake or no C compiler here")
    folder = tmp_path_factory.mktemp("modules")
    subprocess.run([PROGRAM, "new", "mine"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    made = {"good": build(folder)}
    kernels = folder / "mine" / "kernels.c"
    kernels.write_text(kernels.read_text().replace("y[i] = t[i] + b[i];", "y[i] = t[i] + b[i] + 1;"))
    assert "+ 1;" in kernels.read_text()
    made["wrong"] = build(folder)
    cases = folder / "mine" / "cases.c"
    text = re.sub(r"\n    \.(n_)?references = [^\n]*", "", cases.read_text())
    text = text.replace("static const struct tg_reference_def", "const struct tg_reference_def")
    cases.write_text(text)
    made["unchecked"] = build(folder)
    return made


def build(folder):
    for arguments in (["-S", "mine", "-B", "build", f"-DCMAKE_PREFIX_PATH={BUILD}"], ["--build", "build"]):
        done = subprocess.run(["cmake", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env={**os.environ, "LD_PRELOAD": ""})
        assert done.returncode == 0, done.stdout
    return (folder / "build" / "mine.so").read_bytes()


@pytest.fixture
def mine(modules, pytester):
    """Puts a module where CMake puts it: mine/build/mine.so beside mine/CMakeLists.txt."""
    def put(kind, where="mine/build/mine.so"):
        path = pytester.path / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(modules[kind])
        (pytester.path / "mine").mkdir(exist_ok=True)
        (pytester.path / "mine" / "CMakeLists.txt").write_text("# here\n")
        return path
    return put


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs pytest with the plugin in an empty folder; returns its exit code and what it prints. It runs in
    this process, because starting another one for each test would take most of the time."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments):
        done = pytester.runpytest_inprocess("-p", "taskglass.pytest_plugin", "-p", "no:cacheprovider", "-p",
                                            "no:xdist", *map(str, arguments))
        return done.ret, "\n".join(done.outlines + done.errlines) + "\n"
    return call


def ids(printed):
    return re.findall(r"^\S*\.so::\S+$", printed, re.M)


# --- collecting ---------------------------------------------------------------------------------

def test_the_cases_of_a_module_are_tests(mine, run):
    mine("good")
    code, printed = run("mine/", "-q")
    assert code == 0 and "3 passed" in printed
    assert f"mine/build/mine.so::small{HBG} PASSED" in run("mine/", "-v")[1]
    code, printed = run("mine/", "-q", "--collect-only")
    assert ids(printed) == [f"mine/build/mine.so::{case}{HBG}" for case in ("small", "large", "ragged")]
    assert not pathlib.Path("outputs").exists()


def test_platforms_and_runtimes_are_chosen_as_for_run(mine, run, monkeypatch):
    mine("good", "mine/mine.so")
    (pathlib.Path("mine") / "CMakeLists.txt").unlink()
    code, printed = run("mine/", "-q", "--collect-only", "-k", "small", "--platform", "a5sim", "--platform",
                        "a2a3sim", "--runtime", "all")
    names = [each.name for each in taskglass.runtimes()]
    assert ids(printed) == [f"mine/mine.so::small[{platform}-{runtime}]" for platform in ("a5sim", "a2a3sim")
                            for runtime in names]
    monkeypatch.setenv("TASKGLASS_PLATFORM", "a5sim")
    code, printed = run("mine/", "-q", "--collect-only")
    assert all(each.endswith("[a5sim-host_build_graph]") for each in ids(printed)) and len(ids(printed)) == 3
    for wrong, why in (("--platform=a9", "unknown platform 'a9'; platforms are"), ("--runtime=x", "unknown runtime"),
                       ("--dump-tensor=loud", "unknown level 'loud'")):
        code, printed = run("mine/", wrong)
        assert code == 4 and why in printed


def test_one_case_is_run_by_its_name(mine, run):
    mine("good")
    code, printed = run(f"mine/build/mine.so::ragged{HBG}", "-q")
    assert code == 0 and "1 passed" in printed
    code, printed = run("mine", "-q", "-k", "ragged or small", "-m", "taskglass")
    assert "2 passed, 1 deselected" in printed
    code, printed = run("mine", "-q", "-m", "not taskglass")
    assert "3 deselected" in printed


def test_a_module_that_is_named_twice_is_collected_once(mine, run):
    mine("good")
    assert len(ids(run("mine", "mine/build", "mine/build/mine.so", "-q", "--collect-only")[1])) == 3
    assert len(ids(run("mine/build", "-q", "--collect-only")[1])) == 3


def test_only_modules_of_workloads_are_collected(mine, pytester, run):
    good = mine("good").read_bytes()
    folder = pytester.path / "mine"
    (folder / "text.so").write_text("not a module")
    (folder / "empty.so").touch()
    os.mkfifo(folder / "pipe.so")
    (folder / "folder.so").mkdir()
    (folder / "link.so").symlink_to("/no/such/file.so")
    shutil.copy(BUILD / "lib" / "libtaskglass.so", folder / "library.so")
    for size in (40, 70, 1000, 3000):
        (folder / f"cut{size}.so").write_bytes(good[:size])
    code, printed = run("mine/", "-q", "--collect-only")
    assert {each.partition("::")[0] for each in ids(printed)} == {"mine/build/mine.so"}, printed
    assert code == 0 and "3 tests collected" in printed


def compiled(folder, text):
    """The module here.so of a source."""
    path, source = folder / "here.so", folder / "here.c"
    source.write_text(text)
    include = next(each for each in (PACKAGE.parents[1] / "include", BUILD / "include") if each.exists())
    compiler = shutil.which("cc") or pytest.skip("no C compiler here")
    subprocess.run([compiler, "-shared", "-fPIC", "-I", include, "-o", path, source], check=True,
                   env={**os.environ, "LD_PRELOAD": ""})
    return path


def test_collecting_runs_no_code_of_a_module(pytester, run):
    path = compiled(pytester.path, """#include <stdio.h>
#include <taskglass/workload.h>
static const struct tg_case_def cases[] = {{"one", "", ""}, {"two", "", "n=3"}};
TG_WORKLOAD = {TG_WORKLOAD_HEAD, .name = "here", .cases = cases, .n_cases = 2};
__attribute__((constructor)) static void begin(void)
{
    FILE *file = fopen("LOADED", "w");
    if (file)
        fclose(file);
}
""")
    code, printed = run(".", "-q", "--collect-only")
    assert ids(printed) == [f"here.so::one{HBG}", f"here.so::two{HBG}"]
    assert not pathlib.Path("LOADED").exists()
    assert [case.params for case in _module_file.read_cases(path)] == ["", "n=3"]


def test_a_module_that_must_be_loaded_and_hangs_is_an_error_of_collection(pytester, run, monkeypatch):
    compiled(pytester.path, """#include <taskglass/workload.h>
#include <unistd.h>
static struct tg_case_def cases[1];
TG_WORKLOAD = {TG_WORKLOAD_HEAD, .name = "here", .cases = cases, .n_cases = 1};
__attribute__((constructor)) static void begin(void)
{
    cases[0].name = "only";
    for (;;)
        pause();
}
""")
    monkeypatch.setenv("TASKGLASS_TIMEOUT", "0.2")
    code, printed = run(".", "-q")
    assert code == 2 and re.search("a constructor of module '.*here.so' did not return within 0.2 s", printed)
    assert "Traceback" not in printed


def test_a_name_that_is_the_end_of_another_is_found(tmp_path):
    """Linkers store such names once; a build with sanitizers has __odr_asan.tg_workload."""
    compiler = shutil.which("cc") or pytest.skip("no C compiler here")
    (tmp_path / "ends.c").write_text("""#include <taskglass/workload.h>
static const struct tg_case_def cases[] = {{"one", "", ""}};
TG_WORKLOAD = {TG_WORKLOAD_HEAD, .name = "ends", .cases = cases, .n_cases = 1};
int a_longer_tg_workload = 1;
""")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wl,-O2", "-I", PACKAGE.parents[1] / "include", "-o",
                    tmp_path / "ends.so", tmp_path / "ends.c"], check=True)
    assert _module_file.is_workload(tmp_path / "ends.so")
    assert [case.name for case in _module_file.read_cases(tmp_path / "ends.so")] == ["one"]


def test_cases_are_read_as_the_library_reads_them():
    compared = 0
    for path in sorted((BUILD / "lib" / "taskglass" / "workloads").glob("*.so")) + sorted(
            TEST_WORKLOADS.glob("*.so"))[:20]:
        assert _module_file.is_workload(path), path
        found = [(case.name, case.summary) for case in _module_file.read_cases(path)]
        assert found == [(case.name, case.summary) for case in taskglass.workload(path).cases], path
        compared += 1
    assert compared > 10


def test_damaged_modules_are_read_without_harm(modules, tmp_path):
    data = bytearray(modules["good"])
    path = tmp_path / "damaged.so"
    for seed in range(100):
        changed = bytearray(data)
        for at in range(seed % 7 + 1):
            place = (seed * 7919 + at * 104729) % (4096 if seed % 2 else len(changed))
            changed[place] = (seed * 31 + at * 17) % 256
        path.write_bytes(changed)
        _module_file.is_workload(path)
        _module_file.read_cases(path)


def test_a_module_without_cases_is_an_error_of_collection(pytester, run):
    shutil.copy(TEST_WORKLOADS / "broken" / "no_case.so", pytester.path)
    code, printed = run(".", "-q")
    assert code == 2 and "a table of 0 cases leaves nothing to run" in printed and "Traceback" not in printed


# --- failing ------------------------------------------------------------------------------------

def test_a_failure_names_the_first_wrong_task_of_a_second_run(mine, run):
    mine("wrong")
    code, printed = run("mine/", "-k", "small")
    assert code == 1
    assert "MISMATCH: output 'y' differs in 1024 of 1024 elements, first at 0" in printed
    assert "in a second run of the case, recorded because the first was not" in printed
    assert "first wrong task: task 1, kernel mine_add, argument 2: 256 elements differ" in printed
    assert (f"repeat   taskglass run mine/build/mine.so --case small --platform a2a3sim --runtime "
            "host_build_graph\n") in printed
    assert f"FAILED mine/build/mine.so::small{HBG} - MISMATCH: output 'y'" in printed
    files = pathlib.Path(re.search(r"^  files    (\S+)$", printed, re.M).group(1))
    assert json.loads((files / "run.json").read_text())["result"]["status"] == "MISMATCH"
    recording = re.search(r"^  advice   taskglass check (\S+)$", printed, re.M).group(1)
    assert "mine_add" in command("check", recording, check=False)
    assert "Traceback" not in printed and not pathlib.Path("outputs").exists()


def test_a_failure_is_one_line_if_that_is_wanted(mine, run):
    path = mine("wrong")
    code, printed = run("mine/", "-k", "small", "--tb=line", "--taskglass-once")
    assert code == 1 and f"\n{path}: MISMATCH: output 'y' differs in 1024 of 1024 elements" in printed


def test_one_wrong_element_and_one_task_are_no_plural():
    wrong = taskglass.CheckedTask(task=3, kernel="add", verdict="differs", argument=2, mismatches=1, first=17,
                                  got=0.5, expected=2.0)
    checked = taskglass.Check({"agrees": 0, "differs": 1, "no reference": 1}, tasks=(wrong,))
    assert list(_culprit._said(checked)) == [
        "first wrong task: task 3, kernel add, argument 2: element 17 differs: 0.5, reference 2",
        "1 task was not checked: its kernel has no reference"]


def test_a_recorded_failure_needs_no_second_run(mine, run):
    mine("wrong")
    code, printed = run("--platform", "a5sim", "--runtime", "aicpu_build_graph", "--dump-tensor", "mine/", "-x")
    assert code == 1 and "second run" not in printed and "1 failed" in printed
    assert "first wrong task: task 1, kernel mine_add" in printed
    made, = pathlib.Path("outputs").iterdir()
    assert made.name.startswith("mine_small_a5sim_aicpu_build_graph_")
    assert f"files    outputs/{made.name}" in printed
    with taskglass.Recording() as newest:
        assert newest.name == made.name and newest.level == "full"


def test_a_level_is_taken_as_run_takes_it(mine, run):
    mine("good")
    for options in (["--dump-tensor=hash"], ["--dump-tensor", "hash"]):
        shutil.rmtree("outputs", ignore_errors=True)
        assert run("mine", "-q", "-k", "small", *options)[0] == 0
        with taskglass.Recording() as recording:
            assert recording.level == "hash"


def test_without_references_the_writer_of_the_wrong_element_is_named(mine, run):
    mine("unchecked")
    code, printed = run("mine/", "-k", "ragged", "--dump-tensor")
    assert "were not checked: their kernels have no reference" in printed
    assert "element 0 of output y was last written by task 1, kernel mine_add, argument 2" in printed
    code, printed = run("mine/", "-k", "ragged", "--taskglass-once")
    assert "second run" not in printed and "--dump-tensor records the run" in printed


def test_what_a_module_does_ends_its_own_process(pytester, run):
    shutil.copy(TEST_WORKLOADS / "faults.so", pytester.path)
    code, printed = run(".", "-k", "null and not nulls and not mix_null")
    assert code == 1 and "1 failed" in printed
    assert re.search(r"^KERNEL_FAULT: task 3, kernel fault_null", printed, re.M)
    assert "  advice   check the kernel's bounds and pointers" in printed


def test_what_a_runtime_cannot_do_is_skipped(run):
    path = BUILD / "lib" / "taskglass" / "workloads" / "moe.so"
    code, printed = run(path, "-rs", "-k", "small", "--runtime", "all", "--platform", "a5sim")
    assert code == 0 and "host_build_graph cannot read a result" in printed
    assert re.search(r"2 passed, 1 skipped", printed) or re.search(r"passed.*skipped", printed)


# --- beside other plugins -----------------------------------------------------------------------

def test_reports_for_other_programs(mine, run):
    mine("wrong")
    run("mine", "-q", "--junitxml=report.xml", "-k", "small")
    case = xml.etree.ElementTree.parse("report.xml").getroot().find(".//testcase")
    assert case.get("name") == f"small{HBG}"
    assert case.find("failure").get("message").startswith("MISMATCH: output 'y'")
    assert "first wrong task: task 1, kernel mine_add" in case.find("failure").text
    named = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert named["platform"] == "a2a3sim" and named["runtime"] == "host_build_graph" and named["output_dir"]


def test_another_option_of_the_same_name_keeps_it(mine, run):
    mine("good")
    pathlib.Path("conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--platform', default='theirs')\n")
    pathlib.Path("test_theirs.py").write_text(
        "def test_it(request):\n    assert request.config.getoption('--platform') == 'x'\n")
    code, printed = run(".", "--platform", "x", "--taskglass-platform", "a5sim", "-v", "-k", "small or it")
    assert code == 0 and "small[a5sim-host_build_graph] PASSED" in printed and "test_it PASSED" in printed
    assert "taskglass: --platform belongs to another plugin or conftest here" in printed


def test_fixtures_open_devices(run):
    pathlib.Path("test_own.py").write_text("""
import numpy

def test_sum(tg_device):
    x, y = tg_device.array(numpy.ones(4, "f4")), tg_device.empty(4)
    with tg_device.load("vector_add").graph() as graph:
        graph.add("vector_add_tile", x, x, y)
        graph.run()
    assert (y.numpy() == 2).all()
""")
    code, printed = run(".", "-v", "--platform", "a5sim", "--platform", "a2a3sim")
    assert code == 0 and "test_sum[a5sim] PASSED" in printed and "test_sum[a2a3sim] PASSED" in printed


def test_several_workers_share_the_cases(mine):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed (Debian: python3-pytest-xdist)")
    mine("good")
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "taskglass.pytest_plugin", "-p",
                           "no:cacheprovider", "-n", "2", "-q", "mine", "--dump-tensor"], stdout=subprocess.PIPE,
                          text=True, timeout=TIMEOUT, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout
    assert len(list(pathlib.Path("outputs").iterdir())) == 3


def test_the_levels_of_the_option_are_those_of_the_library():
    known = next(each.choices for each in taskglass.settings() if each.name == "dump-tensor")
    assert sorted(pytest_plugin.LEVELS) == sorted(known)


def test_the_plugin_is_found_where_the_package_is_installed():
    text = (PACKAGE / "dist-info" / "entry_points.txt").read_text()
    assert "[pytest11]\ntaskglass = taskglass.pytest_plugin\n" in text
