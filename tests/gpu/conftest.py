# SPDX-License-Identifier: Apache-2.0
"""The command line on the platform `cuda`, beside a simulator that gives the right results. All
tests are skipped without a GPU."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

NAMED = os.environ.get("TASKGLASS_TEST_PLATFORM", "")
PLATFORM = NAMED or "cuda"
REFERENCE = "a2a3sim"
RUNTIMES = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
# Times differ between platforms, and the code borrowed from other suites must know which one it is.
os.environ["TASKGLASS_TEST_PLATFORM"] = PLATFORM

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "e2e")]


def conftest_of(suite):
    """The module conftest.py of another suite; the name conftest can be imported only once."""
    spec = importlib.util.spec_from_file_location(f"conftest_of_{suite}",
                                                  TESTS / suite / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


e2e, fault = conftest_of("e2e"), conftest_of("fault")
start = fault.start  # a fixture
Runner, workload, begun = e2e.Runner, e2e.workload, fault.begun


def is_available():
    """Whether the machine has the platform and the program was built."""
    try:
        listed = subprocess.run([e2e.PROGRAM, "list", "--json"], env=e2e.clean_environment(),
                                stdout=subprocess.PIPE, text=True, timeout=e2e.TIMEOUT).stdout
    except OSError:
        return False
    return bool(listed) and e2e.has_platform(json.loads(listed), PLATFORM)


# Ways for a recording to leave the device.
TRANSPORTS = ("mapped", "copied")


def by(transport):
    return ("--dump-transport", transport)


def pytest_collection_modifyitems(items):
    if is_available():
        return
    if NAMED:
        pytest.exit(f"this machine has no platform {PLATFORM}", returncode=1)
    for item in items:
        item.add_marker(pytest.mark.skip(reason="no GPU here"))


@pytest.fixture
def tg(tmp_path):
    """tg("run", …) runs the command line in an empty directory, as the tests in e2e do."""
    return Runner(tmp_path)


@pytest.fixture
def record(tg):
    """record("name", "vector_add", …): a good run, recorded into that directory."""
    def run(name, *arguments, platform=PLATFORM, level="full"):
        tg.good("run", *arguments, "--platform", platform, f"--dump-tensor={level}", "--output",
                name)
        verified = tg.json("verify", name)
        assert verified["good"] and verified["complete"] and verified["lost"] == 0, verified
        return name
    return run


def report(tg, name="out"):
    return json.loads((tg.directory / name / "run.json").read_text())


def entries(tg, name):
    """The recorded entries, by task, stage and argument."""
    manifest = json.loads((tg.directory / name / "tensor_dump" / "tensor_dump.json").read_text())
    found = {(entry["task_id"], entry["stage"], entry["arg_index"]): entry
             for entry in manifest["tensors"]}
    assert len(found) == len(manifest["tensors"])
    return found


def check_account(tg, name="out"):
    """Checks that every attempted record is in the journal or counted as lost by cause."""
    recorder = report(tg, name)["recorder"]
    assert recorder["attempted"] == recorder["recorded"] + sum(recorder["lost"].values()), recorder
    return recorder


def check_next_run(tg):
    """Checks that the next device works."""
    tg.good("run", workload("graphs"), "--case", "mixes", "--set", "n=100", "--platform", PLATFORM,
            "--output", "next")
