import { describe, expect, it } from "vitest";
import { asArray, asObject, asString } from "../../src/core/json.ts";
import { type Call, done, event, finish, nudges, recite, reset, say, usage } from "../support/upstream.ts";
import { asking, capped, counted, cut, stage, whole } from "./stage.ts";

/** Resumes the same message. */
const resuming = { dialect: "vllm", window: 32_768 } as const;
/** Can only be asked in a turn of its own. */
const nudged = { dialect: "openai", window: 32_768 } as const;
const lastOf = (call: Call | undefined) => asString(asObject(asArray(call?.body.messages).at(-1))?.content);

describe("stitching", () => {
  it.each([
    ["you", "'re here", "you're here"],
    ["that", " was", "that was"],
    ["line\n", "  indented", "line\n  indented"],
    ["end.\n\n", "Next", "end.\n\nNext"],
    ["foo ", " bar", "foo bar"],
  ])("B45: %j and %j are joined to the byte", async (first, second, joined) => {
    const { up, stream, play } = await stage(resuming);
    play(cut(first), whole(second));
    expect((await stream(capped)).text()).toBe(joined);
    expect(lastOf(up.calls[1])?.trimEnd()).toBe(first.trimEnd());
  });

  it.each([
    ["```python\nprint(1)\n", "```python\nprint(2)\n```\n", "```python\nprint(1)\nprint(2)\n```\n"],
    ["```python\nprint(1)\n", "```\nDone, as you see.", "```python\nprint(1)\n```\nDone, as you see."],
    ["```python\nprint(1)\n", "print(2)\n```", "```python\nprint(1)\nprint(2)\n```"],
    ["As code:\n\n", "```python\nprint(2)\n```", "As code:\n\n```python\nprint(2)\n```"],
    ["~~~py\nprint(1)\n", "~~~py\nprint(2)\n~~~\n", "~~~py\nprint(1)\nprint(2)\n~~~\n"],
    ["  ```py\n  a\n", "  ```py\n  b\n  ```\n", "  ```py\n  a\n  b\n  ```\n"],
  ])("B46: a block is opened once and closed once: %j and %j", async (first, second, joined) => {
    const { stream, play } = await stage(resuming);
    play(cut(first), whole(second));
    expect((await stream(capped)).text()).toBe(joined);
  });

  describe("B47: the whole answer again", () => {
    const items = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, at) => `Item ${from + at}: the ${from + at}. thing to do.`).join("\n");

    it.each([nudged, { dialect: "generic", window: 32_768 } as const])(
      "B47: is there once: $dialect",
      async (server) => {
        const { stream, play, proxy } = await stage(server);
        play(cut(`${items(1, 4)}\n`), whole(items(1, 6)));
        const got = await stream(capped);
        expect(got.text()).toBe(items(1, 6));
        expect(got.finish()).toBe("stop");
        expect(await proxy.finished()).toMatchObject({ outcome: "healed" });
      },
    );

    it("B47: told differently it is not appended", async () => {
      const { up, stream, proxy } = await stage(nudged);
      const first = `${items(1, 4)}\n`;
      up.next(...cut(first));
      up.handle(() => whole("First of all, one could begin with the roof, then see to the windows and to the door."));
      const got = await stream(capped);
      expect(got.text()).toBe(first);
      expect(got.finish()).toBe("length");
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
    });
  });

  it("B48: a full window is not gone on with, also where usage was not told", async () => {
    const { up, stream, play, proxy } = await stage({ dialect: "vllm", window: 4096 });
    const lines = Array.from(
      { length: 150 },
      (_, at) => `Line ${at} of it.
`,
    ).join("");
    play([say(lines), finish("length"), done()]);
    const got = await stream(asking(3500));
    expect(got.finish()).toBe("length");
    expect(up.calls).toHaveLength(1);
    expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
  });

  it("B49: a text that stops at a letter is complete, and is all there", async () => {
    const { up, stream, play, proxy } = await stage(resuming);
    const text = "A long answer that ends without a full stop because it ends in a list:\n- one\n- two";
    play([say(text), finish("stop"), usage(9, 551), done()], whole("I cannot go on with that."));
    expect((await stream()).text()).toBe(text);
    expect(up.calls).toHaveLength(1);
    expect(await proxy.finished()).toMatchObject({ outcome: "complete" });
  });

  describe("B50: a server without prefill that simply goes on", () => {
    const first = "We looked at the gauge for a while, and then the pump was";

    it("B50: is joined", async () => {
      const { up, stream } = await stage(nudged);
      up.next(...cut(first));
      up.handle(() => whole(" switched off by the man who had been watching it all day long."));
      const got = await stream(capped);
      expect(got.text()).toBe(`${first} switched off by the man who had been watching it all day long.`);
      expect(up.calls.length).toBeLessThanOrEqual(3);
    });

    it("B50: nothing is ever put in between: without its space it is asked once more, not guessed", async () => {
      const { stream, play } = await stage(nudged);
      play(cut(first), whole("switched off."), whole(`${first} switched off.`));
      const got = await stream(capped);
      expect(got.text()).toMatch(/^We looked .* the pump was( switched off\.)?$/);
      expect(got.text()).not.toContain("wasswitched");
    });
  });

  it("B51: one id, one time, one model, one role, one end", async () => {
    const { stream, play } = await stage(resuming);
    play(cut("a"), cut("b"), whole("c"));
    const { chunks, events } = await stream(capped);
    for (const field of ["id", "created", "model"]) expect(new Set(chunks.map((each) => each[field])).size).toBe(1);
    const choices = chunks.flatMap((each) => asArray(each.choices).map((choice) => asObject(choice)));
    expect(choices.filter((choice) => asObject(choice?.delta)?.role !== undefined)).toHaveLength(1);
    expect(choices.filter((choice) => choice?.finish_reason != null)).toHaveLength(1);
    expect(events.filter(({ data }) => data === "[DONE]")).toHaveLength(1);
  });

  it("B52: usage that is told again and again is the last one told; of two passes it is the sum", async () => {
    const { stream, play, proxy } = await stage(resuming);
    const said = (content: string, completion_tokens: number) =>
      event({
        id: "c1",
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { content }, finish_reason: null }],
        usage: { prompt_tokens: 10, completion_tokens, total_tokens: 10 + completion_tokens },
      } as never);
    play(
      [said("a", 1), said("b", 2), said("c", 3), finish("length"), done()],
      [say("d"), finish("stop"), usage(16, 4), done()],
    );
    const got = await stream({ ...capped, ...counted });
    const told = got.chunks.filter((each) => asArray(each.choices).length === 0);
    expect(told).toHaveLength(1);
    expect(told[0]?.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 });
    const end = await proxy.finished();
    expect(end).toMatchObject({ billedPromptTokens: 26, billedCompletionTokens: 7 });
  });

  it("B53: of several choices each keeps its own text and its own end, and none is gone on with", async () => {
    const { up, stream, play, proxy } = await stage(resuming);
    play([say("Azure.", 0), say("Bl", 1), finish("stop", { choice: 0 }), finish("length", { choice: 1 }), done()]);
    const got = await stream({ ...capped, n: 2 });
    const of = (index: number) =>
      got.chunks
        .flatMap((each) => asArray(each.choices).map((choice) => asObject(choice)))
        .filter((choice) => choice?.index === index);
    const text = (index: number) =>
      of(index)
        .map((choice) => asString(asObject(choice?.delta)?.content) ?? "")
        .join("");
    expect([text(0), text(1)]).toEqual(["Azure.", "Bl"]);
    const ends = (index: number) =>
      of(index)
        .map((choice) => choice?.finish_reason)
        .filter((reason) => reason != null);
    expect([ends(0), ends(1)]).toEqual([["stop"], ["length"]]);
    expect(up.calls).toHaveLength(1);
    expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
  });

  it.each([resuming, nudged])("B54: a cap inside of a character leaves no trace of it: $dialect", async (server) => {
    const { up, stream, play } = await stage(server);
    const first = "And how are you doing there in the mountains today? ";
    play(
      [say(first), say("\uFFFD"), finish("length"), usage(5, 100), done()],
      whole(server === resuming ? "😊 Bye." : "mountains today? 😊 Bye."),
    );
    const got = await stream(capped);
    expect(got.text()).toBe(`${first}😊 Bye.`);
    expect(up.calls[1]?.bytes.toString()).not.toContain("\uFFFD");
  });

  it("B54: elsewhere U+FFFD is text", async () => {
    const { stream, play } = await stage(resuming);
    play(whole("a \uFFFD b \uFFFD"));
    expect((await stream()).text()).toBe("a \uFFFD b \uFFFD");
  });
});

describe("prefill", () => {
  it("B55: refused once, it is not tried again, not in this request and not in the next", async () => {
    const { up, stream, proxy } = await stage({ dialect: "llamacpp", window: 32_768 });
    const text = "The first part of what is to be said here comes before the second one, and that is the end of it.";
    up.handle(recite(text, { resume: "refuse", nudge: nudges.anchor, providerCap: 12 }));
    const got = await stream({ ...capped, max_tokens: 70 });
    expect(got.text()).toBe(text);
    expect(got.bytes.toString()).not.toContain("prefill");
    const refused = () => up.calls.filter(({ body }) => asObject(asArray(body.messages).at(-1))?.role === "assistant");
    expect(refused()).toHaveLength(1);
    expect(await proxy.finished()).toMatchObject({ outcome: "healed" });
    expect((await stream({ ...capped, max_tokens: 70 })).text()).toBe(text);
    expect(refused()).toHaveLength(1);
  });

  it("B56: vLLM gets the flag pair, others no field that they do not know", async () => {
    for (const [dialect, flags] of [
      ["vllm", true],
      ["openai", false],
      ["generic", false],
      ["ollama", false],
      ["lmstudio", false],
    ] as const) {
      const { up, stream, play } = await stage({ dialect, window: 32_768 });
      const first = "As everybody knows, the capital of France is";
      play(cut(first), whole(dialect === "vllm" || dialect === "ollama" ? " **Paris**." : `${first} **Paris**.`));
      expect((await stream(capped)).text()).toBe(`${first} **Paris**.`);
      const { body } = up.calls[1] ?? { body: {} };
      expect("continue_final_message" in body, dialect).toBe(flags);
      expect("add_generation_prompt" in body, dialect).toBe(flags);
      if (flags) expect(body).toMatchObject({ continue_final_message: true, add_generation_prompt: false });
    }
  });

  it("B56: a server that opens a new turn and says it all again is found out", async () => {
    const { stream, play } = await stage({ dialect: "ollama", window: 32_768 });
    const first = "The capital of France, as everybody knows who has ever been to school, is";
    play(cut(first), whole(`${first} **Paris**.`));
    expect((await stream(capped)).text()).toBe(`${first} **Paris**.`);
  });

  it("B56: a connection lost at the joint is no second beginning", async () => {
    const { stream, play } = await stage(resuming);
    play(cut("As everybody knows, the capital"), [say(" of France"), reset()], whole(" is Paris."));
    expect((await stream(capped)).text()).toBe("As everybody knows, the capital of France is Paris.");
  });
});
