# SPDX-License-Identifier: Apache-2.0
"""Completion in real shells: Tab in bash and zsh on a pseudo-terminal, `complete -C` in fish."""

import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import time

import pytest

from conftest import PROGRAM, TEST_WORKLOADS, TIMEOUT, Runner, clean_environment

SCRIPTS = pathlib.Path(__file__).parents[2] / "completions"
HOSTILE = "x$(touch pwned)`touch pwned`;touch pwned"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with runs, one of them with a hostile name, and files."""
    tg = Runner(tmp_path_factory.mktemp("completion"))
    tg.good("run", "vector_add", "--dump-tensor", "--output", "outputs/first run")
    for name in (HOSTILE, "it's", "colon:run", "tab\tbed", "new\nline"):
        (tg.directory / "outputs" / name).mkdir()
    (tg.directory / "golden data.npy").touch()
    return tg


def complete(tg, *words):
    """The candidates for the last word, with what is said about each."""
    lines = tg.good("complete", "words", "--", *words).stdout.splitlines()
    return dict(line.split("\t") for line in lines)


# --- what the program answers -----------------------------------------------------------------------

def test_verbs_and_options_are_those_of_the_help(place):
    text = place.good("help").stdout
    for verb in set(complete(place, "")) - {"help"}:
        assert f"\n  {verb} " in text
        own = place.good("help", verb).stdout
        assert all(f"{name} " in own or f"{name}\n" in own for name in complete(place, verb, "--"))
        assert {"--help", "--quiet", "--verbose"} <= set(complete(place, verb, "--"))


def test_a_verb_offers_only_the_settings_that_it_takes(place):
    assert "--cores" in complete(place, "run", "--c") and not complete(place, "verify", "--c")


@pytest.mark.parametrize("words, expected", [
    (["run", "--platform", ""], {"a2a3sim", "a5sim", "cuda"}),
    (["run", "--platform=a5"], {"--platform=a5sim"}),
    (["run", "-pa5"], {"-pa5sim"}),
    (["run", "-p", "a5"], {"a5sim"}),
    (["run", "-qp", "a5"], {"a5sim"}),
    (["run", "--dump-policy", ""], {"block", "drop", "overwrite"}),
    (["run", "--dump-tensor=m"], {"--dump-tensor=meta", "--dump-tensor=marked"}),
    (["run", "--dump-tensor", "meta", "vector_"], {"vector_add"}),
    (["run", "--deps=o"], {"--deps=on", "--deps=off"}),
    (["run", "vector_add", "--case", "s"], {"small"}),
    (["run", "--case=l"], set()),  # nobody knows the workload yet
    (["run", "vector_add", "--case=l"], {"--case=large"}),
    (["run", "vector_add", "--set", ""], {"n=", "tile="}),
    (["view", "--stage", "before,a"], {"before,after"}),
    (["find", "un"], {"unwritten"}),
    (["find", "nan", "outputs/f"], {"outputs/first run"}),
    (["export", "--to", "np"], {"npy", "npz"}),
    (["check", "--against", "g"], {"golden data.npy"}),
    (["help", "ver"], {"verify"}),
    (["completion", ""], {"bash", "zsh", "fish"}),
    (["view", "--limit", ""], set()),
    (["view", "outputs/first run", ""], set()),
    (["diff", "outputs/first run", "outputs/f"], {"outputs/first run"}),
    (["nonsense", ""], set()),
    (["complete", ""], set()),
], ids=str)
def test_candidates(place, words, expected):
    assert set(complete(place, *words)) == expected


def test_names_that_would_act_on_a_terminal_are_left_out(place):
    assert set(complete(place, "view", "outputs/")) == {
        f"outputs/{name}" for name in ("first run", HOSTILE, "it's", "colon:run")}


def test_cases_of_a_module_that_nobody_has_run_are_not_read(tg):
    """Loading a module runs its code, and Tab is no decision to run it."""
    shutil.copy(TEST_WORKLOADS / "graphs.so", tg.directory / "mine.so")
    home = {"XDG_STATE_HOME": str(tg.directory / "state")}
    ask = ["complete", "words", "--", "run", "./mine.so", "--case", "diam"]
    assert tg.good(*ask, env=home).stdout == ""
    folder = ["--workload-path", str(TEST_WORKLOADS)]
    assert tg.good("complete", "words", "--", "run", "graphs", *folder, "--case", "diam",
                   env=home).stdout == ""
    tg.good("run", "./mine.so", "--case", "diamond", env=home)
    assert tg.good(*ask, env=home).stdout.startswith("diamond\t")


def test_a_module_that_hangs_or_crashes_offers_nothing(tg):
    environment = {"TASKGLASS_WORKLOAD_PATH": str(TEST_WORKLOADS / "broken")}
    for name in sorted(path.stem for path in (TEST_WORKLOADS / "broken").glob("*.so")):
        result = tg("complete", "words", "--", "run", name, "--case", "", env=environment)
        assert result.returncode == 0, name


# --- the shells -------------------------------------------------------------------------------------

class Shell:
    """An interactive shell on a terminal. Ctrl-T makes it write its line to a file."""

    def __init__(self, directory, command, setup, environment):
        self.file = directory.parent / f"line-{os.getpid()}"
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, {**environment, "LINE": str(self.file)})
        self.type(setup.replace("\n", "\r"))
        assert self.line() == ""

    def type(self, text):
        os.write(self.terminal, text.encode())

    def line(self):
        """What stands on the line; it is then cleared."""
        self.file.unlink(missing_ok=True)
        self.type("\x14")
        end = time.monotonic() + TIMEOUT
        while not self.file.exists() or not self.file.read_text().endswith("\n"):
            assert time.monotonic() < end, "the shell does not answer"
            if select.select([self.terminal], [], [], 0.01)[0]:
                os.read(self.terminal, 65536)
        self.type("\x15")
        return self.file.read_text()[:-1]

    def complete(self, text):
        self.type(text + "\t")
        return self.line()

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


BASH = r"""bind 'set enable-bracketed-paste off'
bind -x '"\C-t": printf "%s\n" "$READLINE_LINE" >"$LINE"'
source "$SCRIPT"
"""
ZSH = r"""unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D
source "$SCRIPT"
dump() { print -r -- "$BUFFER" > $LINE }; zle -N dump; bindkey '^T' dump; bindkey '^U' kill-whole-line
"""


def start(name, command, setup, place):
    if not shutil.which(name):
        pytest.skip(f"no {name} here")
    home = place.directory.parent / f"home-{name}"
    home.mkdir(exist_ok=True)
    (home / "in home").mkdir(exist_ok=True)
    environment = clean_environment(
        PATH=f"{PROGRAM.parent}:{os.environ['PATH']}", HOME=str(home), TERM="vt100", LC_ALL="C.UTF-8",
        SCRIPT=str(SCRIPTS / f"taskglass.{name}"))
    return Shell(place.directory, command, setup, environment)


@pytest.fixture(scope="module")
def bash(place):
    shell = start("bash", ["bash", "--norc", "--noprofile", "-i"], BASH, place)
    yield shell
    shell.close()


@pytest.fixture(scope="module")
def zsh(place):
    shell = start("zsh", ["zsh", "-f", "-i"], ZSH, place)
    yield shell
    shell.close()


# What is typed before Tab, and what stands on the line after it.
TYPED = [
    ("taskglass verif", "taskglass verify "),
    ("taskglass run --pl", "taskglass run --platform "),
    ("taskglass run --platform a5", "taskglass run --platform a5sim "),
    ("taskglass run --platform=a5", "taskglass run --platform=a5sim "),
    ("taskglass run -p a5", "taskglass run -p a5sim "),
    ("taskglass run vector_add --case sm", "taskglass run vector_add --case small "),
    ("taskglass run vector_add --case=sm", "taskglass run vector_add --case=small "),
    ("taskglass run vector_add --set ti", "taskglass run vector_add --set tile="),
    ("taskglass export --to sq", "taskglass export --to sqlite "),
    ("taskglass view outputs/fi", r"taskglass view outputs/first\ run "),
    ("taskglass view 'outputs/fi", "taskglass view 'outputs/first run' "),
    ('taskglass view "outputs/fi', 'taskglass view "outputs/first run" '),
    ("taskglass view outputs/it", r"taskglass view outputs/it\'s "),
    ("taskglass view outputs/col", "taskglass view outputs/colon:run "),
    ("taskglass view outputs/colon:r", "taskglass view outputs/colon:run "),
    ("taskglass check --against gold", r"taskglass check --against golden\ data.npy "),
    ("taskglass check --against=gold", r"taskglass check --against=golden\ data.npy "),
    ("taskglass check --against ~/in", r"taskglass check --against ~/in\ home/"),
    ("X=1 taskglass verif", "X=1 taskglass verify "),
    ("taskglass list; taskglass verif", "taskglass list; taskglass verify "),
]


@pytest.mark.parametrize("typed, expected", TYPED, ids=[typed for typed, _ in TYPED])
def test_tab_in_bash(bash, typed, expected):
    assert bash.complete(typed) == expected


@pytest.mark.parametrize("typed, expected", TYPED, ids=[typed for typed, _ in TYPED])
def test_tab_in_zsh(zsh, typed, expected):
    assert zsh.complete(typed) == expected


@pytest.mark.parametrize("quote", ["", "'", '"'], ids=["plain", "single", "double"])
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_hostile_name_is_quoted_and_never_run(place, request, shell, quote):
    """The line must name exactly that folder when the shell reads it."""
    line = request.getfixturevalue(shell).complete(f"taskglass view {quote}outputs/x")
    shown = subprocess.run([shell, "-c", line.replace("taskglass view", "printf %s", 1)],
                           cwd=place.directory, stdout=subprocess.PIPE, text=True)
    assert shown.stdout == f"outputs/{HOSTILE}", line
    assert not list(place.directory.rglob("pwned"))


def test_what_must_be_expanded_is_left_to_bash(bash):
    assert bash.complete("taskglass check --against $HOM") == "taskglass check --against $HOME/"
    assert bash.complete("taskglass list > gold") == r"taskglass list > golden\ data.npy "


def test_the_function_of_bash_needs_only_the_words(place):
    """As a program calls it that tests completion, or completes for another command."""
    script = f"""source '{SCRIPTS / "taskglass.bash"}'
        COMP_WORDS=(taskglass run --platform a) COMP_CWORD=3
        _taskglass taskglass a --platform; printf '%s\\n' "${{COMPREPLY[@]}}" """
    result = subprocess.run(["bash", "-c", script], cwd=place.directory, stdout=subprocess.PIPE,
                            env=clean_environment(PATH=f"{PROGRAM.parent}:{os.environ['PATH']}"),
                            text=True, timeout=TIMEOUT)
    assert result.stdout.split() == ["a2a3sim", "a5sim"]


def test_zsh_finds_the_script_where_it_is_installed(place, tmp_path):
    (tmp_path / "_taskglass").symlink_to(SCRIPTS / "taskglass.zsh")
    shell = start("zsh", ["zsh", "-f", "-i"],
                  f"fpath=('{tmp_path}' $fpath)\n" + ZSH.replace('source "$SCRIPT"\n', ""), place)
    for _ in range(2):  # the first time the script is read
        assert shell.complete("taskglass verif") == "taskglass verify "
    shell.close()


def in_fish(place, line):
    """The candidates of fish, each with its description."""
    if not shutil.which("fish"):
        pytest.skip("no fish here")
    environment = clean_environment(PATH=f"{PROGRAM.parent}:{os.environ['PATH']}",
                                    HOME=str(place.directory.parent), LC_ALL="C.UTF-8", LINE=line,
                                    SCRIPT=str(SCRIPTS / "taskglass.fish"))
    result = subprocess.run(["fish", "--no-config", "-c", "source $SCRIPT; complete -C $LINE"],
                            cwd=place.directory, env=environment, stdout=subprocess.PIPE, text=True,
                            stdin=subprocess.DEVNULL, timeout=TIMEOUT)
    return [line.split("\t")[0] for line in result.stdout.splitlines()]


@pytest.mark.parametrize("typed, expected", [
    ("taskglass verif", ["verify"]),
    ("taskglass run --pl", ["--platform"]),
    ("taskglass run --platform a5", ["a5sim"]),
    ("taskglass run --platform=a5", ["--platform=a5sim"]),
    ("taskglass run -p a5", ["a5sim"]),
    ("taskglass run vector_add --case sm", ["small"]),
    ("taskglass run vector_add --case=sm", ["--case=small"]),
    ("taskglass view outputs/fi", ["outputs/first run"]),
    ("taskglass view 'outputs/fi", ["outputs/first run"]),
    ("taskglass view outputs/x", [f"outputs/{HOSTILE}"]),
    ("taskglass check --against gold", ["golden data.npy"]),
    ("taskglass view --limit ", []),
])
def test_completion_in_fish(place, typed, expected):
    assert in_fish(place, typed) == expected
    assert not list(place.directory.rglob("pwned"))


# --- the scripts ------------------------------------------------------------------------------------

@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_as_it_is_installed(tg, shell):
    assert tg.good("completion", shell).stdout == (SCRIPTS / f"taskglass.{shell}").read_text()
    assert tg.good("completion", shell, "--quiet").stdout


def test_another_shell_is_refused(tg):
    result = tg("completion", "tcsh")
    assert result.returncode == 2 and "shells are bash, zsh and fish" in result.stderr
    assert "needs a shell" in tg("completion").stderr
