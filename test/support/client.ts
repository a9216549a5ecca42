import { type IncomingHttpHeaders, request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { asArray, asObject, asString, type JsonObject, parseJson } from "../../src/core/json.ts";
import { readSse, type SseEvent } from "./sse.ts";

/** A streamed answer as a client saw it, whole or cut. */
export interface Streamed {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body as it came, before any decompression. */
  readonly bytes: Buffer;
  readonly events: readonly SseEvent[];
  /** The events' parsed objects; what is not an object (`[DONE]`) is left out. */
  readonly chunks: readonly JsonObject[];
  /** Visible text of all events, on whatever wire. */
  text(): string;
  reasoning(): string;
  /** Arguments of all tool calls, by index, as they were streamed (chat and Messages). */
  toolArgs(): string[];
  /** The last finish or stop reason, or the status of a Responses terminal event. */
  finish(): string | null;
  /** `[DONE]`, `message_stop` or a Responses terminal event was seen. */
  readonly ended: boolean;
  /** The connection ended before the body did. */
  readonly broken: boolean;
}

export interface Plain {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** undefined where the body is not a JSON object. */
  readonly json: JsonObject | undefined;
  readonly broken: boolean;
}

/** A request under way. */
export interface Live {
  /** The body so far. */
  seen(): string;
  /** Resolves once the body so far holds the text; rejects where the answer ends without it. */
  until(text: string): Promise<void>;
  /** Destroys the socket. */
  abort(): void;
  /** The whole answer, also after an abort or a reset. Rejects only where no head came. */
  readonly done: Promise<Streamed>;
}

/** POSTs and reads to the end. `stream: true` is added unless the body says otherwise. */
export function postStream(url: string, body: JsonObject, headers: Record<string, string> = {}): Promise<Streamed> {
  return startStream(url, body, headers).done;
}

export function startStream(url: string, body: JsonObject, headers: Record<string, string> = {}): Live {
  const sent = send("POST", url, JSON.stringify({ stream: true, ...body }), headers);
  return {
    seen: () => sent.seen().toString(),
    until: (text) => sent.until(text),
    abort: () => sent.abort(),
    done: sent.done.then(streamed),
  };
}

export async function postPlain(
  url: string,
  body: JsonObject | string,
  headers: Record<string, string> = {},
): Promise<Plain> {
  return plain(await send("POST", url, typeof body === "string" ? body : JSON.stringify(body), headers).done);
}

export async function get(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Plain> {
  return plain(await send(method, url, null, headers).done);
}

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly broken: boolean;
}

/** One request on a socket of its own. */
function send(method: string, url: string, body: string | null, headers: Record<string, string>) {
  const pieces: Buffer[] = [];
  const watchers = new Set<() => void>();
  let answered = false;
  let over = false;
  const tell = () => {
    for (const watch of watchers) watch();
  };
  const own =
    body === null ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  const req = request(url, { method, headers: { ...own, ...headers }, agent: false });
  const done = new Promise<Received>((resolve, reject) => {
    req.on("error", (error) => {
      if (!answered) reject(error); // once a head has come, `broken` tells it
    });
    req.on("response", (res) => {
      answered = true;
      res.on("data", (piece: Buffer) => {
        pieces.push(piece);
        tell();
      });
      res.on("error", () => {});
      res.on("close", () => {
        over = true;
        tell();
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          bytes: Buffer.concat(pieces),
          broken: !res.complete,
        });
      });
    });
    req.end(body ?? undefined);
  });
  const seen = () => Buffer.concat(pieces);
  return {
    done,
    seen,
    abort: () => void req.destroy(),
    until: (text: string) =>
      new Promise<void>((resolve, reject) => {
        const watch = () => {
          const found = seen().includes(text);
          if (!found && !over) return;
          watchers.delete(watch);
          if (found) resolve();
          else reject(new Error(`the answer ended without ${JSON.stringify(text)}: ${seen().toString()}`));
        };
        watchers.add(watch);
        watch();
      }),
  };
}

function decoded(received: Received): string {
  const encoding = received.headers["content-encoding"];
  if (encoding === "gzip") return gunzipSync(received.bytes).toString();
  if (encoding === "br") return brotliDecompressSync(received.bytes).toString();
  return received.bytes.toString();
}

function plain(received: Received): Plain {
  return { ...received, json: received.broken ? undefined : asObject(parseJson(decoded(received))) };
}

function streamed(received: Received): Streamed {
  const events = readSse(decoded(received));
  const chunks = events.map((each) => asObject(parseJson(each.data))).filter((json) => json !== undefined);
  const terminal = /^(message_stop|response\.(completed|incomplete|failed))$/;
  return {
    ...received,
    events,
    chunks,
    text: () => chunks.map(textOf).join(""),
    reasoning: () => chunks.map(reasoningOf).join(""),
    toolArgs: () => toolArgs(chunks),
    finish: () => chunks.map(finishOf).findLast((reason) => reason !== undefined) ?? null,
    ended: events.some((each) => each.data === "[DONE]" || terminal.test(each.event)),
  };
}

const firstChoice = (chunk: JsonObject) => asObject(asArray(chunk.choices)[0]) ?? {};
const deltaOf = (chunk: JsonObject) => asObject(firstChoice(chunk).delta) ?? asObject(chunk.delta) ?? {};

function textOf(chunk: JsonObject): string {
  if (chunk.type === "response.output_text.delta") return asString(chunk.delta) ?? "";
  const delta = deltaOf(chunk);
  return asString(firstChoice(chunk).text) ?? asString(delta.content) ?? asString(delta.text) ?? "";
}

function reasoningOf(chunk: JsonObject): string {
  if (chunk.type === "response.reasoning_text.delta") return asString(chunk.delta) ?? "";
  const delta = deltaOf(chunk);
  return asString(delta.reasoning_content) ?? asString(delta.reasoning) ?? asString(delta.thinking) ?? "";
}

function toolArgs(chunks: readonly JsonObject[]): string[] {
  const args = new Map<number, string>();
  const add = (index: unknown, piece: unknown) => {
    if (typeof index === "number" && typeof piece === "string") args.set(index, (args.get(index) ?? "") + piece);
  };
  for (const chunk of chunks) {
    const delta = deltaOf(chunk);
    add(chunk.index, delta.partial_json);
    if (chunk.type === "response.function_call_arguments.delta") add(chunk.output_index ?? 0, chunk.delta);
    for (const call of asArray(delta.tool_calls)) {
      const fields = asObject(call);
      add(fields?.index, asObject(fields?.function)?.arguments);
    }
  }
  return [...args.entries()].sort(([a], [b]) => a - b).map(([, text]) => text);
}

function finishOf(chunk: JsonObject): string | undefined {
  const status = /^response\.(completed|incomplete|failed)$/.exec(asString(chunk.type) ?? "")?.[1];
  return asString(firstChoice(chunk).finish_reason) ?? asString(deltaOf(chunk).stop_reason) ?? status;
}
