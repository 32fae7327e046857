# SPDX-License-Identifier: Apache-2.0
"""Every option of every verb has a twin in Python, or a reason why it has none. The verbs and their options
are taken from the program, so that a new one is noticed."""

import dataclasses
import inspect

import pytest
import taskglass
from taskglass import Recording

from conftest import command

#: Options that say how an answer is shown.
SHOWN = {"json": "functions return objects", "help": "help()", "quiet": "functions print nothing",
         "verbose": "functions print nothing", "all": "functions give all unless there is a limit",
         "rank": "Ranks(dir)[r] is one rank, and its recording() answers"}

#: Each verb: the functions that do its work, options under another name, and options without a twin.
VERBS = {
    "run": ([taskglass.run], {}, {}),
    "shake": ([taskglass.shake], {}, {}),
    "check": ([Recording.check, Recording.check_against], {
        "timeout": "limit", "against": "file", "limit": None}, {"limit": "the result has every task"}),
    "find": ([Recording.find], {"no-replay": "replay"}, {}),
    "stats": ([Recording.stats], {}, {}),
    "replay": ([Recording.replay, Recording.replay_all, Recording.bundle], {"bundle": "folder"}, {}),
    "scope": ([taskglass.scope, taskglass.ScopeStats.write_page, Recording.scope], {
        "output": "path", "force": "overwrite"}, {}),
    "path": ([taskglass.path, Recording.path], {}, {}),
    "export": ([Recording.export], {"output": "path", "force": "overwrite"}, {}),
    "runs": ([taskglass.runs, taskglass.remove_runs], {}, {
        "remove": "remove_runs", "yes": "remove_runs does not ask"}),
    "verify": ([taskglass.verify, Recording.verify], {}, {}),
    "recover": ([taskglass.recover], {}, {}),
    "diff": ([taskglass.diff, taskglass.Ranks.diff, taskglass.Ranks.across, taskglass.Ranks.compare], {
        "shard": "shards"}, {"blame": "the result always has it", "across": "Ranks.across"}),
    "view": ([Recording.select, Recording.export, Recording.write_page], {
        "output": "path", "html": "path", "force": "overwrite"}, {
        "summary": "the members of a Recording"}),
    "list": ([taskglass.workloads, taskglass.platforms, taskglass.runtimes], {}, {}),
    "config": ([taskglass.settings], {}, {}),
    "explain": ([taskglass.explain], {}, {}),
    "serve": ([taskglass.serve], {}, {}),
    "top": ([taskglass.Live.ask, taskglass.live], {}, {
        "interval": "the caller asks as often as it wants", "count": "the same", "once": "live()"}),
}
#: Verbs that are about the command line, or about C sources.
WITHOUT = {"new": "it makes the sources of a workload", "completion": "for shells", "help": "help()"}

#: Functions that take settings: as a Config, or by their names.
TAKES_SETTINGS = {"run", "shake", "find", "replay", "list", "config"}


def offered(*words):
    """What may come next on the command line."""
    lines = command("complete", "words", "--", *words).splitlines()
    return [line.split("\t")[0] for line in lines]


def parameters(functions):
    return {name for function in functions for name in inspect.signature(function).parameters}


def test_every_verb_is_known():
    assert set(offered("")) == set(VERBS) | set(WITHOUT)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_has_a_parameter(verb):
    functions, renamed, without = VERBS[verb]
    known = parameters(functions)
    if verb in TAKES_SETTINGS:
        known |= {field.name for field in dataclasses.fields(taskglass.Config)}
    options = [option[2:] for option in offered(verb, "--") if option.startswith("--")]
    assert "json" in options
    missing = [option for option in options if option not in without and option not in SHOWN
               and renamed.get(option, option.replace("-", "_")) not in known]
    assert missing == [], "give them a twin in bindings/python, or say here why they need none"
    assert [option for option in (*without, *renamed) if option not in options] == []


def test_every_setting_is_a_member_of_the_config():
    members = {field.name for field in dataclasses.fields(taskglass.Config)}
    assert [each.name for each in taskglass.settings()
            if each.name.replace("-", "_") not in members] == []


def test_a_run_of_a_graph_takes_what_a_run_takes():
    """Those of a run that are not about the device, the workload, or the orchestration's rings."""
    twins = {"timeout": "timeout", "output": "output_dir", "shared": "shared", "live": "live",
             "deps": "deps", "dump-tensor": "record", "dump-args": "record", "dump-filter": "filter",
             "dump-policy": "policy", "dump-arena": "arena", "dump-buffers": "buffers",
             "dump-wait": "wait_limit", "dump-transport": "transport",
             "enable-scope-stats": "scope_stats", "trace": "trace", "schedule": "schedule"}
    elsewhere = {
        "case", "set", "workload-path", "races",  # of a workload's run
        "platform", "cores", "schedulers", "device-memory", "load-timeout", "linger",
        "device-program", "sandbox",
        "poison", "orchestrator", "ranks", "comm",  # of a Device, and of the Comm that it joins
        "runtime", "ring-task-window", "ring-heap", "ring-dep-pool", "tensormap"}  # of an orchestration
    options = {option[2:] for option in offered("run", "--")} - set(SHOWN)
    assert options == set(twins) | elsewhere
    assert set(twins.values()) <= parameters([taskglass.Graph.start])
    assert "config" in parameters([taskglass.Device])
