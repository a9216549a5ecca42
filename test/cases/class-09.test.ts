import { describe, expect, it } from "vitest";
import { startStream } from "../support/client.ts";
import { done, finish, headers, pause, say } from "../support/upstream.ts";
import { ask, stage } from "./stage.ts";

/** What `test/e2e/transfer.test.ts` leaves of how bytes travel. */
describe("the proxy's own keep-alives", () => {
  const quick = { heartbeatSeconds: 0.02 };

  it.each([
    ["comment", /^: ?[^\n]*\n/m],
    ["empty-delta", /^data: \{.*"delta":\{\}/m],
  ])("B62: as %s they come while nothing flows, between events, and change nothing", async (heartbeat, form) => {
    const { up, proxy } = await stage({ dialect: "vllm", window: 4096 }, { recovery: { ...quick, heartbeat } });
    up.next(headers(), pause("first"), say("x"), pause("second"), say("y"), finish("stop"), done());
    const live = startStream(`${proxy.url}/chat/completions`, ask);
    const beats = () => [...live.seen().matchAll(new RegExp(form.source, "gm"))].length;
    const beat = heartbeat === "comment" ? ":" : '"delta":{}';
    await live.until(beat);
    expect(beats()).toBeGreaterThan(0);
    up.release("first");
    await live.until('"x"');
    up.release("second");
    const got = await live.done;
    expect(got.status).toBe(200);
    expect(got.text()).toBe("xy");
    expect(got.finish()).toBe("stop");
    const text = got.bytes.toString();
    expect(text).not.toMatch(/^id:/m);
    for (const event of text.split("\n\n").filter((each) => each.includes("data:")))
      expect(event.replace(/^:.*\n/gm, "").trimStart()).toMatch(/^data: (\{.*\}|\[DONE\])$/);
    const data = got.events.map((each) => each.data).filter((each) => each !== "[DONE]");
    for (const each of data) expect(() => JSON.parse(each)).not.toThrow();
  });

  it("B62: on Messages they are pings", async () => {
    const { up, proxy } = await stage({ dialect: "generic", window: 4096 }, { recovery: quick });
    up.next(headers(), pause(), say("x"), finish("stop"), done());
    const live = startStream(`${proxy.url}/messages`, { ...ask, max_tokens: 100 });
    await live.until("event: ping");
    up.release();
    const got = await live.done;
    expect(got.events.find(({ event }) => event === "ping")?.data).toBe('{"type":"ping"}');
    expect(got.text()).toBe("x");
    expect(got.events.filter(({ event }) => event === "message_start")).toHaveLength(1);
  });

  it("B62: switched off there are none, and the status waits for the upstream's", async () => {
    const { up, stream } = await stage({ dialect: "vllm", window: 4096 }, { recovery: { ...quick, heartbeat: "off" } });
    up.next(
      headers(),
      { act: "wait", ms: 60 },
      { act: "fault", name: "", json: { error: { message: "no", code: 400 } } },
    );
    const got = await stream();
    expect(got.status).toBe(400);
    expect(got.bytes.toString()).not.toContain(":\n");
  });
});
