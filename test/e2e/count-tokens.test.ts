import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { postPlain } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { promptTokens, startUpstream } from "../support/upstream.ts";

const body = {
  model: "m",
  system: "Be brief.",
  messages: [{ role: "user" as const, content: "Where is the lamp that stood on the window sill?" }],
  tools: [{ name: "look", input_schema: { type: "object" as const } }],
};

describe("POST /v1/messages/count_tokens", () => {
  it("is answered by the upstream where it counts", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up);
    for (const path of ["/v1/messages/count_tokens", "/messages/count_tokens"]) {
      const got = await postPlain(proxy.root + path, body);
      expect([got.status, got.json]).toEqual([200, { input_tokens: promptTokens("messages", body) }]);
      expect(got.headers).toMatchObject({ "x-lastword-count-method": "exact", "x-lastword-upstream": "up" });
    }
    expect(up.calls).toHaveLength(0);
    expect(proxy.events.some((event) => event.type === "finished")).toBe(false);
  });

  for (const dialect of ["generic", "lmstudio", "vllm", "openai"] as const) {
    it(`is answered from our own count where it does not, and it is asked no more than once: ${dialect}`, async () => {
      await using up = await startUpstream({ dialect });
      await using proxy = await startProxy(up);
      const client = new Anthropic({ baseURL: proxy.root, apiKey: "none", maxRetries: 0 });
      for (let i = 0; i < 3; i++) {
        const { data, response } = await client.messages.countTokens(body).withResponse();
        expect(response.headers.get("x-lastword-count-method")).toMatch(/^estimate;bound=\d+$/);
        const bound = Number(response.headers.get("x-lastword-count-method")?.split("=")[1]);
        expect(Math.abs(data.input_tokens - promptTokens("messages", body))).toBeLessThanOrEqual(bound);
      }
      expect(up.queries.filter((call) => call.path.endsWith("/count_tokens")).length).toBeLessThanOrEqual(1);
      expect(up.calls).toHaveLength(0);
    });
  }

  it("goes where the model is, under the name that it has there", async () => {
    await using first = await startUpstream({ dialect: "llamacpp" });
    await using second = await startUpstream({ dialect: "llamacpp", models: ["qwen"] });
    await using proxy = await startProxy(first, {
      upstreams: [
        { name: "first", url: first.url, dialect: "llamacpp" },
        { name: "second", url: second.url, dialect: "llamacpp" },
      ],
      models: [{ match: "fast", alias: "qwen", upstream: "second" }],
    });
    const got = await postPlain(`${proxy.url}/messages/count_tokens`, { ...body, model: "fast" });
    expect(got.headers["x-lastword-upstream"]).toBe("second");
    expect(second.queries.at(-1)?.body.model).toBe("qwen");
  });

  it("refuses in the wire's own shape", async () => {
    await using up = await startUpstream({ dialect: "generic" });
    await using proxy = await startProxy(up, { listen: { keys: ["secret"] } });
    const path = `${proxy.url}/messages/count_tokens`;
    const shape = { type: "error", error: { type: "invalid_request_error", code: "invalid_request" } };
    const keyed = { "x-api-key": "secret" };
    expect((await postPlain(path, { ...body, messages: "no" }, keyed)).json).toMatchObject(shape);
    expect((await postPlain(path, "{", keyed)).json).toMatchObject(shape);
    const unkeyed = await postPlain(path, body);
    expect([unkeyed.status, unkeyed.json]).toMatchObject([401, { type: "error", error: { code: "unauthorized" } }]);
  });
});
