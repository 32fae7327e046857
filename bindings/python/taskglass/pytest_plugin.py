# SPDX-License-Identifier: Apache-2.0
"""A plugin for pytest: every case of a workload's module is a test.

    pytest mine/ --platform a5sim --runtime aicpu_build_graph --dump-tensor

collects mine/mine.so and mine/build/mine.so, and runs each case by `taskglass run` in a process of its own,
so that whatever a module does ends that process and not pytest. Collecting reads modules and runs no code of
them, except of one that makes its table of cases while it is loaded. docs/pytest.md describes the options.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import pytest

from . import _module_file, errors
from ._files import MOST, read_file
from ._program import program
from .config import settings
from .device import Device
from .execute import platforms as all_platforms, runtimes as all_runtimes

LEVELS = ("off", "meta", "hash", "marked", "hybrid", "full")
_SHORT = ("--platform", "--runtime", "--dump-tensor")
_DEEPEST = 3  # folders below build/ that are searched
_LONGEST = 20000  # characters of what a run prints that a report keeps

Target = Tuple[str, str]  # a platform and a runtime
_targets_key = pytest.StashKey[List[Target]]()
_parsers: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()


# --- options ------------------------------------------------------------------------------------

def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    group = parser.getgroup("taskglass", "workloads of Taskglass")
    group.addoption("--taskglass-platform", "--platform", action="append", metavar="NAME",
                    dest="taskglass_platform",
                    help="run workloads on this platform; may be repeated; all: on every one")
    group.addoption("--taskglass-runtime", "--runtime", action="append", metavar="NAME",
                    dest="taskglass_runtime",
                    help="build the graphs of workloads by this runtime; may be repeated; all: by every one")
    group.addoption("--taskglass-dump-tensor", "--dump-tensor", nargs="?", const="full", metavar="LEVEL",
                    dest="taskglass_dump_tensor",
                    help=f"record the runs into outputs/; LEVEL is {', '.join(LEVELS)} (default: full)")
    group.addoption("--taskglass-once", action="store_true", dest="taskglass_once",
                    help="do not run a case with wrong outputs again, recorded, to find the first wrong task")
    _parsers[pluginmanager] = parser
    _give_way(parser)


def pytest_plugin_registered(plugin: object, manager: pytest.PytestPluginManager) -> None:
    if manager in _parsers:
        _give_way(_parsers[manager])


def _our_options(parser: Any) -> List[Any]:
    return list(parser.getgroup("taskglass").options)


def _give_way(parser: Any) -> None:
    """Leaves a short name such as --platform to a plugin, or a conftest, that has an option of that name:
    two options of one name would end every call of pytest. The long names stay."""
    try:
        ours = _our_options(parser)
        others = [option for group in [*parser._groups, parser._anonymous] for option in group.options
                  if option not in ours]
        taken = {name for option in others for name in option.names()}
        for option in ours:
            option._long_opts[:] = [name for name in option._long_opts
                                    if name not in _SHORT or name not in taken]
    except AttributeError:  # a pytest that keeps its options elsewhere
        pass


def _lost_names(config: pytest.Config) -> List[str]:
    """The short names that another plugin has."""
    parser = _parsers.get(config.pluginmanager)
    ours = {name for option in _our_options(parser) for name in option.names()} if parser else set(_SHORT)
    return [name for name in _SHORT if name not in ours]


def pytest_load_initial_conftests(early_config: pytest.Config, args: List[str]) -> None:
    """--dump-tensor takes a level or nothing: `--dump-tensor mine/` names a folder."""
    names = {"--taskglass-dump-tensor", "--dump-tensor"} - set(_lost_names(early_config))
    for at, word in enumerate(args[:-1]):
        if word in names and args[at + 1] not in LEVELS:
            args[at] = f"{word}=full"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "taskglass: a case of a workload (the plugin taskglass adds it)")
    level = config.getoption("taskglass_dump_tensor")
    if level is not None and level not in LEVELS:
        raise pytest.UsageError(f"unknown level '{level}' of --dump-tensor; levels are {', '.join(LEVELS)}")
    if config.getoption("taskglass_platform") or config.getoption("taskglass_runtime"):
        _targets(config)  # so that a wrong name is reported at once


def pytest_report_header(config: pytest.Config) -> List[str]:
    return [f"taskglass: {name} belongs to another plugin or conftest here; "
            f"ours is --taskglass-{name[2:]}" for name in _lost_names(config)]


def _chosen(config: pytest.Config, what: str, known: Sequence[str]) -> List[str]:
    given: List[str] = config.getoption(f"taskglass_{what}") or []
    if not given:  # as `taskglass run` chooses it: TASKGLASS_PLATFORM, or the default
        given = [each.value for each in settings() if each.name == what]
    found: List[str] = []
    for name in given:
        if name != "all" and name not in known:
            raise pytest.UsageError(f"unknown {what} '{name}'; {what}s are {', '.join(known)} and all")
        found += known if name == "all" else [name]
    return list(dict.fromkeys(found))


def _platforms(config: pytest.Config) -> List[str]:
    try:
        return _chosen(config, "platform", [each.name for each in all_platforms()])
    except errors.Error as error:
        raise pytest.UsageError(f"taskglass: {error}") from None


def _targets(config: pytest.Config) -> List[Target]:
    """The platforms and runtimes that every case runs on."""
    if _targets_key not in config.stash:
        platforms = _platforms(config)
        runtimes = _chosen(config, "runtime", [each.name for each in all_runtimes()])
        config.stash[_targets_key] = [(platform, runtime) for platform in platforms
                                      for runtime in runtimes]
    return config.stash[_targets_key]


# --- collecting ---------------------------------------------------------------------------------

def pytest_collect_file(file_path: pathlib.Path, parent: pytest.Collector
                        ) -> Optional[pytest.Collector]:
    if file_path.suffix == ".so" and _module_file.is_workload(file_path):
        return _collector(WorkloadFile, parent, file_path)
    if file_path.name == "CMakeLists.txt" and _is_left_out(parent.config):
        modules = list(_modules_below(file_path.parent / "build", _DEEPEST))
        if len(modules) == 1:
            return _collector(WorkloadFile, parent, modules[0])
        if modules:
            return _collector(BuildFolder, parent, file_path)
    return None


def _collector(kind: Any, parent: pytest.Collector, path: pathlib.Path) -> pytest.Collector:
    made: pytest.Collector = kind.from_parent(parent, path=path)
    return made


def _is_left_out(config: pytest.Config) -> bool:
    """Whether pytest does not look into folders with the name build, which is where CMake puts modules."""
    return any(fnmatch("build", pattern) for pattern in config.getini("norecursedirs"))


def _modules_below(folder: pathlib.Path, depth: int) -> Iterator[pathlib.Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = pathlib.Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            if depth > 0 and not entry.name.startswith("."):
                yield from _modules_below(path, depth - 1)
        elif path.suffix == ".so" and _module_file.is_workload(path):
            yield path


class BuildFolder(pytest.File):
    """The folder build/ beside a CMakeLists.txt, if it has several modules."""

    def collect(self) -> Iterator["WorkloadFile"]:
        for path in _modules_below(self.path.parent / "build", _DEEPEST):
            yield WorkloadFile.from_parent(self, path=path)


class WorkloadFile(pytest.File):
    """A module; its cases are tests."""

    def collect(self) -> Iterator["CaseItem"]:
        try:
            cases = _module_file.read_cases(self.path)
            names = [case.name for case in cases] if cases else _ask_child(self.path)
            targets = _targets(self.config)
        except errors.Error as error:
            raise self.CollectError(str(error)) from None
        for name in names:
            for target in targets:
                yield CaseItem.from_parent(self, name=f"{_plain(name)}[{'-'.join(target)}]", case=name,
                                           target=target)

    def repr_failure(self, excinfo: Any) -> Any:  # type: ignore[override]
        if isinstance(excinfo.value, self.CollectError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


def pytest_collection_modifyitems(config: pytest.Config, items: List[pytest.Item]) -> None:
    """`pytest mine mine/build` names the same modules twice; each case runs once, as pytest does with files."""
    if config.getoption("keepduplicates", False):
        return
    seen, kept = set(), []
    for item in items:
        if not isinstance(item, CaseItem) or item.nodeid not in seen:
            kept.append(item)
        seen.add(item.nodeid)
    items[:] = kept


def _plain(name: str) -> str:
    """A case's name as part of a test's name."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in name)


def _ask_child(path: pathlib.Path) -> List[str]:
    """The cases of a module that cannot be read without loading it, or the error that it has. A signal ends
    the process if a constructor does not return within the limit that `taskglass run` gives it."""
    limit = next(each.value for each in settings() if each.name == "timeout")
    script = ("import json, signal, sys, taskglass\n"
              "signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))\n"
              "print(json.dumps([case.name for case in taskglass.workload(sys.argv[1]).cases]))")
    package = str(pathlib.Path(__file__).resolve().parents[1])
    paths = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([sys.executable, "-c", script, str(path), limit], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          env={**os.environ, "PYTHONPATH": paths})
    try:
        names: List[str] = json.loads(done.stdout.splitlines()[-1])
        return names
    except (ValueError, IndexError):
        if done.returncode == -signal.SIGALRM:
            raise errors.WorkloadFault(f"a constructor of module '{path}' did not return within {limit} s; "
                                       "TASKGLASS_TIMEOUT sets the limit") from None
        last = (done.stderr.strip().splitlines() or [f"the process ended with {done.returncode}"])[-1]
        raise pytest.Collector.CollectError(last.partition("errors.")[2].partition(": ")[2] or last) from None


# --- running ------------------------------------------------------------------------------------

@dataclass
class _Done:
    """A run that has ended."""
    exit_code: int
    status: str
    text: str
    advice: str
    output_dir: pathlib.Path
    report: Dict[str, Any]  # run.json, {} if there is none
    printed: str
    complained: str


class CaseFailed(Exception):
    """A case that failed, with what the report says about it."""

    def __init__(self, title: str, lines: Iterable[str]) -> None:
        super().__init__(title)
        self.title, self.lines = title, list(lines)


class _Report:
    """What pytest prints about a failed case. `reprcrash` is what the summary shows of it."""

    def __init__(self, failure: CaseFailed, path: pathlib.Path) -> None:
        self._lines = [failure.title, *failure.lines]
        self.reprcrash = _Crash(str(path), failure.title)

    def toterminal(self, tw: Any) -> None:
        for number, line in enumerate(self._lines):
            tw.line(line, red=number == 0, bold=number == 0)

    def __str__(self) -> str:
        return "\n".join(self._lines)


@dataclass
class _Crash:
    path: str
    message: str
    lineno: int = 0

    def __str__(self) -> str:  # what --tb=line prints
        return f"{self.path}: {self.message}"


class CaseItem(pytest.Item):
    """A case on a platform, by a runtime."""

    def __init__(self, *, case: str, target: Target, **more: Any) -> None:
        super().__init__(**more)
        self.case, self.platform, self.runtime = case, target[0], target[1]
        self.add_marker("taskglass")
        self.user_properties += [("platform", target[0]), ("runtime", target[1])]

    def reportinfo(self) -> Tuple[pathlib.Path, Optional[int], str]:
        # Not an end of the id, in which pytest would replace the dots.
        return self.path, 0, f"{self.path.name}: {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        if isinstance(excinfo.value, CaseFailed):
            return _Report(excinfo.value, self.path)
        return super().repr_failure(excinfo)

    def runtest(self) -> None:
        level = self.config.getoption("taskglass_dump_tensor")
        try:
            done = self._run(level, self._folder("outputs" if level not in (None, "off") else None))
        except errors.Error as error:
            raise CaseFailed(str(error), [error.advice] if error.advice else []) from None
        self.user_properties.append(("output_dir", str(done.output_dir)))
        for name, written in (("stdout", done.printed), ("stderr", _others(done))):
            if written:
                self.add_report_section("call", name, written[-_LONGEST:])
        if done.exit_code == 0:
            return
        if done.status == "UNSUPPORTED":
            # With the place of the case, because that of this line says nothing.
            raise pytest.skip.Exception(done.text, _use_item_location=True)
        raise CaseFailed(f"{done.status}: {done.text}", self._explained(done, level))

    def _folder(self, below: Optional[str]) -> pathlib.Path:
        """A new folder for the files of a run: below the folder that pytest was started in, or a
        temporary one."""
        name = re.sub(r"[^A-Za-z0-9_.+-]", "_", f"{self.path.stem}_{self.case}_{self.platform}_{self.runtime}")
        if below is None:
            factory = getattr(self.config, "_tmp_path_factory", None)
            return pathlib.Path(factory.mktemp(name[:80]) if factory else
                                tempfile.mkdtemp(prefix=f"taskglass_{name[:80]}_"))
        folder = self.config.invocation_params.dir / below
        stamp, number = time.strftime("%Y%m%d_%H%M%S"), 1
        try:
            folder.mkdir(exist_ok=True)
            while True:  # other workers of pytest make folders too
                made = folder / f"{name[:150]}_{stamp}{f'_{number}' if number > 1 else ''}"
                try:
                    made.mkdir(0o700)
                    return made
                except FileExistsError:
                    number += 1
        except OSError as error:
            raise errors.IoError(f"cannot make a folder in '{folder}': {error.strerror}") from None

    def _options(self, level: Optional[str]) -> List[str]:
        return ["--case", self.case, "--platform", self.platform, "--runtime", self.runtime,
                *([] if level is None else [f"--dump-tensor={level}"])]

    def _run(self, level: Optional[str], folder: pathlib.Path) -> _Done:
        command = [program(), "run", str(self.path), *self._options(level), "--output", str(folder)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace",
                              cwd=self.config.invocation_params.dir)
        report = _run_json(folder)
        failure = report.get("error") or {}
        said = re.search(r"^taskglass: ([A-Z_]+): (.*)$", done.stderr, re.M)
        status = str(failure.get("name") or (said.group(1) if said else "UNKNOWN"))
        text = str(failure.get("text") or (said.group(2) if said else _ended(done)))
        return _Done(done.returncode, status, text, str(failure.get("advice") or ""), folder, report,
                     done.stdout, done.stderr)

    def _explained(self, done: _Done, level: Optional[str]) -> Iterator[str]:
        """What a failed run says: the first wrong task, where its files are, how to repeat it."""
        if done.status == "MISMATCH":
            yield from self._first_wrong(done, level)
        elif done.advice:
            yield f"  advice   {done.advice}"
        yield f"  files    {self._shown(done.output_dir)}"
        repeat = ["taskglass", "run", self._shown(self.path), *self._options(level)]
        yield f"  repeat   {' '.join(map(shlex.quote, repeat))}"

    def _shown(self, path: pathlib.Path) -> str:
        """A path from the folder that pytest was started in."""
        try:
            return os.fspath(path.relative_to(self.config.invocation_params.dir))
        except ValueError:
            return os.fspath(path)

    def _first_wrong(self, done: _Done, level: Optional[str]) -> Iterator[str]:
        """The first wrong task, from the recording of this run or of a second one."""
        if level == "full":
            yield from (f"  {line}" for line in self._looked(done))
            yield f"  advice   taskglass check {self._shown(done.output_dir)}"
        elif self.config.getoption("taskglass_once"):
            yield "  advice   --dump-tensor records the run, so that the first wrong task is found"
        else:
            again = self._run("full", self._folder(None))
            if again.status == "MISMATCH":
                yield "  in a second run of the case, recorded because the first was not:"
                yield from (f"    {line}" for line in self._looked(again))
                yield f"  advice   taskglass check {self._shown(again.output_dir)}"
            else:
                how = "passed" if again.exit_code == 0 else f"ended with {again.status}: {again.text}"
                yield f"  a second run of the case, recorded to find the first wrong task, {how}"
                yield f"  advice   taskglass check {self._shown(again.output_dir)}" if again.exit_code else \
                    "  advice   the result changes from run to run: look for tasks that do not wait for each other"

    def _looked(self, done: _Done) -> Iterator[str]:
        from ._culprit import first_wrong
        try:
            yield from first_wrong(done.output_dir, self.path, done.report)
        except (errors.Error, KeyError, TypeError, ValueError) as error:
            yield f"the first wrong task is not known: {error}"


def _others(done: _Done) -> str:
    """What else a run wrote on standard error than the failure, which the report shows anyway."""
    if done.status != "MISMATCH":
        return done.complained
    return "".join(line for line in done.complained.splitlines(True)
                   if not line.startswith(("taskglass: MISMATCH: ", "  advice   ")))


def _ended(done: "subprocess.CompletedProcess[str]") -> str:
    lines = done.stderr.strip().splitlines()
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
    return lines[-1] if lines else f"`taskglass run` ended with {how}"


def _run_json(folder: pathlib.Path) -> Dict[str, Any]:
    try:
        report = json.loads(read_file(folder / "run.json", MOST["run.json"]))
        return report if isinstance(report, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


# --- for tests that people write ------------------------------------------------------------------

def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    named = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize") if mark.args]
    if "tg_platform" in metafunc.fixturenames and not any("tg_platform" in str(each) for each in named):
        metafunc.parametrize("tg_platform", _platforms(metafunc.config), indirect=True)


@pytest.fixture
def tg_platform(request: pytest.FixtureRequest) -> str:
    """The name of each platform that --platform names, in turn."""
    return str(request.param)


@pytest.fixture
def tg_device(tg_platform: str) -> Iterator[Device]:
    """An open device of each platform that --platform names, in turn."""
    try:
        device = Device(tg_platform)
    except errors.Unsupported as error:
        pytest.skip(error.text)
    with device:
        yield device
