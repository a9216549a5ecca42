import { restartsGrammar } from "../stitch/json.ts";
import type { Seam, SeamVerdict } from "../stitch/seam.ts";

/** Characters of a continuation within which a restarted grammar shows itself. */
const HEAD = 256;

/**
 * A joint within a required format. The server's grammar may begin at its root again although no format was asked for: that is seen
 * before anything is released.
 */
export class FormatSeam implements Seam {
  readonly #sent: string;
  readonly #inner: Seam;
  #head = "";
  #released: Extract<SeamVerdict, { do: "release" }> | null = null;

  /** @param sent the JSON so far, without a thought in front */
  constructor(sent: string, inner: Seam) {
    this.#sent = sent;
    this.#inner = inner;
  }

  push(text: string): SeamVerdict {
    this.#head += text;
    return this.#released === null ? this.#take(this.#inner.push(text), false) : this.#look(this.#released, false);
  }

  end(): SeamVerdict {
    return this.#released === null ? this.#take(this.#inner.end(), true) : this.#look(this.#released, true);
  }

  #take(verdict: SeamVerdict, whole: boolean): SeamVerdict {
    if (verdict.do !== "release") return verdict;
    this.#released = verdict;
    return this.#look(verdict, whole);
  }

  #look(released: Extract<SeamVerdict, { do: "release" }>, whole: boolean): SeamVerdict {
    const fresh = this.#head.slice(released.drop);
    if (fresh.length < HEAD && !whole) return { do: "hold" };
    return restartsGrammar(this.#sent, fresh) ? { do: "discard", why: "restart_diverged" } : released;
  }
}
