import { describe, expect, it } from "vitest";
import { asNumber, asObject, type JsonObject } from "../../src/core/json.ts";
import type { Plain } from "../support/client.ts";
import { type Call, overflow, promptTokens, reply } from "../support/upstream.ts";
import { ask, asking, stage, whole, words } from "./stage.ts";

const capOf = (call: Call | undefined) => asNumber(call?.body.max_tokens) ?? 0;
/** A window that is known, and nothing to count with but the text. */
const uncounted = { dialect: "generic", window: null } as const;
const window = (tokens: number) => ({ models: [{ match: "*", window: tokens }] });
const saying = (content: string, more: JsonObject = {}): JsonObject => ({
  ...ask,
  messages: [{ role: "user", content }],
  ...more,
});
const messageOf = ({ json }: Plain) => String(asObject(json?.error)?.message);

/** What the prompt may cost at most, as the client is told: of an answered request by its headers, of a refused one by its facts. */
function most({ json, headers }: Plain): number {
  const bound = /bound=(\d+)/.exec(String(headers["x-lastword-count-method"]))?.[1];
  const facts = asObject(asObject(json?.error)?.lastword);
  return Number(headers["x-lastword-prompt-tokens"] ?? facts?.prompt_tokens) + Number(bound ?? facts?.count_bound ?? 0);
}

describe("counting", () => {
  const schema = { type: "object", properties: { text: { type: "string", description: words(5000) } } };
  const tools = [{ type: "function", function: { name: "write", description: "Writes.", parameters: schema } }];

  it("B77: tools are counted, and told apart in the refusal; without them it passes", async () => {
    const { up, plain } = await stage({ dialect: "vllm", window: 4096 });
    up.handle(() => whole("ok"));
    const got = await plain(saying(words(500), { tools }));
    expect(got.status).toBe(400);
    const facts = asObject(asObject(got.json?.error)?.lastword);
    expect(asNumber(facts?.tool_tokens)).toBeGreaterThan(3000);
    expect(asNumber(facts?.message_tokens)).toBeLessThan(1500);
    expect(messageOf(got)).toMatch(/tool|function/i);
    expect(up.calls).toHaveLength(0);
    expect((await plain(saying(words(500)))).status).toBe(200);
  });

  it.each([
    ["a schema", { response_format: { type: "json_schema", json_schema: { name: "s", schema } } }],
    ["functions", { functions: [{ name: "write", parameters: schema }] }],
  ])("B77: so are %s", async (_name, more) => {
    const { up, plain } = await stage(uncounted, window(4096));
    expect((await plain({ ...saying(words(500), more), model: "gpt-4o" })).status).toBe(400);
    expect(up.calls).toHaveLength(0);
  });

  describe("B78: a picture", () => {
    const data = "iVBORw0KGgo".concat("A".repeat(2_500_000));
    const url = `data:image/png;base64,${data}`;
    const text = "what is this?";

    it.each([
      [
        "/chat/completions",
        {
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text },
                { type: "image_url", image_url: { url } },
              ],
            },
          ],
        },
      ],
      [
        "/responses",
        {
          input: [
            {
              role: "user",
              content: [
                { type: "input_text", text },
                { type: "input_image", image_url: url },
              ],
            },
          ],
        },
      ],
      [
        "/messages",
        {
          max_tokens: 100,
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text },
                { type: "image", source: { type: "base64", media_type: "image/png", data } },
              ],
            },
          ],
        },
      ],
    ] as [string, JsonObject][])("B78: is no text, and goes on to the byte: %s", async (path, body) => {
      const { up, plain } = await stage(uncounted, window(32_768));
      up.handle(() => whole("a dog"));
      const sent = JSON.stringify({ model: "m", ...body });
      const got = await plain(sent, {}, path);
      expect(got.status).toBe(200);
      expect(Number(got.headers["x-lastword-prompt-tokens"])).toBeLessThan(32_768);
      expect(up.calls[0]?.bytes.includes(data)).toBe(true);
    });

    it("B78: one that is elsewhere is none of base64 either", async () => {
      const { up, plain } = await stage(uncounted, window(8192));
      up.handle(() => whole("a dog"));
      const image = { type: "image_url", image_url: { url: "https://example.org/dog.png" } };
      const got = await plain({
        ...ask,
        messages: [{ role: "user", content: [{ type: "text", text }, image] }],
        max_tokens: 100,
      });
      expect(got.status).toBe(200);
    });
  });

  describe("B79: base64 inside of a text", () => {
    const base64 = Buffer.from(
      Array.from({ length: 15_000 }, (_, at) => (at * 7919 + (at >> 3) * 104_729) & 255),
    ).toString("base64");
    const called = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
    };
    const body = {
      model: "m",
      max_tokens: 2000,
      messages: [{ role: "user", content: "go" }, called, { role: "tool", tool_call_id: "c", content: base64 }],
    };

    it("B79: costs what the server says that it costs", async () => {
      const { up, plain } = await stage({ dialect: "vllm", window: 16_384 });
      up.on("POST /tokenize", () => ({ json: { count: 15_800, max_model_len: 16_384, tokens: [] } }));
      up.handle(() => whole("ok"));
      await plain(body);
      expect(up.calls).toHaveLength(1);
      expect(capOf(up.calls[0])).toBeLessThanOrEqual(584);
    });

    it("B79: and where none can be asked, about three tokens for four characters", async () => {
      const { up, plain } = await stage(uncounted, window(16_384));
      up.handle(() => whole("ok"));
      const got = await plain(body);
      expect(most(got)).toBeGreaterThanOrEqual(0.75 * base64.length);
      if (got.status === 200) expect(capOf(up.calls[0])).toBeLessThan(2000);
    });
  });

  /** Reference counts of the o200k vocabulary, or the script's usual cost where that is more. */
  it.each([
    ["B80: Chinese", "昨天晚上我们讨论了为什么这个程序运行得这么慢。".repeat(130), 2400],
    ["B80: Cyrillic", "вчера вечером мы долго говорили о том, почему ".repeat(65), 650],
    ["B80: emoji", "😀🎉🚀👍🏽❤️".repeat(100), 700],
    ["B81: digits and line breaks", "1\n".repeat(1800), 3600],
    ["B81: small JSON", JSON.stringify(Array.from({ length: 300 }, (_, at) => ({ a: at, b: [at * 3, null] }))), 3300],
    ["B81: signs", "%$".repeat(2000), 1000],
  ])("%s is not undercounted, and prompt and cap stay within the window", async (_name, text, real) => {
    const { up, plain } = await stage(uncounted, window(8192));
    up.handle(() => whole("ok"));
    const got = await plain(saying(text, { max_tokens: 7500 }));
    expect(most(got)).toBeGreaterThanOrEqual(0.9 * real);
    for (const call of up.calls) expect(capOf(call) + real).toBeLessThanOrEqual(8192);
  });

  it("B82: a vocabulary that counts a little more costs one correction at most, and is learned", async () => {
    const { up, plain } = await stage(uncounted, window(16_384));
    const real = (call: Call) => 15_090 + (call.bytes.length - 72_000) / 5;
    up.handle((call) => {
      const prompt = Math.round(real(call));
      if (prompt + capOf(call) > 16_384) return overflow.vllm.new(prompt, 16_384, capOf(call));
      return [...whole("ok"), { act: "usage", usage: { prompt, completion: 1 }, force: true }];
    });
    const body = asking(14_400, { model: "qwen2.5-7b-instruct", max_tokens: 1200 });
    expect((await plain(body)).status).toBe(200);
    expect(up.calls.length).toBeLessThanOrEqual(2);
    const before = up.calls.length;
    expect((await plain(body)).status).toBe(200);
    expect(up.calls.length - before).toBe(1);
  });

  it("B82: a model of which nothing is known is not refused what fits, and becomes known by what it serves", async () => {
    const { up, plain } = await stage({ dialect: "lmstudio", window: 8192, models: ["my-model"] });
    up.handle((call) => reply("ok", "stop", { prompt: promptTokens("chat", call.body), completion: 1 }));
    const own = { model: "my-model", max_tokens: 500 };
    expect((await plain(asking(4000, own))).status).toBe(200);
    const short = (n: number) => ({
      ...saying(`The quick brown fox number ${n} jumps over the lazy dog. `.repeat(20)),
      ...own,
    });
    for (let n = 0; n < 8; n++) expect((await plain(short(n))).status).toBe(200);
    expect((await plain(asking(6000, own))).status).toBe(200);
    expect((await plain(asking(9000, own))).status).toBe(400);
  });
});
