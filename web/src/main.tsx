// SPDX-License-Identifier: Apache-2.0
// Starts the page.
import { render } from "preact";
import { Shell } from "./shell.js";
import "./style.css";
import { applyTheme, savedTheme, watchSystemTheme } from "./theme.js";

applyTheme(savedTheme());
watchSystemTheme();
const root = document.getElementById("app");
if (root) render(<Shell />, root);
