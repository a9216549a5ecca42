import fc from "fast-check";
import { expect } from "vitest";
import type { WireName } from "../../src/core/ask.ts";
import { EventSplitter, parseEvents } from "../../src/upstream/frames.ts";
import { wires } from "../../src/wire/index.ts";
import { readSse } from "../support/sse.ts";
import { cutAt, streams } from "../support/sse-streams.ts";
import { fuzz } from "./fuzz.ts";
import { events } from "./inputs.ts";

/** A stream as latin1, so that it can be kept as JSON, and where its reads are cut. */
const cut = fc.tuple(
  fc.oneof(
    streams.map((bytes) => bytes.toString("latin1")),
    fc.string({ unit: fc.constantFrom("\r", "\n", ":", " ", "d", "data: ", "a", "\u00e9", "{", "}"), maxLength: 80 }),
  ),
  fc.array(fc.nat(60), { maxLength: 30 }),
);

const says = ({ event, data }: { event: string; data: string }) => event !== "" || data !== "";

fuzz("events", cut, ([latin1, cuts]) => {
  const bytes = Buffer.from(latin1, "latin1");
  const splitter = new EventSplitter(1 << 20);
  const runs = cutAt(bytes, cuts).flatMap((read) => splitter.push(read) ?? []);
  const rest = splitter.rest();
  if (rest !== null) runs.push(Buffer.concat([rest, Buffer.from("\n\n")]));
  const heard = runs.flatMap((run, i) => parseEvents(run, i === 0));
  expect(heard.filter(says).map(({ event, data }) => ({ event, data }))).toEqual(
    readSse(`${bytes.toString()}\n\n`).filter(says),
  );
});

for (const wire of wires) {
  fuzz(`frames-${wire.name}`, fc.array(events(wire.name), { maxLength: 12 }), (stream) => {
    const read = wire.frames?.() ?? wire.frame;
    const run = Buffer.from(stream.map(([event, json]) => eventOf(wire.name, event, json)).join(""));
    for (const { event, data } of parseEvents(run, true)) {
      const frame = read(event, data);
      for (const half of wire.split?.(frame) ?? [frame]) JSON.stringify(half);
    }
    for (const [, json] of stream) if (isBody(json)) wire.parts(json);
  });

  const { alarm } = wire;
  if (alarm === null) continue;
  fuzz(`alarm-${wire.name}`, fc.array(events(wire.name), { maxLength: 6 }), (stream) => {
    const run = Buffer.from(stream.map(([event, json]) => eventOf(wire.name, event, json)).join(""));
    if (alarm.test(run.toString("latin1"))) return;
    // What goes by unread is nothing but output.
    for (const { event, data } of parseEvents(run, false)) {
      const { kind, parts, garbage } = wire.frame(event, data);
      expect(garbage).toBe(false);
      expect(kind).not.toBe("tail");
      for (const part of parts) expect(part.kind).toMatch(/^(?:text|reasoning)$/);
    }
  });
}

function eventOf(wire: WireName, event: string, json: unknown): string {
  const named = event !== "" || wire === "responses" || wire === "messages" ? `event: ${event}\n` : "";
  return `${named}data: ${typeof json === "string" ? json.replace(/[\r\n]/g, "") : JSON.stringify(json)}\n\n`;
}

function isBody(json: unknown): json is Record<string, never> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
