// SPDX-License-Identifier: Apache-2.0
// The keys that work everywhere, and the dialog that lists all keys.
import { useEffect, useRef } from "preact/hooks";
import { isTyping } from "./hooks.js";
import { type Route, go } from "./route.js";
import { views } from "./views/index.js";
import type { View } from "./views/view.js";

const PREFIX_MS = 1500;

/** g and a letter opens a view, ? the help. Keys of a view do not see the letter behind g. */
export function useShellKeys(route: Route, onHelp: () => void): void {
  const latest = useRef({ route, onHelp });
  latest.current = { route, onHelp };
  useEffect(() => {
    let prefixUntil = 0;
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || document.querySelector("dialog[open]")) return;
      const isSecond = performance.now() < prefixUntil;
      prefixUntil = 0;
      if (event.key === "?") {
        latest.current.onHelp();
      } else if (isSecond) {
        const view = views.find((candidate) => candidate.key === event.key);
        const { run, other, task } = latest.current.route.parameters;
        if (view) go(view.name, { run, other, task });
      } else if (event.key === "g") {
        prefixUntil = performance.now() + PREFIX_MS;
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener("keydown", press, { capture: true });
    return () => window.removeEventListener("keydown", press, { capture: true });
  }, []);
}

function Keys({ keys }: { keys: readonly (readonly [string, string])[] }) {
  return (
    <dl class="keys">
      {keys.map(([key, text]) => (
        <div key={key}>
          <dt>
            {key.split(" ").map((one) => (
              <kbd key={one}>{one}</kbd>
            ))}
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

export function HelpDialog({ open, view, onClose }: { open: boolean; view: View | undefined; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <header>
        <h2 id="help-title">Keys</h2>
        <button type="button" class="button quiet" onClick={onClose}>
          Close
        </button>
      </header>
      <div class="help-columns">
        {view?.keys && (
          <section>
            <h3>{view.title}</h3>
            <Keys keys={view.keys} />
          </section>
        )}
        <section>
          <h3>Everywhere</h3>
          <Keys keys={[["?", "this help"], ["Esc", "close, or undo the selection"], ...views.map((item) => [`g ${item.key}`, item.title] as const)]} />
        </section>
      </div>
    </dialog>
  );
}
