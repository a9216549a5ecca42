import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Ask } from "../../src/core/ask.ts";
import { emptyReply, type Reply, take } from "../../src/core/reply.ts";
import { Forward } from "../../src/recovery/forward.ts";
import { EventSplitter, parseEvents } from "../../src/upstream/frames.ts";
import { chat } from "../../src/wire/chat/chat.ts";
import { completions } from "../../src/wire/completions/completions.ts";
import type { Wire } from "../../src/wire/wire.ts";

/** Places at which streams are split, at random. */
const SPLITS = 1_000_000;
/** Pieces of one reading, at most. */
const MOST_PIECES = 64;
const GOLDEN = new URL("../golden/", import.meta.url);

/** Numbers that look random, the same each time (xorshift). */
function* numbers(seed: number): Generator<number, never> {
  for (let x = seed; ; ) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    yield x >>> 0;
  }
}

/** Recorded streams of a wire, and each as other servers write it: with spaces, with escapes, with other line ends, with comments. */
function streams(wire: Wire): Buffer[] {
  const files = readdirSync(GOLDEN).filter((file) => file.startsWith(`${wire.name}-`) && file.endsWith(".sse"));
  const recorded = files.map((file) => readFileSync(new URL(file, GOLDEN), "utf8"));
  const variants = [
    (text: string) => text,
    (text: string) => text.replace(/("[a-z_]+"):(?=[^\s])/g, "$1: "),
    (text: string) => text.replaceAll("data: ", "data:"),
    (text: string) => text.replaceAll("\n", "\r\n"),
    (text: string) => text.replaceAll("data: ", ": ping\n\ndata: "),
    (text: string) =>
      text.replace(/ (\w)/g, (_, letter: string) => ` \\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`),
    (text: string) => text.replace(/e/g, "é").replace(/"délta"/g, '"delta"'),
  ];
  return recorded.flatMap((text) => variants.map((variant) => Buffer.from(variant(text))));
}

const ask = (wire: Wire): Ask =>
  wire.read(wire.name === "chat" ? { model: "m", messages: [] } : { model: "m", prompt: "" });

/** What a stream says, every event parsed. */
function parsed(wire: Wire, bytes: Buffer): Reply {
  const reply = emptyReply();
  for (const { event, data } of parseEvents(bytes, true)) {
    for (const part of wire.frame(event, data).parts) take(reply, part);
    if (reply.ended) break;
  }
  return reply;
}

/** The same read in pieces as they flow to a client: scanned, and parsed only at the end. */
function scanned(wire: Wire, pieces: readonly Buffer[]): { readonly reply: Reply; readonly sent: Buffer } {
  const sent: Buffer[] = [];
  let over = false;
  const forward = new Forward({
    wire,
    voice: wire.voice(ask(wire), "id"),
    clear: false,
    holdTools: false,
    holdAll: false,
    holdWord: false,
    careful: false,
    askedCap: null,
    dropUsage: false,
    losesOpening: false,
    out: (bytes) => sent.push(bytes),
    over: () => {
      over = true;
    },
  });
  const splitter = new EventSplitter(1 << 20);
  let first = true;
  for (const piece of pieces) {
    const run = over ? null : splitter.push(piece);
    if (run === null) continue;
    forward.run(run, first);
    first = false;
  }
  const tail = forward.tail();
  return { reply: forward.whole(), sent: Buffer.concat([...sent, tail?.bytes ?? Buffer.alloc(0)]) };
}

describe.each([chat, completions])("however a stream is split: $name", (wire) => {
  test("the scan finds what a full parse finds, and every byte flows", () => {
    const random = numbers(20_260);
    const next = (below: number) => random.next().value % below;
    const all = streams(wire).map((bytes) => ({
      bytes,
      reply: parsed(wire, bytes),
      sent: scanned(wire, [bytes]).sent,
    }));
    expect(all.length).toBeGreaterThan(20);
    for (let splits = 0; splits < SPLITS / 2; ) {
      const { bytes, reply, sent } = all[next(all.length)] ?? expect.fail();
      const cuts = Array.from({ length: next(MOST_PIECES) }, () => next(bytes.length)).sort((a, b) => a - b);
      const pieces = [0, ...cuts].map((from, i) => bytes.subarray(from, cuts[i] ?? bytes.length));
      const found = scanned(wire, pieces);
      // Cheaper than a deep comparison, of which there would be tens of thousands.
      if (JSON.stringify(found.reply) !== JSON.stringify(reply)) expect(found.reply, String(cuts)).toEqual(reply);
      if (!found.sent.equals(sent)) expect(found.sent.toString(), String(cuts)).toBe(sent.toString());
      splits += cuts.length;
    }
  });
});
