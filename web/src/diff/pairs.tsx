// SPDX-License-Identifier: Apache-2.0
// The pairs that differ: sorted, filtered, walked through with keys.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, plural } from "../format.js";
import { isTyping } from "../hooks.js";
import { go, linkTo } from "../route.js";
import { stageText } from "../views/record-words.js";
import { Panel } from "../widgets.js";
import { type DiffPair, PAIR_ORDERS, type PairOrder, filterPairs, pairKey, pairSize, reasonText, sortPairs, taskName } from "./report.js";
import type { Runs } from "./suspects.js";

const ORDER_TEXT: Record<PairOrder, string> = {
  run: "As in the run",
  relative: "By relative error",
  absolute: "By absolute error",
  ulp: "By ulp",
  mismatches: "By mismatches",
};
const PAGE = 200;

function shortSize(pair: DiffPair, order: PairOrder): string {
  const shown = order === "run" ? "relative" : order;
  const value = pairSize(pair, shown);
  if (Number.isNaN(value)) return pair.verdict;
  const text = value !== 0 && (value >= 1e5 || value < 1e-3) ? value.toExponential(1).replace("e+", "e") : String(Number(value.toPrecision(3)));
  return `${text} ${{ relative: "rel", absolute: "abs", ulp: "ulp", mismatches: "wrong" }[shown]}`;
}

export function Pairs({ pairs, runs, chosen }: { pairs: readonly DiffPair[]; runs: Runs; chosen: string }) {
  const [text, setText] = useState("");
  const [order, setOrder] = useState<PairOrder>("run");
  const [most, setMost] = useState(PAGE);
  const shown = useMemo(() => sortPairs(filterPairs(pairs, text), order), [pairs, text, order]);
  const list = useRef<HTMLUListElement>(null);
  const link = (pair: DiffPair) => ({ run: runs.a, other: runs.b, pair: pairKey(pair) });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || (event.key !== "j" && event.key !== "k")) return;
      const at = shown.findIndex((pair) => pairKey(pair) === chosen);
      const next = shown[event.key === "j" ? at + 1 : Math.max(at - 1, 0)];
      if (next) go("diff", link(next));
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [shown, chosen]);
  // Only the list scrolls to the chosen pair; the page stays where it is.
  useEffect(() => {
    const box = list.current;
    const item = box?.querySelector<HTMLElement>("[aria-current]");
    if (!box || !item) return;
    const [top, bottom] = [item.offsetTop - box.offsetTop, item.offsetTop - box.offsetTop + item.offsetHeight];
    if (top < box.scrollTop) box.scrollTop = top;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }, [chosen, shown]);
  const title = pairs.some((pair) => pair.verdict === "unknown") ? "Differing or undecided" : "Differing arguments";
  return (
    <Panel title={title} actions={<span class="faint">{shown.length === pairs.length ? formatCount(pairs.length) : `${formatCount(shown.length)} of ${formatCount(pairs.length)}`}</span>}>
      <div class="toolbar pairs-tools">
        <input type="search" placeholder="Filter: kernel, task, arg…" aria-label="Filter the differing arguments" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <select aria-label="Order" value={order} onChange={(event) => setOrder(event.currentTarget.value as PairOrder)}>
          {PAIR_ORDERS.map((name) => (
            <option key={name} value={name}>
              {ORDER_TEXT[name]}
            </option>
          ))}
        </select>
      </div>
      <ul class="pairs" ref={list} tabIndex={0} aria-label={title}>
        {shown.slice(0, most).map((pair) => (
          <li key={pairKey(pair)}>
            <a class="pair" href={linkTo("diff", link(pair))} aria-current={pairKey(pair) === chosen ? "true" : undefined}>
              <span class="pair-task">{taskName(pair)}</span>
              <span class="pair-size mono">{shortSize(pair, order)}</span>
              <span class="pair-what faint">
                {stageText(pair.stage)}, {pair.role} arg {pair.arg_index}
                {pair.values ? `, ${formatCount(pair.values.mismatches)} of ${formatCount(pair.values.elements)}` : `: ${reasonText(pair.reason)}`}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="faint">{pairs.length === 0 ? "No argument differs." : "No argument has these words."}</p>}
      {shown.length > most && (
        <button type="button" class="button" onClick={() => setMost(most + 1000)}>
          Show more of {plural(shown.length, "argument")}
        </button>
      )}
    </Panel>
  );
}
