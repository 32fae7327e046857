// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { linkTo, parseRoute } from "../../../web/src/route.js";

test("a link leaves out what is empty", () => {
  assert.equal(linkTo("task", { run: "a", task: "", from: undefined }), "#/task?run=a");
});

test("a link is read back as it was written", () => {
  const parameters = { run: "a b&c=d", task: "1:12", text: "ä#?/%" };
  assert.deepEqual(parseRoute(linkTo("timeline", parameters)), { view: "timeline", parameters });
});

test("an empty address is no view", () => {
  assert.deepEqual(parseRoute(""), { view: "", parameters: {} });
});
