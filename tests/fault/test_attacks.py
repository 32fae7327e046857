# SPDX-License-Identifier: Apache-2.0
"""Kernels that write over the control area, spoil the socket or shrink device memory: the host
trusts nothing of that, so it ends with a named error and never by a signal."""

import re

import pytest

from conftest import HERE, PLATFORMS, check_next_run
from platforms import FAR

pytestmark = pytest.mark.every_case

# The host must report one of these. After some attacks the device can still finish, with right or wrong
# outputs.
ENDS = {0: "", 1: "MISMATCH", 3: "(KERNEL_FAULT|DEVICE_LOST|HANG)"}

ATTACKS = re.findall(r"X\((\w+)\)", (HERE / "workloads" / "scribble.c").read_text())

# What the host must report after attacks that have only one right answer.
SURE = {
    "head": "HANG", "status": "HANG", "status_then_abort": "KERNEL_FAULT|DEVICE_LOST",
    "head_then_abort": "KERNEL_FAULT", "false_fault": "DEVICE_LOST",
    "false_fault_of_no_part": "DEVICE_LOST", "close_socket": "DEVICE_LOST|HANG",
    "shut_socket": "DEVICE_LOST", "short_packet": "DEVICE_LOST", "empty_packet": "DEVICE_LOST",
    "long_packet": "DEVICE_LOST", "many_packets": "DEVICE_LOST", "exit_0": "DEVICE_LOST",
    "exit_70": "DEVICE_LOST", "sigkill": "DEVICE_LOST", "sigstop": "",
    "sigstop_for_ever": "HANG", "thread_exit": "HANG|DEVICE_LOST",
    "fork_then_abort": "KERNEL_FAULT", "default_signals_then_abort": "DEVICE_LOST",
}


def limit(attack):
    """The --timeout in seconds. If the attack may end as a HANG, the test waits for a short one. All
    others get a very long one, because on a busy machine a process may take long to end."""
    return 0.5 if "HANG" in SURE.get(attack, "HANG") else FAR


def test_every_attack_is_known():
    assert len(ATTACKS) > 20 and set(SURE) <= set(ATTACKS)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_on_the_device_never_harms_the_host(tg, scribble, attack, platform):
    code, said = tg("run", scribble, "--case", attack, "--platform", platform, "--timeout",
                    limit(attack), "--output", "out")
    assert code in ENDS, said
    named = re.search(r"^taskglass: (\w+): ", said, re.MULTILINE)
    assert re.fullmatch(SURE.get(attack, ENDS[code]), named.group(1) if named else "")
    check_next_run(tg, platform)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("runtime", ["aicpu_build_graph", "tensormap_and_ringbuffer"])
def test_an_attack_on_a_device_that_builds_the_graph_never_harms_the_host(tg, scribble, runtime,
                                                                          platform):
    for attack in ("engine", "everything", "status_then_abort", "false_finished", "unmap"):
        code, said = tg("run", scribble, "--case", attack, "--platform", platform, "--runtime",
                        runtime, "--timeout", limit(attack), "--deps", "--output", "out")
        assert code in ENDS, said
        named = re.search(r"^taskglass: (\w+): ", said, re.MULTILINE)
        assert re.fullmatch(SURE.get(attack, ENDS[code]), named.group(1) if named else "")
    check_next_run(tg, platform)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_an_attack_leaves_no_process(start, scribble, platform):
    for attack in ("everything", "close_socket", "sigstop", "sigstop_for_ever"):
        program = start("run", scribble, "--case", attack, "--platform", platform, "--timeout",
                        limit(attack), "--output", "out")
        program.end()
        assert program.left() == []
