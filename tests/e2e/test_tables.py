# SPDX-License-Identifier: Apache-2.0
"""tg_table_i64 and tg_table_real: an orchestration reads its input on every runtime and platform, and
a mistake is refused in the same words by all of them."""

import pathlib

import pytest

from conftest import PLATFORMS, workload

SOURCE = pathlib.Path(__file__).parents[1] / "workloads" / "tables" / "orchestrate.c"

RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
TABLE = "argument 0 'block_table'"
MISTAKES = {
    "outside": f"index (1, 5) is outside of {TABLE}, whose shape is (3, 5)",
    "negative": f"index (-1, 0) is outside of {TABLE}, whose shape is (3, 5)",
    "in_view": f"index (0, 4) is outside of a view of {TABLE}, whose shape is (3, 4)",
    "few": f"1 index for {TABLE}, which has 2 dimensions and shape (3, 5)",
    "many": f"3 indices for {TABLE}, which has 2 dimensions and shape (3, 5)",
    "output": "argument 2 'integers' is an output of the run",
    "written": f"{TABLE} is written by task 0, which was submitted before this line",
    "late": f"a view of {TABLE} is written by task 0, which was submitted before this line",
    "own": "this tensor is not in memory that the orchestration was given",
    "invalid": "slice 0:4 of dimension 0 is outside shape (3, 5)",
    "missing": "this is args->tensor[3] of the orchestration, which was given 3 tensors only",
    "crafted": "not a tensor",
}


def line_of(mark):
    lines = SOURCE.read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if line.endswith(f"/* line: {mark} */"))


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("case", ["whole", "view", "alone", "far", "early"])
def test_an_orchestration_reads_its_table(tg, platform, runtime, case):
    tg.good("run", workload("tables"), "--case", case, "--platform", platform, "--runtime", runtime)


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_refused_in_the_same_words_everywhere(tg, case):
    said = set()
    for platform in PLATFORMS:
        for runtime in RUNTIMES:
            result = tg("run", workload("tables"), "--case", case, "--platform", platform,
                        "--runtime", runtime, "--output", "out")
            assert result.returncode == 2, result
            said.add(result.stderr.splitlines()[0])
    assert len(said) == 1, said
    where, words = said.pop().removeprefix("taskglass: BAD_ARGUMENT: ").split(": tg_table: ")
    assert where.endswith(f"tables/orchestrate.c:{line_of(case)}")
    assert words.startswith(MISTAKES[case]), words


def test_the_table_is_recorded_once_and_its_reads_are_not(tg):
    """What the orchestration was given is recorded, so a record of each read would say nothing more."""
    for runtime in RUNTIMES:
        tg.good("run", workload("tables"), "--case", "whole", "--runtime", runtime, "--dump-tensor",
                "--output", runtime)
        view = tg.json("view", runtime, "--stage", "orchestration")
        assert [one["arg_index"] for one in view["records"]] == [0, 1, 2, 3], view
