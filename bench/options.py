# SPDX-License-Identifier: Apache-2.0
"""What the options of several benchmarks have in common."""
import argparse
import json


def names(known):
    """An argparse type: a comma-separated choice out of `known`."""
    def parse(text):
        chosen = text.split(",")
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name}: not one of {', '.join(known)}")
        return chosen
    return parse


def positive(text):
    """An argparse type: a number from 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be 1 or more")
    return value


def counts(text):
    """An argparse type: numbers from 1, with commas between them."""
    return [positive(part) for part in text.split(",")]


def write_json(target, result):
    """Writes `result` into the file `target`; - is stdout."""
    text = json.dumps(result, indent=1)
    if target == "-":
        print(text)
        return
    with open(target, "w", encoding="utf-8") as file:
        file.write(text + "\n")
