# SPDX-License-Identifier: Apache-2.0
"""What every verb's help says holds on its command line: options, settings, short options, -q and -v."""

import re
import shlex

import pytest

from conftest import help_of, on_terminal, one_line, workload
from platforms import SAMPLED


def verbs(tg):
    """The verbs of the help, in its order."""
    return [verb for verb in re.findall(r"^  ([a-z]+) +[A-Z]", tg.good("--help").stdout, re.M)
            if verb != "help"]


def settings(tg):
    return {entry["name"]: entry for entry in tg.json("config")["settings"]}


# --- which settings apply --------------------------------------------------------------------------

def test_a_verb_takes_the_settings_of_its_help_and_refuses_all_others(tg):
    """--help ends the command line, so a setting before it was accepted if the help is shown."""
    table = list(settings(tg).items())
    for number, verb in enumerate(verbs(tg)):
        rows = help_of(tg, verb)
        for name, entry in table[number % 3::3] if SAMPLED else table:
            result = tg(verb, f"--{name}={entry['default'] or 'x'}", "--help")
            if name in rows:
                assert (result.returncode, result.stderr) == (0, ""), (verb, name, result.stderr)
            else:
                assert result.returncode == 2 and result.stdout == "", (verb, name)
                assert f"{verb} does not take --{name}; it is an option of run" in result.stderr
                assert one_line(result.stderr)


def test_a_verb_that_reads_recordings_takes_no_setting_of_a_run(tg):
    for verb in ("view", "stats", "diff", "verify", "export", "recover", "scope"):
        assert {row.group for row in help_of(tg, verb).values()} == {""}, verb


def test_what_the_environment_sets_is_accepted_by_all_verbs(tg):
    for verb in verbs(tg):
        tg.good(verb, "--help", env={"TASKGLASS_CORES": "6"})


def test_a_suggestion_is_an_option_of_the_verb(tg):
    assert "did you mean" not in tg("verify", "--tensormpa", "7").stderr
    assert "did you mean --tensormap?" in tg("run", "--tensormpa", "7").stderr


def test_settings_stand_in_the_group_that_they_are_about(tg):
    rows = help_of(tg, "run")
    groups = {name: rows[name].group for name in settings(tg)}
    assert set(groups.values()) == {"device", "recording", "rings", "files"}
    assert (groups["cores"], groups["dump-tensor"], groups["ring-heap"], groups["output"]) == (
        "device", "recording", "rings", "files")


def test_the_help_shows_the_default_and_the_words_of_each_setting(tg):
    rows = help_of(tg, "run")
    for name, entry in settings(tg).items():
        assert not entry["default"] or f"default: {entry['default']})" in rows[name].text, name
    assert "(off, meta, hash, marked, hybrid or full; default: off)" in rows["dump-tensor"].text


# --- the layout of the help ------------------------------------------------------------------------

def widest(text):
    return max(map(len, text.splitlines()))


def test_no_line_of_any_help_is_longer_than_80_columns(tg):
    for args in [[], ["help"], *(["help", verb] for verb in verbs(tg))]:
        text = tg.good(*args).stdout
        assert widest(text) <= 80, args
        assert on_terminal(tg, 50, 80, *args) == text


def test_help_fits_a_narrow_terminal_too(tg):
    """A word may be longer, and so may a command to type, because they stay whole."""
    for args in [["help"], *(["help", verb] for verb in verbs(tg))]:
        for line in on_terminal(tg, 50, 40, *args).split("\nExamples:\n")[0].splitlines():
            assert len(line) <= 40 or len(line.split()) == 1, (args, line)


def test_the_texts_of_options_begin_in_one_column(tg):
    for verb in verbs(tg):
        for line in tg.good("help", verb).stdout.splitlines():
            if gap := re.match(r"  -\S.*?  +(?=\S)", line):
                assert gap.end() == 28, line


def test_help_says_how_to_switch_off_what_is_on(tg):
    assert re.search(r"--live=off\s+switches\s+it\s+off", tg.good("help", "run").stdout)
    tg.good("run", "vector_add", "--live=off")


def test_a_wider_terminal_gets_longer_lines(tg):
    assert 80 < widest(on_terminal(tg, 50, 120, "help", "run")) <= 100


def test_a_bare_taskglass_shows_the_help(tg):
    assert tg.good().stdout == tg.good("help").stdout == tg.good("--help").stdout


@pytest.mark.parametrize("ask", ["help", "--help", "-h"])
def test_help_takes_one_verb_in_every_spelling(tg, ask):
    assert tg.good(ask, "view").stdout == tg.good("view", "--help").stdout
    assert tg.good(ask, "--help").stdout == tg.good(ask, "-h").stdout == tg.good("help").stdout
    for words, said in ((["view", "run"], "'run' is one too many"), (["veiw"], "did you mean 'view'?")):
        result = tg(ask, *words)
        assert result.returncode == 2 and one_line(result.stderr) and said in result.stderr


def test_each_verb_stands_once_in_a_section_of_the_help(tg):
    text = tg.good("help").stdout
    sections = re.findall(r"^([A-Z][^\n]*):\n((?:  .*\n)+)", text, re.M)
    assert [heading for heading, _ in sections] == [
        "Run something", "Look at a run", "Find out what went wrong", "Keep, share, set up"]
    assert len(verbs(tg)) == len(set(verbs(tg)))


def examples(tg, verb):
    text = tg.good("help", verb).stdout.split("\nExamples:\n")[1]
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("  taskglass ")]


def test_every_verb_has_examples_whose_options_it_takes(tg):
    for verb in verbs(tg):
        commands = examples(tg, verb)
        assert commands, verb
        for command in commands:
            assert command[0] == verb
            tg.good(*command, "--help")  # stops after the options were read


# --- spellings -------------------------------------------------------------------------------------

def config(tg, *args):
    return {entry["name"]: entry["value"] for entry in tg.json("config", *args)["settings"]}


@pytest.mark.parametrize("args", [["--dump-tensor", "meta"], ["--dump-tensor=meta"]], ids=str)
def test_an_optional_value_follows_with_a_space_or_an_equals_sign(tg, args):
    assert config(tg, *args)["dump-tensor"] == "meta"


def test_a_word_that_is_no_value_is_the_operand(tg):
    report = tg.run_json("--dump-tensor", "vector_add")
    assert report["workload"] == "vector_add" and report["options"]["dump-tensor"]["value"] == "full"
    assert tg.run_json("vector_add", "--deps", "no", "--dump-tensor", "hash")["options"][
        "dump-tensor"]["value"] == "hash"


@pytest.mark.parametrize("args", [["-p", "a5sim"], ["-pa5sim"], ["-p=a5sim"], ["--platform", "a5sim"]],
                         ids=str)
def test_a_short_option_is_its_long_option(tg, args):
    assert config(tg, *args)["platform"] == "a5sim"


def test_minus_o_names_what_a_verb_writes(tg):
    tg.good("run", "vector_add", "--dump-tensor", "-o", "run")
    tg.good("export", "run", "-oall.npz", "--stage", "after")
    tg.good("view", "run", "--to", "txt", "-o", "all.txt", "--stage", "after")
    assert {"run", "all.npz", "all.txt"} <= {path.name for path in tg.directory.iterdir()}


def test_a_short_option_that_does_not_apply_names_the_verbs_that_take_it(tg):
    assert "verify does not take -p (--platform); it is an option of run" in tg(
        "verify", "-p", "a5sim").stderr


OLD = [("view", "export", "to"), ("view", "out", "output"), ("scope", "html", "output"),
       ("scope", "top", "limit")]


@pytest.mark.parametrize("verb, old, new", OLD)
def test_an_older_name_is_accepted_but_not_shown(tg, verb, old, new):
    rows = help_of(tg, verb)
    assert new in rows and old not in rows
    tg.good(verb, f"--{old}={'npz' if old == 'export' else '1'}", "--help")


SAME = {"json": None, "to": "FORMAT", "limit": "N", "all": None, "task": ("ID", "IDS"),
        "stage": "STAGES", "role": "ROLES", "kind": "KINDS", "kernel": "NAMES", "arg": "NUMBERS",
        "index": "NUMBERS", "force": None, "module": "FILE"}


def test_the_same_option_looks_alike_in_every_verb(tg):
    for verb in verbs(tg):
        rows = help_of(tg, verb)
        for name in set(SAME) & set(rows):
            assert rows[name].value in ((SAME[name],) if not isinstance(SAME[name], tuple)
                                        else SAME[name]), (verb, name)
        assert "output" not in rows or rows["output"].letter == "o", verb
        assert rows["help"].letter + rows["quiet"].letter + rows["verbose"].letter == "hqv"


# --- quiet and verbose -----------------------------------------------------------------------------

@pytest.fixture
def recorded(tg):
    tg.good("run", "matmul_chain", "--dump-tensor", "--output", "outputs/run")
    return tg


REPORTS = [["run", "vector_add"], ["list"], ["view"], ["stats"], ["check"], ["find", "nan"],
           ["diff", "outputs/run", "outputs/run"], ["replay", "--task", "0"], ["verify"],
           ["export", "--to", "npz", "--stage", "after"], ["recover", "outputs/run"], ["config"]]


@pytest.mark.parametrize("args", REPORTS, ids=lambda args: args[0])
def test_quiet_hides_the_report_and_keeps_the_exit_code(recorded, args):
    result = recorded(*args, "--quiet")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_quiet_keeps_errors_and_what_is_data(recorded):
    assert one_line(recorded("view", "-q", "nowhere").stderr)
    assert recorded.json("view", "-q") == recorded.json("view")
    tensors = ["--stage", "after", "--to", "txt"]
    text = recorded.good("export", "-q", *tensors, "-o", "-").stdout
    assert text and text == recorded.good("view", "-q", *tensors).stdout


def test_quiet_removes_no_run_without_showing_it(recorded):
    assert "which --quiet hides" in recorded("runs", "--remove", "run", "-q").stderr
    assert recorded.good("runs", "--remove", "run", "-q", "--yes").stdout == ""
    assert not (recorded.directory / "outputs/run").exists()


def test_quiet_keeps_the_report_of_a_failure(tg):
    loud = tg("run", workload("faults"), "--case", "null")
    quiet = tg("run", "-q", workload("faults"), "--case", "null")
    assert (quiet.returncode, quiet.stdout) == (loud.returncode, "") == (3, "")
    assert "KERNEL_FAULT" in quiet.stderr


@pytest.mark.parametrize("args", REPORTS, ids=lambda args: args[0])
def test_verbose_says_what_is_used_and_leaves_the_answer_alone(recorded, args):
    plain, verbose = recorded(*args), recorded(*args, *(["--force"] if args[0] == "export" else []), "-v")
    version = recorded.good("--version").stdout.splitlines()[0].split()[1]
    lines = verbose.stderr.splitlines()
    assert lines[0] == f"taskglass: version {version}, in {recorded.directory}"
    for name, row in help_of(recorded, args[0]).items():
        if row.group:
            assert any(line.startswith(f"taskglass: --{name} is '") for line in lines), name
    if args[0] not in ("run", "list", "config"):
        assert any("outputs/run" in line for line in lines)
    if args[0] not in ("run", "check", "replay", "list"):  # those print times or directories
        assert verbose.stdout == plain.stdout


def test_short_options_stand_together_in_every_verb(tg):
    for verb in verbs(tg):
        assert "--quiet and --verbose contradict each other" in tg(verb, "-qv").stderr, verb
        assert tg.good(verb, "-qh").stdout == tg.good(verb, "--help").stdout


def test_an_unknown_letter_is_shown_whole(tg):
    assert "unknown option -é;" in tg("run", "-é").stderr


# --- tasks -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("task", ["3", "0x3", "0:3", "0x0000000000000003", "0x0:0x3"])
def test_every_notation_of_a_task_is_accepted(recorded, task):
    expected = recorded.json("view", "--task", "3")
    assert expected["records"] and recorded.json("view", "--task", task) == expected
    assert recorded.json("replay", "--task", task) == recorded.json("replay", "--task", "3")
    filtered = recorded.run_json("matmul_chain", f"--dump-filter=task={task}", "--dump-tensor")
    assert filtered["recorder"]["recorded"] == len(expected["records"])


@pytest.mark.parametrize("case", ["null", "abort", "spin"])
def test_a_failure_prints_tasks_in_one_notation(tg, case):
    result = tg("run", workload("faults"), "--case", case, "--timeout", "2", "--dump-tensor")
    assert result.returncode == 3 and not re.search(r"0x[0-9a-f]{16}", result.stderr), result.stderr


def test_a_record_prints_its_task_in_one_notation(recorded):
    text = recorded.good("view", "--task", "3", "--index", "0-99").stdout
    assert re.search(r"^ *task +3$", text, re.M)
