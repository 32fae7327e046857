#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py [SOURCE_DIR [BUILD_DIR]]: holds the rooms of src/ to their rules.

Each folder under src/ is a room. ALLOWED says which rooms a room may include besides itself; the
test reads every #include of every source and names each line that goes against the table. It also
holds two rules that an include does not show: what only one target does stays in that target's
folder, and which runtime a graph has is asked of the runtime's object.

layers.py --plant SOURCE_DIR: breaks each rule in a copy, and fails unless the test notices.
"""
import os
import re
import shutil
import sys
import tempfile

# What two or more rooms below stand on.
FLOOR = {"common", "base"}

# room: the rooms that it may include. A folder of platform/ that is not named here is a platform of
# its own (PLATFORM), its folder device/ a device program (DEVICE_PROGRAM); no other room may exist.
PLATFORM = {"platform", "platform/process", "base"}
DEVICE_PROGRAM = {"platform/process", "platform/process/device", "orchestrate", "device", "sandbox"} | FLOOR
ALLOWED = {
    "base": set(),
    "common": set(),
    "sandbox": set(),
    "device": {"common"},
    "orchestrate": {"device", "common"},
    "recording": FLOOR,
    "query": {"recording"} | FLOOR,
    "trace": FLOOR,
    "race": FLOOR,
    "comm": FLOOR,
    "analysis": {"query", "recording", "trace", "race"} | FLOOR,
    "export": {"analysis", "query", "recording", "scope", "trace"} | FLOOR,
    "scope": {"base"},
    "platform": {"base", "sandbox"},
    "platform/process": {"platform", "base", "common", "sandbox"},
    "platform/process/device": {"platform/process", "device", "sandbox"},
    "platform/cuda": PLATFORM | {"common"},
    "platform/cuda/process": {"platform/cuda", "platform/process", "platform/process/device",
                              "orchestrate", "device", "sandbox"} | FLOOR,
    "platform/cuda/gpu": {"platform/cuda", "orchestrate", "device"} | FLOOR,
    "reference": {"sandbox"},
    "lines": {"sandbox"},
    "host": {"platform", "reference", "sandbox", "recording", "query", "scope", "trace",
             "race", "comm"} | FLOOR,
    "shake": {"analysis", "query", "recording", "trace"} | FLOOR,
    "workbench": {"export", "analysis", "query", "recording", "scope", "trace", "race"} | FLOOR,
    "runtime": {"host", "orchestrate", "device"} | FLOOR,
    "cli": set(),
    "serve": set(),
    "mpi": set(),
    "watch": set(),
}

# The rooms of the device program, which every target compiles.
TARGET_FREE = ("common", "device", "orchestrate")
# The one header that maps the language's differences to the target.
SHIM = "src/common/atomic.h"
TARGET_WORDS = re.compile(r"\b__(CUDACC|CUDA_ARCH|NVCC|CUDA)__\b")
# The device program's conditions: include guards, the target's own constants, and by file what else
# there is reason for.
CONDITION = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b(.*)")
CONDITIONS = re.compile(r"\s*TG_\w+_H\b|\s*TG_TARGET_STAGES_RECORDS\b")
OTHER_CONDITIONS = ("src/common/atomic.h", "src/common/hash.c")
# A runtime by its number, its object or its name. The default of --runtime is a setting.
RUNTIME_WORDS = re.compile(r"\bTG_RUNTIME_(HOST_BUILD_GRAPH|AICPU_BUILD_GRAPH|TENSORMAP_AND_RINGBUFFER)\b"
                           r"|\btg_runtime_(host_build|aicpu_build|tensormap_and)_"
                           r'|"(host_build_graph|aicpu_build_graph|tensormap_and_ringbuffer)"'
                           r"|\bruntime\s*[!=]=\s*\d")
NAMES_A_RUNTIME = ("src/base/settings.c",)

# Every spelling of the directive; a name that a macro makes is refused, since no reader can follow it.
DIRECTIVE = re.compile(r"^\s*(?:/\*.*?\*/\s*)*(?:#|%:|\?\?=)\s*(?:/\*.*?\*/\s*)*(?:include\w*|import)\b(.*)")
INCLUDED = re.compile(r'\s*(?:"([^"]+)"|<([^>]+)>)')
SOURCES = (".c", ".h", ".cu", ".cuh")
# What else may lie in a room.
OTHERS = (".md", ".map")


def allowed(room):
    """The rooms that the room may include, or None where no such room may exist."""
    if room in ALLOWED:
        return ALLOWED[room]
    if re.fullmatch(r"platform/\w+/device", room):
        return DEVICE_PROGRAM
    return PLATFORM if re.fullmatch(r"platform/\w+", room) else None


def room_of(path):
    """The room of a path below src/: its folder, or for a runtime the room `runtime`."""
    folder = os.path.dirname(path)
    return "runtime" if folder.split("/")[0] == "runtime" else folder


def sources(src):
    """All files but the OTHERS, as paths below src/."""
    for folder, _, names in sorted(os.walk(src)):
        for name in sorted(names):
            if not name.endswith(OTHERS):
                yield os.path.relpath(os.path.join(folder, name), src)


def resolve(src, path, name):
    """The included file as a path below src/, or None where src/ has no such file."""
    for candidate in (name, os.path.normpath(os.path.join(os.path.dirname(path), name))):
        if os.path.isfile(os.path.join(src, candidate)):
            return os.path.relpath(os.path.join(src, candidate), src)
    return None


def check_include(src, path, room, rest):
    """What is wrong with an include of `rest`, or None."""
    match = INCLUDED.match(rest)
    if not match:
        return "an include names its file in quotes or in angle brackets, on one line"
    name = match[1] or match[2]
    target = resolve(src, path, name)
    if target is None and match[2] and "/src/" not in "/" + name:
        return None  # of the system, the public headers, or the target's by the include path
    if target is None:
        return f"src has no {name}"
    to = room_of(target)
    if to != room and to not in allowed(room):
        may = ", ".join(sorted(allowed(room))) or "no other room"
        return f"{room} includes {to}; {room} may include {may}"
    return None


def check_line(src, path, room, line):
    """What is wrong with the line, or None."""
    directive = DIRECTIVE.match(line)
    if directive:
        wrong = check_include(src, path, room, directive[1])
        if wrong:
            return wrong
    if room in TARGET_FREE:
        condition = CONDITION.match(line)
        if "src/" + path != SHIM and TARGET_WORDS.search(line) or condition and not (
                CONDITIONS.match(condition[2]) or "src/" + path in OTHER_CONDITIONS):
            return f"{room} asks for the target; what one target does belongs behind its target header"
    if room != "runtime" and "src/" + path not in NAMES_A_RUNTIME and RUNTIME_WORDS.search(line):
        return f"{room} names a runtime; ask a property of struct tg_runtime_ops instead"
    return None


def cycle():
    """A cycle in the table itself, as a list of rooms, or None."""
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return None
        path.append(room)
        for to in sorted(ALLOWED[room]):
            found = visit(to)
            if found:
                return found
        path.pop()
        done.add(room)
        return None

    return next((found for found in map(visit, sorted(ALLOWED)) if found), None)


def offences(root):
    src = os.path.join(root, "src")
    found = []
    if cycle():
        found.append("layers.py: the table has a cycle: " + " -> ".join(cycle()))
    for path in sources(src):
        room = room_of(path)
        if allowed(room) is None:
            found.append(f"src/{path}:1: no room is called {room}; add it to the table of {__file__}")
            continue
        if not path.endswith(SOURCES):
            found.append(f"src/{path}:1: sources end in {', '.join(SOURCES)}")
            continue
        with open(os.path.join(src, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                wrong = check_line(src, path, room, line)
                if wrong:
                    found.append(f"src/{path}:{number}: {wrong}")
    return found + missing_readmes(src)


def missing_readmes(src):
    """Folders of several sources that do not say what they are for."""
    found = []
    for folder, _, names in sorted(os.walk(src)):
        if sum(name.endswith(SOURCES) for name in names) > 1 and "README.md" not in names:
            found.append(f"{os.path.relpath(folder, src)}: no README.md says what it is for")
    return ["src/" + line for line in found]


PLANTS = [
    ("src/base/status.c", '#include "recording/reader.h"\n', "base includes recording"),
    ("src/cli/main.c", '#include "base/error.h"\n', "cli includes base"),
    ("src/host/run.c", '#include "../analysis/match.h"\n', "host includes analysis"),
    ("src/cli/main.c", "#include <base/error.h>\n", "cli includes base"),
    ("src/cli/main.c", "#include <../src/base/error.h>\n", "cli includes base"),
    ("src/cli/main.c", '/* x */ # include "base/error.h"\n', "cli includes base"),
    ("src/cli/main.c", '%:include "base/error.h"\n', "cli includes base"),
    ("src/cli/main.c", '#import "base/error.h"\n', "cli includes base"),
    ("src/cli/main.c", '#define H "base/error.h"\n#include H\n', "names its file in quotes"),
    ("src/cli/main.c", '#include \\\n"base/error.h"\n', "names its file in quotes"),
    ("src/host/odd.hpp", "int odd;\n", "sources end in"),
    ("src/device/core.c", "#if defined(__CUDACC__)\n#endif\n", "device asks for the target"),
    ("src/device/core.c", "#ifdef __x86_64__\n#endif\n", "device asks for the target"),
    ("src/orchestrate/submit.c", "#if TG_CUDA\n#endif\n", "orchestrate asks for the target"),
    ("src/cli/main.c", 'strcmp(name, "host_build_graph");\n', "cli names a runtime"),
    ("src/host/run.c", "if (ops == &tg_runtime_host_build_graph)\n", "host names a runtime"),
    ("src/host/run.c", "if (graph->runtime == 0)\n", "host names a runtime"),
    ("src/host/run.c", "/* TG_RUNTIME_HOST_BUILD_GRAPH */\n", "host names a runtime"),
    ("src/attic/odd.c", "int odd;\n", "no room is called attic"),
]


def check_plants(root):
    """Plants one offence at a time; returns what went unnoticed."""
    unnoticed = []
    for path, text, expected in PLANTS:
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(os.path.join(root, "src"), os.path.join(copy, "src"))
            target = os.path.join(copy, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "a", encoding="utf-8") as file:
                file.write(text)
            if not any(line.startswith(path) and expected in line for line in offences(copy)):
                unnoticed.append(f"unnoticed: {path}: {expected}")
    return unnoticed


def main():
    arguments = sys.argv[1:]
    plant = arguments[:1] == ["--plant"]
    arguments = arguments[plant:]
    root = arguments[0] if arguments else os.path.join(os.path.dirname(__file__), "..")
    found = check_plants(root) if plant else offences(root)
    print("\n".join(found) if found else "all rooms include only what they may")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
