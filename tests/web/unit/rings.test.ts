// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { Range } from "../../../web/src/rings/range.js";
import { decodeSamples } from "../../../web/src/rings/samples.js";
import { Series } from "../../../web/src/rings/series.js";
import { amount, percent, share } from "../../../web/src/rings/words.js";
import { numbersFrom } from "./graph_made.js";

// Two samples of ring 1 as src/scope/scope_stream.h describes them: a begin at site 3, depth 0, and its end, with 5 in
// use of the task window and a peak that is 200 above that.
const STREAM = Uint8Array.from([0b0000_1010, 3, 0, 0b0001_0011, 10, 0b0001, 0xc8, 0x01]);

test("samples are decoded as the format says", () => {
  const samples = decodeSamples(STREAM, 2);
  assert.deepEqual([...samples.site], [3, 3]);
  assert.deepEqual([...samples.ring], [1, 1]);
  assert.deepEqual([...samples.end], [0, 1]);
  assert.deepEqual([...samples.used[0]], [0, 5]);
  assert.deepEqual([...samples.peak[0]], [0, 205]);
});

test("a stream that is cut, too long, or counted wrong is refused", () => {
  for (let size = 0; size < STREAM.length; size++) assert.throws(() => decodeSamples(STREAM.slice(0, size), 2), /damaged/);
  assert.throws(() => decodeSamples(STREAM, 1), /damaged/);
  assert.throws(() => decodeSamples(STREAM, 1e9), /damaged/);
});

test("extremes from blocks are those of the samples", () => {
  const random = numbersFrom(4);
  const n = 500;
  const values = Float64Array.from({ length: n }, () => random(1000));
  const peaks = values.map((value) => value + random(50));
  const zeros = () => new Uint8Array(n);
  const samples = { count: n, site: new Uint32Array(n), depth: new Uint32Array(n), ring: zeros(), end: zeros(), used: [values], peak: [peaks] };
  const series = new Series(samples, 0, 0, 1000);
  for (let i = 0; i < 200; i++) {
    const from = random(n);
    const to = from + random(n - from);
    const seen = { low: Infinity, high: -Infinity, top: -Infinity };
    series.extremes(from, to, seen);
    assert.deepEqual([seen.low, seen.high, seen.top], [Math.min(...values.slice(from, to)), Math.max(...values.slice(from, to)), Math.max(...peaks.slice(from, to))]);
  }
});

test("a range stays within the samples, and zooming out and in comes back", () => {
  const range = new Range(600, () => {});
  range.zoom(1 / 2, 100);
  assert.deepEqual([range.from, range.to], [50, 350]);
  range.move(-5);
  assert.deepEqual([range.from, range.to], [0, 300]);
  range.zoom(100);
  assert.ok(range.isAll);
});

test("amounts read as the command writes them", () => {
  assert.equal(amount(1, 5 * 1024), "5 KiB");
  assert.equal(amount(1, 1536), "1.50 KiB");
  assert.equal(amount(0, 16384), "16,384");
  assert.equal(percent(share(16, 64)), "25.0 %");
  assert.equal(share(1, 0), 1);
});
