// SPDX-License-Identifier: Apache-2.0
// All that there is to see about the scopes of a run: words, tables and charts. The page of `taskglass scope` and the
// view Rings both show it.
import { Chart, type ChartHost, makeToolbar } from "./chart.js";
import { LABELS, MAP, RESOURCES, RINGS, type RingsDocument } from "./document.js";
import { make } from "./dom.js";
import { Range } from "./range.js";
import { type Samples, bytesOf, decodeSamples } from "./samples.js";
import { Series } from "./series.js";
import { PeakTable, type SiteLinks } from "./table.js";
import { makeAdvice, makeFailure, makeNotes, summaryOf } from "./text.js";
import { amount, grouped, percent, share } from "./words.js";

const HELP =
  "Wheel or drag to zoom; hold Shift to move; double click to show all samples. In a focused chart the arrow keys go " +
  "from sample to sample, + and - zoom, Page Up and Page Down move, 0 shows all samples.";

export interface BoardOptions {
  links?: SiteLinks | null;
  /** The run goes on: what it used so far says nothing about what it needs. */
  isLive?: boolean;
}

export class RingsBoard {
  readonly charts: Chart[] = [];
  readonly samples: Samples;
  readonly range: Range;
  private readonly shown = make("output", { id: "range", "aria-live": "polite" });
  private readonly toCapacity = make("input", { type: "checkbox", id: "to-capacity" });
  private readonly tip = make("div", { id: "tip", class: "rings-tip", role: "status", "aria-live": "polite", hidden: true });
  private readonly ending = new AbortController();
  private drawing = 0;

  constructor(
    readonly data: RingsDocument,
    root: HTMLElement,
    { links = null, isLive = false }: BoardOptions = {},
  ) {
    this.samples = decodeSamples(bytesOf(data.stream), data.samples);
    this.range = new Range(data.samples, () => this.onRange());
    root.classList.add("rings");
    root.append(
      make("p", { id: "summary" }, summaryOf(data)),
      makeNotes(data),
      makeFailure(data),
      isLive ? make("p", { class: "rings-faint" }, "The settings can be judged when the run has ended.") : makeAdvice(data),
      new PeakTable(data, links).section,
      this.makeCharts(),
      this.tip,
    );
    const again = () => this.drawSoon();
    const options = { signal: this.ending.signal };
    addEventListener("resize", again, options);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again, options);
    this.toCapacity.addEventListener("change", again);
    this.range.reset();
    this.drawAll();
  }

  /** Stops listening. The root's elements stay. */
  end(): void {
    this.ending.abort();
    cancelAnimationFrame(this.drawing);
  }

  drawAll(): void {
    this.drawing = 0;
    for (const chart of this.charts) chart.draw();
  }

  drawSoon(): void {
    this.drawing ||= requestAnimationFrame(() => this.drawAll());
  }

  private onRange(): void {
    this.shown.textContent =
      this.data.samples === 0
        ? ""
        : `samples ${grouped(Math.ceil(this.range.from))} to ${grouped(this.range.lastShown)} of ${grouped(this.data.samples)}`;
    this.drawSoon();
  }

  private makeCharts(): HTMLElement {
    const host: ChartHost = {
      range: this.range,
      toCapacity: () => this.toCapacity.checked,
      tell: (series, number, x, y) => this.tell(series, number, x, y),
      hush: () => {
        this.tip.hidden = true;
      },
    };
    for (let resource = 0; resource < RESOURCES; resource++)
      for (let ring = 0; ring < (resource === MAP ? 1 : RINGS); ring++) {
        const series = new Series(this.samples, resource, ring, this.data.capacity[resource][ring]);
        if (series.most > 0) this.charts.push(new Chart(series, host));
      }
    const key = (kind: string, text: string) => make("span", {}, make("span", { class: `rings-key ${kind}` }), text);
    const section = make(
      "section",
      { id: "charts", "aria-labelledby": "charts-title" },
      make("h2", { id: "charts-title" }, "In use, sample by sample"),
      make("p", { class: "rings-faint" }, HELP),
      make(
        "p",
        { class: "rings-faint rings-keys" },
        key("line", "in use when a scope begins or ends"),
        key("peak", "peak within the scope that ends there"),
        key("limit", "capacity"),
      ),
      makeToolbar(this.range, this.toCapacity, this.shown),
      make("div", { id: "figures" }, ...this.charts.map((chart) => chart.figure)),
    );
    section.hidden = this.charts.length === 0;
    return section;
  }

  /** The words about a sample, beside the pointer. */
  private tell(series: Series, number: number, x: number, y: number): void {
    const { samples, tip } = this;
    const i = series.index[number];
    const r = series.resource;
    const of = (value: number) => `(${percent(share(value, series.capacity))})`;
    const lines = [
      this.data.sites[samples.site[i]],
      `${samples.end[i] ? "end" : "begin"} of a scope, depth ${samples.depth[i]}, ring ${samples.ring[i]}`,
      `${LABELS[r]}: ${amount(r, samples.used[r][i])} of ${amount(r, series.capacity)} ${of(samples.used[r][i])}`,
    ];
    if (samples.end[i]) lines.push(`most within the scope: ${amount(r, samples.peak[r][i])} ${of(samples.peak[r][i])}`);
    lines.push(`sample ${grouped(i)}`);
    tip.textContent = lines.join("\n");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const above = Math.max(y - box.height - 12, 8);
    tip.style.left = `${Math.max(Math.min(x + 14, innerWidth - box.width - 8), 8)}px`;
    tip.style.top = `${y + 18 + box.height > innerHeight ? above : y + 18}px`;
  }
}
