import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asArray, asObject, asString, type JsonObject, parseJson } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import {
  type Call,
  done,
  eof,
  finish,
  nudges,
  reset,
  type Script,
  say,
  startUpstream,
  tool,
  type Upstream,
  usage,
} from "../support/upstream.ts";

const CASES = 2_000;
const AT_ONCE = 12;
const CAP = 100;

const PARAMETERS = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1 },
    content: { type: "string" },
    lines: { type: "array", items: { type: "integer" }, minItems: 1 },
  },
  required: ["path", "content", "lines"],
  additionalProperties: false,
};
const valid = new Ajv().compile(PARAMETERS);
const FINISHES = ["length", "max_tokens", "tool_calls", "stop", "eos", "", "eof", "reset"] as const;
/** What the model does in passes after the first. */
const MOODS = ["goes on", "goes on", "goes on", "begins anew", "talks", "closes", "calls another"] as const;

/** One conversation: what the model would write, how it is cut, and what it has written to an end of its own. */
interface Scene {
  readonly id: number;
  readonly kind: "calls" | "document";
  readonly values: readonly string[];
  readonly intro: string;
  readonly mood: (typeof MOODS)[number];
  readonly reason: (typeof FINISHES)[number];
  /** Bytes of the n-th pass, from 1. */
  readonly limit: (n: number) => number;
  readonly tellsUsage: boolean;
  readonly stream: boolean;
  readonly written: Set<string>;
  passes: number;
}

describe("2,000 calls and documents, cut at random bytes under all finish reasons", () => {
  const scenes = new Map<string, Scene>();
  const places: { up: Upstream; proxy: Lastword }[] = [];
  beforeAll(async () => {
    for (const dialect of ["generic", "vllm", "llamacpp"] as const satisfies DialectName[]) {
      const up = await startUpstream({ dialect, window: 65_536 });
      up.on("POST /apply-template", ({ body }) => ({ json: { prompt: rendered(body) } }));
      up.handle((call) => perform(sceneOf(scenes, call), call));
      places.push({ up, proxy: await startProxy(up, { budget: { reasoningAllowanceTokens: 0 } }) });
    }
  });
  afterAll(async () => {
    for (const { up, proxy } of places) {
      await proxy.close();
      await up.close();
    }
  });

  it("no half call, no repaired one, nothing invalid passed off as whole", { timeout: 240_000 }, async () => {
    const random = randomFrom(20_261_130);
    const tally = { whole: 0, healed: 0, cut: 0, malformed: 0, failed: 0 };
    const queue = Array.from({ length: CASES }, (_, id) => sceneAt(id, random));
    const work = async () => {
      for (let scene = queue.pop(); scene !== undefined; scene = queue.pop()) {
        scenes.set(`case-${scene.id}`, scene);
        const place = places[scene.id % places.length];
        if (place !== undefined) tally[await play(scene, place.proxy)]++;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    // All kinds of ends were met, or the test would prove nothing.
    expect(tally.healed).toBeGreaterThan(CASES / 5);
    expect(tally.whole).toBeGreaterThan(0);
    expect(tally.cut).toBeGreaterThan(CASES / 20);
  });
});

async function play(scene: Scene, proxy: Lastword): Promise<"whole" | "healed" | "cut" | "malformed" | "failed"> {
  const body: JsonObject = {
    model: "m",
    user: `case-${scene.id}`,
    messages: [{ role: "user", content: "Go." }],
    max_tokens: CAP,
    ...(scene.kind === "calls"
      ? { tools: [{ type: "function", function: { name: "write", parameters: PARAMETERS } }] }
      : { response_format: { type: "json_schema", json_schema: { name: "doc", schema: PARAMETERS } } }),
  };
  const got = await heard(scene, proxy, body);
  const where = JSON.stringify({ scene, written: [...scene.written], got });
  for (const args of got.calls) {
    expect(parseJson(args), where).toBeDefined();
    expect(scene.written.has(args), where).toBe(true);
  }
  switch (got.outcome) {
    case "complete":
    case "healed":
      if (scene.kind === "document" && got.calls.length === 0) {
        expect(valid(parseJson(got.text)), where).toBe(true);
        expect(scene.written.has(got.text), where).toBe(true);
      } else if (got.calls.length > 0) {
        expect(got.finish, where).toBe("tool_calls");
        expect(
          got.calls.every((args) => valid(parseJson(args))),
          where,
        ).toBe(true);
      }
      expect(got.finish, where).not.toMatch(/^(?:length|max_tokens)$/);
      return got.outcome === "healed" ? "healed" : "whole";
    case "cut_off":
      expect(got.calls, where).toEqual([]);
      expect(got.finish, where).toMatch(/^(?:length|max_tokens)$/);
      if (scene.kind === "document") expect(beginnings(scene, got.text), where).toBe(true);
      return "cut";
    case "malformed":
      return "malformed";
    default:
      expect(got.status, where).toBeGreaterThanOrEqual(500);
      return "failed";
  }
}

interface Got {
  readonly status: number;
  readonly outcome: unknown;
  readonly finish: unknown;
  readonly text: string;
  readonly calls: readonly string[];
}

async function heard(scene: Scene, proxy: Lastword, body: JsonObject): Promise<Got> {
  const url = `${proxy.url}/chat/completions`;
  const explain = { "x-lastword-explain": "1" };
  if (scene.stream) {
    const got = await postStream(url, body, explain);
    const lastword = asObject(got.chunks.findLast((chunk) => chunk.lastword !== undefined)?.lastword);
    return {
      status: got.status === 200 && lastword === undefined ? 599 : got.status,
      outcome: lastword?.outcome,
      finish: got.finish(),
      text: got.text(),
      calls: got.toolArgs(),
    };
  }
  const got = await postPlain(url, body, explain);
  const choice = asObject(asArray(got.json?.choices)[0]);
  const message = asObject(choice?.message);
  return {
    status: got.status,
    outcome: asObject(got.json?.lastword)?.outcome,
    finish: choice?.finish_reason,
    text: asString(message?.content) ?? "",
    calls: asArray(message?.tool_calls).map(
      (call) => asString(asObject(asObject(call)?.function)?.arguments) ?? "none",
    ),
  };
}

/** A cut document is a beginning of what the model wrote, half a character at its end aside. */
function beginnings(scene: Scene, text: string): boolean {
  const solid = text.replace(/\ufffd+$/, "");
  return [...scene.values, ...scene.written].some((value) => value.startsWith(solid));
}

// ---- the model

function sceneOf(scenes: ReadonlyMap<string, Scene>, call: Call): Scene {
  const scene = scenes.get(String(call.body.user));
  if (scene === undefined) throw new Error("a call of no scene");
  return scene;
}

/** The n-th pass of a scene. What it writes to its end goes into `written`, with all that it was given to go on from. */
function perform(scene: Scene, call: Call): Script {
  const n = ++scene.passes;
  const limit = scene.limit(n);
  const given = givenTo(scene, call);
  if (given === null) return turn(scene, n, limit, call);
  const { text, order } = given;
  const value = scene.values.find((one) => one.startsWith(text)) ?? null;
  const rest = restOf(scene, value, text, n);
  const whole = text + rest;
  const raw = call.wire === "completions";
  const said = raw || order === null ? rest : nudges.anchor(text, order, rest);
  const { piece, all } = cutAt(said, limit);
  // A model that begins anew has written its own text, whatever it was given to go on from.
  if (all) scene.written.add(n > 1 && scene.mood === "begins anew" ? rest : whole);
  return [say(all && raw ? `${piece}}\n</tool_call>` : piece), ...endOf(scene, n, all, "stop", call)];
}

function restOf(scene: Scene, value: string | null, text: string, n: number): string {
  if (n > 1 && scene.mood === "talks") return "I am sorry, but I cannot go on with that.";
  if (n > 1 && scene.mood === "begins anew") return scene.values[0] ?? "";
  if (n > 1 && scene.mood === "closes") return closing(text);
  return value === null ? "" : value.slice(text.length);
}

/** The whole turn. */
function turn(scene: Scene, n: number, limit: number, call: Call): Script {
  const script: Script[number][] = [];
  let left = limit;
  let all = true;
  const play = (text: string, act: (piece: string) => Script[number]) => {
    if (!all) return;
    const cut = cutAt(text, left);
    left -= Buffer.byteLength(text);
    all = cut.all;
    script.push(act(cut.piece));
  };
  if (scene.kind === "document") {
    const value = n > 1 && scene.mood === "talks" ? "I would rather not." : (scene.values[0] ?? "");
    play(value, (piece) => say(piece));
    if (all) scene.written.add(value);
    return [...script, ...endOf(scene, n, all, "stop", call)];
  }
  if (scene.intro !== "") play(scene.intro, (piece) => say(piece));
  const values = n > 1 && call.body.parallel_tool_calls === false ? scene.values.slice(0, 1) : scene.values;
  for (const [index, value] of values.entries()) {
    const args = n > 1 && scene.mood === "calls another" ? value.replace('"path":"', '"path":"other/') : value;
    play(args, (piece) => tool(index, { id: `call_${n}_${index}`, name: "write" }, piece));
    if (all) scene.written.add(args);
  }
  return [...script, ...endOf(scene, n, all, "tool_calls", call)];
}

/** A reply that was cut ends as the scene has it; one that was not, as it should. */
function endOf(scene: Scene, n: number, all: boolean, natural: string, call: Call): Script {
  const cap = Number(call.body.max_tokens ?? CAP);
  const tokens = scene.tellsUsage ? [usage(30, all ? Math.max(1, cap - 60) : n === 1 ? cap : Math.ceil(cap / 3))] : [];
  if (all) return [finish(natural), ...tokens, done()];
  switch (scene.reason) {
    case "eof":
      return [eof()];
    case "reset":
      return [reset()];
    case "":
      return [...tokens, done()];
    default:
      return [finish(scene.reason), ...tokens, done()];
  }
}

/** What a later pass shows the model, and the order to go on; null: it is asked for the whole turn. */
function givenTo(scene: Scene, call: Call): { text: string; order: string | null } | null {
  if (call.wire === "completions") {
    const prompt = asString(call.body.prompt) ?? "";
    const mark = '"arguments": ';
    return { text: prompt.slice(prompt.lastIndexOf(mark) + mark.length), order: null };
  }
  const messages = asArray(call.body.messages).map((message) => asObject(message) ?? {});
  const last = messages.at(-1);
  const before = messages.at(-2);
  if (last?.role === "assistant") return { text: asString(last.content) ?? "", order: null };
  if (before?.role !== "assistant") return null;
  const text = asString(before.content) ?? "";
  return scene.kind === "calls" && scene.intro.startsWith(text) ? null : { text, order: asString(last?.content) ?? "" };
}

/** Cut inside a character, a reply ends in what decoders put for its half. */
function cutAt(text: string, bytes: number): { piece: string; all: boolean } {
  const encoded = Buffer.from(text);
  if (bytes >= encoded.length) return { piece: text, all: true };
  return { piece: encoded.subarray(0, Math.max(0, bytes)).toString(), all: false };
}

/** The shortest text that closes what is open. */
function closing(text: string): string {
  const open: string[] = [];
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text[at];
    if (inString && unit === "\\") at++;
    else if (unit === '"') inString = !inString;
    else if (!inString && (unit === "{" || unit === "[")) open.push(unit === "{" ? "}" : "]");
    else if (!inString && (unit === "}" || unit === "]")) open.pop();
  }
  return (inString ? '"' : "") + open.reverse().join("");
}

function rendered(body: JsonObject): string {
  let prompt = "";
  for (const value of asArray(body.messages)) {
    const message = asObject(value) ?? {};
    prompt += `<|im_start|>${message.role}\n${asString(message.content) ?? ""}`;
    for (const each of asArray(message.tool_calls)) {
      const made = asObject(asObject(each)?.function);
      prompt += `<tool_call>\n{"name": "${made?.name}", "arguments": ${made?.arguments}}\n</tool_call>`;
    }
    prompt += "<|im_end|>\n";
  }
  return `${prompt}<|im_start|>assistant\n`;
}

// ---- chance

type Random = (below: number) => number;

/** Xorshift: the same scenes in every run. */
function randomFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

function sceneAt(id: number, random: Random): Scene {
  const kind = random(2) === 0 ? "calls" : "document";
  const count = kind === "document" || random(3) > 0 ? 1 : 2;
  const values = Array.from({ length: count }, () => valueFrom(random));
  const longest = Math.max(...values.map((value) => Buffer.byteLength(value)));
  const first = 1 + random(longest + 8);
  const later = random(3) === 0 ? 20 + random(longest) : 100_000;
  return {
    id,
    kind,
    values,
    intro: kind === "calls" && random(2) === 0 ? "I will write that file now, as you asked. " : "",
    mood: MOODS[random(MOODS.length)] ?? "goes on",
    reason: FINISHES[random(FINISHES.length)] ?? "length",
    limit: (n) => (n === 1 ? first : later),
    tellsUsage: random(4) > 0,
    stream: random(2) === 0,
    written: new Set(),
    passes: 0,
  };
}

const WORDS = [
  "lamp",
  "oil",
  "naïve",
  "Straße",
  "日本",
  "🦊",
  "\\",
  '"quoted"',
  "line\n",
  "\ttab",
  "{",
  "]",
  "é",
  "0.5e3",
  "null",
];

function valueFrom(random: Random): string {
  const words = (most: number) => Array.from({ length: 1 + random(most) }, () => WORDS[random(WORDS.length)]).join(" ");
  const value = {
    path: `${words(3)}.md`,
    content: words(40),
    lines: Array.from({ length: 1 + random(12) }, () => random(100_000)),
  };
  return random(4) === 0 ? JSON.stringify(value, null, 1) : JSON.stringify(value);
}
