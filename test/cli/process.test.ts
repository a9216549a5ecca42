import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildBundle } from "../support/bundle.ts";
import { get, startStream } from "../support/client.ts";
import { type Command, runCommand } from "../support/command.ts";
import { finish, pause, say, startUpstream } from "../support/upstream.ts";

let main = "";
let folder = "";
const removers: (() => void)[] = [];
beforeAll(async () => {
  const bundle = await buildBundle();
  main = bundle.main;
  folder = mkdtempSync(join(tmpdir(), "lastword-process-"));
  removers.push(bundle.remove, () => rmSync(folder, { recursive: true }));
}, 60_000);
afterAll(() => {
  for (const remove of removers) remove();
});

const run = (args: readonly string[], more: Parameters<typeof runCommand>[2] = {}) => runCommand(main, args, more);

/** Nobody is there: what is asked for in these tests needs no upstream. */
const NOBODY = "http://127.0.0.1:9";
const posix = test.skipIf(process.platform === "win32");

async function urlOf(command: Command): Promise<string> {
  const line = await command.says("lastword listening on ");
  return line.replace("lastword listening on ", "");
}

function configFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe("starting", () => {
  test("prints exactly one line, with the port that --port 0 was given", async () => {
    await using command = run(["serve", "--port", "0", "--upstream", NOBODY]);
    const url = await urlOf(command);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await get(`${url}/healthz`)).toMatchObject({ status: 200 });
    expect(command.out).toBe(`lastword listening on ${url}\n`);
  });

  test("without a command it serves too", async () => {
    await using command = run([], { env: { LASTWORD_PORT: "0", LASTWORD_UPSTREAM: NOBODY } });
    expect((await get(`${await urlOf(command)}/healthz`)).status).toBe(200);
  });

  test("a second one on the same port says so and exits with 1", async () => {
    await using first = run(["--port", "0", "--upstream", NOBODY]);
    const port = new URL(await urlOf(first)).port;
    await using second = run(["--port", port, "--upstream", NOBODY]);
    expect(await second.ended).toBe(1);
    expect(second.out).toBe("");
    expect(second.err).toBe(
      `lastword cannot listen on 127.0.0.1:${port}: the port is in use, perhaps by another lastword (EADDRINUSE). Try: lastword --port 0\n`,
    );
  });

  test("a wrong configuration is told whole, with exit code 1 and nothing on stdout", async () => {
    const path = configFile("wrong.yaml", "listen: { prot: 1 }\nrecovery: { maxAttempts: 0 }\n");
    await using command = run(["serve", "--config", path]);
    expect(await command.ended).toBe(1);
    expect(command.out).toBe("");
    expect(command.err).toContain("2 problems in the configuration");
    expect(command.err).toContain("nearest known: port");
  });

  test("a command line that makes no sense exits with 2", async () => {
    await using command = run(["serve", "--prot", "1"]);
    expect(await command.ended).toBe(2);
    expect(command.err).toContain("--port");
  });

  test("B95: localhost that leads elsewhere is refused where a key could be spent", async () => {
    const elsewhere = `import dns from "node:dns";
      const lookup = dns.lookup;
      dns.lookup = (name, options, done) => name === "localhost"
        ? options.all ? done(null, [{ address: "0.0.0.0", family: 4 }]) : (done ?? options)(null, "0.0.0.0", 4)
        : lookup(name, options, done);`;
    const flags = ["--host", "localhost", "--port", "0", "--upstream", NOBODY];
    await using refused = run([...flags, "--key", "canary"], { preload: elsewhere });
    expect(await refused.ended).toBe(1);
    expect(refused.out).toBe("");
    expect(refused.err).toContain("the name leads to 0.0.0.0");
    expect(refused.err).toContain("--host 127.0.0.1");
    expect(refused.err).not.toContain("canary");
    await using allowed = run([...flags, "--key", "canary", "--allow-open"], { preload: elsewhere });
    expect(await urlOf(allowed)).toMatch(/^http:\/\/localhost:/);
  });
});

describe("commands that end by themselves", () => {
  test("check looks, tells, and exits with 1 where something is wrong", async () => {
    await using upstream = await startUpstream({ dialect: "lmstudio", window: 32_768 });
    await using good = run(["check", "--port", "0", "--upstream", upstream.url]);
    expect(await good.ended).toBe(0);
    expect(good.out).toContain("32768 (loaded)");
    expect(good.out).toContain("No problems.");
    await using bad = run(["check", "--port", "0", "--upstream", NOBODY, "--json"]);
    expect(await bad.ended).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({ ok: false, problems: [{ code: "upstream_refused" }] });
    expect(good.err + bad.err).toBe("");
  });

  test("count finds its vocabularies beside the bundle", async () => {
    const input = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "Hello" }] });
    await using command = run(["count", "-"], { input });
    expect(await command.ended).toBe(0);
    expect(command.out).toContain("8 tokens");
  });
});

describe("stopping", () => {
  posix("SIGTERM lets a running reply finish, accepts nothing new, and exits with 0", async () => {
    await using upstream = await startUpstream({ dialect: "generic" });
    upstream.next(say("Hel"), pause(), say("lo"), finish("stop"));
    await using command = run(["--port", "0", "--upstream", upstream.url]);
    const url = await urlOf(command);
    const live = startStream(`${url}/v1/chat/completions`, { model: "m", messages: [{ role: "user", content: "?" }] });
    await live.until("Hel");
    command.kill("SIGTERM");
    await refusedAt(url);
    upstream.release();
    const reply = await live.done;
    expect(reply.text()).toBe("Hello");
    expect(reply.ended).toBe(true);
    expect(await command.ended).toBe(0);
    expect(command.err).toContain("reply outcome: m: 1 complete, 0 healed");
  });

  posix("a client that keeps its connection does not hold the end back, before or after its reply", async () => {
    await using upstream = await startUpstream({ dialect: "generic" });
    upstream.next(say("Hel"), pause(), say("lo"), finish("stop"));
    await using command = run(["--port", "0", "--upstream", upstream.url]);
    const url = await urlOf(command);
    const agent = new Agent({ keepAlive: true });
    const idle = await answer(request(`${url}/healthz`, { agent }));
    await idle.read();
    const body = JSON.stringify({ model: "m", messages: [], stream: true });
    const busy = await answer(request(`${url}/v1/chat/completions`, { agent, method: "POST" }), body);
    command.kill("SIGINT");
    upstream.release();
    expect(await busy.read()).toContain("lo");
    expect(await command.ended).toBe(0);
    agent.destroy();
  });

  posix("what is still running after drainSeconds is ended, and said to be cut", async () => {
    await using upstream = await startUpstream({ dialect: "generic" });
    upstream.next(say("Hel"), pause());
    const path = configFile(
      "drain.yaml",
      `limits: { drainSeconds: 0 }\nupstreams: [{ name: up, url: "${upstream.url}" }]`,
    );
    await using command = run(["--port", "0", "--config", path]);
    const live = startStream(`${await urlOf(command)}/v1/chat/completions`, { model: "m", messages: [] });
    await live.until("Hel");
    command.kill("SIGTERM");
    expect(await command.ended).toBe(0);
    const cut = await live.done;
    expect(cut.broken).toBe(false);
    expect(cut.finish()).toBe("length");
    expect(cut.ended).toBe(true);
  });
});

describe("reloading", () => {
  const text = (more: string) => `upstreams: [{ name: one, url: "${NOBODY}" }]\n${more}`;

  posix("SIGHUP reads the file again; a bad one is refused with its errors, and the old one stays", async () => {
    const path = configFile("hup.yaml", text("listen: { keys: [first] }"));
    await using command = run(["--port", "0", "--config", path, "--log-level", "debug"]);
    const url = await urlOf(command);
    const status = async (key: string) => (await get(`${url}/status`, { "x-api-key": key })).status;
    expect(await status("first")).toBe(200);

    writeFileSync(path, text("listen: { keys: [second], prot: 1 }"));
    command.kill("SIGHUP");
    const refusal = await command.says("the new configuration is refused", "err");
    expect(refusal).toContain("listen.prot");
    expect([await status("first"), await status("second")]).toEqual([200, 401]);

    writeFileSync(path, text("listen: { keys: [second] }"));
    command.kill("SIGHUP");
    await command.says('"change":"reloaded"', "err");
    expect([await status("first"), await status("second")]).toEqual([401, 200]);
    expect(command.out).toBe(`lastword listening on ${url}\n`);
  });

  test("a file that is replaced is read without a signal", async () => {
    const path = configFile("watched.yaml", text("listen: { keys: [first] }"));
    await using command = run(["--port", "0", "--config", path]);
    const url = await urlOf(command);
    renameSync(configFile("watched.new", text("listen: { keys: [second] }")), path);
    await command.says('"change":"reloaded"', "err");
    expect((await get(`${url}/status`, { "x-api-key": "second" })).status).toBe(200);
  });

  posix("another port in the file takes effect at the next start, and says so", async () => {
    const path = configFile("port.yaml", text("listen: { port: 0 }"));
    await using command = run(["--config", path]);
    const url = await urlOf(command);
    writeFileSync(path, text("listen: { port: 4999 }"));
    command.kill("SIGHUP");
    await command.says("takes effect at the next start", "err");
    await command.says('"change":"reloaded"', "err");
    expect((await get(`${url}/healthz`)).status).toBe(200);
  });

  posix("a file that would open a bound address to strangers is refused", async () => {
    const open = (keys: string, host: string) =>
      `listen: { host: "${host}", port: 0, keys: ${keys} }\nupstreams: [{ name: one, url: "${NOBODY}", key: canary }]`;
    const path = configFile("open.yaml", open("[inbound]", "0.0.0.0"));
    await using command = run(["--config", path]);
    const url = (await urlOf(command)).replace("0.0.0.0", "127.0.0.1");
    writeFileSync(path, open("[]", "127.0.0.1"));
    command.kill("SIGHUP");
    await command.says("the new configuration is refused", "err");
    expect((await get(`${url}/status`)).status).toBe(401);
    expect(command.err).not.toContain("canary");
  });
});

async function answer(asked: ClientRequest, body?: string) {
  const [response] = (await once(asked.end(body), "response")) as [IncomingMessage];
  const read = async () => {
    let text = "";
    for await (const piece of response.setEncoding("utf8")) text += piece;
    return text;
  };
  return { read };
}

/** Resolves once nobody accepts connections there any more. */
async function refusedAt(url: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const refused = await get(`${url}/healthz`).then(
      () => false,
      () => true,
    );
    if (refused) return;
  }
  throw new Error(`${url} still accepts connections`);
}
