#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the tables of docs/wire-format.md have the offsets, sizes and versions of the headers.

The headers assert their own sizes, but nothing kept the page beside them: a field that moves would
leave a table that other readers are written from. This test compiles a program that prints where
the fields lie, and compares.

    wire_tables.py ROOT CC      prints what differs, and exits 1
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Section, and the structure that its first table of offsets describes.
TABLES = {
    "6.1": "tg_journal_head", "6.3": "tg_record", "6.4": "tg_record_kernel", "6.5": "tg_record_summary",
    "6.7": "tg_record_packed", "9.1": "tg_control_head", "9.2": "tg_launch", "9.3": "tg_task_desc",
    "9.4": "tg_record_setup", "9.5": "tg_stream_head", "9.7": "tg_trace_setup", "9.8": "tg_trace_head",
    "9.9": "tg_trace_event", "9.10": "tg_schedule_setup", "9.11": "tg_comm_setup",
}
# What a sentence or a heading says.
SAID = [
    (r"### 9\.2 Launch \((\d+) bytes\)", "sizeof(struct tg_launch)"),
    (r"### 9\.4 Setup of the recorder \((\d+) bytes\)", "sizeof(struct tg_record_setup)"),
    (r"### 9\.6 Orchestration \((\d+) bytes\)", "sizeof(struct tg_orchestration)"),
    (r"\| 12 \| u32 \| `setup_size` \| (\d+) \|\n\| 16 \| u32 \| `n_streams`", "sizeof(struct tg_trace_setup)"),
    (r"A stream is a head of (\d+) bytes", "sizeof(struct tg_trace_head)"),
    (r"### 9\.9 Event \((\d+) bytes\)", "sizeof(struct tg_trace_event)"),
    (r"### 9\.10 Schedule \((\d+) bytes\)", "sizeof(struct tg_schedule_setup)"),
    (r"A pair has (\d+) bytes", "sizeof(struct tg_order_pair)"),
    (r"### 9\.11 Communication \((\d+) bytes\)", "sizeof(struct tg_comm_setup)"),
    (r"of 4096 entries of (\d+) bytes", "sizeof(struct tg_comm_count)"),
    (r"cursors of the rings \(offset (\d+)", "offsetof(struct tg_orchestration, cursors)"),
    (r"its report \(offset (\d+)", "offsetof(struct tg_orchestration, report)"),
    (r"\| (\d+); counted up when the control area", "TG_CONTROL_VERSION"),
    (r"\| 12 \| u32 \| `setup_size` \| (\d+) \|", "sizeof(struct tg_record_setup)"),
    (r"\| 12 \| u32 \| `head_size` \| \| (\d+) \|\n\| 16 \| u32 \| `index`", "sizeof(struct tg_stream_head)"),
    (r"`scope_stats/scope_stats.jsonl` is JSON Lines[^(]*`version` \((\d+)\)", "TG_SCOPE_VERSION"),
]


def questions(text):
    """Pairs of an expression in C and the number that the page has for it."""
    for section, structure in TABLES.items():
        begin = re.search(rf"^###? {re.escape(section)} ", text, re.M).end()
        part = text[begin:re.search(r"^##+ |\Z", text[begin:], re.M).start() + begin]
        table = part[part.index("\n| offset |"):]
        table = table[:table.index("\n\n")]
        rows = re.findall(r"^\| (\d+) \|[^|]*\| `(\w+)`", table, re.M)
        if not rows:
            raise SystemExit(f"docs/wire-format.md: section {section} has no table of offsets")
        for offset, name in rows:
            yield f"offsetof(struct {structure}, {name})", int(offset)
    for pattern, expression in SAID:
        found = re.search(pattern, text)
        if not found:
            raise SystemExit(f"docs/wire-format.md: nothing looks like {pattern}")
        yield expression, int(found[1])


def program(expressions):
    headers = ["scope_stats", *(f"wire/{name}" for name in ("comm", "device", "journal", "orchestration",
                                                    "schedule", "stream", "trace"))]
    lines = ["#include <stddef.h>", "#include <stdio.h>"]
    lines += [f"#include <taskglass/{name}.h>" for name in headers]
    lines += ["int main(void) {"]
    lines += [f'    printf("%zu\\n", (size_t)({expression}));' for expression in expressions]
    return "\n".join([*lines, "    return 0;", "}", ""])


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    asked = list(questions((root / "docs/wire-format.md").read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory(prefix="taskglass_test_") as folder:
        source = pathlib.Path(folder) / "ask.c"
        source.write_text(program(expression for expression, _ in asked))
        subprocess.run([compiler, "-std=c11", f"-I{root}/include", source, "-o", f"{folder}/ask"], check=True)
        answers = subprocess.run([f"{folder}/ask"], capture_output=True, text=True, check=True).stdout.split()
    wrong = [f"docs/wire-format.md: {expression} is {answer}, and the page says {said}"
             for (expression, said), answer in zip(asked, answers) if said != int(answer)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
