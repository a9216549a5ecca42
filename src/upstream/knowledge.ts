/**
 * What live traffic has taught of a model on an upstream. Plain data, so that it can be shared between replicas and shown in `/status`.
 * Nothing here is ever the result of a generation of lastword's own.
 */
export interface Lessons {
  /** Tokens: a window that an overflow error named; believed until `windowUntil` (ms, epoch). */
  window: number | null;
  windowUntil: number;
  /** Tokens: the most that a pass was seen to generate before the provider cut it below the cap sent. */
  maxOutput: number | null;
  maxOutputUntil: number;
  /** Tokens: the largest prompt + completion that was served; no believable window is smaller. */
  served: number;
  /** A reply reported reasoning. */
  reasons: boolean;
  /** Per way of asking (`wire|tools|thinking`): does prefill resume the message? */
  resumes: Record<string, "works" | "refused" | "ignored">;
  /** What mended the last reply that reasoning had starved: a larger cap alone, or effort lowered so far; null: none yet. */
  mendedBy: "raise" | "lower" | "off" | null;
  /** Effort fields that the model refused. */
  effortRefused: boolean;
  /** Cap field that the server wants instead of the client's. */
  capField: string | null;
  /** Optional request fields that the server refuses, never sent again. */
  optionsRefused: string[];
}

const MOST_MODELS = 1_000;

export class Knowledge {
  readonly #models = new Map<string, Lessons>();
  /** Called when a model is seen for the first time, for asking others of it. */
  onFirst: ((upstream: string, model: string) => void) | null = null;
  /** Called after each change, for sharing. */
  onChange: ((upstream: string, model: string, lessons: Lessons) => void) | null = null;

  /** What is known, created empty on first use. The oldest model is forgotten beyond 1,000: names may come from anywhere. */
  of(upstream: string, model: string): Lessons {
    const key = `${upstream}\n${model}`;
    const known = this.#models.get(key);
    if (known !== undefined) return known;
    const fresh: Lessons = {
      window: null,
      windowUntil: 0,
      maxOutput: null,
      maxOutputUntil: 0,
      served: 0,
      reasons: false,
      resumes: {},
      mendedBy: null,
      effortRefused: false,
      capField: null,
      optionsRefused: [],
    };
    if (this.#models.size >= MOST_MODELS) {
      const oldest = this.#models.keys().next();
      if (!oldest.done) this.#models.delete(oldest.value);
    }
    this.#models.set(key, fresh);
    this.onFirst?.(upstream, model);
    return fresh;
  }

  changed(upstream: string, model: string): void {
    this.onChange?.(upstream, model, this.of(upstream, model));
  }

  /** The server or its model may have changed (restart, reload): ways of continuing are to be found out again. */
  forget(upstream: string): void {
    for (const key of this.#models.keys()) if (key.startsWith(`${upstream}\n`)) this.#models.delete(key);
  }
}
