import { describe, expect, it } from "vitest";
import { done, event, finish, over, raw, say, status } from "../support/upstream.ts";
import { ask, capped, counted, stage, whole } from "./stage.ts";

const vllm = { dialect: "vllm", window: 32_768 } as const;
const chunk = (choice: object) =>
  event({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] });

/** What `test/e2e/endings.test.ts` leaves of how a reply ends. */
describe("finish reason and end of the stream", () => {
  it("B25: a server's own word for a cut counts more than its stop", async () => {
    const { stream, play, proxy } = await stage({ dialect: "ollama", window: 32_768 });
    const said = { index: 0, delta: { content: "It was told from its beginning" }, finish_reason: "stop" };
    play(
      [event({ id: "c1", choices: [said], done_reason: "length" } as never), done()],
      whole(" to its end, as it should be."),
    );
    const got = await stream(capped);
    expect(got.text()).toBe("It was told from its beginning to its end, as it should be.");
    expect(await proxy.finished()).toMatchObject({ outcome: "healed" });
  });

  it("B27: a finish beside reasoning, or beside a piece of a call, loses neither", async () => {
    const { stream, play, up } = await stage({ dialect: "llamacpp", window: 32_768 });
    play([chunk({ delta: { reasoning_content: "hm" }, finish_reason: "length" }), done()], whole("so."));
    const thought = await stream(capped);
    expect(thought.reasoning()).toBe("hm");
    expect(thought.text()).toBe("so.");
    expect(up.calls).toHaveLength(2);
    const call = { index: 0, id: "t", type: "function", function: { name: "ls", arguments: '{"a":1}' } };
    play([chunk({ delta: { tool_calls: [call] }, finish_reason: "tool_calls" }), done()]);
    const got = await stream({ ...ask, tools: [{ type: "function", function: { name: "ls", parameters: {} } }] });
    expect(got.toolArgs()).toEqual(['{"a":1}']);
    expect(got.finish()).toBe("tool_calls");
  });

  it("B28: an empty finish reason is none", async () => {
    const { stream, play, up } = await stage(vllm);
    play([chunk({ delta: { content: "a" }, finish_reason: "" }), say("b"), done()]);
    const got = await stream();
    expect(got.text()).toBe("ab");
    expect(got.finish()).toBe("stop");
    expect(up.calls).toHaveLength(1);
  });

  it("B30: neither is an empty body, nor a path that the server does not know", async () => {
    const { plain, up, proxy } = await stage({ dialect: "lmstudio", window: 4096 });
    const empty = [status(200, "", { "content-type": "application/json" })];
    up.handle(() => empty);
    const got = await plain();
    expect(got.status).toBe(502);
    expect(got.json).toMatchObject({ error: { type: "upstream_error", code: "upstream_protocol_error" } });
    expect(await proxy.finished()).toMatchObject({ outcome: "failed" });
  });

  it("B22: usage at the end and no [DONE] counts as an end", async () => {
    const { stream, play, up } = await stage(vllm);
    const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
    play([say("Hello"), event({ id: "c1", choices: [], usage } as never)], whole(""));
    const got = await stream(counted);
    expect(got.text()).toBe("Hello");
    expect(up.calls.length).toBeLessThanOrEqual(2);
    expect(got.ended).toBe(true);
  });

  it("B29: a full window and a cap are counted apart", async () => {
    const { stream, play, metrics, proxy } = await stage(vllm, { recovery: { caps: "strict" } });
    play([
      say("a"),
      finish("length"),
      { act: "usage", usage: { prompt: 32_000, completion: 768 }, force: true },
      done(),
    ]);
    await stream();
    play([say("a"), finish("length"), { act: "usage", usage: { prompt: 5, completion: 100 }, force: true }, done()]);
    await stream(capped);
    await proxy.finished(2);
    const text = await metrics();
    expect(text).toContain('lastword_cuts_total{model="m",cause="context_full"} 1');
    expect(text).toContain('lastword_cuts_total{model="m",cause="honoured_cap"} 1');
  });

  it("B23: a body that was never a stream is no reason to end in silence", async () => {
    const { stream, up } = await stage(vllm);
    up.handle(() => [over({ mode: "stream" }), raw("<html>busy</html>")]);
    const got = await stream();
    expect(got.status).toBe(502);
    expect(got.bytes.toString()).not.toContain("<html>");
  });
});
