import { afterEach, describe, expect, test } from "vitest";
import { demoRequest, hear } from "../../src/demo/hear.ts";
import { RECITAL, tokenize } from "../../src/demo/model.ts";
import { type DemoUpstream, startDemoUpstream } from "../../src/demo/upstream.ts";

let upstream: DemoUpstream | undefined;
afterEach(async () => upstream?.close());

async function start(resumes: boolean): Promise<string> {
  upstream = await startDemoUpstream({ window: 4096, resumes, tokenMs: 0 });
  return upstream.url;
}

const post = (url: string, body: unknown) =>
  fetch(`${url}/chat/completions`, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });

describe("the demo's server", () => {
  test("streams a cut reply", async () => {
    const heard = await hear(await start(true), demoRequest(80));
    expect(heard).toEqual({
      text: tokenize(RECITAL).slice(0, 80).join(""),
      finishReason: "length",
      attempts: [],
    });
  });

  test("streams usage where asked for, and ends with [DONE]", async () => {
    const request = { ...demoRequest(7), stream_options: { include_usage: true } };
    const stream = await (await post(await start(true), request)).text();
    expect(stream).toContain('"completion_tokens":7');
    expect(stream.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("answers plainly", async () => {
    const body = await (await post(await start(true), { ...demoRequest(7), stream: false })).json();
    expect(body).toMatchObject({
      object: "chat.completion",
      choices: [{ finish_reason: "length", message: { content: tokenize(RECITAL).slice(0, 7).join("") } }],
      usage: { completion_tokens: 7 },
    });
  });

  test("one that resumes tells its window as llama-server does", async () => {
    const url = await start(true);
    const props = await (await fetch(new URL("/props", url))).json();
    expect(props).toMatchObject({ default_generation_settings: { n_ctx: 4096 } });
    const models = await (await fetch(`${url}/models`)).json();
    expect(models).toMatchObject({ data: [{ id: "demo", owned_by: "llamacpp", meta: { n_ctx: 4096 } }] });
  });

  test("one that does not resume tells its window in its list only", async () => {
    const url = await start(false);
    expect((await fetch(new URL("/props", url))).status).toBe(404);
    const models = await (await fetch(`${url}/models`)).json();
    expect(models).toMatchObject({ data: [{ id: "demo", context_length: 4096 }] });
  });

  test("refuses a prompt over its window in llama-server's words", async () => {
    const prompt = "word ".repeat(5000);
    const answer = await post(await start(true), { messages: [{ role: "user", content: prompt }] });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: "exceed_context_size_error", n_ctx: 4096 } });
  });

  test.each(["no json", "[]"])("refuses a body that is not an object: %s", async (body) => {
    expect((await post(await start(true), body)).status).toBe(400);
  });

  test("a failed answer is told", async () => {
    const url = await start(true);
    await expect(hear(`${url}/elsewhere`, demoRequest(80))).rejects.toThrow("answered 404");
  });
});
