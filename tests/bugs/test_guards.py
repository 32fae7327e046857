# SPDX-License-Identifier: Apache-2.0
"""Guarded replays: every planted misuse is named with its kernel, argument and element, and nothing else is.
misuse.py says what each kernel of tests/workloads/misuse does wrong."""

import json

import pytest

from conftest import Case
from misuse import BEFORE, BEHIND, GAP, INPUT, MISUSES, OLD, READ, UNWRITTEN
from platforms import GPU, SANITIZED, SPARING

# A GPU cannot protect pages, so it does not see a read that changes nothing, nor a write of the old value.
UNSEEN = {"rewrite_behind", "rewrite_input", "read_unused", "read_both_unused"} if GPU else set()

# Words of the command for the kinds of misuse.py.
KINDS = {"read before": READ, "read behind": READ, "read in a gap": READ, "depends on old contents": OLD}
OUTSIDE = (BEFORE, BEHIND, GAP, READ)
# On a real GPU one case for each set of kinds: the host finds the place in what the GPU left.
ONE_OF_EACH = {tuple(kind for kind, *_ in one.findings): one for one in reversed(MISUSES)}
TRIED = list(ONE_OF_EACH.values()) if SPARING else MISUSES


@pytest.fixture
def case(tmp_path, kept, platform):
    """Replays look the same whoever built the graph."""
    return Case(tmp_path, kept, platform, "host_build_graph")


def found(task):
    """The findings of a task in the terms of misuse.py."""
    for finding in task["misuse"]:
        kind = KINDS.get(finding["kind"], finding["kind"])
        yield kind, finding["arg_index"], finding["place"] if kind in OUTSIDE else finding["element"]


def fits(misuse, expected, findings):
    kind, argument, element = expected
    return any((one, argument, element) in findings for one in (kind, *misuse.or_kinds))


@pytest.mark.parametrize("misuse", TRIED, ids=lambda misuse: misuse.case)
def test_guards_name_what_a_kernel_does_wrong_and_nothing_else(case, misuse):
    if GPU and misuse.case == "read_far_behind":
        pytest.skip("without pages the read gets what happens to lie there, now this and now that")
    if SANITIZED and misuse.case == "clean_peeled":
        pytest.skip("a sanitizer ends the device where the CPU would fault without an address")
    recording = case.record("misuse", "--case", misuse.case)
    code, result = case.json("replay", "--all", "--guard", recording, "--platform", case.platform)
    is_guilty = misuse.findings and misuse.case not in UNSEEN
    assert code == (1 if is_guilty else 0), result["findings"]
    accused = [task for task in result["findings"] if task["result"] != "not known"]
    assert [task["kernel"].split("+")[-1] for task in accused] == [misuse.case] * bool(is_guilty)
    for task in accused:
        assert task["result"] == "misuse"
        findings = list(found(task))
        assert all(fits(misuse, one, findings) for one in misuse.findings), findings
        # A read past the last row of a tile is one behind it too.
        more = [one for one in findings if one not in misuse.findings and one[0] not in misuse.or_kinds]
        assert all(one[0] == READ and misuse.case == "read_tile_column" for one in more), more


@pytest.mark.skipif(GPU, reason="without pages there are no faults")
def test_a_fault_has_its_line(case):
    recording = case.record("misuse", "--case", "rewrite_behind")
    _, result = case.json("replay", "--all", "--guard", recording)
    site = result["findings"][0]["misuse"][0]["site"]
    assert "misuse/kernels.c:" in site and "in rewrite_behind" in site


def test_the_answer_says_what_guards_cannot_see(case):
    recording = case.record("misuse", "--case", "clean_plain")
    code, result = case.json("replay", "--all", "--guard", recording)
    assert (code, result["result"]) == (0, "same")
    assert any("static variables" in text for text in result["not_seen"])


def test_a_task_without_tensors_is_not_called_unprotected(case):
    recording = case.record("misuse", "--case", "clean_nothing")
    shown = case.tool("replay", "--all", "--guard", "--kernel", "clean_nothing", "--json", recording, "--platform",
                      case.platform, codes=(2,))
    result = json.loads(shown.stdout)
    assert result["result"] == "not known"
    assert "no output" in result["not_judged"][0]["text"]
    assert GPU or not any("cannot protect" in text for text in result["not_seen"])
