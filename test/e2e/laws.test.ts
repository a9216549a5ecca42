import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { postPlain, postStream, type Streamed } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { startUpstream, tokenize } from "../support/upstream.ts";
import { recite } from "../support/upstream-recite.ts";

const TEXT = [
  "# Tea — 茶 🍵",
  "",
  "1. Boil the water.\n2. Warm the pot.\n3. Wait, wait, wait.",
  "",
  "```python\ndef brew(leaves):\n    for leaf in leaves:\n        steep(leaf)\n```",
  "",
  "Ça va — naïve café, e\u0301t\u00e9. The end.",
].join("\n");
const TOKENS = tokenize(TEXT).length;
const ask = { model: "m", messages: [{ role: "user", content: "recite" }] };

/** One role, one finish, one terminal event, one id, nothing behind the end. */
function expectOneReply(streamed: Streamed): void {
  const finishes = streamed.chunks.flatMap((chunk) =>
    choicesOf(chunk).filter((choice) => choice.finish_reason != null),
  );
  expect(finishes).toHaveLength(1);
  expect(streamed.events.filter((event) => event.data === "[DONE]")).toHaveLength(1);
  expect(streamed.events.at(-1)?.data).toBe("[DONE]");
  expect(new Set(streamed.chunks.map((chunk) => chunk.id)).size).toBe(1);
  expect(streamed.broken).toBe(false);
}

function choicesOf(chunk: Record<string, unknown>): { finish_reason?: unknown }[] {
  return Array.isArray(chunk.choices) ? chunk.choices : [];
}

describe("laws of healing", () => {
  for (const dialect of ["llamacpp", "vllm", "ollama", "openrouter", "openai"] as const) {
    it(`a cut at every token gives the whole reply or an honest cut: ${dialect}`, async () => {
      await using up = await startUpstream({ dialect });
      await using proxy = await startProxy(up, { recovery: { honourCapsUpTo: 0 } });
      up.handle(recite(TEXT));
      for (let max_tokens = 1; max_tokens <= TOKENS + 1; max_tokens++) {
        const streamed = await postStream(`${proxy.url}/chat/completions`, { ...ask, max_tokens });
        expectOneReply(streamed);
        if (streamed.finish() === "stop") expect(streamed.text()).toBe(TEXT);
        else expect(TEXT.startsWith(streamed.text())).toBe(true);
        const plain = await postPlain(`${proxy.url}/chat/completions`, { ...ask, max_tokens });
        expect(plain.json).toMatchObject({
          choices: [{ message: { content: streamed.text() }, finish_reason: streamed.finish() }],
        });
      }
    });
  }

  it("any split of the upstream's bytes gives the same reply", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { recovery: { honourCapsUpTo: 0 } });
    const body = { ...ask, max_tokens: 20 };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1e6 }),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.integer({ min: 1, max: 5 }),
        async (seed, newline, batch) => {
          up.handle(recite(TEXT, { transport: { split: { seed, max: 40 }, newline, batch } }));
          const streamed = await postStream(`${proxy.url}/chat/completions`, body);
          expect(streamed.text()).toBe(TEXT);
          expectOneReply(streamed);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("tells one outcome per request, and the tallies add up", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.handle(recite(TEXT));
    for (let i = 0; i < 5; i++) await postPlain(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 20 + 40 * i });
    await postPlain(`${proxy.url}/chat/completions`, { model: "m", messages: "no" });
    const ends = proxy.events.filter((event) => event.type === "finished");
    expect(ends).toHaveLength(6);
    const tallies = proxy.services.tallies.list();
    for (const tally of tallies) expect(Object.values(tally.outcomes).reduce((a, b) => a + b, 0)).toBe(tally.requests);
    expect(tallies.reduce((sum, tally) => sum + tally.requests, 0)).toBe(6);
  });

  it("two hundred at once are all exact", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    const users = [...Array(200).keys()].map((i) => `n${i}`);
    up.handle(recite({ byUser: Object.fromEntries(users.map((user) => [user, `${user}: ${TEXT}${TEXT}${user}`])) }));
    const replies = await Promise.all(
      users.map((user, i) =>
        postStream(`${proxy.url}/chat/completions`, {
          model: "m",
          messages: [{ role: "user", content: user }],
          max_tokens: 65 + (i % 40),
        }),
      ),
    );
    replies.forEach((streamed, i) => {
      expect(streamed.text()).toBe(`${users[i]}: ${TEXT}${TEXT}${users[i]}`);
      expectOneReply(streamed);
    });
    expect(proxy.events.filter((event) => event.type === "finished" && event.outcome === "healed")).toHaveLength(200);
  });
});
