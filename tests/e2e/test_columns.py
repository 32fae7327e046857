# SPDX-License-Identifier: Apache-2.0
"""Every verb in a terminal of 80 columns: no line is longer than the terminal, and a wider one shows more."""

import json
import re
import types
import unicodedata

import numpy
import pytest

from conftest import Runner, workload
from platforms import SAMPLED
from recordings import Recording
from scopes import example
from test_terminal import Terminal, shown

LONG = "a_kernel_with_a_very_long_name_as_a_template_of_cpp_makes_them_for_every_type_and_every_size"
WIDE = "加法内核加法内核加法内核加法内核加法内核加法内核"


def width_of(line):
    """The columns of a line on a terminal."""
    return sum(0 if unicodedata.combining(letter) else
               2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def lines_of(directory, args, columns, **env):
    """What the terminal shows in the end, without colours."""
    terminal = Terminal(directory, args, columns, **env)
    terminal.wait()
    text = re.sub(r"\x1b\[[0-9;]*[mK]", "", shown(terminal.text))
    return text.split("\n")


def too_long(lines, columns):
    """The lines that are too long, but for those that are a path alone: a path stays whole."""
    return [line for line in lines if width_of(line) > columns
            and not re.fullmatch(r"\s*\S*/\S*", line)]


def write_odd(folder):
    """Names, shapes and numbers as long as they can be."""
    recording = Recording(folder)
    for task, kernel in enumerate([[LONG], [LONG, LONG + "2"], [WIDE], ["µ"]]):
        who = {"task_id": "0x%016x" % (0x3_0000_0000 + 4294967000 + task), "kernel": kernel}
        recording.add_tensor("float32", numpy.full((1, 1, 2, 1, 1, 3, 1, 2), 1e38, "f4"), **who)
        recording.add_tensor("float64", numpy.array([-1.2345678901234e-300, numpy.nan] * 50),
                             **who, arg_index=1, role="output", stage="after_completion")
        recording.add_tensor("int64", numpy.array([-2**63, 2**63 - 1]), **who, arg_index=2)
        recording.add_scalar("uint64", str(2**64 - 1), **who, arg_index=3)
    recording.add(shape=[2**40, 3], strides=[2**42, -7], is_contiguous=False)
    recording.write()


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Runs of all kinds: good, wrong, crashed, hung, deadlocked; and recordings made by hand."""
    folder = tmp_path_factory.mktemp("columns")
    tg = Runner(folder)
    record = ("--dump-tensor", "--cores", "3")
    tg("run", "mix", *record, "--output", "mix")
    tg("run", "views", *record, "--output", "views")
    tg("run", "vector_add", *record)
    tg("run", "vector_add", *record, "--output", "plain")
    for name in ("none", "nan", "unwritten", "lost_update", "stray_write"):
        tg("run", workload("bugs_" + name), *record, "--output", name)
    tg("run", workload("faults"), "--case", "null", *record, "--output", "crash")
    tg("run", workload("rings"), "--case", "tasks", "--runtime", "tensormap_and_ringbuffer",
       "--ring-task-window", "16", "--enable-scope-stats", *record, "--output", "deadlock")
    example(folder / "scopes").write()
    write_odd(folder / "odd")
    (folder / "bad" / "tensor_dump").mkdir(parents=True)
    (folder / "bad" / "tensor_dump" / "tensor_dump.json").write_text("{")
    return types.SimpleNamespace(directory=folder, run=tg)


VERBS = ["run", "new", "list", "view", "diff", "check", "find", "stats", "replay", "scope", "path", "export", "verify",
         "recover", "runs", "top", "serve", "completion", "config"]

COMMANDS = [
    ["list"], ["config"], ["config", "-v"], ["run", "vector_add", "-v", "--workload-path=a:bb:" + "folder/" * 12],
    ["runs"], ["runs", "."], ["runs", "--remove"], ["top"], ["--version"], ["help"],
    *(["help", verb] for verb in VERBS),
    ["new", "a_workload_with_a_name_that_is_rather_long"], ["new"],
    ["run", "vector_add"], ["run", "mix", "--dump-tensor", "--enable-scope-stats"],
    ["run", workload("faults"), "--case", "null", "--dump-tensor"],
    ["run", workload("faults"), "--case", "nulls"],
    ["run", workload("faults"), "--case", "spin", "--timeout", "0.3"],
    ["run", workload("bugs_nan")],
    ["run", workload("rings"), "--case", "tasks", "--runtime", "tensormap_and_ringbuffer",
     "--ring-task-window", "16"],
    ["run", "no_such_workload"], ["run", "vector_add", "--case", "none"],
    ["run", "vector_add", "--cores", "many"], ["run", "vector_add", "--platform", "cuda"],
    ["run", "vector_add", "--dump-filter", "nonsense"], ["no_such_verb"], ["view", "no/such/run"],
    ["view", "mix"], ["view", "views"], ["view", "odd"], ["view", "odd", "--index", "0-5"],
    ["view", "views", "--index", "0-9"], ["view", "nan", "--summary"], ["view", "crash"], ["view", "bad"],
    ["stats", "mix"], ["stats", "odd"], ["stats", "nan", "--all"],
    ["diff", "none", "none"], ["diff", "nan", "none"], ["diff", "lost_update", "none", "--blame"],
    ["diff", "stray_write", "none"], ["diff", "unwritten", "none", "--all"], ["diff", "views", "mix"],
    ["diff", "odd", "mix"], ["diff", "odd", "none", "--blame"],
    ["check", "none"], ["check", "nan"], ["check", "odd"],
    *(["find", kind, "nan"] for kind in ("nan", "inf", "overflow", "constant", "stomp", "unwritten")),
    ["find", "nan", "odd"], ["find", "stomp", "stray_write"], ["find", "unwritten", "unwritten"],
    ["replay", "nan", "--task", "30", "--cores", "3"], ["replay", "nan"],
    ["scope", "scopes"], ["scope", "deadlock"], ["scope", "mix"],
    ["path", "mix"], ["path", "crash"], ["path", "odd"], ["path", "bad"],
    ["verify", "mix"], ["verify", "odd"], ["verify", "bad"], ["recover", "odd"], ["recover", "bad"], ["recover"],
    ["export", "mix", "--to", "npz", "--output", "x.npz", "--force"],
    ["export", "odd", "--to", "safetensors", "--output", "x.safetensors", "--force"],
]


# The width is the same in every build; of one with sanitizers a sample shows the mistakes in memory.
SAMPLE = COMMANDS[::4] if SAMPLED else COMMANDS


@pytest.mark.parametrize("args", SAMPLE, ids=lambda args: "-".join(args[:3]).replace("/", "_")[-40:])
def test_no_line_is_longer_than_a_terminal_of_80_columns(played, args):
    lines = lines_of(played.directory, args, 80)
    assert too_long(lines, 80) == [] and any(lines)


@pytest.mark.parametrize("columns", [40] if SAMPLED else [40, 61, 132])
@pytest.mark.parametrize("args", [["view", "odd"], ["view", "mix"], ["stats", "mix"], ["config"], ["list"], ["runs"],
                                  ["scope", "deadlock"], ["path", "mix"], ["check", "none"], ["diff", "nan", "none"]],
                         ids=lambda value: "-".join(value) if isinstance(value, list) else str(value))
def test_no_line_is_longer_than_other_terminals(played, args, columns):
    # Of settings and options the names alone are longer than 40 columns.
    assert too_long(lines_of(played.directory, args, columns), columns) == []


def heads(lines, word):
    """The heads of the table whose heads have the word."""
    return re.split(r" {2,}", next(line for line in lines if word in line).strip())


@pytest.mark.parametrize("args, word", [(["view", "mix"], "index"), (["stats", "mix"], "index"),
                                        (["runs", "."], "result"), (["view", "odd"], "index")])
def test_a_wider_terminal_shows_more_columns(played, args, word):
    narrow, wide = (heads(lines_of(played.directory, args, columns), word) for columns in (80, 200))
    assert set(narrow) < set(wide)


def test_columns_that_are_left_out_are_named(played):
    narrow, wide = (lines_of(played.directory, ["stats", "mix"], columns) for columns in (80, 200))
    left_out = set(heads(wide, "index")) - set(heads(narrow, "index"))
    text = " ".join(" ".join(narrow).split())
    named = re.search(r"not shown: (.*?); a terminal of (\d+) columns", text)
    assert set(named[1].split(", ")) == left_out
    assert "not shown" not in "".join(wide)
    enough = lines_of(played.directory, ["stats", "mix"], int(named[2]))
    assert set(heads(enough, "index")) == set(heads(wide, "index"))


def test_a_wider_terminal_shows_more_values_and_whole_names(played):
    narrow, wide = ("\n".join(lines_of(played.directory, ["view", "odd"], columns)) for columns in (80, 200))
    assert "…" in narrow and WIDE not in narrow and WIDE in wide


def test_a_pipe_gets_every_column_and_one_line_for_each_sentence(played):
    text = played.run.good("stats", "mix").stdout
    assert heads(text.split("\n"), "index")[-1] == "denormal" and "not shown" not in text
    error = played.run("view", "no/such/run").stderr
    assert error.count("\n") == 1


def test_columns_sets_the_width_in_a_pipe(played):
    text = played.run.good("stats", "mix", env={"COLUMNS": "80"}).stdout
    table = [line for line in text.split("\n") if "not shown" not in line]
    assert max(map(width_of, table)) <= 80 and "not shown" in text


def test_the_star_after_a_shape_is_explained_where_it_occurs(played):
    for columns in (80, 200):
        text = "\n".join(lines_of(played.directory, ["view", "views", "--all"], columns))
        assert ")*" in text and text.count("*  not contiguous") == 1
    assert "*  not contiguous" in played.run.good("view", "views", "--all").stdout
    assert "not contiguous" not in played.run.good("view", "plain", "--all").stdout


def test_the_plus_between_kernels_is_explained(played):
    text = played.run.good("view", "mix", "--all").stdout
    assert "+  joins the kernels of one task" in text


def test_a_path_that_is_longer_than_the_terminal_stays_whole(played):
    path = "no/such/" + "folder_" * 20
    text = "\n".join(lines_of(played.directory, ["view", path], 80))
    assert path in text


def test_path_shows_its_own_words_whole(tmp_path):
    """A made-up run that spends time in every way: its numbers are wide, and no word of the report is cut."""
    tasks = [[core, id, id, begin, begin + 100_000_000] for id, (core, begin) in enumerate(
        [(3, 100_000_000), (4, 200_000_000), (3, 500_000_000), (103, 900_000_000)])]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "chip_swimlane_records.json").write_text(json.dumps({
        "metadata": {"clock_freq_hz": 10**9, "core_types": ["aic", "aiv", "aiv"] * 36}, "aicore_tasks": tasks,
        "aicpu_tasks": [[row[0], row[2], row[3], row[4] + 100_000_000] for row in tasks],
        "aicpu_orchestrator_phases": [[{"task_id": id, "start_cycles": 1 + id, "end_cycles": 90_000_000 + id}
                                       for id in range(4)]]}))
    (tmp_path / "run" / "deps.json").write_text(json.dumps({
        "tasks": [{"task_id": str(id), "kernel_ids": [-1, 0, -1]} for id in range(4)],
        "edges": [{"pred": str(id), "succ": str(id + 1)} for id in range(3)]}))
    lines = lines_of(tmp_path, ["path", "run", "--limit", "200"], 80)
    text = "\n".join(lines)
    assert all(f"\n  {spent} " in text for spent in ("run", "latency", "handover", "orchestrator")), text
    assert "…" not in text and "not shown" not in text, text
    assert too_long(lines, 80) == []
