// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { barHeights } from "../../../web/src/heatmap/histogram.js";
import { errorRange, numberFrom, percentiles, rangeOf, shareOf } from "../../../web/src/heatmap/range.js";

const full = { low: -2, high: 8 };
const none = { low: NaN, high: NaN };

test("a range around zero has zero in its middle", () => {
  assert.deepEqual(rangeOf("symmetric", full, null, none), { low: -8, high: 8 });
  assert.deepEqual(rangeOf("auto", full, null, none), { low: -8, high: 8 });
});

test("values of one sign keep their range", () => {
  assert.deepEqual(rangeOf("auto", { low: 1, high: 3 }, null, none), { low: 1, high: 3 });
});

test("a range by hand that is upside down does not count", () => {
  assert.deepEqual(rangeOf("manual", full, null, { low: 3, high: 1 }), full);
  assert.deepEqual(rangeOf("manual", full, null, { low: 1, high: 3 }), { low: 1, high: 3 });
});

test("a robust range leaves out rare values at both ends", () => {
  const counts = [1, 0, 0, 500, 500, 0, 0, 0, 0, 1];
  assert.deepEqual(percentiles({ from: 0, to: 10, counts, looked_at: 1002, complete: true }), { low: 3, high: 5 });
});

test("without finite values there is no robust range", () => {
  assert.equal(percentiles({ from: null, to: null, counts: [0, 0], looked_at: 0, complete: true }), null);
});

test("numbers come as texts where JSON has none for them", () => {
  assert.equal(numberFrom("-inf"), -Infinity);
  assert.equal(numberFrom("1e3"), 1000);
  assert.ok(Number.isNaN(numberFrom(null)) && Number.isNaN(numberFrom("")) && Number.isNaN(numberFrom("nan")));
});

test("values beyond the range have the colours of its ends", () => {
  assert.equal(shareOf(-5, full, false), 0);
  assert.equal(shareOf(9, full, false), 1);
  assert.equal(shareOf(3, full, false), 0.5);
  assert.equal(shareOf(3, { low: 3, high: 3 }, false), 0.5);
});

test("errors are shown over six powers of ten", () => {
  assert.deepEqual(errorRange(1, 1e-12), { low: 1e-6, high: 1 });
  assert.deepEqual(errorRange(1, 0.01), { low: 0.01, high: 1 });
  assert.deepEqual(errorRange(5, 5), { low: 0.5, high: 5 });
  assert.deepEqual(errorRange(NaN, NaN), { low: 0.1, high: 1 });
  assert.ok(Math.abs(shareOf(1e-3, errorRange(1, 0), true) - 0.5) < 1e-9);
});

test("a logarithmic histogram shows rare values, too", () => {
  const [rare, often] = barHeights([1, 99999], true);
  assert.equal(often, 1);
  assert.ok(rare > 0.05);
  assert.deepEqual(barHeights([0, 0], false), [0, 0]);
});
