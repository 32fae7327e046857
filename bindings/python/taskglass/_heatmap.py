# SPDX-License-Identifier: Apache-2.0
"""Small pictures of tensors for notebooks: a PNG of colours, in the page itself, with its legend.

A picture has at most EDGE pixels in each direction, and at most LOOKED elements are read for it, however
large the tensor is: beyond that, evenly spaced elements stand for all.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np

from ._types import Array

EDGE = 64
LOOKED = 1 << 22
SLICES = 4
_COLOURS = 252  # numbers of the palette for finite values; the next ones are for others
_SPECIAL = (("NaN", (255, 0, 255)), ("+Inf", (255, 40, 0)), ("−Inf", (0, 200, 255)))
_NOTHING = _COLOURS + len(_SPECIAL)  # transparent

# Some colours of viridis, which gets lighter evenly and which the colour-blind can read.
_STOPS = ((68, 1, 84), (72, 40, 120), (62, 74, 137), (49, 104, 142), (38, 130, 142), (31, 158, 137),
          (53, 183, 121), (109, 205, 89), (180, 222, 44), (253, 231, 37))


@dataclass(frozen=True)
class Picture:
    """One picture: the PNG, its size on the screen, and what the legend says."""
    data: bytes
    width: int
    height: int
    low: float  # of the finite values; NaN if there is none
    high: float
    special: Dict[str, int]  # how many elements are NaN, +Inf and −Inf, those that there are
    title: str
    notes: Tuple[str, ...]

    @property
    def address(self) -> str:
        """The picture as an address that needs no file and no network."""
        return "data:image/png;base64," + base64.b64encode(self.data).decode()


def _palette() -> bytes:
    stops = np.array(_STOPS, float)
    where = np.linspace(0, len(_STOPS) - 1, _COLOURS)
    colours = np.column_stack([np.interp(where, np.arange(len(_STOPS)), stops[:, i]) for i in range(3)])
    others = [colour for _, colour in _SPECIAL] + [(128, 128, 128)]
    return np.vstack([colours.round(), others]).astype(np.uint8).tobytes()


def colour_of(name: str) -> str:
    """The colour of "NaN", "+Inf" or "−Inf", for a legend."""
    return "rgb({}, {}, {})".format(*dict(_SPECIAL)[name])


def gradient() -> str:
    """The colours from the smallest to the largest value, for a legend."""
    return ", ".join("rgb({}, {}, {})".format(*stop) for stop in _STOPS)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(pixels: Array) -> bytes:
    """A PNG of numbers of the palette."""
    height, width = pixels.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row begins with its filter, none
    rows[:, 1:] = pixels
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)  # 8 bits, palette
    visible = b"\xff" * _NOTHING + b"\0"
    return (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"PLTE", _palette())
            + _chunk(b"tRNS", visible) + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
            + _chunk(b"IEND", b""))


def _spaced(extent: int, most: int) -> "slice":
    """Evenly spaced numbers below `extent`, at most `most` of them."""
    return slice(None, None, max(1, math.ceil(extent / max(most, 1))))


def slices(held: Array, decode: Callable[[Array], Array], edge: int = EDGE) -> List[Picture]:
    """Pictures of the first two-dimensional slices of an array, of up to `edge` pixels in each direction;
    `decode` makes numbers of its elements."""
    if held.size == 0:
        return []
    if held.ndim < 2:
        return [_picture(held.reshape(-1), decode, "", edge)]
    found = []
    outer: Sequence[int] = held.shape[:-2]
    total = math.prod(outer)
    for number in range(min(total, SLICES)):
        at = np.unravel_index(number, tuple(outer)) if outer else ()
        title = "[" + ", ".join([*map(str, at), ":", ":"]) + "]" if outer else ""
        found.append(_picture(held[tuple(at)], decode, title, edge))
    return found


def _picture(held: Array, decode: Callable[[Array], Array], title: str, edge: int) -> Picture:
    notes = []
    if held.ndim == 1:
        step = _spaced(held.size, LOOKED)
        looked = decode(np.ascontiguousarray(held[step]))
        wide = _rows_of(looked)
        steps = [step.step]
    else:
        rows = _spaced(held.shape[0], max(EDGE, LOOKED // max(min(held.shape[1], LOOKED // EDGE), 1)))
        columns = _spaced(held.shape[1], LOOKED // EDGE)
        looked = decode(np.ascontiguousarray(held[rows, columns]))
        wide = looked.astype(np.float64), np.ones(looked.shape, bool)
        steps = [rows.step, columns.step]
    if math.prod(steps) > 1:
        notes.append(f"1 of {math.prod(steps)} elements was looked at")
    values, there = wide
    pixels, low, high, block = _pixels(values, there, edge)
    if block != (1, 1):
        notes.append(f"a pixel is the mean of {block[0]} × {block[1]} elements, or what is not finite in it")
    scale = max(1, 160 // max(pixels.shape))
    return Picture(png(pixels), pixels.shape[1] * scale, pixels.shape[0] * scale, low, high,
                   _special(values[there]), title, tuple(notes))


def _rows_of(values: Array) -> Tuple[Array, Array]:
    """A long row, broken into rows of equal length, and which places of these have an element."""
    width = values.size if values.size <= EDGE else max(EDGE, math.isqrt(values.size))
    height = math.ceil(values.size / width)
    wide = np.zeros(width * height)
    wide[:values.size] = values.astype(np.float64)
    there = np.arange(width * height) < values.size
    return wide.reshape(height, width), there.reshape(height, width)


def _special(values: Array) -> Dict[str, int]:
    counts = (np.isnan(values).sum(), np.isposinf(values).sum(), np.isneginf(values).sum())
    return {name: int(count) for (name, _), count in zip(_SPECIAL, counts) if count}


def _blocks(values: Array, reduce: Any, block: Tuple[int, int]) -> Array:
    """`reduce` (a ufunc) over blocks of elements; those at the edges may be smaller."""
    for axis in (0, 1):
        values = reduce.reduceat(values, np.arange(0, values.shape[axis], block[axis]), axis=axis)
    return values


def _pixels(values: Array, there: Array, edge: int) -> Tuple[Array, float, float, Tuple[int, int]]:
    """The numbers of the palette for each pixel, the smallest and the largest finite value, and how many
    elements a pixel stands for."""
    block = (math.ceil(values.shape[0] / edge), math.ceil(values.shape[1] / edge))
    finite = np.isfinite(values) & there
    low = float(values[finite].min()) if finite.any() else math.nan
    high = float(values[finite].max()) if finite.any() else math.nan
    if low < high:
        span = high / 2 - low / 2  # halves, because the whole may be beyond the largest number
        relative = (np.where(finite, values, low) / 2 - low / 2) / (span or 1.0)
    else:
        relative = np.full(values.shape, 0.5)
    relative = np.where(finite, relative, 0.0)
    count = _blocks(finite.astype(np.int64), np.add, block)
    mean = _blocks(relative, np.add, block) / np.maximum(count, 1)
    pixels = (np.clip(mean, 0, 1) * (_COLOURS - 1)).round().astype(np.uint8)
    pixels[count == 0] = _NOTHING
    # What is not finite must be seen even if it is one element of many; NaN last, because it matters most.
    tests: Tuple[Tuple[int, Any], ...] = ((2, np.isneginf), (1, np.isposinf), (0, np.isnan))
    for number, test in tests:
        pixels[_blocks(test(values) & there, np.logical_or, block)] = _COLOURS + number
    return pixels, low, high, block
