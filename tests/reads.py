#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reads.py [SOURCE_DIR]: holds src/ and the Python package to the one way to read a file.

A file may be a stranger's: a FIFO that blocks, a device that never ends, a file that shrinks while it is
mapped. src/base/files.h has functions that stand that. This test names each other call that opens or maps
a file to read it. Calls that only write are not its business. ALLOWED lists the calls that were looked
at, by file, each with its reason.

reads.py --plant SOURCE_DIR: plants calls in a copy, and fails unless the test notices each.
"""
import os
import re
import shutil
import sys
import tempfile

# file: {call: why it may stay}. A call is named once, however often the file has it.
ALLOWED = {
    "src/base/file_read.c": {"open": "the one way", "mmap": "the one way"},
    "src/base/map_guard.c": {"SYS_mmap": "puts zeros in place of lost pages"},
    "src/base/lock.c": {"open": "of a lock: reads nothing"},
    "src/recording/run_folder.c": {"open": "a folder, for its lock and its files' names"},
    "src/recording/run_content.c": {"open": "a folder, for its files' names",
                                    "openat": "a folder, for its files' names"},
    "src/export/export_file.c": {"open": "writes: its flags are in a variable"},
    "src/platform/cuda/process/stack_size.c": {"open": "a module's image: regular files only, copied"},
    "src/cli/main.c": {"open": "/dev/null"},
    "src/serve/child.c": {"open": "/dev/null"},
    "src/host/serve_browser.c": {"open": "/dev/null"},
    "src/cli/guard.c": {"open": "the state of a thread of this process, in /proc"},
    "src/cli/run_ranks.c": {"fopen": "run.json that the ranks of this job have just written, printed as it is"},
    "src/host/job_gone.c": {"fopen": "the state of a process, in /proc"},
    "src/host/job_launch.c": {"open": "/dev/null"},
    "src/mpi/peers.c": {"fopen": "the state of a process, in /proc"},
    "src/comm/local.c": {"mmap": "memory that ranks share, a memfd of their launcher's"},
    "src/platform/cuda/cuda.c": {"mmap": "addresses without memory or a file"},
    "src/platform/cuda/process/gpu_place.c": {"fopen": "the mappings of processes, in /proc",
                                              "mmap": "addresses without memory or a file"},
    "src/platform/cuda/process/gpu_orchestrate.c": {"mmap": "memory without a file"},
    "src/platform/process/process.c": {"mmap": "device memory, a memfd of ours"},
    "src/platform/process/device/link.c": {"mmap": "device memory, a memfd of the host's"},
    "src/trace/temporary.c": {"open": "a new file without a name, of ours"},
    "src/reference/main.c": {"mmap": "memory that the host shares, a memfd of its own",
                             "fopen": "the children of this process, in /proc"},
    "src/host/reference_process.c": {"mmap": "memory shared with a reference's process, a memfd of ours"},
}

# Functions that open or map a file. Of fopen, the modes that only write are not meant; of open, the flags of
# those that write or that only name a file (O_PATH).
C_CALLS = re.compile(r"(?<![\w.>])(fopen|fopen64|freopen|open|open64|openat|openat2|creat|mmap|mmap64|SYS_mmap"
                     r"|SYS_open\w*|process_vm_readv)\s*[(,]([^;]*)")
PYTHON_CALLS = re.compile(r"\b(open|os\.open|io\.open|read_text|read_bytes|fromfile|memmap|loadtxt|"
                          r"np\.load)\s*\(")
ONLY_WRITES = re.compile(r'"[wax][^"]*"|O_WRONLY|O_EXCL|O_CREAT|O_PATH')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')

PYTHON_ALLOWED = {
    "bindings/python/taskglass/_files.py": {"os.open": "the one way"},
}


def blank(match):
    """As many lines of nothing."""
    return "\n" * match[0].count("\n")


def c_offences(path, text):
    text = COMMENT.sub(blank, text)
    for match in C_CALLS.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        begin = text.rfind("\n", 0, match.start()) + 1
        before = text[begin:match.start()]
        if STRING.sub("", before).count('"') % 2 == 1:
            continue  # inside a string
        if ONLY_WRITES.search(match[2].split(";")[0]) and match[1] not in ("mmap", "mmap64", "SYS_mmap"):
            continue
        if match[1] not in ALLOWED.get(path, {}):
            yield (f"{path}:{line}: {match[1]} opens a file to read it; use tg_map_open, tg_map_text, "
                   "tg_map_load or tg_file_open of base/files.h")


def python_offences(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        match = PYTHON_CALLS.search(line.split("#")[0])
        if match and match[1] not in PYTHON_ALLOWED.get(path, {}):
            yield f"{path}:{number}: {match[1]} reads a file; use read_file of _files.py"


def offences(root):
    found = []
    for top, endings, check in (("src", (".c", ".h"), c_offences),
                                ("bindings/python/taskglass", (".py",), python_offences)):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if not name.endswith(endings):
                    continue
                path = os.path.relpath(os.path.join(folder, name), root)
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    found += check(path, file.read())
    return found


PLANTS = [
    ("src/host/run.c", 'static FILE *f(const char *p) { return fopen(p, "rb"); }\n', "fopen"),
    ("src/recording/reader.c", "int fd = open(path, O_RDONLY);\n", "open"),
    ("src/query/npy_read.c", "void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);\n", "mmap"),
    ("src/cli/verb_view.c", "int fd = openat(AT_FDCWD, path,\n                O_RDONLY);\n", "openat"),
    ("bindings/python/taskglass/recording.py", "data = path.read_bytes()\n", "read_bytes"),
]


def check_plants(root):
    unnoticed = []
    for path, text, expected in PLANTS:
        with tempfile.TemporaryDirectory() as copy:
            for top in ("src", "bindings/python/taskglass"):
                shutil.copytree(os.path.join(root, top), os.path.join(copy, top))
            with open(os.path.join(copy, path), "a", encoding="utf-8") as file:
                file.write(text)
            if not any(line.startswith(path + ":") and expected in line for line in offences(copy)):
                unnoticed.append(f"{path}: nothing noticed {text!r}")
    return unnoticed


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--plant"]
    root = arguments[0] if arguments else os.path.join(os.path.dirname(__file__), "..")
    found = check_plants(root) if "--plant" in sys.argv else offences(root)
    print("\n".join(found) or "every file is read in the one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
