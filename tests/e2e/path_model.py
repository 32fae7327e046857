# SPDX-License-Identifier: Apache-2.0
"""What `taskglass path` must print, computed from the definitions in taskglass-path(1) alone. It shares
nothing with the C sources and looks at every moment of a run, so it is for small runs.

    run = Run(cores={0: "aic", 1: "aiv"}, has_edges=True)
    run.add(7, kernel="#1", parts=[Part(core=0, begin=3, end=9)], submit=1, after=[5])
    run.answer()        # the numbers of --json, as a dictionary
"""

import dataclasses

KINDS = ("run", "busy", "latency", "handover", "orchestrator", "room", "comm", "unknown")


@dataclasses.dataclass
class Part:
    """A kernel on a core; `kind` is "either" if both kinds of core may run it, None: that of its core."""
    core: int
    begin: int
    end: int
    done: int | None = None
    dispatch: int | None = None
    kind: str | None = None
    no_begin: bool = False
    no_end: bool = False


@dataclasses.dataclass
class Task:
    id: int
    kernel: str | None
    parts: list
    submit: int | None
    submit_begin: int | None
    ready: int | None
    after: list

    @property
    def begin(self):
        return min(part.begin for part in self.parts)

    @property
    def end(self):
        return max(part.end for part in self.parts)

    no_begin = property(lambda self: any(part.no_begin for part in self.parts))
    no_end = property(lambda self: any(part.no_end for part in self.parts))


class Run:
    def __init__(self, cores, has_edges=True, host_built=False):
        self.cores, self.has_edges, self.host_built = cores, has_edges, host_built
        self.tasks = {}

    def add(self, id, kernel=None, parts=(), submit=None, submit_begin=None, ready=None, after=()):
        self.tasks[id] = Task(id, kernel, list(parts), submit, submit_begin, ready, list(after))

    # --- edges and times ---------------------------------------------------------------------------

    def prepare(self):
        self.all = [self.tasks[id] for id in sorted(self.tasks)]
        self.nodes = [task for task in self.all if task.parts]
        self.unknown_edges = 0
        for task in self.all:
            kept = [id for id in task.after if id in self.tasks and id != task.id]
            self.unknown_edges += len(task.after) - len(kept)
            task.after = kept
        times = [time for task in self.all for time in (task.submit, task.submit_begin, task.ready)
                 if time is not None]
        self.start = min(times + [task.begin for task in self.nodes])
        self.end = max(task.end for task in self.nodes)
        self.early_edges = sum(not self.obeyed(self.tasks[id], task) for task in self.nodes
                               for id in task.after if self.tasks[id].parts)
        for task in self.nodes:
            task.found_ready = self.find_ready(task)

    def obeyed(self, before, after):
        return bool(before.parts) and before.end <= after.begin

    def release(self, before, after):
        seen = [part.done for part in before.parts
                if part.done is not None and before.end < part.done <= after.begin]
        return max([before.end, *seen])

    def before(self, task):
        return [self.tasks[id] for id in task.after if self.obeyed(self.tasks[id], task)]

    def submitted(self, task):
        return task.submit if task.submit is not None and task.submit <= task.begin else None

    def find_ready(self, task):
        said = task.ready is not None and task.ready <= task.begin
        if task.no_begin or (not said and not self.has_edges):
            return None
        last = max([self.release(one, task) for one in self.before(task)], default=None)
        if not said and any(one.no_end for one in self.before(task) if self.release(one, task) == last):
            return None
        times = [one.end if said else self.release(one, task) for one in self.before(task)]
        times += [task.ready] if said else [self.start] if self.host_built else []
        times += [self.submitted(task)] if self.submitted(task) is not None else []
        return max(times, default=None)

    def in_order(self):
        """The tasks so that each comes behind those that it waits for; None if there is a cycle."""
        waits = {task.id: len(task.after) for task in self.all}
        queue = [task for task in self.all if waits[task.id] == 0]
        for task in queue:
            for other in self.all:
                for id in other.after:
                    if id == task.id:
                        waits[other.id] -= 1
                        if waits[other.id] == 0:
                            queue.append(other)
        return queue if len(queue) == len(self.all) else None

    # --- cores and waiting -------------------------------------------------------------------------

    def needs(self, task):
        kinds = [part.kind or self.cores[part.core] for part in task.parts]
        return min(kinds.count("aic"), 3), min(kinds.count("aiv"), 3)

    def moments(self):
        """Each stretch of time in which nothing changes: its length, who is idle, who waits."""
        times = {self.start, self.end}
        for task in self.nodes:
            times |= {task.begin, *([task.found_ready] if task.found_ready is not None else [])}
            times |= {time for part in task.parts for time in (part.begin, part.end)}
        times = sorted(times)
        for a, b in zip(times, times[1:]):
            busy = {part.core for task in self.nodes for part in task.parts if part.begin <= a and b <= part.end}
            waiting = [task for task in self.nodes
                       if task.found_ready is not None and task.found_ready <= a and b <= task.begin]
            yield b - a, [core for core in self.cores if core not in busy], waiting

    def is_free(self, needs, idle):
        kinds = [self.cores[core] for core in idle]
        unknown = kinds.count(None)
        if needs == (0, 0):
            return bool(idle)
        return kinds.count("aic") + unknown >= needs[0] and kinds.count("aiv") + unknown >= needs[1]

    def could_run(self, core, needs):
        kind = self.cores[core]
        return needs == (0, 0) or (needs == (1, 0) and kind != "aiv") or (needs == (0, 1) and kind != "aic")

    def watch(self):
        for task in self.nodes:
            task.busy = task.latency = None if task.found_ready is None else 0
        self.idle = {core: {"idle": 0, "nothing": 0, "other": 0, "latency": 0} for core in self.cores}
        for length, idle, waiting in self.moments():
            for task in waiting:
                if self.is_free(self.needs(task), idle):
                    task.latency += length
                else:
                    task.busy += length
            for core in idle:
                cause = ("nothing" if not waiting else
                         "latency" if any(self.could_run(core, self.needs(task)) for task in waiting) else "other")
                self.idle[core]["idle"] += length
                self.idle[core][cause] += length

    # --- the path ----------------------------------------------------------------------------------

    def step(self, task):
        """How the time up to the end of the task was spent, and the task to go on with."""
        spent = dict.fromkeys(KINDS, 0)
        spent["run"] = task.end - task.begin
        last = max(self.before(task), default=None,
                   key=lambda one: (self.release(one, task), one.end, -one.id))
        submit = self.submitted(task)
        late = submit is not None and (last is None or submit > self.release(last, task))
        since = submit if late else last.end if last else self.start
        if late:
            spent["orchestrator"] = submit - self.start
            last = None
        elif last is None and task.found_ready is not None and not self.host_built:
            spent["unknown"] = task.found_ready - since
            since = task.found_ready
        if task.found_ready is None:
            spent["unknown"] += task.begin - since
        else:
            spent["handover"] += task.found_ready - since
            spent["busy"], spent["latency"] = task.busy, task.latency
        return {"task": task.id, "after": last.id if last else None, "late": late,
                "from": last.end if last else self.start, "spent": spent}, last

    def walk(self):
        steps = []
        task = min((task for task in self.nodes if task.end == self.end), key=lambda task: task.id)
        while task:
            step, task = self.step(task)
            steps.insert(0, step)
        return steps

    # --- gains -------------------------------------------------------------------------------------

    def chain(self, order):
        longest = {}
        for task in order:
            own = task.end - task.begin if task.parts else 0
            longest[task.id] = own + max((longest[one.id] for one in map(self.tasks.get, task.after)
                                          if not (task.parts and one.parts) or self.obeyed(one, task)), default=0)
        return min(max(longest.values()), self.end - self.start)

    def work(self):
        of = {kind: sum(part.end - part.begin for task in self.nodes for part in task.parts
                        if kind == "all" or (part.kind or self.cores[part.core]) == kind)
              for kind in ("aic", "aiv", "all")}
        cores = {kind: sum(kind == "all" or core in (kind, None) for core in self.cores.values()) for kind in of}
        most = max(-(-of[kind] // cores[kind]) if cores[kind] else 0 for kind in of)
        return min(most, self.end - self.start)

    def sort_nodes(self, order):
        place = {task.id: number for number, task in enumerate(order)}
        self.sorted = sorted(self.nodes, key=lambda task: (task.begin, place[task.id]))
        place = {task.id: number for number, task in enumerate(self.sorted)}
        self.previous = {}
        for core in self.cores:
            row = sorted(((part.begin, part.end, place[task.id], number) for task in self.nodes
                          for number, part in enumerate(task.parts) if part.core == core))
            for one, two in zip(row, row[1:]):
                if one[1] <= two[0] and one[2] < two[2]:
                    self.previous[two[2:]] = one[2:]

    def again(self, no_latency=False, no_orchestrator=False, unlimited=False, kernel=None, percent=100, delays=None):
        """The end of each task of the changed run; without `delays` those of the run itself, and its delays."""
        ends, part_ends, found = {}, {}, {}
        for number, task in enumerate(self.sorted):
            times = [0]
            if self.submitted(task) is not None and not no_orchestrator:
                times.append(self.submitted(task) - self.start)
            for one in self.before(task):
                times.append(ends[one.id] + (0 if no_latency else self.release(one, task) - one.end))
            for place, part in enumerate(task.parts):
                if (number, place) in self.previous and not unlimited:
                    times.append(part_ends[self.previous[number, place]] - (part.begin - task.begin))
            if delays is None:
                begin = task.begin - self.start
                found[task.id] = begin - max(times)
            else:
                dropped = no_latency and task.found_ready is not None
                begin = max(times) + (0 if dropped else delays[task.id])
            for place, part in enumerate(task.parts):
                length = part.end - part.begin
                if task.kernel == kernel and kernel is not None:
                    length = length * percent // 100
                part_ends[number, place] = begin + part.begin - task.begin + length
            ends[task.id] = max(part_ends[number, place] for place in range(len(task.parts)))
        return found if delays is None else max(ends.values())

    def gains(self, order):
        self.sort_nodes(order)
        delays = self.again()
        assert min(delays.values()) >= 0 and self.again(delays=delays) == self.end - self.start
        chain = self.chain(order)
        has_submits = self.host_built or any(task.submit is not None for task in self.all)
        waits = any(task.found_ready is not None for task in self.nodes)
        gains = {("unlimited_cores_no_waiting", None, None): chain,
                 ("no_waiting", None, None): max(chain, self.work()),
                 ("unlimited_cores", None, None): self.again(unlimited=True, delays=delays),
                 ("no_latency", None, None): self.again(no_latency=True, delays=delays) if waits else None,
                 ("no_orchestrator", None, None):
                     self.again(no_orchestrator=True, delays=delays) if has_submits else None}
        for kernel in sorted({task.kernel for task in self.nodes}):
            for percent in (0, 50):
                gains["kernel", kernel, percent] = self.again(kernel=kernel, percent=percent, delays=delays)
        return gains

    # --- the answer --------------------------------------------------------------------------------

    def kernels(self, steps):
        table = {}
        on_path = {step["task"] for step in steps or []}
        waits = any(task.found_ready is not None for task in self.nodes)
        for task in self.nodes:
            wait = 0 if task.found_ready is None else task.begin - task.found_ready
            there = task.id in on_path
            row = table.setdefault(task.kernel, [0, 0, 0, 0 if waits else None, 0, 0, 0 if waits else None])
            row[0] += 1
            row[1] += task.end - task.begin
            row[2] = max(row[2], task.end - task.begin)
            row[4] += there
            row[5] += there * (task.end - task.begin)
            if waits:
                row[3] += wait
                row[6] += there * wait
        return table

    def answer(self):
        self.prepare()
        self.watch()
        order = self.in_order()
        known = self.has_edges and order is not None
        steps = self.walk() if known else None
        waits = [task for task in self.nodes if task.found_ready is not None]
        given = [task.begin - max(task.parts[0].dispatch, task.found_ready) for task in waits
                 if task.parts[0].dispatch is not None and task.parts[0].dispatch <= task.begin]
        return {
            "span": (self.start, self.end),
            "edges": (sum(len(task.after) for task in self.all), self.unknown_edges, self.early_edges),
            "steps": steps,
            "waits": sorted(((task.busy + task.latency, -task.id, task.found_ready, task.busy, task.latency)
                             for task in waits if task.busy + task.latency > 0), reverse=True) if waits else None,
            "dispatched": sum(given) if given else None,
            "idle": {core: {cause: None if cause != "idle" and not waits else value for cause, value in row.items()}
                     for core, row in self.idle.items()},
            "kernels": self.kernels(steps),
            "gains": self.gains(order) if known else None,
        }


def read_answer(document):
    """The same dictionary from what `taskglass path --json` printed."""
    steps = waits = gains = None
    if document["path"]:
        steps = [{"task": int(step["task_id"], 16), "after": step["after"] and int(step["after"], 16),
                  "late": step["by_orchestrator"], "from": step["from_ns"], "spent": step["spent_ns"]}
                 for step in document["path"]["steps"]]
        gains = {(gain["change"], gain.get("kernel"), gain.get("percent")): gain["span_ns"]
                 for gain in document["gains"]}
    if document["waiting"]:
        waits = [(task["busy_ns"] + task["latency_ns"], -int(task["task_id"], 16), task["ready_ns"],
                  task["busy_ns"], task["latency_ns"]) for task in document["waiting"]["longest"]]
    run = document["run"]
    return {
        "span": (document["span"]["start_ns"], document["span"]["end_ns"]),
        "edges": (run["edges"], run["unknown_edges"], run["early_edges"]),
        "steps": steps, "waits": waits,
        "dispatched": document["waiting"] and document["waiting"]["dispatched_ns"],
        "idle": {core["core"]: {cause: core[cause + "_ns"] for cause in ("idle", "nothing", "other", "latency")}
                 for core in document["cores"]},
        "kernels": {kernel["kernel"]: [kernel[key] for key in ("tasks", "run_ns", "longest_ns", "wait_ns", "path_tasks",
                                                               "path_run_ns", "path_wait_ns")]
                    for kernel in document["kernels"]},
        "gains": gains,
    }


def check_sums(document):
    """What must hold in every answer, whatever the run was."""
    span = document["span"]["ns"]
    if document["path"]:
        path = document["path"]
        assert sum(path["spent_ns"].values()) == span
        assert path["tasks"] == len(path["steps"])
        at = document["span"]["start_ns"]
        for step in path["steps"]:
            assert step["from_ns"] == at
            at += sum(step["spent_ns"].values())
        assert at == document["span"]["end_ns"]
        for kind in KINDS:
            assert path["spent_ns"][kind] == sum(step["spent_ns"][kind] for step in path["steps"])
        assert path["spent_ns"]["run"] == sum(kernel["path_run_ns"] for kernel in document["kernels"])
        for gain in document["gains"]:
            assert gain["span_ns"] is None or 0 <= gain["span_ns"] <= span
            assert gain["span_ns"] is None or gain["gained_ns"] == span - gain["span_ns"]
    for core in document["cores"]:
        assert core["run_ns"] + core["idle_ns"] == span
        if core["nothing_ns"] is not None:
            assert core["nothing_ns"] + core["other_ns"] + core["latency_ns"] == core["idle_ns"]
    for kind in document["kinds"]:
        own = [core for core in document["cores"] if core["kind"] == kind["kind"]]
        for key in ("run_ns", "idle_ns", "tasks"):
            assert kind[key] == sum(core[key] for core in own)
