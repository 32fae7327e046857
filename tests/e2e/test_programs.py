# SPDX-License-Identifier: Apache-2.0
"""The host programs of examples/programs do the same in C, C++ and Python."""

import pathlib
import subprocess
import sys

import pytest

from conftest import BUILD, TIMEOUT, clean_environment
from platforms import SANITIZED

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {
    "C": [BUILD / "tests" / "bin" / "program.c"],
    "C++": [BUILD / "tests" / "bin" / "program.cpp"],
    "Python": [sys.executable, ROOT / "examples" / "programs" / "python" / "sums.py"],
}
SAID = ["task 0 wrote 0 to 2046", "task 1 wrote 0 to 3069", "y ends in 3069"]


@pytest.fixture(params=PROGRAMS)
def program(request, tmp_path):
    if request.param == "Python" and SANITIZED:
        pytest.skip("a Python without sanitizers cannot load a library with them")
    if request.param == "C++" and not PROGRAMS["C++"][0].exists():
        pytest.skip("there is no C++ compiler")

    def run(*args):
        environment = clean_environment(PYTHONPATH=str(ROOT / "bindings" / "python"),
                                        TASKGLASS_LIBRARY=str(BUILD / "lib" / "libtaskglass.so"))
        return subprocess.run([*PROGRAMS[request.param], *args], cwd=tmp_path, env=environment, text=True,
                              capture_output=True, timeout=TIMEOUT)

    return run


def test_it_runs_records_and_reads_back(program, tmp_path):
    (tmp_path / "out").mkdir()
    result = program("out")
    assert (result.returncode, result.stderr) == (0, "")
    assert sorted(result.stdout.replace(".0", "").splitlines()) == SAID
    assert (tmp_path / "out" / "tensor_dump" / "tensor_dump.json").exists()


def test_a_folder_that_cannot_be_used_is_one_line_and_exit_2(program, tmp_path):
    (tmp_path / "file").write_text("x")
    result = program("file")
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert result.stderr.startswith("sums: ")


def test_a_missing_argument_is_explained(program):
    result = program()
    assert result.returncode == 2 and "usage: sums" in result.stderr
