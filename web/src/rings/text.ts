// SPDX-License-Identifier: Apache-2.0
// The words above the charts: what there is, what is missing, why the run failed, and which settings fit.
import { LABELS, MAP, RESOURCES, type RingsDocument } from "./document.js";
import { make } from "./dom.js";
import { amount, count } from "./words.js";

const VERDICTS: Record<string, string> = {
  larger: "larger than needed",
  fits: "just right",
  tight: "enough, without a margin",
  full: "was full",
  waited: "was full, waited",
  too_small: "too small",
  so_far: "enough so far",
};

export function summaryOf(data: RingsDocument): string {
  return `${count(data.scopes, "scope")} at ${count(data.sites.length, "site")}, ${count(data.samples, "sample")}`;
}

export function notesOf(data: RingsDocument): string[] {
  const notes: string[] = [];
  if (data.no_rings) notes.push("no rings: with host_build_graph the host builds the whole graph first");
  if (data.dropped) notes.push(`${count(data.dropped, "sample")} lost on the device: peaks may be missing`);
  if (!data.complete) notes.push("incomplete: the file does not have all samples of the run");
  if (data.left_open) notes.push(`${count(data.left_open, "scope")} had not ended`);
  if (data.missing) notes.push(`${count(data.missing, "scope")} without a recorded beginning or end`);
  if (data.samples && !data.measured)
    notes.push("no peaks were measured within scopes: the peaks here are those at their beginnings and ends");
  return notes;
}

export function makeNotes(data: RingsDocument): HTMLElement {
  const notes = notesOf(data);
  const list = make("ul", { id: "notes", class: "rings-faint" }, ...notes.map((note) => make("li", {}, note)));
  list.hidden = notes.length === 0;
  return list;
}

export function makeFailure(data: RingsDocument): HTMLElement {
  const box = make("section", { id: "failed", class: "rings-failed", "aria-label": "Why the run failed" });
  box.hidden = !data.failed;
  if (!data.failed) return box;
  const fatal = data.fatal;
  const line = make("p", {}, make("strong", {}, fatal?.error ? fatal.error : "The run ended early"));
  box.append(line);
  if (!fatal) return box;
  if (fatal.site) line.append(`: the scope at ${fatal.site}`);
  if (fatal.resource < RESOURCES) {
    const whose = fatal.resource === MAP ? "" : ` of ring ${fatal.ring}`;
    line.append(
      `: ${amount(fatal.resource, fatal.used)} of ${amount(fatal.resource, fatal.capacity)} of the ` +
        `${LABELS[fatal.resource]}${whose} in use, ${amount(fatal.resource, fatal.wanted)} more wanted`,
    );
  }
  if (fatal.advice) box.append(make("p", {}, "Set ", make("code", {}, fatal.advice)));
  return box;
}

export function makeAdvice(data: RingsDocument): HTMLElement {
  const heads = ["Resource", "Setting", "Verdict", "Smallest safe setting"];
  const rows = data.advice.map(([resource, present, verdict, option]) =>
    make(
      "tr",
      {},
      make("td", {}, LABELS[resource]),
      make("td", {}, make("code", {}, present)),
      make("td", {}, VERDICTS[verdict] ?? verdict),
      make("td", {}, make("code", {}, option)),
    ),
  );
  const section = make(
    "section",
    { id: "advice", "aria-labelledby": "advice-title" },
    make("h2", { id: "advice-title" }, "Settings"),
    make(
      "div",
      { class: "rings-scroll", tabindex: 0, role: "region", "aria-label": "Settings of the rings" },
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
        make("tbody", {}, ...rows),
      ),
    ),
  );
  section.hidden = data.advice.length === 0;
  return section;
}
