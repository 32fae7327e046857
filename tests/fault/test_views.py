# SPDX-License-Identifier: Apache-2.0
"""A view that does not fit is named where it is submitted: the line, the task, the argument, what was asked
for, and the shape that there is."""

import pytest

from conftest import HERE, PLATFORMS, SANITIZED, compiled
from platforms import GPU

SOURCE = HERE / "workloads" / "views.c"
RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]
pytestmark = pytest.mark.skipif(GPU, reason="compiled for processes alone")

WORDS = {
    "slice": "slice 6:10 of dimension 0 is outside shape (8, 4)",
    "long": f"slice 0:{2**63 - 1} of dimension 1 is outside shape (8, 4)",
    "backwards": "slice 5:3 of dimension 0 ends before it begins, in shape (8, 4)",
    "step": "a slice of dimension 0 has step 0; steps are 1 or more",
    "index": "index 4 of dimension 1 is outside shape (8, 4)",
    "negative": "index -1 of dimension 0 is outside shape (8, 4)",
    "dimension": "there is no dimension 2 in shape (8, 4)",
    "transpose": "there is no dimension 7 in shape (8, 4)",
    "flip": "there is no dimension -2 in shape (8, 4)",
    "broadcast": "dimension 0 of shape (8, 4) cannot be broadcast to 16 elements; its extent must be 1",
    "gaps": "a view of shape (8, 2) that is not contiguous cannot be reshaped",
    "reshape": "shape (8, 4) cannot be reshaped to 15 elements; their number must stay",
    "tile": "slice 2:6 of dimension 1 is outside shape (8, 4)",
    "chain": "slice 7:9 of dimension 0 is outside shape (8, 4)",
    "unset": "not a tensor (it was never set",
}


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    return compiled("views", tmp_path_factory.mktemp("views"), "-g")


def line_of(mark):
    return 1 + next(number for number, text in enumerate(SOURCE.read_text().splitlines())
                    if text.endswith(f"/* line: {mark} */"))


def run(tg, views, view, *more):
    return tg("run", views, "--set", f"view={view}", "--output", view, *more)


@pytest.mark.parametrize("view", WORDS)
def test_a_view_that_does_not_fit_is_named(tg, views, view):
    code, said = run(tg, views, view)
    assert code == 2, said
    assert f"{SOURCE}:{line_of('submit')}: task 0 (copy) argument 0: {WORDS[view]}" in said


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_it_is_named_alike_on_every_runtime(tg, views, runtime, platform):
    assert run(tg, views, "good", "--runtime", runtime, "--platform", platform) == (0, "")
    code, said = run(tg, views, "slice", "--runtime", runtime, "--platform", platform)
    assert code == 2, said
    assert f"{SOURCE}:{line_of('submit')}: task 0 (copy) argument 0: {WORDS['slice']}" in said


@pytest.mark.skipif(SANITIZED, reason="a sanitizer catches the signal first")
def test_an_argument_that_the_task_has_not_faults_in_the_line_that_asks_for_it(tg, views):
    code, said = run(tg, views, "argument")
    assert code == 3 and "KERNEL_FAULT: task 0, kernel index" in said, said
    assert f"{SOURCE}:{line_of('argument')} in views_index" in said
