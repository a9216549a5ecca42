import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CAUSES } from "../../src/core/cut.ts";
import { failure } from "../../src/core/error.ts";
import { decide, waysOf } from "../../src/recovery/decide.ts";
import {
  begin,
  type Facts,
  type PassEnd,
  type RecoveryPolicy,
  type State,
  type Step,
  type Where,
} from "../../src/recovery/state.ts";

const policy: RecoveryPolicy = {
  maxAttempts: 4,
  maxParts: 8,
  maxReplyTokens: 0,
  minAttemptSeconds: 10,
  retryBackoffSeconds: [2, 4],
  maxRetryAfterSeconds: 60,
  secondAttempt: "raise",
  repairMalformed: false,
  onExhausted: "partial",
  overflow: "reject",
};
const facts: Facts = {
  secondsLeft: 1000,
  room: 100_000,
  modelLimit: null,
  strictLeft: null,
  allowance: 0,
  shownText: true,
  shownReasoning: false,
  shownTool: false,
  roomAgain: 100_000,
  resumesThoughts: false,
  thoughtIsText: false,
  carries: { raw: true, text: true },
  divisible: false,
  steps: [],
  helped: null,
  compactable: false,
};
const nothingShown = { shownText: false };
const why = failure("upstream_error", "no");
const at = (more: Partial<State> = {}): State => ({ ...begin(100, 100, ["prefill", "nudge"]), ...more });
const cut = (where: Where, more: Partial<Extract<PassEnd, { on: "cut" }>> = {}): PassEnd => ({
  on: "cut",
  cause: "reply_cap",
  where,
  generated: 100,
  gained: 400,
  looping: false,
  ...more,
});
const unbegun = (more: Partial<Extract<PassEnd, { on: "unbegun" }>> = {}): PassEnd => ({
  on: "unbegun",
  transient: true,
  retryAfter: null,
  failure: why,
  ...more,
});

type Row = [string, State, PassEnd, Partial<Facts>, Partial<RecoveryPolicy>, object];

const table: Row[] = [
  ["whole at once", at(), { on: "whole" }, {}, {}, { do: "deliver", outcome: "complete" }],
  ["whole after a cut", at({ cause: "reply_cap" }), { on: "whole" }, {}, {}, { do: "deliver", outcome: "healed" }],
  ["malformed", at(), { on: "malformed" }, {}, {}, { do: "deliver", outcome: "malformed" }],
  [
    "malformed, to be repaired",
    at(),
    { on: "malformed" },
    nothingShown,
    { repairMalformed: true },
    { do: "send", strategy: "reask", cap: 100, hint: "repair" },
  ],
  [
    "malformed, but shown",
    at(),
    { on: "malformed" },
    {},
    { repairMalformed: true },
    { do: "deliver", outcome: "malformed" },
  ],
  [
    "malformed twice",
    at({ strategy: "reask" }),
    { on: "malformed" },
    nothingShown,
    { repairMalformed: true },
    { do: "deliver" },
  ],

  ["text, best way first", at(), cut("text"), {}, {}, { do: "send", strategy: "prefill", cap: 4096 }],
  ["text, no way", at({ ways: [] }), cut("text"), {}, {}, { do: "stop", cause: "reply_cap" }],
  ["twice a large cap", at({ cap: 9000 }), cut("text", { generated: 9000 }), {}, {}, { do: "send", cap: 18_000 }],
  ["within the room", at(), cut("text"), { room: 900 }, {}, { do: "send", cap: 900 }],
  ["within the model's limit", at(), cut("text"), { modelLimit: 800 }, {}, { do: "send", cap: 800 }],
  ["within what strictness leaves", at(), cut("text"), { strictLeft: 30 }, {}, { do: "send", cap: 30 }],
  [
    "beside an allowance for thought",
    at(),
    cut("text"),
    { strictLeft: 30, allowance: 1000 },
    {},
    { do: "send", cap: 1030 },
  ],
  ["strict, used up", at(), cut("text"), { strictLeft: 0, allowance: 1000 }, {}, { do: "stop" }],
  ["no cap was sent", at({ cap: null }), cut("text", { generated: 3000 }), {}, {}, { do: "send", cap: 6000 }],
  ["little room", at(), cut("text"), { room: 511 }, {}, { do: "stop", cause: "reply_cap" }],
  [
    "little time",
    at(),
    cut("text"),
    { secondsLeft: 9 },
    {},
    { do: "stop", failure: { code: "insufficient_remaining_time" } },
  ],
  [
    "attempts used up",
    at({ began: 3 }),
    cut("text"),
    {},
    {},
    { do: "stop", failure: { code: "output_cap_exhausted" } },
  ],
  ["enough generated", at({ generated: 32_700 }), cut("text"), {}, {}, { do: "stop" }],
  ["a repetition loop", at(), cut("text", { looping: true }), {}, {}, { do: "stop" }],
  ["window full", at(), cut("text", { cause: "context_full" }), {}, {}, { do: "stop", cause: "context_full" }],
  [
    "window full, compactable",
    at(),
    cut("text", { cause: "context_full" }),
    { compactable: true },
    { overflow: "compact" },
    { do: "send", strategy: "prefill", shorten: true },
  ],
  [
    "left by order",
    at(),
    cut("text", { cause: "honoured_cap" }),
    {},
    {},
    { do: "stop", cause: "honoured_cap", as: "partial" },
  ],
  [
    "left by order is no error",
    at(),
    cut("text", { cause: "honoured_cap" }),
    {},
    { onExhausted: "error" },
    { do: "stop", as: "partial" },
  ],
  ["one pass without progress", at(), cut("text", { gained: 3 }), {}, {}, { do: "send" }],
  ["two passes without progress", at({ idle: 1 }), cut("text", { gained: 3 }), {}, {}, { do: "stop" }],
  ["exhausted as an error", at({ began: 3 }), cut("text"), {}, { onExhausted: "error" }, { do: "stop", as: "error" }],
  ["lost half-way", at(), cut("text", { cause: "upstream_broken" }), {}, {}, { do: "send", strategy: "prefill" }],

  ["a call", at(), cut("tool"), nothingShown, {}, { do: "send", strategy: "reask", cap: 4096 }],
  ["a call, behind text", at(), cut("tool"), {}, {}, { do: "send", strategy: "reask", cap: 4096 }],
  [
    "a call that no cap can hold",
    at({ cap: 4096 }),
    cut("tool", { generated: 900 }),
    { modelLimit: 900 },
    {},
    { do: "send", strategy: "parts" },
  ],
  [
    "a call that no cap can hold, on a server that renders its template",
    at({ cap: 4096, ways: ["prefill", "raw", "nudge"] }),
    cut("tool", { generated: 900 }),
    { modelLimit: 900 },
    {},
    { do: "send", strategy: "parts", by: "raw", cap: 900 },
  ],
  [
    "a call that no cap can hold, elsewhere",
    at({ cap: 4096, ways: ["nudge"] }),
    cut("tool", { generated: 900 }),
    { modelLimit: 900 },
    {},
    { do: "send", strategy: "parts", by: "text" },
  ],
  [
    "a call asked again and cut far below its own cap, usage not told",
    at({ strategy: "reask", cap: 4096 }),
    cut("tool", { generated: 200 }),
    {},
    {},
    { do: "send", strategy: "parts" },
  ],
  [
    "a call in parts",
    at({ strategy: "parts", by: "text", parts: 1, cap: 900 }),
    cut("tool", { generated: 900 }),
    {},
    {},
    { do: "send", strategy: "parts" },
  ],
  [
    "a call in parts, lost half-way",
    at({ strategy: "parts", by: "text", parts: 1, cap: 900 }),
    cut("tool", { generated: 500, cause: "upstream_broken" }),
    {},
    {},
    { do: "send", strategy: "parts" },
  ],
  [
    "a call in parts, beyond the attempts of others",
    at({ strategy: "parts", by: "text", parts: 3, began: 6, cap: 900 }),
    cut("tool", { generated: 900 }),
    {},
    {},
    { do: "send", strategy: "parts" },
  ],
  [
    "a call in parts that bring nothing",
    at({ strategy: "parts", by: "text", parts: 2, idle: 1, cap: 900 }),
    cut("tool", { gained: 2 }),
    {},
    {},
    { do: "send", strategy: "reask", hint: "smaller" },
  ],
  [
    "a call, parts used up",
    at({ cap: 4096, parts: 8 }),
    cut("tool"),
    { modelLimit: 900 },
    {},
    { do: "send", strategy: "reask", cap: 900, hint: "smaller" },
  ],
  [
    "a call, parts and the hint used up",
    at({ cap: 4096, parts: 8, hinted: true }),
    cut("tool"),
    { modelLimit: 900 },
    {},
    { do: "stop" },
  ],
  [
    "a call that cannot be carried on",
    at({ cap: 4096 }),
    cut("tool"),
    { modelLimit: 900, carries: { raw: false, text: false } },
    {},
    { do: "send", strategy: "reask", hint: "smaller" },
  ],
  ["a call, never to be continued", at({ cap: 4096, ways: [] }), cut("tool"), { modelLimit: 900 }, {}, { do: "stop" }],
  [
    "a call, in a window that can hold it but not twice",
    at(),
    cut("tool"),
    { ...nothingShown, room: 300, roomAgain: 900 },
    {},
    { do: "send", strategy: "reask", cap: 900 },
  ],
  ["a call, in a window that is full", at(), cut("tool"), { room: 300, roomAgain: 400 }, {}, { do: "stop" }],
  [
    "a call that fills the window",
    at({ cap: 900 }),
    cut("tool", { cause: "context_full", generated: 900 }),
    { room: 0, roomAgain: 900 },
    {},
    { do: "send", strategy: "reask", cap: 900, hint: "smaller" },
  ],
  [
    "a call behind a thought, effort to be lowered",
    at(),
    cut("tool"),
    { ...nothingShown, steps: ["lower", "off"] },
    { secondAttempt: "both" },
    { do: "send", strategy: "reask", cap: 4096, effort: "lower" },
  ],
  ["a call that was shown", at(), cut("tool"), { shownTool: true }, {}, { do: "send", strategy: "reask", cap: 4096 }],
  [
    "a call that was shown, at the limit",
    at({ cap: 4096 }),
    cut("tool", { generated: 900 }),
    { shownTool: true, modelLimit: 900 },
    {},
    { do: "send", strategy: "parts" },
  ],
  [
    "a call that was shown is not asked for in pieces",
    at({ cap: 4096, parts: 8 }),
    cut("tool"),
    { shownTool: true, modelLimit: 900 },
    {},
    { do: "stop" },
  ],
  [
    "a call, lost",
    at(),
    cut("tool", { cause: "upstream_broken" }),
    nothingShown,
    {},
    { do: "send", strategy: "retry", cap: 100 },
  ],

  ["a format, nothing shown", at(), cut("structured"), nothingShown, {}, { do: "send", strategy: "reask", cap: 4096 }],
  ["a format, shown", at(), cut("structured"), {}, {}, { do: "send", strategy: "prefill" }],
  [
    "a format that no cap can hold",
    at({ cap: 900 }),
    cut("structured"),
    { ...nothingShown, modelLimit: 900 },
    {},
    { do: "send", strategy: "prefill", cap: 900 },
  ],
  [
    "a format, lost",
    at(),
    cut("structured", { cause: "upstream_broken" }),
    nothingShown,
    {},
    { do: "send", strategy: "retry" },
  ],
  [
    "a format, passes that bring nothing",
    at({ strategy: "prefill", idle: 1 }),
    cut("structured", { gained: 1 }),
    {},
    {},
    { do: "stop" },
  ],
  ["a format, whitespace without end", at(), cut("structured", { looping: true }), nothingShown, {}, { do: "stop" }],
  [
    "a format, joined to something else, nothing shown",
    at({ strategy: "prefill", cause: "reply_cap", cap: 4096 }),
    { on: "spoiled", generated: 9 },
    nothingShown,
    {},
    { do: "send", strategy: "reask", cap: 8192 },
  ],
  [
    "a format, joined to something else, shown",
    at({ strategy: "prefill", cause: "reply_cap" }),
    { on: "spoiled", generated: 9 },
    {},
    {},
    { do: "stop", cause: "reply_cap" },
  ],
  [
    "a format, joined to something else, some whole elements not shown",
    at({ strategy: "prefill", cause: "reply_cap" }),
    { on: "spoiled", generated: 9 },
    { divisible: true },
    {},
    { do: "send", strategy: "prefill", back: true },
  ],
  [
    "a format whose grammar began anew",
    at({ strategy: "prefill", cause: "reply_cap" }),
    { on: "discarded", demote: true, generated: 9 },
    { divisible: true },
    {},
    { do: "send", strategy: "nudge", back: true },
  ],

  [
    "a thought, resumable",
    at(),
    cut("reasoning", { cause: "reasoning_starved" }),
    { ...nothingShown, resumesThoughts: true },
    {},
    { do: "send", strategy: "prefill" },
  ],
  [
    "a thought, not resumable",
    at(),
    cut("reasoning", { cause: "reasoning_starved" }),
    nothingShown,
    {},
    { do: "send", strategy: "reask", cap: 4096, effort: null },
  ],
  [
    "a thought, lowered",
    at(),
    cut("reasoning"),
    { ...nothingShown, steps: ["lower", "off"] },
    { secondAttempt: "both" },
    { do: "send", strategy: "reask", cap: 4096, effort: "lower" },
  ],
  [
    "a thought, lowered only",
    at(),
    cut("reasoning"),
    { ...nothingShown, steps: ["lower", "off"] },
    { secondAttempt: "lower" },
    { do: "send", strategy: "reask", cap: 100, effort: "lower" },
  ],
  [
    "a thought at the limit",
    at({ cap: 900 }),
    cut("nothing"),
    { ...nothingShown, modelLimit: 900 },
    {},
    { do: "stop" },
  ],
  [
    "a thought at the limit, lowerable",
    at({ cap: 900 }),
    cut("nothing"),
    { ...nothingShown, modelLimit: 900, steps: ["lower", "off"] },
    {},
    { do: "send", effort: "lower" },
  ],
  [
    "a thought, asked again already",
    at({ strategy: "reask", lowered: "lower" }),
    cut("nothing"),
    { ...nothingShown, steps: ["lower", "off"] },
    {},
    { do: "send", effort: "off" },
  ],

  [
    "a thought written as text, on a server that resumes text",
    at(),
    cut("reasoning"),
    { thoughtIsText: true },
    {},
    { do: "send", strategy: "prefill" },
  ],
  [
    "a thought written as text and shown",
    at({ ways: ["nudge"] }),
    cut("reasoning"),
    { thoughtIsText: true },
    {},
    { do: "send", strategy: "nudge" },
  ],
  [
    "a thought written as text and not shown",
    at({ ways: ["nudge"] }),
    cut("reasoning"),
    { ...nothingShown, thoughtIsText: true },
    {},
    { do: "send", strategy: "reask", cap: 4096 },
  ],
  [
    "a thought of a model that less effort has mended",
    at(),
    cut("nothing"),
    { ...nothingShown, steps: ["lower", "off"], helped: "off" },
    {},
    { do: "send", strategy: "reask", cap: 4096, effort: "off" },
  ],
  [
    "effort that turned out not to be lowered, at a larger cap",
    at({ strategy: "reask", cap: 4096, effort: "lower", ceilings: [{ tokens: 100, cause: "reasoning_starved" }] }),
    { on: "lesson", demote: false, failure: why },
    nothingShown,
    {},
    { do: "send", strategy: "reask", cap: 4096, effort: null },
  ],
  [
    "effort that turned out not to be lowered, at the same cap",
    at({ strategy: "reask", cap: 100, effort: "lower", ceilings: [{ tokens: 100, cause: "reasoning_starved" }] }),
    { on: "lesson", demote: false, failure: why },
    nothingShown,
    {},
    { do: "send", strategy: "reask", cap: 4096, effort: null },
  ],
  [
    "another lesson leaves effort lowered",
    at({ strategy: "reask", cap: 4096, effort: "lower" }),
    { on: "lesson", demote: false, failure: why },
    { ...nothingShown, steps: ["lower"] },
    {},
    { do: "send", strategy: "reask", effort: "lower" },
  ],

  ["refused for now", at(), unbegun(), nothingShown, {}, { do: "send", strategy: "retry", waitSeconds: 2 }],
  ["refused for now, again", at({ retries: 1 }), unbegun(), nothingShown, {}, { do: "send", waitSeconds: 4 }],
  ["refused too often", at({ retries: 2 }), unbegun(), nothingShown, {}, { do: "fail", failure: why }],
  ["told when to come", at(), unbegun({ retryAfter: 30 }), nothingShown, {}, { do: "send", waitSeconds: 30 }],
  ["told to come much later", at(), unbegun({ retryAfter: 61 }), nothingShown, {}, { do: "fail" }],
  [
    "told to come after the deadline",
    at(),
    unbegun({ retryAfter: 30 }),
    { ...nothingShown, secondsLeft: 35 },
    {},
    { do: "fail" },
  ],
  ["refused for good", at(), unbegun({ transient: false }), nothingShown, {}, { do: "fail", failure: why }],
  [
    "a later pass refused for good",
    at({ cause: "reply_cap" }),
    unbegun({ transient: false }),
    {},
    {},
    { do: "stop", cause: "reply_cap", as: "partial" },
  ],
  [
    "a later pass refused for now",
    at({ cause: "reply_cap", strategy: "nudge" }),
    unbegun(),
    {},
    {},
    { do: "send", strategy: "nudge", waitSeconds: 2 },
  ],

  ["taught", at(), { on: "lesson", demote: false, failure: why }, nothingShown, {}, { do: "send", strategy: "first" }],
  [
    "taught that prefill is refused",
    at({ strategy: "prefill", cause: "reply_cap" }),
    { on: "lesson", demote: true, failure: why },
    {},
    {},
    { do: "send", strategy: "nudge" },
  ],
  [
    "taught too often",
    at({ lessons: 2 }),
    { on: "lesson", demote: false, failure: why },
    nothingShown,
    {},
    { do: "fail" },
  ],

  [
    "overflow that a smaller cap mends",
    at({ cap: 5000 }),
    { on: "overflow", fits: true, failure: why },
    { ...nothingShown, room: 900 },
    {},
    { do: "send", strategy: "retry", cap: 900 },
  ],
  [
    "overflow, again",
    at({ lessons: 1 }),
    { on: "overflow", fits: true, failure: why },
    nothingShown,
    {},
    { do: "fail" },
  ],
  ["overflow", at(), { on: "overflow", fits: false, failure: why }, nothingShown, {}, { do: "fail", failure: why }],

  [
    "a nudge that cannot be joined",
    at({ strategy: "nudge", ways: ["nudge"] }),
    { on: "discarded", demote: false, generated: 9 },
    {},
    {},
    { do: "send", strategy: "nudge" },
  ],
  [
    "a second one",
    at({ strategy: "nudge", ways: ["nudge"], discards: 1 }),
    { on: "discarded", demote: false, generated: 9 },
    {},
    {},
    { do: "stop" },
  ],
  [
    "a server that does not resume",
    at({ strategy: "prefill" }),
    { on: "discarded", demote: true, generated: 9 },
    {},
    {},
    { do: "send", strategy: "nudge" },
  ],

  [
    "a server that resumed something else, by its template",
    at({ strategy: "raw", ways: ["raw", "nudge"] }),
    { on: "discarded", demote: true, generated: 9 },
    {},
    {},
    { do: "send", strategy: "nudge" },
  ],
  [
    "a turn asked again that tells another story",
    at({ strategy: "reask", cause: "reply_cap" }),
    { on: "discarded", demote: false, generated: 9 },
    {},
    {},
    { do: "send", strategy: "prefill" },
  ],
  [
    "a turn asked again that makes another call than was shown",
    at({ strategy: "reask", cause: "reply_cap" }),
    { on: "discarded", demote: false, generated: 9 },
    { shownTool: true },
    {},
    { do: "stop" },
  ],
  [
    "a part by the template that cannot be joined",
    at({ strategy: "parts", by: "raw", parts: 1, ways: ["raw", "nudge"] }),
    { on: "discarded", demote: true, generated: 9 },
    {},
    {},
    { do: "send", strategy: "parts", by: "text" },
  ],
  [
    "a part as text that cannot be joined",
    at({ strategy: "parts", by: "text", parts: 1 }),
    { on: "discarded", demote: false, generated: 9 },
    {},
    {},
    { do: "send", strategy: "parts", by: "text" },
  ],
  [
    "a second one",
    at({ strategy: "parts", by: "text", parts: 2, discards: 1 }),
    { on: "discarded", demote: false, generated: 9 },
    {},
    {},
    { do: "send", strategy: "reask", hint: "smaller" },
  ],
  [
    "a part that spoils the call",
    at({ strategy: "parts", by: "text", parts: 1 }),
    { on: "spoiled", generated: 9 },
    {},
    {},
    { do: "send", strategy: "parts", by: "text" },
  ],
  [
    "a template that does not show where to go on",
    at({ strategy: "raw", ways: ["raw", "nudge"], cap: 4096 }),
    { on: "unable" },
    {},
    {},
    { do: "send", strategy: "nudge", cap: 4096 },
  ],
  [
    "a template that does not show calls",
    at({ strategy: "parts", by: "raw", parts: 1, ways: ["raw", "nudge"] }),
    { on: "unable" },
    {},
    {},
    { do: "send", strategy: "parts", by: "text" },
  ],
  [
    "a template that does not show calls, and no other way",
    at({ strategy: "parts", by: "raw", parts: 1, ways: ["raw"], hinted: true }),
    { on: "unable" },
    {},
    {},
    { do: "stop" },
  ],

  ["out of time, nothing shown", at(), { on: "timeout", failure: why }, nothingShown, {}, { do: "fail", failure: why }],
  [
    "out of time, something shown",
    at({ cause: "reply_cap" }),
    { on: "timeout", failure: why },
    {},
    {},
    { do: "stop", as: "partial" },
  ],
];

describe("recovery's decision", () => {
  it.each(table)("%s", (_name, state, end, changed, ruled, expected) => {
    expect(decide(state, end, { ...facts, ...changed }, { ...policy, ...ruled }).action).toMatchObject(expected);
  });

  it("tells which ceiling each attempt hit", () => {
    const first = decide(at(), cut("text"), facts, policy);
    const second = decide(first.state, cut("text", { cause: "provider_cap", generated: 150 }), facts, {
      ...policy,
      maxAttempts: 2,
    });
    expect(second.action).toMatchObject({
      do: "stop",
      failure: {
        code: "output_cap_exhausted",
        facts: { attempts: 2, ceilings: [100, 150], causes: ["reply_cap", "provider_cap"] },
      },
    });
  });

  it("orders the ways of continuing as the config or the server's known ways have it", () => {
    expect(waysOf("auto", { prefill: true, raw: true })).toEqual(["prefill", "raw", "nudge"]);
    expect(waysOf("auto", { prefill: false, raw: false })).toEqual(["nudge"]);
    expect(waysOf("raw", { prefill: true, raw: true })).toEqual(["raw", "nudge"]);
    expect(waysOf("never", { prefill: true, raw: true })).toEqual([]);
  });

  it("never sends a cap below 1 nor above the room, and always comes to an end", () => {
    const where = fc.constantFrom<Where>("text", "reasoning", "tool", "structured", "nothing");
    const end = fc.oneof(
      fc.record({
        on: fc.constant("cut" as const),
        cause: fc.constantFrom(...CAUSES),
        where,
        generated: fc.nat(5000),
        gained: fc.nat(100),
        looping: fc.boolean(),
      }),
      fc.record({
        on: fc.constant("unbegun" as const),
        transient: fc.boolean(),
        retryAfter: fc.option(fc.nat(100)),
        failure: fc.constant(why),
      }),
      fc.record({ on: fc.constant("lesson" as const), demote: fc.boolean(), failure: fc.constant(why) }),
      fc.record({ on: fc.constant("overflow" as const), fits: fc.boolean(), failure: fc.constant(why) }),
      fc.record({ on: fc.constant("discarded" as const), demote: fc.boolean(), generated: fc.nat(100) }),
      fc.record({ on: fc.constant("spoiled" as const), generated: fc.nat(100) }),
      fc.constant({ on: "unable" as const }),
    );
    const now = fc.record({
      room: fc.option(fc.integer({ min: -100, max: 5000 })),
      modelLimit: fc.option(fc.integer({ min: 1, max: 5000 })),
      shownText: fc.boolean(),
      shownReasoning: fc.boolean(),
      shownTool: fc.boolean(),
      roomAgain: fc.option(fc.integer({ min: -100, max: 5000 })),
      resumesThoughts: fc.boolean(),
      thoughtIsText: fc.boolean(),
      carries: fc.record({ raw: fc.boolean(), text: fc.boolean() }),
      divisible: fc.boolean(),
      steps: fc.constantFrom<Step[]>([], ["lower"], ["off"], ["lower", "off"]),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(end, now), { minLength: 40, maxLength: 40 }), (steps) => {
        let state = at();
        for (const [passEnd, changed] of steps) {
          const next = decide(state, passEnd, { ...facts, ...changed }, policy);
          state = next.state;
          if (next.action.do !== "send") return;
          const { cap } = next.action;
          if (cap === null) continue;
          expect(cap).toBeGreaterThanOrEqual(1);
          if (passEnd.on === "cut" && changed.room !== null && next.action.strategy !== "retry")
            expect(cap).toBeLessThanOrEqual(Math.max(changed.room, state.cap ?? 0));
        }
        throw new Error("forty passes and no end");
      }),
      { numRuns: 500 },
    );
  });
});
