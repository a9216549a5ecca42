import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { startProxy } from "../support/proxy.ts";

const MIB = 1024 * 1024;
const SIZE = 64 * MIB;
const PIECE = Buffer.from(Array.from({ length: 64 * 1024 }, (_, i) => (i * 7919) % 251));
/** What may be held at once: the sockets' and streams' own buffers, three times over (client, proxy and upstream share this process). Four times the size holds no more. */
const MOST_HELD = 24 * MIB;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** The most memory outside of the heap that was really held, looked at every 4 MiB of a transfer. */
class Held {
  most = 0;
  readonly #before: number;
  #seen = 0;

  constructor() {
    collect();
    this.#before = process.memoryUsage().arrayBuffers;
  }

  passed(bytes: number): void {
    if (Math.floor(this.#seen / (4 * MIB)) !== Math.floor((this.#seen + bytes) / (4 * MIB))) {
      collect();
      this.most = Math.max(this.most, process.memoryUsage().arrayBuffers - this.#before);
    }
    this.#seen += bytes;
  }
}

/** Writes the whole size, as fast as the other side takes it. */
async function pour(into: NodeJS.WritableStream, sum: Hash, size: number): Promise<void> {
  for (let sent = 0; sent < size; sent += PIECE.length) {
    const piece = PIECE.subarray(0, Math.min(PIECE.length, size - sent));
    sum.update(piece);
    if (!into.write(piece)) await once(into, "drain");
  }
  into.end();
}

async function drink(from: IncomingMessage, held: Held): Promise<string> {
  const sum = createHash("sha256");
  for await (const piece of from) {
    sum.update(piece as Buffer);
    held.passed((piece as Buffer).length);
  }
  return sum.digest("hex");
}

async function listening(listener: Parameters<typeof createServer>[1]) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("64 MiB in either direction", () => {
  it("goes up in a form, whose model is read on the way, with flat memory", async () => {
    const held = new Held();
    await using up = await listening(async (req, res) => {
      const sum = await drink(req, held);
      res.end(sum);
    });
    await using proxy = await startProxy(
      { url: up.url, dialect: "generic" },
      {
        upstreams: [
          { name: "first", url: "http://127.0.0.1:9/v1", dialect: "generic" },
          { name: "second", url: up.url, dialect: "generic" },
        ],
        models: [{ match: "whisper*", upstream: "second" }],
      },
    );
    const head = Buffer.from(
      '--edge\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--edge\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
    );
    const req = request(`${proxy.url}/audio/transcriptions`, {
      method: "POST",
      agent: false,
      headers: { "content-type": "multipart/form-data; boundary=edge", "content-length": head.length + SIZE },
    });
    const sum = createHash("sha256").update(head);
    req.write(head);
    const answered = once(req, "response");
    await pour(req, sum, SIZE);
    const [res] = (await answered) as [IncomingMessage];
    res.setEncoding("utf8");
    let told = "";
    for await (const piece of res) told += piece;
    expect(told).toBe(sum.digest("hex"));
    expect(held.most).toBeLessThan(MOST_HELD);
  });

  it("comes down with flat memory", async () => {
    const sent = createHash("sha256");
    await using up = await listening((_req, res) => {
      res.writeHead(200, { "content-type": "audio/mpeg", "content-length": SIZE });
      void pour(res, sent, SIZE);
    });
    await using proxy = await startProxy({ url: up.url, dialect: "generic" });
    const held = new Held();
    const req = request(`${proxy.url}/audio/speech`, { method: "POST", agent: false });
    req.end("{}");
    const [res] = (await once(req, "response")) as [IncomingMessage];
    expect(await drink(res, held)).toBe(sent.digest("hex"));
    expect(held.most).toBeLessThan(MOST_HELD);
  });

  it("a client that does not read holds the upstream back", async () => {
    let offered = 0;
    let full: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => {
      full = resolve;
    });
    await using up = await listening((_req, res) => {
      res.writeHead(200, { "content-type": "audio/mpeg" });
      // Everything that anybody takes is offered; what is left over after a turn of every loop stays with the upstream.
      const offer = () => {
        while (offered < SIZE && res.write(PIECE)) offered += PIECE.length;
        if (offered < SIZE) idle(res, offer, full);
      };
      offer();
    });
    await using proxy = await startProxy({ url: up.url, dialect: "generic" });
    const req = request(`${proxy.url}/audio/speech`, { method: "POST", agent: false });
    req.end("{}");
    const [res] = (await once(req, "response")) as [IncomingMessage];
    res.pause();
    await blocked;
    expect(offered).toBeLessThan(SIZE / 2);
    req.destroy();
    res.on("error", () => undefined);
  });
});

/** Goes on at the next drain, or tells that for a thousand turns of the loop none came. */
function idle(stream: NodeJS.WritableStream, go: () => void, blocked: () => void): void {
  let turns = 0;
  let drained = false;
  stream.once("drain", () => {
    drained = true;
    go();
  });
  const turn = () => {
    if (drained) return;
    if (++turns < 1000) setImmediate(turn);
    else blocked();
  };
  turn();
}
