import { createParser } from "eventsource-parser";
import type { Update } from "../update.ts";

/** How the page stands with the proxy. */
export type LinkState =
  | { readonly is: "connecting" }
  | { readonly is: "live" }
  /** Lost, or refused for another reason than a key; tried again at `at` (milliseconds since the epoch). */
  | { readonly is: "lost"; readonly at: number; readonly why: string | null }
  /** A key is needed. `wrong`: the one that was sent is not it. */
  | { readonly is: "locked"; readonly wrong: boolean }
  /** Nobody looks. */
  | { readonly is: "hidden" };

export interface LinkHooks {
  onState(state: LinkState): void;
  onUpdate(update: Update): void;
}

const FEED = "dashboard/events";
const KEY = "lastword-key";
/** Three heartbeats. */
const SILENT_MS = 30_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;

/** Keeps the page connected while it is looked at. The key stays in this tab. */
export class Link {
  readonly #hooks: LinkHooks;
  #call: AbortController | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #waitMs = FIRST_WAIT_MS;

  constructor(hooks: LinkHooks) {
    this.#hooks = hooks;
  }

  open(): void {
    this.#waitMs = FIRST_WAIT_MS;
    this.#hooks.onState({ is: "connecting" });
    this.#connect();
  }

  hide(): void {
    this.#end();
    this.#hooks.onState({ is: "hidden" });
  }

  unlock(key: string): void {
    sessionStorage.setItem(KEY, key);
    this.open();
  }

  #connect(): void {
    this.#end();
    const call = new AbortController();
    this.#call = call;
    void this.#listen(call);
  }

  #end(): void {
    clearTimeout(this.#retry);
    this.#call?.abort();
    this.#call = null;
  }

  async #listen(call: AbortController): Promise<void> {
    const key = sessionStorage.getItem(KEY);
    let why: string | null = null;
    try {
      // Not an EventSource: that can send no header.
      const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
      const response = await fetch(FEED, { headers, cache: "no-store", signal: call.signal });
      if (response.status === 401) {
        this.#hooks.onState({ is: "locked", wrong: key !== null });
        return;
      }
      if (response.ok && response.body !== null) await this.#read(response.body, call);
      else why = await messageOf(response);
    } catch {
      // No contact: as if the feed had ended.
    }
    if (this.#call === call) this.#later(why);
  }

  async #read(body: ReadableStream<Uint8Array>, call: AbortController): Promise<void> {
    const parser = createParser({ onEvent: ({ data }) => this.#hooks.onUpdate(JSON.parse(data)) });
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let silence: ReturnType<typeof setTimeout> | undefined;
    try {
      for (;;) {
        silence = setTimeout(() => call.abort(), SILENT_MS);
        const { done, value } = await reader.read();
        clearTimeout(silence);
        if (done || this.#call !== call) return;
        if (this.#waitMs !== 0) this.#hooks.onState({ is: "live" });
        this.#waitMs = 0;
        parser.feed(decoder.decode(value, { stream: true }));
      }
    } finally {
      clearTimeout(silence);
    }
  }

  #later(why: string | null): void {
    this.#waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, this.#waitMs * 2));
    this.#hooks.onState({ is: "lost", at: Date.now() + this.#waitMs, why });
    this.#retry = setTimeout(() => this.#connect(), this.#waitMs);
  }
}

/** What the proxy itself says of a refusal. */
async function messageOf(response: Response): Promise<string> {
  const fallback = `The proxy answered with status ${response.status}.`;
  try {
    const { error } = (await response.json()) as { error?: { message?: unknown } };
    return typeof error?.message === "string" ? error.message : fallback;
  } catch {
    return fallback;
  }
}
