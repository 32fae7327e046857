# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of this package's objects: small pieces of HTML without scripts, styles of the page
or addresses. They take the colours of the page, dark or light, and a stranger's names are only text in them.
"""

from __future__ import annotations

import dataclasses
import html
import math
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from . import _heatmap, dtypes, errors
from ._types import Array

ROWS = 12  # of a table
LONGEST = 100  # characters of a cell
_LINE = "1px solid rgba(128, 128, 128, 0.4)"
_CELL = f"padding: 1px 8px; text-align: left; vertical-align: top; border-bottom: {_LINE};"
_MUTED = "opacity: 0.7;"


def shown(value: Any, most: int = LONGEST) -> str:
    """A value as HTML. Characters that are not printed, and those that turn the direction of a text, become
    escapes."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
                   for each in str(value)[:most + 1])
    return html.escape(text if len(text) <= most else text[:most - 1] + "…", quote=True)


def words(values: Mapping[Any, Any]) -> str:
    """A few counts in one line: "differs 2, equal 70"."""
    return ", ".join(f"{name} {count}" for name, count in values.items() if count) or "none"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], total: int, more: str = "") -> str:
    """The first rows of a table, and how many there are. A cell that is a `Raw` is HTML already."""
    head = "".join(f'<th style="{_CELL}{_MUTED}">{shown(name)}</th>' for name in columns)
    body, count = [], 0
    for row in rows:
        if count == ROWS:
            break
        count += 1
        cells = "".join(f'<td style="{_CELL}">{cell if isinstance(cell, Raw) else shown(cell)}</td>'
                        for cell in row)
        body.append(f"<tr>{cells}</tr>")
    if not body:
        return ""
    rest = f'<div style="{_MUTED}">… and {total - count} more{shown(more)}</div>' if total > count else ""
    return (f'<table style="border-collapse: collapse; margin: 4px 0;"><thead><tr>{head}</tr></thead>'
            f'<tbody>{"".join(body)}</tbody></table>{rest}')


class Raw(str):
    """Text that is HTML already."""


def card(title: str, facts: Mapping[str, Any], *parts: str) -> str:
    """A title, facts in one line each, and parts below them."""
    lines = "".join(f'<tr><td style="padding: 0 8px 0 0; text-align: left;{_MUTED}">{shown(name)}</td>'
                    f'<td style="padding: 0; text-align: left;">{value if isinstance(value, Raw) else shown(value)}</td></tr>'
                    for name, value in facts.items() if value is not None and value != "")
    block = f'<table style="border-collapse: collapse; margin: 2px 0;"><tbody>{lines}</tbody></table>' if lines else ""
    return (f'<div style="font-size: 90%; color: inherit;"><div><strong>{shown(title)}</strong></div>'
            f'{block}{"".join(parts)}</div>')


# --- pictures -----------------------------------------------------------------------------------

def _image(picture: _heatmap.Picture, scale: float = 1.0) -> str:
    width, height = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    return (f'<img alt="heatmap {shown(picture.title)}" src="{picture.address}" width="{width}" '
            f'height="{height}" style="image-rendering: pixelated; border: {_LINE}; display: block;">')


def _legend(picture: _heatmap.Picture) -> str:
    parts = []
    if not math.isnan(picture.low):
        bar = (f'<span style="display: inline-block; width: 60px; height: 8px; border: {_LINE}; '
               f'background: linear-gradient(to right, {_heatmap.gradient()});"></span>')
        parts.append(f"{shown(picture.low)} {bar} {shown(picture.high)}" if picture.low < picture.high
                     else f"all {shown(picture.low)}")
    for name, count in picture.special.items():
        parts.append(f'<span style="display: inline-block; width: 8px; height: 8px; border: {_LINE}; '
                     f'background: {_heatmap.colour_of(name)};"></span> {count} {name}')
    notes = "".join(f'<div style="{_MUTED}">{shown(note)}</div>' for note in picture.notes)
    return f'<div>{", ".join(parts)}</div>{notes}'


def heatmaps(held: Array, decode: Callable[[Array], Array], shape: Sequence[int]) -> str:
    """The first slices of a tensor, side by side."""
    found = _heatmap.slices(held, decode)
    if not found:
        return ""
    cells = "".join(f'<div style="display: inline-block; margin: 4px 12px 4px 0; vertical-align: top;">'
                    f'<div style="{_MUTED}">{shown(each.title)}</div>{_image(each)}{_legend(each)}</div>'
                    for each in found)
    slices = math.prod(shape[:-2]) if len(shape) > 2 else 1
    rest = f'<div style="{_MUTED}">… and {slices - len(found)} more slices</div>' if slices > len(found) else ""
    return cells + rest


def thumbnail(held: Array, decode: Callable[[Array], Array]) -> Raw:
    """One small picture for a cell of a table."""
    found = _heatmap.slices(held, decode, 16)[:1]
    return Raw(_image(found[0], 0.2) if found else "")


def elements_of(raw: Array, kind: dtypes.DType, shape: Sequence[int]
                ) -> Tuple[Array, Callable[[Array], Array]]:
    """An array of the elements in packed bytes, and a function that makes numbers of some of them."""
    if not kind.packed:
        return raw.view(kind.numpy).reshape(shape), lambda part: dtypes.decode(part, kind)
    count = math.prod(shape)
    if count > _heatmap.LOOKED:  # unpacked they would take a byte each
        count, shape = _heatmap.LOOKED, (_heatmap.LOOKED,)
    return (dtypes.decode(raw[:kind.bytes_of(count)], kind, tuple(shape)), lambda part: part)


# --- objects ------------------------------------------------------------------------------------

class Shown:
    """Base of classes that a notebook shows by `_as_html()`. What cannot be shown so is shown as text."""

    __slots__ = ()

    def _as_html(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        try:
            return self._as_html()
        except (errors.Error, ValueError, TypeError, KeyError, AttributeError, OSError, MemoryError):
            return f"<pre>{shown(repr(self), 1000)}</pre>"


def _title_of(thing: Any) -> str:
    result = getattr(thing, "result", None) or getattr(thing, "status", None)
    return f"{type(thing).__name__}: {result}" if isinstance(result, str) else type(thing).__name__


def describe(thing: Any) -> str:
    """Any result that is a dataclass: members that are one value as facts, and members that are several
    dataclasses as tables."""
    facts: Dict[str, Any] = {}
    parts: List[str] = []
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        if field.name in ("json", "result", "status", "exit_code") or (isinstance(value, (list, tuple, dict)) and not value):
            continue
        if isinstance(value, Mapping):
            simple = all(isinstance(each, (int, float, str)) for each in value.values())
            facts[field.name.replace("_", " ")] = words(value) if simple else len(value)
        elif isinstance(value, (list, tuple)) and dataclasses.is_dataclass(value[0]):
            parts.append(_members(field.name, value))
        elif isinstance(value, (list, tuple)):
            facts[field.name.replace("_", " ")] = ", ".join(str(each) for each in value[:ROWS])
        elif dataclasses.is_dataclass(value):
            facts[field.name.replace("_", " ")] = str(value)
        else:
            facts[field.name.replace("_", " ")] = value
    return card(_title_of(thing), facts, *parts)


def _members(name: str, things: Sequence[Any]) -> str:
    """Several dataclasses, with the columns that have something to say in the rows shown."""
    first = things[:ROWS]
    columns = [field.name for field in dataclasses.fields(first[0])
               if field.repr and any(getattr(each, field.name) not in (None, "", [], (), {}) for each in first)]
    rows = [[_cell(column, getattr(each, column)) for column in columns] for each in first]
    title = f'<div style="{_MUTED}">{shown(name.replace("_", " "))}</div>'
    return title + table([column.replace("_", " ") for column in columns], rows, len(things))


def _cell(name: str, value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and (
            name == "task" or name.startswith(("task_", "other_")) or name == "id"):
        return task_name(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(str(each) for each in value)
    if hasattr(value, "_thumbnail"):  # a Record
        return _record(value)
    return value


def _record(record: Any) -> Raw:
    """A record in a table: which one it is, and a small picture while its recording is open."""
    what = f"{record.index}: task {record.task} {record.kernel} {record.stage} {record.role} {record.arg}"
    try:
        return Raw(f"{shown(what)} {record._thumbnail()}")
    except errors.Error:
        return Raw(shown(what))


def task_name(task: Optional[int]) -> str:
    """A task's id as reports print it: "12", "1:12"."""
    if task is None:
        return "-"
    return f"{task >> 32}:{task & 0xffffffff}" if task >> 32 else str(task)


def size_of(count: int) -> str:
    """A number of bytes for people."""
    number, units = float(count), ("B", "KiB", "MiB", "GiB", "TiB")
    for unit in units:
        if number < 1024 or unit == units[-1]:
            break
        number /= 1024
    return f"{count} B" if unit == "B" else f"{number:.3g} {unit}"


def seconds_of(seconds: float) -> str:
    """A time for people."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            break
    return f"{seconds * factor:.3g} {unit}"


def shape_of(shape: Tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
