# SPDX-License-Identifier: Apache-2.0
"""Mistakes with communication: every rank's report names the ranks and the source lines, and none waits in vain."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from conftest import PROGRAM, TIMEOUT, WORKLOADS
from platforms import ENVIRONMENT, few

SOURCE = pathlib.Path(__file__).parents[1] / "workloads" / "comm_mistakes" / "orchestrate.c"
RANKS = 3
RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
# The mistakes that only the no-progress limit finds, because nobody has ended.
HANGS = (20,)
# The rank that makes the mistake is refused before anybody could compare.
REFUSED = (22,)
# There are two mistakes, and the one that shows first is named.
EITHER = (16,)


def lines_of(which):
    """The source lines that a report has to name: letter to "orchestrate.c:LINE"."""
    found = {}
    for number, line in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1):
        for letter in re.findall(rf"/\* {which}([a-z]) \*/", line):
            found[letter] = f"orchestrate.c:{number}"
    assert found, f"no line of {SOURCE} has a comment with {which}"
    return found


def run(folder, platform, which, runtime):
    """How a run with this mistake ended, and its ranks.json."""
    done = subprocess.run(
        [PROGRAM, "run", WORKLOADS / "comm_mistakes.so", "--ranks", str(RANKS), "--platform", platform, "--runtime",
         runtime, "--set", f"which={which}", "--timeout", "2" if which in HANGS else "60", "--output", folder / "out"],
        cwd=folder, timeout=TIMEOUT, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False)
    return done, json.loads((folder / "out" / "ranks.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_without_a_mistake_all_is_well(tmp_path, platform, runtime):
    done, ranks = run(tmp_path, platform, 0, runtime)
    assert done.returncode == 0, done.stderr
    assert [rank["status"] for rank in ranks["rank"]] == ["OK"] * RANKS


@pytest.mark.parametrize("which", few(range(1, 23), 8))
def test_all_ranks_name_the_mistake(tmp_path, platform, which):
    runtime = RUNTIMES[(which + len(platform)) % len(RUNTIMES)]
    done, ranks = run(tmp_path, platform, which, runtime)
    assert done.returncode == (2 if which in REFUSED else 3), done.stderr
    for rank in ranks["rank"]:
        if which in REFUSED:
            assert rank["status"] == "BAD_ARGUMENT" if rank["rank"] == 0 else rank["status"] in ("BAD_ARGUMENT", "RANK_LOST")
        elif which in HANGS:  # the first one that gives up ends the others
            assert rank["status"] in ("HANG", "RANK_LOST"), rank
        else:
            assert rank["status"] == "COMM_MISMATCH", rank
        named = [line in rank["error"] for line in lines_of(which).values()]
        assert any(named) if which in EITHER else all(named), f"rank {rank['rank']}: {rank['error']}"
        assert re.search(r"rank \d", rank["error"])
