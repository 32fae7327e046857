#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every file which a comment or a page of documentation names exists in the tree.

Files move, and the comments that name them stay behind. A reader who then searches for the file
finds nothing, and no compiler notices. This test reads the comments of C, CUDA, C++, Python, shell
and CMake sources, the docstrings, and every *.md. It collects the words with a source ending
(reader.c, tests/test.h, reader_{entry,journal}.c, src/device/*.h) and the paths in backticks that
begin with a folder of the root (`src/device`). A name is good if it is a path from the root, from
one of BASES or from the folder of the file that mentions it, or else the end of the path of a file
in the tree. A page for users may also name the files that it tells its readers to write; its blocks
are not read, because tests/docs runs them.

    names.py [ROOT]      prints FILE:LINE: name for each that is missing, and exits 1
"""

import collections
import fnmatch
import io
import pathlib
import re
import sys
import tokenize

BASES = ("", "src", "include", "include/taskglass", "tests", "docs", "bindings/python",
         "bindings/python/taskglass")
# The folders of the library, and those whose files only use it.
LIBRARY, USERS = {"src", "include", "bindings"}, {"tests", "bench", "examples"}
# Folders without sources of ours: products and caches.
SKIPPED = {".git", ".cache", ".pytest_cache", "__pycache__", "build", "outputs", "node_modules"}

ENDINGS = "c h cu cuh cpp hpp py sh md cmake html".split()
C_LIKE = (".c", ".h", ".cu", ".cuh", ".cpp", ".hpp")
BRACES = r"\{[\w,/.]*\}"
NAME = re.compile(rf"(?<![\w.…>{{-])((?:[\w./*-]|{BRACES})*(?:[\w*]|{BRACES})"
                  rf"\.(?:{'|'.join(ENDINGS)}))(?![\w(-]|\.\w)")
QUOTED = re.compile(r"`([^`\s]+)`")
# A block of a page with a word after its fence, and the name of the file that it is, if it is one.
BLOCK = re.compile(r"(?:`([\w./-]+)`:\s*\n\s*\n)?^ *```\w+\n(.*?)^ *```$", re.M | re.S)

# Names that are right although the tree has no such file.
ALLOWED = {
    # files that a user writes, in examples of how to write them
    "file.c", "model.c", "last.c",
    # headers of the system
    "cuda.h", "math.h", "stdatomic.h", "stdio.h", "string.h",
}
# NAME alone, and NAME.c, stand for any file; within a longer name NAME stands for any word.
PLACEHOLDER = re.compile(r"NAME(\.\w+)?")


def files_of(root):
    """Every file below `root` as a path relative to it; symbolic links are not followed."""
    for path in sorted(root.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if path.name not in SKIPPED:
                yield from (f"{path.name}/{below}" for below in files_of(path))
        else:
            yield path.name


def c_comments(text):
    """The comments of a C or C++ source, each with the number of its first line."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    for found in token.finditer(text):
        if found[0][0] == "/":
            yield text.count("\n", 0, found.start()) + 1, found[0]


def python_comments(text):
    """Comments and docstrings: a string is a docstring where a statement could begin."""
    before = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begins = before in (None, tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE, tokenize.NL)
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and begins):
            yield token.start[0], token.string
        if token.type != tokenize.COMMENT:
            before = token.type


def hash_comments(text):
    """The comments of shell and CMake: from a # that begins a word to the end of its line."""
    for number, line in enumerate(text.split("\n"), 1):
        found = re.search(r"(?:^|\s)#.*", line)
        if found and not line.startswith("#!"):
            yield number, found[0]


def prose_of(path, text):
    """The parts of a file that people read, as pairs of line number and text."""
    if path.endswith(".md"):
        return [(1, text)]
    if path.endswith(C_LIKE):
        return c_comments(text)
    interpreter = text.split("\n", 1)[0] if text.startswith("#!") else ""
    if path.endswith(".py") or "python" in interpreter:
        return python_comments(text)
    if path.endswith((".sh", ".cmake", "CMakeLists.txt")) or interpreter.endswith(("sh", "bash")):
        return hash_comments(text)
    return []


def names_in(text, folders):
    """The file names in a piece of prose, each with the number of its line within the piece."""
    for number, line in enumerate(text.split("\n")):
        line = re.sub(r"\w+://\S+", "", line)
        found = {match[1] for match in NAME.finditer(line)}
        for match in QUOTED.finditer(line):
            word = match[1].rstrip("/")
            if word.split("/")[0] in folders and re.fullmatch(r"[\w./*{},-]+", word):
                found.add(word)
        for name in sorted(found):
            yield number, name


def expanded(name):
    """The names that a pattern with braces stands for, as in the shell."""
    found = re.search(r"\{([^{}]*)\}", name)
    if not found:
        return [name]
    return [whole for part in found[1].split(",")
            for whole in expanded(name[:found.start()] + part + name[found.end():])]


class Tree:
    def __init__(self, root):
        self.files = list(files_of(root))
        self.paths = set(self.files)
        for path in self.files:
            self.paths.update(str(parent) for parent in pathlib.PurePosixPath(path).parents)
        self.folders = {path.split("/")[0] for path in self.files if "/" in path}
        # The ends of paths, with the folders of the root that have them: tests/unit/base/json.c is
        # also found as base/json.c and as json.c.
        self.tails = collections.defaultdict(set)
        for path in self.files:
            parts = path.split("/")
            for i in range(len(parts)):
                self.tails["/".join(parts[i:])].add(parts[0])

    def has(self, name, mentioned_in):
        if not PLACEHOLDER.fullmatch(name.split("/")[-1]):
            name = name.replace("NAME", "*")
        parts = name.split("/")
        if parts[-1] in ALLOWED or PLACEHOLDER.fullmatch(parts[-1]):
            return True
        name = name.removeprefix("./")
        if "*" in name:
            return any(fnmatch.fnmatch(path, name) or fnmatch.fnmatch(path, f"*/{name}")
                       for path in self.paths)
        # Tests have the names of the sources that they test, so a source that speaks of heap.c does
        # not mean tests/unit/platform/heap.c.
        tops = self.tails.get(name, set())
        if tops and not (mentioned_in.split("/")[0] in LIBRARY and tops <= USERS):
            return True
        folder = pathlib.PurePosixPath(mentioned_in).parent
        for base in (*map(pathlib.PurePosixPath, BASES), folder):
            parts = []
            for part in (base / name).parts:
                if part == ".." and parts:
                    parts.pop()
                else:
                    parts.append(part)
            if "/".join(parts) in self.paths:
                return True
        return False


def missing(root):
    tree = Tree(root)
    for path in tree.files:
        if (root / path).is_symlink():
            continue
        try:
            text = (root / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        own = set()
        if path.endswith(".md"):
            own = {found[1] for found in BLOCK.finditer(text)}
            text = BLOCK.sub(lambda found: "\n" * found[0].count("\n"), text)
        for first, prose in prose_of(path, text):
            for number, name in names_in(prose, tree.folders):
                if name not in own and not all(tree.has(whole, path) for whole in expanded(name)):
                    yield f"{path}:{first + number}: {name}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    offenders = list(missing(root.resolve()))
    for offender in offenders:
        print(offender)
    if offenders:
        print(f"{len(offenders)} names of files that do not exist", file=sys.stderr)
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main())
