import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { WireName } from "../../src/core/ask.ts";
import { type Json, type JsonObject, parseJson } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { recite, startUpstream } from "../support/upstream.ts";
import type { Recitals, ReciteOptions } from "../support/upstream-recite.ts";

/** What a client's own library makes of a reply. */
interface Heard {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: Json | undefined }[];
  readonly finish: string | null | undefined;
}

const QUESTION = "Where is the lamp?";
const TEXT = "The lamp stands on the window sill, behind the blue curtain, next to the old brass kettle.";
const THOUGHT = "They ask for the lamp. I saw it this morning near the kettle, when the curtain moved.";
const ARGS = { path: "lamp.txt", content: "The lamp stands on the window sill, behind the blue curtain." };
const SCHEMA = {
  type: "object",
  properties: { place: { type: "string" }, near: { type: "array", items: { type: "string" } } },
  required: ["place", "near"],
  additionalProperties: false,
};
const VALUE = { place: "on the window sill, behind the curtain", near: ["the brass kettle", "the blue curtain"] };
const CAP = 12;

interface What {
  readonly recital: Recitals;
  readonly whole: Pick<Heard, "text" | "calls">;
}

const WHATS = {
  text: { recital: TEXT, whole: { text: TEXT, calls: [] } },
  tool: {
    recital: { tools: [{ name: "write", args: ARGS }] },
    whole: { text: "", calls: [{ name: "write", args: ARGS }] },
  },
  structured: { recital: JSON.stringify(VALUE), whole: { text: JSON.stringify(VALUE), calls: [] } },
  reasoning: { recital: { reasoning: THOUGHT, text: TEXT }, whole: { text: TEXT, calls: [] } },
} satisfies Record<string, What>;
type WhatName = keyof typeof WHATS;

/** How a wire asks, and how its library hears. */
interface Way {
  readonly path: string;
  readonly whats: readonly WhatName[];
  readonly ask: (what: WhatName) => JsonObject;
  readonly finish: (what: WhatName) => string;
  readonly stream: (proxy: Lastword, body: JsonObject) => Promise<Heard>;
  readonly plain: (proxy: Lastword, body: JsonObject) => Promise<Heard>;
}

const openai = (proxy: Lastword) => new OpenAI({ baseURL: proxy.url, apiKey: "none", maxRetries: 0 });
const anthropic = (proxy: Lastword) => new Anthropic({ baseURL: proxy.root, apiKey: "none", maxRetries: 0 });
const messages = [{ role: "user", content: QUESTION }];

function ofChat(completion: OpenAI.ChatCompletion): Heard {
  const choice = completion.choices[0];
  const calls = choice?.message.tool_calls ?? [];
  return {
    text: choice?.message.content ?? "",
    calls: calls.flatMap((call) =>
      call.type === "function" ? [{ name: call.function.name, args: parseJson(call.function.arguments) }] : [],
    ),
    finish: choice?.finish_reason,
  };
}

function ofResponse(response: OpenAI.Responses.Response): Heard {
  return {
    text: response.output_text,
    calls: response.output.flatMap((item) =>
      item.type === "function_call" ? [{ name: item.name, args: parseJson(item.arguments) }] : [],
    ),
    finish: response.status,
  };
}

function ofMessage(message: Anthropic.Message): Heard {
  return {
    text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    calls: message.content.flatMap((block) =>
      block.type === "tool_use" ? [{ name: block.name, args: block.input as Json }] : [],
    ),
    finish: message.stop_reason,
  };
}

const WAYS: Record<WireName, Way> = {
  chat: {
    path: "/chat/completions",
    whats: ["text", "tool", "structured", "reasoning"],
    ask: (what) => ({
      messages,
      max_tokens: CAP,
      ...(what === "tool"
        ? { tools: [{ type: "function", function: { name: "write", parameters: { type: "object" } } }] }
        : {}),
      ...(what === "structured"
        ? { response_format: { type: "json_schema", json_schema: { name: "lamp", schema: SCHEMA } } }
        : {}),
    }),
    finish: (what) => (what === "tool" ? "tool_calls" : "stop"),
    stream: async (proxy, body) =>
      ofChat(
        await openai(proxy)
          .chat.completions.stream(body as never)
          .finalChatCompletion(),
      ),
    plain: async (proxy, body) => ofChat(await openai(proxy).chat.completions.create(body as never)),
  },
  completions: {
    path: "/completions",
    whats: ["text", "structured"],
    ask: (what) => ({
      prompt: QUESTION,
      max_tokens: CAP,
      ...(what === "structured" ? { response_format: { type: "json_schema", json_schema: { schema: SCHEMA } } } : {}),
    }),
    finish: () => "stop",
    stream: async (proxy, body) => {
      const stream = await openai(proxy).completions.create({ ...body, stream: true } as never, {
        headers: { "x-lastword-caps": "advisory" },
      });
      let text = "";
      let finish: string | null = null;
      for await (const chunk of stream as unknown as AsyncIterable<OpenAI.Completion>) {
        text += chunk.choices[0]?.text ?? "";
        finish = chunk.choices[0]?.finish_reason ?? finish;
      }
      return { text, calls: [], finish };
    },
    plain: async (proxy, body) => {
      const { choices } = await openai(proxy).completions.create(body as never, {
        headers: { "x-lastword-caps": "advisory" },
      });
      return { text: choices[0]?.text ?? "", calls: [], finish: choices[0]?.finish_reason };
    },
  },
  responses: {
    path: "/responses",
    whats: ["text", "tool", "structured", "reasoning"],
    ask: (what) => ({
      input: QUESTION,
      max_output_tokens: CAP,
      ...(what === "tool" ? { tools: [{ type: "function", name: "write", parameters: { type: "object" } }] } : {}),
      ...(what === "structured" ? { text: { format: { type: "json_schema", name: "lamp", schema: SCHEMA } } } : {}),
    }),
    finish: () => "completed",
    stream: async (proxy, body) =>
      ofResponse(
        await openai(proxy)
          .responses.stream(body as never)
          .finalResponse(),
      ),
    plain: async (proxy, body) => ofResponse(await openai(proxy).responses.create(body as never)),
  },
  messages: {
    path: "/messages",
    whats: ["text", "tool", "structured", "reasoning"],
    ask: (what) => ({
      messages,
      max_tokens: CAP,
      ...(what === "tool" ? { tools: [{ name: "write", input_schema: { type: "object" } }] } : {}),
      ...(what === "structured" ? { output_config: { format: { type: "json_schema", schema: SCHEMA } } } : {}),
    }),
    finish: (what) => (what === "tool" ? "tool_use" : "end_turn"),
    stream: async (proxy, body) =>
      ofMessage(
        await anthropic(proxy)
          .messages.stream(body as never)
          .finalMessage(),
      ),
    plain: async (proxy, body) => ofMessage(await anthropic(proxy).messages.create(body as never)),
  },
};

/** A server, and how it takes a partial reply. */
interface Kind {
  readonly dialect: DialectName;
  readonly wires: readonly WireName[];
  readonly options?: ReciteOptions;
}

const KINDS: Record<string, Kind> = {
  resuming: { dialect: "llamacpp", wires: ["chat", "completions", "responses", "messages"] },
  // llama-server numbers no event of its responses, so that no library can put them together.
  "resuming with numbers": { dialect: "vllm", wires: ["responses"], options: { resume: "always" } },
  nudged: { dialect: "generic", wires: ["chat", "completions", "responses", "messages"] },
};

/** How each is made whole: a call, and a structured reply of which nothing was shown, is asked again. Only llama-server goes on inside a thought. */
const WAYS_ON: Record<WhatName, (server: string, dialect: DialectName) => string[]> = {
  text: (server) => [server === "nudged" ? "nudge" : "prefill"],
  structured: (server) => [server === "nudged" ? "nudge" : "prefill", "reask"],
  tool: () => ["reask"],
  reasoning: (_server, dialect) => [dialect === "llamacpp" ? "prefill" : "reask"],
};

function strategiesOf(proxy: Lastword): Set<string> {
  return new Set(proxy.events.flatMap((event) => (event.type === "attempt_started" ? [event.strategy] : [])));
}

const rows = Object.entries(KINDS).flatMap(([server, kind]) =>
  kind.wires.flatMap((wire) => WAYS[wire].whats.map((what) => [wire, what, server, kind] as const)),
);

describe("a cut reply arrives whole, in its wire's own shape", () => {
  it.each(rows)("%s, %s, %s server", async (wire, what, server, { dialect, options }) => {
    await using up = await startUpstream({ dialect });
    await using proxy = await startProxy(up, {
      recovery: { honourCapsUpTo: 0 },
      budget: { reasoningAllowanceTokens: 0 },
      models: [{ match: "*", ...(server === "nudged" ? { continue: "nudge" } : {}) }],
    });
    const { recital, whole } = WHATS[what];
    up.handle(recite(recital, { perEvent: 3, ...options }));
    const way = WAYS[wire];
    const body = { model: "m", ...way.ask(what) };
    const golden = (form: string, suffix: string) =>
      `../golden/${wire}-${what}-${server.replaceAll(" ", "-")}-${form}.${suffix}`;

    const streamed = await postStream(proxy.url + way.path, body, { "x-lastword-caps": "advisory" });
    await expect(streamed.bytes.toString()).toMatchFileSnapshot(golden("stream", "sse"));
    const plain = await postPlain(proxy.url + way.path, body, { "x-lastword-caps": "advisory" });
    await expect(`${JSON.stringify(plain.json, null, 2)}\n`).toMatchFileSnapshot(golden("plain", "json"));
    expect(streamed.text()).toBe(whole.text);
    expect(plain.headers["x-lastword-outcome"]).toBe("healed");
    expect(plain.headers["x-lastword-attempts"]).not.toBe("1");
    // Of vLLM it is not known whether it resumes here, and a nudge is as good.
    if (dialect !== "vllm") expect(strategiesOf(proxy)).toEqual(new Set(["first", ...WAYS_ON[what](server, dialect)]));
    for (const end of proxy.events) if (end.type === "finished") expect(end.outcome).toBe("healed");

    const expected: Heard = { ...whole, finish: way.finish(what) };
    expect(await way.plain(proxy, body)).toEqual(expected);
    if (wire !== "responses" || dialect !== "llamacpp") expect(await way.stream(proxy, body)).toEqual(expected);
  });
});
