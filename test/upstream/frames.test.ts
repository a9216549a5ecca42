import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventSplitter, parseEvents } from "../../src/upstream/frames.ts";
import { readSse } from "../support/sse.ts";
import { cutAt, streams } from "../support/sse-streams.ts";

const MOST = 1024 * 1024;

/** What a reader hears of these reads: events that say something, in order. */
function heard(reads: readonly Buffer[]): { event: string; data: string }[] {
  const splitter = new EventSplitter(MOST);
  const runs = reads.map((read) => splitter.push(read)).filter((run) => run !== null);
  const rest = splitter.rest();
  if (rest !== null) runs.push(Buffer.concat([rest, Buffer.from("\n\n")]));
  return runs
    .flatMap((run, i) => parseEvents(run, i === 0))
    .filter(({ event, data }) => event !== "" || data !== "")
    .map(({ event, data }) => ({ event, data }));
}

const expected = (bytes: Buffer) =>
  readSse(`${bytes.toString()}\n\n`).filter(({ event, data }) => event !== "" || data !== "");

describe("events of a stream", () => {
  it("are those of the standard, wherever the reads are cut and whatever ends the lines", () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(400), { maxLength: 40 }), (bytes, cuts) => {
        expect(heard(cutAt(bytes, cuts))).toEqual(expected(bytes));
      }),
      { numRuns: 400 },
    );
  });

  it("and also byte by byte", () => {
    fc.assert(
      fc.property(streams, (bytes) => {
        expect(heard([...bytes].map((byte) => Buffer.from([byte])))).toEqual(expected(bytes));
      }),
      { numRuns: 100 },
    );
  });

  it("runs are the bytes that came, none lost and none twice", () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(400), { maxLength: 40 }), (bytes, cuts) => {
        const splitter = new EventSplitter(MOST);
        const runs = cutAt(bytes, cuts).map((read) => splitter.push(read) ?? Buffer.alloc(0));
        const rest = splitter.rest() ?? Buffer.alloc(0);
        expect(Buffer.concat([...runs, rest]).equals(bytes)).toBe(true);
        for (const run of runs) {
          const events = parseEvents(run, false);
          expect(Buffer.concat(events.map((event) => event.bytes)).equals(run)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("B59: CR and LF in different reads are one line end", () => {
    const reads = ['data: {"choices":[{"index":0,\r', '\ndata: "delta":{"content":"x"}}]}\r\n', "\r", "\n"];
    expect(heard(reads.map((read) => Buffer.from(read)))).toEqual([
      { event: "", data: '{"choices":[{"index":0,\n"delta":{"content":"x"}}]}' },
    ]);
  });

  it("a larger one than allowed is an error, however it comes", () => {
    const splitter = new EventSplitter(1_000);
    expect(() => {
      for (let i = 0; i < 200; i++) splitter.push(Buffer.from("data: x\n"));
    }).toThrow("an event larger than 1000 bytes");
  });

  it("an event of many small lines costs what its bytes cost", () => {
    const splitter = new EventSplitter(64 * MOST);
    const line = Buffer.from("data: x\n");
    // Joined anew for every line this would be 160 GB of copying.
    let early = 0;
    for (let i = 0; i < 200_000; i++) if (splitter.push(line) !== null) early++;
    expect(early).toBe(0);
    expect(splitter.push(Buffer.from("\n"))?.length).toBe(1_600_001);
  });
});
