import { Aligner, type Match, placesIn } from "./aligner.ts";
import {
  characterAt,
  characterBefore,
  inkEnd,
  inkStart,
  isBlank,
  isUnspaced,
  isWordy,
  startsWord,
} from "./characters.ts";
import { opensFence } from "./fence.ts";
import { type Ink, inkOf, proves, provesRestart, standsAt } from "./ink.ts";
import { type Meeting, meet } from "./joint.ts";
import { landing } from "./landing.ts";
import { isPreamble, isRemark } from "./remarks.ts";
import { discard, HOLD, type SeamVerdict } from "./verdict.ts";

/** Units of a new turn's head in which a remark or a preamble shows itself. */
const REMARK_HEAD = 64;
/** Units in which the first word of a reply is looked for. */
const LONGEST_WORD = 40;
const SUSPECT = 4;
const SUSPECT_IN_FENCE = 8;

/**
 * Looks for signs that a server opened a new turn instead of resuming the message: the reply's own text from the top or from the start of
 * a line or clause, a remark on the cut, two words glued together. A repeat is dropped where it can be nothing else.
 */
export class NewTurn {
  readonly #sent: string;
  readonly #ink: Ink;
  readonly #aligner: Aligner;
  readonly #body: number;
  readonly #suspect: number;
  #meeting: Meeting = "wait";

  constructor(sent: string) {
    this.#sent = sent;
    this.#body = bodyOf(sent);
    this.#ink = inkOf(sent);
    this.#suspect = suspectOf(sent, this.#body);
    this.#aligner = new Aligner(
      this.#ink,
      placesIn(this.#ink, (at) => startsWord(sent, at) && standsAt(sent, at) !== "middle"),
    );
  }

  take(unit: number, at: number): void {
    if (!isBlank(unit)) this.#aligner.push(unit, at);
  }

  /** The joint itself shows that the message was resumed. */
  get resumed(): boolean {
    return this.#meeting === "resumed";
  }

  /** null: nothing speaks for a new turn. */
  verdict(head: string, whole: boolean): SeamVerdict | null {
    if (this.#aligner.crowded) return discard("ambiguous");
    if (this.#aligner.live && !whole) return HOLD;
    const repeat = this.#repeats(head, whole);
    if (repeat !== null) return repeat;
    const reachedFromTop = this.#aligner.reachedFromTop;
    if (reachedFromTop > 0 && this.#provesFromTop(reachedFromTop)) return discard("restart_diverged");
    if (this.#meeting === "wait") this.#meeting = meet(this.#sent, head, whole);
    const meeting = this.#meeting;
    if (meeting === "wait") return HOLD;
    if (meeting === "resumed") return null;
    if (reachedFromTop >= this.#suspect) return discard("ambiguous");
    if (meeting === "glued") return discard("glued");
    const line = /^[^\n]*[\n:：]/u.exec(head.trimStart())?.[0] ?? (whole ? head : "");
    if (isRemark(head) || isPreamble(line)) return discard("comment_only");
    return head.length < REMARK_HEAD && !whole ? HOLD : null;
  }

  #repeats(head: string, whole: boolean): SeamVerdict | null {
    const { done } = this.#aligner;
    const [match] = done;
    if (match === undefined) return null;
    const again = this.#sent.slice(match.from, inkEnd(this.#sent));
    const certain =
      done.length === 1 &&
      proves(again, standsAt(this.#sent, match.from) === "line") &&
      (this.#breaksIn(match) || this.#isRestart(match));
    if (!certain || this.#aligner.reachedFromTop > inkOf(again).text.length) return discard("ambiguous");
    const start = landing(this.#sent, head, match, this.#sent.length, whole);
    if (start === "wait") return HOLD;
    if (start === null) return discard("ambiguous");
    const how = match.from === inkStart(this.#sent) ? "restart" : "overlap";
    return { do: "release", drop: start, overlap: this.#sent.length - match.from, how };
  }

  /** The repeat begins in the middle of a word or sentence, where text that rightly repeats cannot. */
  #breaksIn(match: Match): boolean {
    return match.start === 0 && isWordy(characterBefore(this.#sent, this.#sent.length));
  }

  #isRestart(match: Match): boolean {
    return match.from === inkStart(this.#sent) && provesRestart(this.#sent);
  }

  /** It began as the reply does, so far that it is no coincidence, and then went another way. */
  #provesFromTop(reached: number): boolean {
    if (reached === this.#ink.text.length) return false;
    return proves(this.#sent.slice(this.#body, (this.#ink.at[reached - 1] ?? 0) + 1), false);
  }
}

/** Where a reply begins that may begin with a fence: a fence opened again is no new beginning. */
function bodyOf(sent: string): number {
  const start = inkStart(sent);
  const end = /[\n\r]$/.test(sent) ? sent.indexOf("\n", start) : -1;
  return end >= 0 && opensFence(sent.slice(start, end).trimEnd()) !== null ? end : start;
}

/** Units of ink at the reply's beginning that make a pass suspect which begins with them: the first word, or 4 units of it. */
function suspectOf(sent: string, body: number): number {
  const start = inkStart(sent);
  if (body > start) return inkOf(sent.slice(start, body)).text.length + SUSPECT_IN_FENCE;
  const word = /^[^\p{L}\s]*(?:\p{L}\p{M}*)*/u.exec(sent.slice(start, start + LONGEST_WORD))?.[0] ?? "";
  return Math.min(Math.max(inkOf(word).text.length, 2), isUnspaced(characterAt(word, 0)) ? 2 : SUSPECT);
}
