import { z } from "zod";
import { type Lastword, startProxy } from "../../support/proxy.ts";
import { startUpstream, type Upstream } from "../../support/upstream.ts";
import { type Recitals, recite } from "../../support/upstream-recite.ts";

/** Tokens: less than any of the replies below has, more than is kept as asked. */
export const CAP = 70;
export const QUESTION = "Where is the lamp?";
export const TEXT = [
  "The lamp stands on the window sill, behind the blue curtain that Marta sewed last winter.",
  "Its oil is low, so fill it from the green can under the stairs before you light it.",
  "Mind the wick: trim it straight across, or the glass will be black by midnight.",
  "If the wind comes from the sea, close the shutter first and leave only the upper slit open.",
  "The spare glass is wrapped in newspaper in the second drawer, next to the candles and the string.",
  "When all is done, write the hour into the book on the desk and put the pen back where it was.",
].join(" ");
export const CALL = { path: "notes/lamp.txt", content: TEXT };
export const Report = z.object({ place: z.string(), notes: z.array(z.string()) });
export const REPORT = { place: "on the window sill", notes: [TEXT, "And that is all."] };

/** A server that knows its lines, the proxy in front of it, and how to tell that a reply was mended. */
export interface Stage extends AsyncDisposable {
  readonly up: Upstream;
  readonly proxy: Lastword;
  /** The outcomes of all requests so far. */
  outcomes(): string[];
}

export async function stage(lines: Recitals, limits: Record<string, unknown> = {}): Promise<Stage> {
  const up = await startUpstream({ dialect: "vllm", window: 8192 });
  const proxy = await startProxy(up, { limits });
  up.handle(recite(lines));
  return {
    up,
    proxy,
    outcomes: () => proxy.events.flatMap((event) => (event.type === "finished" ? [event.outcome] : [])),
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await up.close();
    },
  };
}
