// SPDX-License-Identifier: Apache-2.0
// Makes elements. Texts become text nodes: a name of a stranger stays a name.

type Attributes = Record<string, string | boolean | number>;
type Child = Node | string | null;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function button(text: string, attributes: Attributes, act: () => void): HTMLButtonElement {
  const made = make("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}
