#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hints.py SOURCE_DIR CACHE_DIR: the type hints of the Python package and of its build backend, as mypy --strict
reads them.

They have no error, and in tests/python/typed.py, a program that uses it, exactly the lines that
end in `# wrong` have one. Without mypy (Debian's package mypy) the test is skipped. One call reads both,
because most of its time goes into NumPy's hints; the next calls find them in CACHE_DIR.
"""
import pathlib
import re
import shutil
import subprocess
import sys


def main() -> int:
    source, cache = map(pathlib.Path, sys.argv[1:3])
    mypy = shutil.which("mypy")
    if not mypy:
        print("skipped: mypy is not installed (Debian: apt-get install mypy)")
        return 77
    package, program = source / "bindings" / "python" / "taskglass", source / "tests" / "python" / "typed.py"
    if not (package / "py.typed").exists():
        print("the package has no file py.typed, so that its hints are ignored")
        return 1
    done = subprocess.run([mypy, "--strict", "--no-error-summary", "--config-file", "/dev/null", "--cache-dir",
                           cache, package, source / "packaging/pip/taskglass_build", program],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=package.parent)
    found = re.findall(r"^(\S+?):(\d+): error: ", done.stdout, re.M)
    mistakes = {int(line) for path, line in found if pathlib.Path(path).name == program.name}
    planted = {number for number, line in enumerate(program.read_text().splitlines(), 1)
               if line.endswith("# wrong")}
    in_package = [path for path, _ in found if pathlib.Path(path).name != program.name]
    if in_package or mistakes != planted or done.returncode not in (0, 1):
        print(done.stdout, end="")
        for line in sorted(planted - mistakes):
            print(f"{program}:{line}: mypy does not notice this mistake; is something Any that has a type?")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
