# SPDX-License-Identifier: Apache-2.0
"""Compares the output that a page shows with the output of a command. README.md has the rules."""

import re

NUMBER = r"[-+]?\d[\d,_]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
UNIT = r"(?:ns|µs|us|ms|s|B|KB|MB|GB|bytes|KiB|MiB|GiB|TiB)"
# A quantity or a hash. A word of eight and more hexadecimal digits with at least one digit is a hash.
LOOSE = re.compile(rf"0x[0-9a-f]+|\b(?=[0-9a-f]*\d)[0-9a-f]{{8,}}\b|{NUMBER}(?: ?{UNIT}\b)?|-nan\b|…|\.\.\.")
QUANTITY = rf"(?:{NUMBER}(?: ?{UNIT}\b)?|0x[0-9a-f]+|[0-9a-f]{{8,}}|nan|-?inf)"


def squeezed(line):
    return re.sub(r"\s+", " ", line).strip()


def pattern_of(line):
    """The shown line as a regular expression."""
    made, at = "", 0
    line = squeezed(line)
    for found in LOOSE.finditer(line):
        made += re.escape(line[at:found.start()])
        if found[0] == "-nan":  # the sign of 0 / 0 is the processor's
            made += "-?nan"
        else:
            made += ".*" if found[0] in ("…", "...") else QUANTITY
        at = found.end()
    return re.compile(made + re.escape(line[at:]))


def is_gap(line):
    return line.strip() in ("…", "...")


def lines_of(text):
    return [line for line in text.split("\n") if line.strip()]


def reached(shown, seen):
    """How many of the shown lines agree with the beginning of what was seen, and whether all lines agree.
    Follows every choice of how many lines a gap stands for at once."""
    ends = {0}  # how many seen lines the shown lines so far may stand for
    for number, line in enumerate(shown):
        if is_gap(line):
            ends = set(range(min(ends), len(seen) + 1))
            continue
        pattern = pattern_of(line)
        ends = {end + 1 for end in ends if end < len(seen) and pattern.fullmatch(squeezed(seen[end]))}
        if not ends:
            return number, False
    return len(shown), len(seen) in ends


def difference(shown, seen):
    """None, or a text that says where the output differs from what the page shows."""
    shown, seen = lines_of(shown), lines_of(seen)
    good, is_all = reached(shown, seen)
    if is_all:
        return None
    if good == len(shown):
        return "the command prints more lines than the page shows"
    return f"no line of the output is the shown line\n    {shown[good]}"
