// SPDX-License-Identifier: Apache-2.0
// The table of peaks: one row for each site and ring, sorted by a click.
import { LABELS, RESOURCES, type RingsDocument } from "./document.js";
import { button, make } from "./dom.js";
import { amount, grouped, percent, share } from "./words.js";

// A row of the document: site, ring, scopes, depth from, to, four peaks.
const SITE = 0;
const RING = 1;
const SCOPES = 2;
const DEPTH = 3;
const PEAKS = 5;
const FIRST_ROWS = 200;

/** Where a site is shown elsewhere; null on a page of its own. */
export type SiteLinks = (site: string) => { text: string; address: string }[];

interface Column {
  head: string;
  of: (row: number[]) => number | string;
  number?: boolean;
  up?: boolean;
}

export class PeakTable {
  readonly section: HTMLElement;
  private readonly body = make("tbody");
  private readonly heads: HTMLElement[];
  private readonly more: HTMLButtonElement;
  private readonly columns: Column[];
  private readonly rows: number[][];
  private shown = FIRST_ROWS;
  private column: number;
  private up = false;

  constructor(
    private readonly data: RingsDocument,
    private readonly links: SiteLinks | null,
  ) {
    this.rows = data.rows.slice();
    this.columns = this.makeColumns();
    this.column = this.columns.length - 1;
    this.heads = this.columns.map((column, i) =>
      make(
        "th",
        { scope: "col", ...(column.number ? { class: "number" } : {}) },
        button(column.head, {}, () => this.sortBy(i)),
      ),
    );
    this.more = button("", { class: "rings-more" }, () => {
      this.shown = Infinity;
      this.write();
    });
    const head = make("tr", {}, ...this.heads);
    this.section = make(
      "section",
      { id: "peaks", "aria-labelledby": "peaks-title" },
      make("h2", { id: "peaks-title" }, "Peaks"),
      // Keyboards scroll it too.
      make(
        "div",
        { class: "rings-scroll", tabindex: 0, role: "region", "aria-label": "Peaks of all sites" },
        make("table", {}, make("thead", {}, head), this.body),
      ),
      make("p", {}, this.more),
    );
    this.section.hidden = data.rows.length === 0;
    this.write();
  }

  private makeColumns(): Column[] {
    const { data } = this;
    const near = (row: number[]) => this.shareOf(row, this.nearest(row));
    return [
      { head: "Site", of: (row) => data.sites[row[SITE]], up: true },
      { head: "Ring", of: (row) => row[RING], number: true, up: true },
      { head: "Scopes", of: (row) => row[SCOPES], number: true },
      { head: "Depth", of: (row) => row[DEPTH], number: true, up: true },
      ...LABELS.map((label, r) => ({
        head: label[0].toUpperCase() + label.slice(1),
        number: true,
        of: (row: number[]) => this.shareOf(row, r),
      })),
      { head: "Nearest to full", of: near, number: true },
    ];
  }

  private shareOf(row: number[], resource: number): number {
    return share(row[PEAKS + resource], this.data.capacity[resource][row[RING]]);
  }

  /** The resource of which this site used the largest part. */
  private nearest(row: number[]): number {
    let best = 0;
    for (let r = 0; r < RESOURCES; r++) if (this.shareOf(row, r) > this.shareOf(row, best)) best = r;
    return best;
  }

  private sortBy(column: number): void {
    this.up = column === this.column ? !this.up : !!this.columns[column].up;
    this.column = column;
    this.write();
  }

  private writeRow(row: number[]): HTMLElement {
    const site = this.data.sites[row[SITE]];
    const from = row[DEPTH];
    const to = row[DEPTH + 1];
    const links = (this.links?.(site) ?? []).map(({ text, address }) => make("a", { href: address }, text));
    const near = this.nearest(row);
    const part = this.shareOf(row, near);
    const last = make("td", { class: "number share" }, `${LABELS[near]} ${percent(part)}`);
    last.style.setProperty("--part", `${Math.min(part, 1) * 100}%`);
    const number = (text: string | number) => make("td", { class: "number" }, String(text));
    return make(
      "tr",
      {},
      make("td", { class: "site" }, site, ...(links.length ? [make("span", { class: "rings-links" }, ...links)] : [])),
      number(row[RING]),
      number(grouped(row[SCOPES])),
      number(from === to ? from : `${from} to ${to}`),
      ...LABELS.map((_, r) => number(`${amount(r, row[PEAKS + r])} / ${amount(r, this.data.capacity[r][row[RING]])}`)),
      last,
    );
  }

  private write(): void {
    const { of } = this.columns[this.column];
    const sign = this.up ? 1 : -1;
    this.rows.sort((a, b) => {
      const x = of(a);
      const y = of(b);
      if (x < y) return -sign;
      return x > y ? sign : 0;
    });
    this.body.replaceChildren(...this.rows.slice(0, this.shown).map((row) => this.writeRow(row)));
    this.more.hidden = this.rows.length <= this.shown;
    this.more.textContent = `Show all ${grouped(this.rows.length)}`;
    this.heads.forEach((th, i) => {
      if (i === this.column) th.setAttribute("aria-sort", this.up ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    });
  }
}
