// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { isotonic, layersOf, turnedLinks } from "../../../web/src/graph/layers.js";
import { layOut } from "../../../web/src/graph/layout.js";
import { numbersFrom, randomPairs } from "./graph_made.js";

const SIZE = { width: 140, height: 40 };
const WINDOW = { width: 1000, height: 600 };

function linksOf(seed: number, nodes: number, edges: number) {
  return randomPairs(nodes, edges, numbersFrom(seed)).map(([from, to]) => ({ from, to }));
}

test("an edge leads to a later layer", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const links = linksOf(seed, 50, 90);
    const layer = layersOf(50, links);
    assert.ok(links.every(({ from, to }) => layer[from] < layer[to]));
  }
});

test("no two nodes overlap", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { places } = layOut(80, linksOf(seed, 80, 60 + seed * 3), SIZE, WINDOW);
    for (let a = 0; a < 80; a++)
      for (let b = a + 1; b < 80; b++) {
        const apart =
          Math.abs(places[a].x - places[b].x) > SIZE.width - 0.01 || Math.abs(places[a].y - places[b].y) > SIZE.height - 0.01;
        assert.ok(apart, `seed ${seed}: ${a} and ${b}`);
      }
  }
});

test("every node lies within the picture", () => {
  const { places, width, height } = layOut(80, linksOf(5, 80, 120), SIZE, WINDOW);
  for (const { x, y } of places) {
    assert.ok(x >= SIZE.width / 2 - 0.01 && x <= width - SIZE.width / 2 + 0.01);
    assert.ok(y >= SIZE.height / 2 - 0.01 && y <= height - SIZE.height / 2 + 0.01);
  }
});

test("the way of an edge leads from its first node to its second", () => {
  const links = [...linksOf(5, 40, 60), { from: 39, to: 0 }];
  const { places, ways, isSideways } = layOut(40, links, SIZE, WINDOW);
  const along = isSideways ? "y" : "x";
  links.forEach((link, i) => {
    assert.ok(Math.abs(ways[i][0][along] - places[link.from][along]) < 0.01);
    assert.ok(Math.abs(ways[i][ways[i].length - 1][along] - places[link.to][along]) < 0.01);
  });
});

test("cycles are cut at one edge each", () => {
  const links = [{ from: 0, to: 1 }, { from: 1, to: 2 }, { from: 2, to: 0 }, { from: 3, to: 4 }, { from: 4, to: 3 }];
  assert.deepEqual([...turnedLinks(5, links)], [0, 0, 1, 0, 1]);
});

test("what remains of a random graph with cycles has none", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = numbersFrom(seed);
    const links = Array.from({ length: 60 }, () => ({ from: random(20), to: random(20) })).filter(({ from, to }) => from !== to);
    const turned = turnedLinks(20, links);
    const left = links.map((link, i) => (turned[i] ? { from: link.to, to: link.from } : link));
    const layer = layersOf(20, left);
    assert.ok(left.every(({ from, to }) => layer[from] < layer[to]));
  }
});

test("nodes without edges fill the window and are not one row", () => {
  const { width, height } = layOut(300, [], SIZE, WINDOW);
  assert.ok(width < 5000 && height < 3000 && width > height);
});

test("an empty graph has an empty picture", () => {
  const { width, height, places } = layOut(0, [], SIZE, WINDOW);
  assert.deepEqual([width, height, places], [0, 0, []]);
});

test("isotonic numbers rise and are nearest to what is wanted", () => {
  assert.deepEqual(isotonic([1, 3, 2, 5], [1, 1, 1, 1]), [1, 2.5, 2.5, 5]);
  assert.deepEqual(isotonic([3, 0], [3, 1]), [2.25, 2.25]);
  assert.deepEqual(isotonic([], []), []);
});

test("thirty nodes that wait for one stay in one layer, so that no link passes behind a node", () => {
  const links = Array.from({ length: 30 }, (_, i) => ({ from: 0, to: i + 1 }));
  const { places, isSideways } = layOut(31, links, SIZE, WINDOW);
  const across = new Set(places.slice(1).map((place) => (isSideways ? place.x : place.y)));
  assert.equal(across.size, 1);
});

test("a hundred nodes that wait for one are folded into rows, and no two overlap", () => {
  const links = Array.from({ length: 100 }, (_, i) => ({ from: 0, to: i + 1 }));
  const { places, width, height } = layOut(101, links, SIZE, WINDOW);
  assert.ok(width / height > 0.4 && width / height < 6, `${width} x ${height}`);
  for (let a = 0; a < 101; a++)
    for (let b = a + 1; b < 101; b++)
      assert.ok(Math.abs(places[a].x - places[b].x) > SIZE.width - 0.01 || Math.abs(places[a].y - places[b].y) > SIZE.height - 0.01);
});
