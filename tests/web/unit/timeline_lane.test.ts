// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { Counter } from "../../../web/src/timeline/counter.js";
import { Lane, NO_KEY, baseExponent, buildPyramid, levelFor } from "../../../web/src/timeline/lane.js";
import { RowScratch, fillRow } from "../../../web/src/timeline/raster.js";
import { orderByTime } from "../../../web/src/timeline/sort.js";

/** Numbers that are the same in every run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Slice {
  begin: number;
  end: number;
}

function slicesOf(seed: number, count: number, overlap: boolean): Slice[] {
  const random = randomOf(seed);
  const slices: Slice[] = [];
  let time = 0;
  for (let i = 0; i < count; i++) {
    const begin = time + Math.floor(random() * 50);
    const end = begin + Math.floor(random() * random() * 900);
    slices.push({ begin, end });
    time = overlap ? begin : end;
  }
  return slices;
}

const laneOf = (slices: Slice[]) =>
  new Lane(
    Float64Array.from(slices, (slice) => slice.begin),
    Float64Array.from(slices, (slice) => slice.end),
    Uint32Array.from(slices, (_, index) => index),
  );

/** Busy nanoseconds, counted one by one. */
function bruteBusy(slices: Slice[], from: number, to: number): number {
  let busy = 0;
  let covered = from;
  for (const slice of slices) {
    const begin = Math.max(covered, slice.begin);
    const end = Math.min(to, slice.end);
    if (end > begin) {
      busy += end - begin;
      covered = end;
    }
  }
  return busy;
}

for (const overlap of [false, true]) {
  const kind = overlap ? "slices that overlap" : "slices one behind the other";
  const slices = slicesOf(overlap ? 3 : 4, 400, overlap);
  const lane = laneOf(slices);
  const span = Math.max(...slices.map((slice) => slice.end));

  test(`busy time is that of a count one by one: ${kind}`, () => {
    const random = randomOf(9);
    for (let i = 0; i < 500; i++) {
      const from = Math.floor(random() * span);
      const to = from + Math.floor(random() * 3000);
      assert.equal(lane.busyIn(from, to), bruteBusy(slices, from, to), `[${from}, ${to})`);
    }
  });

  test(`slices in a stretch are those of a count one by one: ${kind}`, () => {
    const random = randomOf(10);
    for (let i = 0; i < 500; i++) {
      const from = Math.floor(random() * span);
      const to = from + 1 + Math.floor(random() * 3000);
      const wanted = slices.filter((slice) => (slice.begin < to && slice.end > from) || (slice.begin >= from && slice.begin < to)).length;
      assert.equal(lane.countIn(from, to), wanted, `[${from}, ${to})`);
    }
  });

  test(`each bin of each level has the busy share of its time: ${kind}`, () => {
    const pyramid = buildPyramid(lane, span, 4, () => 0);
    for (const level of pyramid.levels)
      level.busy.forEach((share, bin) => {
        const wanted = bruteBusy(slices, bin * level.width, (bin + 1) * level.width) / level.width;
        assert.ok(Math.abs(share - wanted) < 1e-4, `bin ${bin} of width ${level.width}: ${share}, not ${wanted}`);
      });
    assert.equal(pyramid.levels[pyramid.levels.length - 1].busy.length, 1);
  });
}

test("a key with more than half of a bin's busy time is the bin's key", () => {
  const slices = slicesOf(7, 150, false);
  const keys = slices.map((_, index) => (index % 7 < 4 ? 0 : index % 3));
  const pyramid = buildPyramid(laneOf(slices), slices[slices.length - 1].end, 3, (item) => keys[item]);
  let decided = 0;
  for (const level of pyramid.levels)
    level.key.forEach((key, bin) => {
      const shares = [0, 1, 2].map((wanted) =>
        bruteBusy(slices.filter((_, index) => keys[index] === wanted), bin * level.width, (bin + 1) * level.width),
      );
      const all = shares[0] + shares[1] + shares[2];
      const isEmpty = !slices.some((slice) => slice.begin < (bin + 1) * level.width && slice.end >= bin * level.width);
      if (isEmpty) assert.equal(key, NO_KEY);
      const major = shares.findIndex((share) => share > all * 0.501);
      if (all > 0 && major >= 0) {
        assert.equal(key, major);
        decided++;
      }
    });
  assert.ok(decided > 100);
});

test("a pixel shows the busy share of its time, at every zoom", () => {
  const slices = slicesOf(11, 3000, false);
  const lane = laneOf(slices);
  const span = slices[slices.length - 1].end;
  const base = baseExponent(span, slices.length);
  const pyramid = buildPyramid(lane, span, base, () => 0);
  const row = new RowScratch(200);
  for (const pixel of [0.25, 1, 7, 100, 1000, span / 200, span / 150]) {
    const from = Math.min(span / 3, Math.max(0, span - pixel * 200));
    fillRow(lane, pyramid, () => 0, from, pixel, row);
    // Bins are not wider than a pixel, so a pixel is wrong by what lies in the two bins at its ends at most.
    const level = levelFor(pyramid, pixel);
    const slack = level < 0 ? 0.01 : (2 * pyramid.levels[level].width) / pixel;
    for (let x = 0; x < row.width; x++) {
      const wanted = bruteBusy(slices, from + x * pixel, from + (x + 1) * pixel) / pixel;
      assert.ok(Math.abs(Math.min(1, row.busy[x]) - wanted) <= slack, `pixel ${x} of ${pixel} ns: ${row.busy[x]}, not ${wanted}`);
    }
  }
});

test("a crowd of slices in one pixel costs no more than a few of them", () => {
  const slices = Array.from({ length: 50_000 }, (_, index) => ({ begin: index * 2, end: index * 2 + 1 }));
  slices.push({ begin: 1e12, end: 1e12 + 10 });
  const lane = laneOf(slices);
  // Bins of a run of 1,000 s are far wider than the burst at its beginning.
  const pyramid = buildPyramid(lane, 1e12 + 10, 30, () => 0);
  let asked = 0;
  const row = new RowScratch(400);
  fillRow(lane, pyramid, () => (asked++, 0), 0, 250, row);
  assert.ok(asked < 400 * 40, `${asked} slices were looked at`);
  assert.ok(row.busy.every((share) => Math.abs(share - 0.5) < 0.01));
});

test("a slice is found at its time and near it", () => {
  const lane = laneOf([
    { begin: 0, end: 10 },
    { begin: 20, end: 21 },
    { begin: 100, end: 300 },
  ]);
  assert.equal(lane.at(5, 0), 0);
  assert.equal(lane.at(15, 2), -1);
  assert.equal(lane.at(18, 3), 1);
  assert.equal(lane.at(299, 0), 2);
  assert.equal(lane.at(400, 50), -1);
});

test("a slice of no length is seen from afar", () => {
  const pyramid = buildPyramid(laneOf([{ begin: 700, end: 700 }]), 1000, 4, () => 5);
  assert.equal(pyramid.levels[0].key[43], 5);
  assert.ok(pyramid.levels.every((level) => level.busy.some((share) => share > 0 && share < 1e-3)));
});

test("a slice of no length is found", () => {
  assert.equal(laneOf([{ begin: 7, end: 7 }]).at(7, 1), 0);
});

test("tasks are put in the order of time, and equal times keep their order", () => {
  assert.deepEqual([...orderByTime(Float64Array.of(5, 1, 5, 0))], [3, 1, 0, 2]);
  assert.deepEqual([...orderByTime(Float64Array.of(-5.5, 2e15, -6, 2e15))], [2, 0, 1, 3]);
});

test("a counter's mean is that of a count at each nanosecond", () => {
  const random = randomOf(5);
  const ups = Float64Array.from({ length: 60 }, () => Math.floor(random() * 1000));
  const downs = ups.map((up) => up + 1 + Math.floor(random() * 100));
  const pairs = Array.from(ups, (up, index) => [up, downs[index]]);
  const counter = new Counter(ups.slice(), downs.slice());
  const at = (time: number) => pairs.filter(([up, down]) => up <= time && time < down).length;
  for (let i = 0; i < 100; i++) {
    const from = Math.floor(random() * 1000);
    const to = from + 1 + Math.floor(random() * 200);
    let sum = 0;
    for (let time = from; time < to; time++) sum += at(time);
    assert.ok(Math.abs(counter.mean(from, to) - sum / (to - from)) < 1e-9);
  }
  assert.equal(counter.most, Math.max(...Array.from({ length: 1200 }, (_, time) => at(time))));
});
