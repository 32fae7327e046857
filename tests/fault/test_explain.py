# SPDX-License-Identifier: Apache-2.0
"""What taskglass explain says of a recorder that the host keeps waiting."""

import json

import pytest

from conftest import compiled
from platforms import SANITIZED, limits_for, simulators_only, until

RUN = ("run", "vector_add", "--case", "large", "--set", "n=400000", "--dump-tensor", "--dump-arena", "64K",
       "--dump-wait", "600", "--output", "out")


@simulators_only
@pytest.mark.skipif(SANITIZED, reason="sanitizers want to be preloaded first")
@pytest.mark.parametrize("runtime", ["host_build_graph", "tensormap_and_ringbuffer"])
def test_a_disk_that_hangs_makes_the_recorder_the_root(start, tg, tmp_path, runtime):
    preload = {"LD_PRELOAD": compiled("hung_disk", tmp_path)}

    def run(limit):
        program = start(*RUN, "--timeout", str(limit), "--runtime", runtime, environment=preload)
        assert program.end()[0] == 3
        return json.loads((tmp_path / "out" / "run.json").read_text())
    report = until(lambda report: report["explanation"]["root"]["kind"] == "recorder", run,
                   limits_for("HANG", 0.5))
    root = report["explanation"]["root"]
    assert report["result"]["status"] == "HANG" and root["kind"] == "recorder"
    assert "the recorder waits for the host: task " in root["text"]
