import { inkEnd } from "./characters.ts";
import { type Fence, openFence, reopens } from "./fence.ts";
import { alreadyGiven } from "./landing.ts";
import { NewTurn } from "./new-turn.ts";
import { HOLD, type Joint, type Seam, type SeamVerdict } from "./verdict.ts";

const BYTE_ORDER_MARK = "\ufeff";
/** A fence line longer than this is none. */
const LONGEST_FENCE = 100;

/** Where one message is gone on with: by a trailing assistant message (`prefill`) or a rendered prompt (`raw`). */
export interface Resumption {
  readonly strategy: "prefill" | "raw";
  /** All text that the client was given so far. */
  readonly sent: string;
  /** The pass may begin with the given text. Where only plain replies do, pass `never` for streams. */
  readonly echo: "never" | "plain" | "always";
  /** Trailing blanks of `sent` that were not sent upstream, and so may or may not come again. */
  readonly trimmed: string;
  /** The server is known to resume. If not, a restart is looked for, and signs of a new turn. */
  readonly sure: boolean;
}

/**
 * The joint of a pass that resumes the same message. It flows from its first character, but for what a server may put in front (an echo,
 * blanks that were trimmed, a mark) and a fence that the model opens once more.
 *
 * A server that is not known to resume may have opened a new turn instead. What shows that is looked for first: the reply's own text from
 * the top or from its last sentence, a remark, two words glued together. Known to resume, its text is never touched: a refrain is one.
 */
export class ResumedSeam implements Seam {
  readonly #options: Resumption;
  readonly #fence: Fence | null;
  readonly #newTurn: NewTurn | null;
  readonly #echo: string;
  /** Units of the echo that have come, or null once there is none. */
  #echoed: number | null;
  #head = "";
  /** Units of a byte order mark in front. */
  #mark = 0;

  constructor(options: Resumption) {
    const { sent, echo, sure } = options;
    this.#options = options;
    this.#fence = openFence(sent);
    this.#newTurn = sure ? null : new NewTurn(sent);
    this.#echo = sent.slice(0, inkEnd(sent));
    this.#echoed = echo === "never" || this.#echo === "" ? null : 0;
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
    if (this.#head === "" && unit === BYTE_ORDER_MARK) this.#mark = 1;
    else if (this.#echoed !== null && this.#echoed < this.#echo.length)
      this.#echoed = unit === this.#echo.charAt(this.#echoed) ? this.#echoed + 1 : null;
    this.#newTurn?.take(unit.charCodeAt(0), this.#head.length);
    this.#head += unit;
  }

  #decide(whole: boolean): SeamVerdict {
    if (this.#head.length === this.#mark) return whole ? this.#release(this.#mark, "nothing") : HOLD;
    return this.#echoes(whole) ?? this.#newTurn?.verdict(this.#head, whole) ?? this.#resumes(this.#mark, whole);
  }

  /** null: the head is no echo. Until it is decided the head is not read, so that a long echo costs one step a unit. */
  #echoes(whole: boolean): SeamVerdict | null {
    if (this.#echoed === null) return null;
    if (this.#echoed < this.#echo.length) return whole ? null : HOLD;
    const end = this.#mark + this.#echo.length;
    // Blanks at the end of the echo may come with it, after it, or not at all.
    const given = alreadyGiven(this.#options.sent.slice(this.#echo.length), this.#head.slice(end), whole);
    return given === "wait" ? HOLD : this.#release(end + given, "echo");
  }

  #resumes(start: number, whole: boolean): SeamVerdict {
    const { sent, trimmed } = this.#options;
    const body = this.#head.slice(start);
    const given = alreadyGiven(trimmed, body, whole);
    if (given === "wait") return HOLD;
    const fence = this.#fence !== null && /[\n\r]$/.test(sent) ? fenceAgain(this.#fence, body.slice(given), whole) : 0;
    if (fence === "wait") return HOLD;
    return this.#release(start + given + fence, this.#newTurn?.resumed === true ? "resumed" : "plain");
  }

  #release(drop: number, how: Joint): SeamVerdict {
    return { do: "release", drop, overlap: how === "echo" ? this.#echo.length : 0, how };
  }
}

/** Length of the line that opens the same fence once more, with its line end; 0 if the text begins otherwise. */
function fenceAgain(open: Fence, text: string, whole: boolean): number | "wait" {
  const newline = text.indexOf("\n");
  const line = newline < 0 ? text : text.slice(0, newline);
  if (newline >= 0 || whole) return reopens(open, line) ? line.length + (newline < 0 ? 0 : 1) : 0;
  const may = line.length <= LONGEST_FENCE && /^ {0,3}(?:`{0,2}|~{0,2}|[`~]{3,}.*)$/.test(line);
  return may ? "wait" : 0;
}
