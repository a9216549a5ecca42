import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitsSurely, type PlanInput, type Planned, plan, straddles } from "../../src/budget/plan.ts";

const W = 4096;

interface Prompt {
  readonly tokens: number;
  readonly bound?: number;
  readonly method?: "exact" | "estimate" | "ceiling";
  readonly tools?: number;
}

function prompt({ tokens, bound = 0, method = bound > 0 ? "estimate" : "exact", tools = 0 }: Prompt) {
  return { tokens, bound, method, parts: { messages: tokens - tools, tools, schema: 0, images: 0, other: 0 } };
}

function input(count: Prompt | null, more: Partial<PlanInput> = {}): PlanInput {
  return {
    wire: "chat",
    count: count === null ? null : prompt(count),
    window: W,
    source: "loaded",
    trained: null,
    maxInput: null,
    maxOutput: null,
    asked: null,
    thinkingBudget: null,
    reasons: false,
    binding: false,
    overflowIsTold: true,
    minReplyTokens: 256,
    reasoningAllowanceTokens: 4096,
    honourCapsUpTo: 64,
    fix: "",
    ...more,
  };
}

function failureOf(planned: Planned) {
  if (planned.do !== "reject") throw new Error("it was not rejected");
  return planned.failure;
}

const untouched = { do: "send", cap: null, reason: "none", thinkingBudget: null };

describe("a cap above the room", () => {
  test("B1: 32000 asked of a 32768 window with a prompt of 17459 becomes the room", () => {
    expect(plan(input({ tokens: 17_459 }, { window: 32_768, asked: 32_000 }))).toMatchObject({
      do: "send",
      cap: 15_309,
      reason: "room",
    });
  });

  test("B5: a catalogue whose output limit is the window", () => {
    const of = input({ tokens: 7884, bound: 80 }, { window: 131_072, maxOutput: 131_072, asked: 131_072 });
    expect(plan(of)).toMatchObject({ cap: 131_072 - 7884 - 80, reason: "room" });
  });

  test("B13: the loaded window counts, not the trained maximum", () => {
    const loaded = { window: 8192, trained: 262_144, asked: 4000 };
    expect(failureOf(plan(input({ tokens: 9000 }, loaded))).message).toContain("maximum context length is 8192 tokens");
    expect(plan(input({ tokens: 7000 }, loaded))).toMatchObject({ cap: 1192, reason: "room" });
  });

  test("B82: the margin covers the count's own error", () => {
    const planned = plan(input({ tokens: 14_581, bound: 520 }, { window: 16_384, asked: 1800 }));
    expect(planned).toMatchObject({ cap: 16_384 - 14_581 - 520 });
  });

  test("B105: on messages it is lowered before a server can blame the prompt", () => {
    const of = input({ tokens: 73_470 }, { wire: "messages", window: 200_000, asked: 131_072 });
    expect(plan(of)).toMatchObject({ cap: 126_530, reason: "room" });
  });

  test("and above the model's limit is lowered to whichever is less", () => {
    expect(plan(input({ tokens: 96 }, { asked: 5000, maxOutput: 1000 }))).toMatchObject({
      cap: 1000,
      reason: "model_limit",
    });
    expect(plan(input({ tokens: 3096 }, { asked: 5000, maxOutput: 2000 }))).toMatchObject({
      cap: 1000,
      reason: "room",
    });
    expect(plan(input(null, { window: null, asked: 5000, maxOutput: 1000 }))).toMatchObject({ cap: 1000 });
  });

  test("no cap asked for: none is added", () => {
    expect(plan(input({ tokens: 100 }))).toEqual(untouched);
    expect(plan(input({ tokens: 100 }, { maxOutput: 50, reasons: true }))).toEqual(untouched);
  });

  test("that fits goes as it came", () => {
    expect(plan(input({ tokens: W - 1000 }, { asked: 1000 }))).toEqual(untouched);
  });
});

describe("a prompt that leaves too little", () => {
  test("B9: longer than the window is refused with both numbers", () => {
    const { code, message, facts } = failureOf(plan(input({ tokens: 4282 }, { asked: 1000 })));
    expect(code).toBe("context_length_exceeded");
    expect(message).toMatch(
      /^This model's maximum context length is 4096 tokens\. However, your messages resulted in 4282 tokens\./,
    );
    expect(facts).toMatchObject({ window: W, prompt_tokens: 4282, requested: 1000, room: 0, over_by: 4282 - W + 256 });
  });

  test("B9: no cap below 1 and none above the room, whatever the prompt and the cap", () => {
    const prompts = fc.record({ tokens: fc.nat(2 * W), bound: fc.nat(600) });
    const caps = fc.option(fc.integer({ min: 1, max: 2 * W }));
    const more = fc.record({
      maxOutput: fc.option(fc.integer({ min: 1, max: 2 * W })),
      thinkingBudget: fc.option(fc.integer({ min: 1, max: W })),
      reasons: fc.boolean(),
      overflowIsTold: fc.boolean(),
    });
    fc.assert(
      fc.property(prompts, caps, more, (count, asked, rest) => {
        const planned = plan(input(count, { asked, ...rest }));
        if (planned.do === "reject") {
          expect(planned.failure.code).toBe("context_length_exceeded");
          return;
        }
        const sent = planned.cap ?? asked;
        if (sent === null) return;
        expect(sent).toBeGreaterThanOrEqual(1);
        expect(sent).toBeLessThanOrEqual(W - count.tokens);
        const margin = Math.min(count.bound, Math.ceil(count.tokens / 4));
        if (!rest.overflowIsTold) expect(sent).toBeLessThanOrEqual(W - count.tokens - margin);
        if (rest.maxOutput !== null) expect(sent).toBeLessThanOrEqual(rest.maxOutput);
        if (planned.thinkingBudget !== null)
          expect(planned.thinkingBudget).toBeLessThanOrEqual(rest.thinkingBudget ?? 0);
      }),
      { numRuns: 5000 },
    );
  });

  test("B10: the floor is the least useful reply, or the client's own cap where that is less", () => {
    const least = { minReplyTokens: 64 };
    expect(plan(input({ tokens: 4090 }, { ...least, asked: 1000 })).do).toBe("reject");
    expect(plan(input({ tokens: 4000 }, { ...least, asked: 1000 }))).toMatchObject({ cap: 96 });
    expect(plan(input({ tokens: 4090 }, { ...least, asked: 1 }))).toEqual(untouched);
  });

  test("B11: exactly at the window", () => {
    const margin = 10;
    const least = 64;
    const rows = [W - margin - least, W - margin - least + 1, W - 1, W, W + 1].map((tokens) =>
      plan(input({ tokens, bound: margin }, { minReplyTokens: least, asked: 1000, overflowIsTold: false })),
    );
    expect(rows[0]).toMatchObject({ do: "send", cap: least });
    for (const row of rows.slice(1)) {
      const { code, message } = failureOf(row);
      expect(code).toBe("context_length_exceeded");
      expect(message).toMatch(/^This model's maximum context length is 4096 tokens\. However, /);
    }
  });

  test("a cap of 0 asks for the prompt to be read: it must only fit", () => {
    expect(plan(input({ tokens: W }, { wire: "completions", asked: 0 }))).toEqual(untouched);
    expect(plan(input({ tokens: W + 1 }, { wire: "completions", asked: 0 })).do).toBe("reject");
  });

  test("blames the cap where a smaller one would have fitted", () => {
    const { message } = failureOf(plan(input({ tokens: 4000 }, { asked: 200, fix: "set num_ctx" })));
    expect(message).toContain("you requested 4200 tokens (4000 in the messages, 200 in the completion)");
    expect(message).toContain(
      "The window is known from: loaded. 96 tokens of room are left, a reply needs at least 200",
    );
    expect(message).toContain("make the prompt shorter by 104 tokens, or ask for at most 96, or set num_ctx.");
  });

  test("is told in Anthropic's words on messages", () => {
    const over = failureOf(plan(input({ tokens: 5000 }, { wire: "messages", asked: 1000 })));
    expect(over.message).toMatch(/^prompt is too long: 5000 tokens > 4096 maximum\./);
    const capped = failureOf(plan(input({ tokens: 4000 }, { wire: "messages", asked: 200 })));
    expect(capped.message).toMatch(/^input length and `max_tokens` exceed context limit: 4000 \+ 200 > 4096, /);
    expect([over.param, capped.param]).toEqual(["messages", "max_tokens"]);
  });

  test.each([
    ["chat", "messages"],
    ["completions", "prompt"],
    ["responses", "input"],
  ] as const)("names the field of %s", (wire, param) => {
    expect(failureOf(plan(input({ tokens: 5000 }, { wire }))).param).toBe(param);
  });

  test("B77: says how much of it are tools", () => {
    const { message, facts } = failureOf(plan(input({ tokens: 5500, tools: 5000 })));
    expect(message).toContain("your messages resulted in 5500 tokens (500 in the messages, 5000 in the functions)");
    expect(facts).toMatchObject({ message_tokens: 500, tool_tokens: 5000 });
  });

  test("is refused above a separate limit on prompts, in the words for that", () => {
    const { message, facts } = failureOf(plan(input({ tokens: 300_000 }, { window: 400_000, maxInput: 272_000 })));
    expect(message).toMatch(
      /^Input tokens exceed the configured limit of 272000 tokens\. Your messages resulted in 300000 tokens\./,
    );
    expect(facts).toMatchObject({ max_input: 272_000, over_by: 28_000 });
  });

  test("is refused above the trained maximum where the window is unknown, and nothing else is", () => {
    const of = { window: null, source: "trained", trained: 8192, asked: 10_000 };
    expect(failureOf(plan(input({ tokens: 9000 }, of))).message).toContain("maximum context length is 8192 tokens");
    expect(plan(input({ tokens: 8000 }, of))).toEqual(untouched);
    expect(plan(input({ tokens: 9_000_000 }, { ...of, trained: null }))).toEqual(untouched);
  });
});

describe("a count that is not exact", () => {
  test("never refuses by its margin alone where the server tells of an overflow: the least reply is asked for", () => {
    expect(plan(input({ tokens: 3500, bound: 3000 }, { asked: 1000 }))).toMatchObject({ cap: 256, reason: "room" });
    expect(plan(input({ tokens: 3900, bound: 300 }, { asked: 1000 })).do).toBe("reject");
  });

  test("refuses by its margin where messages would be dropped in silence, but by no more than a quarter of itself", () => {
    const silent = { asked: 1000, overflowIsTold: false };
    expect(plan(input({ tokens: 3000, bound: 9000 }, silent))).toMatchObject({ cap: 4096 - 3750 });
    expect(plan(input({ tokens: 3200, bound: 9000 }, silent)).do).toBe("reject");
    expect(plan(input({ tokens: 3500, bound: 500 }, silent)).do).toBe("reject");
    expect(plan(input({ tokens: 3300, bound: 500 }, silent))).toMatchObject({ cap: 296 });
  });

  test("straddles where the truth decides, and not where it does not", () => {
    expect(straddles(input({ tokens: 3000, bound: 100 }, { asked: 1050 }))).toBe(true);
    expect(straddles(input({ tokens: 3000, bound: 100 }, { asked: 900 }))).toBe(false);
    expect(straddles(input({ tokens: 3800, bound: 100 }))).toBe(true);
    expect(straddles(input({ tokens: 5000, bound: 100 }))).toBe(false);
    expect(straddles(input({ tokens: 3000, bound: 100 }))).toBe(false);
    expect(straddles(input({ tokens: 3500, bound: 100 }, { asked: 1000 }))).toBe(true);
    expect(straddles(input({ tokens: 3800 }))).toBe(false);
    expect(straddles(input({ tokens: 4100, method: "ceiling" }))).toBe(true);
    expect(straddles(input(null))).toBe(false);
  });

  test("an upper limit that fits with the cap needs no count", () => {
    expect(fitsSurely(input({ tokens: 3000, method: "ceiling" }, { asked: 1096 }))).toBe(true);
    expect(fitsSurely(input({ tokens: 3000, method: "ceiling" }, { asked: 1097 }))).toBe(false);
    expect(fitsSurely(input({ tokens: 4000, method: "ceiling" }))).toBe(false);
    expect(fitsSurely(input({ tokens: 3000, method: "ceiling" }, { asked: 9000, maxOutput: 500 }))).toBe(true);
    expect(fitsSurely(input(null, { window: null, asked: 9000 }))).toBe(true);
  });

  test("an upper limit, where nothing better could be had, refuses nothing", () => {
    expect(plan(input({ tokens: 9000, method: "ceiling" }, { asked: 1000 }))).toMatchObject({ do: "send", cap: 256 });
  });
});

describe("reasoning", () => {
  const reasons = { window: 32_768, reasons: true };

  test("gets its allowance on top of the asked cap", () => {
    expect(plan(input({ tokens: 100 }, { ...reasons, asked: 500 }))).toMatchObject({ cap: 4596, reason: "allowance" });
  });

  test("within the room and the model's limit", () => {
    expect(plan(input({ tokens: 100 }, { ...reasons, window: 2148, asked: 500 }))).toMatchObject({
      cap: 2048,
      reason: "allowance",
    });
    expect(plan(input({ tokens: 100 }, { ...reasons, asked: 500, maxOutput: 800 }))).toMatchObject({ cap: 800 });
  });

  test.each([
    ["a cap that is always meant", { asked: 64 }],
    ["a cap at which lastword cannot end the text itself", { asked: 500, binding: true }],
    ["a cap with a thinking budget of its own", { asked: 5000, thinkingBudget: 2000 }],
    ["a model that is not known to reason", { asked: 500, reasons: false }],
  ])("is not allowed for on %s", (_, more) => {
    expect(plan(input({ tokens: 100 }, { ...reasons, ...more }))).toEqual(untouched);
  });

  test("cap and thinking budget are lowered together", () => {
    const of = { wire: "messages", window: 8192, asked: 16_000, thinkingBudget: 8000 } as const;
    expect(plan(input({ tokens: 2192 }, of))).toMatchObject({ cap: 6000, thinkingBudget: 5744 });
    expect(plan(input({ tokens: 2192 }, { ...of, thinkingBudget: 4000 }))).toMatchObject({
      cap: 6000,
      thinkingBudget: null,
    });
  });

  test("a thinking budget needs its least beside the least reply", () => {
    const of = { wire: "messages", window: 8192, asked: 16_000, thinkingBudget: 8000 } as const;
    expect(plan(input({ tokens: 8192 - 1280 }, of))).toMatchObject({ cap: 1280, thinkingBudget: 1024 });
    expect(plan(input({ tokens: 8192 - 1279 }, of)).do).toBe("reject");
  });
});
