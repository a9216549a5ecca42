import { describe, expect, it } from "vitest";
import type { Event } from "../../src/events/event.ts";
import { type Plain, postPlain, type Streamed, startStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { type Engine, freePort, present, recitals, startEngine } from "./engine.ts";

const longest = recitals
  .filter(({ reasoning_content, tool_call }) => reasoning_content === undefined && tool_call === undefined)
  .sort((a, b) => b.completion_tokens - a.completion_tokens)[0];
const recital = longest ?? { name: "none", messages: [], content: "", completion_tokens: 0 };
const body = { model: "reciter", messages: recital.messages, temperature: 0 };
/** Somewhere behind the middle of it. */
const SEEN = 0.6 * recital.content.length;

/** Waits as they might be in front of a server that needs a moment to come back. */
const patient = { recovery: { retryBackoffSeconds: [0.5, 1, 2, 4], minAttemptSeconds: 1 } };

type Attempt = Extract<Event, { type: "attempt_ended" }>;
const attemptsOf = (events: readonly Event[]) =>
  events.filter((event): event is Attempt => event.type === "attempt_ended").map(({ facts }) => facts);

const textOf = (seen: string) =>
  [...seen.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(([, text]) => JSON.parse(text ?? '""')).join("");

/** Resolves once the client has had this many characters. */
async function had(live: { seen(): string }, characters: number): Promise<void> {
  while (textOf(live.seen()).length < characters) await new Promise(setImmediate);
}

function expectWhole(got: Streamed): void {
  expect(got.text()).toBe(recital.content);
  expect(got.finish()).toBe("stop");
  expect(got.ended).toBe(true);
}

async function kill(engine: Engine): Promise<void> {
  await engine[Symbol.asyncDispose]();
}

describe.skipIf(!present)("faults of a real llama-server", () => {
  it("killed in the middle of a reply and started again: the reply goes on from where it was", async () => {
    const port = await freePort();
    const first = await startEngine(2048, port);
    await using proxy = await startProxy(first, patient);
    const live = startStream(`${proxy.url}/chat/completions`, body);
    await had(live, SEEN);
    await kill(first);
    await using _second = await startEngine(2048, port);
    expectWhole(await live.done);
    expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "upstream_broken" });
    const last = attemptsOf(proxy.events).at(-1);
    expect(last?.strategy).toBe("prefill");
    // From the checkpoint, not from the top.
    expect(last?.completion_tokens).toBeLessThan(0.7 * recital.completion_tokens);
  }, 60_000);

  it("killed while a plain reply is made: it is asked for again", async () => {
    const port = await freePort();
    const first = await startEngine(2048, port);
    await using proxy = await startProxy(first, patient);
    const plain = postPlain(`${proxy.url}/chat/completions`, body);
    while (attemptsStarted(proxy.events) === 0) await new Promise(setImmediate);
    await kill(first);
    await using _second = await startEngine(2048, port);
    expect(contentOf(await plain)).toBe(recital.content);
    expect((await plain).headers["x-lastword-outcome"]).toBe("complete");
  }, 60_000);

  it("killed for good: what came is told as cut, and the next request as unreachable", async () => {
    const engine = await startEngine(2048);
    await using proxy = await startProxy(engine, { recovery: { retryBackoffSeconds: [0.1, 0.1] } });
    const live = startStream(`${proxy.url}/chat/completions`, body);
    await had(live, SEEN);
    await kill(engine);
    const got = await live.done;
    expect(recital.content.startsWith(got.text())).toBe(true);
    expect(got.finish()).toBe("length");
    expect(got.chunks.at(-1)).toMatchObject({ lastword: { outcome: "cut_off", code: "upstream_unreachable" } });
    const next = await postPlain(`${proxy.url}/chat/completions`, body);
    expect(next.json).toMatchObject({ error: { code: "upstream_unreachable" } });
  }, 60_000);

  it("frozen in the middle of a reply, and awake again: the reply is whole", async () => {
    await using engine = await startEngine(2048);
    await using proxy = await startProxy(engine, { ...patient, limits: { idleSeconds: 1, firstByteSeconds: 30 } });
    const live = startStream(`${proxy.url}/chat/completions`, body);
    await had(live, SEEN);
    engine.process.kill("SIGSTOP");
    // The silence is noticed, and the next pass sent to a server that takes connections and says nothing.
    while (attemptsStarted(proxy.events) < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    engine.process.kill("SIGCONT");
    expectWhole(await live.done);
    expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "upstream_broken" });
  }, 60_000);

  it("frozen for good: told as cut, and before any output as stalled", async () => {
    await using engine = await startEngine(2048);
    await using proxy = await startProxy(engine, { limits: { idleSeconds: 0.5, firstByteSeconds: 2 } });
    const live = startStream(`${proxy.url}/chat/completions`, body);
    await had(live, SEEN);
    engine.process.kill("SIGSTOP");
    const got = await live.done;
    expect(recital.content.startsWith(got.text())).toBe(true);
    expect(got.finish()).toBe("length");
    expect(got.chunks.at(-1)).toMatchObject({ lastword: { outcome: "cut_off", code: "upstream_stalled" } });
    const next = await postPlain(`${proxy.url}/chat/completions`, body);
    expect(next.status).toBe(504);
    expect(next.json).toMatchObject({ error: { code: "upstream_stalled" } });
  }, 60_000);
});

function attemptsStarted(events: readonly Event[]): number {
  return events.filter((event) => event.type === "attempt_started").length;
}

function contentOf({ json }: Plain): unknown {
  return (json as { choices?: { message: { content: unknown } }[] } | undefined)?.choices?.[0]?.message.content;
}
