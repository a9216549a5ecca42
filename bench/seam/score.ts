import type { Case } from "./case.ts";
import type { Result } from "./drive.ts";

/** Sums over the cases of one row of the table. */
export interface Score {
  cases: number;
  exact: number;
  /** Left cut, and what the client has is a true beginning of the reply. */
  honest: number;
  /** Of these, where the server wrote the reply and the text does not repeat itself: a sure answer was to be had. */
  missed: number;
  /** Told as whole, or as cut, with text that is not the reply's. */
  wrong: number;
  /** Characters of the reply that wrong joins lost, and that they doubled or made up. */
  lost: number;
  doubled: number;
  /** Cases in which text of the reply was removed. */
  falseRemovals: number;
  /** Streamed and plain ended differently. */
  unequal: number;
  seams: number;
  /** Characters that had come of a pass when it was released. */
  held: number;
  /** Passes until the client saw text again. */
  passes: number;
  /** Characters generated and not delivered, dropped overlaps included. */
  wasted: number;
}

export function emptyScore(): Score {
  return {
    cases: 0,
    exact: 0,
    honest: 0,
    missed: 0,
    wrong: 0,
    lost: 0,
    doubled: 0,
    falseRemovals: 0,
    unequal: 0,
    seams: 0,
    held: 0,
    passes: 0,
    wasted: 0,
  };
}

/** The behaviour allows a sure answer: the server writes the reply, and no unit of it stands next to itself. */
function isDue({ way, server, chat, sample }: Case): boolean {
  return (way === "nudge" ? server.true : chat.true) && !sample.repeats;
}

export function add(score: Score, one: Case, result: Result, other: Result | null): void {
  const truth = one.sample.text;
  score.cases++;
  score.wasted += result.wasted;
  for (const { passes, held } of result.seams) {
    score.seams++;
    score.passes += passes;
    score.held += held;
  }
  if (other !== null && (other.text !== result.text || other.cut !== result.cut)) score.unequal++;
  if (result.text === truth && !result.cut) score.exact++;
  else if (result.cut && truth.startsWith(result.text)) {
    score.honest++;
    if (isDue(one)) score.missed++;
  } else blame(score, truth, result.text);
}

/** What lies between the common beginning and the common end. */
function blame(score: Score, truth: string, text: string): void {
  let start = 0;
  while (start < truth.length && truth[start] === text[start]) start++;
  let end = 0;
  const most = Math.min(truth.length, text.length) - start;
  while (end < most && truth.at(-1 - end) === text.at(-1 - end)) end++;
  const lost = truth.length - start - end;
  score.wrong++;
  score.lost += lost;
  score.doubled += text.length - start - end;
  if (lost > 0) score.falseRemovals++;
}
