import { describe, expect, it } from "vitest";
import { get } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { startUpstream } from "../support/upstream.ts";

describe("GET /v1/models", () => {
  it("is the upstreams' lists as one, each model with its real window", async () => {
    await using local = await startUpstream({ dialect: "vllm", models: ["qwen/qwen3", "both"], window: 8192 });
    await using hosted = await startUpstream({
      dialect: "openrouter",
      window: 200_000,
      models: ["both", "claude"],
    });
    await using proxy = await startProxy(local, {
      upstreams: [
        { name: "local", url: local.url, dialect: "vllm" },
        { name: "hosted", url: hosted.url, dialect: "openrouter" },
      ],
      models: [
        { match: "claude", upstream: "hosted", window: 100_000, maxOutput: 64_000 },
        { match: "*", upstream: "local" },
      ],
    });
    const { status, json } = await get(`${proxy.url}/models`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      object: "list",
      data: [
        {
          id: "qwen/qwen3",
          owned_by: "vllm",
          context_length: 8192,
          lastword: { window: 8192, window_source: "loaded" },
        },
        { id: "both", owned_by: "vllm", lastword: { window: 8192 } },
        {
          id: "claude",
          // As the upstream gives it.
          context_length: 200_000,
          lastword: { window: 100_000, window_source: "config", max_output: 64_000 },
        },
      ],
    });
    for (const id of ["qwen/qwen3", "qwen%2Fqwen3"]) {
      const one = await get(`${proxy.url}/models/${id}`);
      expect([one.status, one.json]).toMatchObject([200, { id: "qwen/qwen3", lastword: { window: 8192 } }]);
    }
    const none = await get(`${proxy.url}/models/none`);
    expect([none.status, none.json]).toMatchObject([404, { error: { code: "not_found", param: "model" } }]);
    expect([...local.calls, ...hosted.calls]).toHaveLength(0);
  });

  it("an upstream that wants a key says so, one that is away is left out", async () => {
    await using keyed = await startUpstream({ dialect: "vllm", needsKey: "secret" });
    await using proxy = await startProxy(keyed);
    const refused = await get(`${proxy.url}/models`);
    expect([refused.status, refused.json]).toMatchObject([401, { error: { code: "upstream_error" } }]);
    const own = await get(`${proxy.url}/models`, { authorization: "Bearer secret" });
    expect([own.status, own.json]).toMatchObject([200, { data: [{ id: "m" }] }]);
    await keyed.close();
    const away = await get(`${proxy.url}/models`, { authorization: "Bearer secret" });
    expect([away.status, away.json]).toMatchObject([502, { error: { code: "upstream_unreachable" } }]);
  });
});
