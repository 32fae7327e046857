# SPDX-License-Identifier: Apache-2.0
"""The player of pages notices what is wrong with a page."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from compare import difference  # noqa: E402
from page import Bad, blocks_of, commands_of  # noqa: E402
from play import bash_accepts, play_page  # noqa: E402


@pytest.fixture
def play(tmp_path, capsys):
    """Plays a page in a tree whose README.md sets a variable, with an empty prefix."""
    (tmp_path / "prefix" / "bin").mkdir(parents=True)
    (tmp_path / "README.md").write_text("```sh\nexport GREETING=hello\n```\n")
    (tmp_path / "known.txt").write_text("one\ntwo\n")

    def playing(text):
        page = tmp_path / "page.md"
        page.write_text(text)
        code = play_page(page, str(tmp_path / "prefix"), root=tmp_path)
        return code, capsys.readouterr().err

    return playing


GOOD = {
    "commands share directory and variables":
        "```sh\nmkdir a\ncd a\nexport X=1\n```\n\n```sh\ntest \"$X\" = 1\ntest \"$(basename $PWD)\" = a\n```\n",
    "the page begins with what README.md sets": "```console\n$ echo $GREETING\nhello\n```\n",
    "a file is saved for later commands": "Into `a/b.txt`:\n\n```ini\nx = 1\n```\n\n```sh\ngrep -q 'x = 1' a/b.txt\n```\n",
    "an exit code that the page names": "```sh\nfalse   # exit code 1\n```\n",
    "an exit code that echo shows": "```console\n$ sh -c 'exit 3'\n$ echo $?\n3\n```\n",
    "a here-document": "```sh\ncat >x <<'EOF'\nfor all\nEOF\ngrep -q all x\n```\n",
    "a command of several lines": "```sh\nfor i in 1 2; do\n  echo $i\ndone\necho a \\\n  b\n```\n\n```text\n1\n2\na b\n```\n",
    "a program in C": "```c\n#include <stdio.h>\nint main(void) { puts(\"hi\"); return 0; }\n```\n",
    "a part of a program": "```c\nint twice(int x);\nint twice(int x) { return 2 * x; }\n```\n",
    "a program after a word that is no file": "It has `.text`:\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n",
    "a program in Python": "```python\nprint(40 + 2)\n```\n\n```text\n42\n```\n",
    "a change of a file": "`x.txt`:\n\n```ini\na = 1\nb = 2\n```\n\nIn `x.txt`:\n\n```diff\n a = 1\n-b = 2\n+b = 3\n"
                        "```\n\n```sh\ngrep -q 3 x.txt\n```\n",
    "a block that shows a file of the tree": "<!-- same as known.txt -->\n\n`x.txt`:\n\n```ini\none\ntwo\n```\n",
    "a block that needs the source tree": "<!-- not run: CI runs it -->\n\n```sh\nmake demo\n```\n",
    "a picture": "```\na -> b\n```\n",
    "a background job": "```sh\nsleep 0.1 &\necho $! >pid\n```\n",
}

BAD = {
    "a command that fails": ("```sh\nfalse\ntrue\n```\n", "exit code 1 instead of 0: false"),
    "a command that succeeds and must not": ("```sh\ntrue  # exit code 2\n```\n", "exit code 0 instead of 2"),
    "another exit code": ("```console\n$ sh -c 'exit 3'\n$ echo $?\n2\n```\n", "another exit code"),
    "another output": ("```console\n$ echo good\nbad\n```\n", "no line of the output is the shown line"),
    "more output": ("```console\n$ printf 'a\\nb\\n'\na\n```\n", "prints more lines"),
    "less output": ("```sh\necho a\n```\n\n```text\na\nb\n```\n", "no line of the output"),
    "a program that does not compile": ("```c\nint main(void) { return x; }\n```\n", "undeclared"),
    "a warning": ("```c\nint main(void) { int x; return 0; }\n```\n", "unused variable"),
    "a part that is not whole": ("```c\nTG_KERNEL(a)\n{\n}\n```\n", "page.md:2"),
    "a file with a warning": ("`x.c`:\n\n```c\nstatic int x(void) { return 0; }\n```\n", "defined but not used"),
    "a file without a name": ("```cmake\nproject(x)\n```\n", "its name stands above it"),
    "an indented block": ("Text:\n\n    $ false\n", "a block needs a fence"),
    "a block without a word": ("```\n$ false\n```\n", "needs a word"),
    "a block without an end": ("```sh\ntrue\n", "has no end"),
    "a command without an end": ("```sh\necho \"a\n```\n", "has no end"),
    "a block left out without need": ("<!-- not run: lazy -->\n\n```sh\ntaskglass list\n```\n", "may be left out"),
    "a copy that differs": ("<!-- same as known.txt -->\n\n`x.txt`:\n\n```ini\none\n```\n", "differs from known.txt"),
    "a change that does not fit": ("`x.txt`:\n\n```ini\na = 1\n```\n\n`x.txt`:\n\n```diff\n-a = 2\n+a = 3\n```\n",
                                   "0 times instead of once"),
    "an output of nothing": ("```text\nhello\n```\n", "no block before this one"),
    "a file outside": ("`../../../x.txt`:\n\n```ini\na\n```\n", "not below"),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_page_passes(play, name):
    assert play(GOOD[name]) == (0, "")


@pytest.mark.parametrize("name", BAD)
def test_a_planted_fault_is_noticed(play, name):
    text, said = BAD[name]
    code, error = play(text)
    assert code == 1 and said in error


def test_the_environment_of_the_tester_is_not_used(play, monkeypatch):
    monkeypatch.setitem(os.environ, "TASKGLASS_PLATFORM", "a5sim")
    assert play("```sh\ntest -z \"$TASKGLASS_PLATFORM\"\n! command -v taskglass\n```\n")[0] == 0


@pytest.mark.parametrize("shown, seen", [
    ("took 1.5 ms", "took 27 µs"),
    ("74 records, 288 KiB", "3 records, 1.5 MiB"),
    ("hash ed5f0676", "hash 0123abcd"),
    ("at 0x0", "at 0x7fff12"),
    ("-nan -nan", "nan -nan"),
    ("a   b", " a b"),
    ("out/x_20261115_094605", "out/x_20270101_000000"),
    ("a … z", "a b c z"),
    ("a\n…\nz", "a\nz"),
    ("a\n…\nz", "a\nb\nc\nz"),
    ("a\n\nb", "a\nb\n"),
    ("…", ""),
])
def test_outputs_that_agree(shown, seen):
    assert difference(shown, seen) is None


@pytest.mark.parametrize("shown, seen", [
    ("took 1.5 ms", "took long"),
    ("-nan", "1.5"),
    ("KERNEL_FAULT: task 3", "HANG: task 3"),
    ("a", "a b"),
    ("a\nb", "b\na"),
    ("a\n…\nz", "a\nz\nb"),
    ("ok", ""),
])
def test_outputs_that_differ(shown, seen):
    assert difference(shown, seen) is not None


def test_lines_of_console_that_begin_with_a_prompt_are_commands():
    [block] = blocks_of("```console\n$ one \\\n> two\nout\n$ three\n```\n")
    assert [(command.text, command.shown) for command in commands_of(block, bash_accepts)] == [
        ("one \\\ntwo", "out\n"), ("three", None)]


def test_a_page_names_the_line():
    with pytest.raises(Bad, match="^5: "):
        blocks_of("a\n\nb\n\n    code\n")
