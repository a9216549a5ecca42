import { describe, expect, it } from "vitest";
import type { WireName } from "../../src/core/ask.ts";
import { asArray, asObject, type JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import {
  done,
  finish,
  over,
  recite,
  type Script,
  say,
  stall,
  startUpstream,
  think,
  tokenize,
  tool,
  usage,
} from "../support/upstream.ts";

const ASKED = 100;
const ALLOWANCE = 4096;

/** What differs between wires. On the completions wire only a server that puts the prompt into a turn lets its models think unseen. */
interface Shape {
  readonly dialect: DialectName;
  readonly path: string;
  readonly ask: JsonObject;
  readonly cut: string;
  readonly whole: string;
  readonly thinks: boolean;
  readonly text: (body: JsonObject) => unknown;
  readonly finish: (body: JsonObject) => unknown;
  /** Completion tokens of a body, or of a stream's events. */
  readonly generated: (body: JsonObject) => unknown;
}

const message = [{ role: "user", content: "Which words?" }];
const choice = (body: JsonObject) => asObject(asArray(body.choices)[0]) ?? {};
const SHAPES: Record<WireName, Shape> = {
  chat: {
    dialect: "vllm",
    path: "/chat/completions",
    ask: { messages: message, max_tokens: ASKED, stream_options: { include_usage: true } },
    cut: "length",
    whole: "stop",
    thinks: true,
    text: (body) => asObject(choice(body).message)?.content,
    finish: (body) => choice(body).finish_reason,
    generated: (body) => asObject(body.usage)?.completion_tokens,
  },
  completions: {
    dialect: "ollama",
    path: "/completions",
    ask: { prompt: "Which words?", max_tokens: ASKED, stream_options: { include_usage: true } },
    cut: "length",
    whole: "stop",
    thinks: false,
    text: (body) => choice(body).text,
    finish: (body) => choice(body).finish_reason,
    generated: (body) => asObject(body.usage)?.completion_tokens,
  },
  responses: {
    dialect: "vllm",
    path: "/responses",
    ask: { input: "Which words?", max_output_tokens: ASKED },
    cut: "incomplete",
    whole: "completed",
    thinks: true,
    text: (body) => asObject(asArray(asObject(asArray(body.output).at(-1))?.content)[0])?.text,
    finish: (body) => body.status,
    generated: (body) => asObject(asObject(body.response)?.usage ?? body.usage)?.output_tokens,
  },
  messages: {
    dialect: "llamacpp",
    path: "/messages",
    ask: { messages: message, max_tokens: ASKED },
    cut: "max_tokens",
    whole: "end_turn",
    thinks: true,
    text: (body) => asObject(asArray(body.content).at(-1))?.text,
    finish: (body) => body.stop_reason,
    generated: (body) => asObject(body.usage)?.output_tokens,
  },
};
const WIRES = Object.keys(SHAPES) as WireName[];

/** So many tokens, one an event. */
const tokens = (n: number, from = 0): Script => Array.from({ length: n }, (_, at) => say(token(from + at)));
const token = (at: number) => `w${String(at).padStart(3, "0")} `;
const spelled = (n: number) => Array.from({ length: n }, (_, at) => token(at)).join("");
const thoughts = (n: number): Script => Array.from({ length: n }, () => think("hmmm "));

async function stage(wire: WireName, dialect: DialectName = SHAPES[wire].dialect) {
  const { path, ask } = SHAPES[wire];
  const up = await startUpstream({ dialect, window: 65_536 });
  const proxy = await startProxy(up, { models: [{ match: "*", upstream: "up", reasoning: true, caps: "strict" }] });
  const stream = (more: JsonObject = {}, headers: Record<string, string> = {}) =>
    postStream(proxy.url + path, { model: "m", ...ask, ...more }, headers);
  const plain = (more: JsonObject = {}, headers: Record<string, string> = {}) => {
    const { stream_options, ...body } = ask;
    return postPlain(proxy.url + path, { model: "m", ...body, ...more }, headers);
  };
  const caps = () => up.calls.map(({ body }) => body.max_tokens ?? body.max_output_tokens);
  return {
    up,
    proxy,
    stream,
    plain,
    caps,
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await up.close();
    },
  };
}

describe.each(WIRES)("a strict cap of a model that reasons, on %s", (wire) => {
  const shape = SHAPES[wire];

  it("leaves room for the thought, and the stream is stopped where the text has reached the cap", async () => {
    await using at = await stage(wire);
    const before = shape.thinks ? thoughts(150) : [];
    at.up.next(...before, ...tokens(ASKED + 20), stall());
    const got = await at.stream();
    expect(got.text()).toBe(spelled(ASKED));
    expect(got.finish()).toBe(shape.cut);
    expect(got.ended).toBe(true);
    expect(at.caps()).toEqual([ASKED + ALLOWANCE]);
    expect(got.headers["x-lastword-cap"]).toBe(`asked=${ASKED};sent=${ASKED + ALLOWANCE};reason=allowance`);
    expect(await (await at.up.call()).ended).toBe("aborted");
    expect(got.chunks.map(shape.generated).findLast((told) => told !== undefined)).toBe(before.length + ASKED);
    expect(await at.proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "honoured_cap" });
    const told = got.chunks
      .map((chunk) => asObject(chunk.lastword) ?? asObject(asObject(chunk.response)?.lastword))
      .find((report) => report !== undefined);
    expect(told).toMatchObject({ outcome: "cut_off", cause: "honoured_cap", warnings: ["usage_estimated"] });
  });

  it("cuts the text of a plain reply back to the cap, as its usage tells", async () => {
    await using at = await stage(wire);
    const before = shape.thinks ? [think("hmmm ".repeat(150))] : [];
    const told = shape.thinks ? usage(20, 300, { reasoning: 150 }) : usage(20, 150);
    at.up.next(...before, say(spelled(150)), finish("stop"), told, done());
    const { json = {}, headers } = await at.plain();
    const text = String(shape.text(json));
    expect(`${text} `).toBe(spelled(text.split(" ").length));
    expect(text.split(" ").length).toBeGreaterThan(ASKED - 5);
    expect(text.split(" ").length).toBeLessThanOrEqual(ASKED + 2);
    expect(shape.finish(json)).toBe(shape.cut);
    expect(shape.generated(json)).toBe(ASKED + (shape.thinks ? 150 : 0));
    expect(headers).toMatchObject({ "x-lastword-outcome": "cut_off", "x-lastword-cause": "honoured_cap" });
    expect(at.up.calls).toHaveLength(1);
  });

  it("does nothing to a reply that is within it", async () => {
    await using at = await stage(wire);
    const said: Script = [...(shape.thinks ? thoughts(150) : []), ...tokens(ASKED - 1), finish("stop")];
    at.up.handle(() => [...said, usage(20, 249, { reasoning: 150 }), done()]);
    const got = await at.stream();
    expect([got.text(), got.finish()]).toEqual([spelled(ASKED - 1), shape.whole]);
    const { json = {} } = await at.plain();
    expect([shape.text(json), shape.finish(json)]).toEqual([spelled(ASKED - 1), shape.whole]);
    expect(json.lastword).toBeUndefined();
    for (const n of [1, 2]) expect(await at.proxy.finished(n)).toMatchObject({ outcome: "complete", cause: null });
  });

  it("holds whichever way the reply comes", async () => {
    await using at = await stage(wire);
    at.up.next(over({ mode: "plain" }), say(spelled(150)), finish("stop"), usage(20, 150), done());
    const streamed = await at.stream();
    expect(streamed.text().split(" ").length).toBeLessThanOrEqual(ASKED + 2);
    expect(streamed.finish()).toBe(shape.cut);
    at.up.next(over({ mode: "stream" }), ...tokens(ASKED + 20), stall());
    const { json = {} } = await at.plain();
    expect([shape.text(json), shape.finish(json)]).toEqual([spelled(ASKED), shape.cut]);
  });
});

describe("a strict cap of a model that reasons", () => {
  it("is beside a thought that took all of the allowance: what the text has left is gone on with", async () => {
    await using at = await stage("chat");
    at.up.next(...thoughts(20), ...tokens(60), finish("length"), usage(20, ASKED + ALLOWANCE), done());
    at.up.next(...tokens(60, 60), stall());
    const got = await at.stream();
    expect(got.text()).toBe(spelled(ASKED));
    expect(got.finish()).toBe("length");
    expect(at.caps()).toEqual([ASKED + ALLOWANCE, 40 + ALLOWANCE]);
    expect(await (await at.up.call(2)).ended).toBe("aborted");
    expect(await at.proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "honoured_cap" });
  });

  it("and plain", async () => {
    await using at = await stage("chat");
    const told = usage(20, ASKED + ALLOWANCE, { reasoning: ASKED + ALLOWANCE - 60 });
    at.up.next(think("hm"), say(spelled(60)), finish("length"), told, done());
    at.up.next(say("more ".repeat(80)), finish("stop"), usage(20, 80, { reasoning: 0 }), done());
    const { json = {}, headers } = await at.plain();
    const text = String(SHAPES.chat.text(json));
    expect(text.startsWith(spelled(60))).toBe(true);
    const more = text.slice(spelled(60).length).trim().split(" ");
    expect(new Set(more)).toEqual(new Set(["more"]));
    expect(more.length).toBeGreaterThan(35);
    expect(more.length).toBeLessThanOrEqual(40);
    expect(SHAPES.chat.finish(json)).toBe("length");
    expect(headers["x-lastword-cause"]).toBe("honoured_cap");
  });

  it("leaves a turn that was all thought to be asked again, with less effort where no larger cap is to be had", async () => {
    await using at = await stage("chat");
    at.up.next(
      ...thoughts(20),
      finish("length"),
      usage(20, ASKED + ALLOWANCE, { reasoning: ASKED + ALLOWANCE }),
      done(),
    );
    at.up.next(...thoughts(5), ...tokens(10), finish("stop"), usage(20, 15, { reasoning: 5 }), done());
    const got = await at.stream();
    expect([got.text(), got.finish()]).toEqual([spelled(10), "stop"]);
    expect(at.up.calls[1]?.body.reasoning_effort).toBe("low");
    for (const cap of at.caps()) expect(cap).toBeLessThanOrEqual(ASKED + ALLOWANCE);
    expect(await at.proxy.finished()).toMatchObject({ outcome: "healed", cause: "reasoning_starved" });
  });

  it("counts of a nudged pass what is new", async () => {
    await using at = await stage("chat", "openai");
    const text = Array.from({ length: 60 }, (_, n) => `The lamp ${n} stands on the sill. `).join("");
    at.up.handle(recite({ text }, { providerCap: 60 }));
    const got = await at.stream();
    expect(text.startsWith(got.text())).toBe(true);
    const said = tokenize(got.text()).length;
    expect(said).toBeLessThanOrEqual(ASKED);
    expect(said).toBeGreaterThan(0.9 * ASKED);
    expect(got.finish()).toBe("length");
    expect(at.up.calls.length).toBeGreaterThan(1);
    expect(await at.proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "honoured_cap" });
  });

  it("is kept by a believable model whose thought alone is longer, and whose text is", async () => {
    for (const perEvent of [1, 7]) {
      await using at = await stage("chat");
      const text = "The lamp stands on the sill, behind the blue curtain, next to the old kettle. ".repeat(20);
      const reasoning = "They ask for the lamp, which I have seen this morning. ".repeat(20);
      at.up.handle(recite({ reasoning, text }, { perEvent }));
      const got = await at.stream();
      expect(got.reasoning()).toBe(reasoning);
      expect(text.startsWith(got.text())).toBe(true);
      const said = tokenize(got.text()).length;
      expect(said).toBeLessThanOrEqual(ASKED);
      expect(said).toBeGreaterThan(perEvent === 1 ? ASKED - 1 : 0.7 * ASKED);
      expect(got.finish()).toBe("length");
    }
  });

  it("is not used up by a thought that stands in the text", async () => {
    await using at = await stage("chat");
    const thought = ["<th", "ink>", ...Array.from({ length: 150 }, () => "hm "), "</thi", "nk>"];
    at.up.next(...thought.map((piece) => say(piece)), ...tokens(ASKED + 20), stall());
    const got = await at.stream();
    expect(got.text().startsWith(`${thought.join("")}${spelled(ASKED - 2)}`)).toBe(true);
    expect(got.text().length).toBeLessThanOrEqual(`${thought.join("")}${spelled(ASKED)}`.length);
    expect(got.finish()).toBe("length");
  });

  it("of an event with more than is left takes what fits", async () => {
    await using at = await stage("chat");
    at.up.next(...tokens(95), say("one two three four five six seven eight"), stall());
    const got = await at.stream();
    expect(got.text().startsWith(`${spelled(95)}one two`)).toBe(true);
    expect(got.text()).not.toContain("six");
    expect(got.finish()).toBe("length");
  });

  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const args = JSON.stringify({ words: spelled(150) });

  it("never cuts a call: behind text that is within, it comes whole", async () => {
    await using at = await stage("chat");
    const call = [...args].map((piece, i) => tool(0, i === 0 ? { id: "c1", name: "look" } : {}, piece));
    at.up.handle(() => [
      ...tokens(ASKED - 10),
      ...call,
      finish("tool_calls"),
      usage(20, 400, { reasoning: 100 }),
      done(),
    ]);
    const got = await at.stream({ tools });
    expect([got.text(), got.toolArgs(), got.finish()]).toEqual([spelled(ASKED - 10), [args], "tool_calls"]);
    const { json = {} } = await at.plain({ tools });
    expect(asArray(asObject(choice(json).message)?.tool_calls)).toMatchObject([{ function: { arguments: args } }]);
    expect(choice(json).finish_reason).toBe("tool_calls");
  });

  it("and behind text that is not, there is none, plain as in a stream", async () => {
    await using at = await stage("chat");
    const call = [tool(0, { id: "c1", name: "look" }, "{}"), finish("tool_calls"), usage(20, 155), done()];
    at.up.handle(() => [...tokens(150), ...call]);
    const got = await at.stream({ tools });
    expect([got.text(), got.toolArgs(), got.finish()]).toEqual([spelled(ASKED), [], "length"]);
    const { json = {} } = await at.plain({ tools });
    expect(choice(json)).toMatchObject({ finish_reason: "length" });
    expect(asObject(choice(json).message)?.tool_calls).toBeUndefined();
  });

  it("leaves a reply that ends by itself with its last token", async () => {
    await using at = await stage("chat");
    at.up.next(...tokens(ASKED), finish("stop"), done());
    const got = await at.stream({});
    expect([got.text(), got.finish()]).toEqual([spelled(ASKED), "stop"]);
    expect(await at.proxy.finished()).toMatchObject({ outcome: "complete" });
  });

  it("ends a format's reply, unless that is whole by then", async () => {
    await using at = await stage("chat");
    const format = { response_format: { type: "json_object" } };
    at.up.next(say('{"a":"'), ...tokens(150), stall());
    const cut = await at.stream(format);
    expect(cut.finish()).toBe("length");
    expect(await at.proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "honoured_cap" });
    at.up.next(say('{"a":"'), ...tokens(98), say('"}'), say("\n"), stall());
    const whole = await at.stream(format);
    expect([whole.text(), whole.finish()]).toEqual([`{"a":"${spelled(98)}"}`, "stop"]);
    expect(await at.proxy.finished(2)).toMatchObject({ outcome: "complete" });
  });

  it("ends log probabilities with the text", async () => {
    await using at = await stage("chat");
    const content = Array.from({ length: 150 }, (_, n) => ({ token: n === 0 ? "w" : " w", logprob: -1 }));
    const text = content.map(({ token }) => token).join("");
    const body = {
      id: "c1",
      object: "chat.completion",
      model: "m",
      choices: [
        { index: 0, message: { role: "assistant", content: text }, logprobs: { content }, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 150, total_tokens: 155 },
    };
    at.up.next({ act: "status", status: 200, body, headers: {} });
    const { json = {} } = await at.plain({ logprobs: true });
    const said = String(SHAPES.chat.text(json));
    const told = asArray(asObject(choice(json).logprobs)?.content).map((each) => asObject(each)?.token);
    expect(told.join("")).toBe(said);
    expect(told.length).toBeGreaterThan(ASKED - 5);
    expect(told.length).toBeLessThanOrEqual(ASKED);
  });

  it.each([
    ["passed on untouched", "chat", { "x-lastword-heal": "off" }, {}],
    ["of several choices", "chat", {}, { n: 2 }],
    ["with a budget for its thinking", "messages", {}, { thinking: { type: "enabled", budget_tokens: 64 } }],
  ] as const)("is sent as it was asked where the reply is %s", async (_, wire, headers, more) => {
    await using at = await stage(wire);
    at.up.next(say("ok"), finish("stop"), done());
    await at.stream(more, headers);
    expect(at.caps()).toEqual([ASKED]);
  });

  it("is sent as it was asked where a bare prompt is gone on with: all of that is text", async () => {
    await using up = await startUpstream({ dialect: "vllm", window: 65_536 });
    await using proxy = await startProxy(up, { models: [{ match: "*", upstream: "up", reasoning: true }] });
    up.next(say("ok"), finish("stop"), done());
    await postPlain(`${proxy.url}/completions`, { model: "m", prompt: "Once", max_tokens: ASKED });
    expect(up.calls[0]?.body.max_tokens).toBe(ASKED);
  });
});
