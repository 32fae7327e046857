// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { Camera, tickStep } from "../../../web/src/timeline/camera.js";
import { layoutTracks } from "../../../web/src/timeline/layout.js";

test("the time at the pointer stays where it is while the camera zooms", () => {
  const camera = new Camera(1000, false);
  camera.show(200, 600);
  camera.zoom(0.5, 300);
  assert.deepEqual(camera.target, { from: 250, to: 450 });
});

test("a camera stays near the run", () => {
  const camera = new Camera(1000, false);
  camera.show(400, 500);
  for (let i = 0; i < 100; i++) camera.pan(1);
  assert.equal(camera.to, 1020);
  camera.zoom(1e9, 500);
  assert.deepEqual(camera.target, { from: -20, to: 1020 });
});

test("a stretch that is no number changes nothing", () => {
  const camera = new Camera(1000, false);
  camera.show(NaN, 5);
  camera.show(-Infinity, Infinity);
  assert.ok(camera.isWhole);
});

test("a camera that shows the end follows a run that grows", () => {
  const camera = new Camera(1000, false);
  camera.show(920, 1020);
  camera.grow(2000, true);
  assert.deepEqual(camera.target, { from: 1940, to: 2040 });
});

test("a camera that shows all of a run shows all of it when it has grown", () => {
  const camera = new Camera(1000, false);
  camera.grow(2000, true);
  assert.ok(camera.isWhole);
});

test("a camera that does not follow stays where it is", () => {
  const camera = new Camera(1000, false);
  camera.show(100, 200);
  camera.grow(2000, false);
  assert.deepEqual(camera.target, { from: 100, to: 200 });
});

test("submissions shortly before the first task belong to the whole run", () => {
  const camera = new Camera(1000, false);
  camera.setOrigin(-100);
  assert.equal(camera.home, -100);
  assert.ok(camera.from <= -100);
});

test("submissions long before the first task do not make the run small", () => {
  const camera = new Camera(1000, false);
  camera.setOrigin(-1e15);
  assert.equal(camera.home, 0);
  assert.ok(camera.to - camera.from < 1100);
});

test("a camera that glides arrives", () => {
  const camera = new Camera(1000);
  camera.show(100, 200);
  let frames = 0;
  while (camera.step(16)) frames++;
  assert.deepEqual({ from: camera.from, to: camera.to }, { from: 100, to: 200 });
  assert.ok(frames < 60);
});

test("ticks are 1, 2 or 5 times a power of ten, and never closer than asked", () => {
  for (const width of [7, 99, 1000, 123456, 9e9]) {
    const step = tickStep(width, 10);
    assert.ok([1, 2, 5].includes(Math.round(step / 10 ** Math.floor(Math.log10(step) + 1e-9))), `${step}`);
    assert.ok(width / step <= 10.01);
  }
});

test("cores keep room when the canvas is low", () => {
  const needs = { hasSubmissions: true, scopes: 5, hasRunning: true, hasReady: true, cores: 72 };
  const layout = layoutTracks(400, 200, needs);
  assert.ok(200 - layout.coresTop >= 60);
  assert.ok(layout.mostScroll > 0);
});
