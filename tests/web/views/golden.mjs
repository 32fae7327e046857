// SPDX-License-Identifier: Apache-2.0
// Pictures of every view on recordings of which every byte is known (made.py), against those in golden/.
//
// Where a line of text ends decides where things stand, so pictures of machines with other fonts cannot be compared:
// golden/fonts.json has the widths of a text in the fonts of the pictures, and elsewhere the tests are skipped. With the
// same fonts, browsers still smooth edges differently: pictures are compared at half their size, pixelmatch ignores
// what looks like smoothing, and MOST of the pixels may differ. A view that draws nothing, elsewhere, or in other colours
// differs in more. UPDATE_GOLDEN=1 writes the pictures anew.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { LINKS, VIEWS, build, here, leave, outputs, ranks, sleep, visit, web } from "../harness.mjs";

const MOST = 0.005; // of all pixels
const TRIES = 40; // a picture may be taken before the last line is drawn: it is taken again
const SMALLER = 2;

const { PNG } = web("pngjs");
const pixelmatch = (await import(web.resolve("pixelmatch"))).default;
const golden = (name) => join(here, "golden", name);

/** The mean of each square of pixels. */
function halve(picture) {
  const half = new PNG({ width: picture.width / SMALLER, height: picture.height / SMALLER });
  for (let y = 0; y < half.height; y++)
    for (let x = 0; x < half.width; x++)
      for (let channel = 0; channel < 4; channel++) {
        let sum = 0;
        for (let dy = 0; dy < SMALLER; dy++)
          for (let dx = 0; dx < SMALLER; dx++) sum += picture.data[((y * SMALLER + dy) * picture.width + x * SMALLER + dx) * 4 + channel];
        half.data[(y * half.width + x) * 4 + channel] = Math.round(sum / SMALLER ** 2);
      }
  return half;
}

const take = async (page) => halve(PNG.sync.read(await page.screenshot({ animations: "disabled", caret: "hide" })));

/** How wide a text is in the fonts of the page. */
const widths = (page) =>
  page.evaluate(() => {
    const code = document.body.appendChild(document.createElement("code"));
    const context = document.createElement("canvas").getContext("2d");
    const found = [document.body, code].map((element) => {
      context.font = `16px ${getComputedStyle(element).fontFamily}`;
      return Math.round(context.measureText("Waltz, bad nymph, 0123456789 µs → ☰").width * 10) / 10;
    });
    code.remove();
    return found;
  });

function compare(kept, taken) {
  const shown = new PNG({ width: kept.width, height: kept.height });
  const differ = pixelmatch(kept.data, taken.data, shown.data, kept.width, kept.height, { threshold: 0.1 });
  return { shown, differ, most: MOST * kept.width * kept.height };
}

/** Writes a picture of which nothing changes any more. */
async function update(page, view) {
  let [last, same] = ["", 0];
  while (same < 5) {
    await sleep(200);
    const now = PNG.sync.write(await take(page), { colorType: 2 }).toString("base64");
    same = now === last ? same + 1 : 0;
    last = now;
  }
  mkdirSync(golden(""), { recursive: true });
  writeFileSync(golden(`${view}.png`), Buffer.from(last, "base64"));
  writeFileSync(golden("fonts.json"), `${JSON.stringify(await widths(page))}\n`);
}

const PICTURES = [...VIEWS.map((view) => ({ view, server: outputs, link: LINKS[view] })), { view: "ranks", server: ranks, link: "#/ranks?run=job&rank=0&task=1:25" }];

for (const { view, server, link } of PICTURES)
  test(`the picture of ${view} is as it was`, async (t) => {
    const page = await visit(`${await server()}${link}`, { still: true });
    if (process.env.UPDATE_GOLDEN) return update(page, view).then(() => leave(page));
    if (!existsSync(golden("fonts.json")) || JSON.stringify(await widths(page)) !== readFileSync(golden("fonts.json"), "utf8").trim()) {
      await leave(page);
      return t.skip("this machine has other fonts than the pictures");
    }
    const kept = PNG.sync.read(readFileSync(golden(`${view}.png`)));
    let taken, found;
    for (let i = 0; i < TRIES; i++, await sleep(250)) {
      taken = await take(page);
      found = compare(kept, taken);
      if (found.differ <= found.most) break;
    }
    await leave(page);
    if (found.differ <= found.most) return undefined;
    const seen = join(build, "web", "seen");
    mkdirSync(seen, { recursive: true });
    writeFileSync(join(seen, `${view}.png`), PNG.sync.write(taken));
    writeFileSync(join(seen, `${view}.difference.png`), PNG.sync.write(found.shown));
    return assert.fail(`${found.differ} of ${kept.width * kept.height} pixels differ; see ${seen}`);
  });
