import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { type Count, createCounter } from "../budget/count.ts";
import { familyOf } from "../budget/families.ts";
import { TokenizerThread } from "../budget/tokenizer/thread.ts";
import { createMeasurer } from "../budget/tokenizers.ts";
import { Refused } from "../core/error.ts";
import { isObject, type JsonObject, parseJson } from "../core/json.ts";
import { shown } from "../events/names.ts";
import { wires } from "../wire/index.ts";
import type { Wire } from "../wire/wire.ts";
import { EXIT } from "./commands.ts";
import { wireOf } from "./wire-of.ts";

/** `process`, or what a test has in its place. */
interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** Prints what the prompt of a request body costs, part by part. `file`: a path, or `-` for standard input. Returns the exit code. */
export async function count({ file }: { readonly file: string }, terminal: Terminal): Promise<number> {
  try {
    const body = objectOf(await read(file, terminal), file);
    const wire = speaker(body);
    // Only what the proxy itself would take is worth a count.
    const { model } = wire.read(body);
    const counted = await tokensOf(wire, body, model);
    terminal.stdout.write(table(wire, model, counted));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof Unreadable) && !(error instanceof Refused)) throw error;
    terminal.stderr.write(`lastword count: ${error.message}\n`);
    return EXIT.problem;
  }
}

/** The input is no request body; the message says why, and never quotes it. */
class Unreadable extends Error {}

async function read(file: string, { stdin, stderr }: Terminal): Promise<string> {
  if (file === "-") {
    if (stdin.isTTY === true)
      stderr.write("Paste a request body as JSON and end it with Ctrl-D (Windows: Ctrl-Z, Enter).\n");
    return text(stdin);
  }
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new Unreadable(`${file} cannot be read (${(error as { code?: string }).code ?? "unknown error"})`);
  }
}

function objectOf(json: string, file: string): JsonObject {
  // Windows' editors and shells put a byte order mark in front.
  const body = parseJson(json.replace(/^\uFEFF/, ""));
  if (isObject(body)) return body;
  const name = file === "-" ? "standard input" : file;
  throw new Unreadable(
    `${name} is ${body === undefined ? "not JSON" : "JSON, but not an object"}; it takes the body of a request`,
  );
}

function speaker(body: JsonObject): Wire {
  const name = wireOf(body);
  const wire = wires.find((each) => each.name === name);
  if (wire !== undefined) return wire;
  throw new Unreadable("there are no messages, input or prompt in it, so it is no request of any wire");
}

async function tokensOf(wire: Wire, body: JsonObject, model: string): Promise<Count> {
  const thread = new TokenizerThread();
  try {
    const counter = createCounter(createMeasurer(thread.measure));
    const bodyBytes = Buffer.byteLength(JSON.stringify(body));
    return await counter.count(wire.pieces(body), { upstream: "", model, bodyBytes });
  } finally {
    await thread.close();
  }
}

/** What `Count.parts` calls its parts, for people. */
const PARTS: readonly (readonly [part: keyof Count["parts"], says: string])[] = [
  ["messages", "messages"],
  ["tools", "tools"],
  ["schema", "schema"],
  ["images", "images"],
  ["other", "template, sounds, files"],
];

function table(wire: Wire, model: string, counted: Count): string {
  const { name, encoding } = familyOf(model);
  const rows: [string, string][] = [
    ["wire", wire.name],
    ["model", model === "" ? "not named" : shown(model)],
    ["counted as", name === "unknown" ? `unknown family, by ${encoding}` : `${name}, by ${encoding}`],
    ...PARTS.flatMap(([part, says]): [string, string][] =>
      counted.parts[part] === 0 ? [] : [[says, String(counted.parts[part])]],
    ),
    ["total", `${counted.tokens} tokens`],
    ["method", methodOf(counted)],
  ];
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}\n`).join("");
}

function methodOf({ method, tokens, bound }: Count): string {
  switch (method) {
    case "exact":
      return "exact";
    case "estimate":
      return `estimate, off by at most ${bound} (${Math.max(0, tokens - bound)} to ${tokens + bound})`;
    case "ceiling":
      return "ceiling: not counted, the total is an upper limit";
    default:
      return method satisfies never;
  }
}
