import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/events/event.ts";
import { createLog, type Level } from "../../src/events/log.ts";
import { modelLabels } from "../../src/events/names.ts";
import { jsonSink, lateSink, textSink } from "../../src/events/sinks.ts";
import { createTallies } from "../../src/events/tally.ts";
import { attempt, finished } from "./samples.ts";

const received: Event = { type: "received", id: "r", model: "m", wire: "chat", stream: true, upstream: "u" };
const cut: Event = {
  type: "attempt_ended",
  id: "r",
  model: "m",
  attempt: 1,
  facts: attempt({ seam: { overlap: 3, dropped: 1 } }),
  cause: "reply_cap",
};

function lines(level: Level | "silent", events: readonly Event[]) {
  const written: [string, string, object][] = [];
  const log = createLog(level, { write: (...line) => void written.push(line), close() {} });
  for (const event of events) log.event(event);
  return written;
}

describe("levels", () => {
  test("at info, one line a request; steps only at debug; nothing when silent", () => {
    const events = [received, cut, finished()];
    expect(lines("info", events).map(([level, message]) => [level, message])).toEqual([["info", "finished"]]);
    expect(lines("debug", events).map(([level]) => level)).toEqual(["debug", "debug", "info"]);
    expect(lines("silent", events)).toEqual([]);
  });

  test.each([
    ["failed", "error"],
    ["cut_off", "warn"],
    ["malformed", "warn"],
    ["rejected", "warn"],
    ["healed", "info"],
    ["canceled", "info"],
  ] as const)("%s is of level %s", (outcome, level) => {
    expect(lines("debug", [finished({ outcome })])[0]?.[0]).toBe(level);
  });

  test("what went wrong around requests is heard at warn", () => {
    const config = (change: "reloaded" | "refused"): Event => ({ type: "config", change, problems: 2 });
    const reach = (reachable: boolean): Event => ({
      type: "upstream_state",
      upstream: "u",
      reachable,
      detail: "ECONNREFUSED",
    });
    const heard = lines("warn", [config("reloaded"), config("refused"), reach(true), reach(false)]);
    expect(heard.map(([level, message]) => [level, message])).toEqual([
      ["error", "config"],
      ["warn", "upstream_state"],
    ]);
  });
});

test("fields are an event's own, flat and bounded", () => {
  expect(lines("debug", [cut])[0]?.[2]).toEqual({
    id: "r",
    model: "m",
    attempt: 1,
    cause: "reply_cap",
    strategy: "first",
    cap: 64,
    finish_reason: "length",
    prompt_tokens: 80,
    completion_tokens: 64,
    bytes: 900,
    ms: 5,
    result: "cut",
    overlap: 3,
    dropped: 1,
  });
  const named = lines("info", [finished({ model: `x\n${"y".repeat(500)}`, code: "\x1b[2J" })])[0]?.[2];
  expect(named).toMatchObject({ model: `x\uFFFD${"y".repeat(126)}`, code: "\uFFFD[2J" });
});

test("JSON lines name time, level and message, and are all written at close", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lastword-"));
  const file = join(folder, "log");
  const fd = openSync(file, "w");
  try {
    const log = createLog("info", await jsonSink(fd));
    log.event(finished({ outcome: "healed" }));
    log.say("warn", "drained", { left: 2 });
    const tallies = createTallies(modelLabels(9));
    tallies.event(finished());
    log.tally(tallies.list());
    await log.close();
    const written = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(written).toMatchObject([
      { level: "info", msg: "finished", outcome: "healed", model: "m" },
      { level: "warn", msg: "drained", left: 2 },
      {
        level: "info",
        msg: "reply outcome: m: 1 complete, 0 healed, 0 cut off at the cap, 0 complete but malformed, of 1",
      },
    ]);
    expect(new Date(written[0].time).getFullYear()).toBeGreaterThan(2000);
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});

test("a sink that is made late gets every line, in order, and is never made for nothing", async () => {
  const written: string[] = [];
  let made = 0;
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const late = lateSink(async () => {
    made++;
    await gate;
    return { write: (_, message) => written.push(message), close: () => void written.push("closed") };
  });
  await late.close();
  expect(made).toBe(0);
  late.write("info", "one", {});
  late.write("info", "two", {});
  const closed = late.close();
  expect(written).toEqual([]);
  release();
  await closed;
  late.write("info", "three", {});
  expect(written).toEqual(["one", "two", "closed", "three"]);
  expect(made).toBe(1);
});

test("on a terminal, readable text without empty values", () => {
  const written: string[] = [];
  const sink = textSink(
    (line) => written.push(line),
    () => new Date(2026, 0, 1, 12, 3, 4),
  );
  createLog("info", sink).say("warn", "slow", { ms: 5, code: null });
  const plain = written
    .join("")
    .split("\x1b")
    .map((piece) => piece.replace(/^\[\d+m/, ""))
    .join("");
  expect(plain).toBe("12:03:04 warn  slow ms=5\n");
});
