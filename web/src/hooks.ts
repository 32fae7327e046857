// SPDX-License-Identifier: Apache-2.0
// What views share of state: an answer that loads, the model of a run, the theme.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Parameters, ask } from "./api.js";
import { type Edges, type RunModel, modelOf } from "./model.js";
import { showKernels } from "./palette.js";

/** Something that loads: nothing yet, a value, or the sentence that says why there is none, or no newer one. */
export interface Loaded<T> {
  value: T | null;
  error: string;
  busy: boolean;
}

const sentence = (error: unknown) => (error instanceof Error ? error.message : String(error));

/**
 * Runs `load` when `keys` change. The last value stays while the next one loads, unless the first key changed: then it
 * would be an answer about something else.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T> | null, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { about: unknown }>({ value: null, error: "", busy: true, about: keys[0] });
  useEffect(() => {
    const abort = new AbortController();
    const work = load(abort.signal);
    if (!work) {
      setState({ value: null, error: "", busy: false, about: keys[0] });
      return undefined;
    }
    setState((old) => ({ value: old.about === keys[0] ? old.value : null, error: "", busy: true, about: keys[0] }));
    work.then(
      (value) => !abort.signal.aborted && setState({ value, error: "", busy: false, about: keys[0] }),
      (error) =>
        !abort.signal.aborted &&
        setState((old) => ({ value: old.about === keys[0] ? old.value : null, error: sentence(error), busy: false, about: keys[0] })),
    );
    return () => abort.abort();
  }, keys);
  return state.about === keys[0] ? state : { value: null, error: "", busy: true };
}

/** An answer in JSON. `parameters` null: ask nothing now. `generation`: ask again when it changes. */
export function useAsk<T>(name: string, parameters: Parameters | null, generation = 0): Loaded<T> {
  const text = parameters ? `${name} ${JSON.stringify(parameters)}` : "";
  return useLoaded<T>((signal) => (parameters ? ask<T>(name, parameters, signal) : null), [text, generation]);
}

/** The model of a run; the old one stays while a grown run loads. */
export function useModel(key: string | undefined, generation = 0): Loaded<RunModel> {
  return useLoaded<RunModel>(
    () =>
      key === undefined
        ? null
        : modelOf(key).then((model) => {
            showKernels(key, model.kernels);
            return model;
          }),
    [key, generation],
  );
}

/** The edges of a model: null while they load and if there are none, in which case `error` says why. */
export function useEdges(model: RunModel | null): Loaded<Edges> {
  const [state, setState] = useState<Loaded<Edges> & { of: RunModel | null }>({ value: null, error: "", busy: true, of: null });
  useEffect(() => {
    let gone = false;
    void model?.loadEdges().then((edges) => {
      if (!gone) setState({ value: edges, error: edges ? "" : model.edgesError, busy: false, of: model });
    });
    return () => {
      gone = true;
    };
  }, [model]);
  return model && state.of === model ? state : { value: null, error: "", busy: model !== null };
}

/** Counts up when the theme changes, so that canvases draw again with the new tokens. */
export function useThemeChange(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const changed = () => setCount((old) => old + 1);
    window.addEventListener("theme", changed);
    return () => window.removeEventListener("theme", changed);
  }, []);
  return count;
}

/** The size of an element in CSS pixels, followed as it changes. */
export function useSize<T extends HTMLElement>(): [{ current: T | null }, { width: number; height: number }] {
  const element = useRef<T>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry.contentRect;
      setSize({ width, height });
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, size];
}

/** True if a key event belongs to a text field, a menu or a combination of the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  const target = event.target;
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** True if a key that was pressed outside of a picture is meant for it. Keys that press a button are not, nor those that
 * scroll the page if it scrolls. */
export function isForPicture(event: KeyboardEvent, picture: Element, pageScrolls = true): boolean {
  if (event.defaultPrevented || isTyping(event) || document.querySelector("dialog[open]")) return false;
  const isOutside = !(event.target instanceof Node && picture.contains(event.target));
  if (!isOutside) return false;
  const hasFocus = event.target !== document.body && event.target !== document.getElementById("main");
  return pageScrolls || hasFocus ? !/^(Enter| |Arrow.*|Page.*|Home|End)$/.test(event.key) : true;
}
