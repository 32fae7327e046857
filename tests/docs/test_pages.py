# SPDX-License-Identifier: Apache-2.0
"""The pages as a site: the README is short, and every page can be reached. tests/pages.py looks where links lead."""

import pathlib
import re
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])]
import pages  # noqa: E402
from page import blocks_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "README.md"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
INSIDE = {"architecture.md", "design.md", "live-protocol.md", "security.md", "wire-format.md",
          "workbench-protocol.md"}  # not played
PLAYED = [path for path in PAGES if path.name not in INSIDE]
# What nobody reads word by word: blocks, comments, tables' rulers.
SKIMMED = re.compile(r"^```.*?^```$|<!--.*?-->|^\|[\s|-]+\|$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def name_of(path):
    return str(path.relative_to(ROOT))


def prose_of(path):
    return SKIMMED.sub("", path.read_text())


def links_of(path):
    return [link for link in LINK.findall(prose_of(path)) if "://" not in link]


def test_the_readme_takes_three_minutes():
    """People read about 240 words of such text in a minute; the code between is skimmed."""
    assert len(re.sub(r"\]\([^)]*\)", "", prose_of(ROOT / "README.md")).split()) <= 3 * 240


def test_every_page_is_in_the_index():
    linked = {(INDEX.parent / link.partition("#")[0]).resolve() for link in links_of(INDEX)}
    assert not [name_of(path) for path in PAGES if path not in linked | {INDEX}]


@pytest.mark.parametrize("path", PLAYED, ids=name_of)
def test_few_blocks_are_left_out(path):
    """A page that needs a GPU has some; elsewhere one or two are make and sudo."""
    blocks = [block for block in blocks_of(path.read_text()) if block.word]
    left_out = [block for block in blocks if block.not_run]
    assert len(left_out) <= max(2, len(blocks) // 2)


def test_a_planted_link_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title\n\n[a](nowhere.md) [b](page.md#a-title) [c](#no-title) [d](https://x.org/y)\n")
    first, second = pages.links(tmp_path)
    assert first == "page.md:3: the link to nowhere.md leads nowhere"
    assert second == "page.md:3: #no-title: the page has no such heading"
