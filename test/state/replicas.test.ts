import { describe, expect, it } from "vitest";
import { postPlain, postStream, startStream } from "../support/client.ts";
import { type Lastword, type ProxyOptions, startProxy } from "../support/proxy.ts";
import { done, finish, pause, reply, say, startUpstream, status, type Upstream } from "../support/upstream.ts";
import { eventually, mirrored, type RedisServer, redisHere, startRedis } from "./redis.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello there" }] };
const key = { "idempotency-key": "k1" };
const TWO = "one two";

function replica(up: Upstream, redis: RedisServer, options: ProxyOptions = {}): Promise<Lastword> {
  return startProxy(up, { leaseMs: 1000, ...options, state: { redis: redis.url, replays: true, replayKey: "secret" } });
}

describe.skipIf(!redisHere)("runs among replicas", () => {
  it("a retry that reaches another replica reads along from the start, and one run serves both", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis);
    await using b = await replica(up, redis);
    up.next(say("one "), pause(), say("two"), finish("stop"), done());
    const first = startStream(`${a.url}/chat/completions`, ask, key);
    await first.until("one ");
    const second = startStream(`${b.url}/chat/completions`, ask, key);
    await second.until("one ");
    up.release();
    const [one, other] = await Promise.all([first.done, second.done]);
    expect(one.text()).toBe(TWO);
    expect(other.bytes.equals(one.bytes)).toBe(true);
    expect(other.headers["x-lastword-replayed"]).toBe("1");
    expect(one.headers["x-lastword-replayed"]).toBeUndefined();
    expect(up.calls).toHaveLength(1);
    expect(await b.finished()).toMatchObject({ outcome: "complete" });
  });

  it("a finished reply is given again by another replica, plain and streamed", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis);
    await using b = await replica(up, redis);
    for (let i = 0; i < 2; i++) up.next(...reply("whole"));
    for (const post of [postPlain, postStream]) {
      const once = { "idempotency-key": post.name };
      const first = await post(`${a.url}/chat/completions`, ask, once);
      const second = await post(`${b.url}/chat/completions`, ask, once);
      expect(second.bytes.equals(first.bytes)).toBe(true);
      expect(second.headers["x-lastword-replayed"]).toBe("1");
    }
    expect(up.calls).toHaveLength(2);
  });

  it("the run goes on for a reader in another replica when its own client has left", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis, { limits: { replayGraceSeconds: 0.8 } });
    await using b = await replica(up, redis);
    up.next(say("one "), pause(), say("two"), finish("stop"), done());
    const first = startStream(`${a.url}/chat/completions`, ask, key);
    await first.until("one ");
    const second = startStream(`${b.url}/chat/completions`, ask, key);
    await second.until("one ");
    first.abort();
    await first.done;
    const leftAt = performance.now();
    await eventually(() => (performance.now() - leftAt > 1_500 ? true : null));
    up.release();
    expect((await second.done).text()).toBe(TWO);
    expect(up.calls).toHaveLength(1);
  });

  it("another body with the same key is refused by every replica, another caller has a run of its own", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis);
    await using b = await replica(up, redis);
    for (let i = 0; i < 2; i++) up.next(...reply("whole"));
    await postPlain(`${a.url}/chat/completions`, ask, key);
    const other = await postPlain(`${b.url}/chat/completions`, { ...ask, temperature: 1 }, key);
    expect(other.status).toBe(422);
    expect(other.json).toMatchObject({ error: { code: "idempotency_conflict" } });
    const stranger = await postPlain(`${b.url}/chat/completions`, ask, { ...key, authorization: "Bearer other" });
    expect(stranger.headers["x-lastword-replayed"]).toBeUndefined();
    expect(up.calls).toHaveLength(2);
  });

  it("a failed run is kept by no replica", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis);
    await using b = await replica(up, redis);
    up.next(status(400, { error: { message: "no" } }));
    up.next(...reply("whole"));
    expect((await postPlain(`${a.url}/chat/completions`, ask, key)).status).toBe(400);
    await eventually(async () => ((await redis.client.keys("*:lease")).length === 0 ? true : null));
    expect((await postPlain(`${b.url}/chat/completions`, ask, key)).status).toBe(200);
  });

  it("a reply too long to be kept is in no replica's way", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis, { limits: { maxReplayBytes: 1000 } });
    await using b = await replica(up, redis);
    up.next(...reply("w".repeat(5000)));
    up.next(...reply("whole"));
    expect((await postStream(`${a.url}/chat/completions`, ask, key)).text()).toHaveLength(5000);
    await eventually(async () => ((await redis.client.keys("*replay*")).length === 0 ? true : null));
    expect((await postStream(`${b.url}/chat/completions`, ask, key)).text()).toBe("whole");
  });

  it("nothing of prompt, reply or key can be read in Redis", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis);
    up.next(...reply("a secret reply"));
    const caller = { "idempotency-key": "client-key-1", authorization: "Bearer sk-T-caller" };
    await postStream(`${a.url}/chat/completions`, ask, caller);
    await eventually(async () => ((await redis.client.keys("*:lease")).length === 0 ? true : null));
    const all = await redis.all();
    expect(all).toContain("lastword:1:replay:");
    for (const plain of ["hello", "secret", 'reply"', "client-key-1", "sk-T-caller", "chat.completion", up.url])
      expect(all).not.toContain(plain);
    for (const name of await redis.client.keys("*")) {
      expect(name).toMatch(/^lastword:1:/);
      expect(await redis.client.pttl(name)).toBeGreaterThan(0);
    }
  });

  it("a left run is gone on with from where it was left", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis, { limits: { replayGraceSeconds: 0 } });
    await using b = await replica(up, redis);
    up.next(say("one "), say("and a half, "), pause(), say("two"), finish("stop"), done());
    up.next(say("two"), finish("stop"), done());
    const first = startStream(`${a.url}/chat/completions`, ask, key);
    await first.until("half, ");
    await mirrored(redis, first);
    first.abort();
    expect(await a.finished()).toMatchObject({ outcome: "canceled" });
    await eventually(async () => ((await redis.client.keys("*:lease")).length === 0 ? true : null));
    const again = await postStream(`${b.url}/chat/completions`, ask, key);
    expect(again.text()).toBe("one and a half, two");
    expect(again.headers["x-lastword-replayed"]).toBe("1");
    expect(again.finish()).toBe("stop");
    expect(up.calls[1]?.body.messages).toMatchObject([{ role: "user" }, { content: "one and a half," }]);
    expect(up.calls[1]?.headers["idempotency-key"]).toBeUndefined();
    expect(await b.finished()).toMatchObject({ outcome: "healed", cause: "upstream_broken", attempts: 2 });
  });

  it("what cannot be gone on with begins anew: a plain reply, and one that is not healed", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis, { limits: { replayGraceSeconds: 0 } });
    await using b = await replica(up, redis);
    up.next(say("one "), pause(), say("two"), finish("stop"), done());
    up.next(...reply("from the start"));
    const first = startStream(`${a.url}/chat/completions`, ask, { ...key, "x-lastword-heal": "off" });
    await first.until("one ");
    await mirrored(redis, first);
    first.abort();
    await a.finished();
    await eventually(async () => ((await redis.client.keys("*:lease")).length === 0 ? true : null));
    const again = await postStream(`${b.url}/chat/completions`, ask, { ...key, "x-lastword-heal": "off" });
    expect(again.text()).toBe("from the start");
    const third = await postStream(`${a.url}/chat/completions`, ask, { ...key, "x-lastword-heal": "off" });
    expect(third.bytes.equals(again.bytes)).toBe(true);
    expect(up.calls).toHaveLength(2);
  });

  it("without Redis each replica has its own memory", async () => {
    await using redis = await startRedis();
    await redis.kill();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis);
    up.next(...reply("whole"));
    const first = await postStream(`${a.url}/chat/completions`, ask, key);
    const second = await postStream(`${a.url}/chat/completions`, ask, key);
    expect(first.text()).toBe("whole");
    expect(second.bytes.equals(first.bytes)).toBe(true);
    expect(up.calls).toHaveLength(1);
  });

  it("a Redis that comes back empty in the middle of a reply is given it from its start", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis);
    await using b = await replica(up, redis);
    up.next(say("one "), pause(), say("two"), finish("stop"), done());
    const first = startStream(`${a.url}/chat/completions`, ask, key);
    await first.until("one ");
    await mirrored(redis, first);
    await redis.kill();
    await redis.restart();
    await mirrored(redis, first);
    up.release();
    expect((await first.done).text()).toBe(TWO);
    await eventually(async () => ((await redis.client.keys("*:lease")).length === 0 ? true : null));
    const again = await postStream(`${b.url}/chat/completions`, ask, key);
    expect(again.text()).toBe(TWO);
    expect(up.calls).toHaveLength(1);
  });

  it("a reader whose Redis is gone for good goes on by itself with what it has", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await replica(up, redis);
    await using b = await replica(up, redis);
    up.next(say("one "), say("and a half, "), pause(), finish("stop"), done());
    up.next(say("two"), finish("stop"), done());
    const first = startStream(`${a.url}/chat/completions`, ask, key);
    await first.until("half, ");
    const second = startStream(`${b.url}/chat/completions`, ask, key);
    await second.until("half, ");
    await redis.kill();
    expect((await second.done).text()).toBe("one and a half, two");
    up.release();
    expect((await first.done).text()).toBe("one and a half, ");
  });
});
