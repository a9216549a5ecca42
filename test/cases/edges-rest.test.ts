import { describe, expect, it } from "vitest";
import { asArray, asObject, type JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { postStream } from "../support/client.ts";
import { done, event, finish, nudges, pause, recite, say, status, think, tool, usage } from "../support/upstream.ts";
import { ask, asking, capped, cut, stage, whole } from "./stage.ts";

const vllm = { dialect: "vllm", window: 32_768 } as const;
const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];

describe("signals of an end", () => {
  it.each(["stream", "plain"])(
    "edge 10: response.completed that holds an incomplete reply is a cut: %s",
    async (how) => {
      const { up, proxy, stream, plain } = await stage({ dialect: "vllm", window: 32_768 });
      const response = (status: string, text: string) => ({
        id: "resp_1",
        object: "response",
        model: "m",
        status,
        incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
        output: [
          {
            id: "msg_1",
            type: "message",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text, annotations: [] }],
          },
        ],
        usage: { input_tokens: 5, output_tokens: 100, total_tokens: 105 },
      });
      up.handle((call, n) => {
        if (n > 1) return whole(" and the rest of it.");
        const body = response("incomplete", "The beginning of it");
        if (call.body.stream !== true) return [status(200, body)];
        const item = { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] };
        return [
          event(
            { type: "response.created", sequence_number: 0, response: { ...body, status: "in_progress", output: [] } },
            "response.created",
          ),
          event(
            { type: "response.output_item.added", sequence_number: 1, output_index: 0, item },
            "response.output_item.added",
          ),
          event(
            {
              type: "response.content_part.added",
              sequence_number: 2,
              item_id: "msg_1",
              output_index: 0,
              content_index: 0,
              part: { type: "output_text", text: "", annotations: [] },
            },
            "response.content_part.added",
          ),
          event(
            {
              type: "response.output_text.delta",
              sequence_number: 3,
              item_id: "msg_1",
              output_index: 0,
              content_index: 0,
              delta: "The beginning of it",
            },
            "response.output_text.delta",
          ),
          event({ type: "response.completed", sequence_number: 4, response: body }, "response.completed"),
        ];
      });
      const request = { model: "m", input: "hello", max_output_tokens: 100 };
      const got = how === "stream" ? await stream(request, {}, "/responses") : await plain(request, {}, "/responses");
      expect(got.bytes.toString()).toContain(" and the rest of it.");
      expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "reply_cap" });
    },
  );

  it("edge 11: a filter is not gone on with, whatever the wire calls it", async () => {
    for (const [path, body] of [
      ["/chat/completions", capped],
      ["/responses", { model: "m", input: "hello", max_output_tokens: 100 }],
    ] as const) {
      const { up, stream, play } = await stage({ dialect: "openai", window: 32_768 });
      play([say("half"), finish("content_filter"), usage(5, 100), done()]);
      const got = await stream(body, {}, path);
      expect(got.text()).toBe("half");
      expect(got.bytes.toString()).toContain("content_filter");
      expect(up.calls).toHaveLength(1);
    }
  });

  it.each(["refusal", "pause_turn", "stop_sequence"])("edge 12: %s is passed on", async (reason) => {
    const { up, stream, play, proxy } = await stage({ dialect: "generic", window: 32_768 });
    play([say("so far"), finish(reason), usage(5, 100), done()]);
    const got = await stream({ ...capped }, {}, "/messages");
    expect(got.finish()).toBe(reason);
    expect(up.calls).toHaveLength(1);
    expect((await proxy.finished()).outcome).toBe("complete");
  });

  it("edge 15: a server that drops messages in silence is told on", async () => {
    const { stream, play, proxy } = await stage({ dialect: "ollama", window: 8192, models: ["qwen3:8b"] });
    play([say("It was long ago"), finish("stop"), usage(900, 100), done()]);
    const got = await stream(asking(4000, { model: "qwen3:8b" }));
    expect(JSON.stringify(got.chunks)).toContain("silent_prompt_truncation");
    expect((await proxy.finished()).outcome).toBe("complete");
  });
});

describe("choices and sampling", () => {
  it("edge 58: several choices are each passed on with their own end, plain and streamed", async () => {
    const { up, stream, plain, play, proxy } = await stage(vllm);
    const script = [
      say("one", 0),
      say("two", 1),
      finish("stop", { choice: 0 }),
      finish("length", { choice: 1 }),
      done(),
    ];
    play(script, script);
    const streamed = await stream({ ...capped, n: 2 });
    const ends = streamed.chunks.flatMap((each) => asArray(each.choices).map((choice) => asObject(choice)));
    expect(ends.filter((choice) => choice?.finish_reason != null).map((choice) => choice?.finish_reason)).toEqual([
      "stop",
      "length",
    ]);
    const got = await plain({ ...capped, n: 2 });
    expect(got.json).toMatchObject({ choices: [{ finish_reason: "stop" }, { finish_reason: "length" }] });
    expect(up.calls).toHaveLength(2);
    for (const n of [1, 2]) expect(await proxy.finished(n)).toMatchObject({ outcome: "cut_off" });
  });

  const token = (text: string) => ({ token: text, logprob: -0.5, bytes: [...Buffer.from(text)], top_logprobs: [] });
  const spoken = (text: string, logprobs = true) =>
    event({
      id: "c1",
      object: "chat.completion.chunk",
      choices: [
        {
          index: 0,
          delta: { content: text },
          finish_reason: null,
          ...(logprobs ? { logprobs: { content: [token(text)] } } : {}),
        },
      ],
    } as never);

  it("edge 59: log probabilities are joined in order, and there are none that would not fit", async () => {
    const { stream, play } = await stage(vllm);
    const told = (got: { chunks: readonly JsonObject[] }) =>
      got.chunks
        .flatMap((each) => asArray(each.choices))
        .flatMap((choice) => asArray(asObject(asObject(choice)?.logprobs)?.content))
        .map((each) => asObject(each)?.token);
    play(
      [spoken("one"), finish("length"), usage(5, 100), done()],
      [spoken(" two"), spoken(" three"), finish("stop"), done()],
    );
    const whole = await stream({ ...capped, logprobs: true });
    expect(whole.text()).toBe("one two three");
    expect(told(whole)).toEqual(["one", " two", " three"]);
    play([spoken("one"), finish("length"), usage(5, 100), done()], [spoken(" two", false), finish("stop"), done()]);
    const less = await stream({ ...capped, logprobs: true });
    expect(told(less)).toEqual(["one"]);
    expect(less.text()).toBe("one two");
  });

  describe.each(["chat", "completions"] as const)(
    "edge 59: log probabilities that a pass lacks are told of, on %s",
    (wire) => {
      const chat = wire === "chat";
      const path = chat ? "/chat/completions" : "/completions";
      const own = chat ? { ...capped, logprobs: true } : { model: "m", prompt: "count", max_tokens: 100, logprobs: 0 };
      const advisory = { "x-lastword-caps": "advisory" };
      const tokens = (text: string) => (chat ? { content: [token(text)] } : { tokens: [text], token_logprobs: [-0.5] });
      const choice = (logprobs: JsonObject | null, more: JsonObject) => ({ index: 0, logprobs, ...more });
      const piece = (text: string, has = true) =>
        event({
          id: "c1",
          object: chat ? "chat.completion.chunk" : "text_completion",
          choices: [
            choice(has ? tokens(text) : null, {
              finish_reason: null,
              ...(chat ? { delta: { content: text } } : { text }),
            }),
          ],
        } as never);
      const body = (text: string, has: boolean, finish_reason: string) =>
        status(200, {
          id: "c1",
          object: chat ? "chat.completion" : "text_completion",
          model: "m",
          choices: [
            choice(has ? tokens(text) : null, {
              finish_reason,
              ...(chat ? { message: { role: "assistant", content: text } } : { text }),
            }),
          ],
          usage: { prompt_tokens: 5, completion_tokens: 100, total_tokens: 105 },
        });
      const first = (has = true) => [piece("one", has), finish("length"), usage(5, 100), done()];
      const warnings = (json: JsonObject | undefined) => asObject(json?.lastword)?.warnings;

      it.each([
        ["a later pass lacks them", true, false, ["logprobs_missing"]],
        ["none does", true, true, undefined],
        ["there never were any", false, false, undefined],
      ])("streamed: %s", async (_, one, two, expected) => {
        const { stream, play, proxy } = await stage(vllm);
        play(first(one), [piece(" two", two), finish("stop"), done()]);
        const got = await stream(own, advisory, path);
        expect(got.text()).toBe("one two");
        expect(got.chunks.map(warnings).find((told) => told !== undefined)).toEqual(expected);
        expect(await proxy.finished()).toMatchObject({ outcome: "healed" });
      });

      it.each([
        ["a later pass lacks them", true, false, ["logprobs_missing"]],
        ["none does", true, true, undefined],
        ["there never were any", false, false, undefined],
      ])("plain: %s", async (_, one, two, expected) => {
        const { plain, play, proxy } = await stage(vllm);
        play([body("one", one, "length")], [body(" two", two, "stop")]);
        const { json } = await plain(own, advisory, path);
        const [joined] = asArray(json?.choices).map((each) => asObject(each)?.logprobs);
        const all = chat ? { content: [token("one"), token(" two")] } : { tokens: ["one", " two"] };
        if (one && two) expect(joined).toMatchObject(all);
        else expect(joined).toBeNull();
        expect(warnings(json)).toEqual(expected);
        expect(await proxy.finished()).toMatchObject({ outcome: "healed" });
      });
    },
  );

  it("edge 60, edge 61: seed, sampling, tools and system text are the same in every pass", async () => {
    for (const dialect of ["vllm", "openai", "llamacpp"] as const satisfies DialectName[]) {
      const { up, stream } = await stage({ dialect, window: 32_768 });
      const text = "One should begin with the roof, then see to the windows, and at last to the door of the old house.";
      up.handle(recite(text, { providerCap: 9, nudge: nudges.anchor }));
      const own = {
        seed: 7,
        temperature: 0.3,
        top_p: 0.9,
        frequency_penalty: 0.1,
        presence_penalty: 0.2,
        logit_bias: { "5": -1 },
        tools,
      };
      const messages = [
        { role: "system", content: "Be brief." },
        { role: "user", content: "How?" },
      ];
      await stream({ ...capped, ...own, messages });
      expect(up.calls.length).toBeGreaterThan(1);
      for (const { body } of up.calls) {
        expect(body).toMatchObject(own);
        expect(asArray(body.messages).slice(0, 2)).toEqual(messages);
      }
    }
  });
});

describe("ends of going on", () => {
  const paragraph = (n: number) =>
    `Paragraph ${n} tells of what was done on day ${n} and of who had done it, in so many words. `;

  it("edge 94: a reply that repeats itself is not gone on with, and that is said", async () => {
    const { up, stream, play, proxy } = await stage(vllm);
    play(cut("I will now look at the file again. ".repeat(40)));
    const got = await stream(capped);
    expect(got.finish()).toBe("length");
    expect(JSON.stringify(got.chunks)).toContain("repetition_loop");
    expect(up.calls).toHaveLength(1);
    expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
  });

  it("edge 95: two passes that bring next to nothing end it", async () => {
    const { up, stream } = await stage(vllm, { recovery: { maxAttempts: 8 } });
    up.handle((_call, n) => cut(n === 1 ? paragraph(1) : ` x${n}`));
    const got = await stream(capped);
    expect(got.finish()).toBe("length");
    expect(up.calls).toHaveLength(3);
  });

  it.each([
    ["attempts", { maxAttempts: 2 }, 2],
    ["tokens", { maxReplyTokens: 250 }, 3],
    ["attempts, by the client", {}, 1],
  ])("edge 96: the bound of %s ends it with what there is, and says so", async (name, recovery, calls) => {
    const { up, stream } = await stage(vllm, { recovery });
    up.handle((_call, n) => cut(paragraph(n)));
    const own: Record<string, string> = name.endsWith("client") ? { "x-lastword-attempts": "1" } : {};
    const got = await stream(capped, own);
    expect(up.calls).toHaveLength(calls);
    expect(got.text()).toBe(Array.from({ length: calls }, (_, at) => paragraph(at + 1)).join(""));
    expect(got.finish()).toBe("length");
    expect(JSON.stringify(got.chunks)).toContain("output_cap_exhausted");
  });

  it("edge 97: a cap that the model does not take is lowered to what it says, and remembered", async () => {
    const { up, plain, proxy } = await stage({ dialect: "generic", window: 400_000 });
    const limit = (asked: number) =>
      `max_tokens: ${asked} > 64000, which is the maximum allowed number of output tokens for m`;
    up.handle((call) => {
      const asked = Number(call.body.max_tokens);
      return asked > 64_000
        ? [
            status(400, {
              error: { message: limit(asked), type: "invalid_request_error", param: "max_tokens", code: null },
            }),
          ]
        : whole("ok");
    });
    for (const calls of [2, 3]) {
      expect((await plain({ ...ask, max_tokens: 100_001 })).status).toBe(200);
      expect(up.calls).toHaveLength(calls);
      expect(up.calls.at(-1)?.body.max_tokens).toBe(64_000);
    }
    expect(await proxy.finished()).toMatchObject({ outcome: "complete" });
  });

  it.each([
    ["/chat/completions", "max_tokens", { messages: [{ role: "user", content: "hello" }] }, "llamacpp"],
    ["/chat/completions", "max_completion_tokens", { messages: [{ role: "user", content: "hello" }] }, "llamacpp"],
    ["/chat/completions", "n_predict", { messages: [{ role: "user", content: "hello" }] }, "llamacpp"],
    ["/responses", "max_output_tokens", { input: "hello" }, "llamacpp"],
    ["/messages", "max_tokens", { messages: [{ role: "user", content: "hello" }] }, "llamacpp"],
    ["/completions", "max_tokens", { prompt: "hello" }, "llamacpp"],
  ] as [string, string, JsonObject, DialectName][])(
    "edge 98: on %s, %s is lowered and raised in its own field, and no other is added",
    async (path, field, body, dialect) => {
      const { up, plain, play } = await stage({ dialect, window: 8192 });
      const fields = ["max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict"];
      const caps = (n: number) => fields.filter((name) => name in (up.calls[n]?.body ?? {}));
      play(whole("ok"));
      await plain({ model: "m", [field]: 100_000, ...body }, {}, path);
      expect(caps(0)).toEqual([field]);
      expect(Number(up.calls[0]?.body[field])).toBeLessThanOrEqual(8192);
      play(cut("This is the first part of it,"), whole(" and this the second."));
      const got = await plain({ model: "m", [field]: 100, ...body }, { "x-lastword-caps": "advisory" }, path);
      expect(JSON.stringify(got.json)).toContain("and this the second.");
      expect(up.calls).toHaveLength(3);
      if (up.calls[2]?.path.endsWith(path)) expect(caps(2)).toEqual([field]);
    },
  );

  it("edge 99: switched off, a reply is passed on to the byte, its cut and all", async () => {
    const { up, stream, play, proxy } = await stage(vllm);
    const script = [
      think("hm"),
      say("half a"),
      tool(0, { id: "t", name: "look" }, '{"a'),
      finish("length"),
      usage(5, 100),
      done(),
    ];
    play(script);
    const direct = await postStream(`${up.url}/chat/completions`, {
      ...capped,
      tools,
    });
    play(script);
    const got = await stream({ ...capped, tools }, { "x-lastword-heal": "off" });
    const same = (text: string) => text.replaceAll(/chatcmpl-\d+|"created":\d+/g, "");
    expect(same(got.bytes.toString())).toBe(same(direct.bytes.toString()));
    expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
  });

  it("edge 100: requests to one model do not meet, also where it serves one at a time", async () => {
    const { up, stream } = await stage(vllm, { limits: { maxInflight: 2 } });
    up.handle((call) => {
      const name = JSON.stringify(call.body.messages).includes("Anna") ? "Anna" : "Bert";
      const goes = asArray(call.body.messages).length > 1;
      return goes ? [pause(name), ...whole(` and that was ${name}.`)] : cut(`This is the story of ${name}`);
    });
    const of = (name: string) => stream({ ...capped, messages: [{ role: "user", content: `Tell me of ${name}` }] });
    const anna = of("Anna");
    const bert = of("Bert");
    await up.reached("Anna");
    await up.reached("Bert");
    up.release("Bert");
    expect((await bert).text()).toBe("This is the story of Bert and that was Bert.");
    up.release("Anna");
    expect((await anna).text()).toBe("This is the story of Anna and that was Anna.");
  });
});
