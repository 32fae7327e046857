// SPDX-License-Identifier: Apache-2.0
// What surrounds every view: the bar with the run, the menu, notes, errors, live progress, keys and help.
import { Component, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type RunEntry, type RunInfo, type Runs, ask, isStatic } from "./api.js";
import { useAsk, useThemeChange } from "./hooks.js";
import { useLive } from "./live.js";
import { modelOf } from "./model.js";
import { type Route, goInstead, linkTo, parseRoute } from "./route.js";
import { HelpDialog, useShellKeys } from "./shell-help.js";
import { LiveStrip } from "./shell-live.js";
import { ChooseRank, RankPicker } from "./shell-ranks.js";
import { FailureStrip, RunTitle } from "./shell-run.js";
import { type Theme, applyTheme, savedTheme } from "./theme.js";
import { views } from "./views/index.js";
import type { View } from "./views/view.js";
import { CopyButton, EmptyState, ErrorLine, Loading } from "./widgets.js";

const REFRESH_MS = 4000;

/** The route of the address bar. */
function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parseRoute(location.hash));
    for (const event of ["hashchange", "popstate", "noted"]) window.addEventListener(event, changed);
    return () => {
      for (const event of ["hashchange", "popstate", "noted"]) window.removeEventListener(event, changed);
    };
  }, []);
  return route;
}

/** What is served, asked again from time to time while the page is seen. */
function useRuns(): { runs: Runs | null; error: string } {
  const [state, setState] = useState<{ runs: Runs | null; error: string }>({ runs: null, error: "" });
  useEffect(() => {
    let timer = 0;
    let gone = false;
    const load = async () => {
      try {
        const runs = await ask<Runs>("runs");
        if (!gone) setState({ runs, error: "" });
      } catch (error) {
        if (!gone) setState((old) => ({ runs: old.runs, error: error instanceof Error ? error.message : String(error) }));
      }
      if (!gone && !isStatic) timer = window.setTimeout(again, REFRESH_MS);
    };
    const again = () => {
      if (document.visibilityState === "visible") void load();
      else timer = window.setTimeout(again, REFRESH_MS);
    };
    void load();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, []);
  return state;
}

const hasFailed = (entry: RunEntry | undefined) => !!entry?.status && entry.status !== "OK";

/** Where an address without a view leads: to the comparison, to the only run or what went wrong in it, or to the list. */
export function startOf(runs: Runs): { view: string; parameters: Record<string, string> } {
  if (runs.compare) return { view: "diff", parameters: { run: runs.compare.a, other: runs.compare.b } };
  if (runs.only === null) return { view: "runs", parameters: {} };
  const entry = runs.runs.find((run) => run.key === runs.only);
  if (entry?.ranks) return { view: "ranks", parameters: { run: runs.only } };
  return hasFailed(entry)
    ? { view: "questions", parameters: { run: runs.only, verb: "explain" } }
    : { view: "timeline", parameters: { run: runs.only } };
}

export function Shell() {
  const route = useRoute();
  const { runs, error: runsError } = useRuns();
  const [help, setHelp] = useState(false);
  const view = views.find((candidate) => candidate.name === route.view);
  const key = route.parameters.run;
  const entry = runs?.runs.find((run) => run.key === key);
  const [growth, setGrowth] = useState(0);
  const info = useAsk<RunInfo>("run", key === undefined ? null : { run: key }, growth);
  const live = useLive(key, info.value?.live ?? false);
  useEffect(() => setGrowth(live.generation), [live.generation]);
  useEffect(() => {
    // The timeline takes longest, so it is asked for beside what the shell asks. The view says why it fails.
    if (view?.name === "timeline" && key !== undefined) modelOf(key).catch(() => undefined);
  }, [view, key]);
  useShellKeys(route, () => setHelp((open) => !open));

  useEffect(() => {
    if (!runs || view) return;
    const start = startOf(runs);
    goInstead(start.view, start.parameters);
  }, [runs, view]);
  useEffect(() => {
    document.title = [view?.title, info.value?.name, "Taskglass"].filter(Boolean).join(" · ");
  }, [view, info.value?.name]);

  return (
    <div class="app">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href={linkTo("runs", {})} title={runs ? `Taskglass ${runs.version}, ${runs.root}` : "Taskglass"}>
          Taskglass
        </a>
        <RunTitle entry={entry} info={info.value} live={live}>
          {info.value?.ranks && <RankPicker whole={info.value.ranks.key} rank={info.value.ranks.rank} route={route} />}
        </RunTitle>
        <Tools onHelp={() => setHelp(true)} />
        <Menu route={route} view={view} whole={info.value?.ranks?.key} />
      </header>
      {runsError && <ErrorLine>{runsError}</ErrorLine>}
      {key !== undefined && info.error && info.error !== runsError && <ErrorLine>{info.error}</ErrorLine>}
      {info.value && <FailureStrip info={info.value} entry={entry} view={route.view} />}
      {info.value?.live && <LiveStrip run={info.value} live={live} />}
      <main id="main" class={`main view-${route.view}`} tabIndex={-1}>
        <h1 class="off-screen">{view ? `${view.title}${info.value ? ` of ${info.value.name}` : ""}` : "Taskglass"}</h1>
        <Boundary key={route.view}>
          {runs && view ? (
            <ViewOf view={view} route={route} runs={runs} run={info.value} error={info.error} generation={live.generation} />
          ) : (
            !runsError && <Loading />
          )}
        </Boundary>
      </main>
      <HelpDialog open={help} view={view} onClose={() => setHelp(false)} />
    </div>
  );
}

function ViewOf(props: { view: View; route: Route; runs: Runs; run: RunInfo | null; error: string; generation: number }) {
  const { view, route, runs, run, error, generation } = props;
  const key = route.parameters.run;
  const single = runs.runs.length === 1 ? runs.runs[0].key : null;
  useEffect(() => {
    if (view.needsRun && key === undefined && single !== null) goInstead(view.name, { ...route.parameters, run: single });
  }, [view, key, single]);
  if (key !== undefined && !run && !error) return <Loading>Opening the run</Loading>;
  if (view.needsRun && !run)
    return (
      <EmptyState title={error ? "This run cannot be opened" : "Choose a run"}>
        <p>
          <a href={linkTo("runs", {})}>The list of runs</a> has those that are served.
        </p>
      </EmptyState>
    );
  if (view.needsRun && run?.ranks && run.ranks.rank === null && view.name !== "ranks" && view.name !== "questions")
    return <ChooseRank whole={run.ranks.key} route={route} />;
  return <view.component route={route} runs={runs} run={run} generation={generation} />;
}

/** A view that throws must not take the page with it. */
class Boundary extends Component<{ children: ComponentChildren }, { error: string }> {
  state = { error: "" };

  componentDidCatch(error: unknown) {
    this.setState({ error: error instanceof Error ? error.message : String(error) });
  }

  render() {
    return this.state.error ? <ErrorLine>This view failed: {this.state.error}</ErrorLine> : this.props.children;
  }
}

function Menu({ route, view, whole }: { route: Route; view: View | undefined; whole: string | undefined }) {
  const [open, setOpen] = useState(false);
  const { run, other, task } = route.parameters;
  useEffect(() => setOpen(false), [route.view]);
  return (
    <nav class={`menu ${open ? "open" : ""}`} aria-label="Views">
      <button type="button" class="button menu-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        ☰ {view?.title ?? "Views"}
      </button>
      <ul>
        {views.filter((item) => item.name !== "ranks" || whole !== undefined || item === view).map((item) => (
          <li key={item.name}>
            <a
              href={linkTo(item.name, item.name === "ranks" ? { run: whole ?? run } : { run, other, task })}
              aria-current={item === view ? "page" : undefined}
              title={`${item.title} (g ${item.key})`}
            >
              {item.title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const THEMES: readonly { value: Theme; text: string; next: Theme }[] = [
  { value: "auto", text: "Auto", next: "light" },
  { value: "light", text: "Light", next: "dark" },
  { value: "dark", text: "Dark", next: "auto" },
];

function Tools({ onHelp }: { onHelp: () => void }) {
  useThemeChange();
  const theme = THEMES.find((candidate) => candidate.value === savedTheme()) ?? THEMES[0];
  return (
    <div class="tools" role="group" aria-label="Page">
      {!isStatic && <CopyButton text={() => location.href} label="Copy link" title="Copy the address of what you see" class="quiet" />}
      <button type="button" class="button quiet" title="Light, dark, or as the system" onClick={() => applyTheme(theme.next)}>
        {theme.text}
        <span class="off-screen"> theme</span>
      </button>
      <button type="button" class="button quiet" title="Keys (?)" aria-haspopup="dialog" onClick={onHelp}>
        <span class="wide-only">Keys </span>
        <kbd>?</kbd>
      </button>
    </div>
  );
}
