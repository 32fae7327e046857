# SPDX-License-Identifier: Apache-2.0
"""A file of a recording becomes shorter while a verb reads it. Wherever that happens, the verb either gives
the answer that it gives otherwise, because it had read the file by then, or says in one line that the file
became shorter. No signal ends it, and nothing that it wrote is left."""

import functools
import json
import os
import shutil
import subprocess

import pytest
from conftest import BUILD, PROGRAM, TIMEOUT, rounds

pytestmark = pytest.mark.every_case

SHRINK = BUILD / "tests" / "bin" / "libfault-shrink.so"

# Release builds cut a file at every place; a sanitizer sees enough of what follows at some of them.
STEP = rounds(1, 3)

# The first task of the ring that matmul_chain's tasks are in.
TASK = "1:0"

# The verb, and what it writes. "run" is the recording that shrinks.
VERBS = [
    ("verify run --json", None),
    ("view run --json", None),
    ("stats run", None),
    ("find nan run", None),
    ("diff good run --json", None),
    ("check run", None),
    ("check run --against golden.npz", None),
    ("replay run --task TASK --json", None),
    ("replay run --all", None),
    ("scope run --json", None),
    ("export run --to npz --output out", "out"),
    ("export run --to npy --output out", "out"),
    ("export run --to simpler --output out", "out"),
    ("view run --export txt --out out", "out"),
    ("recover run", "run/tensor_dump/tensor_dump.json.damaged"),
]
FILES = ["run/tensor_dump/tensor_dump.bin", "run/tensor_dump/tensor_dump.rec",
         "run/tensor_dump/tensor_dump.json", "run/deps.json", "run/scope_stats/scope_stats.jsonl",
         "golden.npz"]


def execute(folder, words, **more):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("TASKGLASS_")}
    # The library comes before the sanitizer's, which it does not disturb.
    environment |= {"TERM": "dumb", "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0",
                    "XDG_STATE_HOME": str(folder.parent / "state"), **more}
    return subprocess.run([PROGRAM, *words.replace("TASK", TASK).split()], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=TIMEOUT, check=False)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """A folder with the recordings "run" and "good", which are the same, and arrays of it."""
    folder = tmp_path_factory.mktemp("shrinking") / "in"
    folder.mkdir()
    made = execute(folder, "run matmul_chain --runtime tensormap_and_ringbuffer --dump-tensor "
                           "--enable-scope-stats --output run")
    assert made.returncode == 0, made
    shutil.copytree(folder / "run", folder / "good")
    assert execute(folder, "export run --to npz --output golden.npz").returncode == 0
    return folder


def answer(result):
    return result.returncode, result.stdout, result.stderr


def check_refusal(result, words, file):
    assert result.returncode == 2, (words, result)
    # A verb that opens deps.json a second time finds an empty file, and says so.
    assert "became shorter while it was read" in result.stderr or (
        file == "run/deps.json" and "this is not the deps.json of a run" in result.stderr), (words, result)
    assert result.stderr.count("\n") == 1, (words, result)
    if "--json" in words:
        assert json.loads(result.stdout)["result"] == "not known", (words, result)


def shrink(recordings, folder, words, file, nth, size):
    """Runs the verb in a copy of the recordings. Returns its result, and whether the file was cut."""
    shutil.copytree(recordings, folder)
    before = (folder / file).stat().st_size
    result = execute(folder, words, LD_PRELOAD=str(SHRINK), TASKGLASS_SHRINK_FILE=str(folder / file),
                     TASKGLASS_SHRINK_NTH=str(nth), TASKGLASS_SHRINK_TO=str(size))
    return result, (folder / file).stat().st_size < before


@pytest.fixture(scope="module")
def usual(recordings, tmp_path_factory):
    """usual(words): the answer of the verb where no file shrinks."""
    @functools.lru_cache(maxsize=None)
    def answer_to(words):
        folder = tmp_path_factory.mktemp("usual") / "in"
        shutil.copytree(recordings, folder)
        return answer(execute(folder, words))
    return answer_to


def sweep(recordings, usual, folder, words, written, file, size):
    """Cuts the file at every place. Returns how often the verb refused to answer."""
    refused = 0
    # recover opens the journal first for its lock; what becomes shorter before it is read is short.
    for nth in range(2 if words.startswith("recover") else 1, 1000, STEP):
        there = folder / f"{nth}"
        result, was_cut = shrink(recordings, there, words, file, nth, size)
        if not was_cut:
            shutil.rmtree(there)
            return refused
        if result.returncode == 2 or result.returncode < 0:
            check_refusal(result, words, file)
            assert written is None or not (there / written).exists(), words
            refused += 1
        else:
            assert answer(result) == usual(words), (words, file, nth)
        shutil.rmtree(there)
    raise AssertionError("the verb never ends asking for the file's size")


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_shrinks_gives_no_answer(recordings, usual, tmp_path, file):
    refused = {words: sweep(recordings, usual, tmp_path, words, written, file, 0) for words, written in VERBS}
    if file.endswith((".bin", ".rec")):
        assert all(refused[words] > 0 for words in refused if not words.startswith("scope"))
    assert any(refused.values())


def test_a_file_that_shrinks_by_one_byte_gives_no_answer(recordings, usual, tmp_path):
    file = "run/tensor_dump/tensor_dump.bin"
    size = (recordings / file).stat().st_size - 1
    for words in ("verify run", "stats run --json", "export run --to npz --output out"):
        assert sweep(recordings, usual, tmp_path, words, None, file, size) > 0
