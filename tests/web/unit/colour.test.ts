// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { MAP_NAMES, colourMap, cssColour, isLight, kindColours, pixel } from "../../../web/src/heatmap/colour.js";

/** A pixel in OKLab. */
function lab(word: number): [number, number, number] {
  const part = (shift: number) => {
    const share = ((word >>> shift) & 255) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  const [red, green, blue] = [part(0), part(8), part(16)];
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const distance = (a: number[], b: number[]) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

for (const name of ["lagoon", "ember", "grey"] as const) {
  test(`the lightness of ${name} rises from end to end`, () => {
    const light = [...colourMap(name, false)].map((word) => lab(word)[0]);
    for (let i = 8; i < 256; i += 8) assert.ok(light[i] > light[i - 8], `step ${i}`);
  });

  test(`equal steps of ${name} look equally far apart`, () => {
    const colours = [...colourMap(name, false)].map(lab);
    const steps = Array.from({ length: 15 }, (_, i) => distance(colours[i * 17], colours[(i + 1) * 17]));
    const mean = steps.reduce((sum, value) => sum + value) / steps.length;
    for (const value of steps) assert.ok(Math.abs(value / mean - 1) < 0.25, `${value} of ${mean}`);
  });
}

for (const isDark of [false, true])
  test(`the diverging map is symmetric in lightness, ${isDark ? "dark" : "light"}`, () => {
    const light = [...colourMap("diverging", isDark)].map((word) => lab(word)[0]);
    for (let i = 0; i < 128; i++) assert.ok(Math.abs(light[i] - light[255 - i]) < 0.03, `step ${i}`);
    assert.ok(isDark ? light[128] < light[0] : light[128] > light[0]);
  });

test("one end of the diverging map is blue and the other is orange", () => {
  for (const isDark of [false, true]) {
    const map = colourMap("diverging", isDark);
    const [low, high] = [lab(map[20]), lab(map[235])];
    assert.ok(low[2] < -0.05 && high[2] > 0.05);
  }
});

test("colours of kinds are told apart from each other and from every map", () => {
  for (const isDark of [false, true]) {
    const colours = kindColours(isDark);
    const kinds = [colours.nan, colours.infinite, colours.negative, colours.denormal].map(lab);
    for (let i = 0; i < kinds.length; i++) for (let k = 0; k < i; k++) assert.ok(distance(kinds[i], kinds[k]) > 0.12, `${i} ${k}`);
    for (const name of MAP_NAMES) for (const word of colourMap(name, isDark)) assert.ok(distance(lab(word), lab(colours.nan)) > 0.05, name);
  }
});

test("a pixel is opaque and its letters can be read", () => {
  assert.equal(pixel(1, 2, 3), 0xff030201);
  assert.equal(cssColour(pixel(1, 2, 255)), "#0102ff");
  assert.ok(isLight(pixel(255, 255, 255)) && !isLight(pixel(0, 0, 0)));
});
