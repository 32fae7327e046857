# SPDX-License-Identifier: Apache-2.0
"""The platforms that the tests in Python run on: the simulators, or the one that
TASKGLASS_TEST_PLATFORM names. Tests that name no platform run on that one too."""

import os

import pytest

ONLY = os.environ.get("TASKGLASS_TEST_PLATFORM", "")
PLATFORMS = (ONLY,) if ONLY else ("a2a3sim", "a5sim")
GPU = ONLY == "cuda"

# What the command line is told by its environment: the platform, and which driver that has.
DRIVER = "TASKGLASS_CUDA_DRIVER"
ENVIRONMENT = {"TASKGLASS_PLATFORM": ONLY} if ONLY else {}
if DRIVER in os.environ:
    ENVIRONMENT[DRIVER] = os.environ[DRIVER]

# A device of a GPU is opened in half a second, which every run has to wait for.
SLOW_TO_OPEN = GPU
MOST_SCHEDULERS = 3 if GPU else 4

simulators_only = pytest.mark.skipif(GPU, reason="about the simulators' process")


def has_platform(listed, name):
    """Whether the document of `taskglass list --json` has that platform as available."""
    return any(entry["name"] == name and entry["available"] for entry in listed["platforms"])
