import type { ServerResponse } from "node:http";
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import type { Transport } from "./upstream-script.ts";

/** The way out of one call: turns events into writes as the transport says. */
export interface Outlet {
  /** Sends the head; later calls do nothing. */
  head(contentType: string): void;
  /** One event, held while a batch is not full. */
  event(text: string): Promise<void>;
  /** Bytes as they are. */
  bytes(bytes: Buffer): Promise<void>;
  flush(): Promise<void>;
  end(): Promise<void>;
}

/** Every HTTP chunk is a read of its own at the client, whatever TCP does with it: splits are exact. */
export function outlet(
  res: ServerResponse,
  transport: Transport,
  own: Record<string, string>,
  sleep: (ms: number) => Promise<void>,
): Outlet {
  const encoder = transport.encoding === undefined ? null : compressor(transport.encoding);
  const held: Buffer[] = [];
  let position = 0;
  let open = false;

  async function put(bytes: Buffer): Promise<void> {
    const wire = encoder === null ? bytes : await encoder.push(bytes);
    for (const piece of cut(wire, position, transport.split)) {
      if (piece.length === 0 || res.destroyed) continue;
      if (!res.write(piece)) await drained(res);
      if (transport.gap !== undefined && transport.gap > 0) await sleep(transport.gap);
    }
    position += wire.length;
  }

  async function flush(): Promise<void> {
    if (held.length > 0) await put(Buffer.concat(held.splice(0)));
  }

  return {
    head(contentType) {
      if (open) return;
      open = true;
      res.writeHead(transport.status ?? 200, {
        "content-type": contentType,
        ...(transport.encoding === undefined ? {} : { "content-encoding": transport.encoding }),
        ...own,
        ...transport.headers,
      });
      res.flushHeaders();
    },
    async event(text) {
      held.push(Buffer.from(transport.newline === undefined ? text : text.replaceAll("\n", transport.newline)));
      if (held.length >= (transport.batch ?? 1)) await flush();
    },
    async bytes(bytes) {
      await flush();
      await put(bytes);
    },
    flush,
    async end() {
      await flush();
      const rest = encoder === null ? null : await encoder.finish();
      if (!res.destroyed) res.end(rest ?? undefined);
    },
  };
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      res.off("drain", go);
      res.off("close", go);
      resolve();
    };
    res.once("drain", go);
    res.once("close", go);
  });
}

function cut(bytes: Buffer, position: number, split: Transport["split"]): Buffer[] {
  if (split === undefined) return [bytes];
  const pieces: Buffer[] = [];
  let from = 0;
  const upTo = (to: number) => {
    if (to > from && to < bytes.length) {
      pieces.push(bytes.subarray(from, to));
      from = to;
    }
  };
  if ("at" in split) for (const offset of split.at) upTo(offset - position);
  else if ("every" in split)
    for (let to = split.every - (position % split.every); to < bytes.length; to += split.every) upTo(to);
  else for (let to = 0; to < bytes.length; to += 1 + (next(split) % (split.max ?? 7))) upTo(to);
  pieces.push(bytes.subarray(from));
  return pieces;
}

/** A small deterministic generator (linear congruential); the state lives in the split, so that it goes on over writes. */
function next(state: { seed: number }): number {
  state.seed = (Math.imul(state.seed, 1_664_525) + 1_013_904_223) >>> 0;
  return state.seed >>> 8;
}

/** Compresses so that everything pushed can be read at once at the other end. */
function compressor(encoding: "gzip" | "br") {
  const zip = encoding === "gzip" ? createGzip() : createBrotliCompress();
  const out: Buffer[] = [];
  zip.on("data", (piece: Buffer) => out.push(piece));
  const taken = () => Buffer.concat(out.splice(0));
  const kind = encoding === "gzip" ? constants.Z_SYNC_FLUSH : constants.BROTLI_OPERATION_FLUSH;
  return {
    push: (bytes: Buffer) =>
      new Promise<Buffer>((resolve) => {
        zip.write(bytes);
        zip.flush(kind, () => resolve(taken()));
      }),
    finish: () =>
      new Promise<Buffer>((resolve) => {
        zip.once("end", () => resolve(taken()));
        zip.end();
      }),
  };
}
