import { describe, expect, it } from "vitest";
import { startOf } from "../../src/budget/calibrate.ts";
import { familyOf } from "../../src/budget/families.ts";
import { postPlain, startStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { done, finish, pause, reply, say, startUpstream, status } from "../support/upstream.ts";
import { eventually, redisHere, startRedis } from "./redis.ts";

const ask = (content = "hello") => ({ model: "m", messages: [{ role: "user", content }] });

describe.skipIf(!redisHere)("what replicas learn", () => {
  it("a lesson of one is known to the others, and to one that comes later", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    const options = { state: { redis: redis.url } };
    await using a = await startProxy(up, options);
    await using b = await startProxy(up, options);
    up.handle(() => reply("whole"));
    await postPlain(`${a.url}/chat/completions`, ask());
    await postPlain(`${b.url}/chat/completions`, ask());
    const lessons = a.services.knowledge.of("up", "m");
    lessons.resumes["chat||"] = "works";
    lessons.effortRefused = true;
    a.services.knowledge.changed("up", "m");
    const there = () => b.services.knowledge.of("up", "m");
    await eventually(() => (there().effortRefused ? true : null));
    expect(there().resumes).toEqual({ "chat||": "works" });
    await using late = await startProxy(up, options);
    await eventually(() => (late.services.knowledge.of("up", "m").effortRefused ? true : null));
    const names = await redis.client.keys("*");
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(await redis.client.ttl(name)).toBeGreaterThan(0);
    expect(await redis.all()).not.toContain(up.url);
  });

  it("a calibration is told when a replica stops, and asked for at first sight", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    const options = { state: { redis: redis.url } };
    const a = await startProxy(up, options);
    a.services.knowledge.of("up", "m");
    const learned = { ...startOf(familyOf("m")), replies: 5 };
    a.services.counter.restore("up", "m", learned);
    await a.close();
    await using b = await startProxy(up, options);
    b.services.knowledge.of("up", "m");
    await eventually(() => b.services.counter.calibration("up", "m"));
    expect(b.services.counter.calibration("up", "m")).toEqual(learned);
  });
});

describe.skipIf(!redisHere)("a rate limit", () => {
  it("that one replica was told of keeps the others from that upstream", async () => {
    await using redis = await startRedis();
    await using one = await startUpstream({ dialect: "vllm" });
    await using two = await startUpstream({ dialect: "vllm" });
    const upstreams = [one, two].map(({ url }, at) => ({ name: `gpu-${at}`, url, dialect: "vllm" }));
    const options = {
      upstreams,
      models: [{ match: "*", upstream: ["gpu-0", "gpu-1"] }],
      state: { redis: redis.url },
    };
    await using a = await startProxy(one, options);
    await using b = await startProxy(one, options);
    for (const up of [one, two]) up.handle(() => reply("whole"));
    expect((await postPlain(`${a.url}/chat/completions`, ask())).status).toBe(200);
    // The conversation's own server is the one that was asked.
    const [own, other] = one.calls.length > 0 ? [one, two] : [two, one];
    own.next(status(429, { error: { message: "slow down" } }, { "retry-after": "60" }));
    expect((await postPlain(`${a.url}/chat/completions`, ask())).status).toBe(200);
    expect(other.calls).toHaveLength(1);
    const limited = b.services.server(own === one ? "gpu-0" : "gpu-1");
    await eventually(() => (limited.health.isReady(performance.now()) ? null : true));
    expect((await postPlain(`${b.url}/chat/completions`, ask())).status).toBe(200);
    expect(own.calls).toHaveLength(2);
    expect(other.calls).toHaveLength(2);
  });
});

describe.skipIf(!redisHere)("places at an upstream", () => {
  it("are counted over all replicas, and one that is given back is taken at once", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    const options = { state: { redis: redis.url }, limits: { maxInflight: 1 } };
    await using a = await startProxy(up, options);
    await using b = await startProxy(up, options);
    up.next(say("one"), pause(), finish("stop"), done());
    up.next(...reply("two"));
    const first = startStream(`${a.url}/chat/completions`, ask());
    await first.until("one");
    const second = startStream(`${b.url}/chat/completions`, ask());
    await eventually(() => (b.services.server("up").slots.taken === 1 ? true : null));
    expect(up.calls).toHaveLength(1);
    up.release();
    expect((await second.done).text()).toBe("two");
    expect((await first.done).text()).toBe("one");
  });

  it("a client that leaves the line takes no place", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm" });
    const options = { state: { redis: redis.url }, limits: { maxInflight: 1 } };
    await using a = await startProxy(up, options);
    await using b = await startProxy(up, options);
    up.next(say("one"), pause(), finish("stop"), done());
    up.next(...reply("three"));
    const first = startStream(`${a.url}/chat/completions`, ask());
    await first.until("one");
    const second = startStream(`${b.url}/chat/completions`, ask());
    second.done.catch(() => undefined);
    await eventually(() => (b.services.server("up").slots.taken === 1 ? true : null));
    second.abort();
    expect(await b.finished()).toMatchObject({ outcome: "canceled" });
    up.release();
    await first.done;
    const third = startStream(`${b.url}/chat/completions`, ask());
    expect((await third.done).text()).toBe("three");
    await eventually(async () => ((await redis.client.keys("*places*")).length === 0 ? true : null));
  });

  it("without Redis each replica keeps to its own limit", async () => {
    await using redis = await startRedis();
    await redis.kill();
    await using up = await startUpstream({ dialect: "vllm" });
    await using a = await startProxy(up, { state: { redis: redis.url }, limits: { maxInflight: 1, maxQueued: 0 } });
    up.next(say("one"), pause(), finish("stop"), done());
    const first = startStream(`${a.url}/chat/completions`, ask());
    await first.until("one");
    expect((await postPlain(`${a.url}/chat/completions`, ask())).status).toBe(429);
    up.release();
    expect((await first.done).text()).toBe("one");
  });
});
