# SPDX-License-Identifier: Apache-2.0
"""The reference of the headers: every public function, type, constant and macro has its contract, every
link of a page leads somewhere, and what lacks one is noticed."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not shutil.which("doxygen"), reason="no doxygen here")

HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* A header. */
#ifndef X_H
#define X_H

"""


def messages_of(text, folder):
    """What Doxygen says about a header with this text."""
    header = folder / "plain.h"
    header.write_text(HEAD + text + "\n#endif\n")
    (folder / "x.h").write_text(subprocess.run([ROOT / "scripts/doxygen-filter", header], capture_output=True,
                                               text=True, check=True).stdout)
    settings = (ROOT / "docs/Doxyfile").read_text() + "INPUT = x.h\nUSE_MDFILE_AS_MAINPAGE =\n"
    result = subprocess.run(["doxygen", "-"], input=settings, cwd=folder, capture_output=True, text=True,
                            check=False)
    assert (result.returncode != 0) == (result.stderr.strip() != ""), result
    return result.stderr


def test_the_site_has_no_warning(tmp_path):
    result = subprocess.run([ROOT / "scripts/docs", tmp_path], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")
    assert (tmp_path / "html/index.html").is_file()
    status = (tmp_path / "html/status_8h.html").read_text()
    assert "a kernel crashed" in status and "TG_KERNEL_FAULT" in status


# Each is one comment, and what it documents.
GOOD = [
    "/* Above several functions. */\nint tg_one(int x);\nint tg_two(int x);",
    "/* A thing, its members named well or explained. */\nstruct tg_thing {\n    int count;\n"
    "    int n, m; /* two */\n    int x; /* one\n               more */\n};",
    "/* Words. */\nenum tg_word { TG_A_X, TG_B_X = 3 };",
    "#define TG_SIZE_X 4 /* bytes */",
    "/* Marks of Doxygen: <angle>, a@b, c:\\\\d, #define and 50 % & --all. */\nint tg_three(void);",
    "/* Two. */\n#define TG_LOW_X 1\n#define TG_HIGH_X(a) \\\n    (a)",
]
# Each has something without a comment, whose name has an end of its own.
BAD = [
    "int tg_alone(int x);",
    "/* One. */\nint tg_first(int x);\n\nint tg_bad_behind_empty_line(int x);",
    "/* A. */\nstruct tg_known {\n    int x;\n};\nint tg_bad_behind_struct(int x);",
    "struct tg_bad_struct {\n    int x;\n};",
    "enum tg_bad_enum { TG_C_X, TG_D_X };",
    "#define TG_BAD_MACRO 4",
    "/* One. */\nstatic inline int tg_inline(void)\n{\n    return 1;\n}\n\n"
    "static inline int tg_bad_inline(void)\n{\n    return 2;\n}",
]


def test_a_plain_comment_is_enough(tmp_path):
    assert messages_of("\n\n".join(GOOD), tmp_path) == ""


def test_what_has_no_comment_is_refused(tmp_path):
    said = messages_of("\n\n".join(BAD), tmp_path)
    named = set(re.findall(r"(?:Member|Compound) (\w+)", said))
    assert named == {"tg_alone", "tg_bad_behind_empty_line", "tg_bad_behind_struct", "tg_bad_struct",
                     "tg_bad_enum", "TG_BAD_MACRO", "tg_bad_inline"}
