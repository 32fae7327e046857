// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import {
  elementAt,
  indexAt,
  indexOf,
  levelsOf,
  numberOf,
  parseAt,
  placeFromAddress,
  planeAround,
  planeFromAddress,
  planeOf,
  planeParameters,
  usualWrap,
  wrappedPlane,
} from "../../../web/src/heatmap/plane.js";

test("a plane has the two dimensions that are asked for", () => {
  const plane = planeOf([2, 3, 4, 5], 1, 3, [1, 9, 2, 9]);
  assert.deepEqual([plane.height, plane.width], [3, 5]);
  assert.deepEqual(plane.at, [1, 0, 2, 0]);
});

test("a tensor of one dimension is one row", () => {
  const plane = planeOf([7], -1, 0);
  assert.deepEqual([plane.rows, plane.cols, plane.height, plane.width], [-1, 0, 1, 7]);
});

test("numbers of an address that are out of range are put right", () => {
  const plane = planeOf([2, 3, 4], 99, NaN, [7, NaN, -1]);
  assert.deepEqual([plane.rows, plane.cols], [1, 2]);
  assert.deepEqual(plane.at, [1, 0, 0]);
});

test("two equal dimensions do not make a plane, so the rows take another one", () => {
  assert.equal(planeOf([2, 3, 4], 2, 2).rows, 1);
  assert.equal(planeOf([2, 3, 4], 1, 1).rows, 2);
});

test("the parameters of a plane come in the order of the protocol", () => {
  assert.deepEqual(Object.entries(planeParameters(planeOf([2, 3, 4], 1, 2, [1]))), [
    ["rows", 1],
    ["cols", 2],
    ["at", "1,0,0"],
  ]);
  assert.deepEqual(planeParameters(wrappedPlane(100, 10)), { wrap: 10 });
});

test("the last level is the first at which the plane fits into one tile", () => {
  assert.deepEqual([1, 128, 129, 256, 257, 32768].map((side) => levelsOf(side, 1)), [1, 1, 2, 2, 3, 9]);
});

test("elements are counted in row-major order whichever dimensions are shown", () => {
  const plane = planeOf([2, 3, 4], 2, 0, [0, 1, 0]);
  assert.deepEqual(indexAt(plane, 3, 1), [1, 1, 3]);
  assert.equal(elementAt(plane, 3, 1), 1 * 12 + 1 * 4 + 3);
  assert.equal(elementAt(plane, 4, 0), -1);
  assert.equal(elementAt(plane, 0, -1), -1);
});

test("an element's index leads back to it", () => {
  const view = [3, 5, 7];
  for (let element = 0; element < 105; element++) assert.equal(numberOf(view, indexOf(view, element)), element);
});

test("the plane around an element shows it", () => {
  const plane = planeOf([2, 3, 4], 1, 2);
  const found = planeAround(plane, 23);
  assert.deepEqual(found && { at: found.plane.at, row: found.row, col: found.col }, { at: [1, 0, 0], row: 2, col: 3 });
  assert.equal(planeAround(plane, 24), null);
  assert.equal(planeAround(plane, NaN), null);
});

test("a wrapped plane lacks the elements that fill no row", () => {
  const plane = wrappedPlane(10, 4);
  assert.deepEqual([plane.height, plane.width], [2, 4]);
  assert.deepEqual(planeAround(plane, 7), { plane, row: 1, col: 3 });
  assert.equal(planeAround(plane, 8), null);
});

test("rows are not wider than the tensor, and a usual width makes about a square", () => {
  assert.equal(wrappedPlane(3, 1000).width, 3);
  assert.equal(usualWrap(4096), 64);
  assert.equal(usualWrap(1), 1);
});

test("words that are no numbers are left to the plane", () => {
  assert.deepEqual(parseAt("1,x,3"), [1, NaN, 3]);
  assert.deepEqual(parseAt(undefined), []);
});

test("an address with an element shows the slice that has it", () => {
  const info = { view: [2, 3, 4], rows: 1, cols: 2 };
  const plane = planeFromAddress(info, { element: "23" });
  assert.deepEqual(plane.at, [1, 0, 0]);
  assert.deepEqual(placeFromAddress(plane, "23"), { row: 2, col: 3 });
});

test("an element of another slice is not selected", () => {
  const plane = planeFromAddress({ view: [2, 3, 4], rows: 1, cols: 2 }, { element: "23", at: "0,0,0" });
  assert.equal(placeFromAddress(plane, "23"), null);
  assert.equal(placeFromAddress(plane, "x"), null);
});
