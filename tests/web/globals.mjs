// SPDX-License-Identifier: Apache-2.0
// What modules of the page look at while they are loaded. A unit test that needs more makes it itself.
const nothing = () => {};

globalThis.window ??= globalThis;
globalThis.document ??= {
  getElementById: () => null,
  querySelector: () => null,
  addEventListener: nothing,
  documentElement: { dataset: {}, style: {} },
};
globalThis.location ??= { hash: "", href: "http://127.0.0.1/", pathname: "/" };
globalThis.history ??= { replaceState: (_state, _title, link) => (globalThis.location.hash = link) };
globalThis.addEventListener ??= nothing;
globalThis.removeEventListener ??= nothing;
globalThis.dispatchEvent ??= () => true;
globalThis.matchMedia ??= () => ({ matches: false, addEventListener: nothing, removeEventListener: nothing });
globalThis.localStorage ??= { getItem: () => null, setItem: nothing, removeItem: nothing };
globalThis.requestAnimationFrame ??= (call) => setTimeout(() => call(performance.now()), 0);
globalThis.cancelAnimationFrame ??= clearTimeout;
