import fc from "fast-check";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import {
  type Act,
  comment,
  done,
  drop,
  eof,
  errorData,
  errorEvent,
  finish,
  over,
  raw,
  reset,
  role,
  say,
  startUpstream,
  status,
  think,
  tool,
  type Upstream,
  usage,
} from "../support/upstream.ts";
import { fuzz } from "./fuzz.ts";

const PATHS = {
  chat: "/chat/completions",
  completions: "/completions",
  responses: "/responses",
  messages: "/messages",
};
type Path = keyof typeof PATHS;

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .constantFrom("Hello", " world", "\n", "é北", "🍵", '{"a": 1', "}", "<think>", "</think>")
      .map((text) => say(text)),
  },
  { weight: 2, arbitrary: fc.constantFrom("hm", " so").map((text) => think(text)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(0, 1), fc.constantFrom('{"a"', ":1}", "{}", ""))
      .map(([index, args]) => tool(index, { id: `t${index}`, name: "f" }, args)),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("stop", "length", "tool_calls", "content_filter", "eos", "")
      .map((reason) => finish(reason)),
  },
  { weight: 2, arbitrary: fc.constantFrom(usage(5, 3), usage(5, 100), usage(0, 0)) },
  { weight: 2, arbitrary: fc.constantFrom(role(), done(), eof(), comment("alive")) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      raw("data: {\n\n"),
      raw("data: [1,2]\n\n"),
      raw(": x\n"),
      raw("event: error\ndata: oh\n\n"),
      raw('data: "a"\n\n'),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(reset(), drop()),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      errorData({ error: { message: "dead", code: 503 } }),
      errorEvent({ error: { message: "dead" } }),
    ),
  },
);
const refusal = fc.constantFrom(
  status(500, "no"),
  status(429, { error: { message: "slow" } }),
  status(400, { error: "no" }),
  status(200, {}),
  status(200, "<html>"),
);
const script = fc.oneof(
  { weight: 6, arbitrary: fc.array(act, { maxLength: 8 }) },
  { weight: 1, arbitrary: fc.tuple(refusal) as fc.Arbitrary<Act[]> },
);

const DIALECTS = ["vllm", "llamacpp", "lmstudio", "openrouter"] as const;
const scene = fc.record({
  dialect: fc.constantFrom(...DIALECTS),
  path: fc.constantFrom<Path>("chat", "completions", "responses", "messages"),
  stream: fc.boolean(),
  heal: fc.constantFrom("on", "off"),
  onExhausted: fc.constantFrom(0, 1),
  tools: fc.boolean(),
  format: fc.boolean(),
  max: fc.constantFrom(null, 10, 100),
  scripts: fc.array(script, { maxLength: 4 }),
  every: fc.constantFrom(null, 1, 7, 50),
});

describe("whatever an upstream does, a client has one whole answer, one honest end or one typed error", () => {
  const places = new Map<string, { readonly up: Upstream; readonly proxies: readonly Lastword[] }>();
  beforeAll(async () => {
    const quick = { limits: { firstByteSeconds: 2, idleSeconds: 2 }, logLevel: "silent" };
    for (const dialect of DIALECTS) {
      const up = await startUpstream({ dialect, window: 32_768 });
      const partial = await startProxy(up, quick);
      const error = await startProxy(up, { ...quick, recovery: { onExhausted: "error", toolCalls: "stream" } });
      places.set(dialect, { up, proxies: [partial, error] });
    }
  });
  afterAll(async () => {
    for (const { up, proxies } of places.values()) {
      for (const proxy of proxies) await proxy.close();
      await up.close();
    }
  });

  fuzz("exchange", scene, async ({ dialect, path, stream, heal, onExhausted, tools, format, max, scripts, every }) => {
    const left = scripts.map((acts) =>
      [
        ...(every === null ? [] : [over({ split: { every } })]),
        ...(path === "completions" ? acts.filter((act) => act.act !== "tool") : acts),
      ].filter((act) => stream || act.act !== "raw"),
    );
    const { up, proxies } = places.get(dialect) ?? { proxies: [] };
    up?.handle(() => left.shift() ?? [say("."), finish("stop"), usage(5, 1), done()]);
    const proxy = proxies[onExhausted];
    if (proxy === undefined) throw new Error("no proxy for it");
    const url = proxy.url + PATHS[path];
    const body = bodyOf(path, { tools, format, max });
    const headers = { "x-lastword-heal": heal };
    if (stream) {
      const got = await postStream(url, { ...body, stream }, headers);
      expect(got.broken).toBe(false);
      if (got.status !== 200) return typed(JSON.parse(got.bytes.toString()), path);
      // With healing off the upstream's own words go by, whatever they are worth.
      if (heal === "off") return;
      expect(got.ended || got.events.some((event) => event.event === "error")).toBe(true);
      const finishes = got.chunks.filter((chunk) => finishIn(chunk, path));
      const errors = got.chunks.filter((chunk) => failsIn(chunk, path));
      expect([finishes.length, errors.length].toSorted()).toEqual([0, 1]);
    } else {
      const got = await postPlain(url, body, headers);
      expect(got.broken).toBe(false);
      if (got.status !== 200) typed(got.json, path);
      else expect(got.json).toBeDefined();
    }
    expect(proxy.services.running.size).toBe(0);
  });
});

function typed(json: unknown, path: Path): void {
  const { error } = (json ?? {}) as { error?: unknown };
  // An upstream's own error goes on as it is, also where it is but a string.
  expect(error === undefined ? path === "messages" : true).toBe(true);
  expect(error).toBeDefined();
}

function failsIn(chunk: Record<string, unknown>, path: Path): boolean {
  return path === "responses" ? chunk.type === "response.failed" : chunk.error != null;
}

function finishIn(chunk: Record<string, unknown>, path: Path): boolean {
  if (path === "responses") return /^response\.(?:completed|incomplete)$/.test(String(chunk.type));
  if (path === "messages") return chunk.type === "message_stop";
  const [choice] = Array.isArray(chunk.choices) ? (chunk.choices as { finish_reason?: unknown }[]) : [];
  // An empty word is none.
  return Boolean(choice?.finish_reason);
}

function bodyOf(path: Path, { tools, format, max }: { tools: boolean; format: boolean; max: number | null }) {
  const messages = [{ role: "user", content: "hello" }];
  const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
  const fn = { name: "f", parameters: schema };
  switch (path) {
    case "chat":
      return {
        model: "m",
        messages,
        ...(max === null ? {} : { max_tokens: max }),
        ...(tools ? { tools: [{ type: "function", function: fn }] } : {}),
        ...(format ? { response_format: { type: "json_schema", json_schema: { name: "s", schema } } } : {}),
      };
    case "completions":
      return { model: "m", prompt: "hello", ...(max === null ? {} : { max_tokens: max }) };
    case "responses":
      return {
        model: "m",
        input: "hello",
        ...(max === null ? {} : { max_output_tokens: max }),
        ...(tools ? { tools: [{ type: "function", ...fn }] } : {}),
      };
    case "messages":
      return {
        model: "m",
        messages,
        max_tokens: max ?? 1000,
        ...(tools ? { tools: [{ name: "f", input_schema: schema }] } : {}),
      };
    default:
      return path satisfies never;
  }
}
