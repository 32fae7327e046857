# SPDX-License-Identifier: Apache-2.0
"""taskglass replay --all runs every recorded task again, alone, and accuses only those that deserve it."""

import json
import signal
import subprocess

import pytest

from conftest import PLATFORMS, PROGRAM, TIMEOUT, clean_environment, on_terminal, workload
from forge import forge, is_output
from platforms import GPU

RUNTIMES = ["host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer"]
EXAMPLES = ["bgemm", "cholesky", "dtypes", "dump_tensor", "matmul_chain", "mix", "stencil", "vector_add", "views"]
WORDS = ["same", "differs", "varies", "faults", "hangs", "misuse", "not known"]


def record(tg, name, *options, output="out"):
    tg.good("run", name, "--dump-tensor", "--output", output, *options)


def plan(tg, digits, tasks, *options):
    """Records tasks that behave, and returns what replays them with a module whose tasks do what their digit
    says; tests/workloads/replays has the digits."""
    if GPU:
        pytest.skip("the modules have no code for a GPU")
    record(tg, workload("replays_good"), "--set", f"plan={digits}", "--set", f"tasks={tasks}", *options)
    return ("replay", "out", "--all", "--module", workload("replays_broken"))


def asked(tg, *words, code):
    result = tg(*words, "--json")
    assert result.returncode == code, result
    document = json.loads(result.stdout)
    assert sum(document["counts"].values()) == document["tasks"]
    assert list(document["counts"]) == WORDS
    return document


def counts(document):
    return {word: number for word, number in document["counts"].items() if number}


def by_digit(digits, tasks, digit):
    return [hex(task) for task in range(tasks) if digits[task % len(digits)] == str(digit)]


def ids(document, word):
    return [hex(int(each["task_id"], 16)) for each in document["findings"] if each["result"] == word]


# --- all is well ------------------------------------------------------------------------------------

@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_all_tasks_of_a_graph_reproduce(tg, runtime, platform):
    record(tg, "matmul_chain", "--runtime", runtime, "--platform", platform)
    document = asked(tg, "replay", "out", "--all", "--platform", platform, code=0)
    assert document["result"] == "same" and counts(document) == {"same": 20}
    assert document["platform"] == document["recorded_on"] == platform


@pytest.mark.parametrize("example", EXAMPLES)
def test_all_tasks_of_the_examples_reproduce(tg, example):
    record(tg, example)
    document = asked(tg, "replay", "out", "--all", code=0)
    assert set(counts(document)) == {"same"} and document["findings"] == []


def test_the_first_line_says_that_all_is_well(tg):
    record(tg, "vector_add", "--platform", PLATFORMS[0])
    result = tg.good("replay", "out", "--all", "--platform", PLATFORMS[0]).stdout
    assert result == f"4 tasks reproduce on {PLATFORMS[0]}\n"


@pytest.mark.skipif(len(PLATFORMS) < 2, reason="needs two platforms")
def test_another_platform_is_named(tg):
    record(tg, "vector_add", "--platform", PLATFORMS[0])
    result = tg.good("replay", "out", "--all", "--platform", PLATFORMS[1]).stdout
    assert f"reproduce on {PLATFORMS[1]}\n" in result
    assert f"recorded on {PLATFORMS[0]}, replayed on {PLATFORMS[1]}" in result


def test_filters_select_tasks(tg):
    record(tg, "matmul_chain", "--runtime", "host_build_graph")
    assert asked(tg, "replay", "out", "--all", "--task", "2-4,7", code=0)["tasks"] == 4
    document = asked(tg, "replay", "out", "--all", "--kernel", "tile_bias*", code=0)
    assert 0 < document["tasks"] < 20
    result = tg("replay", "out", "--all", "--kernel", "nobody")
    assert result.returncode == 2 and "select no recorded task" in result.stderr


def test_any_number_of_workers_gives_the_same_answer(tg):
    words = plan(tg, "0102030", 300)
    one, many = (asked(tg, *words, "--workers", n, code=1) for n in (1, 5))
    assert [ids(one, word) for word in WORDS] == [ids(many, word) for word in WORDS]
    assert one["workers"] == 1 and 1 < many["workers"] <= 5


def test_a_run_without_tasks_has_nothing_to_replay(tg):
    record(tg, workload("graphs"), "--case", "empty")
    result = tg("replay", "out", "--all")
    assert (result.returncode, result.stdout) == (0, "nothing recorded, nothing to replay\n")


# --- who is accused ---------------------------------------------------------------------------------

@pytest.mark.parametrize("platform", PLATFORMS)
def test_tasks_that_differ_and_tasks_that_vary_are_told_apart(tg, platform):
    digits = "0010200"
    document = asked(tg, *plan(tg, digits, 70), "--platform", platform, code=1)
    assert document["result"] == "differs"
    assert ids(document, "differs") == by_digit(digits, 70, 1)
    assert ids(document, "varies") == by_digit(digits, 70, 2)
    differs = document["findings"][0]
    assert (differs["arg_index"], differs["mismatches"], differs["elements"]) == (1, 8, 8)
    assert differs["got"] == differs["recorded_value"] + 1


@pytest.mark.parametrize("platform", PLATFORMS)
def test_tasks_that_end_their_device_cost_no_other_task_its_verdict(tg, platform):
    digits = "0030500"
    document = asked(tg, *plan(tg, digits, 70), "--platform", platform, code=1)
    assert ids(document, "faults") == sorted(by_digit(digits, 70, 3) + by_digit(digits, 70, 5),
                                             key=lambda task: int(task, 16))
    assert counts(document) == {"same": 50, "faults": 20}
    crash = document["findings"][0]
    assert "Segmentation fault at address 0x0" in crash["why"] and "replays.c:" in crash["site"]
    assert len(document["groups"]) == 2 and all(group["tasks"] == 10 for group in document["groups"])


def test_a_task_that_does_not_return_is_named_and_the_others_are_judged(tg):
    digits = "000000000000004"
    document = asked(tg, *plan(tg, digits, 30), "--timeout", "0.2", code=1)
    assert ids(document, "hangs") == by_digit(digits, 30, 4)
    assert counts(document) == {"same": 28, "hangs": 2}


def test_a_kernel_that_never_returns_is_not_tried_for_ever(tg):
    document = asked(tg, *plan(tg, "4", 40), "--timeout", "0.05", "--workers", 4, code=1)
    assert set(counts(document)) == {"hangs", "not known"} and document["counts"]["hangs"] < 20
    assert "had not returned" in document["not_judged"][0]["text"]


def test_nobody_is_accused_for_a_device_that_another_task_spoilt(tg):
    """Tasks 7 and 8 misbehave only after a task 6 in the same process; alone they are good."""
    document = asked(tg, *plan(tg, "6070800", 140), code=0)
    assert counts(document) == {"same": 140}


def test_many_tasks_that_differ_are_all_accused(tg):
    document = asked(tg, *plan(tg, "1", 200), code=1)
    assert counts(document) == {"differs": 200}
    assert document["devices"] < 60  # a fresh one for some of them, not for each
    assert [group["tasks"] for group in document["groups"]] == [200]


def test_an_output_that_is_not_written_differs(tg):
    document = asked(tg, *plan(tg, "09", 4), code=1)
    assert ids(document, "differs") == ["0x1", "0x3"]
    assert document["findings"][0]["mismatches"] == 4


def test_a_changed_recording_does_not_reproduce(tg):
    def change(payload, entry):
        payload[entry["bin_offset"] + 3] ^= 0x40

    record(tg, "vector_add")
    forge(tg.directory / "out/tensor_dump", lambda entry: is_output(entry) and int(entry["task_id"], 16) == 2,
          change)
    document = asked(tg, "replay", "out", "--all", code=1)
    assert ids(document, "differs") == ["0x2"] and counts(document) == {"same": 3, "differs": 1}


# --- guards -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("example", EXAMPLES)
def test_guards_see_no_misuse_in_the_examples(tg, example):
    record(tg, example)
    document = asked(tg, "replay", "out", "--all", "--guard", code=0)
    assert set(counts(document)) == {"same"} and document["guard"] and document["not_seen"]


@pytest.mark.parametrize("case, kind, argument", [
    ("write_behind", "wrote behind", 1), ("read_behind", "read behind", 0), ("write_input", "wrote an input", 0),
    ("unwritten_tail", "never written", 1), ("old_contents", "depends on old contents", 1)])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_guards_name_the_one_task_that_misuses_memory(tg, platform, case, kind, argument):
    tg("run", workload("misuse"), "--case", case, "--dump-tensor", "--output", "out", "--platform", platform)
    document = asked(tg, "replay", "out", "--all", "--guard", "--platform", platform, code=1)
    assert document["result"] == "misuse" and document["counts"]["misuse"] == 1
    guilty = next(each for each in document["findings"] if each["result"] == "misuse")
    assert guilty["kernel"] == case
    assert (guilty["misuse"][0]["kind"], guilty["misuse"][0]["arg_index"]) == (kind, argument)
    assert guilty["misuse"][0]["text"] == guilty["why"]
    shown = tg("replay", "out", "--guard", "--task", guilty["task_id"], "--platform", platform)
    assert shown.returncode == 1 and shown.stdout.startswith("1 of 1 tasks misuses memory on")
    assert guilty["why"] in shown.stdout and "not seen" in shown.stdout


def test_guards_and_faults_and_hangs_go_together(tg):
    """Digit 3 writes to address 0, which guards call misuse; 5 ends the process; 9 leaves elements unwritten."""
    digits = "0139500042"
    document = asked(tg, *plan(tg, digits, 20), "--guard", "--timeout", "0.3", code=1)
    assert document["result"] == "misuse"
    assert ids(document, "misuse") == ["0x2", "0x3", "0xc", "0xd"]
    for digit, word in ((1, "differs"), (5, "faults"), (4, "hangs"), (2, "varies")):
        assert ids(document, word) == by_digit(digits, 20, digit), word
    assert document["counts"]["same"] == 8


def test_nobody_is_accused_by_guards_for_what_another_task_did(tg):
    document = asked(tg, *plan(tg, "6070800", 70), "--guard", code=0)
    assert counts(document) == {"same": 70}


# --- what cannot be judged ----------------------------------------------------------------------------

@pytest.mark.parametrize("level", ["meta", "hash"])
def test_a_recording_without_contents_answers_nothing(tg, level):
    tg.good("run", "vector_add", f"--dump-tensor={level}", "--output", "out")
    document = asked(tg, "replay", "out", "--all", code=2)
    assert document["result"] == "not known" and "none of the 4 tasks could be judged" in document["reason"]
    assert "--dump-tensor=full" in document["not_judged"][0]["text"]
    result = tg("replay", "out", "--all")
    assert result.returncode == 2 and "not judged  4 tasks" in result.stdout
    assert "none of the 4 tasks could be judged" in result.stderr


def test_tasks_without_their_outputs_are_not_judged(tg):
    tg.good("run", "matmul_chain", "--dump-tensor", "--dump-filter", "stage=before", "--output", "out")
    document = asked(tg, "replay", "out", "--all", code=2)
    assert counts(document) == {"not known": 20}


def test_a_damaged_input_is_named_and_the_rest_is_judged(tg):
    record(tg, "vector_add")
    manifest = json.loads((tg.directory / "out/tensor_dump/tensor_dump.json").read_text())
    entry = next(each for each in manifest["tensors"] if each["stage"] == "before_dispatch")
    payload = tg.directory / "out/tensor_dump/tensor_dump.bin"
    bytes_of = bytearray(payload.read_bytes())
    bytes_of[entry["bin_offset"]] ^= 1
    payload.write_bytes(bytes_of)
    document = asked(tg, "replay", "out", "--all", code=0)
    assert counts(document) == {"same": 3, "not known": 1}
    assert "damaged" in document["not_judged"][0]["text"]
    assert "; 1 of 4 could not be judged" in tg.good("replay", "out", "--all").stdout


def test_a_kernel_that_the_module_lacks_is_not_judged(tg):
    if GPU:
        pytest.skip("the module has no code for a GPU")
    record(tg, "vector_add")
    result = tg("replay", "out", "--all", "--module", workload("replays_good"))
    assert result.returncode == 2 and "has no kernel" in result.stdout


def test_a_module_that_is_not_there_is_an_error_with_a_document(tg):
    record(tg, "vector_add")
    result = tg("replay", "out", "--all", "--module", "nowhere.so", "--json")
    assert result.returncode == 2 and json.loads(result.stdout)["result"] == "not known"


# --- the command line -----------------------------------------------------------------------------------

@pytest.mark.parametrize("words, message", [
    ([], "--all for every task"),
    (["--guard"], "--all for every task"),
    (["--task", "1-3"], "with --all several"),
    (["--task", "1", "--workers", "2"], "--workers needs --all"),
    (["--task", "1", "--kernel", "x"], "--kernel needs --all"),
    (["--all", "--bundle", "x"], "leave out --all"),
    (["--all", "--workers", "65"], "from 1 to 64"),
])
def test_options_that_contradict_each_other_are_refused(tg, words, message):
    record(tg, "vector_add")
    result = tg("replay", "out", *words)
    assert result.returncode == 2 and message in result.stderr and result.stdout == ""


def test_the_answer_is_first_and_fits_the_terminal(tg):
    words = plan(tg, "012030", 60)
    for columns in (60, 80, 120):
        shown = on_terminal(tg, 24, columns, *words, code=1)
        lines = [line.rstrip() for line in shown.splitlines() if line.strip()]
        assert lines[0].startswith("30 of 60 tasks do not reproduce on"), shown
        assert all(len(line) <= columns or "/" in line for line in lines), shown


def test_an_interrupt_ends_it_soon(tg):
    words = plan(tg, "4", 4)
    process = subprocess.Popen([PROGRAM, *map(str, words), "--timeout", "100000"], cwd=tg.directory, text=True,
                               stderr=subprocess.PIPE, env=clean_environment(),
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    assert process.wait(timeout=TIMEOUT) == -signal.SIGINT
    assert "CANCELLED" in process.stderr.read()
