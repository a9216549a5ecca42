import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asArray, asObject } from "../../src/core/json.ts";
import { buildBundle } from "../support/bundle.ts";
import { get, postPlain, startStream } from "../support/client.ts";
import { runCommand } from "../support/command.ts";
import { done, finish, pause, reply, say, startUpstream } from "../support/upstream.ts";

let main = "";
let remove: () => void = () => undefined;
beforeAll(async () => {
  ({ main, remove } = await buildBundle());
}, 60_000);
afterAll(() => remove());

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };
// Connections are handed out by the first process, which Windows does not do by default.
const posix = describe.skipIf(process.platform === "win32");

posix("--workers 2", () => {
  test("says once that it listens, counts as one, drains, and exits with one line per model", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using command = runCommand(main, ["serve", "--port", "0", "--workers", "2", "--upstream", up.url]);
    const url = (await command.says("lastword listening on ")).replace("lastword listening on ", "");
    expect(command.out).toBe(`lastword listening on ${url}\n`);
    up.handle(() => reply("ok"));
    for (let i = 0; i < 10; i++) expect((await postPlain(`${url}/v1/chat/completions`, ask)).status).toBe(200);
    const metrics = (await get(`${url}/metrics`)).bytes.toString();
    expect(metrics).toContain('lastword_requests_total{wire="chat",model="m",outcome="complete"} 10');
    expect(metrics).toMatch(/^lastword_build_info\{.*\} 1$/m);
    const tallies = asArray((await get(`${url}/status`)).json?.tallies).map(asObject);
    expect(tallies).toHaveLength(1);
    expect(tallies[0]).toMatchObject({ model: "m", requests: 10 });

    up.next(say("one "), pause(), say("two"), finish("stop"), done());
    const running = startStream(`${url}/v1/chat/completions`, ask);
    await running.until("one ");
    command.kill("SIGTERM");
    up.release();
    expect((await running.done).text()).toBe("one two");
    expect(await command.ended).toBe(0);
    expect(command.err.match(/reply outcome: m: 11 complete/g)).toHaveLength(1);
  });

  test("a set-up that cannot start ends all of it with 1", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    const port = new URL(up.root).port;
    await using command = runCommand(main, ["serve", "--port", port, "--workers", "2", "--upstream", up.url]);
    expect(await command.ended).toBe(1);
    expect(command.err).toContain("EADDRINUSE");
  });
});
