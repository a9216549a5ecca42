import type { OutgoingHttpHeaders } from "node:http";
import { asObject, asString, parseJson } from "../core/json.ts";
import type { RunEnd } from "../recovery/run.ts";

/** One entry of a recording's stream: the head, then bytes, then how the run ended. */
export type Entry =
  | { readonly kind: "head"; readonly status: number; readonly headers: OutgoingHttpHeaders }
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  | { readonly kind: "end"; readonly end: RunEnd };

const HEAD = 0x68; // h
const BYTES = 0x62; // b
const END = 0x65; // e

export function encode(entry: Entry): Buffer {
  switch (entry.kind) {
    case "head":
      return marked(HEAD, JSON.stringify({ status: entry.status, headers: entry.headers }));
    case "bytes":
      return marked(BYTES, entry.bytes);
    case "end":
      return marked(END, JSON.stringify(entry.end));
    default:
      return entry satisfies never;
  }
}

/** null: of another version, or none. What was sealed by a replica is trusted to be of its shape. */
export function decode(plain: Buffer): Entry | null {
  const rest = plain.subarray(1);
  if (plain[0] === BYTES) return { kind: "bytes", bytes: rest };
  const json = asObject(parseJson(rest.toString()));
  if (plain[0] === HEAD && typeof json?.status === "number")
    return { kind: "head", status: json.status, headers: (json.headers ?? {}) as OutgoingHttpHeaders };
  if (plain[0] === END && asString(json?.outcome) !== undefined) return { kind: "end", end: json as unknown as RunEnd };
  return null;
}

function marked(mark: number, content: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from([mark]), Buffer.from(content)]);
}
