// SPDX-License-Identifier: Apache-2.0
// Where the user is, in the address: #/timeline?run=x&task=1:12. A link shows the same to a colleague.
//
//   every view   run      the key of the run
//   timeline     task, from, to (nanoseconds), colour, depth, find, path, waits
//   graph        task, and what graph/state.ts lists
//   task         task
//   tensor       record
//   diff         other    the key of the second run; `run` is the first
//   ranks        rank, task (the call that is selected), first (of the ranks that are shown), only (calls of this rank)
//   questions    verb, what, ask, and the options of the question by their names
//
// The menu keeps `run`, `other` and `task` from view to view.

export interface Route {
  view: string; // "runs", "timeline", "graph", "task", "tensor", "diff", "rings", "questions", "ranks"
  parameters: Record<string, string>;
}

export function parseRoute(fragment: string): Route {
  const [path, query] = fragment.replace(/^#\/?/, "").split("?", 2);
  return { view: path || "", parameters: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

/** The link to a view; parameters that are undefined or "" are left out. */
export function linkTo(view: string, parameters: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) if (value !== undefined && value !== "") query.set(key, String(value));
  // A colon needs no escape in a fragment, and ids such as 1:12 read better without.
  const text = query.toString().replace(/%3A/gi, ":");
  return `#/${view}${text ? `?${text}` : ""}`;
}

/** Goes to a view: a step that the back button undoes. */
export function go(view: string, parameters: Record<string, string | number | undefined>): void {
  location.hash = linkTo(view, parameters);
}

/** Goes to a view in place of the present one: for addresses that only lead elsewhere. */
export function goInstead(view: string, parameters: Record<string, string | number | undefined>): void {
  history.replaceState(null, "", linkTo(view, parameters));
  window.dispatchEvent(new Event("noted"));
}

/** Changes parameters of the present view without a new step in the history: for zoom and selection. */
export function note(parameters: Record<string, string | number | undefined>): void {
  const now = parseRoute(location.hash);
  const link = linkTo(now.view, { ...now.parameters, ...parameters });
  if (link !== location.hash) {
    history.replaceState(null, "", link);
    window.dispatchEvent(new Event("noted"));
  }
}
