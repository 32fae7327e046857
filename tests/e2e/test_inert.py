# SPDX-License-Identifier: Apache-2.0
"""Whatever text a file, a folder or an option contains, what Taskglass prints is inert."""

import os
import subprocess

import pytest

from conftest import PROGRAM, TIMEOUT, clean_environment
from inert import HOSTILE, check_inert

VERBS = ["run", "list", "view", "export", "diff", "check", "find", "stats", "verify", "replay", "scope",
         "recover", "config"]
RAW = HOSTILE.encode() + b"\xff\x9b\xc0\xaf\xed\xa0\x80"


def raw(arguments, cwd):
    """Runs the program with arguments that need not be UTF-8."""
    return subprocess.run([bytes(PROGRAM), *arguments], cwd=cwd, env=clean_environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)


def check_refusal(result):
    check_inert(result.stderr)
    check_inert(result.stdout)
    assert result.returncode == 2, result
    assert result.stderr.count(b"\n") == 1, result.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_a_message_quotes_what_was_typed_without_what_acts_on_a_terminal(verb, tmp_path):
    name = verb.encode()
    for arguments in ([RAW], [b"--" + RAW], [b"-" + RAW], [b"--task", RAW], [b"--json", RAW]):
        check_refusal(raw([name, *arguments], tmp_path))


@pytest.mark.parametrize("verb", VERBS)
def test_a_message_about_a_long_word_stays_short_and_keeps_its_advice(verb, tmp_path):
    result = raw([verb.encode(), b"--" + b"x" * 5000], tmp_path)
    check_refusal(result)
    assert len(result.stderr) < 1000
    assert b"--help" in result.stderr
    result = raw([verb.encode(), "é".encode() * 2500], tmp_path)
    check_refusal(result)
    assert len(result.stderr) < 1000


def test_the_name_of_a_run_on_disk_is_shown_without_what_acts_on_a_terminal(tg, tmp_path):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "plain")
    name = RAW.replace(b"/", b"")[:200]
    os.rename(bytes(tmp_path / "plain"), os.path.join(bytes(tmp_path), name))
    for verb in (b"view", b"stats", b"verify", b"check", b"recover", b"scope"):
        for more in ([], [b"--json"]):
            result = raw([verb, name, *more], tmp_path)
            check_inert(result.stdout, verb)
            check_inert(result.stderr, verb)
    result = raw([b"diff", name, name], tmp_path)
    assert result.returncode == 0, result
    check_inert(result.stdout)
