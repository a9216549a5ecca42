import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { get, type Plain, postPlain, postStream, type Streamed } from "../support/client.ts";
import { type Lastword, type ProxyOptions, startProxy } from "../support/proxy.ts";
import {
  done,
  finish,
  promptTokens,
  type Script,
  say,
  startUpstream,
  type Upstream,
  type UpstreamOptions,
  usage,
} from "../support/upstream.ts";

export const ask: JsonObject = { model: "m", messages: [{ role: "user", content: "hello" }] };
/** With a cap that is above those which are left by order. */
export const capped: JsonObject = { ...ask, max_tokens: 100 };
export const counted: JsonObject = { ...ask, stream_options: { include_usage: true } };

/** A text that the scripted servers, and most vocabularies, count as so many tokens. */
export const words = (tokens: number): string => "word".concat(" word".repeat(tokens - 1));

/** A chat request of exactly so many prompt tokens, as the scripted servers count them. */
export function asking(tokens: number, more: JsonObject = {}): JsonObject {
  const body = (content: string): JsonObject => ({ model: "m", messages: [{ role: "user", content }], ...more });
  return body(words(tokens - promptTokens("chat", body("word")) + 1));
}

/** A reply that is whole. */
export const whole = (text: string): Script => [say(text), finish("stop"), done()];
/** A reply that was cut at a cap of so many tokens. */
export const cut = (text: string, prompt = 5, completion = 100): Script => [
  say(text),
  finish("length"),
  usage(prompt, completion),
  done(),
];

export interface StageOfTest {
  readonly up: Upstream;
  readonly proxy: Lastword;
  /** Queues scripts, one a call. */
  play(...scripts: Script[]): void;
  stream(body?: JsonObject, headers?: Record<string, string>, path?: string): Promise<Streamed>;
  plain(body?: JsonObject | string, headers?: Record<string, string>, path?: string): Promise<Plain>;
  /** The Prometheus text. */
  metrics(): Promise<string>;
}

/** A scripted server and the proxy in front of it, closed when the test ends. */
export async function stage(upstream: UpstreamOptions, options: ProxyOptions = {}): Promise<StageOfTest> {
  const up = await startUpstream(upstream);
  const proxy = await startProxy(up, options);
  onTestFinished(async () => {
    await proxy.close();
    await up.close();
  });
  return {
    up,
    proxy,
    play(...scripts) {
      for (const script of scripts) up.next(...script);
    },
    stream: (body = ask, headers = {}, path = "/chat/completions") => postStream(proxy.url + path, body, headers),
    plain: (body = ask, headers = {}, path = "/chat/completions") => postPlain(proxy.url + path, body, headers),
    metrics: async () => (await get(`${proxy.root}/metrics`)).bytes.toString(),
  };
}
