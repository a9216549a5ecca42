import { ContextOverflowError } from "@langchain/core/errors";
import type { AIMessageChunk } from "@langchain/core/messages";
import { ChatOpenAI, type ChatOpenAIFields } from "@langchain/openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { reset, say, stall } from "../../support/upstream.ts";
import { CALL, CAP, QUESTION, REPORT, Report, type Stage, stage, TEXT } from "./stage.ts";

const modelOf = ({ proxy }: Stage, more: ChatOpenAIFields = {}) =>
  new ChatOpenAI({
    model: "m",
    apiKey: "none",
    maxTokens: CAP,
    maxRetries: 2,
    configuration: { baseURL: proxy.url },
    ...more,
  });

const Usage = z.object({ output_tokens: z.number() });

async function gathered(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk | null> {
  let all: AIMessageChunk | null = null;
  for await (const chunk of stream) all = all === null ? chunk : all.concat(chunk);
  return all;
}

describe("@langchain/openai", () => {
  it("streams a cut reply whole, with its usage", async () => {
    await using on = await stage(TEXT);
    const all = await gathered(await modelOf(on).stream(QUESTION));
    expect(all?.text).toBe(TEXT);
    expect(Usage.parse(all?.usage_metadata).output_tokens).toBeGreaterThan(CAP);
    expect(on.outcomes()).toEqual(["healed"]);
  });

  it("gets a cut call whole, streamed and plain", async () => {
    await using on = await stage({ tools: [{ name: "write", args: CALL }] });
    const write = { type: "function", function: { name: "write", parameters: { type: "object" } } } as const;
    const model = modelOf(on).bindTools([write]);
    expect((await model.invoke(QUESTION)).tool_calls).toMatchObject([{ name: "write", args: CALL }]);
    const all = await gathered(await model.stream(QUESTION));
    expect(all?.tool_calls).toMatchObject([{ name: "write", args: CALL }]);
    expect(on.outcomes()).toEqual(["healed", "healed"]);
  });

  it("parses a cut value, by schema and by call", async () => {
    await using on = await stage((call) =>
      call.body.tools === undefined ? JSON.stringify(REPORT) : { tools: [{ name: "report", args: REPORT }] },
    );
    for (const method of ["jsonSchema", "functionCalling"] as const) {
      const parsed = await modelOf(on).withStructuredOutput(Report, { name: "report", method }).invoke(QUESTION);
      expect(parsed).toEqual(REPORT);
    }
    expect(on.outcomes()).toEqual(["healed", "healed"]);
  });

  it("aborts, and the server stops", async () => {
    await using on = await stage(TEXT);
    on.up.next(say("The lamp"), stall());
    const aborting = new AbortController();
    const heard = async () => {
      for await (const _ of await modelOf(on).stream(QUESTION, { signal: aborting.signal })) aborting.abort();
    };
    await expect(heard()).rejects.toThrow(/abort/i);
    expect(await (await on.up.call()).ended).toBe("aborted");
    expect(await on.proxy.finished()).toMatchObject({ outcome: "canceled" });
  });

  it("is told an overflow by its type, once", async () => {
    await using on = await stage(TEXT);
    const error = await modelOf(on)
      .invoke("word ".repeat(20_000))
      .then(
        () => null,
        (caught: unknown) => caught,
      );
    // The library's own type, which it makes by our words.
    expect(error).toBeInstanceOf(ContextOverflowError);
    expect((error as ContextOverflowError).cause).toMatchObject({ status: 400, code: "context_length_exceeded" });
    expect(on.outcomes()).toEqual(["rejected"]);
  });

  it("is told a failure in the stream", async () => {
    await using on = await stage(TEXT);
    on.up.handle(() => [say("The lamp stands on the "), reset()]);
    const headers = { "x-lastword-heal": "off" };
    const model = modelOf(on, { maxRetries: 0, configuration: { baseURL: on.proxy.url, defaultHeaders: headers } });
    const heard = async () => {
      for await (const _ of await model.stream(QUESTION));
    };
    await expect(heard()).rejects.toThrow(/closed the connection before its reply was whole/);
  });
});
