# SPDX-License-Identifier: Apache-2.0
"""Every numeric option names its range in its help, and refuses what lies outside in one line."""

import re

import pytest

from conftest import help_of, one_line

NONSENSE = ["18446744073709551616", "-1", "", "1e3", "0x10", " 1", "1 "]
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
NUMBERS = ("count", "bytes", "seconds", "counts", "sizes")


def number(text):
    whole, unit = re.fullmatch(r"([\d.]+)([KMGT]?)", text).groups()
    return float(whole) if "." in whole else int(whole) * UNITS[unit]


def range_in(text):
    """The texts of the least and the most value that a help text names."""
    return re.search(r"from (\S+) to ([^\s;:)]+)", text).groups()


NAMES = {"cores": "count", "schedulers": "count", "ranks": "count", "device-memory": "bytes",
         "timeout": "seconds", "load-timeout": "seconds", "linger": "seconds", "dump-arena": "bytes",
         "dump-buffers": "count", "dump-wait": "seconds", "ring-task-window": "counts", "ring-heap": "sizes",
         "ring-dep-pool": "counts", "tensormap": "count"}


def settings(tg):
    return {entry["name"]: entry for entry in tg.json("config")["settings"]}


def test_every_number_among_the_settings_is_tested(tg):
    assert {name: entry["type"] for name, entry in settings(tg).items()
            if entry["type"] in NUMBERS} == NAMES


def outside(least, most, kind):
    """Values below and above the range."""
    values = [] if number(least) == 0 else ["0"]
    if kind == "seconds":
        below = [str(number(least) / 2)] if values else []
        return [*values, *below, str(number(most) + 1), "99999999999"]
    if number(least) > 1 and kind != "sizes":
        values.append(str(number(least) - 1))
    return [*([] if kind == "sizes" else values), str(number(most) + 1)]


def refused(result, *words):
    assert (result.returncode, result.stdout) == (2, ""), result
    assert one_line(result.stderr) and all(word in result.stderr for word in words), result


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_names_its_range_and_keeps_it(tg, name):
    least, most = range_in(settings(tg)[name]["help"])
    limits = f"from {least} to {most}"
    assert limits in tg.good("run", "--help").stdout and limits in tg.good("config").stdout
    variable = "TASKGLASS_" + name.upper().replace("-", "_")
    for value in (least, most):
        tg.good("config", f"--{name}={value}")
    for value in [*outside(least, most, NAMES[name]), *NONSENSE]:
        refused(tg("config", f"--{name}={value}"), f"--{name}", limits)
        if value:  # an empty variable counts as unset
            refused(tg("config", env={variable: value}), variable, limits)


@pytest.mark.parametrize("name", [name for name in NAMES if NAMES[name] in ("counts", "sizes")])
@pytest.mark.parametrize("place", range(4))
def test_each_of_four_rings_has_the_range(tg, name, place):
    least, most = range_in(settings(tg)[name]["help"])
    good = [least, most, least, most]
    tg.good("config", f"--{name}", ",".join(good))
    for value in (str(number(most) + 1), str(number(least) - 1), "-1", ""):
        bad = [*good[:place], value, *good[place + 1:]]
        refused(tg("config", f"--{name}", ",".join(bad)), f"--{name}")


@pytest.mark.parametrize("name", NAMES)
def test_the_last_value_counts(tg, name):
    entry = settings(tg)[name]
    least, most = range_in(entry["help"])
    variable = "TASKGLASS_" + name.upper().replace("-", "_")
    tg.good("config", f"--{name}", entry["default"], env={variable: str(int(number(most)) + 1)
                                                          if NAMES[name] != "counts" else most})


@pytest.mark.parametrize("option, value", [
    ("--dump-wait", "99999999999"), ("--timeout", "99999999999"), ("--device-memory", "1"),
    ("--dump-arena", "0"), ("--dump-buffers", "1"), ("--cores", "65536"), ("--schedulers", "256")])
def test_a_run_refuses_before_it_starts(tg, option, value):
    refused(tg("run", "vector_add", "--dump-tensor", option, value), option, "from ")
    assert not (tg.directory / "outputs").exists()


def test_a_long_wait_loses_nothing(tg):
    least, most = range_in(settings(tg)["dump-wait"]["help"])
    report = tg.run_json("vector_add", "--dump-tensor", "--dump-wait", most, "--dump-arena", "4K",
                         "--dump-buffers", "2")["recorder"]
    assert set(report["lost"].values()) == {0} and report["recorded"] == report["attempted"]


# --- options of the verbs ------------------------------------------------------------------------

WHOLE = [("view", "limit", []), ("stats", "limit", []), ("find", "limit", ["nan"]),
         ("diff", "limit", ["a", "b"]), ("export", "limit", []), ("scope", "limit", []), ("path", "limit", []),
         ("check", "limit", []), ("runs", "limit", []), ("runs", "keep", []),
         ("replay", "repeat", ["a"]), ("replay", "workers", ["a"]), ("top", "count", []),
         ("serve", "port", ["a"]), ("shake", "runs", ["a"]), ("shake", "reduce-runs", ["a"]), ("shake", "seed", ["a"])]
REAL = [("diff", "atol", ["a", "b"]), ("diff", "rtol", ["a", "b"]), ("check", "atol", ["a"]),
        ("check", "rtol", ["a"])]


def test_every_numeric_option_is_tested(tg):
    verbs = re.findall(r"^  ([a-z]+) +[A-Z]", tg.good("--help").stdout, re.M)
    found = set()
    names = set(settings(tg))
    for verb in set(verbs) - {"help"}:
        found |= {(verb, name) for name, row in help_of(tg, verb).items()
                  if row.value in ("N", "X", "TOLERANCE") and name not in names}
    assert found == {(verb, option) for verb, option, _ in [*WHOLE, *REAL]}


@pytest.mark.parametrize("verb, option, operands", WHOLE)
def test_a_whole_number_has_its_range(tg, verb, option, operands):
    least, most = map(int, range_in(help_of(tg, verb)[option].text))
    values = [*NONSENSE, str(most + 1), *([str(least - 1)] if least > 0 else [])]
    for value in values:
        refused(tg(verb, *operands, f"--{option}={value}"), f"--{option}", str(most))


@pytest.mark.parametrize("verb, option, operands", REAL)
@pytest.mark.parametrize("value", ["-1", "", "inf", "nan", "1e999", "0x10", " 1", "1 ", "+1"])
def test_a_tolerance_has_its_range(tg, verb, option, operands, value):
    assert "from 0 to 1.7e308" in help_of(tg, verb)[option].text
    refused(tg(verb, *operands, f"--{option}={value}"), "from 0 to 1.7e308")
