import { EventSourceParserStream } from "eventsource-parser/stream";
import type { Update } from "../../src/dashboard/update.ts";

export interface FeedReader extends AsyncDisposable {
  /** The next update that has this part. */
  next<K extends keyof Update>(part: K): Promise<NonNullable<Update[K]>>;
  /** All that came so far, as text. */
  readonly text: () => string;
  /** Settles when the proxy ends the feed. */
  ended(): Promise<void>;
  leave(): Promise<void>;
}

/** The dashboard's feed as its page reads it. @throws Error with the status where it is refused */
export async function readFeed(root: string, headers: Record<string, string> = {}): Promise<FeedReader> {
  const leave = new AbortController();
  const response = await fetch(`${root}/dashboard/events`, { headers, signal: leave.signal });
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  let text = "";
  const close = async () => {
    leave.abort();
    await events.cancel().catch(() => undefined);
  };
  const read = async () => {
    const { done, value } = await events.read();
    if (done) return null;
    text += value.data;
    return JSON.parse(value.data) as Update;
  };
  return {
    async next(part) {
      for (;;) {
        const update = await read();
        if (update === null) throw new Error(`the feed ended without ${part}`);
        const found = update[part];
        if (found !== undefined) return found;
      }
    },
    text: () => text,
    async ended() {
      while ((await read()) !== null);
    },
    leave: close,
    [Symbol.asyncDispose]: close,
  };
}
