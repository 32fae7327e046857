#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the reader of a page of documentation: types its commands, saves its files, compares its outputs.

    play.py install BUILD PREFIX           installs a build for the pages
    play.py page PAGE PREFIX [--keep]      exits with 1 if a block of the page does not work
    play.py newcomer BUILD                 plays README.md from top to bottom as somebody who is new: a user
                                           without root, with an empty home, and with an installation that
                                           only root may write

README.md in this folder says how blocks are written.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from compare import difference  # noqa: E402
from page import Bad, Block, COMMANDS, OUTPUTS, blocks_of, commands_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARNINGS = "-Wall -Wextra -Werror"
PATIENCE = 600  # seconds; ends a command that hangs
NOBODY = 65534


def bash_accepts(text):
    return subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False).returncode == 0


def install(build, prefix):
    """Installs for simulators alone: with the device program for GPUs, every workload of a page would be
    compiled by nvcc too."""
    shutil.rmtree(prefix, ignore_errors=True)
    environment = {name: value for name, value in os.environ.items() if name != "DESTDIR"}
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], env=environment, check=True,
                   stdout=subprocess.DEVNULL)
    for folder in pathlib.Path(prefix).glob("lib*/**/taskglass/cuda"):
        shutil.rmtree(folder)


class Reader:
    """A person at a shell: a home, a current directory, variables."""

    def __init__(self, folder, prefix, as_nobody):
        self.folder = folder
        self.as_nobody = as_nobody
        self.home = folder / "home"
        self.desk = self.home / "desk"  # where the page begins: an empty folder
        self.desk.mkdir(parents=True)
        self.state = folder / "state"
        self.state.mkdir()
        (self.state / "cwd").write_text(f"{self.desk}\n")
        (self.state / "variables").write_text("")
        # README.md says to install into ~/.local. That is done already.
        local = self.home / ".local"
        local.mkdir()
        for entry in pathlib.Path(prefix).resolve().iterdir():
            (local / entry.name).symlink_to(entry)
        if as_nobody:
            folder.chmod(0o755)
            for path in (self.home, self.desk, local, self.state, *self.state.iterdir()):
                os.chown(path, NOBODY, NOBODY)

    def environment(self):
        """Nothing of the tester's but the compilers and the Python of the tests."""
        folders = ["/usr/bin", "/bin"]
        for tool in ("cmake", "cc", "pkg-config", "make", "ninja"):
            found = shutil.which(tool)
            if found and str(pathlib.Path(found).parent) not in folders:
                folders.append(str(pathlib.Path(found).parent))
        if subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True, check=False).returncode:
            tools = self.folder / "tools"
            tools.mkdir(exist_ok=True)
            shim = tools / "python3"
            shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
            shim.chmod(0o755)
            folders.insert(0, str(tools))
        return {"HOME": str(self.home), "PATH": ":".join(folders), "LANG": "C.UTF-8", "TERM": "dumb",
                "USER": "reader", "PYTHONDONTWRITEBYTECODE": "1"}

    def bash(self, script):
        """Runs a script that begins with the directory and the variables of the last one."""
        script = (f". {self.state}/variables\ncd \"$(cat {self.state}/cwd)\" || exit 98\n"
                  f"trap 'export -p >{self.state}/variables; pwd >{self.state}/cwd' EXIT\n{script}")
        become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if self.as_nobody else []
        process = subprocess.Popen([*become, "bash", "-c", script], env=self.environment(), cwd=self.desk,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, start_new_session=True)
        try:
            return process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return process.communicate()[0] + f"\nended after {PATIENCE} s\n"

    def type(self, commands):
        """Types commands one after the other until one ends with another code than the page says. Returns
        a list of (exit code, output)."""
        out = self.state / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        if self.as_nobody:
            os.chown(out, NOBODY, NOBODY)
        script = ""
        for number, command in enumerate(commands):
            script += f"{{ {command.text}\n}} >{out}/{number} 2>&1\ntg_code=$?\necho $tg_code >{out}/{number}.code\n"
            if command.code is not None:
                script += f"[ $tg_code = {command.code} ] || exit 1\n"
            script += "(exit $tg_code)\n"
        script += "wait\n"
        said = self.bash(script)
        results = []
        for number in range(len(commands)):
            if not (out / f"{number}.code").exists():
                break
            results.append((int((out / f"{number}.code").read_text()), (out / str(number)).read_text(errors="replace")))
        if said:
            print(said)
        return results

    def path_of(self, name):
        where = pathlib.Path((self.state / "cwd").read_text().strip())
        return (where / name).resolve()

    def save(self, name, text):
        path = self.path_of(name)
        if not path.is_relative_to(self.home.resolve()):
            raise Bad(0, f"{name} is not below the reader's home")
        made = [parent for parent in path.parents if not parent.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for new in (path, *made):
            if self.as_nobody:
                os.chown(new, NOBODY, NOBODY)


class Player:
    def __init__(self, path, reader, root):
        self.path = path
        self.reader = reader
        self.root = root
        self.output = None  # of the last block that ran
        self.names = []  # C files of the page
        self.played = self.left_out = 0

    def fail(self, line, what, output=""):
        raise Bad(line, what + ("\n  output:\n" + "".join(f"    {text}\n" for text in output.splitlines())
                                if output else ""))

    def run(self, commands):
        results = self.reader.type(commands)
        self.output = ""
        for command, (code, output) in zip(commands, results):
            self.output += output
            if command.code is not None and code != command.code:
                self.fail(command.line, f"exit code {code} instead of {command.code}: {command.text}", output)
            if command.shown is None:
                continue
            if command.text.split("#")[0].strip() == "echo $?":
                differs = None if command.shown.strip() == output.strip() else "another exit code than the page shows"
            else:
                differs = difference(command.shown, output)
            if differs:
                self.fail(command.line, f"{command.text}: {differs}", output)
        if len(results) < len(commands):
            self.fail(commands[len(results)].line, f"this command did not run: {commands[len(results)].text}")

    def run_text(self, text, line):
        block = type("", (), {"word": "sh", "text": text, "line": 1})
        commands = commands_of(block, bash_accepts)
        for command in commands:
            command.line = line
        self.run(commands)

    def compile(self, block):
        """A program that has no name: compiles it, and runs it if it has a main."""
        compiler, ending = ("cc -std=c11", "c") if block.word == "c" else ("c++ -std=c++17", "cpp")
        self.reader.save(f"block.{ending}", block.text)
        if "main(" not in block.text:
            self.run_text(f"{compiler} {WARNINGS} -I. $(pkg-config --cflags taskglass) -c block.{ending} "
                          f"-o block.o", block.line)
            return
        self.run_text(f"{compiler} {WARNINGS} block.{ending} -o block $(pkg-config --cflags --libs taskglass) && "
                      "./block", block.line)

    def change(self, block):
        """A block of diff: finds the old lines in the file and writes the new ones in their place."""
        path = self.reader.path_of(block.name)
        lines = block.text.rstrip("\n").split("\n")
        old = "".join(line[1:] + "\n" for line in lines if line[:1] != "+")
        new = "".join(line[1:] + "\n" for line in lines if line[:1] != "-")
        text = path.read_text() if path.exists() else ""
        if text.count(old) != 1:
            self.fail(block.line, f"{block.name} has the old lines {text.count(old)} times instead of once")
        self.reader.save(block.name, text.replace(old, new))

    def check_same(self, block):
        path = self.root / block.same_as
        if not path.exists() or path.read_text() != block.text:
            self.fail(block.line, f"the block differs from {block.same_as}")

    def play(self, block):
        if block.not_run:
            self.left_out += 1
            return
        self.played += 1
        if block.same_as:
            self.check_same(block)
        if block.word in COMMANDS:
            self.run(commands_of(block, bash_accepts))
        elif block.word in OUTPUTS:
            if self.output is None:
                self.fail(block.line, "no block before this one printed anything; a picture has no word")
            differs = difference(block.text, self.output)
            if differs:
                self.fail(block.line, differs, self.output)
        elif block.word == "diff":
            self.change(block)
        elif block.name:
            self.reader.save(block.name, block.text)
            if block.name.endswith((".c", ".cpp")):
                self.names.append((block.name, self.reader.path_of(block.name)))
        elif block.word == "python":
            self.reader.save("block.py", block.text)
            self.run_text("python3 block.py", block.line)
        elif block.word != "":
            self.compile(block)

    def check_files(self):
        """Every C file of the page compiles without a warning as the page leaves it, also if the page's own
        commands do not ask for warnings."""
        for name, path in dict(self.names).items():
            compiler = "cc -std=c11" if name.endswith(".c") else "c++ -std=c++17"
            folder, file = shlex.quote(str(path.parent)), shlex.quote(path.name)
            self.run_text(f"cd {folder} && {compiler} {WARNINGS} -I. $(pkg-config --cflags taskglass) "
                          f"-c {file} -o /dev/null", 0)


def setup_of(root):
    """The first block of README.md that sets variables; other pages say "as README.md says"."""
    found = re.search(r"^```sh\n((?:(?!```).*\n)*?export .*\n(?:(?!```).*\n)*)```$",
                      (root / "README.md").read_text(), re.MULTILINE)
    return Block("sh", found[1], 0) if found else None


def play_page(path, prefix, as_nobody=False, keep=False, root=ROOT):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="taskglass_test_docs_"))
    try:
        player = Player(path, Reader(folder, prefix, as_nobody), root)
        is_readme = path.resolve() == (root / "README.md").resolve()
        if not is_readme and (setup := setup_of(root)):
            player.run(commands_of(setup, bash_accepts))
            player.output = None
        for block in blocks_of(path.read_text()):
            player.play(block)
        player.check_files()
    except Bad as bad:
        print(f"{path}:{bad}", file=sys.stderr)
        return 1
    finally:
        if keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{path.name}: {player.played} blocks work, {player.left_out} need what is not here")
    return 0


def photograph(folder):
    """Every file below a folder with its mode, size and time."""
    return {str(path): (about.st_mode, about.st_size, about.st_mtime_ns)
            for path in sorted(pathlib.Path(folder).rglob("*")) for about in [path.lstat()]}


def play_newcomer(build):
    """If the test runs as root, the newcomer is nobody, to whom the installation does not belong. Otherwise it
    is the user, and the installation loses its permissions to write."""
    if os.geteuid() == 0:
        tempfile.tempdir = "/tmp"  # nobody may not enter a TMPDIR that belongs to root
    folder = pathlib.Path(tempfile.mkdtemp(prefix="taskglass_test_newcomer_"))
    prefix = folder / "prefix"
    try:
        folder.chmod(0o755)
        install(build, str(prefix))
        subprocess.run(["chmod", "-R", "go+rX,a-w", prefix], check=True)
        before = photograph(prefix)
        code = play_page(ROOT / "README.md", prefix, as_nobody=os.geteuid() == 0)
        if photograph(prefix) != before:
            print("the installation was changed", file=sys.stderr)
            code = 1
    finally:
        subprocess.run(["chmod", "-R", "u+w", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("install")
    verb.add_argument("build")
    verb.add_argument("prefix")
    verb = verbs.add_parser("page")
    verb.add_argument("page", type=pathlib.Path)
    verb.add_argument("prefix")
    verb.add_argument("--keep", action="store_true")
    verb = verbs.add_parser("newcomer")
    verb.add_argument("build")
    given = parser.parse_args()
    if given.verb == "install":
        install(given.build, given.prefix)
        return 0
    if given.verb == "newcomer":
        return play_newcomer(given.build)
    return play_page(given.page, given.prefix, keep=given.keep)


if __name__ == "__main__":
    sys.exit(main())
