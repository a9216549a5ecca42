import { Aligner, type Match, placesIn } from "./aligner.ts";
import { characterBefore, inkEnd, inkStart, isBlank, isWordy, startsWord } from "./characters.ts";
import { opensFence } from "./fence.ts";
import { type Ink, inkOf, proves, provesRestart, standsAt } from "./ink.ts";
import { gluesWords, goesOnMidSentence } from "./joint.ts";
import { landing } from "./landing.ts";
import { isPreamble, isRemark } from "./remarks.ts";
import { discard, HOLD, type SeamVerdict } from "./verdict.ts";

/** Units of a new turn's head in which a remark or a preamble shows itself. */
const REMARK_HEAD = 64;

/**
 * Looks for signs that a server opened a new turn instead of resuming the message: the reply's own text from the top or from the start of
 * a line or clause, a remark on the cut, two words glued together. A repeat is dropped where it can be nothing else.
 */
export class NewTurn {
  readonly #sent: string;
  readonly #ink: Ink;
  readonly #aligner: Aligner;

  constructor(sent: string) {
    this.#sent = sent;
    this.#ink = inkOf(sent);
    this.#aligner = new Aligner(
      this.#ink,
      placesIn(this.#ink, (at) => startsWord(sent, at) && standsAt(sent, at) !== "middle"),
    );
  }

  take(unit: number, at: number): void {
    if (!isBlank(unit)) this.#aligner.push(unit, at);
  }

  /** The joint itself shows that the message was resumed. */
  resumed(head: string): boolean {
    return goesOnMidSentence(this.#sent, head);
  }

  /** null: nothing speaks for a new turn. */
  verdict(head: string, whole: boolean): SeamVerdict | null {
    if (this.#aligner.live && !whole) return HOLD;
    const repeat = this.#repeats(head, whole);
    if (repeat !== null) return repeat;
    if (this.#restarted()) return discard("restart_diverged");
    if (this.resumed(head)) return null;
    const glued = gluesWords(this.#sent, head, whole);
    if (glued !== "no") return glued === "wait" ? HOLD : discard("glued");
    const line = /^[^\n]*[\n:：]/u.exec(head.trimStart())?.[0] ?? (whole ? head : "");
    if (isRemark(head) || isPreamble(line)) return discard("comment_only");
    return head.length < REMARK_HEAD && !whole ? HOLD : null;
  }

  #repeats(head: string, whole: boolean): SeamVerdict | null {
    const { done } = this.#aligner;
    const match = done.find(({ from }) =>
      proves(this.#sent.slice(from, inkEnd(this.#sent)), standsAt(this.#sent, from) === "line"),
    );
    if (match === undefined) return null;
    if (done.length > 1 || !(this.#breaksIn(match) || this.#isRestart(match))) return discard("ambiguous");
    const start = landing(this.#sent, head, match, whole);
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

  /** It began as the reply does and then went another way. A fence opened again is no such beginning. */
  #restarted(): boolean {
    const reached = this.#aligner.reachedFromTop;
    if (reached === 0 || reached === this.#ink.text.length) return false;
    const again = this.#sent.slice(0, (this.#ink.at[reached - 1] ?? 0) + 1);
    const line = again.indexOf("\n");
    const fenced = opensFence(again.slice(0, line < 0 ? again.length : line).trimStart()) !== null;
    return proves(fenced ? again.slice(line < 0 ? again.length : line) : again, false);
  }
}
