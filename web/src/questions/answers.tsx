// SPDX-License-Identifier: Apache-2.0
// The answer to a question, for people. A new verb gets a line here; without one its JSON is shown.
import { CheckAnswer, StatsAnswer, VerifyAnswer } from "./answer-check.js";
import { ExplainAnswer } from "./answer-explain.js";
import { FindAnswer, RaceAnswer } from "./answer-find.js";
import { PathAnswer } from "./answer-path.js";
import { type Json, textOf } from "./json.js";
import { LeftOut, NotKnown, Raw } from "./parts.js";

function Readable({ verb, what, run, answer }: { verb: string; what: string; run: string; answer: Json }) {
  if (verb === "find") return what === "race" ? <RaceAnswer run={run} answer={answer} /> : <FindAnswer run={run} answer={answer} />;
  if (verb === "check") return <CheckAnswer run={run} answer={answer} />;
  if (verb === "stats") return <StatsAnswer run={run} answer={answer} />;
  if (verb === "verify") return <VerifyAnswer answer={answer} />;
  if (verb === "explain") return <ExplainAnswer run={run} answer={answer} />;
  if (verb === "path") return <PathAnswer run={run} answer={answer} />;
  return null;
}

/** Documents that only say that nothing could be judged have few members. */
function isBare(answer: Json): boolean {
  return textOf(answer.result) === "not known" && Object.keys(answer).every((name) => ["recording", "result", "reason", "left_out"].includes(name));
}

export function Answer(props: { verb: string; what: string; run: string; answer: Json }) {
  return (
    <div class="answer">
      {isBare(props.answer) ? (
        <>
          <NotKnown answer={props.answer} />
          <LeftOut answer={props.answer} />
        </>
      ) : (
        <Readable {...props} />
      )}
      <Raw answer={props.answer} />
    </div>
  );
}
