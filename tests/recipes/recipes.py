#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recipes.py SOURCE_DIR [RECIPE...]: follows the recipes of docs/architecture.md.

Applies the patches of this folder to one copy of the tree, builds the copy and uses what they add.
Counts the files that each patch touches, new ones, tables and build files included, and compares the
count with the recipe's limit and with the number that docs/architecture.md states.

recipes.py --plant SOURCE_DIR: breaks the rules that need no build, and fails unless that is noticed.

Exits with 77 where git, cmake or NumPy is missing. WERROR=1 makes warnings errors, as in scripts/build.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
NO_SOURCES = {".git", "build", "outputs", "node_modules", "__pycache__", ".cache", ".pytest_cache"}

# name of the patch: (how many files it may touch, the function that uses what it adds)
RECIPES = {}


def recipe(name, limit):
    def keep(use):
        RECIPES[name] = (limit, use)
        return use
    return keep


def check(condition, what):
    if not condition:
        raise AssertionError(what)


# --- what each recipe promises -----------------------------------------------------------------


@recipe("platform_like_simulator", 2)
def use_a_platform_like_a_simulator(copy):
    listed = copy.listed("platforms")
    check(listed["a7sim"]["available"] and listed["a7sim"]["max_cores"] == 144,
          f"the list says {listed.get('a7sim')}")
    copy.run("run", "vector_add", "--platform", "a7sim", "--cores", "6")
    copy.run("run", "vector_add", "--platform", "a7sim", "--cores", "147", expect=2)


@recipe("platform_new_target", 5)
def use_a_platform_with_a_new_target(copy):
    commands = [entry["command"] for entry in copy.json_file(copy.build, "compile_commands.json")
                if "tg_a2a3posix_program_objects" in entry["command"]]
    check(commands and all("/src/platform/a2a3posix/device" in command and
                           "/src/platform/sim/device" not in command for command in commands),
          "src/device was not compiled for the new target")
    for runtime in ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"):
        output = copy.run("run", "matmul_chain", "--platform", "a2a3posix", "--runtime", runtime)
        check("on a2a3posix" in output and " ok," in output, output)


@recipe("runtime", 3)
def use_a_runtime(copy):
    check("tensormap_and_ring" in copy.listed("runtimes"), "the list does not have it")
    folder = copy.new_folder()
    copy.run("run", "matmul_chain", "--runtime", "tensormap_and_ring", "--deps", "--output", folder)
    tasks = copy.json_file(folder, "deps.json")["tasks"]
    check(sum(len(task["after"]) for task in tasks) > 0, "it found no edges")


@recipe("verb", 2)
def use_a_verb(copy):
    check("\n  kernels " in copy.run("help"), "the help does not list it")
    counted = json.loads(copy.run("kernels", copy.recorded(), "--json"))["kernels"]
    check([row["kernel"] for row in counted] == ["vector_add_tile"], counted)
    check(counted[0]["records"] > 0 and counted[0]["payload_bytes"] == 3 * 4096, counted)
    check("vector_add_tile" in copy.run("kernels", copy.recorded()), "the table has no kernel")


@recipe("dtype", 4)
def use_a_dtype(copy):
    folder = copy.new_folder()
    copy.python(USE_OF_FLOAT8_E3M4, folder)
    copy.run("verify", folder)
    shown = copy.run("view", folder, "--stage", "after", "--index", "1")
    check("float8_e3m4" in shown and "15.5" in shown, shown)
    copy.run("diff", folder, folder)
    exported = os.path.join(folder, "all.npz")
    copy.run("export", folder, "--output", exported)
    check(os.path.getsize(exported) > 0, "nothing was exported")


# Casts float32 to the new type and back in kernels, and reads the recording. The type's values come
# from its definition: sign, 3 bits of exponent with bias 3, 4 bits of mantissa.
USE_OF_FLOAT8_E3M4 = """
import sys
import numpy, taskglass

def value(code):
    sign, exponent, mantissa = -1.0 if code & 128 else 1.0, code >> 4 & 7, code & 15
    if exponent == 7:
        return numpy.nan if mantissa else sign * numpy.inf
    return sign * (2.0 ** (exponent - 3) * (1 + mantissa / 16) if exponent else mantissa / 64)

codes = numpy.arange(256, dtype=numpy.uint8)
values = numpy.array([value(int(code)) for code in codes], numpy.float32)
numpy.testing.assert_array_equal(taskglass.dtypes.decode(codes, "float8_e3m4"), values)
kept = ~numpy.isnan(values)
assert (taskglass.dtypes.encode(values, "float8_e3m4") == codes)[kept].all()

given = numpy.array([15.5, 1, -2.5, 1.03125, 1.09375, 100, 0.015625, 0.001], numpy.float32)
nearest = numpy.array([15.5, 1, -2.5, 1, 1.125, numpy.inf, 0.015625, 0], numpy.float32)
with taskglass.Device("a2a3sim", cores=3) as device:
    x, y, z = device.array(given), device.empty(8, "float8_e3m4"), device.empty(8)
    with device.load("dtypes").graph() as graph:
        first = graph.add("dtypes_cast", x, y)
        graph.add("dtypes_cast", y, z, after=first)
        result = graph.run(record="full", output_dir=sys.argv[1])
    numpy.testing.assert_array_equal(z.numpy(), nearest)
with result.recording() as recording:
    records = [record for record in recording if record.dtype == "float8_e3m4"]
    assert len(records) == 2
    for record in records:
        numpy.testing.assert_array_equal(record.array(decode=True), nearest)
"""


@recipe("export_format", 2)
def use_an_export_format(copy):
    check("\n  jsonl " in copy.run("export", "--help"), "the help does not list it")
    path = os.path.join(copy.new_folder(), "run.jsonl")
    copy.run("export", copy.recorded(), "--output", path)
    with open(path, encoding="utf-8") as file:
        lines = [line for line in map(json.loads, file) if line["kind"] == "tensor"]
    tasks = {line["task_id"] for line in lines}
    check(len(tasks) == 4, f"{len(tasks)} tasks")
    for task in tasks:
        a, b, c = (line["values"] for line in lines if line["task_id"] == task)
        check(len(c) == 256 and all(abs(x + y - z) < 1e-5 for x, y, z in zip(a, b, c)), "c is not a + b")


# --- the copy ----------------------------------------------------------------------------------


class Copy:
    """The patched tree, its program and its Python package."""

    def __init__(self, root):
        self.root = root
        self.build = os.path.join(root, "build")
        self.folders = 0
        self.recording = None
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("TASKGLASS_")}
        # git shall not take the copy for a part of a repository that happens to be above it.
        self.environment["GIT_CEILING_DIRECTORIES"] = os.path.dirname(root)
        self.environment["PYTHONPATH"] = os.path.join(root, "bindings", "python")
        self.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        self.environment["XDG_STATE_HOME"] = os.path.join(root, "state")
        self.environment["TASKGLASS_LIBRARY"] = os.path.join(self.build, "lib", "libtaskglass.so")

    def call(self, command, expect=0):
        """The output of a command; fails unless it exits with `expect`."""
        result = subprocess.run(command, cwd=self.root, env=self.environment, text=True, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(result.returncode == expect, f"exit {result.returncode} of {' '.join(command)[:300]}\n"
                                           f"{result.stdout[-4000:]}")
        return result.stdout

    def run(self, *arguments, expect=0):
        return self.call([os.path.join(self.build, "bin", "taskglass"), *arguments], expect)

    def python(self, text, *arguments):
        return self.call([sys.executable, "-c", text, *arguments])

    def new_folder(self):
        self.folders += 1
        path = os.path.join(self.root, f"out{self.folders}")
        os.mkdir(path)
        return path

    def recorded(self):
        """The folder of a recorded run of vector_add."""
        if self.recording is None:
            self.recording = self.new_folder()
            self.run("run", "vector_add", "--dump-tensor", "--output", self.recording)
        return self.recording

    def listed(self, what):
        """One list of `taskglass list`, by name."""
        return {entry["name"]: entry for entry in json.loads(self.run("list", "--json"))[what]}

    def json_file(self, *path):
        with open(os.path.join(*path), encoding="utf-8") as file:
            return json.load(file)


def files_of(source):
    """The tree's own files: those that git knows or would add, or without git all but products."""
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if listed.returncode == 0 and "CMakeLists.txt" in listed.stdout.splitlines():
        return listed.stdout.splitlines()
    found = []
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if name not in NO_SOURCES]
        found += [os.path.relpath(os.path.join(folder, name), source) for name in names]
    return found


def copy_tree(source, target):
    for name in files_of(source):
        path = os.path.join(source, name)
        if os.path.isfile(path):
            os.makedirs(os.path.dirname(os.path.join(target, name)), exist_ok=True)
            shutil.copy2(path, os.path.join(target, name))


def build(copy):
    werror = "OFF" if os.environ.get("WERROR", "") in ("", "0") else "ON"
    configure = ["cmake", "-S", copy.root, "-B", copy.build, "-DCMAKE_BUILD_TYPE=Debug",
                 "-DCMAKE_C_FLAGS_DEBUG=-O0", "-DTASKGLASS_TESTS=OFF", "-DTASKGLASS_CUDA=OFF",
                 f"-DTASKGLASS_WERROR={werror}"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    copy.call(configure)
    copy.call(["cmake", "--build", copy.build, "--target", "product", "--parallel", str(os.cpu_count())])


# --- the rules that need no build --------------------------------------------------------------


def touched(copy, patch):
    """The files that a patch changes, makes or removes."""
    return [line.split("\t")[2] for line in copy.call(["git", "apply", "--numstat", patch]).splitlines()]


def stated_limits(source):
    """What the table of docs/architecture.md says: {patch: number of files}."""
    with open(os.path.join(source, "docs", "architecture.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| .* \| (\d+) \| \[(\w+)\.patch\]", file.read(), re.MULTILINE)
    return {name: int(count) for count, name in rows}


def said(script, root):
    """The lines of a test of the tree, without their line numbers."""
    result = subprocess.run([sys.executable, script, root], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, check=False)
    return {re.sub(r":\d+:", ":", line) for line in result.stdout.splitlines()} \
        if result.returncode else set()


def new_offences(source, copy):
    """What layers.py and names.py have against the copy and not against the source."""
    found = []
    for script in ("layers.py", "names.py"):
        path = os.path.join(source, "tests", script)
        found += sorted(said(path, copy.root) - said(path, source))
    return found


def apply_patches(source, copy, names, folder=HERE):
    """Applies the patches; returns what is wrong with them."""
    failed = []
    stated = stated_limits(source)
    for name in sorted(set(RECIPES) ^ set(stated)):
        failed.append(f"{name}: either docs/architecture.md or recipes.py does not have it")
    for name in names:
        patch = os.path.join(folder, name + ".patch")
        count, limit = len(touched(copy, patch)), RECIPES[name][0]
        if count > limit:
            failed.append(f"{name}: touches {count} files, at most {limit} are allowed")
        if stated.get(name, count) != count:
            failed.append(f"{name}: touches {count} files, docs/architecture.md says {stated[name]}")
        try:
            copy.call(["git", "apply", "-C1", "--whitespace=nowarn", patch])
        except AssertionError as error:
            failed.append(f"{name}: does not apply; tests/recipes/README.md says how to refresh it: "
                          f"{error}")
    return failed + new_offences(source, copy)


def follow(source, names):
    """Applies, builds and uses the recipes; returns what failed."""
    with tempfile.TemporaryDirectory(prefix="taskglass_test_recipes.") as root:
        copy = Copy(os.path.realpath(root))
        copy_tree(source, root)
        failed = apply_patches(source, copy, names)
        if failed:
            return failed
        build(copy)
        for name in names:
            try:
                RECIPES[name][1](copy)
                print(f"{name}: {len(touched(copy, os.path.join(HERE, name + '.patch')))} files, works")
            except (AssertionError, LookupError, OSError, ValueError) as error:
                failed.append(f"{name}: {error!r}" if not str(error) else f"{name}: {error}")
    return failed


# --- planted faults ----------------------------------------------------------------------------

NEW_FILE = """diff --git a/{path} b/{path}
new file mode 100644
--- /dev/null
+++ b/{path}
@@ -0,0 +1 @@
+{line}
"""

# (what the test has to say, a file that the patch of a verb makes besides, the line in it)
PLANTS = [
    ("verb: touches 3 files, at most 2 are allowed", "docs/table_of_verbs.txt", "kernels"),
    ("src/base/odd.c: base includes recording", "src/base/odd.c", '#include "recording/reader.h"'),
    ("verb: does not apply", "src/cli/README.md", "there is one already"),
]


def check_plants(source):
    """Plants one fault at a time; returns what went unnoticed."""
    unnoticed = []
    for expected, path, line in PLANTS:
        with tempfile.TemporaryDirectory(prefix="taskglass_test_recipes.") as root:
            copy, folder = Copy(os.path.join(os.path.realpath(root), "copy")), os.path.join(root, "patches")
            copy_tree(source, copy.root)
            os.mkdir(folder)
            with open(os.path.join(HERE, "verb.patch"), encoding="utf-8") as file:
                text = file.read() + NEW_FILE.format(path=path, line=line)
            with open(os.path.join(folder, "verb.patch"), "w", encoding="utf-8") as file:
                file.write(text)
            failed = apply_patches(source, copy, ["verb"], folder)
            if not any(line.startswith(expected) for line in failed):
                unnoticed.append(f"unnoticed: {expected}; noticed: {failed}")
    return unnoticed


def missing():
    """What this test needs and the machine does not have, or None."""
    for program in ("git", "cmake"):
        if shutil.which(program) is None:
            return program
    try:
        import numpy  # noqa: F401, for the recipe of a dtype
    except ImportError:
        return "NumPy"
    return None


def main():
    arguments = sys.argv[1:]
    plant = arguments[:1] == ["--plant"]
    arguments = arguments[plant:]
    if not arguments:
        sys.exit(__doc__)
    if missing():
        print(f"skipped: no {missing()} here")
        return SKIPPED
    source = os.path.abspath(arguments[0])
    if plant:
        failed = check_plants(source)
    else:
        failed = follow(source, arguments[1:] or sorted(RECIPES))
    print("\n".join(failed) if failed else
          "all planted faults are noticed" if plant else "all recipes work as docs/architecture.md says")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
