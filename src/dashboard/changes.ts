import type { Running, Snapshot } from "../events/live.ts";
import type { Update } from "./update.ts";

/** Of one watcher: what it has been told, so that it is told only what has changed. */
export class Changes {
  #version = 0;
  #newestSlice = Number.NEGATIVE_INFINITY;
  /** By id: the request as it was last told. */
  #live = new Map<string, string>();
  /** By part: its text as it was last told. */
  readonly #told = new Map<keyof Update, string>();

  /** What of a snapshot is new. */
  of(snapshot: Snapshot): Update {
    return { ...this.#requests(snapshot.live), ...this.#ends(snapshot) };
  }

  /** These parts, where they differ from what was told. */
  parts(parts: Update): Update {
    const names = Object.keys(parts) as (keyof Update)[];
    const changed = names.filter((name) => {
      const text = JSON.stringify(parts[name]);
      const differs = this.#told.get(name) !== text;
      this.#told.set(name, text);
      return differs;
    });
    return Object.fromEntries(changed.map((name) => [name, parts[name]]));
  }

  #requests(live: readonly Running[]): Update {
    const before = this.#live;
    this.#live = new Map();
    const changed = live.filter((request) => {
      // Time passes for all of them, and the page has a clock of its own.
      const { ms: _, ...rest } = request;
      const text = JSON.stringify(rest);
      this.#live.set(request.id, text);
      return before.get(request.id) !== text;
    });
    const gone = [...before.keys()].filter((id) => !this.#live.has(id));
    return { ...(changed.length === 0 ? {} : { live: changed }), ...(gone.length === 0 ? {} : { gone }) };
  }

  #ends({ version, recent, series, tokensSaved }: Snapshot): Update {
    if (version === this.#version) return {};
    const ended = recent.slice(0, version - this.#version);
    // The slice that was the newest may have grown since.
    const slices = series.filter(({ from }) => from >= this.#newestSlice);
    this.#version = version;
    this.#newestSlice = slices.at(-1)?.from ?? this.#newestSlice;
    return { ended, series: slices, tokensSaved };
  }
}
