// SPDX-License-Identifier: Apache-2.0
// Every view, in the order of the menu. A new view is a file that exports a View, and a line here.
import { diffView } from "./diff.js";
import { graphView } from "./graph.js";
import { questionsView } from "./questions.js";
import { ranksView } from "./ranks.js";
import { ringsView } from "./rings.js";
import { runsView } from "./runs.js";
import { taskView } from "./task.js";
import { tensorView } from "./tensor.js";
import { timelineView } from "./timeline.js";
import type { View } from "./view.js";

export const views: readonly View[] = [
  runsView,
  ranksView,
  timelineView,
  graphView,
  taskView,
  tensorView,
  diffView,
  ringsView,
  questionsView,
];
