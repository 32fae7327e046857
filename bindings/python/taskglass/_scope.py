# SPDX-License-Identifier: Apache-2.0
"""How much of the rings the scopes of a run used, and which sizes to set: `scope`."""

from __future__ import annotations

import ctypes
import os
import pathlib
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._arguments import flag, integer, path as path_of
from ._callbacks import count
from ._handle import Handle
from ._html import Shown
from ._interrupt import Interrupts
from ._library import encoded, lib, text
from ._newest import find_newest
from ._types import Path

__all__ = ["ScopeFatal", "ScopeNeed", "ScopePage", "ScopePeak", "ScopeStats", "ScopeUse", "scope"]

_RINGS = 4
_EVERY = 1 << 17
_SAMPLE = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32,
                           ctypes.c_void_p)
_Progress = Optional[Callable[[int], Any]]


@dataclass(frozen=True)
class ScopeUse:
    """How much of a resource was in use at most, and how much there is."""
    used: int
    capacity: int
    share: float


@dataclass(frozen=True)
class ScopePeak:
    """The peaks of one site on one ring. `use` is by resource ("task_window", "heap", "dep_pool",
    "tensormap", and "fanin" of another implementation); `nearest` is the one nearest to full. `waits`
    says how often the orchestration waited for each, None if that is not known."""
    site: str
    ring: int
    count: int  # scopes of the site that use the ring themselves
    touched: int  # scopes of the site with scopes inside them that use the ring
    depth: Tuple[int, int]  # the lowest and the highest
    use: Dict[str, ScopeUse]
    nearest: str
    waits: Optional[Dict[str, int]] = None
    wait_seconds: Optional[float] = None


@dataclass(frozen=True)
class ScopeNeed:
    """What a run like this one needs of a resource on a ring (None: the tensor map, which all share).
    `verdict` is "so_far", "larger", "fits", "tight", "full" or "too_small"; `smallest` the smallest safe
    size, and `larger` one to try, with which it never waits if `never_waits` is true."""
    resource: str
    ring: Optional[int]
    peak: int
    capacity: int
    smallest: int
    verdict: str
    waits: Optional[int] = None
    larger: Optional[int] = None
    never_waits: Optional[bool] = None


@dataclass(frozen=True)
class ScopeFatal:
    """The resource that ended the run."""
    error: Optional[str]
    resource: Optional[str]
    ring: Optional[int]
    site: Optional[str]
    used: int
    capacity: int
    wanted: int
    advice: Optional[str]


@dataclass(frozen=True)
class ScopePage:
    """A page that was written."""
    path: pathlib.Path
    scopes: int
    bytes: int


@dataclass(frozen=True)
class ScopeStats(Shown):
    """The answer of `scope`. `peaks` are nearest to full first; `advice` is what the run needs, by
    resource and ring, and `options` what to type for the next run: ("--ring-heap 4K,1M,4K,4K",)."""
    run: str
    file: str
    complete: bool
    failed: bool
    fatal: Optional[ScopeFatal]
    dropped: int
    total: int
    samples: int
    scopes: int
    sites: int
    left_open: int
    without_begin: int
    without_end: int
    measured_peaks: bool
    measured_waits: bool
    no_rings: bool
    fanin_capacity: Optional[Tuple[int, ...]]
    summary_problem: str
    peaks: Tuple[ScopePeak, ...] = field(repr=False)
    advice: Tuple[ScopeNeed, ...] = field(repr=False)
    options: Tuple[str, ...] = ()

    def write_page(self, path: Path, *, overwrite: bool = False, progress: _Progress = None
                   ) -> ScopePage:
        """Writes a page with charts (HTML), one file that any browser shows, as `taskglass scope --output`
        does. `progress(samples)` is called now and then; an exception from it ends the writing."""
        name, interrupts, page = path_of(path), Interrupts(), lib().layout.tg_scope_page()
        show = count(interrupts, progress)
        with interrupts:
            lib().call(lib().tg_scope_stats_write_page, encoded(self.file), encoded(name),
                       flag(overwrite, "overwrite"), show, None, ctypes.byref(page))
        return ScopePage(pathlib.Path(name), page.scopes, page.bytes)


def _resources() -> Tuple[str, ...]:
    found: List[str] = []
    while lib().tg_scope_resource_name(len(found)):
        found.append(text(lib().tg_scope_resource_name(len(found))))
    return tuple(found)


class _Reader:
    """Turns the library's stats into objects; `pointer` is the stats."""

    def __init__(self, pointer: int) -> None:
        self.stats, self.resources = pointer, _resources()
        self.info = lib().layout.tg_scope_stats_info()
        lib().tg_scope_stats_get_info(pointer, ctypes.byref(self.info))

    def fatal(self) -> Optional[ScopeFatal]:
        if not self.info.fatal:
            return None
        fatal = lib().layout.tg_scope_fatal.from_address(self.info.fatal)
        known = fatal.resource < len(self.resources)
        return ScopeFatal(
            text(fatal.error) or None, self.resources[fatal.resource] if known else None,
            fatal.ring if known and self.resources[fatal.resource] != "tensormap" else None,
            text(fatal.site) or None, fatal.used, fatal.capacity, fatal.wanted,
            text(fatal.advice) or None)

    def _use(self, used: int, capacity: int) -> ScopeUse:
        return ScopeUse(used, capacity, lib().tg_scope_share(used, capacity))

    def _peak(self, row: Any) -> ScopePeak:
        use = {name: self._use(row.peak[number], lib().tg_scope_stats_capacity(
            self.stats, number, row.ring)) for number, name in enumerate(self.resources)}
        if self.info.has_fanin:
            use["fanin"] = self._use(row.fanin, lib().tg_scope_stats_fanin(self.stats, row.ring))
        waits = dict(zip(self.resources, row.waits)) if self.info.waits_known else None
        nearest = lib().tg_scope_stats_nearest(self.stats, ctypes.byref(row))
        return ScopePeak(
            text(lib().tg_scope_stats_site(self.stats, row.site)), row.ring, row.count, row.touched,
            (row.depth_min, row.depth_max), use, self.resources[nearest], waits,
            row.wait_ns * 1e-9 if self.info.waits_known else None)

    def peaks(self, most: Optional[int]) -> Tuple[ScopePeak, ...]:
        found: List[ScopePeak] = []
        row = lib().layout.tg_scope_row()
        while (most is None or len(found) < most) and lib().tg_scope_stats_get_row(
                self.stats, len(found), ctypes.byref(row)):
            found.append(self._peak(row))
        return tuple(found)

    def _need(self, resource: int, ring: int) -> Optional[ScopeNeed]:
        need = lib().layout.tg_scope_need()
        lib().tg_scope_stats_get_need(self.stats, resource, ring, ctypes.byref(need))
        verdict, name = text(lib().tg_scope_verdict_name(need.verdict)), self.resources[resource]
        if verdict == "absent":
            return None
        return ScopeNeed(name, None if name == "tensormap" else ring, need.peak, need.capacity,
                         need.smallest, verdict, need.waits if need.waits_known else None,
                         need.larger or None, need.never if need.larger else None)

    def advice(self) -> Tuple[ScopeNeed, ...]:
        needs = (self._need(resource, ring) for resource in range(len(self.resources))
                 for ring in range(_RINGS))
        return tuple(need for need in needs if need is not None)

    def options(self) -> Tuple[str, ...]:
        setting, found = lib().layout.tg_scope_setting(), []
        for resource in range(len(self.resources)):
            lib().tg_scope_stats_get_setting(self.stats, resource, ctypes.byref(setting))
            found.append(text(setting.option))
        lib().tg_scope_stats_get_memory(self.stats, ctypes.byref(setting))
        return tuple(option for option in [*found, text(setting.option)] if option)

    def result(self, most: Optional[int]) -> ScopeStats:
        info = self.info
        fanin = tuple(lib().tg_scope_stats_fanin(self.stats, ring) for ring in range(_RINGS))
        return ScopeStats(
            run=text(info.run), file=os.fsdecode(info.file or b""), complete=info.complete,
            failed=info.failed, fatal=self.fatal(), dropped=info.dropped, total=info.total,
            samples=info.samples, scopes=info.scopes, sites=info.sites, left_open=info.left_open,
            without_begin=info.without_begin, without_end=info.without_end,
            measured_peaks=info.measured, measured_waits=info.waits_known, no_rings=info.no_rings,
            fanin_capacity=fanin if info.has_fanin else None,
            summary_problem=text(info.summary_problem), peaks=self.peaks(most),
            advice=self.advice(), options=self.options())


def scope(path: Optional[Path] = None, *, limit: Optional[int] = None, progress: _Progress = None
          ) -> ScopeStats:
    """How much of the rings and of the tensor map the scopes of a run used, and which sizes to set, as
    `taskglass scope` says. The run took scope stats: `run(…, enable_scope_stats=True)`.

    `path` is the directory of the run, its scope_stats or the samples' file; by default the newest run under
    outputs/ that has scope stats. `limit` gives the N peaks nearest to full. `progress(samples)` is called
    now and then; an exception from it ends the reading. Raises NotFound if there are no scope stats, and
    BadArgument if a file is broken.
    """
    most, interrupts = None if limit is None else integer(limit, "limit"), Interrupts()
    show = count(interrupts, progress)

    def take(_: Any, index: int, site: int, sample: Any) -> bool:
        return index % _EVERY != _EVERY - 1 or show(None, index + 1) == 0

    name = find_newest("outputs", ("scope_stats",)) if path is None else path
    each = _SAMPLE(take) if progress is not None else None
    with interrupts:
        handle = Handle(lib().make(lib().tg_scope_stats_open, encoded(name), each, None),
                        lib().tg_scope_stats_close, "scope stats")
    try:
        with handle.use() as pointer:
            return _Reader(pointer).result(most)
    finally:
        handle.close()
