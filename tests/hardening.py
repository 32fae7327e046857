#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hardening.py READELF FLAGS FILE...: looks whether programs and libraries were built as
cmake/TaskglassHarden.cmake says. FLAGS is what the compiler knows, as a list of CMake: stack;fortify;branches."""
import re
import subprocess
import sys

# The instructions at which an indirect call may arrive, by machine: endbr64; bti c, paciasp.
LANDINGS = {"X86-64": (b"\xf3\x0f\x1e\xfa",),
            "AArch64": (b"\x5f\x24\x03\xd5", b"\x3f\x23\x03\xd5")}


def readelf(program, option, path):
    return subprocess.run([program, "-W", option, path], check=True, capture_output=True, text=True).stdout


def code_at(segments, path, address):
    """The first instruction of a function."""
    for line in re.findall(r"^\s+LOAD\s+(.*)$", segments, re.M):
        offset, virtual, _, size = (int(word, 16) for word in line.split()[:4])
        if virtual <= address < virtual + size:
            with open(path, "rb") as file:
                file.seek(offset + address - virtual)
                return file.read(4)
    return b""


def lands_anywhere(program, path, head, segments):
    """Exported functions and main, where an indirect call enters without a landing instruction."""
    landings = next((codes for machine, codes in LANDINGS.items() if machine in head), None)
    named = re.findall(r"^\s*\d+: ([0-9a-f]+)\s+\d+ FUNC\s+GLOBAL (?:\w+\s+\d+ (?=main\b)|DEFAULT\s+\d+ (?=tg_))(\w+)",
                       readelf(program, "-s", path), re.M)
    return [name for address, name in named
            if landings and code_at(segments, path, int(address, 16)) not in landings]


def problems(program, flags, path):
    """What is wrong with the file, one text each."""
    head, segments = readelf(program, "-h", path), readelf(program, "-l", path)
    dynamic, symbols = readelf(program, "-d", path), readelf(program, "--dyn-syms", path)
    is_program = "INTERP" in segments
    stack = re.search(r"GNU_STACK.*?\s([RWE]+)\s", segments)
    if not re.search(r"Type:\s+DYN", head):
        yield "its addresses are fixed (no PIE)"
    if is_program and "PIE" not in dynamic:
        yield "the linker did not make it a PIE"
    if "GNU_RELRO" not in segments:
        yield "no segment becomes read-only after relocation (no RELRO)"
    if not re.search(r"\(FLAGS_1\).*\bNOW\b|\(BIND_NOW\)|\(FLAGS\).*BIND_NOW", dynamic):
        yield "symbols are bound when they are first used (RELRO is not full)"
    if stack is None or "E" in stack[1]:
        yield "its stack can be executed"
    if "(TEXTREL)" in dynamic:
        yield "its code is written when it is loaded"
    if "(RUNPATH)" in dynamic and re.search(r"\(RUNPATH\).*\[(?!\$ORIGIN)", dynamic):
        yield "it looks for libraries in a fixed folder"
    is_ours = is_program or "libtaskglass" in path  # a small workload may have nothing to guard
    if is_ours and "stack" in flags and "__stack_chk_fail" not in symbols:
        yield "its stack is not guarded"
    if is_ours and "branches" in flags and lands_anywhere(program, path, head, segments):
        yield "indirect calls may land anywhere (no CET, BTI)"
    if "libtaskglass" in path and "fortify" in flags and not re.search(r"__\w+_chk\b(?<!__stack_chk)",
                                                                      symbols):
        yield "libc's functions are not checked (no FORTIFY)"


def main():
    program, flags, paths = sys.argv[1], sys.argv[2].split(";"), sys.argv[3:]
    wrong = [f"{path}: {problem}" for path in paths for problem in problems(program, flags, path)]
    print("\n".join(wrong) or f"{len(paths)} files are hardened")
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
