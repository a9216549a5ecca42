import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Part } from "../../src/core/part.ts";
import { AlikeReader } from "../../src/recovery/alike.ts";
import { parseEvents } from "../../src/upstream/frames.ts";
import { chat } from "../../src/wire/chat/chat.ts";
import { completions } from "../../src/wire/completions/completions.ts";
import type { Frame, Wire } from "../../src/wire/wire.ts";

/** Counts what is parsed. */
function reader(wire: Wire) {
  let parsed = 0;
  const alike = new AlikeReader((event, data) => {
    parsed++;
    return wire.frame(event, data);
  });
  const read = (text: string) => {
    const frames: Frame[] = [];
    alike.read(Buffer.from(text), (frame) => frames.push(frame));
    return frames;
  };
  return { read, parsed: () => parsed };
}

const plainly = (wire: Wire, text: string) =>
  parseEvents(Buffer.from(text), false).map((raw) => wire.frame(raw.event, raw.data));
const essence = (frames: readonly Frame[]) =>
  frames.map(({ kind, event, parts, usageOnly, garbage }) => ({ kind, event, parts, usageOnly, garbage }));
const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;

describe("events that are alike", () => {
  it("are not parsed but for the first", () => {
    const { read, parsed } = reader(chat);
    const texts = Array.from({ length: 100 }, (_, n) => ` word ${n}`);
    const frames = read(texts.map((content) => chunk({ content })).join(""));
    expect(frames.flatMap(({ parts }) => parts.map((part) => (part.kind === "text" ? part.text : part)))).toEqual(
      texts,
    );
    // The first, and the probe.
    expect(parsed()).toBe(2);
  });

  it("are read as if they were parsed, whatever they say", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom('"', "\\", '","x":"', "\n", "\u2028", "content", "m", "\u0000", '\\"', "😀", "null", "\ud800"),
    );
    const delta = fc.oneof(
      { weight: 6, arbitrary: fc.record({ content: text }) },
      fc.record({ reasoning_content: text }),
      fc.record({ content: text, reasoning: text }),
      fc.record({ role: fc.constant("assistant"), content: text }),
      fc.constant({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{" } }] }),
    );
    const event = fc.oneof(
      { weight: 8, arbitrary: delta.map((one) => chunk(one)) },
      fc.tuple(delta, fc.nat(3)).map(([one, created]) => chunk(one, { created })),
      fc.tuple(delta, text).map(([one, obfuscation]) => chunk(one, { obfuscation })),
      fc.constantFrom("data: [DONE]\n\n", ": ping\n\n", "data: {\n\n", `data: ${'{"choices":[]}'}\n\n`),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const all = events.join("");
        expect(essence(reader(chat).read(all))).toEqual(essence(plainly(chat, all)));
      }),
      { numRuns: 300 },
    );
  });

  it("are read so on completions too, with other line ends, and without a last blank line", () => {
    const said = (text: string) => `data: {"choices": [{"text": ${JSON.stringify(text)}, "index": 0}]}\n\n`;
    const all = [" one", " two", "", ' "three"', "\\", " four"].map(said).join("");
    for (const text of [all, all.replaceAll("\n", "\r\n"), all.slice(0, -2)])
      expect(essence(reader(completions).read(text))).toEqual(essence(plainly(completions, text)));
  });

  it("do not take a name or another value for the text", () => {
    const texts = ["content", "m", "c1", "assistant", "other"];
    const all = texts.map((content) => chunk({ content })).join("");
    const { read } = reader(chat);
    const said = read(all).flatMap(({ parts }) => parts);
    expect(said).toEqual(texts.map((one): Part => ({ kind: "text", block: 0, text: one })));
  });

  it("are looked for no more where each event is its own", () => {
    const { read, parsed } = reader(chat);
    read(Array.from({ length: 100 }, (_, created) => chunk({ content: `word ${created}` }, { created })).join(""));
    expect(parsed()).toBe(104);
  });
});
