# SPDX-License-Identifier: Apache-2.0
"""diff --noise: what differs among good runs is noise, and only what exceeds it is reported. The modules
planted_noise_0 to _2 add in different orders; _3 does too, and forgets an element."""

import pytest

from platforms import GPU

pytestmark = pytest.mark.skipif(GPU, reason="these modules are built for the simulators only")


def record(case, variant, *options):
    return case.record(f"planted_noise_{variant}", *options)


def test_without_good_runs_a_guessed_tolerance_reports_noise(case):
    code, _ = case.json("diff", record(case, 1), record(case, 0))
    assert code == 1, "the scene must be one where the tolerance of the type is too small"


def test_what_good_runs_differ_by_is_not_reported(case):
    code, result = case.json("diff", record(case, 1), record(case, 0), "--noise", record(case, 2))
    assert (code, result["result"], result["noise_runs"]) == (0, "equal", 1)
    assert result["reasons"]["noise"] == 3, "add_up's output, which fraction reads, and its result"


def test_what_exceeds_the_noise_is_reported_with_its_floor(case):
    bad, good = record(case, 3), record(case, 0)
    code, result = case.json("diff", bad, good, "--noise", record(case, 1), record(case, 2))
    assert code == 1 and result["noise_runs"] == 2
    for pair in result["pairs"]:
        assert 0 < pair["noise_floor"] < pair["atol"] < pair["values"]["max_abs"]["value"]
    assert [suspect["kernel"] for suspect in result["blame"]["suspects"]] == ["add_up"]


def test_an_argument_that_is_the_same_in_all_good_runs_must_be_the_same(case):
    good = record(case, 0)
    _, result = case.json("diff", record(case, 1), good, "--noise", good)
    assert result["pairs"][0]["noise_floor"] == 0
    assert [suspect["kernel"] for suspect in result["blame"]["suspects"]] == ["add_up"]


def test_a_rule_of_the_command_line_wins_over_the_noise(case):
    good = record(case, 0)
    code, result = case.json("diff", record(case, 1), good, "--noise", good, "--atol", "1")
    assert (code, result["result"]) == (0, "equal")


def test_a_good_run_that_is_not_there_is_an_error(case):
    good = record(case, 0)
    said = case.tool("diff", good, good, "--noise", "nowhere", codes=(2,)).stderr
    assert "nowhere" in said and said.count("\n") == 1


def test_a_run_with_other_input_is_no_measure_of_noise(case):
    bad, good = record(case, 3), record(case, 0)
    shifted = record(case, 1, "--set", "shift=0.5")
    said = case.tool("diff", bad, good, "--noise", shifted, codes=(2,)).stderr
    assert "was given other data" in said and said.count("\n") == 1


def test_a_run_of_other_tasks_is_no_measure_of_noise(case):
    bad, good = record(case, 3), record(case, 0)
    other = case.record("planted_drift_good")
    assert "ran other tasks" in case.tool("diff", bad, good, "--noise", other, codes=(2,)).stderr


def test_damage_of_a_good_run_hides_nothing(case):
    bad, good, third = record(case, 3), record(case, 0), case.own(record(case, 2))
    payload = third / "tensor_dump" / "tensor_dump.bin"
    data = bytearray(payload.read_bytes())
    data[3::4] = b"\x7e" * len(data[3::4])  # every float becomes huge
    payload.write_bytes(data)
    code, result = case.json("diff", bad, good, "--noise", third)
    assert code == 1 and result["result"] == "differs"
