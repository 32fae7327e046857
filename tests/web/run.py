#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py PART [BUILD]: the tests of the page. Packages and copies lie in BUILD/web, so the tree stays clean. Exits
with 77, and a line that says why, if this machine cannot run them.

    build    builds the page and compares it with web/dist
    unit     the unit tests
    views    every view in a browser
    update   builds the page into web/dist
    packages only installs the packages, for bench/workbench
"""

import argparse
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SKIPPED = 77
OLDEST = {20: 19, 22: 12}  # what Vite needs: the minor version of these, or any later major one
PATIENCE = 600  # seconds; ends what hangs


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def check_node():
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        skip("no Node here (node, npm)")
    text = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True).stdout
    found = re.match(r"v(\d+)\.(\d+)", text)
    major, minor = map(int, found.groups()) if found else (0, 0)
    if major < 22 and major not in OLDEST or minor < OLDEST.get(major, 0):
        skip(f"Node {text.strip()} is older than Vite needs (20.19 or 22.12)")
    return node


def browser():
    return next(filter(None, map(shutil.which, BROWSERS)), None) or \
        skip(f"no browser here ({', '.join(BROWSERS)})")


def python():
    """A Python with NumPy, which writes recordings."""
    for one in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([one, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0:
            return one
    return skip("no Python with numpy")


def install(folder):
    """The packages of the lockfile, once for each lockfile."""
    files = [TREE / "web" / name for name in ("package.json", "package-lock.json", ".npmrc")]
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    mark = folder / "installed"
    if mark.exists() and mark.read_text() == wanted:
        return
    mark.unlink(missing_ok=True)
    for file in files:
        shutil.copy(file, folder)
    result = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-progress"], cwd=folder, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, timeout=PATIENCE)
    if result.returncode != 0:
        if re.search(r"E(AI_AGAIN|NOTFOUND|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH|HOSTUNREACH)",
                     result.stdout):
            skip("the npm registry cannot be reached, and the packages are not installed")
        sys.exit(f"{result.stdout}\nrun.py: npm ci failed")
    mark.write_text(wanted)


def make(folder):
    """Builds a copy of web/, which finds its packages in the folder above. Returns what was built."""
    copy = folder / "page"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(TREE / "web", copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    result = subprocess.run(["npm", "run", "--silent", "build"], cwd=copy, text=True, timeout=PATIENCE,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    if result.returncode != 0:
        sys.exit(f"{result.stdout}\nrun.py: npm run build failed")
    return copy / "dist"


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def compare(built, kept):
    """Names the files of web/dist that are not what the sources make."""
    wrong = sorted(name for name in built.keys() | kept.keys() if built.get(name) != kept.get(name))
    if wrong:
        sys.exit(f"run.py: not what the sources of web/ make: {', '.join('web/dist/' + name for name in wrong)}; "
                 "to write them anew: tests/web/run.py update")
    print(f"{len(kept)} files of web/dist are what the sources make")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("part", choices=("build", "unit", "views", "update", "packages"))
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=TREE / "build")
    parser.add_argument("words", nargs="*", help="of unit and views: only tests with one of these in their names")
    options = parser.parse_args()
    build = options.build.resolve()
    node = check_node()
    environment = {**os.environ, "TASKGLASS_WEB": str(build / "web"), "TASKGLASS_BUILD": str(build)}
    if options.part == "views":
        environment.update(BROWSER=browser(), PYTHON=python())
    folder = build / "web"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:  # several parts may run at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(folder)
    if options.part in ("build", "update"):
        built = make(folder)
        if options.part == "update":
            shutil.rmtree(TREE / "web" / "dist", ignore_errors=True)
            shutil.copytree(built, TREE / "web" / "dist")
        compare(files_of(built), files_of(TREE / "web" / "dist"))
        return
    if options.part == "packages":
        return
    sys.exit(subprocess.run([node, "--test-reporter=spec", HERE / f"{options.part}.mjs", *options.words],
                            env=environment).returncode)


if __name__ == "__main__":
    main()
