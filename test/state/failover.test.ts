import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asArray } from "../../src/core/json.ts";
import { has } from "../ops/tools.ts";
import { buildBundle } from "../support/bundle.ts";
import { get, postStream, startStream } from "../support/client.ts";
import { type Command, runCommand } from "../support/command.ts";
import { pause, recite, startUpstream, type Upstream } from "../support/upstream.ts";
import { startHaproxy } from "./haproxy.ts";
import { eventually, freePort, mirrored, type RedisServer, redisHere, startRedis } from "./redis.ts";

const haproxyHere = has("haproxy", "apt-get install haproxy");

const TEXT = Array.from(
  { length: 40 },
  (_, i) => `Sentence ${i} of a long reply, with “quotes”, 漢字 and 🦜 number ${i * 7919}.`,
).join("\n\n");
const key = { "idempotency-key": "retry-me" };
const ask = { model: "m", messages: [{ role: "user", content: "Tell me something long." }] };

let built: Awaited<ReturnType<typeof buildBundle>>;
const folder = mkdtempSync(join(tmpdir(), "lastword-replicas-"));
beforeAll(async () => {
  if (redisHere) built = await buildBundle();
});
afterAll(() => {
  built?.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Replica extends AsyncDisposable {
  readonly port: number;
  readonly command: Command;
}

/** A replica in a process of its own. */
async function startReplica(up: Upstream, redis: RedisServer): Promise<Replica> {
  const port = await freePort();
  const file = join(folder, `${port}.yaml`);
  writeFileSync(
    file,
    JSON.stringify({
      listen: { port },
      upstreams: [{ name: "up", url: up.url, dialect: up.dialect }],
      state: { redis: redis.url, replays: true, replayKey: "a shared secret" },
    }),
  );
  const command = runCommand(built.main, ["serve", "--config", file]);
  await command.says("listening");
  return { port, command, [Symbol.asyncDispose]: () => command[Symbol.asyncDispose]() };
}

/** The model's reply; the n-th of its first calls stops in the middle, until it is released or its client is gone. */
function stopsAt(up: Upstream, calls: number): void {
  const model = recite(TEXT);
  up.handle(async (call, n) => {
    const script = [...(await model(call, n))];
    if (n <= calls) script.splice(Math.floor(script.length / 2), 0, pause());
    return script;
  });
}

async function isAtWork(replica: Replica): Promise<boolean> {
  const status = await get(`http://127.0.0.1:${replica.port}/status`);
  return asArray(status.json?.live).length > 0;
}

describe.skipIf(!redisHere || !haproxyHere)("two replicas behind a balancer", () => {
  it("a reply cut by the death of its replica is finished by the other for the client's retry, to the byte", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm", window: 32_768 });
    await using a = await startReplica(up, redis);
    await using b = await startReplica(up, redis);
    await using balancer = await startHaproxy([a.port, b.port]);
    stopsAt(up, 1);
    const first = startStream(`${balancer.url}/v1/chat/completions`, ask, key);
    await up.reached();
    await mirrored(redis, first);
    const owner = (await isAtWork(a)) ? a : b;
    owner.command.kill("SIGKILL");
    await owner.command.ended;
    const cut = await first.done;
    expect(cut.broken).toBe(true);
    expect(cut.ended).toBe(false);
    expect(TEXT.startsWith(cut.text())).toBe(true);

    const again = await postStream(`${balancer.url}/v1/chat/completions`, ask, key);
    expect(again.status).toBe(200);
    expect(again.headers["x-lastword-replayed"]).toBe("1");
    expect(again.text()).toBe(TEXT);
    expect(again.finish()).toBe("stop");
    expect(again.ended).toBe(true);
    expect(new Set(again.chunks.map(({ id }) => id)).size).toBe(1);
    // What the first client had been given stands in the second's reply as it was.
    expect(again.bytes.subarray(0, cut.bytes.length).equals(cut.bytes)).toBe(true);
    // The second call was asked for the rest alone.
    expect(up.calls).toHaveLength(2);
    expect(up.calls[1]?.body.continue_final_message).toBe(true);

    const third = await postStream(`${balancer.url}/v1/chat/completions`, ask, key);
    expect(third.status).toBe(200);
    expect(third.bytes.equals(again.bytes)).toBe(true);
    expect(up.calls).toHaveLength(2);
    const stored = await redis.all();
    for (const plain of ["Sentence", "quotes", "retry-me", "Tell me"]) expect(stored).not.toContain(plain);
  });

  it("a client that reads along at the other replica has the whole reply without asking again", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm", window: 32_768 });
    await using a = await startReplica(up, redis);
    await using b = await startReplica(up, redis);
    stopsAt(up, 1);
    const first = startStream(`http://127.0.0.1:${a.port}/v1/chat/completions`, ask, key);
    await up.reached();
    const second = startStream(`http://127.0.0.1:${b.port}/v1/chat/completions`, ask, key);
    await second.until("content");
    await mirrored(redis, second);
    a.command.kill("SIGKILL");
    const whole = await second.done;
    expect(whole.text()).toBe(TEXT);
    expect(whole.finish()).toBe("stop");
    await first.done;
    expect(up.calls).toHaveLength(2);
  });

  it("Redis killed and restarted under load: every reply is whole", async () => {
    await using redis = await startRedis();
    await using up = await startUpstream({ dialect: "vllm", window: 32_768 });
    await using a = await startReplica(up, redis);
    await using b = await startReplica(up, redis);
    await using balancer = await startHaproxy([a.port, b.port]);
    const REQUESTS = 24;
    stopsAt(up, REQUESTS);
    const live = Array.from({ length: REQUESTS }, (_, i) =>
      startStream(`${balancer.url}/v1/chat/completions`, ask, { "idempotency-key": `k${i}` }),
    );
    await up.reached("", REQUESTS);
    await redis.kill();
    for (let i = 0; i < REQUESTS / 2; i++) up.release();
    const during = await Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        postStream(`${balancer.url}/v1/chat/completions`, ask, { "idempotency-key": `during${i}` }),
      ),
    );
    await redis.restart();
    for (let i = 0; i < REQUESTS / 2; i++) up.release();
    const all = [...(await Promise.all(live.map((one) => one.done))), ...during];
    expect(all.map((one) => one.text() === TEXT && one.ended)).toEqual(all.map(() => true));
    expect(up.calls).toHaveLength(REQUESTS + 4);
    // What is shared is there again.
    await eventually(async () => {
      const again = await postStream(`http://127.0.0.1:${a.port}/v1/chat/completions`, ask, {
        "idempotency-key": "new",
      });
      expect(again.text()).toBe(TEXT);
      return (await redis.client.keys("lastword:1:replay:*")).length > 0 ? true : null;
    });
  });
});
