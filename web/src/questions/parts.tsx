// SPDX-License-Identifier: Apache-2.0
// What answers have in common: the sentence of the result, what was left out, the document itself.
import type { ComponentChildren } from "preact";
import { Badge, CopyButton, Note, type Tone } from "../widgets.js";
import { type Json, listOf, textOf } from "./json.js";

/** The result as a word and a sentence. */
export function Result({ tone, word, children }: { tone: Tone; word: string; children: ComponentChildren }) {
  return (
    <p class="answer-result">
      <Badge tone={tone}>{word}</Badge> {children}
    </p>
  );
}

/** What nobody can say is said to be so, with the reason. */
export function NotKnown({ answer }: { answer: Json }) {
  return (
    <Result tone="warn" word="not known">
      {textOf(answer.reason) || "The recording does not say."}
    </Result>
  );
}

export function LeftOut({ answer }: { answer: Json }) {
  const notes = [...listOf(answer.left_out), ...listOf(answer.notes)].map(textOf).filter(Boolean);
  const deps = textOf(answer.deps_error);
  if (deps) notes.push(`deps.json could not be read: ${deps}`);
  return (
    <>
      {notes.map((text) => (
        <Note key={text}>{text}</Note>
      ))}
    </>
  );
}

export function Raw({ answer }: { answer: Json }) {
  const text = () => JSON.stringify(answer, null, 2);
  return (
    <details class="answer-raw">
      <summary>The answer as JSON</summary>
      <p>
        <CopyButton text={text} label="Copy the JSON" />
      </p>
      <RawText text={text} />
    </details>
  );
}

const MOST = 200_000;

function RawText({ text }: { text: () => string }) {
  const all = text();
  return (
    <>
      <pre class="answer-json" tabIndex={0} aria-label="The answer as JSON">
        {all.slice(0, MOST)}
      </pre>
      {all.length > MOST && <Note>This is the beginning; copying gives all of it.</Note>}
    </>
  );
}
