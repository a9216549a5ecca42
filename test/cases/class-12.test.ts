import { describe, expect, it } from "vitest";
import { asObject } from "../../src/core/json.ts";
import { get, postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { done, finish, say, status, think, tool, usage } from "../support/upstream.ts";
import { ask, capped, cut, stage, whole } from "./stage.ts";

describe("metrics and logs", () => {
  it("B89: names that never repeat make a bounded number of series, with short escaped labels", async () => {
    const { up, plain, proxy, metrics } = await stage(
      { dialect: "generic", window: null },
      { limits: { maxModelLabels: 5 } },
    );
    up.handle((_call, n) => [say("a"), finish(`reason-${n}`), done()]);
    const series = (text: string) => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    for (let n = 0; n < 5; n++) await plain({ ...ask, model: `first-${n}` });
    await proxy.finished(5);
    const odd = ["x".repeat(10_000), 'quo"te', "new\nline", "back\\slash", 7 as never, null as never];
    const before = new Set(series(await metrics()).map((line) => line.replace(/ \S+$/, "")));
    for (let n = 0; n < 40; n++) await plain({ ...ask, model: odd[n] ?? `later-${n}`, user: `user-${n}` });
    const after = series(await metrics());
    const added = after.map((line) => line.replace(/ \S+$/, "")).filter((line) => !before.has(line));
    expect(
      new Set([...added.join("\n").matchAll(/model="([^"]*)"/g)].map((found) => found[1])).size,
    ).toBeLessThanOrEqual(2);
    for (const line of after) {
      for (const [, value] of line.matchAll(/="((?:[^"\\]|\\.)*)"/g)) expect(value?.length).toBeLessThanOrEqual(128);
      expect(line).not.toMatch(/user-|reason-/);
    }
    expect(after.join("\n")).toContain('model="other"');
  });

  describe("B90: keys", () => {
    const wrong = "sk-canary-AAAABBBBCCCCDDDD";
    const own = "sk-upstream-EEEEFFFFGGGGHHHH";

    it("B90: neither a wrong one nor the upstream's is told anywhere", async () => {
      const { up, proxy, metrics } = await stage(
        { dialect: "generic", window: null },
        { listen: { keys: ["T-inbound"] } },
      );
      const keyed = await startProxy(up, {
        listen: { keys: ["T-inbound"] },
        upstreams: [{ name: "up", url: up.url, dialect: "generic", key: own }],
      });
      try {
        const refused = await postPlain(`${keyed.url}/chat/completions`, ask, { authorization: `Bearer ${wrong}` });
        expect(refused.status).toBe(401);
        up.handle(() => [
          status(401, {
            error: {
              message: `Incorrect API key provided: ${own}.`,
              type: "invalid_request_error",
              code: "invalid_api_key",
            },
          }),
        ]);
        const echoed = await postPlain(`${keyed.url}/chat/completions`, ask, { authorization: "Bearer T-inbound" });
        expect(echoed.status).toBe(401);
        const streamed = await postStream(`${keyed.url}/chat/completions`, ask, { authorization: "Bearer T-inbound" });
        const all = [
          refused.bytes,
          echoed.bytes,
          streamed.bytes,
          JSON.stringify(keyed.logged),
          JSON.stringify(keyed.events),
          JSON.stringify(proxy.logged),
          await metrics(),
        ].join("\n");
        for (const secret of ["AAAABBBB", "CCCCDDDD", "EEEEFFFF", "GGGGHHHH"]) expect(all).not.toContain(secret);
      } finally {
        await keyed.close();
      }
    });
  });

  it.each([
    ["its query", "http://127.0.0.1:1/v1?key=canary-C"],
    ["its user", "http://user:canary-D@127.0.0.1:1/v1"],
  ])("B91: a key in an upstream's address, %s, is told nowhere", async (_name, url) => {
    const { up } = await stage({ dialect: "generic", window: null });
    const proxy = await startProxy(up, { upstreams: [{ name: "up", url, dialect: "generic" }] });
    try {
      const got = await postPlain(`${proxy.url}/chat/completions`, ask);
      expect(got.status).toBe(502);
      expect(got.json).toMatchObject({ error: { code: "upstream_unreachable" } });
      const metrics = await get(`${proxy.root}/metrics`);
      const all = [
        got.bytes.toString(),
        JSON.stringify(got.headers),
        ...proxy.logged,
        JSON.stringify(proxy.events),
        metrics.bytes.toString(),
      ];
      expect(all.join("\n")).not.toContain("canary");
    } finally {
      await proxy.close();
    }
  });

  it("B92: no content reaches a log, an event or a metric, whatever happens", async () => {
    const { up, stream, plain, proxy, metrics } = await stage({ dialect: "vllm", window: 32_768 });
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    const body = { ...capped, tools, messages: [{ role: "user", content: "canary-prompt" }] };
    up.next(
      think("canary-thought"),
      say("canary-reply"),
      tool(0, { id: "t", name: "look" }, '{"a":"canary-args"}'),
      finish("tool_calls"),
      done(),
    );
    await stream(body);
    up.next(...cut("canary-reply and more of it"));
    up.next(...whole(" canary-rest"));
    await stream(body);
    up.next({ act: "raw", bytes: Buffer.from("data: {canary-garbage\n\n") }, ...whole("x"));
    await stream(body);
    up.next(status(400, { error: { message: "cannot read canary-prompt", type: "invalid_request_error" } }));
    await plain(body);
    await plain('{"model":"m","messages":[{"content":"canary-broken');
    await proxy.finished(4);
    expect(up.calls.length).toBeGreaterThanOrEqual(5);
    const all = [...proxy.logged, JSON.stringify(proxy.events), await metrics()].join("\n");
    expect(all).not.toContain("canary");
    expect(proxy.logged.length).toBeGreaterThan(0);
  });

  it.each(["partial", "error"])(
    "B93: JSON that was cut is a cut, not a fault of parsing, and is told nowhere but in the reply: onExhausted %s",
    async (onExhausted) => {
      const { up, plain, proxy } = await stage({ dialect: "generic", window: 32_768 }, { recovery: { onExhausted } });
      up.handle(() => [say('{"secret":"canary'), finish("length"), usage(5, 100), done()]);
      const response_format = { type: "json_schema", json_schema: { name: "s", schema: { type: "object" } } };
      const got = await plain({ ...capped, response_format });
      if (onExhausted === "partial") expect(got.json).toMatchObject({ choices: [{ finish_reason: "length" }] });
      else {
        expect(asObject(got.json?.error)).toMatchObject({ code: "output_cap_exhausted" });
        expect(got.bytes.toString()).not.toContain("canary");
      }
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
      expect([...proxy.logged, JSON.stringify(proxy.events)].join("\n")).not.toContain("canary");
    },
  );
});
