# SPDX-License-Identifier: Apache-2.0
"""The scenes of tests/workloads/planted: who is guilty in the bad variant of each.

A culprit is a list of tasks, of which one or more must be named: ("a", 2) is the task with that place in the
order of submission (deps.json) of the bad run, ("b", 2) that of the good run.
"""

from dataclasses import dataclass, field

EVERY = ("host_build_graph", "aicpu_build_graph", "tensormap_and_ringbuffer")
READING = EVERY[1:]  # an orchestration on the host runs before the tasks and cannot read their results
EXPLICIT = EVERY[:2]  # edges that the runtime finds itself cannot be forgotten


@dataclass
class Scene:
    name: str
    guilty: list = field(default_factory=list)  # culprits; none: both variants are right
    guilt: tuple = ()  # the words that are right
    runtimes: tuple = EVERY
    raced: bool = False  # by luck, a bad run may be right


SCENES = [
    Scene("drift", [[("a", 1)]], ("introduced",)),
    Scene("denormal", [[("a", 0)]], ("introduced",)),
    Scene("narrow", [[("a", 0)]], ("introduced",)),
    Scene("other_views", [[("a", 1)], [("a", 3)]], ("view",)),
    Scene("transposed", [[("a", 2)]], ("view",)),
    Scene("other_scalars", [[("a", 2)], [("a", 6)]], ("scalar",)),
    Scene("two_writers", [[("a", 0), ("a", 1)]], ("unordered",), EXPLICIT, raced=True),
    Scene("overwritten", [[("a", 2), ("a", 3)]], ("unordered",), EXPLICIT, raced=True),
    Scene("missing_task", [[("b", 1)]], ("missing",)),
    Scene("extra_task", [[("a", 2)]], ("extra",)),
    Scene("skipped_task", [[("a", 1), ("b", 1)]], ("rewired", "missing")),
    Scene("short_loop", [[("b", 8), ("b", 9)]], ("missing",)),
    Scene("reordered"),
    Scene("reordered_bug", [[("a", 2)]], ("introduced",)),
    Scene("renamed"),
    Scene("renamed_bug", [[("a", 1)]], ("introduced",)),
    Scene("fused"),
    Scene("fused_bug", [[("a", 1)]], ("introduced",)),
    Scene("fused_later_bug", [[("a", 2)]], ("introduced",)),
    Scene("stale_buffer", [[("a", 7)]], ("rewired",)),
    Scene("read_back", [[("a", 0)]], ("introduced",), READING),
    Scene("read_wrong", [[("a", 2)]], ("scalar", "read"), READING),
    Scene("misplaced", [[("a", 2)]], ("view",)),
    Scene("wrong_row", [[("a", 5)]], ("view",)),
    Scene("wrong_kernel", [[("a", 2)]], ("introduced",)),
    Scene("in_place_bug", [[("a", 4)]], ("introduced",)),
    Scene("mix_bug", [[("a", 1)]], ("introduced",)),
    Scene("bfloat_drift", [[("a", 1)]], ("introduced",)),
    Scene("two_bugs", [[("a", 0)], [("a", 1)]], ("introduced",)),
    Scene("scoped_bug", [[("a", 13)]], ("introduced",)),
    Scene("swapped_inputs", [[("a", 2)]], ("rewired",)),
    Scene("other_tensor", [[("a", 2)]], ("rewired",)),
    Scene("short_tile", [[("a", 3)]], ("view",)),
    Scene("split_bug", [[("a", 1), ("a", 2)]], ("introduced", "extra")),
    Scene("swapped_steps", [[("a", 1), ("a", 2), ("b", 1), ("b", 2)]], ("rewired", "extra", "missing")),
    Scene("never_filled", [[("b", 0), ("a", 0)]], ("missing", "given", "rewired")),
    Scene("reversed_loop"),
    Scene("fan_bug", [[("a", 12)]], ("introduced",)),
    Scene("long_chain", [[("a", 151)]], ("introduced",)),
    Scene("narrow_tensor", [[("a", 0)]], ("introduced",)),
    Scene("rewritten"),
    Scene("branch", [[("a", 0)]], ("introduced",), READING),
    Scene("every_scalar", [[("a", place)] for place in range(8)], ("scalar",)),
    Scene("late_overwrite", [[("a", 2)]], ("extra",)),
    Scene("inserted", [[("a", 4)]], ("extra",)),
    Scene("other_stride", [[("a", 2)]], ("view",)),
    Scene("other_tile", [[("a", 3)]], ("view",)),
    Scene("halves", [[("a", 2)]], ("introduced",)),
    Scene("fuse_many"),
    Scene("fuse_inplace"),
    Scene("hidden_bug", [[("a", 1)]], ("introduced",)),
    Scene("cut_off", [[("a", 0)]], ("introduced",)),
    Scene("all_renamed"),
    Scene("shared_buffer", [[("a", 1)]], ("rewired",)),
    Scene("swapped_halves", [[("a", 0)], [("a", 1)]], ("view",)),
    Scene("flipped_output", [[("a", 0)], [("a", 2)]], ("view",)),
    Scene("shifted_output", [[("a", 2)]], ("view",)),
    Scene("row_twice", [[("a", 9)]], ("view",)),
    Scene("fresh_memory"),
    Scene("swapped_outputs"),
    Scene("swapped_outputs_bug", [[("a", 1)]], ("introduced",)),
    Scene("split_tiles_bug", [[("a", 3)]], ("extra",)),
    Scene("result_tiles_bug", [[("a", 3)]], ("extra",)),
    Scene("half_fused_bug", [[("a", 1)]], ("unclear",)),
]
