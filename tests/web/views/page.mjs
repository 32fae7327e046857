// SPDX-License-Identifier: Apache-2.0
// Accessible, usable on wide and narrow screens and by keyboard, and the same for whoever opens a link.
import assert from "node:assert/strict";
import test from "node:test";
import { LINKS, NARROW, VIEWS, WIDE, follow, leave, outputs, settled, textOf, violations, visit } from "../harness.mjs";

for (const dark of [false, true])
  test(`axe finds nothing in any view, ${dark ? "dark" : "light"}`, async () => {
    const page = await visit(`${await outputs()}#/runs`, { dark });
    const found = [];
    for (const view of VIEWS) {
      await follow(page, LINKS[view]);
      for (const line of await violations(page)) found.push(`${view}: ${line}`);
    }
    await leave(page);
    assert.deepEqual(found, []);
  });

for (const size of [WIDE, NARROW])
  test(`nothing overflows at ${size.width} px, and what a view needs can be reached`, async () => {
    const page = await visit(`${await outputs()}#/runs`, { size });
    for (const view of VIEWS) {
      await follow(page, LINKS[view]);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${view}: ${wide} px too wide`);
      const away = await page.evaluate(outOfReach);
      assert.deepEqual(away, [], `${view}: cannot be reached`);
    }
    if (size === NARROW) {
      await page.getByRole("button", { name: /Questions/ }).click();
      await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Timeline" }).click();
      await settled(page);
      assert.match(page.url(), /#\/timeline/);
    }
    await leave(page);
  });

/** Controls that are shown, but lie outside of the window where no scrolling leads. Runs in the page. */
function outOfReach() {
  const scrolls = (element) => {
    for (let at = element.parentElement; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (/auto|scroll/.test(style.overflowX) && at.scrollWidth > at.clientWidth) return true;
    }
    return false;
  };
  return [...document.querySelectorAll("a[href], button, input, select, summary")]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest(".off-screen, .skip, dialog:not([open])"))
    .filter((element) => {
      const box = element.getBoundingClientRect();
      return box.width > 0 && (box.left < -1 || box.right > innerWidth + 1) && !scrolls(element);
    })
    .map((element) => element.outerHTML.slice(0, 100));
}

const KEYS = { g: "graph", k: "task", e: "tensor", o: "rings", q: "questions", d: "diff", t: "timeline", l: "runs" };

test("a user without a mouse opens a run, its task and its tensor", async () => {
  const page = await visit(await outputs());
  await page.keyboard.press("j");
  assert.ok(await page.evaluate(() => document.activeElement.matches(".runs-name")), "j goes to the first run");
  await page.locator(".runs-name", { hasText: "good" }).focus();
  await page.keyboard.press("Enter");
  await settled(page);
  assert.match(page.url(), /#\/timeline\?.*run=good/);
  for (const [key, view] of Object.entries(KEYS)) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await settled(page);
    assert.match(page.url(), new RegExp(`#/${view}`), `g ${key}`);
  }
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  await leave(page);
});

/** Controls that Tab does not reach; one of a group may take the focus for all of it. Runs in the page. */
function outOfTabs() {
  const roleOf = (element) => element.getAttribute("role");
  const inGroup = (element) => [...element.parentElement.children].some((one) => one.tabIndex === 0 && roleOf(one) === roleOf(element));
  return [...document.querySelectorAll("main [role=button], main a[href], main button, main input, main select, main canvas[role]")]
    .filter((element) => element.checkVisibility() && !element.disabled && element.tabIndex < 0 && !element.closest("[aria-hidden=true]") && !inGroup(element))
    .map((element) => element.outerHTML.slice(0, 120));
}

/** The element with the focus if it looks the same without it; else "". Runs in the page. */
function looksTheSame() {
  const element = document.activeElement;
  const look = () =>
    [element, ...element.querySelectorAll("*")].slice(0, 20).map((one) => {
      const style = getComputedStyle(one);
      return [style.outlineStyle, style.outlineColor, style.boxShadow, style.borderColor, style.stroke, style.strokeWidth].join();
    });
  const focused = look().join();
  element.blur();
  const other = look().join();
  element.focus();
  return element === document.body || focused !== other ? "" : element.outerHTML.slice(0, 120);
}

test("every control of every view can be reached with Tab, and shows where the focus is", async () => {
  const page = await visit(`${await outputs()}#/runs`);
  for (const view of VIEWS) {
    await follow(page, LINKS[view]);
    const tabbed = await page.evaluate(outOfTabs);
    assert.deepEqual(tabbed, [], view);
    await page.evaluate(() => document.querySelector("#main")?.focus());
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(looksTheSame), "", `${view}: the focus cannot be seen`);
    }
  }
  await leave(page);
});

test("a link shows the same to a colleague: view, task, zoom", async () => {
  const address = await outputs();
  const links = { ...LINKS, timeline: "#/timeline?run=good&task=1:7&from=40000&to=120000" };
  const page = await visit(address, { still: true });
  for (const view of VIEWS) {
    await follow(page, links[view]);
    const url = page.url();
    const kept = new URLSearchParams(url.split("?")[1]);
    for (const [key, value] of new URLSearchParams(links[view].split("?")[1])) assert.equal(kept.get(key), value, `${view}: ${key}`);
    const colleague = await visit(url, { still: true });
    assert.equal(colleague.url(), url, view);
    assert.equal(await textOf(colleague), await textOf(page), view);
    await leave(colleague);
  }
  await leave(page);
});

test("back goes to the view before", async () => {
  const page = await visit(`${await outputs()}#/runs`);
  await page.getByRole("link", { name: "good", exact: true }).click();
  await settled(page);
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Graph" }).click();
  await settled(page);
  await page.goBack();
  await settled(page);
  assert.match(page.url(), /#\/timeline/);
  await page.goBack();
  await settled(page);
  assert.match(page.url(), /#\/runs/);
  await leave(page);
});
