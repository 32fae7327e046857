# SPDX-License-Identifier: Apache-2.0
"""The page of taskglass scope --html, in a real browser. With #selftest the page simulates a user
(wheel, drag, keys, clicks) and writes down the results."""

import html
import json
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT
from platforms import SANITIZED
from recordings import peer
from scopes import GUILTY, ScopeStats, example

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--window-size=1200,900", "--virtual-time-budget=10000"]
NASTY = "</script><script>document.title='stolen'</script><!-- \"q\" \\ & é \u2028"
CLEAN = NASTY.replace("\u2028", "???")  # a line end, which no name should have


@pytest.fixture
def browse(tmp_path):
    """browse(page): the results that the page's own test wrote down."""
    if SANITIZED:
        pytest.skip("every build writes the same page; the browser judges that of another build")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not program:
        pytest.skip(f"no browser here ({', '.join(BROWSERS)})")

    def run(page):
        result = subprocess.run(
            [program, *FLAGS, f"--user-data-dir={tmp_path / 'browser'}", "--dump-dom",
             f"{page.as_uri()}#selftest"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=TIMEOUT)
        text = result.stdout.decode()
        found = re.search(r'<pre id="selftest"[^>]*>(.*?)</pre>', text, re.S)
        assert result.returncode == 0 and found and found.group(1), (result.stderr[-2000:],
                                                                     text[:2000])
        return json.loads(html.unescape(found.group(1)))
    return run


def page(tg, tmp_path, run="run"):
    tg.good("scope", run, "--html", "page.html")
    return tmp_path / "page.html"


def test_a_page_asks_for_nothing_from_outside(tg, tmp_path):
    example(tmp_path / "run").write()
    text = page(tg, tmp_path).read_text()
    assert not re.search(r"https?://|\bsrc=|@import|url\(|\bfetch\(|XMLHttpRequest|<link", text)
    assert "default-src 'none'" in text
    assert "@SCOPE_DATA@" not in text


def test_a_page_says_where_it_is_and_how_large(tg, tmp_path):
    example(tmp_path / "run").write()
    out = tg.good("scope", "run", "--html", "page.html").stdout
    assert re.fullmatch(r"page\.html: 6 scopes, [\d.]+ KiB\n", out)


def test_the_page_shows_what_the_command_shows(tg, tmp_path, browse):
    example(tmp_path / "run").write()
    shown = browse(page(tg, tmp_path))
    assert shown["title"] == "Scope stats: run"
    assert shown["summary"] == "6 scopes at 2 sites, 12 samples"
    assert shown["failed"] is None and shown["notes"] == []
    assert shown["advice"][3::4] == tg.json("scope", "run")["options"]
    assert shown["heads"][:4] == ["Site", "Ring", "Scopes", "Depth"]
    assert any(row.startswith("model.c:59") and "5 KiB / 256 MiB" in row for row in shown["rows"])


def test_the_samples_arrive_as_they_were(tg, tmp_path, browse):
    stats = example(tmp_path / "run").write()
    decoded = browse(page(tg, tmp_path))["decoded"]
    assert len(decoded) == len(stats.lines)
    for line, sample in zip(stats.lines, decoded):
        assert (sample["site"], sample["depth"], sample["ring"], sample["end"]) == \
            (line["site"], line["depth"], line["ring"], line["phase"] == "end")
        assert sample["used"] == [line["task_window_end"] - line["task_window_start"],
                                  line["heap_end"] - line["heap_start"],
                                  line["dep_pool_end"] - line["dep_pool_start"], line["tensormap"]]
        if "peak" in line and line["site"] == "model.c:59":
            assert sample["peak"] == list(line["peak"].values())


def test_a_chart_is_drawn_for_what_was_used(tg, tmp_path, browse):
    example(tmp_path / "run").write()
    charts = browse(page(tg, tmp_path))["charts"]
    assert [chart["name"] for chart in charts] == [
        "task window, ring 0", "task window, ring 1", "heap, ring 1", "dep pool, ring 1",
        "tensor map"]
    assert all(chart["painted"] > 500 for chart in charts)


def test_charts_zoom_move_and_come_back(tg, tmp_path, browse):
    stats = ScopeStats(tmp_path / "run")
    for number in range(300):
        stats.scope(f"file.c:{number % 7}", task_window=number % 50)
    stats.write()
    shown = browse(page(tg, tmp_path))
    full = shown["full"]
    assert full == [0, 600]

    def width(name):
        return shown[name][1] - shown[name][0]
    assert width("wheel_in") == pytest.approx(600 / 1.3) and shown["wheel_out"] == full
    assert shown["dragged"] == pytest.approx([150, 300])
    assert width("moved") == pytest.approx(150) and shown["moved"][0] == pytest.approx(165)
    assert shown["wheel_moved"][0] > shown["moved"][0] and width("wheel_moved") == pytest.approx(150)
    assert shown["left"][0] < shown["wheel_moved"][0] and width("left") == pytest.approx(150)
    assert shown["reset"] == full and shown["key_reset"] == full
    assert width("key_in") == pytest.approx(400)


def test_pointing_tells_site_value_and_number(tg, tmp_path, browse):
    stats = ScopeStats(tmp_path / "run", task_window=64)
    stats.scope("first.c:1", task_window=3)
    stats.scope("last.c:2", task_window=16, peak={"task_window": 32})
    stats.write()
    shown = browse(page(tg, tmp_path))
    assert shown["tip"].splitlines() == [
        "last.c:2", "end of a scope, depth 0, ring 0", "task window: 16 of 64 (25.0 %)",
        "most within the scope: 32 (50.0 %)", "sample 3"]
    assert shown["tip_gone"]
    assert shown["key_tip"].splitlines()[0] == "first.c:1"


def test_the_table_is_sorted_by_a_click(tg, tmp_path, browse):
    stats = ScopeStats(tmp_path / "run")
    for number, site in enumerate(("b.c:1", "c.c:1", "a.c:1")):
        stats.scope(site, task_window=number + 1)
    stats.write()
    shown = browse(page(tg, tmp_path))
    assert [row[:5] for row in shown["rows"]] == ["a.c:1", "c.c:1", "b.c:1"]  # nearest to full
    assert shown["by_site"] == ["a.c:1", "b.c:1", "c.c:1"]
    assert shown["by_site_down"] == ["c.c:1", "b.c:1", "a.c:1"]


def test_a_failure_comes_first(tg, tmp_path, browse):
    example(tmp_path / "run").write(summary={"fatal": GUILTY}, fatal=True)
    shown = browse(page(tg, tmp_path))
    assert "SCOPE_DEADLOCK: the scope at model.c:59: 64 of 64 of the task window of ring 1" in \
        shown["failed"]
    assert "--ring-task-window 391" in shown["failed"]


def test_names_cannot_leave_their_place(tg, tmp_path, browse):
    stats = ScopeStats(tmp_path / "run")
    stats.scope(NASTY, task_window=3)
    stats.write(summary={"fatal": {**GUILTY, "site": NASTY, "advice": NASTY, "error": NASTY}})
    file = page(tg, tmp_path)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read_text(),
                     re.S).group(1)
    assert "<" not in data and json.loads(data)["sites"][0] == CLEAN
    shown = browse(file)
    assert shown["title"] == "Scope stats: run" and shown["by_site"][0] == CLEAN


def test_a_page_without_scopes_opens(tg, tmp_path, browse):
    ScopeStats(tmp_path / "run", 0, 0, 0, 0).write()
    shown = browse(page(tg, tmp_path))
    assert shown["summary"] == "0 scopes at 0 sites, 0 samples" and shown["charts"] == []


def test_numbers_up_to_2_to_the_53_are_drawn(tg, tmp_path, browse):
    stats = ScopeStats(tmp_path / "run", heap=2**60)
    stats.begin("far.c:1")
    stats.take(0, heap=2**52 + 1)
    stats.end(heap=2**53 - 1)
    stats.give(0, heap=2**52 + 1)
    stats.scope("far.c:1", heap=2**62)
    stats.write()
    decoded = browse(page(tg, tmp_path))["decoded"]
    assert [sample["used"][1] for sample in decoded] == [0, 2**52 + 1, 0, 2**53 - 1]
    assert decoded[1]["peak"][1] == 2**53 - 1


def test_a_hundred_thousand_scopes_are_one_page(tg, tmp_path, browse):
    stats = ScopeStats(tmp_path / "run")
    stats.begin("main.c:1")
    for number in range(100_000):
        stats.tensormap = number % 60_000
        stats.scope(f"model/layer.c:{number % 40}", task_window=number % 97, heap=64 * (number % 911),
                    dep_pool=number % 31)
    stats.end()
    stats.write()
    file = page(tg, tmp_path)
    assert file.stat().st_size < 5_000_000
    shown = browse(file)
    assert shown["summary"] == "100,001 scopes at 41 sites, 200,002 samples"
    assert shown["full"] == [0, 200_002] and all(chart["painted"] > 500 for chart in shown["charts"])
    assert max(chart["peak"] for chart in shown["charts"] if chart["name"].startswith("heap")) == \
        64 * 910


@pytest.mark.parametrize("name", ["tmr_scope250", "tmr_scope_fan"])
def test_a_page_of_the_other_implementations_run_opens(tg, tmp_path, browse, name):
    shown = browse(page(tg, tmp_path, peer(name)))
    assert any(chart["name"] == "task window, ring 1" for chart in shown["charts"])
    assert any("no peaks were measured" in note for note in shown["notes"])
