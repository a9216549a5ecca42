import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asArray, asObject, type JsonObject } from "../../src/core/json.ts";
import { postPlain, postStream, type Streamed, startStream } from "../support/client.ts";
import { type Lastword, type ProxyOptions, startProxy } from "../support/proxy.ts";
import {
  done,
  drop,
  eof,
  finish,
  pause,
  recite,
  reset,
  type Script,
  say,
  stall,
  startUpstream,
  status,
  type Upstream,
  usage,
} from "../support/upstream.ts";

const QUESTION = "Where is the lamp?";
const ask: JsonObject = { model: "m", messages: [{ role: "user", content: QUESTION }], max_tokens: 100 };
const counted: JsonObject = { ...ask, stream_options: { include_usage: true } };
const TEXT = [
  "The lamp stands on the window sill, behind the blue curtain that Marta sewed last winter.",
  "Its oil is low, so fill it from the green can under the stairs before you light it.",
  "Mind the wick: trim it straight across, or the glass will be black by midnight.",
  "If the wind comes from the sea, close the shutter first and leave only the upper slit open.",
  "The spare glass is wrapped in newspaper in the second drawer, next to the candles.",
].join(" ");

describe("one reply, however many passes made it", () => {
  let up: Upstream;
  let proxy: Lastword;
  const started = async (dialect: "vllm" | "generic" | "llamacpp" | "openrouter", options: ProxyOptions = {}) => {
    up = await startUpstream({ dialect, window: 32_768 });
    proxy = await startProxy(up, options);
  };
  beforeEach(() => started("vllm"));
  afterEach(async () => {
    await proxy.close();
    await up.close();
  });
  const again = async (...how: Parameters<typeof started>) => {
    await proxy.close();
    await up.close();
    await started(...how);
  };

  const stream = (body: JsonObject = ask, headers = {}) => postStream(`${proxy.url}/chat/completions`, body, headers);
  const plain = (body: JsonObject = ask, headers = {}) => postPlain(`${proxy.url}/chat/completions`, body, headers);
  const play = (...scripts: Script[]) => {
    for (const script of scripts) up.next(...script);
  };
  const cut = (text: string, completion = 100): Script => [say(text), finish("length"), usage(9, completion), done()];
  const ends = (text: string, completion = 5): Script => [say(text), finish("stop"), usage(30, completion), done()];

  it("edge 62: one id, one role, one finish, one usage, one end", async () => {
    play(cut("one "), cut("and some more words, two ", 4096), ends("three"));
    const got = await stream(counted);
    expect(got.text()).toBe("one and some more words, two three");
    for (const field of ["id", "created", "model", "object"])
      expect(new Set(got.chunks.map((chunk) => chunk[field])).size).toBe(1);
    expect(got.chunks[0]?.id).toBe("chatcmpl-1");
    expect(count(got, (choice) => asObject(choice.delta)?.role !== undefined)).toBe(1);
    expect(count(got, (choice) => choice.finish_reason !== null)).toBe(1);
    expect(got.chunks.filter((chunk) => asObject(chunk.usage) !== undefined)).toHaveLength(1);
    expect(got.events.filter((event) => event.data === "[DONE]")).toHaveLength(1);
    expect(got.events.at(-1)?.data).toBe("[DONE]");
  });

  it("edge 63: usage is told only where it was asked for, and after the last pass", async () => {
    for (const [options, times] of [
      [undefined, 0],
      [{ include_usage: false }, 0],
      [{ include_usage: true }, 1],
    ] as const) {
      play(cut("one "), ends("two"));
      const got = await stream({ ...ask, ...(options === undefined ? {} : { stream_options: options }) });
      expect(got.text()).toBe("one two");
      expect(got.chunks.filter((chunk) => asObject(chunk.usage) !== undefined)).toHaveLength(times);
      if (times === 1) expect(asObject(got.chunks.at(-1)?.usage)).toBeDefined();
      expect(up.calls.at(-1)?.body.stream_options).toEqual({ include_usage: true });
    }
  });

  it("edge 64: usage is the first prompt and the sum of what was delivered; what was paid for stands beside it", async () => {
    play(cut("one "), ends("two"));
    const told = (await stream(counted, { "x-lastword-explain": "1" })).chunks;
    expect(told.at(-1)?.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 105, total_tokens: 114 });
    const lastword = told.map((chunk) => asObject(chunk.lastword)).find(Boolean);
    expect(lastword?.billed).toEqual({ prompt_tokens: 39, completion_tokens: 105 });
    expect(lastword?.warnings).toEqual([]);
  });

  it("edge 64: usage that one pass did not tell is estimated, and that is said", async () => {
    play(cut("one "), [say("two, which is long enough to be estimated"), finish("stop"), done()]);
    const { json } = await plain();
    const { completion_tokens } = asObject(json?.usage) ?? {};
    expect(Number(completion_tokens)).toBeGreaterThan(100);
    expect(json?.lastword).toEqual({
      outcome: "healed",
      cause: "reply_cap",
      code: null,
      warnings: ["usage_estimated"],
    });
  });

  it("edge 65: on Responses numbers rise, items stay, and the end holds the whole", async () => {
    await again("openrouter");
    up.handle(recite(TEXT, { resume: "always" }));
    const got = await postStream(`${proxy.url}/responses`, { model: "m", input: QUESTION, max_output_tokens: 70 });
    expect(got.chunks.map((chunk) => chunk.sequence_number)).toEqual(got.chunks.map((_, i) => i));
    const of = (type: string) => got.chunks.filter((chunk) => chunk.type === type);
    for (const type of [
      "response.created",
      "response.output_item.added",
      "response.output_text.done",
      "response.output_item.done",
      "response.completed",
    ])
      expect(of(type)).toHaveLength(1);
    expect(of("response.output_text.done")[0]?.text).toBe(TEXT);
    const response = asObject(of("response.completed")[0]?.response);
    expect(response).toMatchObject({
      id: asObject(of("response.created")[0]?.response)?.id,
      status: "completed",
      output: [{ id: asObject(of("response.output_item.added")[0]?.item)?.id, content: [{ text: TEXT }] }],
    });
    // OpenRouter's last word is not needed, and may not stand before the end.
    expect(got.events.filter((event) => event.data === "[DONE]").length).toBeLessThanOrEqual(1);
    expect(got.events.findLastIndex((event) => event.event === "response.completed")).toBeGreaterThanOrEqual(
      got.events.length - 2,
    );
  });

  it("edge 65: where the server keeps replies, it is said that it has only the first pass of this one", async () => {
    await again("generic", { models: [{ match: "*", continue: "nudge" }] });
    up.handle(recite(TEXT));
    const body = { model: "m", input: QUESTION, max_output_tokens: 70 };
    const warnings = async (more: JsonObject) => {
      const { json } = await postPlain(`${proxy.url}/responses`, { ...body, ...more });
      return asObject(json?.lastword)?.warnings;
    };
    expect(await warnings({ previous_response_id: "resp_0" })).toEqual(["stored_reply_partial"]);
    expect(await warnings({ store: true })).toEqual(["stored_reply_partial"]);
    expect(await warnings({ store: false, previous_response_id: "resp_0" })).toBeUndefined();
    expect(await warnings({})).toBeUndefined();
  });

  it("edge 66: on Messages there is one start, one stop, and the block goes on at its index", async () => {
    await again("llamacpp");
    up.handle(recite(TEXT));
    const got = await postStream(`${proxy.url}/messages`, { ...ask, max_tokens: 70 });
    const types = got.chunks.map((chunk) => chunk.type);
    for (const type of ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"])
      expect(types.filter((one) => one === type)).toHaveLength(1);
    expect(got.text()).toBe(TEXT);
    const deltas = got.chunks.filter((chunk) => chunk.type === "content_block_delta");
    expect(deltas.every((chunk) => chunk.index === 0)).toBe(true);
  });

  it("edge 67: a plain reply is the stream in one body", async () => {
    up.handle(recite(TEXT));
    const streamed = await stream({ ...counted, max_tokens: 70 });
    const { json } = await plain({ ...ask, max_tokens: 70 });
    expect(json).toMatchObject({
      choices: [{ message: { role: "assistant", content: streamed.text() }, finish_reason: streamed.finish() }],
      usage: streamed.chunks.at(-1)?.usage as JsonObject,
    });
    expect(json).not.toHaveProperty("lastword");
    expect(streamed.bytes.toString()).not.toContain("lastword");
  });

  it("edge 68: a client that leaves in the second pass ends it, and there is no third", async () => {
    play(cut("one "), [say("two"), stall()]);
    const live = startStream(`${proxy.url}/chat/completions`, ask);
    await live.until("two");
    live.abort();
    expect(await (await up.call(2)).ended).toBe("aborted");
    expect(await proxy.finished()).toMatchObject({ outcome: "canceled" });
    expect(up.calls).toHaveLength(2);
    expect(proxy.services.board.snapshot().live).toEqual([]);
  });

  it.each([
    ["comment", /\n: keep-alive\n/],
    ["empty-delta", /"delta":\{\},"finish_reason":null/],
  ] as const)("edge 69: the gap between passes is not silent: %s", async (heartbeat, beat) => {
    await again("vllm", { recovery: { heartbeat, heartbeatSeconds: 0.02 } });
    play(cut("one "), [pause(), ...ends("two")]);
    const live = startStream(`${proxy.url}/chat/completions`, ask);
    await live.until("one ");
    await up.reached();
    await live.until(heartbeat === "comment" ? ": keep-alive" : '"delta":{}');
    expect(live.seen()).toMatch(beat);
    up.release();
    expect((await live.done).text()).toBe("one two");
  });

  it.each<[string, Script]>([
    ["429", [status(429, { error: { message: "slow down" } })]],
    ["503", [status(503, "busy")]],
    ["a lost socket", [reset()]],
    ["a closed one", [drop()]],
    ["nothing", [eof()]],
  ])(
    "edge 70: a second pass that fails with %s is tried again, then the cut is told, never an error",
    async (_name, failure) => {
      play(cut("one "), failure, ends("two"));
      const healed = await stream();
      expect([healed.text(), healed.finish()]).toEqual(["one two", "stop"]);
      const before = up.calls.length;
      play(cut("one "));
      up.handle(() => failure);
      const told = await stream();
      expect([told.text(), told.finish(), told.ended]).toEqual(["one ", "length", true]);
      // A kept socket that dies before any byte is tried again on another, uncounted.
      expect(up.calls.length - before).toBeLessThanOrEqual(6);
      expect(await proxy.finished(2)).toMatchObject({ outcome: "cut_off" });
    },
  );

  it("edge 71: a second pass that is refused for how it goes on is asked in another way, now and ever after", async () => {
    up.handle(recite(TEXT, { resume: "refuse" }));
    for (const passes of [3, 2]) {
      const before = up.calls.length;
      const got = await stream({ ...ask, max_tokens: 70 });
      expect([got.text(), got.finish()]).toEqual([TEXT, "stop"]);
      expect(up.calls.length - before).toBe(passes);
    }
  });

  it("edge 72: what another model says is joined only where it goes on", async () => {
    await again("generic", { models: [{ match: "*", continue: "nudge" }] });
    const words = TEXT.slice(0, TEXT.indexOf(" midnight"));
    up.handle((_call, n) =>
      n === 1
        ? [say(words), finish("length"), usage(9, 100), done()]
        : [
            say("I am another model, and I would rather tell you about the weather in the mountains today."),
            finish("stop"),
            done(),
          ],
    );
    const got = await stream();
    expect([got.text(), got.finish()]).toEqual([words, "length"]);
    expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
  });

  it("edge 73: neither the hidden turn nor what was said is in the reply, the log or the events", async () => {
    await again("generic", { models: [{ match: "*", continue: "nudge" }] });
    up.handle(recite(TEXT));
    const got = await stream({ ...ask, max_tokens: 70 }, { "x-lastword-explain": "1" });
    expect(got.text()).toBe(TEXT);
    const hidden = String(asObject(asArray(up.calls[1]?.body.messages).at(-1))?.content);
    expect(hidden.length).toBeGreaterThan(40);
    const told = JSON.stringify([proxy.logged, proxy.events, await proxy.services.metrics.text()]);
    for (const secret of [hidden.slice(0, 40), "cut off by a length limit"])
      expect(got.bytes.toString() + told).not.toContain(secret);
    for (const secret of ["Marta", "green can", QUESTION]) expect(told).not.toContain(secret);
  });

  it.each(["llamacpp", "vllm", "generic"] as const)(
    "edges 74, 76: the client's own prefill and what it became are one message, and roles take turns: %s",
    async (dialect) => {
      await again(dialect);
      const prefill = TEXT.slice(0, 60);
      up.handle(recite(TEXT, { resume: "always" }));
      const messages = [
        { role: "user", content: QUESTION },
        { role: "assistant", content: prefill },
      ];
      const got = await stream({ ...ask, messages, max_tokens: 70 });
      expect(prefill + got.text()).toBe(TEXT);
      for (const { body } of up.calls) {
        const roles = asArray(body.messages).map((message) => asObject(message)?.role);
        for (const [i, role] of roles.entries()) expect(role).not.toBe(roles[i - 1]);
        expect(String(asObject(asArray(body.messages)[1])?.content).startsWith(prefill)).toBe(true);
      }
    },
  );

  it("edge 75: tool results, pictures and cached parts stay as they are, in their order", async () => {
    up.handle(recite(TEXT));
    const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } };
    const messages: JsonObject[] = [
      { role: "system", content: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }] },
      {
        role: "user",
        content: [
          { type: "text", text: QUESTION, cache_control: { type: "ephemeral" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" } },
        ],
      },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "on the sill" },
    ];
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    const got = await stream({ ...ask, messages, tools, max_tokens: 70 });
    expect(got.text()).toBe(TEXT);
    expect(up.calls.length).toBeGreaterThan(1);
    for (const { body } of up.calls) {
      expect(asArray(body.messages).slice(0, messages.length)).toEqual(messages);
      expect(body.tools).toEqual(tools);
    }
    const partial = asObject(asArray(up.calls[1]?.body.messages).at(-1));
    expect(partial).toEqual({ role: "assistant", content: expect.any(String) });
  });

  it("edge 76: a nudge stands behind the assistant's words alone, and no turn is empty", async () => {
    await again("generic", { models: [{ match: "*", continue: "nudge" }] });
    up.handle(recite(TEXT));
    await stream({
      ...ask,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: QUESTION },
      ],
      max_tokens: 70,
    });
    const last = asArray(up.calls.at(-1)?.body.messages).map(asObject);
    expect(last.map((message) => message?.role)).toEqual(["system", "user", "assistant", "user"]);
    expect(last.every((message) => message?.content !== "")).toBe(true);
  });
});

function count(got: Streamed, has: (choice: JsonObject) => boolean): number {
  return got.chunks.flatMap((chunk) => asArray(chunk.choices)).filter((choice) => has(asObject(choice) ?? {})).length;
}
