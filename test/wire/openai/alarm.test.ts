import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject, type Json } from "../../../src/core/json.ts";
import { parseEvents } from "../../../src/upstream/frames.ts";
import { chatChoice } from "../../../src/wire/chat/delta.ts";
import { textChoice } from "../../../src/wire/completions/choice.ts";
import { ALARM } from "../../../src/wire/openai/alarm.ts";
import { readFrame } from "../../../src/wire/openai/frame.ts";
import type { Frame } from "../../../src/wire/wire.ts";
import { type Recorded, STREAMS } from "./streams.ts";

const latin1 = (text: string | Buffer) => Buffer.from(text as string).toString("latin1");

/** How an event is written down: spaces, escapes and line ends are the server's choice. */
interface Hand {
  readonly space: string;
  /** Every nth character of a string is escaped; 0: none. */
  readonly escape: number;
  readonly end: string;
  readonly before: string;
  /** JSON is broken into two data lines. */
  readonly lines: boolean;
}

function mostly<T>(usual: T, rare: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: rare });
}

const hand: fc.Arbitrary<Hand> = fc.record({
  space: fc.constantFrom("", " ", "\t", "  "),
  escape: mostly(0, fc.constantFrom(1, 2, 3, 7, 11)),
  end: mostly("\n", fc.constantFrom("\r\n", "\r")),
  before: mostly("", fc.constantFrom(": ping\n", "id: 7\n", "event: message\n", "retry: 3\n", ": {}\n")),
  lines: mostly(false, fc.constant(true)),
});

function write(value: Json | undefined, by: Hand): string {
  if (typeof value === "string") return quoted(value, by.escape);
  if (Array.isArray(value)) return `[${value.map((one) => write(one, by)).join(`,${by.space}`)}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const pairs = Object.entries(value).map(
    ([key, one]) => `${quoted(key, by.escape)}${by.space}:${by.space}${write(one, by)}`,
  );
  return `{${pairs.join(`,${by.space}`)}}`;
}

function quoted(text: string, nth: number): string {
  if (nth === 0) return JSON.stringify(text);
  const units = text.split("").map((unit, i) => {
    if (i % nth === 0) return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return JSON.stringify(unit).slice(1, -1);
  });
  return `"${units.join("")}"`;
}

function event(recorded: Recorded, by: Hand): string {
  const named = isObject(recorded) && typeof recorded.event === "string" && "data" in recorded;
  const data = named ? (recorded.data as Json) : (recorded as Json);
  const text = typeof data === "string" ? data : write(data, by);
  const at = by.lines ? text.indexOf(",") : -1;
  const lines = at < 0 ? [text] : [text.slice(0, at + 1), text.slice(at + 1)];
  const name = named ? `event: ${recorded.event}\n` : "";
  const whole = `${by.before}${name}${lines.map((line) => `data: ${line}\n`).join("")}\n`;
  return whole.replaceAll("\n", by.end);
}

/** More than what may flow on unparsed. */
function matters(frame: Frame): boolean {
  if (frame.garbage || frame.kind === "tail") return true;
  return frame.parts.some((part) => {
    if (part.kind === "text" || part.kind === "reasoning")
      return /\ufffd$|[\ud800-\udbff]$|^[\udc00-\udfff]/.test(part.text);
    return true;
  });
}

describe("the scan beside the parse", () => {
  const all = Object.values(STREAMS).flat();

  test("misses nothing that the parse sees, however it is written and grouped", () => {
    let plain = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...all), hand), { minLength: 1, maxLength: 4 }), (run) => {
        const bytes = Buffer.from(run.map(([recorded, by]) => event(recorded, by)).join(""));
        if (ALARM.test(bytes.toString("latin1"))) return;
        plain++;
        const frames = parseEvents(bytes, false).flatMap((raw) => {
          return [chatChoice, textChoice].map((choice) => readFrame(raw.event, raw.data, choice));
        });
        expect(frames.filter(matters)).toEqual([]);
        expect(frames.length).toBe(run.length * 2);
      }),
      { numRuns: 20_000 },
    );
    expect(plain).toBeGreaterThan(1000);
  });

  test.each([
    ["openai", 1],
    ["lmstudio", 0],
    ["lmstudio", 1],
    ["lmstudio", 2],
    ["llamacpp", 1],
    ["openrouter", 0],
    ["openrouter", 3],
    ["vllm", 1],
    ["ollama", 0],
    ["groq", 0],
    ["mistral", 1],
    ["completions", 0],
  ])("lets %s's plain event %i go by, with spaces or without", (server, at) => {
    const recorded = STREAMS[server]?.[at];
    if (recorded === undefined) throw new Error("no such event");
    const plain: Hand = { space: "", escape: 0, end: "\n", before: "", lines: false };
    const once = event(recorded, plain) + event(recorded, { ...plain, space: " " });
    expect(ALARM.exec(latin1(once))?.[0]).toBeUndefined();
  });

  test.each(["error: {}\n\n", "event: {}\n\n", "\n\n", "[{}]\n\n", "data: [{}]\n\n"])(
    "a run that begins with %j",
    (run) => {
      expect(ALARM.test(run)).toBe(true);
    },
  );

  test("text that quotes keys is only text", () => {
    const text = JSON.stringify({
      choices: [{ delta: { content: '{"finish_reason": "stop", "error": 1}\n\ndata: x' } }],
    });
    expect(ALARM.test(latin1(`data: ${text}\n\n`))).toBe(false);
  });

  test("escapes that hide no letter go by: accents, whole pairs", () => {
    expect(ALARM.test(`data: {"c":"caf\\u00e9 \\ud83c\\udf0d \\u4eac"}\n\n`)).toBe(false);
  });

  test("a megabyte of near misses is scanned once, not over and over", () => {
    const near = String.raw`\ud83d\udf0d \"data\" \"error\" : \"usage` + " \t".repeat(50);
    expect(ALARM.test(latin1(`data: {"c":"${near.repeat(8_000)}"}\n\n`))).toBe(false);
  });
});
