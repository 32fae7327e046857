// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { asSentence, formatAgo, formatBytes, formatLength, formatNs, formatSeconds, formatTick, plural } from "../../../web/src/format.js";

test("times have three digits and the unit that fits", () => {
  assert.deepEqual(
    [0, 999, 999.7, 1000, 12345, 999_949, -1500, 2.5e9].map(formatNs),
    ["0 ns", "999 ns", "1.00 µs", "1.00 µs", "12.3 µs", "1.00 ms", "-1.50 µs", "2.50 s"],
  );
});

test("what is not known is an en dash", () => {
  assert.deepEqual([formatNs(null), formatNs(NaN), formatBytes(undefined), formatSeconds(null), formatAgo(0)], ["–", "–", "–", "–", "–"]);
});

test("neighbouring ticks look different", () => {
  const texts = Array.from({ length: 50 }, (_, index) => formatTick(1_000_000 + index * 20, 20));
  assert.equal(new Set(texts).size, 50);
  assert.equal(formatTick(0, 5), "0");
});

test("bytes are in binary units", () => {
  assert.deepEqual([0, 1023, 1024, 1536 * 1024, 5e9].map(formatBytes), ["0 B", "1023 B", "1.00 KiB", "1.50 MiB", "4.66 GiB"]);
});

test("long times are in minutes and hours", () => {
  assert.deepEqual([0.42, 75, 3720].map(formatSeconds), ["420 ms", "1 min 15 s", "1 h 2 min"]);
});

test("one is not many", () => {
  assert.deepEqual([plural(1, "task"), plural(2000, "task"), plural(2, "directory", "directories")], ["1 task", "2,000 tasks", "2 directories"]);
});

test("a note becomes a sentence", () => {
  assert.equal(asSentence("the run goes on"), "The run goes on.");
  assert.equal(asSentence("Done."), "Done.");
});

test("a length that is a bound says so, and nothing if it bounds nothing", () => {
  assert.deepEqual([formatLength(1500, false), formatLength(1500, true), formatLength(0, true)], ["1.50 µs", "at least 1.50 µs", "not known"]);
});
