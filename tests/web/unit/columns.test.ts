// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { AskError, parseColumns } from "../../../web/src/api.js";

function answer(header: unknown, body: Uint8Array = new Uint8Array(0)): ArrayBuffer {
  const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const begin = 16 + Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(begin + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x43574754, true);
  view.setUint32(4, 1, true);
  view.setUint32(8, text.length, true);
  bytes.set(text, 16);
  bytes.set(body, begin);
  return bytes.buffer;
}

test("columns are read where the header says", () => {
  const body = new Uint8Array(24);
  new DataView(body.buffer).setFloat64(0, 1.5, true);
  new DataView(body.buffer).setUint16(18, 7, true);
  const columns = [
    { name: "time", type: "f64", offset: 0, count: 1 },
    { name: "core", type: "u16", offset: 16, count: 2 },
    { name: "none", type: "u64", offset: 24, count: 0 },
  ];
  const { header, column } = parseColumns<{ more: number }>(answer({ more: 3, columns }, body));
  assert.equal(header.more, 3);
  assert.deepEqual([column.time[0], [...column.core], column.none.length], [1.5, [0, 7], 0]);
});

const place = (change: object) => ({ columns: [{ name: "a", type: "u32", offset: 0, count: 2, ...change }] });
const bad: [string, ArrayBuffer][] = [
  ["nothing", new ArrayBuffer(0)],
  ["a short head", new ArrayBuffer(12)],
  ["another magic", new ArrayBuffer(64)],
  ["a header that is cut", answer({ columns: [] }).slice(0, 20)],
  ["a header that is no JSON", answer("{nonsense")],
  ["a header that is no object", answer("7")],
  ["no columns", answer({})],
  ["columns that are no list", answer({ columns: "a" })],
  ["an unknown type", answer(place({ type: "constructor" }), new Uint8Array(64))],
  ["an offset that is not aligned", answer(place({ offset: 4 }), new Uint8Array(64))],
  ["a negative offset", answer(place({ offset: -8 }), new Uint8Array(64))],
  ["more than there is", answer(place({ count: 3 }), new Uint8Array(8))],
  ["a count that is no number", answer(place({ count: "2" }), new Uint8Array(64))],
  ["a count beyond all bounds", answer(place({ count: 1e300 }), new Uint8Array(64))],
];
for (const [what, bytes] of bad)
  test(`an answer with ${what} is refused with a sentence`, () => {
    assert.throws(() => parseColumns(bytes), (error) => error instanceof AskError && /columns of version 1/.test(error.message));
  });
