// SPDX-License-Identifier: Apache-2.0
// What the shell gives to a view.
import type { ComponentType } from "preact";
import type { RunInfo, Runs } from "../api.js";
import type { Route } from "../route.js";

export interface ViewProps {
  route: Route;
  runs: Runs;
  run: RunInfo | null; // the run that the route names; null for views that need none
  /** Counts up when a live run has grown: ask again. */
  generation: number;
}

export interface View {
  name: string; // in the address: "timeline"
  title: string; // in the menu: "Timeline"
  key: string; // opens it behind "g": "t" for g t
  needsRun: boolean;
  /** Keys of this view, for the help: ["n", "next match"]. */
  keys?: readonly (readonly [string, string])[];
  component: ComponentType<ViewProps>;
}
