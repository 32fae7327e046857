// SPDX-License-Identifier: Apache-2.0
// Light, dark, or what the system says. The choice is kept in the browser where it allows that.
import { forgetTokens } from "./palette.js";

export type Theme = "auto" | "light" | "dark";
const KEY = "taskglass.theme";

export function savedTheme(): Theme {
  try {
    const saved = localStorage.getItem(KEY);
    return saved === "light" || saved === "dark" ? saved : "auto";
  } catch {
    return "auto"; // pages from files and private windows may refuse
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "auto") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // the choice lasts as long as the page
  }
  announce();
}

function announce(): void {
  forgetTokens();
  window.dispatchEvent(new Event("theme"));
}

/** Canvases follow the system while the choice is "auto". */
export function watchSystemTheme(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", announce);
}
