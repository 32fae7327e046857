// SPDX-License-Identifier: Apache-2.0
import { formatNs, plural } from "../format.js";
import { Command } from "../widgets.js";
import type { CriticalPath } from "./path.js";

/** What the critical path spent its time on, and the command that says the same. */
export function PathSummary({ path }: { path: CriticalPath }) {
  const spent = path.spent.filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
  return (
    <div class="path-summary">
      <p>
        Critical path: {plural(path.tasks.length, "task")}
        {path.unknown > 0 && `, and ${plural(path.unknown, "step")} that the timeline does not have`}
        {spent.length > 0 && ` — ${spent.map(([what, ns]) => `${what} ${formatNs(ns)}`).join(", ")}`}
      </p>
      <Command text={path.command} label="The command of the critical path" />
    </div>
  );
}
