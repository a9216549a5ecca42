import { describe, expect, test } from "vitest";
import { Refused } from "../../../src/core/error.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { emptyReply, type Reply } from "../../../src/core/reply.ts";
import { completions } from "../../../src/wire/completions/completions.ts";
import type { Compose, Ending, Frame } from "../../../src/wire/wire.ts";
import { AS_ASKED } from "../../support/as-asked.ts";

const compose = (body: JsonObject, how: Partial<Compose>) =>
  completions.compose(completions.read(body), { ...AS_ASKED, ...how });

function refusal(body: JsonObject) {
  try {
    completions.read(body);
  } catch (error) {
    if (error instanceof Refused) return error.failure;
    throw error;
  }
  return null;
}

describe("reading", () => {
  test("a bare request", () => {
    expect(completions.read({ model: "m", prompt: "Once", max_tokens: 5 })).toEqual({
      wire: "completions",
      body: { model: "m", prompt: "Once", max_tokens: 5 },
      model: "m",
      stream: false,
      cap: { field: "max_tokens", tokens: 5 },
      unlimited: false,
      verbatim: true,
      thinkingBudget: null,
      stop: [],
      tools: [],
      structured: null,
      wantsUsage: false,
      logprobs: false,
      n: 1,
      unhealable: null,
    });
  });

  test("B12: 0 is a cap here, for what is only to be scored", () => {
    expect(completions.read({ prompt: "Once", max_tokens: 0 }).cap).toEqual({ field: "max_tokens", tokens: 0 });
    expect(refusal({ prompt: "Once", max_tokens: -2 })).toMatchObject({ code: "invalid_request", param: "max_tokens" });
  });

  test.each<Json>([{}, 7, true, [{}], ["a", 1], [["a"], ["b", "c"]]])("prompt %j is refused", (prompt) => {
    expect(refusal({ prompt })).toMatchObject({ code: "invalid_request", param: "prompt" });
  });

  test.each<[JsonObject, string | null]>([
    [{ prompt: "a" }, null],
    [{}, null],
    [{ prompt: ["a"] }, null],
    [{ prompt: "a", echo: true }, null],
    [{ prompt: "a", logprobs: 0 }, null],
    [{ prompt: "a", suffix: "" }, null],
    [{ prompt: ["a", "b"] }, "several prompts"],
    [{ prompt: [[1], [2]] }, "several prompts"],
    [{ prompt: [1, 2] }, "token prompt"],
    [{ prompt: [[1, 2]] }, "token prompt"],
    [{ prompt: "a", n: 2 }, "n"],
    [{ prompt: "a", best_of: 2 }, "best_of"],
    [{ prompt: "a", suffix: "z" }, "suffix"],
    [{ prompt: "a", echo: true, logprobs: 1 }, "echo with logprobs"],
  ])("%j can be healed, or not: %s", (body, unhealable) => {
    expect(completions.read(body).unhealable).toBe(unhealable);
  });

  test("logprobs are a number here, and 0 asks for them", () => {
    expect(completions.read({ prompt: "a", logprobs: 0 }).logprobs).toBe(true);
    expect(completions.read({ prompt: "a", logprobs: null }).logprobs).toBe(false);
  });

  test.each<[JsonObject, readonly object[]]>([
    [{ prompt: "ab" }, [{ kind: "text", role: "user", text: "ab", opens: false }]],
    [{ prompt: [1, 2, 3] }, [{ kind: "tokens", count: 3 }]],
    [
      { prompt: ["a", "b"] },
      [
        { kind: "text", role: "user", text: "a", opens: false },
        { kind: "text", role: "user", text: "b", opens: false },
      ],
    ],
    [
      { prompt: [[1], [2, 3]] },
      [
        { kind: "tokens", count: 1 },
        { kind: "tokens", count: 2 },
      ],
    ],
    [
      { prompt: "a", suffix: "z" },
      [
        { kind: "text", role: "user", text: "a", opens: false },
        { kind: "text", role: "user", text: "z", opens: false },
      ],
    ],
  ])("%j costs its words", (body, pieces) => {
    expect(completions.pieces(body)).toEqual(pieces);
  });
});

describe("going on", () => {
  const partial = { text: " upon", reasoning: "" };

  test.each(["resume", "nudge"] as const)("%s: the partial reply stands behind the prompt", (how) => {
    const cap = { field: "max_tokens", tokens: 50 };
    expect(compose({ prompt: "Once", max_tokens: 5 }, { how, partial, nudge: "Go on.", cap })).toEqual({
      prompt: "Once upon",
      max_tokens: 50,
    });
  });

  test("a prompt keeps its form", () => {
    expect(compose({ prompt: ["Once"] }, { how: "resume", partial })).toEqual({ prompt: ["Once upon"] });
    expect(compose({}, { how: "resume", partial })).toEqual({ prompt: " upon" });
  });

  test("edge 41: what the client had echoed is not echoed again", () => {
    const echoed = { text: "Once upon", reasoning: "" };
    expect(compose({ prompt: "Once", echo: true }, { how: "resume", partial: echoed })).toEqual({
      prompt: "Once upon",
      echo: false,
    });
    expect(compose({ prompt: ["Once"], echo: true }, { how: "resume", partial: echoed })).toEqual({
      prompt: ["Once upon"],
      echo: false,
    });
  });

  test("with nothing there yet the request stays", () => {
    expect(compose({ prompt: "Once", echo: true }, { how: "resume", partial: { text: "", reasoning: "" } })).toEqual({
      prompt: "Once",
      echo: true,
    });
  });
});

const chunk = (
  id: string,
  text: string,
  finish_reason: string | null = null,
  logprobs: JsonObject | null = null,
): Frame =>
  completions.frame(
    "",
    JSON.stringify({
      id,
      object: "text_completion",
      created: 1,
      model: "m",
      choices: [{ text, index: 0, logprobs, finish_reason }],
    }),
  );

describe("frames", () => {
  test("text, quiet, finish, and both at once", () => {
    expect(chunk("a", "Hi")).toMatchObject({ kind: "output", parts: [{ kind: "text", block: 0, text: "Hi" }] });
    expect(chunk("a", "")).toMatchObject({ kind: "quiet", parts: [] });
    expect(chunk("a", "", "length")).toMatchObject({
      kind: "tail",
      parts: [{ kind: "finish", finish: { kind: "cap" } }],
    });
    const both = chunk("a", "end", "length");
    expect(both).toMatchObject({ kind: "output", parts: [{ kind: "text" }, { kind: "finish" }] });
    expect(completions.split?.(both).map((half) => half.parts.map((part) => part.kind))).toEqual([
      ["text"],
      ["finish"],
    ]);
  });

  test("a plain body", () => {
    const body = {
      choices: [{ text: "Hi", index: 0, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    };
    expect(completions.parts(body).map((part) => part.kind)).toEqual(["text", "finish", "usage", "end"]);
  });
});

const replied = (text: string): Reply => {
  const reply = emptyReply();
  reply.blocks.push({ kind: "text", block: 0, text, id: "", name: "", ended: false, sealed: false });
  return reply;
};
const ending = (more: Partial<Ending>): Ending => ({
  finish: { kind: "done", raw: "stop" },
  reply: emptyReply(),
  usage: null,
  tail: [],
  report: null,
  ...more,
});
const speaker = (more: JsonObject = {}) =>
  completions.voice(completions.read({ model: "asked", prompt: "p", ...more }));

describe("the voice", () => {
  test("edge 62: a healed stream is one reply", () => {
    const voice = speaker({ stream_options: { include_usage: true } });
    voice.passed(chunk("cmpl-1", "Once"));
    const usage = { prompt: 1, completion: 3, reasoning: null, raw: { prompt_tokens: 5, completion_tokens: 2 } };
    const said = [
      voice.say([{ kind: "text", block: 0, text: " upon" }], chunk("cmpl-2", "ce upon")),
      voice.say([{ kind: "text", block: 0, text: " a time" }], null),
      voice.say([{ kind: "reasoning", block: 0, text: "has no place here" }], null),
      voice.finish(ending({ usage, tail: [chunk("cmpl-2", "", "stop")] })),
    ].join("");
    expect(said).toMatchInlineSnapshot(`
      "data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":" upon","logprobs":null,"finish_reason":null}]}

      data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":" a time","finish_reason":null}]}

      data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":"","finish_reason":"stop","logprobs":null}]}

      data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":3,"total_tokens":4}}

      data: [DONE]

      "
    `);
  });

  test("a plain reply is the first body with everything joined", () => {
    const body = {
      id: "cmpl-1",
      object: "text_completion",
      choices: [{ text: "Once", index: 0, logprobs: null, finish_reason: "length" }],
    };
    expect(speaker().body(body, ending({ reply: replied("Once upon") }))).toEqual({
      ...body,
      choices: [{ text: "Once upon", index: 0, logprobs: null, finish_reason: "stop" }],
    });
  });

  test("a plain body as a short stream", () => {
    const choices = [{ text: "Hi", index: 0, logprobs: null, finish_reason: "length" }];
    expect(speaker().stream({ id: "cmpl-1", object: "text_completion", choices })).toMatchInlineSnapshot(`
      "data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":"Hi","logprobs":null,"finish_reason":null}]}

      data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":"","finish_reason":"length"}]}

      data: [DONE]

      "
    `);
  });

  test("heartbeats", () => {
    const beat = completions.heartbeat("empty-delta");
    expect(completions.frame("", beat.slice("data: ".length).trim())).toMatchObject({ kind: "quiet", parts: [] });
  });

  const logprobs = (from: number, ...tokens: string[]): JsonObject => {
    let at = from;
    const text_offset = tokens.map((token) => {
      const here = at;
      at += token.length;
      return here;
    });
    return { tokens, token_logprobs: tokens.map(() => -1), top_logprobs: tokens.map(() => null), text_offset };
  };

  test("edge 59: offsets count on through the whole text, whatever a later pass counts from", () => {
    const one = { choices: [{ text: "Once ", index: 0, logprobs: logprobs(4, "Once", " "), finish_reason: "length" }] };
    const two = {
      choices: [{ text: "upon a", index: 0, logprobs: logprobs(90, "upon", " a"), finish_reason: "stop" }],
    };
    const joined = speaker().body(one, ending({ reply: replied("Once upon a"), later: [two] }));
    expect(joined.choices).toMatchObject([{ logprobs: logprobs(4, "Once", " ", "upon", " a") }]);
  });

  test("edge 59: in a stream too, and for what the seam left", () => {
    const voice = speaker({ logprobs: 0 });
    voice.passed(chunk("a", "Once", null, logprobs(0, "Once")));
    const frame = chunk("b", "Once upon", null, logprobs(0, "Once", " upon"));
    expect(voice.say([{ kind: "text", block: 0, text: " upon" }], frame)).toContain(
      `"logprobs":${JSON.stringify(logprobs(4, " upon"))}`,
    );
    expect(voice.body(null, ending({ reply: replied("Once upon") })).choices).toMatchObject([
      { text: "Once upon", logprobs: logprobs(0, "Once", " upon") },
    ]);
  });
});
