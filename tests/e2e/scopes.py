# SPDX-License-Identifier: Apache-2.0
"""Scope stats for tests: small ones made by hand, in the form that a run leaves."""

import json

RESOURCES = ("task_window", "heap", "dep_pool", "tensormap")


class ScopeStats:
    """A model of a device: rings with heads and tails, samples at the ends of scopes."""

    def __init__(self, run_dir, task_window=16384, heap=256 << 20, dep_pool=16384, tensormap=65536,
                 measured=True):
        self.folder = run_dir / "scope_stats"
        self.folder.mkdir(parents=True)
        self.limits = {"task_window_max": [task_window] * 4, "heap_max": [heap] * 4,
                       "dep_pool_max": [dep_pool] * 4, "tensormap_max": tensormap}
        self.cursor = [{name: [0, 0] for name in RESOURCES[:3]} for _ in range(4)]
        self.tensormap, self.measured, self.lines, self.open = 0, measured, [], []

    def take(self, depth, **amounts):
        for name, amount in amounts.items():
            self.cursor[min(depth, 3)][name][1] += amount

    def give(self, depth, **amounts):
        for name, amount in amounts.items():
            self.cursor[min(depth, 3)][name][0] += amount

    def sample(self, site, phase, depth, **more):
        ring = min(depth, 3)
        line = {"site": site, "phase": phase, "depth": depth, "ring": ring}
        for name in RESOURCES[:3]:
            line[f"{name}_start"], line[f"{name}_end"] = self.cursor[ring][name]
        self.lines.append({**line, "tensormap": self.tensormap, **more})

    def begin(self, site):
        self.sample(site, "begin", len(self.open))
        self.open.append(site)

    def end(self, **peak):
        depth = len(self.open) - 1
        used = {name: self.cursor[min(depth, 3)][name] for name in RESOURCES[:3]}
        most = {name: end - start for name, (start, end) in used.items()}
        most["tensormap"] = self.tensormap
        more = {"peak": {**most, **peak}} if self.measured else {}
        self.sample(self.open.pop(), "end", depth, **more)

    def scope(self, site, peak=None, **amounts):
        """Adds a scope that allocates something and frees it after its end."""
        self.begin(site)
        depth = len(self.open) - 1
        self.take(depth, **amounts)
        self.end(**(peak or {}))
        self.give(depth, **amounts)

    def head(self, **fields):
        return {"version": 6, "fatal": False, "dropped": 0, "total": len(self.lines),
                **self.limits, **fields}

    def write(self, summary=None, **fields):
        lines = [self.head(**fields), *self.lines]
        (self.folder / "scope_stats.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines))
        if summary is not None:
            (self.folder / "scope_stats.json").write_text(json.dumps(summary))
        return self


GUILTY = {"error": "SCOPE_DEADLOCK", "resource": "task_window", "ring": 1, "site": "model.c:59",
          "used": 64, "capacity": 64, "wanted": 8, "advice": "--ring-task-window 391"}


def example(run_dir, **options):
    """Two sites on two rings, a few scopes each."""
    stats = ScopeStats(run_dir, **options)
    stats.begin("main.c:10")
    for number in range(5):
        stats.tensormap = 10 * number
        stats.scope("model.c:59", peak={"tensormap": 100 + number} if stats.measured else None,
                    task_window=8 + number, heap=1024 * (1 + number), dep_pool=3 * number)
    stats.take(0, task_window=2)
    stats.end()
    return stats
