import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { asObject } from "../../src/core/json.ts";
import { postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { done, event, recite, startUpstream } from "../support/upstream.ts";

const ask = [{ role: "user" as const, content: "hello" }];

/** What llama-server leaves out where its first token is half a character. */
describe("a reply that begins by its middle", () => {
  it("is opened for Messages clients", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up);
    const named = (json: { type: string; [key: string]: unknown }) => event(json as never, json.type);
    up.next(
      named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "я" } }),
      named({ type: "content_block_stop", index: 0 }),
      named({
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 2 },
      }),
      named({ type: "message_stop" }),
    );
    const client = new Anthropic({ baseURL: proxy.root, apiKey: "none", maxRetries: 0 });
    const message = await client.messages.stream({ model: "m", max_tokens: 900, messages: ask }).finalMessage();
    expect(message).toMatchObject({
      role: "assistant",
      stop_reason: "end_turn",
      content: [{ type: "text", text: "я" }],
    });
  });

  it("is given its role for chat clients", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up);
    const chunk = (delta: object, finish_reason: string | null = null) =>
      event({
        id: "chatcmpl-9",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta: delta as never, finish_reason }],
      });
    up.next(chunk({ content: "я" }), chunk({ content: "!" }), chunk({}, "stop"), done());
    const client = new OpenAI({ baseURL: proxy.url, apiKey: "none", maxRetries: 0 });
    const completion = await client.chat.completions.stream({ model: "m", messages: ask }).finalChatCompletion();
    expect(completion.choices[0]?.message).toMatchObject({ role: "assistant", content: "я!" });
  });
});

const TEXT = "The quick brown fox jumps over the lazy dog, and then it sleeps. ".repeat(12);

describe("a stream that is answered plainly, cut, and healed", () => {
  for (const [path, body, id] of [
    ["/chat/completions", { messages: ask, max_tokens: 80 }, "chatcmpl-1"],
    ["/completions", { prompt: "hello", max_tokens: 80 }, "cmpl-1"],
    ["/responses", { input: "hello", max_output_tokens: 80 }, "resp_1"],
    ["/messages", { messages: ask, max_tokens: 80 }, "msg_1"],
  ] as const) {
    it(`keeps the id of the body: ${path}`, async () => {
      await using up = await startUpstream({ dialect: "llamacpp" });
      await using proxy = await startProxy(up);
      up.handle((call, n) => recite(TEXT, n === 1 ? { transport: { mode: "plain" } } : {})(call, n));
      const got = await postStream(proxy.url + path, { model: "m", ...body }, { "x-lastword-caps": "advisory" });
      expect(got.text()).toBe(TEXT);
      const ids = got.chunks.map((chunk) => chunk.id ?? asObject(chunk.response)?.id ?? asObject(chunk.message)?.id);
      expect([...new Set(ids.filter((one) => one !== undefined))]).toEqual([id]);
    });
  }
});
