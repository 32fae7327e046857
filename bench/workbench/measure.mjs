// SPDX-License-Identifier: Apache-2.0
// measure.mjs WHAT ADDRESS: measures a page in a headless browser of 1280 x 800 and prints one JSON object. run.py starts it.
//
//   first     how long the timeline takes from the start of the navigation to its first picture
//   frames    the time between frames while a user pans and zooms the timeline
//   blank     the same on an empty page: what the machine can do
//   heatmap   how long a screen of a tensor takes, from its first request to its last answer
import { createRequire } from "node:module";
import { resolve } from "node:path";

const web = createRequire(resolve(process.env.TASKGLASS_WEB, "package.json"));
const { chromium } = web("playwright-core");
const [what, address] = process.argv.slice(2);
const SIZE = { width: 1280, height: 800 };
const QUIET = 400; // ms without a request: the screen is complete

const browser = await chromium.launch({
  executablePath: process.env.BROWSER,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--force-device-scale-factor=1"],
});
const page = await browser.newPage({ viewport: SIZE });
page.setDefaultTimeout(300_000);

async function openTimeline() {
  await page.goto(address);
  await page.waitForFunction(() => performance.getEntriesByName("first-picture").length > 0);
  return page.evaluate(() => performance.getEntriesByName("first-picture")[0].startTime);
}

/** Frames from here on: the time of each, as the browser sees it. */
const watchFrames = () =>
  page.evaluate(() => {
    window.frames_ = [];
    const note = (time) => {
      window.frames_.push(time);
      window.frame_ = requestAnimationFrame(note);
    };
    window.frame_ = requestAnimationFrame(note);
  });

async function framesSince() {
  const times = await page.evaluate(() => (cancelAnimationFrame(window.frame_), window.frames_));
  const deltas = times.slice(1).map((time, index) => time - times[index]);
  deltas.sort((a, b) => a - b);
  const at = (share) => deltas[Math.min(deltas.length - 1, Math.floor(share * deltas.length))];
  return { frames: deltas.length, median_ms: at(0.5), p95_ms: at(0.95), most_ms: deltas.at(-1) };
}

const frame = () => page.evaluate(() => new Promise(requestAnimationFrame));

async function turn(steps, delta) {
  await page.keyboard.down("Control");
  for (let i = 0; i < steps; i++) {
    await page.mouse.wheel(0, delta);
    await frame();
  }
  await page.keyboard.up("Control");
}

/** In by a factor of eight thousand, and out to an eighth, as a user does it: one event a frame or so. */
async function zoom() {
  await turn(45, -60);
  await turn(35, 60);
}

async function pan(x, y) {
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 0; i < 120; i++) {
    await page.mouse.move(x + 250 * Math.sin(i / 12), y);
    await frame();
  }
  await page.mouse.up();
}

async function measureFrames() {
  const box = (await page.locator("canvas").count()) ? await page.locator("canvas").first().boundingBox() : null;
  const [x, y] = box ? [box.x + box.width / 2, box.y + box.height / 2] : [640, 400];
  await page.mouse.move(x, y);
  const result = {};
  for (const [name, act] of Object.entries({ zoom, pan })) {
    const before = page.url();
    await watchFrames();
    await act(x, y);
    result[name] = await framesSince();
    // The address shows that the timeline has moved, some time after it has.
    if (what === "frames") await page.waitForFunction((url) => location.href !== url, before, { timeout: 10_000 });
  }
  return result;
}

/** Waits until no tile was asked for QUIET ms; how long the tiles since `from` took, and how many they were. */
async function screen(from) {
  return page.evaluate(
    async ([begin, quiet]) => {
      const tiles = () =>
        performance.getEntriesByType("resource").filter((one) => one.startTime >= begin && /api\/(heatmap|difference|values)\?/.test(one.name));
      for (let before = -1, since = performance.now(); ; ) {
        await new Promise((done) => setTimeout(done, 50));
        const now = tiles();
        if (now.length !== before) [before, since] = [now.length, performance.now()];
        if (performance.now() - since < (now.length ? quiet : 5 * quiet)) continue;
        return { tiles: now.length, ms: now.length ? Math.max(...now.map((one) => one.responseEnd)) - Math.min(...now.map((one) => one.startTime)) : 0 };
      }
    },
    [from, QUIET],
  );
}

async function measureHeatmap() {
  await page.addInitScript(() => performance.setResourceTimingBufferSize(100_000));
  const result = {};
  await page.goto(address);
  result.first = await screen(0);
  await page.goto("about:blank");
  await page.goto(address);
  result.again = await screen(0);
  const box = await page.locator("canvas").first().boundingBox();
  await page.mouse.move(box.x + box.width / 3, box.y + box.height / 3);
  for (const times of [4, 16, 64]) {
    const from = await page.evaluate(() => performance.now());
    await turn(1, -139); // four times as large
    result[`${times} times as large`] = await screen(from);
  }
  return result;
}

let result;
if (what === "first") result = { first_picture_ms: await openTimeline() };
else if (what === "frames") {
  const first_picture_ms = await openTimeline();
  result = { first_picture_ms, ...(await measureFrames()) };
} else if (what === "blank") {
  await page.setContent("<!doctype html><title>blank</title><canvas width=1280 height=800></canvas>");
  result = await measureFrames();
} else result = await measureHeatmap();
console.log(JSON.stringify(result));
await browser.close();
