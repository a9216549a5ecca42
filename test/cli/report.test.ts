import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { report } from "../../src/cli/report.ts";
import { modelLabels } from "../../src/events/names.ts";
import { createTallies } from "../../src/events/tally.ts";
import { finished } from "../events/samples.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** The port of a server that answers so. */
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  closers.push(() => server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function run(url: string | undefined, key?: string, env: Record<string, string> = {}) {
  const said = { out: "", err: "" };
  const stream = (to: keyof typeof said) => ({
    write: (text: string) => {
      said[to] += text;
    },
  });
  const code = await report({ url, key }, env, { stdout: stream("out"), stderr: stream("err") });
  return { code, ...said };
}

function tallies() {
  const made = createTallies(modelLabels(9));
  made.event(finished({ outcome: "healed" }));
  made.event(finished({ outcome: "rejected" }));
  return made.list();
}

test("prints one line per model, from whatever path of the proxy was named", async () => {
  const seen: (string | undefined)[] = [];
  const port = await serve((request, response) => {
    seen.push(request.url, request.headers.authorization);
    response.end(JSON.stringify({ tallies: tallies() }));
  });
  const line =
    "reply outcome: m: 0 complete, 1 healed, 0 cut off at the cap, 0 complete but malformed, of 1 (1 rejected)\n";
  expect(await run(`http://127.0.0.1:${port}/v1`, "T")).toEqual({ code: 0, out: line, err: "" });
  expect(seen).toEqual(["/status", "Bearer T"]);
  expect(await run(undefined, undefined, { LASTWORD_HOST: "0.0.0.0", LASTWORD_PORT: `${port}` })).toMatchObject({
    code: 0,
    out: line,
  });
});

test("no line where nothing was asked, and a word that this is so", async () => {
  const port = await serve((_, response) => response.end(JSON.stringify({ tallies: [] })));
  expect(await run(`http://127.0.0.1:${port}`)).toEqual({
    code: 0,
    out: "",
    err: `The proxy at http://127.0.0.1:${port} has answered no request yet.\n`,
  });
});

test("a tally of another version, or one that lies, prints what can be read", async () => {
  const odd = [{ model: "a\nb", outcomes: { complete: "7", healed: 2 } }, 5];
  const port = await serve((_, response) => response.end(JSON.stringify({ tallies: odd })));
  const { out } = await run(`http://127.0.0.1:${port}`);
  expect(out).toBe(
    "reply outcome: a\uFFFDb: 0 complete, 2 healed, 0 cut off at the cap, 0 complete but malformed, of 2\n",
  );
});

test("says what is wrong and what to do", async () => {
  const locked = await serve((_, response) => response.writeHead(401).end("{}"));
  expect(await run(`http://127.0.0.1:${locked}`)).toMatchObject({ code: 1, err: expect.stringContaining("--key KEY") });
  const other = await serve((_, response) => response.end("<html>"));
  expect(await run(`http://127.0.0.1:${other}`)).toMatchObject({
    code: 1,
    err: expect.stringContaining("is not lastword"),
  });
  const gone = await serve(() => {});
  closers.pop()?.();
  expect(await run(`http://127.0.0.1:${gone}`)).toMatchObject({
    code: 1,
    err: expect.stringContaining("No lastword answers"),
  });
  expect(await run("nonsense")).toMatchObject({ code: 2 });
});

test("a redirect is not followed, and so takes no key along", async () => {
  const asked: string[] = [];
  const elsewhere = await serve((request, response) => {
    asked.push(request.url ?? "");
    response.end("{}");
  });
  const port = await serve((_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${elsewhere}/status` }).end(),
  );
  expect(await run(`http://127.0.0.1:${port}`, "T")).toMatchObject({ code: 1 });
  expect(asked).toEqual([]);
});
