# SPDX-License-Identifier: Apache-2.0
"""The pages as a site: the README is short, every page can be reached, every link leads somewhere."""

import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from page import blocks_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "README.md"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
INSIDE = {"architecture.md", "design.md", "live-protocol.md", "security.md", "wire-format.md"}  # not played
PLAYED = [path for path in PAGES if path.name not in INSIDE]
# What nobody reads word by word: blocks, comments, tables' rulers.
SKIMMED = re.compile(r"^```.*?^```$|<!--.*?-->|^\|[\s|-]+\|$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def name_of(path):
    return str(path.relative_to(ROOT))


def prose_of(path):
    return SKIMMED.sub("", path.read_text())


def anchors_of(path):
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links_of(path):
    return [link for link in LINK.findall(prose_of(path)) if "://" not in link]


def broken_links(path):
    for link in links_of(path):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and (target.suffix != ".md" or anchor not in anchors_of(target)):
            yield f"{link}: there is no such heading"


def test_the_readme_takes_three_minutes():
    """People read about 240 words of such text in a minute; the code between is skimmed."""
    assert len(re.sub(r"\]\([^)]*\)", "", prose_of(ROOT / "README.md")).split()) <= 3 * 240


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_link_leads_somewhere(path):
    assert not list(broken_links(path))


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
    assert list(broken_links(page)) == ["nowhere.md: there is no such file", "#no-title: there is no such heading"]
