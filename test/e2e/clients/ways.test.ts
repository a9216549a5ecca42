import { describe, expect, it } from "vitest";
import { asArray, asObject, type JsonObject } from "../../../src/core/json.ts";
import type { DialectName } from "../../../src/upstream/dialect.ts";
import { postPlain, postStream, startStream } from "../../support/client.ts";
import { type Lastword, startProxy } from "../../support/proxy.ts";
import { pause, recite, reply, startUpstream, type Upstream } from "../../support/upstream.ts";
import type { ReciteOptions } from "../../support/upstream-recite.ts";
import { CALL, QUESTION, TEXT } from "./stage.ts";

/** How a well-known client calls: its path, headers, caps and stream options, as its source and its users describe them. */
interface Way {
  readonly client: string;
  readonly dialect: DialectName;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: JsonObject;
  /** What cuts its reply: its own cap, or a limit of the server's. */
  readonly server?: ReciteOptions;
}

const user = [{ role: "user", content: QUESTION }];
const system = { role: "system", content: "You are a careful assistant. ".repeat(20) };
const look = {
  type: "function",
  function: { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } },
};

const STREAMS: readonly Way[] = [
  {
    // The Responses wire without any cap, stateless, with sealed reasoning and a tool whose input is plain text.
    client: "codex",
    dialect: "openrouter",
    path: "/v1/responses",
    headers: {
      originator: "codex_cli_rs",
      session_id: "0199",
      "user-agent": "codex_cli_rs/0.50.0",
      accept: "text/event-stream",
    },
    body: {
      instructions: system.content,
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: QUESTION }] }],
      tools: [
        { type: "function", name: "shell", strict: false, parameters: { type: "object", properties: {} } },
        { type: "custom", name: "apply_patch", format: { type: "grammar", syntax: "lark", definition: "start: WORD" } },
      ],
      tool_choice: "auto",
      parallel_tool_calls: false,
      reasoning: { effort: "medium", summary: "auto" },
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "0199",
    },
    server: { providerCap: 70 },
  },
  {
    // Beta endpoint, a cap of 32000 and thinking, system text in cached blocks.
    client: "Claude Code",
    dialect: "llamacpp",
    path: "/v1/messages?beta=true",
    headers: {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14",
      "x-app": "cli",
      "x-stainless-retry-count": "0",
      "user-agent": "claude-cli/2.0.0 (external, cli)",
    },
    body: {
      max_tokens: 32_000,
      thinking: { type: "enabled", budget_tokens: 31_999 },
      system: [{ type: "text", text: system.content, cache_control: { type: "ephemeral" } }],
      messages: [{ role: "user", content: [{ type: "text", text: QUESTION, cache_control: { type: "ephemeral" } }] }],
      tools: [{ name: "Read", description: "Reads.", input_schema: { type: "object", properties: {} } }],
      metadata: { user_id: "user_1" },
      stream: true,
    },
    server: { providerCap: 70 },
  },
  {
    // The openai library, no cap unless one was set, usage in the stream.
    client: "Cline",
    dialect: "lmstudio",
    path: "/v1/chat/completions",
    headers: { "HTTP-Referer": "https://cline.bot", "X-Title": "Cline", "x-stainless-lang": "js" },
    body: { messages: [system, ...user], temperature: 0, stream: true, stream_options: { include_usage: true } },
    server: { providerCap: 70, usage: "short" },
  },
  {
    client: "Continue",
    dialect: "ollama",
    path: "/v1/chat/completions",
    headers: { "user-agent": "Continue/1.0" },
    body: {
      messages: [system, ...user],
      max_tokens: 90,
      stop: ["<|im_end|>"],
      stream: true,
      tools: [look],
      parallel_tool_calls: false,
    },
  },
  {
    // No usage asked for; the user's names in headers.
    client: "Open WebUI",
    dialect: "llamacpp",
    path: "/v1/chat/completions",
    headers: { "X-OpenWebUI-User-Name": "Ada", "X-OpenWebUI-Chat-Id": "c1", "user-agent": "Python/3.11 aiohttp/3.11" },
    body: { messages: user, stream: true, max_tokens: 90, params: {}, metadata: null },
  },
  {
    client: "LibreChat",
    dialect: "vllm",
    path: "/v1/chat/completions",
    headers: { "x-stainless-lang": "js" },
    body: {
      messages: [system, ...user],
      user: "u1",
      max_tokens: 90,
      stream: true,
      stream_options: { include_usage: true },
      n: 1,
    },
  },
  {
    // Goes on by itself with its own prefill: its last message is the assistant's.
    client: "aider",
    dialect: "llamacpp",
    path: "/v1/chat/completions",
    headers: { "user-agent": "OpenAI/Python 1.99.1" },
    body: {
      messages: [system, ...user, { role: "assistant", content: TEXT.slice(0, 90), prefix: true }],
      temperature: 0,
      max_tokens: 80,
      stream: true,
    },
  },
];

const PLAINS: readonly Way[] = [
  {
    client: "Open WebUI's titles",
    dialect: "llamacpp",
    path: "/v1/chat/completions",
    headers: {},
    body: { messages: user, stream: false, max_completion_tokens: 90 },
  },
  {
    client: "Claude Code's summaries",
    dialect: "llamacpp",
    path: "/v1/messages?beta=true",
    headers: { "anthropic-version": "2023-06-01" },
    body: { max_tokens: 90, messages: user, system: [{ type: "text", text: "Be brief." }], temperature: 1 },
  },
  {
    client: "an evaluation",
    dialect: "vllm",
    path: "/v1/completions",
    headers: { "x-lastword-caps": "advisory" },
    body: { prompt: [QUESTION], max_tokens: 90, temperature: 0, logprobs: null, echo: false, seed: 1 },
  },
];

/** What each pass may change. */
const CHANGED = ["messages", "input", "prompt", "max_tokens", "max_completion_tokens", "max_output_tokens"];
const ADDED = ["stream_options", "continue_final_message", "add_generation_prompt"];

async function stageOf(
  { dialect, server }: Way,
  recovery: Record<string, unknown> = {},
): Promise<{ up: Upstream; proxy: Lastword } & AsyncDisposable> {
  const up = await startUpstream({ dialect, window: 8192 });
  const proxy = await startProxy(up, { recovery });
  up.handle(recite(TEXT, server));
  return {
    up,
    proxy,
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await up.close();
    },
  };
}

/** Every pass is the client's own request: its headers, its query, its fields. */
function expectKept(up: Upstream, { headers, body, path }: Way): void {
  expect(up.calls.length).toBeGreaterThan(1);
  for (const call of up.calls) {
    for (const [name, value] of Object.entries(headers)) {
      if (name.startsWith("x-lastword")) expect(call.headers).not.toHaveProperty(name);
      else if (name !== "accept") expect(call.headers[name.toLowerCase()]).toBe(value);
    }
    expect(`?${call.search}`).toBe(`?${path.split("?")[1] ?? ""}`);
    for (const [field, value] of Object.entries(body)) {
      if (!CHANGED.includes(field) && field !== "thinking") expect(call.body[field]).toEqual(value);
    }
    const foreign = Object.keys(call.body).filter(
      (field) => field !== "model" && !(field in body) && !CHANGED.includes(field) && !ADDED.includes(field),
    );
    expect(foreign).toEqual([]);
  }
}

describe("as clients call", () => {
  it.each(STREAMS.map((way) => [way.client, way] as const))("%s streams a cut reply whole", async (_client, way) => {
    await using on = await stageOf(way);
    const got = await postStream(on.proxy.root + way.path, { model: "m", ...way.body }, way.headers);
    const prefill = way.client === "aider" ? TEXT.slice(0, 90) : "";
    expect(prefill + got.text()).toBe(TEXT);
    expect(got.ended).toBe(true);
    expect(await on.proxy.finished()).toMatchObject({ outcome: "healed" });
    expectKept(on.up, way);
    const usages = got.chunks.filter(
      (chunk) => asArray(chunk.choices).length === 0 && asObject(chunk.usage) !== undefined,
    );
    if (way.path.includes("chat")) expect(usages).toHaveLength(way.body.stream_options === undefined ? 0 : 1);
  });

  it.each(PLAINS.map((way) => [way.client, way] as const))("%s gets a cut reply whole", async (_client, way) => {
    await using on = await stageOf(way);
    const { json, headers } = await postPlain(on.proxy.root + way.path, { model: "m", ...way.body }, way.headers);
    expect(JSON.stringify(json)).toContain(JSON.stringify(TEXT));
    expect(headers["x-lastword-outcome"]).toBe("healed");
    expectKept(on.up, way);
  });

  it.each(STREAMS.map((way) => [way.client, way] as const))(
    "%s hears that a silent server is still at work",
    async (_client, way) => {
      await using on = await stageOf(way, { heartbeatSeconds: 0.02 });
      on.up.handle(() => [pause(), ...reply(TEXT, "stop", { prompt: 9, completion: 9 })]);
      const live = startStream(on.proxy.root + way.path, { model: "m", ...way.body }, way.headers);
      const beat = way.path.includes("/messages") ? "event: ping\n" : ": keep-alive\n";
      await live.until(beat);
      // What has come so far is nothing that a parser of events, or of lines, takes for a reply.
      const lines = live.seen().split("\n");
      expect(lines.every((line) => line === "" || line === beat.trim() || line === 'data: {"type":"ping"}')).toBe(true);
      on.up.release();
      const got = await live.done;
      expect(got.text()).toBe(TEXT);
      expect(got.headers["content-type"]).toContain("text/event-stream");
    },
  );

  it("Claude Code asks with caps for a larger window: cap and thinking are lowered together", async () => {
    const [, way] = STREAMS;
    if (way === undefined) throw new Error("no such way");
    await using on = await stageOf(way);
    await postStream(on.proxy.root + way.path, { model: "m", ...way.body }, way.headers);
    const { max_tokens, thinking } = on.up.calls[0]?.body ?? {};
    expect(Number(max_tokens)).toBeLessThan(8192);
    expect(Number(asObject(thinking)?.budget_tokens)).toBeLessThan(Number(max_tokens));
  });

  it("Claude Code asks for one token to see its quota: it gets one, of one call", async () => {
    await using on = await stageOf({ client: "", dialect: "llamacpp", path: "", headers: {}, body: {} });
    const body = {
      model: "m",
      max_tokens: 1,
      messages: [{ role: "user", content: "quota" }],
      metadata: { user_id: "u" },
    };
    const { status, json } = await postPlain(`${on.proxy.root}/v1/messages?beta=true`, body);
    expect([status, json]).toMatchObject([200, { stop_reason: "max_tokens" }]);
    expect(on.up.calls).toHaveLength(1);
    expect(await on.proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "honoured_cap" });
  });

  it("codex hears of a call only once it is whole", async () => {
    const [way] = STREAMS;
    if (way === undefined) throw new Error("no such way");
    await using on = await stageOf(way);
    on.up.handle((call, n) =>
      recite({ tools: [{ name: "shell", args: CALL }] }, n === 1 ? { providerCap: 40 } : {})(call, n),
    );
    const got = await postStream(on.proxy.root + way.path, { model: "m", ...way.body }, way.headers);
    expect(got.toolArgs()).toEqual([JSON.stringify(CALL)]);
    expect(got.finish()).toBe("completed");
    expect(got.events.filter(({ event }) => event === "response.completed")).toHaveLength(1);
  });

  it("edge 74: aider's own prefill and what it became are one message", async () => {
    const way = STREAMS.find(({ client }) => client === "aider");
    if (way === undefined) throw new Error("no such way");
    await using on = await stageOf(way);
    await postStream(on.proxy.root + way.path, { model: "m", ...way.body }, way.headers);
    for (const { body } of on.up.calls) {
      const roles = asArray(body.messages).map((message) => asObject(message)?.role);
      expect(roles).toEqual(["system", "user", "assistant"]);
    }
    expect(asObject(asArray(on.up.calls[1]?.body.messages).at(-1))).toMatchObject({ prefix: true });
  });

  it("Continue completes code between two ends: its cap is meant, and an abort ends the work", async () => {
    await using on = await stageOf({ client: "", dialect: "llamacpp", path: "", headers: {}, body: {} });
    const body = {
      model: "m",
      prompt: "def lamp():",
      suffix: "return lamp",
      max_tokens: 90,
      temperature: 0.01,
      stream: true,
    };
    const got = await postStream(`${on.proxy.root}/v1/completions`, body);
    expect(got.finish()).toBe("length");
    expect(on.up.calls).toHaveLength(1);
    on.up.handle(() => [...reply(["The lamp"]).slice(0, 1), { act: "stall" }]);
    const live = startStream(`${on.proxy.root}/v1/completions`, body);
    await live.until("The lamp");
    live.abort();
    expect(await (await on.up.call(2)).ended).toBe("aborted");
  });
});
