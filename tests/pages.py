#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the pages of documentation agree with each other and with the tables of the program.

Nobody compiles a page, so a link, a section's number, a file or a status that is gone from where it
was named stays there for years. This test reads every *.md and the man pages, and holds:

    links      every relative link leads to a file, and its #anchor to a heading of that page
    sections   every section that docs/wire-format.md or a comment names by number exists
    files      wire-format.md, taskglass-run.1 and docs/recording.md name the same files of a run
    man        title, name, cross references and exit statuses of each man page
    statuses   docs/troubleshooting.md has every tg_status, with its exit code
    glossary   docs/glossary.md has every word that blame uses
    words      functions, constants, verbs and options in `backticks` of the pages for users exist

    pages.py [ROOT]      prints FILE: what is wrong, and exits 1
"""

import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = {".git", ".cache", ".pytest_cache", "__pycache__", "build", "outputs", "node_modules"}
# Verbs that open a device: only they can end with 3.
WITH_DEVICE = {"run", "shake", "replay"}
# Pages that also speak of what no public header has.
FOR_DEVELOPERS = {"architecture.md", "design.md", "security.md", "wire-format.md", "live-protocol.md",
                  "workbench-protocol.md"}
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.M | re.S)


def pages(root):
    for path in sorted(root.rglob("*.md")):
        if not SKIPPED & set(path.relative_to(root).parts):
            yield path


def prose(text):
    """A page without its blocks of code, but with as many lines."""
    return FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them, and those that it names itself."""
    seen = {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", prose(text), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        yield f"{slug}-{count}" if count else slug
    yield from re.findall(r'<a (?:id|name)="([^"]+)"', text)


def links(root):
    texts = {path: path.read_text(encoding="utf-8") for path in pages(root)}
    for path, text in texts.items():
        for number, line in enumerate(prose(text).split("\n"), 1):
            for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                where = f"{path.relative_to(root)}:{number}"
                file, _, anchor = target.partition("#")
                found = (path.parent / file).resolve() if file else path
                if not found.exists() or not found.is_relative_to(root):
                    yield f"{where}: the link to {target} leads nowhere"
                elif anchor and anchor not in anchors(texts.get(found, "")):
                    yield f"{where}: {target}: the page has no such heading"


def sections(root):
    """Section numbers: (6.5), (9.5, Policies), "Sections 6.2 to 6.5", "as in 6.3"."""
    text = (root / "docs/wire-format.md").read_text()
    headings = re.findall(r"^##+ (\d+(?:\.\d+)?)\.? ", text, re.M)
    for before, after in zip(headings, headings[1:]):
        major, _, minor = before.partition(".")
        right = {f"{major}.{int(minor or 0) + 1}", str(int(major) + 1)}
        if after not in right:
            yield f"docs/wire-format.md: section {after} follows section {before}"
    named = re.findall(r"\((\d+(?:\.\d+)?)(?:, \w+)?\)|\b(?:in|of|to|[Ss]ections?) (\d+\.\d+)",
                       prose(text))
    for number in sorted({a or b for a, b in named} - set(headings)):
        yield f"docs/wire-format.md: there is no section {number}"
    for folder in ("src", "include", "tests", "docs", "man"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".py", ".md", ".1") or path.name == "wire-format.md":
                continue
            for number in re.findall(r"wire-format\.md[,;]? \(?(?:section )?(\d+(?:\.\d+)?)\b",
                                     path.read_text(errors="replace")):
                if number not in headings:
                    yield f"{path.relative_to(root)}: wire-format.md has no section {number}"


def files_of_a_run(root):
    text = (root / "docs/wire-format.md").read_text()
    table = text[text.index("\n## 2. "):text.index("\n## 3. ")]
    files = re.findall(r"^\| `([\w/]+\.\w+)` \|", table, re.M)
    if len(files) < 5:
        yield "docs/wire-format.md: section 2 has no table of files"
    run = (root / "man/taskglass-run.1").read_text()
    listed = run[run.index(".Sh FILES"):run.index(".Sh EXIT STATUS")]
    recording = (root / "docs/recording.md").read_text()
    for file in files:
        if file.split("/")[-1] not in listed:
            yield f"man/taskglass-run.1: FILES lacks {file}"
        if f"`{file}`" not in recording:
            yield f"docs/recording.md: lacks {file}"


def exit_statuses(text):
    """The numbers that tag the list of EXIT STATUS."""
    part = re.search(r"^\.Sh EXIT STATUS\n(.*?)(?=^\.Sh|\Z)", text, re.M | re.S)
    return set(re.findall(r"^\.It (\d)$", part[1], re.M)) if part else set()


def man_pages(root):
    names = {path.stem for path in (root / "man").glob("*.1")}
    for path in sorted((root / "man").glob("*.1")):
        where, text = path.relative_to(root), path.read_text()
        if f".Dt {path.stem.upper()} 1\n" not in text:
            yield f"{where}: .Dt is not {path.stem.upper()} 1"
        if f".Sh NAME\n.Nm {path.stem}\n" not in text:
            yield f"{where}: NAME is not {path.stem}, so that apropos and whatis do not find it"
        for name, section in re.findall(r"\bXr (\S+) (\S+)", text):
            if name.startswith("taskglass") and (name not in names or section != "1"):
                yield f"{where}: there is no page {name}({section})"
        found = exit_statuses(text)
        verb = path.stem.removeprefix("taskglass").removeprefix("-")
        needed = {"0", "2"} | ({"3"} if verb in WITH_DEVICE or not verb else set())
        if not needed <= found:
            yield f"{where}: EXIT STATUS lacks {', '.join(sorted(needed - found))}"
        if verb and verb not in WITH_DEVICE and "3" in found:
            yield f"{where}: EXIT STATUS has 3, but {verb} opens no device"
    if shutil.which("mandoc"):
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning",
                               *(f"{name}.1" for name in sorted(names))],
                              cwd=root / "man", capture_output=True, text=True)
        yield from lint.stdout.splitlines()


def statuses(root):
    page = root / "docs/troubleshooting.md"
    headings = re.findall(r"^### ([A-Z_]+)$", page.read_text(), re.M)
    table = re.findall(r"^    X\((\w+),\s+(-?\d+),\s+(\d),",
                       (root / "include/taskglass/status.h").read_text(), re.M)
    names = [name for name, _, _ in table if name != "OK"]
    for name in sorted(set(names) - set(headings)):
        yield f"docs/troubleshooting.md: the status {name} is missing"
    for name in sorted(set(headings) - set(names)):
        yield f"docs/troubleshooting.md: there is no status {name}"
    for name, _, code in table:
        row = re.search(rf"^### {name}\n\n(.*?)(?=^##|\Z)", page.read_text(), re.M | re.S)
        if row and f"Exit code {code}" not in row[1]:
            yield f"docs/troubleshooting.md: {name}: it does not say \"Exit code {code}\""


def glossary(root):
    text = (root / "docs/glossary.md").read_text()
    known = re.search(r"^## blame\n(.*?)(?=^## )", text, re.M | re.S)[1]
    header = (root / "include/taskglass/analysis.h").read_text()
    table = re.search(r"define TG_GUILT_MAP\(X\)(.*?)\n\n", header, re.S)[1]
    for word in re.findall(r'X\(\w+, "(\w+)"', table):
        if not re.search(rf"^\|.*\b{word}\b.*\|.*\|$", known, re.M):
            yield f"docs/glossary.md: blame lacks the word {word}"


def words(root):
    """What nothing runs, because it stands within a sentence."""
    headers = "\n".join(path.read_text() for path in (root / "include").rglob("*.h*"))
    known = set(re.findall(r"\b(?:tg|TG)_\w+", headers))
    # A table of words makes TG_HANG of HANG.
    known |= {f"TG_{name}" for name in re.findall(r"\bX\((\w+),", headers)}
    inside = {name for path in (root / "src").rglob("*.[ch]")
              for name in re.findall(r"\b(?:tg|TG)_\w+", path.read_text())}
    sources = [*(root / "src/cli").glob("*.[ch]"), *(root / "src/base").glob("settings*.[ch]")]
    quoted = set(re.findall(r'"([a-z][a-z-]*)"', "\n".join(path.read_text() for path in sources)))
    verbs = {path.stem.removeprefix("verb_") for path in (root / "src/cli").glob("verb_*.c")} | {"help"}
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for number, line in enumerate(prose(page.read_text()).split("\n"), 1):
            where = f"{page.relative_to(root)}:{number}"
            names = known | inside if page.name in FOR_DEVELOPERS else known
            for code in re.findall(r"`([^`]+)`", line):
                for name in re.findall(r"\b(?:tg|TG)_\w+\b(?!\*)", code):
                    if name not in names and not name.endswith("_") and "NAME" not in name:
                        yield f"{where}: no header has {name}"
                for verb, rest in re.findall(r"^taskglass ([a-z]+)\b(?!-)(.*)", code):
                    if verb not in verbs:
                        yield f"{where}: there is no verb {verb}"
                    for option in re.findall(r"(?<=\s)--([a-z][a-z-]*)", rest):
                        if option not in quoted:
                            yield f"{where}: taskglass has no option --{option}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    checks = (links, sections, files_of_a_run, man_pages, statuses, glossary, words)
    wrong = [line for check in checks for line in check(root.resolve())]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
