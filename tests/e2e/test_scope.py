# SPDX-License-Identifier: Apache-2.0
"""taskglass scope: what scopes used of the rings, and the sizes to set."""

import json
import os
import pathlib
import re
import resource
import signal

import pytest

from conftest import help_of, on_terminal, one_line
from recordings import peer
from scopes import GUILTY, ScopeStats, example

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "scope_stats_v6"
PEER_RUNS = ["hbg_level2", "tmr_level1", "tmr_level2", "tmr_level3", "tmr_scope250",
             "tmr_scope_fan"]


def peaks(text):
    """The rows of the table: (site, ring, resource, peak/capacity, share)."""
    return re.findall(r"^(\S+) +(\d) +(task window|heap|dep pool|tensor map) +(\S.*?) +(\S+ %)$",
                      text, re.M)


def settings(text):
    """{resource: (verdict, option)}."""
    found = re.findall(r"^(task window|heap|dep pool|tensor map) +[\d,KMG]+ +(\S.*?) {2,}"
                       r"(--\S+ \S+|-)$", text, re.M)
    return {name: (verdict, option) for name, verdict, option in found}


def test_peaks_are_shown_nearest_to_full_first(tg, tmp_path):
    example(tmp_path / "run", task_window=64, tensormap=1000).write()
    text = tg.good("scope", "run").stdout
    assert text.startswith("run: 6 scopes at 2 sites, 12 samples\n")
    assert peaks(text)[:3] == [("model.c:59", "1", "task window", "12/64", "18.8 %"),
                               ("model.c:59", "1", "tensor map", "104/1000", "10.4 %"),
                               ("main.c:10", "0", "tensor map", "104/1000", "10.4 %")]


def test_every_setting_gets_its_smallest_safe_value(tg, tmp_path):
    example(tmp_path / "run").write()
    assert settings(tg.good("scope", "run").stdout) == {
        "task window": ("larger than needed", "--ring-task-window 4,12,4,4"),
        "heap": ("larger than needed", "--ring-heap 256,10K,256,256"),
        "dep pool": ("larger than needed", "--ring-dep-pool 4,12,4,4"),
        "tensor map": ("larger than needed", "--tensormap 104")}


def test_what_is_set_now_stands_beside_it(tg, tmp_path):
    stats = example(tmp_path / "run")
    stats.limits["task_window_max"] = [16, 32, 64, 128]
    text = tg.good("scope", stats.write().folder).stdout
    assert re.search(r"^task window  16,32,64,128  larger", text, re.M)
    assert re.search(r"^heap         256M          larger", text, re.M)


def test_the_settings_that_are_advised_are_taken(tg, tmp_path):
    example(tmp_path / "run").write()
    words = " ".join(tg.json("scope", "run")["options"]).split()
    shown = {entry["name"]: entry["value"] for entry in tg.json("config", *words)["settings"]}
    assert shown["ring-heap"] == "256,10K,256,256" and shown["tensormap"] == "104"


def test_json_says_the_same_in_numbers(tg, tmp_path):
    example(tmp_path / "run").write()
    document = tg.json("scope", "run")
    assert list(document) == ["scope_stats", "peaks", "advice", "options"]
    stats = document["scope_stats"]
    assert (stats["run"], stats["complete"], stats["failed"], stats["fatal"]) == \
        ("run", True, False, None)
    assert (stats["samples"], stats["scopes"], stats["sites"], stats["measured_peaks"]) == \
        (12, 6, 2, True)
    row = [row for row in document["peaks"] if row["site"] == "model.c:59"][0]
    assert (row["ring"], row["count"], row["depth"], row["nearest"]) == (1, 5, [1, 1], "tensormap")
    assert row["heap"] == {"used": 5120, "capacity": 256 << 20, "share": 5120 / (256 << 20)}
    need = [need for need in document["advice"]
            if (need["resource"], need["ring"]) == ("heap", 1)][0]
    assert need == {"resource": "heap", "ring": 1, "peak": 5120, "capacity": 256 << 20,
                    "smallest": 10240, "verdict": "larger"}


def test_a_run_its_folder_and_its_file_are_the_same(tg, tmp_path):
    stats = example(tmp_path / "run").write()
    texts = {tg.good("scope", path).stdout
             for path in ("run", "run/", stats.folder, stats.folder / "scope_stats.jsonl")}
    assert len(texts) == 1


def test_the_newest_run_with_scope_stats_is_meant(tg, tmp_path):
    for age, name in ((3000, "old"), (2000, "new")):
        example(tmp_path / "outputs" / name).write()
        os.utime(tmp_path / "outputs" / name, (10000 - age, 10000 - age))
    (tmp_path / "outputs" / "newest_without").mkdir()
    assert tg.json("scope")["scope_stats"]["run"] == "new"


def test_a_failed_run_names_the_guilty_scope_first(tg, tmp_path):
    stats = ScopeStats(tmp_path / "run", task_window=64)
    stats.begin("main.c:10")
    stats.begin("model.c:59")
    stats.write(summary={"version": 6, "fatal": GUILTY}, fatal=True)
    text = tg.good("scope", "run").stdout
    assert text.startswith(
        "FAILED  SCOPE_DEADLOCK: the scope at model.c:59 has 64/64 of the task window of ring 1 in "
        "use and needs 8 more\nadvice  --ring-task-window 391\n")
    assert settings(text)["task window"] == ("TOO SMALL", "--ring-task-window 64,391,64,64")
    assert settings(text)["heap"] == ("enough so far", "-")
    assert "2 scopes had not ended" in text
    document = tg.json("scope", "run")
    assert document["scope_stats"]["fatal"] == GUILTY
    assert document["options"] == ["--ring-task-window 64,391,64,64"]


def test_a_failed_run_without_its_summary_says_that_it_failed(tg, tmp_path):
    example(tmp_path / "run").write(fatal=True)
    assert tg.good("scope", "run").stdout.startswith("FAILED  the run ended early")
    assert tg.json("scope", "run")["scope_stats"]["failed"]


def test_a_broken_summary_is_reported(tg, tmp_path):
    stats = example(tmp_path / "run").write()
    (stats.folder / "scope_stats.json").write_text('{"fatal": {')
    text = tg.good("scope", "run").stdout
    assert "note  scope_stats.json cannot be read: " in text and "model.c:59" in text


def test_without_measured_peaks_those_of_the_samples_are_shown(tg, tmp_path):
    example(tmp_path / "run", measured=False).write()
    text = tg.good("scope", "run").stdout
    assert "no peaks were measured" in text
    assert ("model.c:59", "1", "task window", "12/16384", "0.07 %") in peaks(text)
    assert not tg.json("scope", "run")["scope_stats"]["measured_peaks"]


def test_losses_are_loud_and_nothing_is_advised_to_be_smaller(tg, tmp_path):
    stats = example(tmp_path / "run")
    del stats.lines[4]
    stats.write(dropped=1, total=12)
    text = tg.good("scope", "run").stdout
    assert "LOST 1 sample on the device" in text and "ends of scopes are missing" in text
    assert set(settings(text).values()) == {("enough so far", "-")}


def test_what_a_killed_host_left_is_shown(tg, tmp_path):
    stats = example(tmp_path / "run").write(total=0)
    path = stats.folder / "scope_stats.jsonl"
    path.write_bytes(path.read_bytes()[:-100])
    text = tg.good("scope", "run").stdout
    assert "INCOMPLETE: the run has not ended, or its host was killed" in text and "11 samples" in text
    assert not tg.json("scope", "run")["scope_stats"]["complete"]


def many_sites(run_dir, count=30, prefix=""):
    stats = ScopeStats(run_dir)
    for number in range(count):
        stats.scope(f"{prefix}file.c:{number}", task_window=1 + number)
    return stats.write()


def test_a_long_table_is_cut_and_says_how_to_see_all(tg, tmp_path):
    many_sites(tmp_path / "run")
    text = tg.good("scope", "run").stdout
    assert len(peaks(text)) == 20 and "and 10 more; --limit 30 shows all" in text
    assert len(peaks(tg.good("scope", "run", "--top", 30).stdout)) == 30
    assert len(peaks(tg.good("scope", "run", "--top", 3).stdout)) == 3
    assert "and 30 more" in tg.good("scope", "run", "--top", 0).stdout
    assert len(tg.json("scope", "run", "--top", 3)["peaks"]) == 3
    assert len(tg.json("scope", "run")["peaks"]) == 30


def test_a_long_site_loses_its_beginning(tg, tmp_path):
    many_sites(tmp_path / "run", count=1, prefix="a/very/long/path/" * 10)
    line = [line for line in tg.good("scope", "run").stdout.splitlines() if "file.c:0" in line][0]
    assert line.startswith("…") and len(line) <= 100


@pytest.mark.parametrize("rows, columns", [(24, 80), (50, 132)])
def test_on_a_terminal_the_table_fits(tg, tmp_path, rows, columns):
    many_sites(tmp_path / "run", count=90, prefix="a/long/path/of/some/model/" * 6)
    lines = on_terminal(tg, rows, columns, "scope", "run").splitlines()
    assert len(lines) < rows and max(map(len, lines)) <= columns
    assert any("more; --limit 90 shows all" in line for line in lines)


def test_on_a_terminal_the_table_leaves_room_for_what_was_waited_for(tg, tmp_path):
    stats = ScopeStats(tmp_path / "run", task_window=8)
    for number in range(40):
        stats.scope(f"file.c:{number}", task_window=1 + number % 8)
        stats.lines[-1]["waits"] = {"task_window": 1 + number, "nanoseconds": 1000 * number}
    stats.write()
    lines = on_terminal(tg, 40, 80, "scope", "run").splitlines()
    assert len(lines) < 40 and lines[-1].startswith("waited 37.0 µs on ring 0 in scopes at file.c:37")


def test_a_run_without_scopes_says_so(tg, tmp_path):
    ScopeStats(tmp_path / "run", 0, 0, 0, 0).write()
    assert tg.good("scope", "run").stdout == \
        "run: 0 scopes at 0 sites, 0 samples\n\nNothing was used.\n"
    assert tg.json("scope", "run")["options"] == []


def test_numbers_far_beyond_32_bits_are_right(tg, tmp_path):
    stats = ScopeStats(tmp_path / "run")
    stats.take(0, task_window=2**53 + 1, heap=2**62)
    stats.give(0, task_window=2**53 + 1, heap=2**62)
    stats.scope("far.c:1", task_window=7, heap=4096)
    stats.write()
    row = tg.json("scope", "run")["peaks"][0]
    assert (row["task_window"]["used"], row["heap"]["used"]) == (7, 4096)


def test_names_from_a_file_do_not_reach_the_terminal_as_they_are(tg, tmp_path):
    stats = ScopeStats(tmp_path / "run")
    stats.scope("\x1b[31mred\n</script>", task_window=7)
    guilty = {**GUILTY, "site": "\x1b]0;title\x07", "advice": "\x1b[2J", "error": "a\nb"}
    stats.write(summary={"fatal": guilty})
    for more in ([], ["--json"], ["--html", "page.html"]):
        assert "\x1b" not in tg.good("scope", "run", *more).stdout
    assert "\x1b" not in (tmp_path / "page.html").read_text()


DEVICE_BUILT = ["--runtime", "tensormap_and_ringbuffer", "--enable-scope-stats"]


def test_a_run_leaves_scope_stats_that_are_found(tg):
    tg.good("run", "stencil", *DEVICE_BUILT)
    stats = tg.json("scope")["scope_stats"]
    assert stats["run"] == tg.outputs()[0].name and stats["complete"] and stats["measured_peaks"]
    assert stats["samples"] == 2 * stats["scopes"] > 0
    assert (stats["left_open"], stats["without_begin"], stats["without_end"]) == (0, 0, 0)


def test_a_run_with_the_settings_that_are_advised_is_good(tg):
    tg.good("run", "stencil", *DEVICE_BUILT)
    words = " ".join(tg.json("scope")["options"]).split()
    assert len(words) == 8
    assert tg("run", "stencil", *DEVICE_BUILT, *words).returncode == 0  # it may warn about waiting


def test_a_deadlock_names_its_scope_and_the_setting_that_helps(tg):
    assert tg("run", "bgemm", *DEVICE_BUILT, "--ring-task-window", 8).returncode == 3
    text, document = tg.good("scope").stdout, tg.json("scope")
    fatal = document["scope_stats"]["fatal"]
    assert (fatal["error"], fatal["resource"], fatal["used"]) == ("SCOPE_DEADLOCK", "task_window", 8)
    assert text.startswith(f"FAILED  SCOPE_DEADLOCK: the scope at {fatal['site']} has 8/8")
    words = " ".join(document["options"]).split()
    assert words[0] == "--ring-task-window"
    assert tg("run", "bgemm", *DEVICE_BUILT, *words).returncode == 0


@pytest.mark.parametrize("name", PEER_RUNS)
def test_scope_stats_of_the_other_implementation_are_read(tg, name):
    path = peer(name) / "scope_stats" / "scope_stats.jsonl"
    head, *lines = [json.loads(line) for line in path.read_text().splitlines()]
    document = tg.json("scope", peer(name))
    assert document["scope_stats"]["complete"] and document["scope_stats"]["samples"] == len(lines)
    assert document["scope_stats"]["scopes"] == sum(line["phase"] == "end" for line in lines)
    for row in document["peaks"]:
        own = [line for line in lines if line["site"] == row["site"] and line["ring"] == row["ring"]]
        for name in ("task_window", "heap", "dep_pool"):
            # No scopes of these runs nest within one ring.
            assert row[name]["used"] == max(line[f"{name}_end"] - line[f"{name}_start"]
                                            for line in own)
            assert row[name]["capacity"] == head[f"{name}_max"][row["ring"]]


def test_the_golden_scope_stats_are_read(tg):
    stats = tg.json("scope", GOLDEN)["scope_stats"]
    assert (stats["samples"], stats["scopes"], stats["dropped"]) == (14, 7, 1)
    assert stats["fatal"]["error"] == "HEAP_RING_DEADLOCK"
    summary = json.loads((GOLDEN / "scope_stats" / "scope_stats.json").read_text())
    shown = tg.json("scope", GOLDEN)["peaks"]
    assert [(row["site"], row["ring"], row["count"], row["heap"]["used"]) for row in shown] == \
        [(row["site"], row["ring"], row["count"], int(row["heap"].split("/")[0]))
         for row in summary["scopes"]]


def test_files_that_say_where_the_orchestration_waited_are_read(tg):
    golden = GOLDEN.parent / "scope_stats_v6_waits"
    document = tg.json("scope", golden)
    assert document["scope_stats"]["measured_waits"]
    rows = {(row["site"], row["ring"]): row for row in document["peaks"]}
    assert rows["layer.c:7", 2]["waits"]["task_window"] == 12
    assert [(row["count"], row["touched"]) for row in
            (rows["main.c:10", 0], rows["main.c:10", 2], rows["model.c:59", 2])] == \
        [(1, 0), (0, 1), (0, 1)]
    text = tg.good("scope", golden).stdout
    assert settings(text)["task window"] == ("was full, waited", "--ring-task-window 16,32,128,128")
    assert settings(text)["heap"] == ("enough so far", "-")
    assert "waited 12.0 µs on ring 2 in scopes at layer.c:7: 12 times for the task window" in text


def test_a_fanin_pool_of_another_implementation_is_shown(tg, tmp_path):
    stats = example(tmp_path / "run", measured=False)
    stats.limits["fanin_max"] = [64, 128, 64, 64]
    for number, line in enumerate(stats.lines):
        line["fanin_start"], line["fanin_end"] = number, number + 3 * line["ring"]
    stats.write()
    text, document = tg.good("scope", "run").stdout, tg.json("scope", "run")
    assert re.search(r"^model.c:59 +1 +fanin pool +3/128 +2.34 %$", text, re.M)
    assert document["scope_stats"]["fanin_capacity"] == [64, 128, 64, 64]
    row = [row for row in document["peaks"] if row["site"] == "model.c:59"][0]
    assert row["fanin"] == {"used": 3, "capacity": 128, "share": 3 / 128}


def test_a_run_without_a_fanin_pool_says_so(tg, tmp_path):
    example(tmp_path / "run").write()
    assert "\nfanin pool   none in this run\n" in tg.good("scope", "run").stdout
    assert tg.json("scope", "run")["scope_stats"]["fanin_capacity"] is None


def test_a_run_without_rings_says_so_in_every_form(tg, tmp_path):
    ScopeStats(tmp_path / "run", 0, 0, 0, 0).write(no_rings=True)
    text = tg.good("scope", "run").stdout
    assert text.startswith("run: no rings: with host_build_graph") and text.count("\n") == 1
    document = tg.json("scope", "run")
    assert document["scope_stats"]["no_rings"] and document["options"] == []
    tg.good("scope", "run", "--html", "page.html")
    assert '"no_rings": true' in (tmp_path / "page.html").read_text()


def test_long_names_in_a_file_stay_apart(tg, tmp_path):
    stats = ScopeStats(tmp_path / "run")
    for number in range(3):
        stats.scope(f"{number}/" + "a/long/path/" * 500 + "room.c:7", task_window=1)
    stats.write()
    names = [row["site"] for row in tg.json("scope", "run")["peaks"]]
    assert len(set(names)) == 3 and all("room.c:7" in name for name in names)


BAD = [
    (["nowhere"], "there is no 'nowhere'"),
    ([], "no scope stats under outputs/"),
    (["empty"], "'empty' has no scope stats; a run has them with --enable-scope-stats"),
    (["a", "b"], "'b' is one too many"),
    (["--top", "many"], "--top needs a whole number"),
    (["--top", "-1"], "--top needs a whole number"),
    (["run", "--html", "x", "--json"], "--html cannot be combined"),
    (["run", "--html", ""], "--html needs the name of a file"),
    (["run", "--html", "no/such/folder/page.html"], "cannot write 'no/such/folder/page.html'"),
    (["run", "--html", "empty"], "cannot write 'empty': Is a directory"),
    (["--limti", "3"], "did you mean --limit?"),
]


@pytest.mark.parametrize("arguments, why", BAD)
def test_what_makes_no_sense_is_one_line(tg, tmp_path, arguments, why):
    (tmp_path / "empty").mkdir()
    if "run" in arguments:
        example(tmp_path / "run").write()
    result = tg("scope", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert one_line(result.stderr) and why in result.stderr


BROKEN = [
    (b"", "line 1: the file is empty"),
    (b"\0" * 5000, "line 1: "),
    (b"\x7fELF\n" * 100, "line 1: "),
    (b"[]\n", "line 1: not the metadata of scope stats"),
    (b'{"version": 5, "task_window_max": []}\n', "version 5; this program reads version 6"),
    (b'{"version": 6, "task_window_max": ' + b"[" * 100000, "line 1: "),
    (b"HEAD{}\n{}\n", "line 2: a sample without 'depth'"),
    (b"HEADSAMPLE\nnonsense\nSAMPLE\n", "line 3: something that is no JSON value"),
    (b"HEAD" + b'{"site": "' + b"x" * 10_000_000 + b'"}\n', "line 2: a sample without 'depth'"),
]


@pytest.mark.parametrize("content, why", BROKEN, ids=range(len(BROKEN)))
@pytest.mark.parametrize("more", [[], ["--json"], ["--html", "page.html"]], ids=str)
def test_a_broken_file_is_one_line(tg, tmp_path, content, why, more):
    stats = example(tmp_path / "run").write()
    head, sample = [json.dumps(line).encode() for line in (stats.head(), stats.lines[0])]
    content = content.replace(b"HEAD", head + b"\n").replace(b"SAMPLE", sample)
    (stats.folder / "scope_stats.jsonl").write_bytes(content)
    result = tg("scope", "run", *more)
    assert result.returncode == 2
    assert one_line(result.stderr) and why in result.stderr
    if more == ["--json"]:
        assert json.loads(result.stdout)["result"] == "not known"
    else:
        assert result.stdout == ""
    assert not (tmp_path / "page.html").exists()


def test_a_pipe_in_place_of_the_file_is_refused(tg, tmp_path):
    stats = ScopeStats(tmp_path / "run")
    os.mkfifo(stats.folder / "scope_stats.jsonl")
    result = tg("scope", "run")
    assert result.returncode == 2 and one_line(result.stderr)


def test_a_page_that_does_not_fit_on_the_disk_is_an_error_and_leaves_nothing(tg, tmp_path):
    example(tmp_path / "run").write()

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    result = tg("scope", "run", "--html", "page.html", preexec_fn=limit)
    assert result.returncode == 2 and one_line(result.stderr)
    assert "cannot write 'page.html': File too large" in result.stderr
    assert not (tmp_path / "page.html").exists()


def test_the_man_page_has_every_option_of_the_help(tg):
    page = (pathlib.Path(__file__).parents[2] / "man" / "taskglass-scope.1").read_text()
    names = list(help_of(tg, "scope"))
    assert names and [name for name in names if f"Fl -{name}" not in page] == []
