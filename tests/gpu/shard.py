# SPDX-License-Identifier: Apache-2.0
"""A plugin for pytest (-p shard): TASKGLASS_TEST_SHARD=2/4 runs the second quarter of the tests, so
that four can run side by side."""

import os

SHARD = os.environ.get("TASKGLASS_TEST_SHARD", "")  # read now: some suites clean it later


def pytest_collection_modifyitems(config, items):
    if not SHARD:
        return
    number, of = map(int, SHARD.split("/"))
    left_out = [item for i, item in enumerate(items) if i % of != number - 1]
    items[:] = [item for i, item in enumerate(items) if i % of == number - 1]
    config.hook.pytest_deselected(items=left_out)
