# SPDX-License-Identifier: Apache-2.0
"""taskglass verify and recover, and recordings that are broken in every way."""

import random
import shlex
import shutil

import numpy
import pytest

from conftest import PLATFORMS, one_line
from recordings import PEER_RECORDINGS, Recording, peer

pytestmark = pytest.mark.every_case

HEAD = SUMMARY = 256


@pytest.fixture
def folder(tg):
    """The recording of a run in tg's directory, under "run"."""
    tg.good("run", "vector_add", "--dump-tensor", "--output", "run")
    return tg.directory / "run" / "tensor_dump"


def flip(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    path.write_bytes(content)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("level", ["meta", "hash", "marked", "hybrid", "full"])
def test_what_a_run_records_is_good(tg, platform, level):
    tg.good("run", "vector_add", f"--dump-tensor={level}", "--platform", platform)
    document = tg.json("verify")
    assert document["good"] and document["complete"] and document["manifest_compared"]
    assert document["unclaimed_bytes"] == 0


def test_every_payload_of_a_full_recording_has_its_hash_compared(tg, folder):
    document = tg.json("verify", "run")
    assert document["hashes_compared"] == document["payloads"] == 12
    assert document["payload_bytes"] == (folder / "tensor_dump.bin").stat().st_size
    assert list(document) == [
        "dir", "good", "complete", "state", "manifest_compared", "records", "damaged", "payloads",
        "payload_bytes",
        "hashes_compared", "without_hash", "truncated", "overwritten", "lost", "unclaimed_bytes",
        "problems", "by_problem", "first"]
    assert list(document["by_problem"]) == ["hash", "record", "overlap", "counter", "manifest",
                                            "journal", "unclaimed"]


def test_every_changed_byte_of_a_payload_is_found(tg, folder):
    payload = folder / "tensor_dump.bin"
    for at in random.Random(1).sample(range(payload.stat().st_size), 20):
        flip(payload, at)
        result = tg("verify", "run")
        assert result.returncode == 1 and "  hash      record " in result.stdout
        flip(payload, at)
    tg.good("verify", "run")


def test_the_first_ten_problems_are_shown_and_the_others_counted(tg, folder):
    payload = folder / "tensor_dump.bin"
    payload.write_bytes(bytes(payload.stat().st_size))
    result = tg("verify", "run")
    assert result.returncode == 1 and result.stdout.startswith("BAD")
    assert result.stdout.count("  hash  ") == 10 and "and 2 more" in result.stdout
    document = tg("verify", "run", "--json")
    assert '"problems": 12' in document.stdout and document.returncode == 1


def test_a_shorter_payload_file_is_found(tg, folder):
    payload = folder / "tensor_dump.bin"
    payload.write_bytes(payload.read_bytes()[:-1])
    result = tg("verify", "run")
    assert result.returncode == 1 and "but the payload file has 12287" in result.stdout


def test_a_counter_of_the_manifest_is_compared(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_scalar("int8", 1)
    recording.write(scalars=2)
    result = tg("verify", "run")
    assert result.returncode == 1 and "says 2 scalars, but there are 1" in result.stdout


def test_payloads_that_overlap_are_found(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("uint8", numpy.zeros(8, "u1"))
    recording.add_tensor("uint8", numpy.zeros(8, "u1"), bin_offset=4)
    recording.write()
    result = tg("verify", "run")
    assert result.returncode == 1 and "two payloads share the bytes from 4 on" in result.stdout


def test_losses_are_no_problem_but_are_reported(tg, tmp_path):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("uint8", numpy.zeros(8, "u1"), shape=[100], truncated=True)
    recording.write(lost={"full": 3}, attempted=4)
    text = tg.good("verify", "run").stdout
    assert "the run lost 3 records" in text and "1 truncated" in text


@pytest.mark.parametrize("name", PEER_RECORDINGS)
def test_recordings_of_the_other_implementation_are_good(tg, name):
    document = tg.json("verify", peer(name))
    assert document["good"] and document["hashes_compared"] == 0


def test_a_payload_that_is_not_there_is_found(tg):
    result = tg("verify", peer("truncated_manifest_only"))
    assert result.returncode == 1 and "the payload file has 0" in result.stdout


def kill(folder, cut):
    """Leaves what remains when the host is killed before the end of the recording."""
    journal = folder / "tensor_dump.rec"
    journal.write_bytes(journal.read_bytes()[:-cut])
    (folder / "tensor_dump.json").unlink()


def test_recover_writes_the_manifest(tg, folder):
    whole = tg.json("view", "run")["records"]
    kill(folder, SUMMARY)
    text = tg.good("recover", "run").stdout
    assert "16 records" in text and "was incomplete" in text
    (folder / "tensor_dump.rec").unlink()
    assert tg.json("view", "run")["records"] == whole


@pytest.mark.parametrize("cut, notes", [(SUMMARY, 1), (SUMMARY + 100, 2)])
def test_the_advice_to_recover_can_be_pasted(tg, folder, tmp_path, cut, notes):
    kill(folder, cut)
    odd = tmp_path / "it's a run"
    folder.parent.rename(odd)
    for verb in ("view", "verify"):
        said = tg(verb, odd).stdout
        advice = [line.partition("type: ")[2] for line in said.splitlines() if "type: " in line]
        assert len(advice) == (notes if verb == "verify" else 1), said
        for command in map(shlex.split, advice):
            assert command[:2] == ["taskglass", "recover"] and len(command) == 3, said
    tg.good("recover", command[2])
    assert "type: " not in tg.good("verify", odd).stdout


def test_recover_cuts_a_torn_end_off(tg, folder):
    kill(folder, SUMMARY + 100)
    assert "the journal ends within a record" in tg.good("verify", "run").stdout
    assert "cut 28 bytes of an unfinished record" in tg.good("recover", "run").stdout
    document = tg.json("verify", "run")
    assert document["good"] and not document["complete"] and document["manifest_compared"]
    assert document["records"] == 15


def test_recover_may_be_run_again_and_on_what_is_whole(tg, folder):
    whole = tg.json("recover", folder)
    assert whole["was_complete"] and whole["lost"] == 0
    kill(folder, SUMMARY)
    first, second = tg.json("recover", "run"), tg.json("recover", "run")
    assert not first["kept_manifest"] and second.pop("kept_manifest")
    assert first == {**second, "kept_manifest": False} and not first["was_complete"] and first["records"] == 16
    assert first["lost"] is None
    assert list(first) == ["path", "was_complete", "records", "lost", "truncated", "damaged",
                           "from_manifest", "kept_manifest", "lacks_payload", "put_aside",
                           "payload_bytes", "cut_bytes", "zero_bytes", "bad_bytes"]


@pytest.mark.parametrize("verb, arguments, why", [
    ("verify", ["nowhere"], "there is no 'nowhere'"),
    ("verify", [], "no recording under outputs/"),
    ("verify", ["a", "b"], "'b' is one too many"),
    ("verify", ["--deep"], "unknown option --deep"),
    ("recover", [], "recover needs the directory of a run"),
    ("recover", ["nowhere"], "there is no 'nowhere'"),
    ("recover", ["a", "b"], "'b' is one too many"),
    ("recover", ["."], "has no"),
])
def test_what_makes_no_sense_is_one_line(tg, verb, arguments, why):
    result = tg(verb, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert one_line(result.stderr) and why in result.stderr


# Every command that reads a recording; none may end by a signal or print more than one line of
# error.
LOOKS = [["view"], ["view", "--json"], ["view", "--index", "0", "--all"], ["verify"],
         ["view", "--export", "npz", "--out", "x.npz"], ["view", "--export", "txt"]]


def look_at(tg, path):
    for look in LOOKS:
        result = tg(look[0], path, *look[1:], text=False)
        assert result.returncode in (0, 1, 2), (look, result)
        assert b"Sanitizer" not in result.stderr and b"runtime error" not in result.stderr
        if result.returncode == 2:
            assert result.stderr.count(b"\n") == 1, (look, result)


@pytest.mark.parametrize("name", ["tensor_dump.rec", "tensor_dump.json", "tensor_dump.bin"])
def test_files_that_end_early_do_no_harm(tg, folder, name):
    content = (folder / name).read_bytes()
    if name == "tensor_dump.json":
        (folder / "tensor_dump.rec").unlink()
    for size in sorted({0, 1, 7, 255, 256, 257, 600, len(content) // 2, len(content) - 1}):
        (folder / name).write_bytes(content[:size])
        look_at(tg, "run")


@pytest.mark.parametrize("name", ["tensor_dump.rec", "tensor_dump.json"])
def test_files_with_other_bytes_in_them_do_no_harm(tg, folder, name):
    content = (folder / name).read_bytes()
    if name == "tensor_dump.json":
        (folder / "tensor_dump.rec").unlink()
    generator = random.Random(7)
    for _ in range(25):
        changed = bytearray(content)
        for _ in range(generator.randrange(1, 6)):
            changed[generator.randrange(len(changed))] = generator.randrange(256)
        (folder / name).write_bytes(changed)
        look_at(tg, "run")


def test_a_file_that_is_missing_does_no_harm(tg, folder):
    for name in ("tensor_dump.bin", "tensor_dump.json", "tensor_dump.rec"):
        shutil.move(folder / name, tg.directory / name)
        look_at(tg, "run")
        shutil.move(tg.directory / name, folder / name)


@pytest.mark.parametrize("fields", [
    {"shape": [2**62, 2**62]}, {"shape": [-1]}, {"shape": [2**40]}, {"bin_size": 2**63},
    {"bin_offset": 2**63 - 1, "bin_size": 8}, {"dtype": "float1"}, {"strides": [2**62]},
    {"shape": [1] * 9, "strides": [1] * 9}, {"stage": "never"}, {"role": "thief"},
    {"kernel": ["a", "b", "c", "d"]}, {"arg_index": 2**40}, {"kind": "ghost"}])
def test_entries_that_cannot_be_do_no_harm(tg, tmp_path, fields):
    recording = Recording(tmp_path / "run")
    recording.add_tensor("float32", numpy.float32([1, 2, 3]), **fields)
    recording.write()
    look_at(tg, "run")


def test_what_follows_the_manifests_end_is_a_problem(tg, folder):
    manifest = folder / "tensor_dump.json"
    for junk in (b"junk", b"]}", b"\0" * 5000, b'{"tensors": []}'):
        good = manifest.read_bytes()
        manifest.write_bytes(good + junk)
        result = tg("verify", "run")
        assert result.returncode == 1 and "manifest" in result.stdout, (junk, result)
        manifest.write_bytes(good + b" \n")
        tg.good("verify", "run")


def test_a_short_payload_file_is_named_before_its_records(tg, folder):
    payload = folder / "tensor_dump.bin"
    with open(payload, "r+b") as file:
        file.truncate(payload.stat().st_size // 2)
    lines = tg("verify", "run").stdout.splitlines()
    assert "payload file is too short" in lines[2], lines


@pytest.mark.parametrize("name", ["tensor_dump.rec", "tensor_dump.bin", "tensor_dump.json"])
def test_a_tail_of_a_terabyte_of_holes_takes_no_time(tg, folder, name):
    with open(folder / name, "r+b") as file:
        file.truncate(1 << 40)
    for verb in (["verify"], ["view", "--json"], ["stats"], ["recover"]):
        result = tg(verb[0], "run", *verb[1:])
        assert result.returncode in (0, 1, 2) and "Traceback" not in result.stderr, result
