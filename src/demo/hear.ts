import { createParser } from "eventsource-parser";
import { asArray, asNumber, asObject, asString, type JsonObject, parseJson } from "../core/json.ts";
import { DEMO_MODEL } from "./upstream.ts";

/** A streamed reply as a client heard it. */
export interface Heard {
  readonly text: string;
  /** null: the stream ended without one. */
  readonly finishReason: string | null;
  /** What lastword tells of its attempts; empty where the reply came from elsewhere. */
  readonly attempts: readonly HeardAttempt[];
}

export interface HeardAttempt {
  readonly strategy: string;
  readonly cap: number | null;
  readonly finishReason: string | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Characters of a repeat that were removed where this attempt was joined to the one before; null: nothing was joined. */
  readonly overlap: number | null;
}

export function demoRequest(cap: number): JsonObject {
  const content = "Write a small retry helper in JavaScript.";
  return { model: DEMO_MODEL, messages: [{ role: "user", content }], max_tokens: cap, stream: true };
}

/**
 * Sends a streamed chat request as any client would, and hears the reply to its end.
 *
 * @throws Error where the answer is not a stream, or says that it failed
 */
export async function hear(baseUrl: string, request: JsonObject): Promise<Heard> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-lastword-explain": "1" },
    body: JSON.stringify(request),
  });
  if (!response.ok) throw new Error(`${baseUrl} answered ${response.status}: ${await response.text()}`);

  let text = "";
  let finishReason: string | null = null;
  let attempts: HeardAttempt[] = [];
  const parser = createParser({
    onEvent({ data }) {
      const event = asObject(parseJson(data)) ?? {};
      if (event.error !== undefined) throw new Error(`the reply failed: ${JSON.stringify(event.error)}`);
      const choice = asObject(asArray(event.choices)[0]);
      text += asString(asObject(choice?.delta)?.content) ?? "";
      finishReason = asString(choice?.finish_reason) ?? finishReason;
      const told = asObject(event.lastword);
      if (told !== undefined) attempts = asArray(told.attempts).map(heardAttempt);
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
  return { text, finishReason, attempts };
}

function heardAttempt(told: unknown): HeardAttempt {
  const attempt = asObject(told) ?? {};
  return {
    strategy: asString(attempt.strategy) ?? "",
    cap: asNumber(attempt.cap) ?? null,
    finishReason: asString(attempt.finish_reason) ?? null,
    promptTokens: asNumber(attempt.prompt_tokens) ?? null,
    completionTokens: asNumber(attempt.completion_tokens) ?? null,
    overlap: asNumber(asObject(attempt.seam)?.overlap) ?? null,
  };
}
