# SPDX-License-Identifier: Apache-2.0
"""Whatever text a file, a folder or an option contains, what Taskglass prints is inert."""

import csv
import json
import os
import shutil
import sqlite3
import subprocess
import zipfile

import pytest

from conftest import PROGRAM, TIMEOUT, clean_environment
from inert import HOSTILE, check_inert
from recordings import has_sqlite

VERBS = ["run", "list", "view", "export", "diff", "check", "find", "stats", "verify", "replay", "scope", "path",
         "serve", "recover", "config"]
RAW = HOSTILE.encode() + b"\xff\x9b\xc0\xaf\xed\xa0\x80"


def raw(arguments, cwd):
    """Runs the program with arguments that need not be UTF-8."""
    return subprocess.run([bytes(PROGRAM), *arguments], cwd=cwd, env=clean_environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)


def check_refusal(result):
    check_inert(result.stderr)
    check_inert(result.stdout)
    assert result.returncode == 2, result
    assert result.stderr.count(b"\n") == 1, result.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_a_message_quotes_what_was_typed_without_what_acts_on_a_terminal(verb, tmp_path):
    name = verb.encode()
    for arguments in ([RAW], [b"--" + RAW], [b"-" + RAW], [b"--task", RAW], [b"--json", RAW]):
        check_refusal(raw([name, *arguments], tmp_path))


@pytest.mark.parametrize("verb", VERBS)
def test_a_message_about_a_long_word_stays_short_and_keeps_its_advice(verb, tmp_path):
    result = raw([verb.encode(), b"--" + b"x" * 5000], tmp_path)
    check_refusal(result)
    assert len(result.stderr) < 1000
    assert b"--help" in result.stderr
    result = raw([verb.encode(), "é".encode() * 2500], tmp_path)
    check_refusal(result)
    assert len(result.stderr) < 1000


def test_the_name_of_a_run_on_disk_is_shown_without_what_acts_on_a_terminal(tg, tmp_path):
    tg.good("run", "vector_add", "--dump-tensor", "--output", "plain")
    name = RAW.replace(b"/", b"")[:200]
    os.rename(bytes(tmp_path / "plain"), os.path.join(bytes(tmp_path), name))
    for verb in (b"view", b"stats", b"verify", b"check", b"recover", b"scope", b"path"):
        for more in ([], [b"--json"]):
            result = raw([verb, name, *more], tmp_path)
            check_inert(result.stdout, verb)
            check_inert(result.stderr, verb)
    result = raw([b"diff", name, name], tmp_path)
    assert result.returncode == 0, result
    check_inert(result.stdout)


# --- every text of every file -------------------------------------------------------------------

# The forged recording has no journal, which a trace would need.
FORMATS = ["npz", "npy", "safetensors", "csv", "txt", "simpler"] + ["sqlite"] * has_sqlite(PROGRAM)
SHOW = [["view"], ["view", "--json"], ["view", "--index", "0-3"], ["stats"], ["stats", "--json"],
        ["find", "nan"], ["find", "unwritten", "--json"], ["verify"], ["verify", "--json"], ["check"],
        ["check", "--json"], ["replay", "--task", "0"], ["diff", "good"], ["diff", "good", "--json"],
        ["scope"], ["scope", "--json"], ["path"], ["path", "--json"]]
SWEEP = {"tensor_dump/tensor_dump.json": [["view"], ["verify"], ["diff", "good", "--json"]],
         "run.json": [["diff", "good"], ["path"], ["path", "--json"]],
         "deps.json": [["diff", "good"], ["path"], ["path", "--json"]],
         "scope_stats/scope_stats.jsonl": [["scope"], ["scope", "--json"]],
         "scope_stats/scope_stats.json": [["scope"], ["scope", "--json"]]}
# Where text is free. A word of the format in any other place makes the file one that is refused.
FREE = ("run_dir", "kernel", "scope", "site", "name", "text", "advice", "message", "summary",
        "workload", "case", "command_line", "error", "params")


def documents(path):
    """The JSON documents of a file: one, or one on each line."""
    text = path.read_text()
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]


def write(path, parts):
    """Leaves DEL, C1 and what follows as they are; JSON wants only C0 escaped."""
    path.write_text("\n".join(json.dumps(part, ensure_ascii=False) for part in parts) + "\n")


def places(part, at=()):
    """The places of all texts, keys included; an element of a list has the place of its list."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from places(value, (*at, key))
    elif isinstance(part, list):
        for value in part:
            yield from places(value, at)
    elif isinstance(part, str):
        yield at


def forged(part, wanted, at=()):
    if isinstance(part, dict):
        return {key: forged(value, wanted, (*at, key)) for key, value in part.items()}
    if isinstance(part, list):
        return [forged(value, wanted, at) for value in part]
    return HOSTILE + part[:40] if isinstance(part, str) and wanted(at) else part


def check_exported(path):
    """Checks the text in everything that an export has written."""
    if path.is_dir():
        for inner in path.iterdir():
            check_inert(inner.name.encode(), path)
            check_exported(inner)
    elif path.suffix in (".csv", ".trace", ".txt", ".json", ".html"):
        check_inert(path.read_bytes().replace(b"\r\n", b"\n"), path)
    elif path.suffix == ".npz":
        for name in zipfile.ZipFile(path).namelist():
            assert name == os.path.basename(name) and not name.startswith("."), name
            check_inert(name.encode(), path)
    elif path.suffix == ".safetensors":
        data = path.read_bytes()
        check_inert(data[8:8 + int.from_bytes(data[:8], "little")], path)
    elif path.suffix == ".sqlite":
        with sqlite3.connect(path) as database:
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in database.execute(f"SELECT * FROM {table}"):
                    for cell in (cell for cell in row if isinstance(cell, str)):
                        check_inert(cell.encode(), table)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("original")
    for name in ("good", "run"):
        result = raw([b"run", b"matmul_chain", b"--dump-tensor", b"--enable-scope-stats", b"--runtime",
                      b"tensormap_and_ringbuffer", b"--output", name.encode()], folder)
        assert result.returncode == 0, result
    (folder / "run" / "tensor_dump" / "tensor_dump.rec").unlink()
    manifest = folder / "run" / "tensor_dump" / "tensor_dump.json"
    parts = documents(manifest)
    for part in (*parts, *parts[0]["tensors"]):
        part.pop("check", None)
        part.pop("sum", None)
    write(manifest, parts)
    return folder


@pytest.fixture
def copied(original, tmp_path):
    shutil.copytree(original, tmp_path, dirs_exist_ok=True)
    return tmp_path


def show(folder, words):
    at = 2 if words[0] == "find" else 1
    result = raw([word.encode() for word in (*words[:at], "run", *words[at:])], folder)
    check_inert(result.stderr, words)
    check_inert(result.stdout, words)
    assert result.returncode in (0, 1, 2), (words, result)
    if "--json" in words and result.stdout:
        json.loads(result.stdout)
    return result


def test_hostile_text_in_every_free_place_at_once_is_shown_and_exported_as_inert_text(copied):
    for name in SWEEP:
        path = copied / "run" / name
        write(path, [forged(part, lambda at: at[-1] in FREE) for part in documents(path)])
    for words in SHOW:
        show(copied, words)
    assert show(copied, ["view"]).returncode == 0
    for format in FORMATS:
        name = "npy_folder" if format == "npy" else f"x.{format}"
        assert show(copied, ["export", "--to", format, "--output", name]).returncode == 0
        check_exported(copied / name)
    for verb in ("scope", "view"):
        show(copied, [verb, "--html", f"{verb}.html"])
        check_exported(copied / f"{verb}.html")
    kernels = {row["kernel"] for row in csv.DictReader((copied / "x.csv").open(newline=""))}
    assert any(kernel.startswith("'=1+1") for kernel in kernels), kernels
    assert not any(kernel.startswith(("=", "+", "-", "@")) for kernel in kernels)


def test_a_trace_of_hostile_text_is_inert(copied):
    deps = copied / "good" / "deps.json"
    write(deps, [forged(part, lambda at: at[-1] in (*FREE, "kind")) for part in documents(deps)])
    result = raw([b"export", b"good", b"--to", b"trace", b"--output", b"x.trace"], copied)
    assert result.returncode in (0, 2), result
    check_inert(result.stderr)
    if result.returncode == 0:
        json.loads((copied / "x.trace").read_text())
        check_exported(copied / "x.trace")


@pytest.mark.every_case
@pytest.mark.parametrize("name", SWEEP)
def test_hostile_text_in_any_one_place_is_shown_as_inert_text(copied, name):
    path = copied / "run" / name
    parts = documents(path)
    for place in sorted({place for part in parts for place in places(part)}):
        write(path, [forged(part, lambda at: at == place) for part in parts])
        for words in SWEEP[name]:
            show(copied, words)


def test_the_default_name_of_an_export_never_leaves_the_folder(copied, tmp_path):
    (tmp_path / "work").mkdir()
    manifest = copied / "run" / "tensor_dump" / "tensor_dump.json"
    parts = documents(manifest)
    before = {path for path in tmp_path.rglob("*")}
    for name in ("../../x", "/tmp/x", "..", ".", "-", "--force", ".hidden", "a\nb", "é" * 200, HOSTILE, "con"):
        parts[0]["run_dir"] = name
        write(manifest, parts)
        for format in FORMATS if name == "../../x" else ["csv"]:
            result = raw([b"export", b"../run", b"--to", format.encode()], tmp_path / "work")
            assert result.returncode == 0, (name, format, result)
            (made,) = (tmp_path / "work").iterdir()
            assert not made.name.startswith((".", "-")), made
            check_inert(made.name.encode())
            result = raw([b"export", b"../run", b"--to", format.encode()], tmp_path / "work")
            assert result.returncode == 2 and b"--force" in result.stderr, result
            shutil.rmtree(made) if made.is_dir() else made.unlink()
        result = raw([b"view", b"../run", b"--export", b"npz"], tmp_path / "work")
        assert result.returncode == 0, result
        (made,) = (tmp_path / "work").iterdir()
        made.unlink()
    assert {path for path in tmp_path.rglob("*")} == before
