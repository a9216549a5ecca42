import { Aligner, type Match, placesIn } from "./aligner.ts";
import { inkEnd, inkStart, isBlank, startsWord } from "./characters.ts";
import { Fresh } from "./fresh.ts";
import { type Ink, inkOf, proves, provesRestart, repeatsItself, standsAt } from "./ink.ts";
import { goesOnMidSentence } from "./joint.ts";
import { landing, sameSpacing } from "./landing.ts";
import { Tongue } from "./language.ts";
import { Opening } from "./opening.ts";
import { isRemark } from "./remarks.ts";
import { type Discard, discard, HOLD, type Joint, type Seam, type SeamVerdict } from "./verdict.ts";

/** Ink with which a model that went straight on, its space included, shows that it did. */
const ENOUGH_STRAIGHT = 3;
/** Pieces of an opening that are passed over: a preamble, a fence, a table's header and its separator. */
const MOST_OPENINGS = 5;
/** A head that cannot be joined is read this far to tell why: the next request depends on it. */
const REASON_HEAD = 120;
/** Units of a head that seems to run ahead before it is taken for text and not for a remark. */
const REMARK_HEAD = 48;
/** The end of the text that tells its language. */
const LANGUAGE_TAIL = 1_500;

/** Where the model was asked in a turn of its own: see `prepareNudge`. */
export interface Nudged {
  readonly strategy: "nudge";
  readonly sent: string;
  readonly anchor: string;
  readonly seen: string;
}

/**
 * The joint of a pass that was asked, in a turn of its own, to begin with the anchor.
 *
 * The model has seen the text up to the end of `partial` and nothing beyond. So it went on from some place at or before that end, and
 * must write again what the client has from there on. Every such place is tested at once (`Aligner`); the joint is certain when exactly
 * one stands and what came again is no coincidence. All else is discarded.
 */
export class NudgedSeam implements Seam {
  readonly #sent: string;
  readonly #ink: Ink;
  readonly #inkEnd: number;
  /** Where the anchor begins, and where the model's knowledge of the text ends. */
  readonly #anchorAt: number;
  readonly #partialEnd: number;
  /** Where a model that goes straight on begins to write again what the client has; the end of the text where that is blanks. */
  readonly #straight: number;
  readonly #places: readonly number[];
  #opening: Opening | null = null;
  /** Pieces of an opening that were passed over. */
  #openings = 0;
  #aligner: Aligner;
  /** Where the aligned part of the head begins, after an opening that was passed over. */
  #from = 0;
  #head = "";
  /** The place that was found, and what must hold of the text after it. */
  #joint: { readonly match: Match; readonly start: number; readonly fresh: Fresh } | null = null;

  constructor({ sent, anchor, seen }: Nudged) {
    this.#sent = sent;
    this.#ink = inkOf(sent);
    this.#inkEnd = inkEnd(sent);
    this.#partialEnd = sent.length - seen.length;
    this.#anchorAt = this.#partialEnd - anchor.length;
    this.#straight = inkStart(sent, this.#partialEnd);
    this.#places = placesIn(
      this.#ink,
      (at) => at === this.#straight || at === this.#anchorAt || (at <= this.#partialEnd && startsWord(sent, at)),
    );
    this.#aligner = new Aligner(this.#ink, this.#places, this.#anchorAt);
  }

  push(text: string): SeamVerdict {
    for (let i = 0; i < text.length; i++) {
      this.#take(text.charAt(i));
      const verdict = this.#decide(false);
      if (verdict.do !== "hold") return verdict;
    }
    return HOLD;
  }

  end(): SeamVerdict {
    return this.#decide(true);
  }

  #take(unit: string): void {
    const code = unit.charCodeAt(0);
    if (!isBlank(code)) this.#aligner.push(code, this.#head.length);
    this.#head += unit;
  }

  #decide(whole: boolean): SeamVerdict {
    if (this.#aligner.crowded) return discard("ambiguous");
    if (!whole && this.#aligner.live) return HOLD;
    if (this.#head.length === inkStart(this.#head))
      return { do: "release", drop: this.#head.length, overlap: 0, how: "nothing" };
    return this.#aligned(whole) ?? this.#unaligned(whole);
  }

  /** null: what came again proves nothing. */
  #aligned(whole: boolean): SeamVerdict | null {
    if (this.#joint === null) {
      const match = this.#match();
      if (match === null) return null;
      if (match === "ambiguous") return discard("ambiguous");
      const start = landing(this.#sent, this.#head, match, this.#straight, whole);
      if (start === "wait") return HOLD;
      if (start === null)
        return discard(sameSpacing(this.#sent, this.#head, match, this.#straight) ? "diverged" : "ambiguous");
      const strict = this.#straight === this.#sent.length;
      this.#joint = { match, start, fresh: new Fresh(this.#sent, match.from, this.#partialEnd, strict) };
    }
    const { match, start, fresh } = this.#joint;
    const wrong = fresh.verdict(this.#head.slice(start), whole);
    if (wrong !== null) return wrong === "wait" ? HOLD : discard(wrong);
    return { do: "release", drop: start, overlap: this.#sent.length - match.from, how: this.#how(match) };
  }

  /** The one place from which the model went on; null where nothing proves one. */
  #match(): Match | "ambiguous" | null {
    const { done } = this.#aligner;
    const longest = done.at(-1);
    if (longest === undefined || !done.some((one) => this.#proves(one))) return null;
    if (this.#isRestart(done, longest)) return longest;
    // All else that is done is another reading of the same words.
    if (done.length > 1 || this.#mayBeStraight(longest)) return "ambiguous";
    if (longest.from === this.#anchorAt) return longest;
    // The top was followed further than this reaches: begun anew, and then told differently.
    return this.#aligner.reachedFromTop > inkOf(this.#sent.slice(longest.from)).text.length ? "ambiguous" : longest;
  }

  #proves(match: Match): boolean {
    const again = this.#sent.slice(match.from, this.#inkEnd);
    if (match.from === this.#anchorAt) return !repeatsItself(again);
    if (proves(again, standsAt(this.#sent, match.from) === "line")) return true;
    // " immedi" after "was closed": a message does not begin with a space by chance, nor with the very word.
    const seen = this.#sent.slice(this.#partialEnd);
    const literal = this.#from === 0 && isBlank(seen.charCodeAt(0)) && this.#head.startsWith(seen);
    return literal && match.from === this.#straight && again.length >= ENOUGH_STRAIGHT;
  }

  /** All of a long text from the top, and no text that is its own beginning over again. */
  #isRestart(done: readonly Match[], longest: Match): boolean {
    if (longest.from !== inkStart(this.#sent) || !provesRestart(this.#sent)) return false;
    const next = done.at(-2);
    return next === undefined || (this.#inkEnd - next.from) * 2 < this.#inkEnd;
  }

  /**
   * Where the client has nothing but blanks beyond the partial, a model that goes straight on cannot be told by what it writes again.
   * Then only the anchor counts, and only if it begins inside a clause, where text that rightly repeats does not begin.
   */
  #mayBeStraight(match: Match): boolean {
    if (this.#straight < this.#sent.length) return false;
    return match.from !== this.#anchorAt || standsAt(this.#sent, match.from) !== "middle";
  }

  #how(match: Match): Joint {
    if (match.from === this.#anchorAt) return "anchor";
    if (match.from === inkStart(this.#sent)) return "restart";
    return match.from >= this.#partialEnd ? "straight" : "overlap";
  }

  #unaligned(whole: boolean): SeamVerdict {
    const ahead = this.#runsAhead(whole);
    if (ahead !== null) return ahead;
    if (this.#openings < MOST_OPENINGS) {
      this.#opening ??= new Opening(this.#sent);
      const end = this.#opening.next(this.#head, this.#from, whole);
      if (end === "wait") return HOLD;
      this.#openings = end === null ? MOST_OPENINGS : this.#openings + 1;
      if (end !== null) {
        this.#pass(end);
        return this.#decide(whole);
      }
    }
    return this.#head.length < REASON_HEAD && !whole ? HOLD : discard(this.#why());
  }

  /** Aligns anew from a place in the head. */
  #pass(end: number): void {
    const rest = this.#head.slice(end);
    this.#head = this.#head.slice(0, end);
    this.#from = end;
    this.#aligner = new Aligner(this.#ink, this.#places, this.#anchorAt);
    for (let i = 0; i < rest.length; i++) this.#take(rest.charAt(i));
  }

  /**
   * A space and a small letter after a letter: the middle of a sentence gone on with, nothing repeated. If the model was shown all that
   * the client has, that is a joint. If not, it cannot know what it goes on from, unless it is shown all.
   */
  #runsAhead(whole: boolean): SeamVerdict | null {
    if (this.#from > 0 || this.#inkEnd < this.#sent.length) return null;
    if (!goesOnMidSentence(this.#sent, this.#head) || this.#aligner.done.length > 0) return null;
    if (this.#head.length < REMARK_HEAD && !whole) return HOLD;
    if (isRemark(this.#head)) return null;
    if (this.#partialEnd < this.#sent.length) return discard("ahead");
    return { do: "release", drop: 0, overlap: 0, how: "straight" };
  }

  #why(): Discard {
    if (isRemark(this.#head)) return "comment_only";
    if (new Tongue(this.#sent.slice(-LANGUAGE_TAIL)).reads(this.#head) === "other") return "language";
    if (this.#aligner.done.length > 0) return "no_alignment";
    const fromTop = this.#aligner.reachedFromTop;
    if (fromTop > 0 && proves(this.#sent.slice(0, (this.#ink.at[fromTop - 1] ?? 0) + 1), false))
      return "restart_diverged";
    const anchor = inkOf(this.#sent.slice(this.#anchorAt, this.#partialEnd)).text.length;
    return this.#aligner.reachedFromWatched >= anchor ? "diverged" : "no_alignment";
  }
}
