import type { IncomingMessage } from "node:http";
import { Bytes } from "../core/bytes.ts";
import { Left } from "../core/error.ts";
import { asObject, asString, parseJson } from "../core/json.ts";
import { unbearable } from "../core/structure.ts";

/** Of a form, and of JSON that is too large to be read, the model is looked for in this much of its beginning. */
const HEAD_BYTES = 65_536;

export interface Named {
  /** null: none was found. */
  readonly model: string | null;
  /** The whole body, where all of it was read; null: the request has all of it still. */
  readonly body: Buffer | null;
}

/**
 * The model that a request names: in its query, in a JSON body of at most `mostBytes`, or in a form's field within its first 64 KiB.
 * What was read of a body is put back, so that it can be streamed on as it came.
 * @throws Left if the client leaves
 */
export async function namedModel(request: IncomingMessage, mostBytes: number): Promise<Named> {
  const query = new URL(request.url ?? "/", "http://localhost").searchParams.get("model");
  if (query !== null) return { model: query, body: null };
  const { "content-type": type = "", "content-encoding": encoding } = request.headers;
  if (encoding !== undefined) return { model: null, body: null };
  if (/^application\/(?:[\w.+-]*\+)?json\b/i.test(type)) {
    const { head, whole } = await begin(request, mostBytes, () => false);
    return { model: whole && unbearable(head) === null ? inJson(head) : inHead(head), body: whole ? head : null };
  }
  const boundary = /^multipart\/form-data;.*\bboundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type);
  if (boundary === null) return { model: null, body: null };
  const edge = boundary[1] ?? boundary[2] ?? "";
  const { head, whole } = await begin(request, HEAD_BYTES, (read) => inForm(read, edge) !== null);
  return { model: inForm(head, edge), body: whole ? head : null };
}

/** Reads until `enough`, or past `mostBytes`, or to the end. What was read of a body that has more is put back. */
function begin(
  request: IncomingMessage,
  mostBytes: number,
  enough: (head: Buffer) => boolean,
): Promise<{ readonly head: Buffer; readonly whole: boolean }> {
  return new Promise((resolve, reject) => {
    const read = new Bytes(Number(request.headers["content-length"]));
    // However small the reads, what was looked through once is not looked through for each of them.
    let lookAt = 0;
    const isEnough = () => {
      if (read.size < lookAt) return false;
      lookAt = 2 * read.size;
      return enough(read.view(0));
    };
    const data = (chunk: Buffer) => {
      read.add(chunk);
      if (read.size <= mostBytes && !isEnough()) return;
      stop();
      request.pause();
      const head = read.take();
      request.unshift(head);
      resolve({ head, whole: false });
    };
    const end = () => {
      stop();
      resolve({ head: read.take(), whole: true });
    };
    const close = () => {
      stop();
      reject(new Left());
    };
    const stop = () => request.off("data", data).off("end", end).off("close", close).off("error", close);
    request.on("data", data).on("end", end).on("close", close).on("error", close);
  });
}

function inJson(body: Buffer): string | null {
  return asString(asObject(parseJson(body.toString("utf8")))?.model) ?? null;
}

/** JSON that is too much to be parsed: its first `model`. */
function inHead(body: Buffer): string | null {
  const found = /"model"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(body.toString("utf8", 0, HEAD_BYTES));
  return asString(parseJson(found?.[1] ?? "")) ?? null;
}

/** Bytes: the headers of a form's field are shorter. */
const MOST_FIELD_HEADERS = 2048;
const MODEL_FIELD = /^content-disposition: *form-data;[^\r\n]*?\bname="?model"?(?=[;\r\n]|$)/im;

/** The text field `model` of a form (RFC 7578), from the beginning of its body; null while it is not there in full. */
function inForm(head: Buffer, boundary: string): string | null {
  const fields = `\r\n${head.toString("latin1")}`.split(`\r\n--${boundary}`).slice(1, -1);
  for (const field of fields) {
    const start = field.indexOf("\r\n\r\n");
    if (start < 0 || start > MOST_FIELD_HEADERS || !MODEL_FIELD.test(field.slice(0, start))) continue;
    return Buffer.from(field.slice(start + 4), "latin1").toString("utf8");
  }
  return null;
}
