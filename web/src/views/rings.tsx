// SPDX-License-Identifier: Apache-2.0
// The view Rings: what the scopes of a run used of its rings. rings/ has what it shows, and the page of
// `taskglass scope` shows the same.
import { useEffect, useRef, useState } from "preact/hooks";
import { useAsk } from "../hooks.js";
import { RingsBoard } from "../rings/board.js";
import type { RingsDocument } from "../rings/document.js";
import "../rings/rings.css";
import { linkTo } from "../route.js";
import { Command, EmptyState, ErrorLine, Loading } from "../widgets.js";
import type { View, ViewProps } from "./view.js";

function Board({ run, data, live }: { run: string; data: RingsDocument; live: boolean }) {
  const root = useRef<HTMLDivElement>(null);
  const seen = useRef<{ from: number; to: number } | null>(null); // a part that the user looks at
  const [broken, setBroken] = useState("");
  useEffect(() => {
    const element = root.current;
    if (!element) return undefined;
    let board: RingsBoard;
    try {
      const links = (site: string) => [
        { text: "Graph", address: linkTo("graph", { run, scope: site }) },
        { text: "Timeline", address: linkTo("timeline", { run, find: site }) },
      ];
      board = new RingsBoard(data, element, { links, isLive: live });
    } catch (error) {
      setBroken(error instanceof Error ? error.message : String(error));
      return undefined;
    }
    setBroken("");
    if (seen.current) board.range.show(seen.current.from, seen.current.to);
    const again = () => board.drawSoon();
    window.addEventListener("theme", again);
    return () => {
      seen.current = board.range.isAll ? null : { from: board.range.from, to: board.range.to };
      window.removeEventListener("theme", again);
      board.end();
      element.replaceChildren();
    };
  }, [run, data, live]);
  return (
    <>
      {live && <p class="note">The run goes on: this follows it.</p>}
      {broken && <ErrorLine>The samples cannot be shown: {broken}</ErrorLine>}
      <div ref={root} />
    </>
  );
}

function Rings({ run, generation }: ViewProps) {
  const key = run?.key;
  const { value, error, busy } = useAsk<RingsDocument>("rings", key === undefined ? null : { run: key }, generation);
  if (!run) return null;
  if (value) return <Board run={run.key} data={value} live={run.live} />;
  if (busy) return <Loading>Reading what the scopes used</Loading>;
  return (
    <EmptyState title="This run has no statistics of scopes">
      <p>{error}</p>
      <p>A run whose graph the device builds takes them if it is asked to:</p>
      <Command text="taskglass run WORKLOAD --runtime tensormap_and_ringbuffer --enable-scope-stats" />
    </EmptyState>
  );
}

export const ringsView: View = { name: "rings", title: "Rings", key: "o", needsRun: true, component: Rings };
