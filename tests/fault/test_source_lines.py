# SPDX-License-Identifier: Apache-2.0
"""The report of a crash or a hang names the source line, and never a wrong one."""

import json
import re
import shutil
import stat
import subprocess

import pytest

from conftest import HERE, PLATFORMS, SANITIZED, compiled
from platforms import GPU

SOURCE = HERE / "workloads" / "lines.c"
RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]
pytestmark = [
    pytest.mark.skipif(GPU, reason="a GPU does not report the line"),
    pytest.mark.skipif(not (shutil.which("addr2line") or shutil.which("llvm-addr2line")),
                       reason="no addr2line")]
# Sanitizers handle some of these signals themselves.
plain_only = pytest.mark.skipif(SANITIZED, reason="a sanitizer catches the signal first")


def line_of(word, mark="LINE"):
    lines = [number for number, text in enumerate(SOURCE.read_text().splitlines(), 1)
             if re.search(rf"/\* {mark} {word} \*/", text)]
    assert len(lines) == 1, (word, lines)
    return lines[0]


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """lines(flag, …): the module, compiled with these flags."""
    made = {}

    def make(*flags):
        if flags not in made:
            made[flags] = compiled("lines", tmp_path_factory.mktemp("lines"), *flags)
        return made[flags]
    return make


def fail(tg, module, where, what, *more, **options):
    code, said = tg("run", module, "--set", f"where={where}", "--set", f"what={what}",
                    "--output", "out", *more, **options)
    return code, said.splitlines()[0] if said else ""


def report(tmp_path):
    return json.loads((tmp_path / "out" / "run.json").read_text())["error"]


# What fails, and the function whose line that is.
CRASHES = [("null", "fail"), ("divide", "fail"), ("bounds", "fail"), ("stack", "deep"),
           ("inlined", "clamp"), ("called", "helper"), ("library", "fail"), ("nobody", "fail"),
           ("astray", "fail"), ("garbage", "fail")]


@plain_only
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("what,function", [*CRASHES, ("abort", "fail")])
def test_a_kernel_that_crashes_is_named_with_its_line(tg, tmp_path, lines, what, function, level):
    code, said = fail(tg, lines("-g", level), "kernel", what)
    assert code == 3 and said.startswith("taskglass: KERNEL_FAULT: task 0, kernel lines_kernel"), said
    # A stack is full where a function takes its part of it, which is before its first statement.
    wanted = range(line_of(what) - 2 * (what == "stack"), line_of(what) + 1 + 2 * (what == "stack"))
    site = report(tmp_path)["site"]
    assert (site["file"], site["function"]) == (str(SOURCE), function) and site["line"] in wanted
    assert f"lines.c:{site['line']} in {function}" in said
    # A recursion without an end hides its outermost function, and so does a call of no function.
    if what not in ("stack", "nobody", "astray"):
        assert f"called at {SOURCE}:{line_of('kernel', 'FROM')} in lines_kernel" in said


@plain_only
def test_a_stack_that_is_full_is_called_that(tg, lines):
    assert "because the stack is full" in fail(tg, lines("-g"), "kernel", "stack")[1]
    assert "because the stack is full" not in fail(tg, lines("-g"), "kernel", "null", "--output",
                                                   "other")[1]


@plain_only
@pytest.mark.parametrize("where", ["kernel", "prepare"])
def test_garbage_is_not_called_a_null_pointer(tg, lines, where):
    """The system does not say which address it was if no memory could have it."""
    said = fail(tg, lines("-g"), where, "garbage")[1]
    assert f"lines.c:{line_of('garbage')}" in said and "address 0x0" not in said, said


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_line_is_named_on_every_runtime(tg, lines, platform, runtime):
    for where in ("kernel", "orchestration"):
        code, said = fail(tg, lines("-g"), where, "abort", "--runtime", runtime, "--platform", platform,
                          "--output", where)
        assert code == (2 if "WORKLOAD_FAULT" in said else 3)
        assert f"lines.c:{line_of('abort')} in fail, called at" in said
        assert f":{line_of(where, 'FROM')} in " in said


@pytest.mark.parametrize("where", ["prepare", "golden"])
def test_a_function_of_the_host_that_crashes_is_named_with_its_line(tg, tmp_path, lines, where):
    code, said = fail(tg, lines("-g"), where, "abort")
    assert code == 2 and said.startswith(f"taskglass: WORKLOAD_FAULT: {where}() of workload 'lines'")
    assert f"lines.c:{line_of('abort')} in fail, called at {SOURCE}:{line_of(where, 'FROM')}" in said


@pytest.mark.parametrize("where", ["kernel", "orchestration", "prepare"])
def test_what_hangs_is_named_with_its_line(tg, lines, where):
    code, said = fail(tg, lines("-g"), where, "spin", "--timeout", "1", "--runtime", "aicpu_build_graph")
    assert code in (2, 3) and "1 s" in said
    assert f"lines.c:{line_of('spin')} in fail" in said or f"lines.c:{line_of('spin') - 1} in fail" in said
    assert f"{SOURCE}:{line_of(where, 'FROM')} in " in said


@plain_only
def test_a_reference_that_crashes_is_named_with_its_line(tg, start, lines):
    assert fail(tg, lines("-g"), "reference", "none", "--dump-tensor") == (0, "")
    program = start("check", "out", "--module", lines("-g"))
    said = "".join(program.process.communicate())
    assert f"lines.c:{line_of('null')} in fail" in said, said


def test_a_module_without_debug_information_gets_no_line(tg, tmp_path, lines):
    for flags in (("-g0",), ("-g0", "-s")):
        code, said = fail(tg, lines(*flags), "kernel", "abort", "--output", "-".join(flags))
        assert code == 3 and said.endswith(": Aborted"), said


def test_a_stripped_module_gets_no_line(tg, tmp_path, lines):
    stripped = tmp_path / "stripped.so"
    shutil.copy(lines("-g"), stripped)
    subprocess.run(["strip", str(stripped)], check=True)
    code, said = fail(tg, stripped, "kernel", "abort")
    assert code == 3 and said.endswith(": Aborted"), said
    assert report(tmp_path)["site"] is None


def sections(path):
    """The debug sections of a file: name, offset, size."""
    text = subprocess.run(["readelf", "-SW", str(path)], check=True, capture_output=True,
                          text=True).stdout
    return [(name, int(at, 16), int(size, 16)) for name, at, size in re.findall(
        r"\] (\.debug_\w+)\s+\w+\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", text)]


@pytest.mark.skipif(not shutil.which("readelf"), reason="no readelf")
@pytest.mark.parametrize("fill", [b"\x00", b"\xff", b"\x7f\x01\x00\x80", b"random"])
def test_damaged_debug_information_costs_the_line_and_nothing_else(tg, tmp_path, lines, fill):
    module = tmp_path / "damaged.so"
    content = bytearray(open(lines("-g"), "rb").read())
    for _, at, size in sections(lines("-g")):
        bytes_ = bytes((i * 7919 + 13) % 251 for i in range(size)) if fill == b"random" else \
            (fill * size)[:size]
        content[at:at + size] = bytes_
    module.write_bytes(content)
    module.chmod(0o755)
    code, said = fail(tg, module, "kernel", "abort")
    assert code == 3 and said.startswith("taskglass: KERNEL_FAULT: task 0, kernel lines_kernel"), said
    assert ": Aborted" in said and len(said) < 500


@pytest.mark.parametrize("answer", [
    ":", "echo", "echo 0x1; echo f", "echo 0x1; echo f; echo ':12'", "echo 0x1; echo f; echo 'model.c:0'",
    "echo 0x1; echo f; echo 'model.c:-3'", "echo 0x1; echo f; echo 'model.c:99999999999999999999'",
    "echo 0x1; echo f; echo '??:0'", "exit 3", "kill -9 $$", "while :; do echo 0x1; done",
    "exec <&-; while :; do :; done"])
def test_no_answer_of_addr2line_ends_or_delays_the_report_for_long(tg, tmp_path, lines, answer):
    fake = tmp_path / "bin"
    fake.mkdir()
    for name in ("addr2line", "llvm-addr2line"):
        (fake / name).write_text(f"#!/bin/sh\n{answer}\n")
        (fake / name).chmod(stat.S_IRWXU)
    code, said = fail(tg, lines("-g"), "kernel", "abort", environment={"PATH": str(fake)})
    assert code == 3 and said.endswith(": Aborted"), said


def test_an_answer_cannot_add_lines_or_escapes_to_the_report(tg, tmp_path, lines):
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "addr2line").write_text("#!/bin/sh\nprintf '0x1\\nf\\033[31m\\tg\\nx\\033]0;y\\007.c:12\\n'\n")
    (fake / "addr2line").chmod(stat.S_IRWXU)
    code, said = fail(tg, lines("-g"), "kernel", "abort", environment={"PATH": str(fake)})
    assert code == 3 and said.endswith(", at x?]0;y?.c:12 in f?[31m?g"), said


def test_without_addr2line_the_report_says_what_to_install(tg, tmp_path, lines):
    empty = tmp_path / "empty"
    empty.mkdir()
    code, said = tg("run", lines("-g"), "--set", "what=abort", environment={"PATH": str(empty)})
    assert code == 3 and "binutils" in said, said


def test_without_debug_information_the_report_says_how_to_get_the_line(tg, lines):
    code, said = tg("run", lines("-g0"), "--set", "what=abort")
    assert code == 3 and "compile the module with -g" in said, said
    assert "-g" not in tg("run", lines("-g"), "--set", "what=abort")[1]


def test_the_advice_after_a_mismatch_with_references_is_to_check_the_recording(tg, lines):
    code, said = tg("run", lines("-g"), "--set", "where=nowhere", "--dump-tensor", "--output", "out")
    assert code == 1 and "`taskglass check out`" in " ".join(said.split()), said
    code, said = tg("run", lines("-g"), "--set", "where=nowhere", "--output", "other")
    assert code == 1 and "--dump-tensor`; then `taskglass check`" in " ".join(said.split()), said
