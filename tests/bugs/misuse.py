# SPDX-License-Identifier: Apache-2.0
"""The cases of tests/workloads/misuse: what the kernel with the name of the case does wrong.

A finding is (kind, argument, element). Outside of a view, and in its gaps, the element is counted in memory
from the view's first element: -1 is right before it. Inside it is the logical index, the first of them where
there are several. An access that both reads and writes outside may be named either way: `or_kinds`.
"""

from dataclasses import dataclass, field

N, ODD, PAGE = 100, 101, 1024  # as in misuse.h; a page in floats
ROWS, COLUMNS, WIDTH, FORGOTTEN = 6, 5, 16, 12

BEFORE, BEHIND, GAP = "wrote before", "wrote behind", "wrote in a gap"
INPUT, READ = "wrote an input", "read outside"
UNWRITTEN, OLD = "never written", "old contents"


@dataclass
class Misuse:
    case: str
    findings: list = field(default_factory=list)  # none: the kernel is innocent
    or_kinds: tuple = ()
    stomps: bool = False  # it changes memory that another task looks at before and after


MISUSES = [
    Misuse("write_behind", [(BEHIND, 1, N)], stomps=True),
    Misuse("write_before", [(BEFORE, 1, -1)], stomps=True),
    Misuse("write_page_behind", [(BEHIND, 1, N - 1 + PAGE)], stomps=True),
    Misuse("write_page_before", [(BEFORE, 1, -PAGE)], stomps=True),
    Misuse("write_both_sides", [(BEFORE, 1, -1), (BEHIND, 1, N)], stomps=True),
    Misuse("rewrite_behind", [(BEHIND, 1, N)], or_kinds=(READ,)),
    Misuse("write_gap", [(GAP, 1, 1)], stomps=True),
    Misuse("write_tile_column", [(GAP, 1, COLUMNS), (BEHIND, 1, (ROWS - 1) * WIDTH + COLUMNS)], stomps=True),
    Misuse("write_tile_row", [(BEHIND, 1, ROWS * WIDTH)], stomps=True),
    Misuse("write_input", [(INPUT, 0, 3)], stomps=True),
    Misuse("rewrite_input", [(INPUT, 0, 3)]),
    Misuse("write_other_output", [(BEHIND, 1, N)]),
    Misuse("write_hidden", [(BEHIND, 1, N)]),
    Misuse("write_inout_behind", [(BEHIND, 0, N)], stomps=True),
    Misuse("write_int8_behind", [(BEHIND, 1, ODD)], stomps=True),
    Misuse("write_int4_behind", [(BEHIND, 1, N)], stomps=True),
    Misuse("write_int4_half", [(BEHIND, 1, ODD)], or_kinds=(GAP,)),
    Misuse("write_mix_behind", [(BEHIND, 1, N)], stomps=True),
    Misuse("read_behind", [(READ, 0, N)]),
    Misuse("read_before", [(READ, 0, -1)]),
    Misuse("read_page_behind", [(READ, 0, N - 1 + PAGE)]),
    Misuse("read_page_before", [(READ, 0, -PAGE)]),
    Misuse("read_gap", [(READ, 0, 1)]),
    Misuse("read_tile_column", [(READ, 0, COLUMNS)]),
    Misuse("read_unused", [(READ, 0, N)]),
    Misuse("read_both_unused", [(READ, 0, N), (READ, 1, N)]),
    Misuse("read_gap_times_zero", [(READ, 0, 1)]),
    Misuse("read_other_input", [(READ, 0, N)]),
    Misuse("read_inout_behind", [(READ, 0, N)]),
    Misuse("read_int8_behind", [(READ, 0, ODD)]),
    Misuse("unwritten_tail", [(UNWRITTEN, 1, N - FORGOTTEN)]),
    Misuse("unwritten_middle", [(UNWRITTEN, 1, 57)]),
    Misuse("unwritten_all", [(UNWRITTEN, 1, 0)]),
    Misuse("unwritten_strided", [(UNWRITTEN, 1, 57)]),
    Misuse("unwritten_int8", [(UNWRITTEN, 1, ODD - 1)]),
    Misuse("unwritten_int4", [(UNWRITTEN, 1, 57)]),
    Misuse("old_contents", [(OLD, 1, 0)]),
    Misuse("old_some", [(OLD, 1, 5)]),
    Misuse("old_maximum", [(OLD, 1, 0)]),
    Misuse("old_element", [(OLD, 1, 0)]),
    Misuse("old_is_zero", [(OLD, 1, 0)]),
    Misuse("read_is_zero", [(READ, 0, 1)]),
    Misuse("read_far_behind", [(READ, 0, N - 1 + 25 * PAGE)]),
    Misuse("clean_plain"),
    Misuse("clean_inout"),
    Misuse("clean_one_of_inout"),
    Misuse("clean_aligned"),
    Misuse("clean_twice"),
    Misuse("clean_accumulate"),
    Misuse("clean_scratch"),
    Misuse("clean_pattern"),
    Misuse("clean_not_numbers"),
    Misuse("clean_same"),
    Misuse("clean_overlap"),
    Misuse("clean_shifted"),
    Misuse("clean_peeled"),
    Misuse("clean_strided"),
    Misuse("clean_tile"),
    Misuse("clean_flipped"),
    Misuse("clean_broadcast"),
    Misuse("clean_two_outputs"),
    Misuse("clean_two_inputs"),
    Misuse("clean_half_byte"),
    Misuse("clean_mix"),
    Misuse("clean_ignored_input"),
    Misuse("clean_empty"),
    Misuse("clean_nothing"),
]
