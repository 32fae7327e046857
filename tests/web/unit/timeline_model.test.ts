// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import type { Columns } from "../../../web/src/api.js";
import { BEGAN_BEFORE, ENDED_LATER, Edges, RunModel, idText, parseId } from "../../../web/src/model.js";
import { arrowsAround } from "../../../web/src/timeline/arrows.js";
import { TimelineData } from "../../../web/src/timeline/data.js";
import { describeMeasurement, measure } from "../../../web/src/timeline/describe.js";
import { readPath } from "../../../web/src/timeline/path.js";
import { globMatches, searchTasks } from "../../../web/src/timeline/search.js";

/** A chain of tasks 1:0, 1:1, … on two cores; each runs for 10 ns, 5 ns after the one before. */
function chain(count: number, runtime = ""): RunModel {
  const indices = Array.from({ length: count }, (_, index) => index);
  const answer = {
    header: {
      start_ns: "100",
      span_ns: count * 15,
      source: "recording",
      generation: 1,
      kernels: ["mat_mul", "add"],
      cores: [
        { number: 0, kind: "AIC", name: "core 0 (AIC)" },
        { number: 1, kind: "AIV", name: "core 1 (AIV)" },
      ],
      tasks: count,
      notes: [],
    },
    column: {
      id: BigUint64Array.from(indices, (index) => (1n << 32n) | BigInt(index)),
      first_part: Uint32Array.from([...indices, count]),
      records: new Uint32Array(count),
      part_core: Uint16Array.from(indices, (index) => index % 2),
      part_kernel: Uint16Array.from(indices, (index) => index % 2),
      part_begin: Uint32Array.from(indices, (index) => index * 15),
      part_end: Uint32Array.from(indices, (index) => index * 15 + 10),
      part_flags: new Uint8Array(count),
    },
  } as unknown as ConstructorParameters<typeof RunModel>[1];
  const model = new RunModel("run", answer);
  const edges = {
    header: { tasks: count, known: count, scopes: ["a.c:1", "b.c:2"], lines: ["a.c:7"], kernels: ["mat_mul", "add"], runtime, lost: 0, generation: 1 },
    column: {
      task: Uint32Array.from(indices),
      extra_id: new BigUint64Array(0),
      scope: Uint32Array.from(indices, (index) => (index < count / 2 ? 0 : 1)),
      line: new Uint32Array(count),
      kernel: Uint32Array.from(indices, (index) => index % 2),
      submitted: Float64Array.from(indices, (index) => index - 50),
      before: Uint32Array.from(indices.slice(1), (index) => index - 1),
      after: Uint32Array.from(indices.slice(1)),
      kind: new Uint8Array(count - 1),
    },
  };
  model.edges = new Edges(edges as unknown as Columns<never>, count);
  return model;
}

test("ids are read in every notation and written in one", () => {
  assert.equal(parseId("12"), 12n);
  assert.equal(parseId(" 1:12 "), (1n << 32n) | 12n);
  assert.equal(parseId("0x10000000c"), (1n << 32n) | 12n);
  assert.equal(idText((1n << 32n) | 12n), "1:12");
  for (const text of ["", "1:", ":1", "-1", "1.5", "0x", "1:2:3", "99999999999999999999999", "__proto__"]) assert.equal(parseId(text), null, text);
});

test("arrows go as deep as asked, in both directions", () => {
  const model = chain(20);
  assert.ok(model.edges);
  const arrows = arrowsAround(model.edges, 10, 3);
  assert.deepEqual(
    arrows.list.map((arrow) => [arrow.before, arrow.after, arrow.depth]),
    [[9, 10, 1], [8, 9, 2], [7, 8, 3], [10, 11, 1], [11, 12, 2], [12, 13, 3]],
  );
  assert.equal(arrows.isCut, false);
});

test("a task is ready when the last one that it waited for has ended", () => {
  const model = chain(4);
  assert.equal(model.readyOf(0), -50);
  assert.equal(model.readyOf(2), 25);
});

test("ready tasks, scopes and submissions become tracks", async () => {
  const model = chain(10);
  assert.ok(model.edges);
  const data = new TimelineData(model);
  const tracks = await data.makeEdgeTracks(model.edges, () => false);
  assert.equal(tracks?.submissions[0], -50);
  assert.deepEqual(tracks?.scopes.map((row) => [row.name, row.lane.begin[0], row.lane.end[0]]), [["a.c:1", -50, 70], ["b.c:2", -45, 145]]);
  assert.equal(tracks?.ready?.mean(10, 15), 1);
  assert.equal(tracks?.ready?.mean(16, 20), 0);
});

test("a measured stretch counts slices and busy time of all cores", () => {
  const data = new TimelineData(chain(4));
  const measured = measure(data, { from: 0, to: 30 });
  assert.deepEqual(measured, { length: 30, slices: 2, share: 20 / 60 });
  assert.equal(describeMeasurement(measured), "30 ns: 2 slices, cores busy 33.3 %");
});

test("a search finds ids, kernels and scopes", () => {
  const model = chain(10);
  const found = (text: string) => [...(searchTasks(model, text)?.tasks ?? [])];
  assert.deepEqual(found("1:3"), [3]);
  assert.deepEqual(found("MAT*"), [0, 2, 4, 6, 8]);
  assert.deepEqual(found("b.c:2"), [5, 6, 7, 8, 9]);
  assert.deepEqual(found("nothing"), []);
  assert.equal(searchTasks(model, "  "), null);
});

test("a pattern of many stars takes no exponential time", () => {
  assert.equal(globMatches(`${"*a".repeat(40)}b`, "a".repeat(4000)), false);
  assert.equal(globMatches("m?t*l", "mat_mul"), true);
  assert.equal(globMatches("*", ""), true);
  assert.equal(globMatches("a*?", "a"), false);
});

test("a path names its steps, and says how many the timeline lacks", () => {
  const path = readPath(chain(3), { path: { steps: [{ task_id: "0x0000000100000001" }, { task_id: "9:9" }, {}], spent_ns: { run: 5, text: "x" } } }, "taskglass path");
  assert.deepEqual([[...path.tasks], path.unknown, path.spent], [[1], 2, [["run", 5]]]);
});

test("a run without a path says why", () => {
  assert.throws(() => readPath(chain(3), { path: null, path_unknown: "no times" }, ""), /no times/);
});

test("a task whose submission is not known has no time at which it was ready", () => {
  const model = chain(3);
  assert.ok(model.edges);
  model.edges.submitted.fill(NaN);
  assert.equal(model.readyOf(0), NaN);
});

test("a task of a graph that the host built was there when the run began", () => {
  const model = chain(3, "host_build_graph");
  assert.ok(model.edges);
  model.edges.submitted.fill(NaN);
  assert.deepEqual([model.readyOf(0), model.readyOf(1)], [0, 10]);
});

test("a task waits for an unknown time if what it waited for ended later than is known", () => {
  const model = chain(3);
  model.partFlags[0] = ENDED_LATER;
  assert.deepEqual([model.readyOf(1), model.readyOf(2)], [NaN, 25]);
});

test("a task whose begin is a bound is not counted as ready until then", async () => {
  const readyAt = async (flags: number) => {
    const model = chain(2);
    model.partFlags.fill(flags);
    assert.ok(model.edges);
    return (await new TimelineData(model).makeEdgeTracks(model.edges, () => false))?.ready ?? null;
  };
  assert.notEqual(await readyAt(0), null);
  assert.equal(await readyAt(BEGAN_BEFORE), null);
});

test("a task has no end while one of its parts has none", () => {
  const model = chain(3);
  model.firstPart.set([0, 3, 3, 3]); // task 0 has all parts
  assert.equal(model.endOf(0), 40);
  model.partEnd[1] = 0xffffffff;
  assert.equal(model.endOf(0), NaN);
});

test("a graph that was not written completely says so", () => {
  const header = { scopes: [], lines: [], kernels: [], runtime: "", lost: 3, unknown: 1 };
  const none = new Uint32Array(0);
  const column = { task: none, scope: none, line: none, kernel: none, submitted: none, before: none, after: none, kind: new Uint8Array(0) };
  const edges = new Edges({ header, column } as unknown as Columns<never>, 0);
  assert.deepEqual(edges.notes, [
    "3 tasks and edges of the graph were not written by the run.",
    "1 edge of deps.json leads to no task and is left out.",
  ]);
});
