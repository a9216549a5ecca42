import { type Reply, reasoningOf } from "../core/reply.ts";

/** Reasoning that came as text: `<think>...</think>` in front of the answer. */
export interface Thought {
  /** `none`: the text holds no thought; `open`: it ends inside one. */
  readonly state: "none" | "open" | "closed";
  /** Where the answer begins, in characters; the text's end where there is none yet. */
  readonly answerAt: number;
}

const OPENER = "<think>";
const CLOSER = "</think>";

/**
 * Templates often write the opening tag themselves, so that a text may hold only the closing one. A tag set in back-ticks is spoken of,
 * not used. Reads the text as a whole: tags split over events are no matter.
 */
export function thinkState(text: string): Thought {
  const opens = text.trimStart().startsWith(OPENER);
  const from = opens ? text.indexOf(OPENER) + OPENER.length : 0;
  const closer = tagAt(text, CLOSER, from);
  if (opens) {
    return closer === -1
      ? { state: "open", answerAt: text.length }
      : { state: "closed", answerAt: closer + CLOSER.length };
  }
  const begunByTemplate = closer !== -1 && !text.slice(0, closer).includes(OPENER);
  return begunByTemplate ? { state: "closed", answerAt: closer + CLOSER.length } : { state: "none", answerAt: 0 };
}

/** The part of a text that is answer, not thought. */
export function answerOf(text: string): string {
  return text.slice(thinkState(text).answerAt);
}

function tagAt(text: string, tag: string, from: number): number {
  let at = text.indexOf(tag, from);
  while (at !== -1 && text[at - 1] === "`" && text[at + tag.length] === "`") at = text.indexOf(tag, at + tag.length);
  return at;
}

/**
 * The same of text that comes piece by piece. A thought is known in time only if it opens itself: where the template has written the tag,
 * it is taken for text until the closer comes.
 */
export class ThoughtScan {
  #at: "start" | "thought" | "answer" = "start";
  /** At the start all text so far; within a thought its end, in which a closer may have begun. */
  #before = "";

  /** @returns how many characters at the beginning of this piece are thought */
  push(piece: string): number {
    if (this.#at === "answer") return 0;
    const before = this.#before.length;
    const text = this.#before + piece;
    if (this.#at === "start") {
      const begun = text.trimStart();
      this.#at = begun.startsWith(OPENER) ? "thought" : OPENER.startsWith(begun) ? "start" : "answer";
      this.#before = this.#at === "start" ? text : "";
      if (this.#at !== "thought") return 0;
    }
    const closer = tagAt(text, CLOSER, 0);
    this.#at = closer === -1 ? "thought" : "answer";
    this.#before = text.slice(-CLOSER.length);
    return closer === -1 ? piece.length : Math.max(0, closer + CLOSER.length - before);
  }
}

/** Visible reasoning that may be sent back to be gone on with: what is signed or encrypted is never edited. */
export function openThought(reply: Reply): string {
  return reply.blocks.some((block) => block.kind === "reasoning" && block.sealed) ? "" : reasoningOf(reply);
}
