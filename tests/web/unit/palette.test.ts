// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { kernelColour, showKernels } from "../../../web/src/palette.js";

const names = ["paged_start", "paged_qk", "paged_softmax", "paged_pv", "paged_update", "paged_finish"];

test("the colours of a run do not depend on the runs that were looked at before", () => {
  showKernels("a", names);
  const first = names.map(kernelColour);
  showKernels("b", Array.from({ length: 30 }, (_, index) => `other_${index}`));
  showKernels("a", names);
  assert.deepEqual(names.map(kernelColour), first);
  assert.equal(new Set(first).size, names.length);
});

test("kernels keep their colours while a run grows", () => {
  showKernels("c", names);
  const first = names.map(kernelColour);
  showKernels("c", [...names, "a_new_one"]);
  assert.deepEqual(names.map(kernelColour), first);
});
