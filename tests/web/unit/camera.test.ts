// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { Camera, MOST_SCALE, levelFor, visibleTiles } from "../../../web/src/heatmap/camera.js";
import { rulerStep, shorten } from "../../../web/src/heatmap/draw.js";
import { isMouseWheel, step } from "../../../web/src/heatmap/gestures.js";

const plane = { height: 1000, width: 2000 };
const screen = { height: 400, width: 600 };

test("a fitted camera shows the whole plane", () => {
  const camera = new Camera();
  camera.fit(plane, screen);
  const corner = camera.corner(screen);
  assert.ok(corner.row <= 0 && corner.col <= 1e-9);
  assert.ok(screen.width / camera.scale >= 2000 - 1e-9);
});

test("the place under the mouse stays there while the camera zooms", () => {
  const camera = new Camera();
  camera.fit(plane, screen);
  const under = () => camera.corner(screen).col + 450 / camera.scale;
  const before = under();
  camera.zoom(4, 450, 100, plane, screen);
  assert.ok(Math.abs(under() - before) < 1e-6);
});

test("no zoom goes beyond the largest", () => {
  const camera = new Camera();
  camera.zoom(1e9, 0, 0, plane, screen);
  assert.equal(camera.scale, MOST_SCALE);
});

test("the middle of the screen stays inside of the plane", () => {
  const camera = new Camera();
  camera.fit(plane, screen);
  camera.pan(1e9, -1e9, plane, screen);
  assert.deepEqual([camera.row, camera.col], [1000, 0]);
});

test("an address keeps where a camera looks", () => {
  const camera = new Camera();
  camera.centre(17, 23, 60);
  const other = new Camera();
  assert.ok(other.read(camera.text()));
  assert.deepEqual([other.row, other.col, other.scale], [17.5, 23.5, 60]);
  assert.equal(other.read("1,2"), false);
  assert.equal(other.read("1,2,0"), false);
  assert.equal(other.read("x,2,3"), false);
});

test("a camera that shows everything leaves nothing in the address", () => {
  const camera = new Camera();
  camera.fit(plane, screen);
  assert.equal(camera.text(), "");
});

test("cells are as small as they can be without being smaller than a pixel", () => {
  const large = { height: 65536, width: 65536 };
  assert.equal(levelFor(1, large), 0);
  assert.equal(levelFor(0.51, large), 1);
  assert.equal(levelFor(0.5, large), 1);
  assert.equal(levelFor(0.25, large), 2);
  assert.equal(levelFor(1e-9, large), 9);
  assert.equal(levelFor(0.1, { height: 100, width: 100 }), 0);
});

test("only tiles that the screen shows are wanted, those in the middle first", () => {
  const camera = new Camera();
  camera.centre(499, 999, 1);
  camera.scale = 1;
  const tiles = visibleTiles(camera, plane, screen, 0);
  assert.deepEqual(tiles[0], { level: 0, row: 3, col: 7 });
  assert.ok(tiles.every((tile) => tile.row >= 2 && tile.row <= 5 && tile.col >= 5 && tile.col <= 10));
  assert.equal(new Set(tiles.map((tile) => `${tile.row} ${tile.col}`)).size, tiles.length);
});

test("a plane of one tile has one tile", () => {
  const camera = new Camera();
  camera.fit({ height: 1, width: 1 }, screen);
  assert.deepEqual(visibleTiles(camera, { height: 1, width: 1 }, screen, 0), [{ level: 0, row: 0, col: 0 }]);
});

test("keys move within the plane", () => {
  const page = { height: 10, width: 20 };
  assert.deepEqual(step("ArrowDown", { row: 999, col: 5 }, plane, page), { row: 999, col: 5 });
  assert.deepEqual(step("PageUp", { row: 25, col: 5 }, plane, page), { row: 15, col: 5 });
  assert.deepEqual(step("End", { row: 25, col: 5 }, plane, page), { row: 25, col: 1999 });
  assert.equal(step("x", { row: 0, col: 0 }, plane, page), null);
});

test("a wheel is told from a trackpad", () => {
  assert.ok(isMouseWheel({ deltaMode: 0, deltaX: 0, deltaY: 120 }));
  assert.ok(isMouseWheel({ deltaMode: 1, deltaX: 0, deltaY: 3 }));
  assert.ok(!isMouseWheel({ deltaMode: 0, deltaX: 0, deltaY: 4.5 }));
  assert.ok(!isMouseWheel({ deltaMode: 0, deltaX: 3, deltaY: 120 }));
});

test("a number keeps as many digits as fit", () => {
  assert.equal(shorten("0.053042173", 7), "0.05304");
  assert.equal(shorten("-1234567890", 6), "-1.2e9");
  assert.equal(shorten("12", 6), "12");
  assert.equal(shorten("-infinity", 5), "-inf…");
});

test("a ruler has round steps with room for their labels", () => {
  assert.equal(rulerStep(60, 30), 1);
  assert.equal(rulerStep(1, 30), 50);
  assert.equal(rulerStep(0.01, 30), 5000);
});
