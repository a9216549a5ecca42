import { describe, expect, test } from "vitest";
import { type Count, type Counter, createCounter } from "../../src/budget/count.ts";
import { createMeasurer } from "../../src/budget/tokenizers.ts";
import type { Piece } from "../../src/core/ask.ts";
import { type Conversation, conversation, requestsOf } from "./conversations.ts";
import recorded from "./reciter-counts.json" with { type: "json" };
import { inProcess } from "./support.ts";

const measure = createMeasurer(inProcess);

/** The requests of generated conversations, and what llama-server counted for each with a vocabulary of 1,184 tokens. */
const REQUESTS = Array.from({ length: recorded.conversations }, (_, seed) => requestsOf(conversation(seed)))
  .flat()
  .map((request, i) => ({ ...request, truth: recorded.tokens[i] ?? 0 }));

function target({ body }: Conversation, model = "m") {
  return { upstream: "u", model, bodyBytes: Buffer.byteLength(JSON.stringify(body)) };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function taught(counter: Counter, requests: readonly (Conversation & { truth: number })[], model = "m") {
  for (const request of requests) {
    const count = await counter.count(request.pieces, target(request, model));
    counter.learn(count, target(request, model), request.truth);
  }
}

test("of 2,000 requests to an unknown model every one is within its bound, which is below 3 % after 20 replies", async () => {
  const counter = createCounter(measure);
  const bounds: number[] = [];
  const outside: string[] = [];
  for (const [i, request] of REQUESTS.entries()) {
    const count = await counter.count(request.pieces, target(request));
    if (Math.abs(count.tokens - request.truth) > count.bound)
      outside.push(`${i}: ${request.truth} is not within ${count.tokens} +- ${count.bound}`);
    if (i >= 20) bounds.push(count.bound / request.truth);
    counter.learn(count, target(request), request.truth);
  }
  expect(outside).toEqual([]);
  expect(REQUESTS.length).toBeGreaterThanOrEqual(2000);
  expect(median(bounds)).toBeLessThan(0.03);
}, 60_000);

describe("from the usage of replies", () => {
  test("the bound narrows", async () => {
    const counter = createCounter(measure);
    const alone = REQUESTS.filter(({ truth }) => truth > 500).filter((_, i) => i % 9 === 0);
    const last = alone.at(-1);
    if (last === undefined) throw new Error("no requests");
    const before = await counter.count(last.pieces, target(last));
    await taught(counter, alone.slice(0, 40));
    const after = await counter.count(last.pieces, target(last));
    expect(after.bound).toBeLessThan(before.bound / 4);
    expect(Math.abs(after.tokens - last.truth)).toBeLessThanOrEqual(after.bound);
  });

  test("a conversation costs what it cost, and what is new in it", async () => {
    const counter = createCounter(measure);
    const turns = requestsOf(conversation(longest()));
    const first = turns.at(-2);
    const next = turns.at(-1);
    if (first === undefined || next === undefined) throw new Error("too short");
    const count = await counter.count(first.pieces, target(first));
    const truth = Math.round(count.tokens * 1.1);
    counter.learn(count, target(first), truth);
    expect(await counter.count(first.pieces, target(first))).toMatchObject({
      tokens: truth,
      bound: 0,
      method: "exact",
    });
    const more = await counter.count(next.pieces, target(next));
    expect(more.tokens).toBeGreaterThan(truth);
    expect(more.bound).toBeLessThan(2 * (more.tokens - truth));
  });

  test("prompts that change in the middle are no longer taken to be what they were", async () => {
    const counter = createCounter(measure);
    await taught(counter, REQUESTS.slice(0, 60).reverse());
    // What a turn adds is told to be less than it is: thoughts of earlier turns are left out.
    const turns = requestsOf(conversation(longest()));
    const counts: Count[] = [];
    for (const [i, turn] of turns.entries()) {
      const count = await counter.count(turn.pieces, target(turn));
      counts.push(count);
      counter.learn(count, target(turn), Math.round(count.tokens * (i % 2 === 0 ? 1 : 0.6)));
    }
    expect(counts.at(-1)?.evidence?.base).toBe(0);
  });

  test.each([
    ["zero, as some servers report it", () => 0],
    ["no number", () => Number.NaN],
    ["B105: what is left when cached tokens are not counted", () => 2],
    ["more than there are bytes", ({ most }: { most: number }) => most + 1],
  ])("%s teaches nothing", async (_, reported) => {
    const counter = createCounter(measure);
    const request = REQUESTS.find(({ truth }) => truth > 5000);
    if (request === undefined) throw new Error("no request");
    const count = await counter.count(request.pieces, target(request));
    if (count.evidence === null) throw new Error("no evidence");
    counter.learn(count, target(request), reported(count.evidence));
    expect(counter.calibration("u", "m")?.replies).toBe(0);
  });

  test("pictures and upper limits teach nothing", async () => {
    const counter = createCounter(measure);
    const picture: Piece = { kind: "image", url: "https://example.com/a.png", detail: "low" };
    const pieces: Piece[] = [{ kind: "text", role: "user", text: "see", opens: true }, picture];
    const of = { upstream: "u", model: "m", bodyBytes: 200 };
    counter.learn(await counter.count(pieces, of), of, 300);
    expect(counter.calibration("u", "m")?.replies).toBe(0);
  });

  test("one wrong report moves little", async () => {
    const counter = createCounter(measure);
    await taught(counter, REQUESTS.slice(0, 60));
    const [wrong, next] = REQUESTS.slice(60).filter(({ truth }) => truth > 2000);
    if (wrong === undefined || next === undefined) throw new Error("no requests");
    const before = await counter.count(next.pieces, target(next));
    const count = await counter.count(wrong.pieces, target(wrong));
    counter.learn(count, target(wrong), Math.round(wrong.truth * 0.7));
    const after = await counter.count(next.pieces, target(next));
    expect(Math.abs(after.tokens - before.tokens)).toBeLessThan(0.1 * before.tokens);
    expect(Math.abs(after.tokens - next.truth)).toBeLessThanOrEqual(after.bound);
  });

  test("B82: a name that promises another vocabulary is found out", async () => {
    const counter = createCounter(measure);
    await taught(counter, REQUESTS.slice(0, 60), "gpt-4o");
    for (const request of REQUESTS.slice(60, 120)) {
      const count = await counter.count(request.pieces, target(request, "gpt-4o"));
      if (count.evidence?.base === 0) expect(count.method).toBe("estimate");
      expect(Math.abs(count.tokens - request.truth)).toBeLessThanOrEqual(count.bound);
      counter.learn(count, target(request, "gpt-4o"), request.truth);
    }
  });

  test("prompts that were not counted teach too, until enough is known", async () => {
    const counter = createCounter(measure);
    const [first, ...more] = REQUESTS.slice(0, 90);
    if (first === undefined) throw new Error("no request");
    await counter.count(first.pieces, target(first));
    for (const request of more) await counter.study(() => request.pieces, target(request), request.truth);
    expect(counter.calibration("u", "m")?.replies).toBe(64);
  });

  test("a prompt that was not counted is not read where none ever was, nor where it is large", async () => {
    const counter = createCounter(measure);
    const [request] = REQUESTS;
    if (request === undefined) throw new Error("no request");
    const unread = () => {
      throw new Error("it was read");
    };
    await counter.study(unread, target(request), request.truth);
    await counter.count(request.pieces, target(request));
    await counter.study(unread, { ...target(request), bodyBytes: 1_000_000 }, request.truth);
    await expect(counter.study(unread, target(request), request.truth)).rejects.toThrow("it was read");
  });

  test("upstreams and models are told apart", async () => {
    const counter = createCounter(measure);
    await taught(counter, REQUESTS.slice(0, 5));
    expect(counter.calibration("u", "m")?.replies).toBe(5);
    expect(counter.calibration("v", "m")).toBeNull();
    expect(counter.calibration("u", "n")).toBeNull();
  });

  test("what was learned survives being saved as JSON", async () => {
    const counter = createCounter(measure);
    await taught(counter, REQUESTS.slice(0, 20));
    const learned = counter.calibration("u", "m");
    if (learned === null) throw new Error("nothing was learned");
    const other = createCounter(measure);
    other.restore("u", "m", JSON.parse(JSON.stringify(learned)));
    await taught(counter, []);
    const request = REQUESTS.find(({ pieces }, i) => i > 100 && pieces.length > 8);
    if (request === undefined) throw new Error("no request");
    const { tokens, bound } = await other.count(request.pieces, target(request));
    expect(await counter.count(request.pieces, target(request))).toMatchObject({ tokens, bound });
  });

  test("models of many names are forgotten, the least recently used first", async () => {
    const counter = createCounter(measure);
    const [request] = REQUESTS;
    if (request === undefined) throw new Error("no requests");
    await taught(counter, [request], "kept");
    for (let i = 0; i < 300; i++) {
      await counter.count(request.pieces, target(request, `name-${i}`));
      if (i % 50 === 0) await counter.count(request.pieces, target(request, "kept"));
    }
    expect(counter.calibration("u", "kept")?.replies).toBe(1);
    expect(counter.calibration("u", "name-0")).toBeNull();
  });
});

/** The seed of a conversation of many turns. */
function longest(): number {
  const turns = Array.from({ length: 60 }, (_, seed) => requestsOf(conversation(seed)).length);
  return turns.indexOf(Math.max(...turns));
}
