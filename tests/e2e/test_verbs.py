# SPDX-License-Identifier: Apache-2.0
"""list, config, help, version and the man pages."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import TEST_WORKLOADS, clean_environment, help_of, one_line
from serving import SERVER

MAN = pathlib.Path(__file__).parents[2] / "man"
VERBS = ["run", "new", "list", "view", "export", "diff", "stats", "find", "verify", "check", "replay",
         "scope", "recover", "config", "completion", "runs", "top", "serve"]
PAGES = ["taskglass.1", *(f"taskglass-{verb}.1" for verb in VERBS)]


def test_list_has_workloads_platforms_and_runtimes(tg):
    document = tg.json("list")
    assert list(document) == ["version", "workloads", "platforms", "runtimes"]


def test_list_has_the_parameters_of_each_case(tg):
    listed = {entry["name"]: entry for entry in tg.json("list")["workloads"]}
    small = [case for case in listed["vector_add"]["cases"] if case["name"] == "small"][0]
    assert small["params"] == "n=1024 tile=256" and small["summary"]


def test_list_has_the_simulators_as_available(tg):
    available = {entry["name"]: entry["available"] for entry in tg.json("list")["platforms"]}
    assert available["a2a3sim"] and available["a5sim"]


def test_list_says_which_runtimes_this_version_has(tg):
    available = {entry["name"]: entry["available"] for entry in tg.json("list")["runtimes"]}
    assert {"host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"} <= set(available)
    assert all(available.values())


def test_list_for_people_names_what_the_json_names(tg):
    text, document = tg.good("list").stdout, tg.json("list")
    for kind in ("workloads", "platforms", "runtimes"):
        assert all(entry["name"] in text for entry in document[kind])


def test_a_list_that_cannot_be_made_says_so_to_programs(tg):
    result = tg("list", "--workload-path", "./nowhere", "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 2 and document["result"] == "not known" and "./nowhere" in document["reason"]


def test_list_finds_the_workloads_of_the_users_own_folders(tg):
    listed = tg.json("list", "--workload-path", TEST_WORKLOADS)["workloads"]
    assert {"graphs", "faults", "vector_add"} <= {entry["name"] for entry in listed}


def test_list_shows_a_broken_module_with_the_reason(tg):
    listed = {entry["name"]: entry
              for entry in tg.json("list", "--workload-path", TEST_WORKLOADS / "broken")["workloads"]}
    assert "ABI" in listed["other_abi"]["error"] and listed["sound"]["error"] is None


def test_a_workload_of_the_users_own_folder_runs_by_its_name(tg):
    tg.good("run", "graphs", "--case", "diamond", env={"TASKGLASS_WORKLOAD_PATH":
                                                       str(TEST_WORKLOADS)})


def test_a_module_runs_by_a_path_without_a_slash(tg):
    shutil.copy(TEST_WORKLOADS / "graphs.so", tg.directory / "mine.so")
    tg.good("run", "mine.so", "--case", "diamond")


def test_the_program_finds_its_examples_when_called_through_a_link(tg):
    from conftest import PROGRAM
    (tg.directory / "link").symlink_to(PROGRAM)
    result = subprocess.run(["./link", "run", "vector_add"], cwd=tg.directory,
                            env=clean_environment(), stdout=subprocess.DEVNULL)
    assert result.returncode == 0


def test_config_has_every_field_of_every_setting(tg):
    for setting in tg.json("config")["settings"]:
        assert list(setting) == ["name", "type", "value", "source", "default", "environment",
                                 "help"]


def settings(tg, *args, **options):
    return {entry["name"]: entry for entry in tg.json("config", *args, **options)["settings"]}


def test_config_shows_the_default_and_where_it_is_from(tg):
    cores = settings(tg)["cores"]
    assert (cores["value"], cores["source"], cores["default"]) == ("0", "default", "0")


def test_config_shows_what_the_environment_says(tg):
    cores = settings(tg, env={"TASKGLASS_CORES": "6"})["cores"]
    assert (cores["value"], cores["source"]) == ("6", "environment")


def test_an_option_wins_over_the_environment(tg):
    cores = settings(tg, "--cores", "9", env={"TASKGLASS_CORES": "6"})["cores"]
    assert (cores["value"], cores["source"]) == ("9", "caller")


def test_an_option_takes_its_value_with_an_equals_sign_too(tg):
    assert settings(tg, "--cores=9")["cores"]["value"] == "9"


def test_a_flag_stands_alone_or_with_a_value(tg):
    assert settings(tg, "--deps")["deps"]["value"] == "on"
    assert settings(tg, "--deps=no")["deps"]["value"] == "no"


def test_config_for_people_has_every_setting_with_its_variable(tg):
    text = tg.good("config").stdout
    for name, setting in settings(tg).items():
        assert re.search(rf"^{name} .* {setting['environment']}$", text, re.M)


@pytest.mark.parametrize("args", [["--help"], ["-h"], ["help"]])
def test_help_names_every_verb(tg, args):
    text = tg.good(*args).stdout
    assert all(re.search(rf"^  {verb} ", text, re.M) for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_is_the_same_either_way(tg, verb):
    text = tg.good("help", verb).stdout
    assert text == tg.good(verb, "--help").stdout == tg.good(verb, "-h").stdout
    assert text.startswith(f"Usage: taskglass {verb}")


def test_the_help_of_a_verb_has_every_setting(tg):
    text = tg.good("run", "--help").stdout
    assert all(f"--{name} " in text for name in settings(tg))


def test_version_is_that_of_the_headers(tg):
    header = (MAN.parent / "include/taskglass/version.h").read_text()
    version = re.search(r'TG_VERSION_STRING "(.*)"', header).group(1)
    assert tg.good("--version").stdout.splitlines()[0] == f"taskglass {version}"


def test_version_has_the_commit_and_what_the_build_has(tg):
    document = json.loads(tg.good("--version", "--json").stdout)
    assert list(document) == ["version", "commit", "platforms", "cuda_architectures", "runtimes",
                              "exports", "features"]
    listed = tg.json("list")
    assert set(document["platforms"]) <= {entry["name"] for entry in listed["platforms"]}
    assert document["runtimes"] == [entry["name"] for entry in listed["runtimes"]]
    assert ("sqlite" in document["features"]) == ("sqlite" in document["exports"])
    assert ("cuda" in document["platforms"]) == bool(document["cuda_architectures"])
    rows = dict(line.split(maxsplit=1) for line in tg.good("--version").stdout.splitlines())
    assert rows["commit"] == (document["commit"] or "unknown")
    assert re.fullmatch("[0-9a-f]{12}|unknown", rows["commit"])
    assert tg("--version", "--jsno").returncode == 2


def test_version_says_whether_there_is_a_server(tg):
    features = json.loads(tg.good("--version", "--json").stdout)["features"]
    assert ("serve" in features) == SERVER.exists()


@pytest.mark.skipif(SERVER.exists(), reason="this build has a server")
def test_a_build_without_a_server_says_what_to_install(tg):
    result = tg("serve")
    assert result.returncode == 2 and one_line(result.stderr) and "libmicrohttpd-dev" in result.stderr


@pytest.mark.parametrize("page", PAGES)
def test_a_man_page_is_clean(page):
    if not shutil.which("groff"):
        pytest.skip("no groff here")
    result = subprocess.run(["groff", "-ww", "-mandoc", "-Tutf8", "-rLL=80n", "-z", MAN / page],
                            stderr=subprocess.PIPE, text=True)
    assert (result.returncode, result.stderr) == (0, "")


FILTERS = {"task", "kernel", "stage", "role", "kind", "arg", "index"}


def options_of_page(verb):
    """The long options that a page has in its synopsis and its lists; with their letters, if it has any."""
    page = (MAN / f"taskglass-{verb}.1").read_text().replace("\\-", "-")
    lines = re.findall(r"^\.(?:It|Op|Fl)\b.*$", page, re.M)
    if verb == "replay":  # it names its settings in a sentence
        lines += re.findall(r"^\.(?:Fl|Pq) .*$", page, re.M)
    names = {name for line in lines for name in re.findall(r"(?:Fl |, )-([a-z][a-z-]+)", line)}
    letters = {name: letter for line in lines
               for letter, name in re.findall(r"Fl (\w) , Fl -([a-z-]+)", line)}
    return page, names, letters


def verbs_of_help(tg):
    return set(re.findall(r"^  ([a-z]+) +[A-Z]", tg.good("--help").stdout, re.M)) - {"help"}


def test_the_man_page_of_a_verb_has_the_options_of_its_help(tg):
    for verb in verbs_of_help(tg):
        check_page_has_options(help_of(tg, verb), verb)


def check_page_has_options(rows, verb):
    page, names, letters = options_of_page(verb)
    missing = set(rows) - names
    if ".Xr taskglass-view 1" in page:  # where the filters are described
        missing -= FILTERS
    if verb == "config":  # which shows the settings instead of describing them
        missing -= {name for name in rows if rows[name].group}
    assert missing == set(), verb
    for name, row in rows.items():
        if row.letter and name in names and not row.group:
            assert letters.get(name) == row.letter, (verb, name)


def test_the_man_page_of_a_verb_lists_no_option_that_it_does_not_take(tg):
    for verb in verbs_of_help(tg):
        page = (MAN / f"taskglass-{verb}.1").read_text().replace("\\-", "-")
        listed = {name for line in re.findall(r"^\.(?:It|Op) .*$", page, re.M)
                  for name in re.findall(r"(?:Fl |, )-([a-z][a-z-]+)", line)}
        assert listed - set(help_of(tg, verb)) == set(), verb


def test_every_verb_has_a_man_page_that_the_main_page_names():
    main = (MAN / "taskglass.1").read_text()
    assert all(f".Xr taskglass-{verb} 1" in main for verb in VERBS)


def test_every_verb_of_the_help_has_a_man_page_of_its_name(tg):
    verbs = verbs_of_help(tg)
    assert set(VERBS) <= verbs
    for verb in verbs:
        page = (MAN / f"taskglass-{verb}.1").read_text()
        assert f".Nm taskglass-{verb}\n" in page or f".Nm taskglass {verb}" in page
