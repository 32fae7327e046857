// SPDX-License-Identifier: Apache-2.0
// Small parts that views share.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";

export type Tone = "plain" | "good" | "bad" | "warn" | "accent";

/** A word in a small frame. The tone adds to the word and never replaces it. */
export function Badge({ tone = "plain", title, children }: { tone?: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** A section with a heading; `actions` stand at the right end of the heading. */
export function Panel(props: { title: string; actions?: ComponentChildren; level?: 2 | 3; class?: string; children: ComponentChildren }) {
  const id = useId();
  const Heading = `h${props.level ?? 2}` as "h2" | "h3";
  return (
    <section class={`panel ${props.class ?? ""}`} aria-labelledby={id}>
      <header class="panel-head">
        <Heading id={id}>{props.title}</Heading>
        {props.actions && <div class="panel-actions">{props.actions}</div>}
      </header>
      <div class="panel-body">{props.children}</div>
    </section>
  );
}

/** What a view shows when there is nothing to show: why, and what to do about it. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div class="empty-text">{children}</div>}
    </div>
  );
}

/** A clear line about what failed; announced when it appears. */
export function ErrorLine({ children }: { children: ComponentChildren }) {
  return (
    <p class="error-line" role="alert">
      {children}
    </p>
  );
}

/** What the answer lacks: sampled, cut, not recorded. */
export function Note({ children }: { children: ComponentChildren }) {
  return <p class="note">{children}</p>;
}

export function Loading({ children = "Loading" }: { children?: ComponentChildren }) {
  return (
    <p class="loading" role="status">
      {children}…
    </p>
  );
}

/** One of a few choices. */
export function Segmented<T extends string>(props: {
  label: string;
  value: T;
  choices: readonly { value: T; text: string; title?: string; disabled?: boolean }[];
  onChange: (value: T) => void;
}) {
  return (
    <div class="segmented" role="group" aria-label={props.label}>
      {props.choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          title={choice.title}
          disabled={choice.disabled}
          aria-pressed={choice.value === props.value}
          onClick={() => props.onChange(choice.value)}
        >
          {choice.text}
        </button>
      ))}
    </div>
  );
}

/** Text into the clipboard: true if it worked. Pages from a file and some browsers refuse the modern way. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** Copies a text and says that it did. */
export function CopyButton(props: { text: string | (() => string); label?: string; title?: string; class?: string }) {
  const [said, setSaid] = useState("");
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    const done = await copyText(typeof props.text === "string" ? props.text : props.text());
    setSaid(done ? "Copied" : "Copying is not allowed here");
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setSaid(""), 1500);
  };
  return (
    <button type="button" class={`button ${props.class ?? ""}`} title={props.title} onClick={copy}>
      <span aria-live="polite">{said || props.label || "Copy"}</span>
    </button>
  );
}

/** A command line that can be pasted into a terminal. */
export function Command({ text, label = "Command" }: { text: string; label?: string }) {
  return (
    <div class="command" role="group" aria-label={label}>
      <code>{text}</code>
      <CopyButton text={text} title={`Copy: ${text}`} />
    </div>
  );
}

/** Progress from 0 to 1; null: not known. */
export function Progress({ label, value }: { label: string; value: number | null }) {
  return <progress class="progress" aria-label={label} max={1} value={value === null ? undefined : Math.max(0, Math.min(1, value))} />;
}

/** A swatch of a kernel's colour and its name. */
export function Swatch({ colour, children }: { colour: string; children: ComponentChildren }) {
  return (
    <span class="swatch">
      <i style={{ background: colour }} aria-hidden="true" />
      {children}
    </span>
  );
}

/** Names and values, one below the other. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren] | null | false | undefined)[] }) {
  return (
    <dl class="facts">
      {rows.map(
        (row) =>
          row && (
            <div key={row[0]}>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export interface TableColumn<T> {
  name: string; // heading
  cell: (row: T) => ComponentChildren;
  /** What to sort by; without it the column cannot be sorted. null sorts last. */
  sort?: (row: T) => number | string | null;
  number?: boolean; // right-aligned, tabular
  title?: string;
  class?: string;
}

/** A table that sorts by its headings and shows at most `most` rows until more are asked for. */
export function Table<T>(props: {
  label: string;
  columns: readonly TableColumn<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string | number;
  rowClass?: (row: T) => string;
  onRow?: (row: T) => void; // a click on a row; give a link in a cell too, for the keyboard
  sortBy?: string; // the heading to begin with
  descending?: boolean;
  most?: number;
  empty?: string;
}) {
  const [by, setBy] = useState(props.sortBy ?? "");
  const [down, setDown] = useState(props.descending ?? false);
  const [most, setMost] = useState(props.most ?? 200);
  const rows = useMemo(() => {
    const sort = props.columns.find((column) => column.name === by)?.sort;
    if (!sort) return props.rows;
    const sign = down ? -1 : 1;
    return props.rows
      .map((row, index) => ({ row, index, value: sort(row) }))
      .sort((a, b) => compareCells(a.value, b.value, sign) || a.index - b.index)
      .map((entry) => entry.row);
  }, [props.rows, props.columns, by, down]);
  const click = (column: TableColumn<T>) => {
    setDown(column.name === by ? !down : !!column.number);
    setBy(column.name);
  };
  return (
    <div class="table-scroll" role="region" aria-label={props.label} tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            {props.columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                class={`${column.number ? "number" : ""} ${column.class ?? ""}`}
                title={column.title}
                aria-sort={column.name === by ? (down ? "descending" : "ascending") : undefined}
              >
                {column.sort ? (
                  <button type="button" onClick={() => click(column)}>
                    {column.name}
                  </button>
                ) : (
                  column.name
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <tr
              key={props.rowKey(row)}
              class={`${props.onRow ? "clickable" : ""} ${props.rowClass?.(row) ?? ""}`}
              onClick={props.onRow && ((event) => onRowClick(event, () => props.onRow!(row)))}
            >
              {props.columns.map((column) => (
                <td key={column.name} class={`${column.number ? "number" : ""} ${column.class ?? ""}`}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="table-empty">{props.empty ?? "Nothing to show."}</p>}
      {rows.length > most && (
        <p class="table-more">
          {most} of {rows.length} rows.{" "}
          <button type="button" class="button" onClick={() => setMost(most + 1000)}>
            Show more
          </button>
        </p>
      )}
    </div>
  );
}

/** null sorts last in both directions. */
function compareCells(a: number | string | null, b: number | string | null, sign: number): number {
  if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

/** A click on a row, unless it was meant for a link, a button or a field in it, or selects text. */
function onRowClick(event: MouseEvent, act: () => void): void {
  const target = event.target as Element;
  if (target.closest("a, button, input, label, select") || window.getSelection()?.toString()) return;
  act();
}
