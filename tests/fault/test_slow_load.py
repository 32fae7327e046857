# SPDX-License-Identifier: Apache-2.0
"""A module that takes long to load is told from a device that died."""

import pytest

from conftest import workload
from platforms import PLATFORMS, simulators_only

pytestmark = simulators_only


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_load_that_takes_too_long_is_named_with_its_limit(tg, platform, monkeypatch):
    monkeypatch.setenv("TASKGLASS_TEST_LOAD_SECONDS", "600")
    code, said = tg("run", workload("slow_load"), "--platform", platform, "--load-timeout", "0.2")
    assert code == 3
    assert "slow_load.so" in said and "0.2 s" in said and "--load-timeout" in said
    assert "signal" not in said


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_slow_load_within_the_limit_is_no_error(tg, platform, monkeypatch):
    monkeypatch.setenv("TASKGLASS_TEST_LOAD_SECONDS", "1")
    assert tg("run", workload("slow_load"), "--platform", platform, "--load-timeout", "600") == (0, "")
