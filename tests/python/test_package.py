# SPDX-License-Identifier: Apache-2.0
"""The package itself: its names, its library, and its structures."""

import ctypes
import inspect
import pathlib
import pickle
import re
import shutil
import subprocess

import pytest
import taskglass
from taskglass import _library, errors

from conftest import LIBRARY, PACKAGE, ROOT, python


def test_the_version_is_that_of_the_headers():
    header = (ROOT / "include/taskglass/version.h").read_text()
    version = re.search(r'TG_VERSION_STRING "(.*)"', header).group(1)
    assert taskglass.__version__ == taskglass.version() == version


def test_every_name_is_there_and_documented():
    for name in taskglass.__all__:
        assert inspect.getdoc(getattr(taskglass, name)), name


def test_importing_it_loads_no_library():
    result = python("import taskglass; print(taskglass.__version__)",
                    env={"TASKGLASS_LIBRARY": "/no/such/library.so"})
    assert (result.returncode, result.stderr) == (0, "")


def test_a_missing_library_is_reported():
    result = python("import taskglass; taskglass.version()",
                    env={"TASKGLASS_LIBRARY": "/no/such/library.so"})
    assert result.returncode == 1
    assert "NOT_FOUND: no libtaskglass: /no/such/library.so" in result.stderr
    assert "TASKGLASS_LIBRARY" in result.stderr.splitlines()[-1]


def build(tmp_path, source):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler here")
    (tmp_path / "other.c").write_text(source)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "other.so", "other.c"], cwd=tmp_path,
                   check=True)
    return tmp_path / "other.so"


def test_a_library_of_another_version_is_refused(tmp_path):
    library = build(tmp_path, 'const char *tg_version(void) { return "7.2.0"; }')
    result = python("import taskglass; taskglass.version()",
                    env={"TASKGLASS_LIBRARY": str(library)})
    assert "ABI_MISMATCH: libtaskglass is version 7.2.0, and this package is for" in result.stderr


def test_a_library_without_what_is_needed_is_refused(tmp_path):
    library = build(tmp_path, 'const char *tg_version(void) { return "0.1.99"; }')
    result = python("import taskglass; taskglass.version()",
                    env={"TASKGLASS_LIBRARY": str(library)})
    assert "ABI_MISMATCH: libtaskglass 0.1.99 is older than this package" in result.stderr


def test_the_package_finds_a_library_where_it_was_installed(tmp_path):
    package = tmp_path / "usr" / "lib" / "python3" / "dist-packages"
    shutil.copytree(PACKAGE / "taskglass", package / "taskglass",
                    ignore=shutil.ignore_patterns("__pycache__"))
    (package / "taskglass" / "_where.py").write_text('LIBRARY_DIR = "../../../x86"\n')
    (tmp_path / "usr" / "lib" / "x86").mkdir()
    (tmp_path / "usr" / "lib" / "x86" / "libtaskglass.so.0").symlink_to(LIBRARY)
    result = python("import taskglass, taskglass._library as l; print(l.lib().functions._name)",
                    env={"PYTHONPATH": str(package), "TASKGLASS_LIBRARY": ""})
    assert result.stdout.endswith("usr/lib/python3/dist-packages/taskglass/../../../x86/"
                                  "libtaskglass.so.0\n"), result


def test_a_library_that_the_loader_found_says_nothing_about_the_folder_of_the_user(tmp_path):
    """Its name has no path, and a program in a folder that the user happens to be in must not run."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libtaskglass.so.0").symlink_to(LIBRARY)
    planted = tmp_path / "strangers" / "bin" / "taskglass"
    planted.parent.mkdir(parents=True)
    planted.write_text("#!/bin/sh\n")
    planted.chmod(0o755)
    (tmp_path / "strangers" / "runs").mkdir()
    result = python("import os, taskglass._program as p; os.chdir(%r); print(p.program())"
                    % str(tmp_path / "strangers" / "runs"),
                    env={"TASKGLASS_LIBRARY": "libtaskglass.so.0", "LD_LIBRARY_PATH": str(tmp_path / "lib")})
    assert result.returncode != 0 or "strangers" not in result.stdout, result


def headers():
    return "\n".join(path.read_text() for path in (ROOT / "include/taskglass").rglob("*.h"))


def test_every_function_is_declared_with_as_many_arguments_as_the_headers_say():
    words = _library._FUNCTIONS.split()
    text = re.sub(r"/\*.*?\*/", "", headers(), flags=re.S)
    for name, kinds in zip(words[::2], words[1::2]):
        found = re.search(rf"TG_API\s+([\w\s*]*?)\b{name}\s*\(([^;]*)\)\s*;", text)
        assert found, name
        arguments = found.group(2).strip()
        count = 0 if arguments == "void" else arguments.count(",") + 1
        assert count == len(kinds) - 1, name
        given = found.group(1).strip()
        assert (kinds[0] == "-") == (given == "void"), name
        assert (kinds[0] in "tp") == given.endswith("*"), name
        assert (kinds[0] == "s") == (given == "tg_status"), name


def test_structures_lie_as_the_compiler_lays_them(tmp_path):
    """Compares with a compiler that reads the headers, not with the library's own table."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler here")
    layout = _library.lib().layout
    lines = ["#include <stddef.h>", "#include <taskglass/taskglass.h>",
             "#include <taskglass/export.h>", "#include <taskglass/job.h>", "#include <taskglass/outputs.h>",
             "#include <taskglass/replay.h>", "#include <taskglass/verify.h>",
             "#include <taskglass/workload.h>"]
    for name, made in layout._classes.items():
        lines.append(f'_Static_assert(sizeof(struct {name}) == {ctypes.sizeof(made)}, "{name}");')
        for member, *_ in made._fields_:
            if not member.startswith("_gap"):
                where = getattr(made, member)
                lines.append(f'_Static_assert(offsetof(struct {name}, {member}) == {where.offset} && '
                             f'sizeof(((struct {name} *)0)->{member}) == {where.size}, '
                             f'"{name}.{member}");')
    (tmp_path / "check.c").write_text("\n".join(lines) + "\nextern int something;\n")
    result = subprocess.run([compiler, "-std=c11", "-fsyntax-only", "-I", ROOT / "include",
                             tmp_path / "check.c"], stderr=subprocess.PIPE, text=True)
    assert result.returncode == 0, result.stderr
    assert len(lines) > 200


def test_every_status_has_its_exception():
    library, number, seen = _library.lib(), -100, 0
    for number in range(-100, 0):
        name = library.tg_status_name(number).decode()
        if name == "UNKNOWN":
            continue
        error = library.error(number, b"text")
        assert error.status == name and error.text == "text" and str(error) == f"{name}: text"
        assert error.exit_code == library.tg_status_exit_code(number)
        assert isinstance(error, errors.DeviceFailure) == (error.exit_code == 3)
        assert type(error) is not errors.Error or name == "RING_BUFFER_BACKPRESSURE", name
        seen += 1
    assert seen > 15


def test_errors_are_what_python_expects_them_to_be():
    assert issubclass(taskglass.BadArgument, ValueError)
    assert issubclass(taskglass.NotFound, LookupError)
    assert issubclass(taskglass.NoMemory, MemoryError)


def test_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(errors.make("HANG", "task 3", 3, "look")))
    assert isinstance(error, taskglass.Hang)
    assert (error.text, error.advice, error.exit_code) == ("task 3", "look", 3)


def test_the_source_has_its_license():
    for path in pathlib.Path(PACKAGE).rglob("*.py"):
        assert path.read_text().startswith("# SPDX-License-Identifier: Apache-2.0\n"), path
