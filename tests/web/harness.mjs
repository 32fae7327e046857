// SPDX-License-Identifier: Apache-2.0
// What the tests of views share: recordings, servers, one browser, and pages that note everything that goes wrong in them.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const here = dirname(fileURLToPath(import.meta.url));
export const build = resolve(process.env.TASKGLASS_BUILD ?? join(here, "../../build"));
export const web = createRequire(resolve(process.env.TASKGLASS_WEB ?? join(here, "../../web"), "package.json"));
export const folder = mkdtempSync(join(tmpdir(), "taskglass_web."));
export const VIEWS = ["runs", "timeline", "graph", "task", "tensor", "diff", "rings", "questions"];
export const PATIENCE = 60_000; // ms; ends what hangs, and decides nothing else
const program = join(build, "bin/taskglass");
const closing = [];

export const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TASKGLASS_")));
environment.XDG_STATE_HOME = join(folder, "state");
environment.PYTHONDONTWRITEBYTECODE = "1";

/** The path of a workload that only tests have. */
export const workload = (name) => join(build, "tests/workloads", `${name}.so`);

/** Runs a command of Taskglass; `codes` are the exit codes that are right. */
export async function tg(args, { codes = [0], cwd = folder } = {}) {
  const result = await promisify(execFile)(program, args, { cwd, env: environment, timeout: 10 * PATIENCE }).catch((error) => error);
  assert.ok(codes.includes(result.code ?? 0), `taskglass ${args.join(" ")}: ${result.stderr || result}`);
  return result;
}

/** Starts a command and leaves it running; it ends with the tests. */
export function start(args, cwd = folder) {
  const child = spawn(program, args, { cwd, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  child.said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (child.said += text));
  child.ended = new Promise((done) => child.on("exit", done));
  closing.push(async () => {
    child.kill("SIGTERM");
    await Promise.race([child.ended, sleep(5000)]);
    child.kill("SIGKILL");
  });
  return child;
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Waits until `is()` gives something. */
export async function until(is, what) {
  for (const end = Date.now() + PATIENCE; ; await sleep(20)) {
    const found = await is();
    if (found) return found;
    assert.ok(Date.now() < end, `${what} did not happen`);
  }
}

/** Serves; returns the address, which ends in "/". */
export async function serve(paths, cwd = folder) {
  const child = start(["serve", ...paths], cwd);
  return until(() => {
    assert.equal(child.exitCode, null, child.said);
    return /http:\/\/\S+\//.exec(child.said)?.[0];
  }, "an address");
}

// --- recordings -----------------------------------------------------------------------------------

const RUNTIMES = { host: "host_build_graph", device: "aicpu_build_graph", map: "tensormap_and_ringbuffer" };
const made = {}; // name: promise of a path

function once(name, make) {
  made[name] ??= make();
  return made[name];
}

/** Recordings of which every byte is known (made.py): outputs/good, outputs/wrong, outputs/nan, hostile, plain. */
export const byHand = () =>
  once("by hand", async () => {
    const base = join(folder, "made");
    await promisify(execFile)(process.env.PYTHON ?? "python3", [join(here, "made.py"), base], { env: environment });
    return base;
  });

/** The server of outputs/, whose runs have their names as keys. */
export const outputs = () => once("server of outputs", async () => serve(["outputs"], await byHand()));

/** The server of a run of three ranks, whose key is job. */
export const ranks = () => once("server of ranks", async () => serve(["ranks"], await byHand()));

/** A link to each view of those runs in which it has something to show. */
export const LINKS = {
  runs: "#/runs",
  timeline: "#/timeline?run=good&task=1:7",
  graph: "#/graph?run=good&task=1:7",
  task: "#/task?run=good&task=1:7",
  tensor: "#/tensor?run=nan&task=1:7&record=29",
  diff: "#/diff?run=wrong&other=good",
  rings: "#/rings?run=good",
  questions: "#/questions?run=good",
};

/** Records a run under runs/NAME. */
export const record = (name, args, options) =>
  once(name, async () => {
    mkdirSync(join(folder, "runs"), { recursive: true });
    const path = join(folder, "runs", name);
    await tg(["run", ...args, "--dump-tensor", "--output", path], options);
    return path;
  });

/** One run of each runtime, with scope stats where there are rings. */
export const ofRuntimes = () =>
  Promise.all(
    Object.entries(RUNTIMES).map(([name, runtime]) =>
      record(name, ["matmul_chain", "--runtime", runtime, "--enable-scope-stats"]),
    ),
  );
/** Planted bugs, in runs that end well: a wrong number, a NaN. */
export const good = () => record("bugs_none", [workload("bugs_none")]);
export const wrong = () => record("bugs_off_by_one", [workload("bugs_off_by_one")]);
export const nan = () => record("bugs_nan", [workload("bugs_nan")]);
export const hang = () => record("hang", [workload("faults"), "--case", "spin", "--timeout", "1"], { codes: [3] });
export const crash = () => record("crash", [workload("faults"), "--case", "null"], { codes: [3] });

/** Folders of the other implementation's recordings; [] if they are not on this machine. */
export function peers() {
  const base = join(here, "../../../shared/fixtures/peer");
  return existsSync(base) ? ["hbg_level2", "tmr_level2", "tmr_scope250"].map((name) => join(base, name)).filter(existsSync) : [];
}

// --- the browser ----------------------------------------------------------------------------------

let browserWork = null;

function browser() {
  browserWork ??= (async () => {
    const one = await web("playwright-core").chromium.launch({
      executablePath: process.env.BROWSER ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--force-device-scale-factor=1", "--font-render-hinting=none"],
    });
    closing.push(() => one.close());
    return one;
  })();
  return browserWork;
}

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 400, height: 800 };
export const NOW = new Date("2026-01-02T04:00:00Z"); // an hour after the runs of made.py

/**
 * A page at an address. What goes wrong in it is collected in page.problems: errors of scripts, lines of the console,
 * and requests that leave the address. An answer that says what a recording lacks (409) is none.
 */
export async function visit(address, { size = WIDE, dark = false, still = false } = {}) {
  const context = await (await browser()).newContext({
    viewport: size,
    colorScheme: dark ? "dark" : "light",
    timezoneId: "UTC",
    locale: "en-GB",
    reducedMotion: "reduce",
    acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.problems = [];
  const home = address.startsWith("file:") ? address.replace(/#.*/, "") : new URL(address).origin + new URL(address).pathname;
  page.asked = new Set(); // what is not answered yet; a stream of events never is
  for (const event of ["requestfinished", "requestfailed"]) context.on(event, (request) => page.asked.delete(request));
  context.on("request", (request) => {
    if (request.resourceType() !== "eventsource") page.asked.add(request);
    if (!request.url().startsWith(home) && !/^(data|blob):/.test(request.url())) page.problems.push(`asked ${request.url()}`);
  });
  page.on("pageerror", (error) => page.problems.push(`threw ${error}`));
  page.on("console", (line) => {
    if (line.type() === "error" && !/status of 409/.test(line.text())) page.problems.push(`said ${line.text()} (${line.location().url})`);
  });
  if (process.env.PAGE && !address.startsWith("file:"))
    for (const name of ["", "app.js", "app.css"])
      await context.route((url) => url.origin + url.pathname === home + name, (route) =>
        route.request().resourceType() === "fetch" ? route.continue() : route.fulfill({ path: join(process.env.PAGE, name || "index.html") }),
      );
  if (still) await page.clock.setFixedTime(NOW);
  await page.goto(address);
  await settled(page);
  return page;
}

/** Goes to another link of the same page. */
export async function follow(page, link) {
  await page.evaluate((hash) => (location.hash = hash), link);
  await settled(page);
}

/** What a page shows while it waits; a bar without a value is a question that is being answered. */
const BUSY = ".loading, [aria-busy=true], main progress:not([value])";

/** Waits until nothing is loading, nothing is asked, and what was answered is drawn. */
export async function settled(page) {
  const frames = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)))));
  const isQuiet = async () => page.asked.size === 0 && (await page.locator(BUSY).count()) === 0;
  await until(async () => {
    await frames();
    if (!(await page.locator("#main").count()) || !(await isQuiet())) return false;
    await frames();
    return isQuiet();
  }, "a page that is complete");
}

/** Ends a page, and the test if anything went wrong in it. */
export async function leave(page) {
  assert.equal(await page.evaluate(() => window.stolen), undefined, "a name ran as a script");
  await page.context().close();
  assert.deepEqual(page.problems, []);
}

export const textOf = (page) => page.evaluate(() => document.body.innerText);

/** How much is drawn on the largest canvas or picture of the view: pixels that are not of the first one's colour, or nodes. */
export const painted = (page) =>
  page.evaluate(() => {
    const drawn = [...document.querySelectorAll("main canvas")].map((canvas) => {
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, canvas.height];
      if (!copy.width || !copy.height) return 0;
      const context = copy.getContext("2d");
      context.drawImage(canvas, 0, 0);
      const pixels = new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer);
      return pixels.filter((pixel) => pixel !== pixels[0]).length;
    });
    return Math.max(0, ...drawn, 100 * document.querySelectorAll("main svg [data-node]").length);
  });

const axe = () => readFileSync(web.resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds against WCAG and good practice, one line each. */
export async function violations(page) {
  await page.evaluate(axe());
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

export async function close() {
  for (const end of closing.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
}
