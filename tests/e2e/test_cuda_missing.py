# SPDX-License-Identifier: Apache-2.0
"""The platform `cuda` on a machine without a GPU: one line says so, and other platforms work."""

import json
import subprocess

import pytest

from conftest import PROGRAM, TIMEOUT, clean_environment, has_platform, one_line


def listed():
    """What the program lists; None if it was not built."""
    try:
        return json.loads(subprocess.run([PROGRAM, "list", "--json"], env=clean_environment(),
                                         stdout=subprocess.PIPE, timeout=TIMEOUT).stdout)
    except OSError:
        return None


LISTED = listed()
pytestmark = pytest.mark.skipif(LISTED is not None and has_platform(LISTED, "cuda"),
                                reason="there is a GPU here")


def test_the_list_has_cuda_as_not_available(tg):
    entry = [one for one in tg.json("list")["platforms"] if one["name"] == "cuda"]
    assert [one["available"] for one in entry] == [False]


def test_the_list_says_what_is_missing(tg):
    line = [one for one in tg.good("list").stdout.splitlines() if one.split()[:1] == ["cuda"]]
    why = {one["name"]: one["why"] for one in tg.json("list")["platforms"]}
    assert len(line) == 1 and line[0].endswith("; not available: " + why["cuda"])
    assert "GPU" in why["cuda"] or "driver" in why["cuda"]
    assert why["a2a3sim"] is None and why["a5sim"] is None


def test_a_run_is_refused_in_one_line_that_says_what_is_missing(tg):
    result = tg("run", "vector_add", "--platform", "cuda")
    assert (result.returncode, result.stdout) == (2, ""), result
    assert one_line(result.stderr) and result.stderr.startswith("taskglass: UNSUPPORTED: ")
    assert "driver" in result.stderr or "GPU" in result.stderr


def test_simulators_run_as_ever(tg):
    tg.good("run", "vector_add", "--platform", "a2a3sim")
