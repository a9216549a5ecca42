import { countTokens } from "gpt-tokenizer/encoding/cl100k_base";
import { encodeChat } from "gpt-tokenizer/model/gpt-4o";
import { describe, expect, test } from "vitest";
import { type Count, ceilingCount, createCounter } from "../../src/budget/count.ts";
import { familyOf } from "../../src/budget/families.ts";
import { createMeasurer } from "../../src/budget/tokenizers.ts";
import type { Piece } from "../../src/core/ask.ts";
import { conversation, requestsOf } from "./conversations.ts";
import recorded from "./reciter-counts.json" with { type: "json" };
import { inProcess } from "./support.ts";

const measure = createMeasurer(inProcess);

const opens = (role: string): Piece => ({ kind: "text", role, text: "", opens: true });
const says = (text: string, role = "user"): Piece => ({ kind: "text", role, text, opens: false });
const message = (text: string, role = "user"): Piece[] => [opens(role), says(text, role)];
const bytes = (pieces: readonly Piece[]) => Buffer.byteLength(JSON.stringify(pieces));

async function count(pieces: readonly Piece[], model = "m"): Promise<Count> {
  return createCounter(measure).count(pieces, { upstream: "u", model, bodyBytes: bytes(pieces) });
}

describe("models whose vocabulary and template are published", () => {
  const chat = [
    { role: "system", content: "You are helpful. 你好, 12345!" },
    { role: "user", content: "Tell me <|endoftext|> about naïve café 👩‍💻" },
    { role: "assistant", content: "" },
    { role: "user", content: "1\n".repeat(30) },
  ] as const;
  const pieces = chat.flatMap(({ role, content }) => message(content, role));
  const special = { disallowedSpecial: new Set<string>() };

  test.each([
    ["gpt-4o", encodeChat([...chat], undefined, special as never).length],
    ["openai/gpt-4.1-mini", encodeChat([...chat], undefined, special as never).length],
    ["gpt-3.5-turbo", 3 + chat.reduce((sum, { content }) => sum + 4 + countTokens(content, special), 0)],
  ])("%s: messages of plain text are counted exactly", async (model, tokens) => {
    expect(await count(pieces, model)).toMatchObject({ tokens, bound: 0, method: "exact" });
  });

  test("whatever is rendered in a way that is not published makes an estimate of it", async () => {
    const tool: Piece = { kind: "tool_definition", json: '{"type":"function","function":{"name":"f"}}' };
    const { method, bound } = await count([tool, ...pieces], "gpt-4o");
    expect(method).toBe("estimate");
    expect(bound).toBeGreaterThan(0);
    expect((await count([opens("user"), says("two"), says("parts")], "gpt-4o")).method).toBe("estimate");
    expect((await count(pieces, "gpt-5")).method).toBe("estimate");
  });
});

test.each([
  ["gpt-4o-2024-08-06", "gpt4o"],
  ["ft:gpt-4.1:org::id", "gpt4o"],
  ["gpt-4", "gpt4"],
  ["gpt-4-0613", "gpt4"],
  ["openai/gpt-oss-20b", "harmony"],
  ["o3-mini", "gpt5"],
  ["meta-llama/Llama-3.3-70B-Instruct", "llama3"],
  ["Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "llama3"],
  ["deepseek-r1-distill-llama-8b", "llama3"],
  ["deepseek-r1-distill-qwen-7b", "qwen"],
  ["qwen/qwen3-8b", "qwen"],
  ["deepseek-chat", "deepseek"],
  ["google/gemma-3-12b", "gemma"],
  ["mistral-nemo:12b", "tekken"],
  ["mistralai/Mistral-7B-Instruct-v0.3", "mistral"],
  ["my-own-model", "unknown"],
  ["", "unknown"],
])("the family of %s is %s", (model, name) => {
  expect(familyOf(model).name).toBe(name);
});

describe("everything counts", () => {
  const schema = (fields: number) =>
    JSON.stringify({
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: fields }, (_, i) => [
          `field_${i}`,
          { type: "string", description: `The field number ${i}` },
        ]),
      ),
    });
  const talk = message("word ".repeat(500));

  test("B77: tools, functions and schemas, each under its own name", async () => {
    const alone = await count(talk);
    const tools = await count([{ kind: "tool_definition", json: schema(300) }, ...talk]);
    expect(tools.tokens - alone.tokens).toBeGreaterThan(4000);
    expect(tools.parts.tools).toBeGreaterThan(4000);
    expect(tools.parts.messages).toBeGreaterThan(400);
    expect(tools.parts.messages).toBeLessThan(900);
    const formatted = await count([{ kind: "schema", json: schema(300) }, ...talk], "gpt-4o");
    expect(formatted.parts.schema).toBeGreaterThan(4000);
  });

  test("roles, names, calls, results and thoughts in the history", async () => {
    const base = (await count(talk)).tokens;
    const more = async (...pieces: Piece[]) => (await count([...talk, ...pieces])).tokens - base;
    expect(await more(opens("assistant"))).toBeGreaterThanOrEqual(3);
    expect(await more({ kind: "tool_call", name: "search", args: '{"query":"a b c"}' })).toBeGreaterThanOrEqual(10);
    expect(await more(...message("result ".repeat(50), "tool"))).toBeGreaterThanOrEqual(50);
    expect(await more(says("<think>one two three</think>"))).toBeGreaterThanOrEqual(5);
    expect(await more({ kind: "tokens", count: 77 })).toBe(77);
  });

  test("the parts sum up to the whole", async () => {
    for (let seed = 0; seed < 40; seed++) {
      const { tokens, parts } = await count(conversation(seed).pieces);
      expect(parts.messages + parts.tools + parts.schema + parts.images + parts.other).toBe(tokens);
    }
  });

  test("B78: a picture of 2.5 million characters is not text", async () => {
    const picture: Piece = { kind: "image", url: `data:image/png;base64,${"A".repeat(2_500_000)}`, detail: "auto" };
    const pieces = [...message("what is this?"), picture];
    const { tokens, bound, parts, evidence } = await count(pieces);
    expect(parts.images).toBe(1105);
    expect(tokens + bound).toBeLessThan(6000);
    expect(evidence).toBeNull();
    expect(ceilingCount(pieces, { upstream: "u", model: "m", bodyBytes: bytes(pieces) }).tokens).toBeLessThan(20_000);
  });

  test("sounds and files are bounded guesses", async () => {
    const sound: Piece = { kind: "audio", base64: "A".repeat(4 * 80_000), format: "wav" };
    const { tokens, bound } = await count([...message("what is said?"), sound]);
    // 7.5 seconds of 16 kHz PCM, about 10 tokens each.
    expect(tokens).toBeGreaterThan(75);
    expect(bound).toBeGreaterThan(tokens / 2);
    const file: Piece = { kind: "file", base64: "A".repeat(40_000), mime: "application/pdf" };
    expect((await count([...message("sum it up"), file])).tokens).toBeGreaterThan(1000);
  });
});

describe("what four characters per token get wrong", () => {
  const base64 = Array.from({ length: 20_000 }, (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 26).toString(36)).join("");
  const SAMPLES = {
    "B79: base64 within text": [base64, 0.6],
    "B80: Chinese": ["昨天晚上我们讨论了为什么这个程序运行得这么慢。".repeat(130), 0.6],
    "B80: Japanese": ["昨日の夜、なぜこのプログラムがこんなに遅いのか。".repeat(125), 0.6],
    "B80: Russian": ["вчера вечером мы долго говорили о том, почему ".repeat(65), 0.2],
    "B80: emoji": ["😀🎉🚀👍🏽❤️".repeat(70), 0.5],
    "B81: digits and line breaks": ["1\n".repeat(30_000), 0.95],
    "B81: signs": ["%$".repeat(4000), 0.1],
  } as const;

  test.each(Object.entries(SAMPLES))("%s", async (_, [text, perCharacter]) => {
    const own = await count(message(text), "gpt-4o");
    expect(own.bound).toBe(0);
    const unknown = await count(message(text));
    expect(unknown.tokens).toBeGreaterThanOrEqual(Math.floor(0.9 * own.tokens));
    expect(unknown.tokens).toBeGreaterThanOrEqual(perCharacter * text.length * 0.9);
    // Nothing is known of the vocabulary: up to a token a byte.
    expect(unknown.tokens + unknown.bound).toBeGreaterThanOrEqual(Buffer.byteLength(text));
  });
});

describe("the ceiling", () => {
  test("is above what a small vocabulary spends on 2,000 generated requests", () => {
    let n = 0;
    for (let seed = 0; seed < recorded.conversations; seed++) {
      for (const { body, pieces } of requestsOf(conversation(seed))) {
        const bodyBytes = Buffer.byteLength(JSON.stringify(body));
        const { tokens } = ceilingCount(pieces, { upstream: "u", model: "m", bodyBytes });
        expect(tokens).toBeGreaterThanOrEqual(recorded.tokens[n++] ?? Number.POSITIVE_INFINITY);
      }
    }
    expect(n).toBe(recorded.tokens.length);
  }, 60_000);

  test("stands in where the tokenizer fails", async () => {
    const failing = createCounter(() => Promise.reject(new Error("gone")));
    const pieces = message("hello");
    const target = { upstream: "u", model: "m", bodyBytes: bytes(pieces) };
    expect(await failing.count(pieces, target)).toEqual(ceilingCount(pieces, target));
  });
});

test("a prompt in which nothing is new is counted at once", async () => {
  const counter = createCounter(measure);
  const { body, pieces } = conversation(3);
  const target = { upstream: "u", model: "m", bodyBytes: Buffer.byteLength(JSON.stringify(body)) };
  const first = await counter.count(pieces, target);
  expect(counter.count(pieces, target)).toEqual(first);
});
