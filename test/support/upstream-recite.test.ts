import { describe, expect, test } from "vitest";
import { asObject, type JsonObject } from "../../src/core/json.ts";
import { postPlain, postStream } from "./client.ts";
import { nudges, overflow, recite, startUpstream, tokenize } from "./upstream.ts";

const TEXT = "The turtle walked on. It saw a hill and climbed it. Then it slept.";
const half = (count: number) => tokenize(TEXT).slice(0, count).join("");
const user = (content: string): JsonObject => ({ role: "user", content });
const assistant = (content: string, more: JsonObject = {}): JsonObject => ({ role: "assistant", content, ...more });
const chat = (messages: JsonObject[], more: JsonObject = {}) => ({ model: "m", messages, ...more });

describe("recite", () => {
  test("pieces join to the text", () => {
    for (const text of [TEXT, "a\n\n  b\t", "数字123456 🐢🐢, ok?!", "<|im_start|>user"])
      expect(tokenize(text).join("")).toBe(text);
  });

  test("a cap cuts, and the joined halves are the text", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    up.handle(recite(TEXT));
    const first = await postStream(`${up.url}/chat/completions`, chat([user("tell")], { max_tokens: 5 }));
    expect([first.text(), first.finish()]).toEqual([half(5), "length"]);
    const second = await postStream(`${up.url}/chat/completions`, chat([user("tell"), assistant(first.text())]));
    expect([first.text() + second.text(), second.finish()]).toEqual([TEXT, "stop"]);
  });

  test("fields that a server does not read do not cap", async () => {
    await using up = await startUpstream({ dialect: "ollama" });
    up.handle(recite(TEXT));
    const seen = await postStream(`${up.url}/chat/completions`, chat([user("tell")], { max_completion_tokens: 5 }));
    expect(seen.finish()).toBe("stop");
  });

  test("the window cuts with length; a prompt over it is refused in the dialect's words", async () => {
    await using up = await startUpstream({ dialect: "llamacpp", window: 20 });
    up.handle(recite(TEXT));
    expect((await postStream(`${up.url}/chat/completions`, chat([user("tell")]))).finish()).toBe("length");
    const refused = await postPlain(`${up.url}/chat/completions`, chat([user(TEXT)]));
    expect([refused.status, asObject(refused.json?.error)?.n_ctx]).toEqual([400, 20]);
  });

  test("LM Studio reports one token less at the cap", async () => {
    await using up = await startUpstream({ dialect: "lmstudio" });
    up.handle(recite(TEXT));
    const plain = await postPlain(`${up.url}/chat/completions`, chat([user("tell")], { max_tokens: 5 }));
    expect(asObject(plain.json?.usage)?.completion_tokens).toBe(4);
  });

  test("vLLM goes on only with its two flags", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    up.handle(recite(TEXT));
    const ask = chat([user("tell"), assistant(half(5))]);
    const flags = { continue_final_message: true, add_generation_prompt: false };
    expect((await postStream(`${up.url}/chat/completions`, ask)).text()).toBe(TEXT);
    expect((await postStream(`${up.url}/chat/completions`, { ...ask, ...flags })).text()).toBe(
      TEXT.slice(half(5).length),
    );
    const both = await postStream(`${up.url}/chat/completions`, { ...ask, continue_final_message: true });
    expect(both.status).toBe(400);
  });

  test.each([
    ["exact", nudges.exact, ""],
    ["repeatWord", nudges.repeatWord, "hill"],
    ["repeatSentence", nudges.repeatSentence, "It saw a hill"],
    ["restart", nudges.restart, "The turtle walked on. It saw a hill"],
    ["preamble", nudges.preamble("Sure: "), "Sure: "],
    ["anchor", nudges.anchor, "saw a hill"],
  ])("nudge %s", async (_, nudge, before) => {
    await using up = await startUpstream({ dialect: "lmstudio" });
    up.handle(recite(TEXT, { nudge }));
    const partial = TEXT.slice(0, TEXT.indexOf(" and"));
    const ask = chat([user("tell"), assistant(partial), user('Go on. Begin with "saw a hill".')]);
    expect((await postStream(`${up.url}/chat/completions`, ask)).text()).toBe(before + TEXT.slice(partial.length));
  });

  test("reasoning counts, can be resumed, and is switched off by effort", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    up.handle(recite({ reasoning: "one two three four", text: "five" }));
    const starved = await postStream(`${up.url}/chat/completions`, chat([user("q")], { max_tokens: 2 }));
    expect([starved.reasoning(), starved.text(), starved.finish()]).toEqual(["one two", "", "length"]);
    const thought = assistant("", { reasoning_content: "one two" });
    const resumed = await postStream(`${up.url}/chat/completions`, chat([user("q"), thought]));
    expect([resumed.reasoning(), resumed.text()]).toEqual([" three four", "five"]);
    const off = await postStream(`${up.url}/chat/completions`, chat([user("q")], { reasoning_effort: "none" }));
    expect([off.reasoning(), off.text()]).toEqual(["", "five"]);
  });

  test("a tool call is cut inside its arguments and carried on as text", async () => {
    await using up = await startUpstream({ dialect: "openai" });
    const args = '{"path":"a.txt","content":"one two three"}';
    up.handle(recite({ tools: [{ name: "write", args }] }));
    const tools = [{ type: "function", function: { name: "write" } }];
    const cut = await postStream(`${up.url}/chat/completions`, chat([user("q")], { tools, max_tokens: 8 }));
    const partial = cut.toolArgs()[0] ?? "";
    expect([args.startsWith(partial), partial === args, cut.finish()]).toEqual([true, false, "length"]);
    const ask = chat([user("q"), assistant(partial), user("Carry on.")]);
    expect(partial + (await postStream(`${up.url}/chat/completions`, ask)).text()).toBe(args);
  });

  test("a rendered prompt is gone on with on completions", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    up.handle(recite(TEXT));
    const rendered = await postPlain(`${up.root}/apply-template`, chat([user("tell")]));
    const prompt = `${String(rendered.json?.prompt)}${half(7)}`;
    const seen = await postStream(`${up.url}/completions`, { prompt, max_tokens: 100 });
    expect(half(7) + seen.text()).toBe(TEXT);
  });

  test("by user message, with a refusal to go on", async () => {
    await using up = await startUpstream({ dialect: "generic", prefix: "/pre" });
    up.handle(recite({ byUser: { a: "Alpha", b: "Beta" } }, { resume: "refuse" }));
    expect((await postStream(`${up.url}/chat/completions`, chat([user("b")]))).text()).toBe("Beta");
    expect((await postStream(`${up.url}/chat/completions`, chat([user("a"), assistant("Al")]))).status).toBe(400);
  });
});

test("LM Studio's overflow in a 200 stream, and its string error", async () => {
  await using up = await startUpstream({ dialect: "lmstudio" });
  up.next(...overflow.lmstudio.D(31430, 30000));
  up.next(...overflow.lmstudio.B(15028, 7424));
  const inStream = await postStream(`${up.url}/chat/completions`, chat([user("q")]));
  expect([inStream.status, inStream.events[0]?.event]).toEqual([200, "error"]);
  const plain = await postPlain(`${up.url}/chat/completions`, chat([user("q")]));
  expect([plain.status, plain.json]).toEqual([
    400,
    { error: "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)" },
  ]);
});
