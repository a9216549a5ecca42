import { describe, expect, test } from "vitest";
import { BodyReader } from "../../bench/http1.ts";
import type { Group } from "../../bench/load/job.ts";
import { listenerFor } from "../../bench/load/listener.ts";
import { Times } from "../../bench/load/spread.ts";
import { RECITAL, recitalFrom, SCENARIOS } from "../../bench/scenarios.ts";
import { closing, roleEvent, stampEvent, textEvent } from "../../bench/upstream/replies.ts";
import { wantedOf } from "../../bench/upstream/request.ts";

const wanted = (body: object) => wantedOf(Buffer.from(JSON.stringify(body)));
const partial = { role: "assistant", content: RECITAL.slice(0, 100).join("") };

describe("the bench's server", () => {
  test("finds its fields on either side of a large prompt", () => {
    const messages = [{ role: "user", content: "x".repeat(100_000) }];
    const fields = { model: "plain", stream: false, cap: 256 };
    expect(wanted({ model: "plain", max_tokens: 256, messages })).toMatchObject(fields);
    expect(wanted({ messages, max_completion_tokens: 256, model: "plain" })).toMatchObject(fields);
    expect(wanted({ model: "nobody", messages })).toBeNull();
  });

  test("goes on behind what a partial reply holds", () => {
    expect(wanted({ model: "resumed", messages: [partial] })).toMatchObject({
      said: partial.content.length,
      again: "",
    });
  });

  test("a recital is gone on with at any character", () => {
    const whole = RECITAL.join("");
    for (let said = 0; said <= whole.length; said++) expect(recitalFrom(said).join("")).toBe(whole.slice(said));
  });

  test("asked to begin with the last words, it does", () => {
    const words = RECITAL.slice(96, 100).join("").trim();
    const order = { role: "user", content: `Begin with "${words}"` };
    expect(wanted({ model: "nudged", messages: [partial, order] })).toMatchObject({
      said: partial.content.length,
      again: words,
    });
  });
});

describe("the bench's load generator", () => {
  const group: Group = {
    name: "load",
    model: "resumed",
    stream: true,
    cap: null,
    prompt: "small",
    connections: 1,
    spreadMs: 0,
    until: { requests: 1 },
  };

  /** What it says of this stream, read in pieces of so many bytes. */
  function hears(of: Group, stream: string, pieceLength: number) {
    const gauges = { firstToken: new Times(), delay: new Times(), seam: new Times() };
    const listener = listenerFor(of, gauges);
    listener.begin(0);
    const body = new BodyReader().begin("chunked");
    const bytes = Buffer.from(stream);
    for (let at = 0; at < bytes.length; at += pieceLength) {
      body.read(bytes.subarray(at, at + pieceLength), 0, (from, start, end) => listener.hear(from, start, end));
    }
    const [seams, delays] = [gauges.seam.spread().count, gauges.delay.spread().count];
    return { complaint: listener.end(), tokens: listener.tokens, seams, delays };
  }
  const words = (from: number, to: number) =>
    RECITAL.slice(from, to)
      .map((word) => textEvent("resumed", word))
      .join("");
  const half = roleEvent("resumed") + words(0, 100);

  test.each([1, 7, 1000, 1_000_000])("hears a recital that comes in pieces of %i bytes", (length) => {
    const stream = half + words(100, 200) + closing("resumed", "stop", null);
    expect(hears(group, stream, length)).toMatchObject({ complaint: null, tokens: 200 });
  });

  test("sees a seam, and a reply that is not whole or ends wrongly", () => {
    const cut = { ...group, cap: 100 };
    const stop = closing("resumed", "stop", null);
    expect(hears(cut, half + words(100, 200) + stop, 300).seams).toBe(1);
    expect(hears(cut, half + stop, 4096).complaint).toContain("or others, finish stop");
    expect(hears(cut, half + words(99, 200) + stop, 4096).complaint).toContain("or others");
    expect(hears(cut, half + words(100, 200) + closing("resumed", "length", null), 4096).complaint).toContain("length");
  });

  test("hears every stamp of a paced stream, and one that is missing", () => {
    const paced: Group = { ...group, model: "paced" };
    const { chunks } = SCENARIOS.paced;
    const stamps = Array.from({ length: chunks }, (_, index) => stampEvent("paced", index));
    const stream = (events: readonly string[]) => roleEvent("paced") + events.join("") + closing("paced", "stop", null);
    expect(hears(paced, stream(stamps), 100)).toMatchObject({ complaint: null, tokens: chunks, delays: chunks });
    expect(hears(paced, stream(stamps.toSpliced(5, 1)), 100).complaint).toBe("tokens out of order");
  });

  test("tells spreads", () => {
    const times = new Times();
    for (let value = 0; value < 5000; value++) times.add(4999 - value);
    expect(times.spread()).toEqual({ count: 5000, p50: 2500, p99: 4950, max: 4999 });
    expect(new Times().spread()).toEqual({ count: 0, p50: 0, p99: 0, max: 0 });
  });
});
