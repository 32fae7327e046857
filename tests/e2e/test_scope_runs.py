# SPDX-License-Identifier: Apache-2.0
"""Scope stats of real runs, on both simulators and both runtimes with rings: what they say about
source lines, peaks and waiting, and whether their advice is right. tests/workloads/rings has the cases."""

import json

import pytest

from conftest import PLATFORMS, workload
from test_rings import RUNTIMES, TENSORMAP

RINGS = workload("rings")


@pytest.fixture(params=PLATFORMS)
def rings(tg, request):
    """rings(runtime, case, options …, name=value …): the result, and what `taskglass scope` says."""
    def run(runtime, case, *options, code=0, **params):
        more = [word for name, value in params.items() for word in ("--set", f"{name}={value}")]
        result = tg("run", RINGS, "--case", case, "--runtime", runtime, "--platform", request.param,
                    "--output", "out", "--enable-scope-stats", *more, *options)
        assert result.returncode == code, result
        return result, tg.json("scope", "out")
    return run


# ── source lines ────────────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_source_line_keeps_its_own_scopes(rings, runtime):
    """1,500 names, which all end alike; most are too long for the device to keep whole."""
    result, document = rings(runtime, "sites", n=1500)
    assert "warning" not in result.stderr
    rows = [row for row in document["peaks"] if row["site"].split(" ")[0].endswith("sites.c:1")]
    assert len(rows) == 1500 == len({row["site"] for row in rows})
    assert {row["count"] for row in rows} == {1}
    assert all(row["site"].startswith("...") for row in rows if len(row["site"]) > 127)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_source_lines_that_the_device_cannot_name_keep_their_numbers(rings, runtime):
    result, document = rings(runtime, "sites", n=3000)
    rows = [row for row in document["peaks"] if row["site"].startswith("(site ")]
    assert {row["site"] for row in rows} == {f"(site {number})" for number in range(2048, 3001)}
    assert {row["count"] for row in rows} == {1}
    assert "scope stats: 953 of the orchestration's source lines have a number" in result.stderr


def test_the_edges_of_a_graph_name_every_scope(tg):
    tg.good("run", RINGS, "--case", "sites", "--set", "n=2100", "--runtime", TENSORMAP, "--deps",
            "--output", "out")
    tasks = json.loads((tg.directory / "out" / "deps.json").read_text())["tasks"]
    assert len({task["scope"] for task in tasks}) == 2100
