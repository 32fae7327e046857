# SPDX-License-Identifier: Apache-2.0
"""The documents say what the library's tables say."""

import pathlib
import re

import pytest
import taskglass
from taskglass import dtypes
from taskglass._library import words

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMAT = (ROOT / "docs" / "wire-format.md").read_text()


def test_the_element_types_of_the_document_are_those_of_the_library():
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| (\d+) \|", FORMAT, re.M)
    types = [dtypes.dtype(name) for name in dtypes.names()]
    assert rows == [(str(each.number), each.name, str(each.bits)) for each in types]


@pytest.mark.parametrize("function, member", [
    ("tg_stage_name", "stage"), ("tg_level_name", "level"), ("tg_policy_name", "policy"),
    ("tg_kind_name", "kind")])
def test_the_numbers_of_words_in_the_document_are_those_of_the_library(function, member):
    row = re.search(rf"^\| \d+ \| u\d+ \| `{member}` \| (.*) \|$", FORMAT, re.M).group(1)
    known = [(str(number), word) for number, word in enumerate(words(function))]
    assert re.findall(r"(\d+) `(\w+)`", row) == [  # no recording has the level off
        each for each in known if each[1] != "off"]


@pytest.mark.parametrize("setting", ["dump-tensor", "dump-policy", "dump-transport"])
def test_the_man_page_of_run_has_every_word_of_a_choice(setting):
    page = (ROOT / "man" / "taskglass-run.1").read_text()
    choices = next(each.choices for each in taskglass.settings() if each.name == setting)
    assert [word for word in choices if not re.search(rf"Cm {word}\b", page)] == []


def test_the_man_page_of_export_names_formats_that_there_are():
    page = (ROOT / "man" / "taskglass-export.1").read_text()
    named = re.findall(r"^\.It Cm (\w+)", page, re.M)
    assert named and set(named) <= set(taskglass.export_formats())
