import { describe, expect, it } from "vitest";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { type Script, startUpstream, status } from "../support/upstream.ts";

const messages = { model: "m", max_tokens: 100, messages: [{ role: "user", content: "hello" }] };
const responses = { model: "m", input: "hello" };

describe("a wire that the upstream does not speak", () => {
  it("is known from the dialect: the upstream is not asked", async () => {
    await using up = await startUpstream({ dialect: "openai" });
    await using proxy = await startProxy(up);
    const got = await postPlain(`${proxy.url}/messages`, messages);
    expect(got.status).toBe(404);
    expect(got.json).toMatchObject({
      type: "error",
      error: {
        type: "not_found_error",
        code: "wire_not_supported",
        message:
          "The upstream up does not serve /v1/messages. It serves /v1/chat/completions, /v1/completions, /v1/responses.",
        lastword: { upstream: "up", serves: ["chat", "completions", "responses"] },
      },
    });
    expect(up.calls).toHaveLength(0);
    expect(await proxy.finished()).toMatchObject({ outcome: "rejected", code: "wire_not_supported" });
  });

  it.each<[string, Script]>([
    ["LM Studio", [status(200, { error: "Unexpected endpoint or method. (POST /v1/responses)" })]],
    ["FastAPI", [status(404, { detail: "Not Found" })]],
    ["Go", [status(404, "404 page not found")]],
    ["a page", [status(404, "<html><title>404 Not Found</title></html>", { "content-type": "text/html" })]],
    [
      "OpenAI",
      [status(404, { error: { message: "Invalid URL (POST /v1/responses)", type: "invalid_request_error" } })],
    ],
    ["llama-server", [status(404, { error: { code: 404, message: "File Not Found", type: "not_found_error" } })]],
    ["a method", [status(405, { detail: "Method Not Allowed" })]],
  ])("is found out from the answer of %s, streamed and plain", async (_name, script) => {
    await using up = await startUpstream({ dialect: "generic" });
    await using proxy = await startProxy(up);
    up.handle(() => script);
    for (const post of [postPlain, postStream]) {
      const got = await post(`${proxy.url}/responses`, responses);
      expect(got.status).toBe(404);
      expect(JSON.parse(got.bytes.toString())).toMatchObject({
        error: {
          type: "not_found_error",
          code: "wire_not_supported",
          lastword: { serves: ["chat", "completions", "messages"] },
        },
      });
    }
    expect(up.calls).toHaveLength(2);
    expect(await proxy.finished()).toMatchObject({ outcome: "rejected" });
  });

  it.each<[string, Script]>([
    ["Ollama", [status(404, { error: { message: "model 'm' not found", type: "api_error" } })]],
    ["vLLM", [status(404, { error: { message: "The model `m` does not exist.", code: 404, type: "NotFoundError" } })]],
    ["another", [status(404, { error: { message: "No such thing as m." } })]],
  ])("is not a model that it does not have: %s", async (_name, script) => {
    await using up = await startUpstream({ dialect: "generic" });
    await using proxy = await startProxy(up);
    up.handle(() => script);
    const got = await postPlain(`${proxy.url}/responses`, responses);
    expect(got.status).toBe(404);
    expect(got.bytes.toString()).not.toContain("wire_not_supported");
  });
});
