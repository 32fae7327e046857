# SPDX-License-Identifier: Apache-2.0
"""What may reach a terminal, a page, or a file that somebody opens: an independent list, which the tests
hold against every byte that Taskglass writes."""

import unicodedata

# Every character that acts instead of being shown: C0, DEL, C1, the marks of direction, characters
# without width, line separators, a byte order mark, and a tag.
ACTIVE = ["\x1b", "\x07", "\x08", "\n", "\r", "\t", "\x7f", "\x80", "\x85", "\x9b", "\u061c", "\u200b",
          "\u200d", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b", "\u202c", "\u202d",
          "\u202e", "\u2060", "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff", "\U000e0041"]

HOSTILE = "=1+1</script><!--\"'`;,\\" + "".join(ACTIVE) + "\x1b]0;x\x07\x1b[31mé"


def problem_of(data, lines=True):
    """What is wrong with bytes that should be inert text; None if nothing is. `lines`: they may be
    several lines."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8: {error}: {data[max(0, error.start - 60):error.end + 20]}"
    for at, character in enumerate(text):
        if character == "\n" and lines:
            continue
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp"):
            return f"U+{ord(character):04X} in {text[max(0, at - 60):at + 20]!r}"
    return None


def check_inert(data, what=""):
    problem = problem_of(data)
    assert problem is None, f"{what}: {problem}"
