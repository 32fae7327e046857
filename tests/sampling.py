# SPDX-License-Identifier: Apache-2.0
"""Hooks of pytest, which the conftest.py of a suite imports: under sanitizers a test that has many sets of
arguments runs with a part of them. The same code runs for each set, the release build gives every one of them
its right answer, and everything takes several times as long here. The choice is the same every time.

A test whose arguments are hostile files or texts is marked `every_case`: there each set may reach other code,
and memory errors are what it looks for. TASKGLASS_TEST_WHOLE=1, which `make soak` sets, leaves nothing out.

A test that shows nothing about a GPU is marked `needs_no_gpu`: a real one does not run it (SPARING in platforms.py)."""

import collections
import random

from platforms import SAMPLED, SPARING

FEW = 4  # sets of arguments that always run
PART = 3  # of more than that, one of this many


def pytest_configure(config):
    config.addinivalue_line("markers", "every_case: runs with all its arguments under sanitizers too")
    config.addinivalue_line("markers", "needs_no_gpu: not run on a real GPU, about which it shows nothing")


def leave_out(config, items, left_out):
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_modifyitems(config, items):
    if SPARING:
        leave_out(config, items, {item for item in items if item.get_closest_marker("needs_no_gpu")})
    if not SAMPLED:
        return
    tests = collections.defaultdict(list)
    for item in items:
        if not item.get_closest_marker("every_case"):
            tests[item.nodeid.partition("[")[0]].append(item)
    left_out = set()
    for name, cases in tests.items():
        kept = max(FEW, -(-len(cases) // PART))
        # Not every third: arguments often come in threes, one for each runtime.
        left_out.update(random.Random(name).sample(cases, max(0, len(cases) - kept)))
    leave_out(config, items, left_out)
