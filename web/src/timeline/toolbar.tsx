// SPDX-License-Identifier: Apache-2.0
// The row above the timeline: search, colours, depth of dependencies, waits, critical path, zoom.
import { useEffect, useState } from "preact/hooks";
import { isStatic } from "../api.js";
import { formatCount, formatNs } from "../format.js";
import type { RunModel } from "../model.js";
import { kernelColour, rampColour, toCss } from "../palette.js";
import { Segmented, Swatch } from "../widgets.js";
import { COLOUR_CHOICES, type ColourBy, type Keys } from "./data.js";
import type { Matches } from "./search.js";

const SEARCH_MS = 200;
const MOST_LEGEND = 10;

export interface ToolbarProps {
  find: string;
  matches: Matches | null;
  matchIndex: number; // of the one that is selected; -1
  colour: ColourBy;
  depth: number;
  waits: boolean;
  waitsWhy: string; // why it cannot be shown; ""
  path: boolean;
  pathState: string; // "", "working", or why there is none
  live: boolean;
  follow: boolean;
  searchField: { current: HTMLInputElement | null };
  onFind: (text: string) => void;
  onMatch: (step: -1 | 1) => void;
  onColour: (colour: ColourBy) => void;
  onDepth: (depth: number) => void;
  onWaits: (waits: boolean) => void;
  onPath: (path: boolean) => void;
  onFollow: (follow: boolean) => void;
  onZoom: (action: "in" | "out" | "all") => void;
}

export function Toolbar(props: ToolbarProps) {
  return (
    <div class="toolbar timeline-tools" role="group" aria-label="Timeline">
      <Search {...props} />
      <Segmented
        label="Colour by"
        value={props.colour}
        choices={COLOUR_CHOICES.map((value) => ({ value, text: value, title: `Colour by ${value}` }))}
        onChange={props.onColour}
      />
      <label title="How many steps of dependencies of the selected task are drawn">
        <span>Arrows</span>
        <select value={String(props.depth)} onChange={(event) => props.onDepth(Number(event.currentTarget.value))}>
          <option value="0">none</option>
          {[1, 2, 3, 4, 5].map((depth) => (
            <option key={depth} value={String(depth)}>
              depth {depth}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="button"
        aria-pressed={props.waits}
        disabled={props.waitsWhy !== ""}
        title={props.waitsWhy || "Show for each task how long it was ready and waited (r)"}
        onClick={() => props.onWaits(!props.waits)}
      >
        Ready, waiting
      </button>
      {!isStatic && (
        <button type="button" class="button" aria-pressed={props.path} title="What the length of the run depends on (c)" onClick={() => props.onPath(!props.path)}>
          {props.path && props.pathState === "working" ? "Looking for the path…" : "Critical path"}
        </button>
      )}
      {props.live && (
        <button type="button" class="button" aria-pressed={props.follow} onClick={() => props.onFollow(!props.follow)}>
          Follow
        </button>
      )}
      <span class="spread" />
      <div class="segmented" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" title="Zoom out (s)" onClick={() => props.onZoom("out")}>
          −
        </button>
        <button type="button" aria-label="Zoom in" title="Zoom in (w)" onClick={() => props.onZoom("in")}>
          +
        </button>
        <button type="button" title="The whole run (0)" onClick={() => props.onZoom("all")}>
          All
        </button>
      </div>
    </div>
  );
}

function Search(props: ToolbarProps) {
  const [text, setText] = useState(props.find);
  useEffect(() => setText(props.find), [props.find]);
  useEffect(() => {
    if (text === props.find) return undefined;
    const timer = setTimeout(() => props.onFind(text), SEARCH_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const count = props.matches?.tasks.length ?? 0;
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      if (text !== props.find) props.onFind(text);
      else props.onMatch(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      if (text) setText("");
      else props.searchField.current?.blur();
    } else return;
    event.preventDefault();
  };
  return (
    <div class="timeline-search" role="search">
      <input
        ref={props.searchField}
        type="search"
        aria-label="Search tasks"
        placeholder="Search: id, kernel, scope ( / )"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={keys}
      />
      {props.matches && (
        <>
          <span class="timeline-found" role="status">
            {count === 0 ? "none" : `${props.matchIndex < 0 ? "" : `${formatCount(props.matchIndex + 1)} of `}${formatCount(count)}`}
          </span>
          <button type="button" class="button quiet" aria-label="Previous match" title="Previous match (p)" disabled={!count} onClick={() => props.onMatch(-1)}>
            ↑
          </button>
          <button type="button" class="button quiet" aria-label="Next match" title="Next match (n)" disabled={!count} onClick={() => props.onMatch(1)}>
            ↓
          </button>
        </>
      )}
    </div>
  );
}

/** What the colours mean. A click on a kernel searches for it. */
export function Legend({ model, keys, onFind }: { model: RunModel; keys: Keys; onFind: (text: string) => void }) {
  if (keys.by === "core") return <p class="legend faint">Each core has its colour; ten colours repeat.</p>;
  if (keys.by === "duration" && keys.range)
    return (
      <p class="legend faint">
        <Swatch colour={toCss(rampColour(0))}>{formatNs(keys.range.least)}</Swatch>
        <Swatch colour={toCss(rampColour(0.5))}>{formatNs(Math.sqrt(keys.range.least * keys.range.most))}</Swatch>
        <Swatch colour={toCss(rampColour(1))}>{formatNs(keys.range.most)}</Swatch>
      </p>
    );
  return (
    <ul class="legend" aria-label="Kernels">
      {model.kernels.slice(0, MOST_LEGEND).map((name) => (
        <li key={name}>
          <button type="button" class="link" title={`Search for ${name}`} onClick={() => onFind(name)}>
            <Swatch colour={kernelColour(name)}>{name}</Swatch>
          </button>
        </li>
      ))}
      {model.kernels.length > MOST_LEGEND && <li class="faint">and {model.kernels.length - MOST_LEGEND} more kernels</li>}
    </ul>
  );
}
