import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { done, finish, headers, pause, say, stall, startUpstream } from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };

/** From before the first connection on, since undici keeps one timer of its own for all of them. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Time passes for everything within this process, sockets included. */
async function pass(seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at += 10) {
    await vi.advanceTimersByTimeAsync(10_000);
    await new Promise(setImmediate);
  }
}

describe("B86: nothing of 300 seconds", () => {
  it("a head after 310 s, and 310 s between chunks", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { recovery: { deadlineSeconds: 900 } });
    up.next(pause("head"), say("one two"), finish("stop"), done());
    const late = startStream(`${proxy.url}/chat/completions`, ask);
    await up.reached("head");
    await pass(310);
    up.release("head");
    expect((await late.done).text()).toBe("one two");
    up.next(headers(), say("one "), pause("chunk"), say("two"), finish("stop"), done());
    const slow = startStream(`${proxy.url}/chat/completions`, ask);
    await up.reached("chunk");
    await pass(310);
    up.release("chunk");
    expect((await slow.done).text()).toBe("one two");
    expect(up.calls).toHaveLength(2);
  });

  it("with a deadline of 100 s both end at it", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, {
      recovery: { deadlineSeconds: 100, deadlineHard: true, heartbeat: "off" },
    });
    up.next(stall());
    const before = startStream(`${proxy.url}/chat/completions`, ask);
    await up.call();
    await pass(110);
    expect((await before.done).status).toBe(504);
    up.next(say("one "), stall());
    const between = startStream(`${proxy.url}/chat/completions`, ask);
    await between.until("one ");
    await pass(110);
    expect((await between.done).chunks.at(-1)).toMatchObject({ lastword: { code: "deadline_exceeded" } });
  });
});
