import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { reset, say, stall } from "../../support/upstream.ts";
import { CALL, CAP, QUESTION, REPORT, Report, type Stage, stage, TEXT } from "./stage.ts";

const modelOf = ({ proxy }: Stage, headers: Record<string, string> = {}) =>
  createOpenAICompatible({
    name: "lastword",
    baseURL: proxy.url,
    headers,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })("m");
const silent = { onError: () => undefined };

describe("ai with @ai-sdk/openai-compatible", () => {
  it("streams a cut reply whole, and its thought before it", async () => {
    await using on = await stage({ reasoning: "They mean the brass lamp.", text: TEXT });
    const result = streamText({ model: modelOf(on), prompt: QUESTION, maxOutputTokens: CAP });
    let heard = "";
    for await (const piece of result.textStream) heard += piece;
    expect(heard).toBe(TEXT);
    expect(await result.reasoningText).toBe("They mean the brass lamp.");
    expect(await result.finishReason).toBe("stop");
    expect((await result.usage).outputTokens).toBeGreaterThan(CAP);
    expect(on.outcomes()).toEqual(["healed"]);
  });

  it("runs a tool whose call was cut, streamed and plain", async () => {
    await using on = await stage((call) =>
      JSON.stringify(call.body.messages).includes("tool_call_id")
        ? "It is noted."
        : { tools: [{ name: "write", args: CALL }] },
    );
    const written: unknown[] = [];
    const write = tool({
      inputSchema: z.object({ path: z.string(), content: z.string() }),
      execute: (args) => {
        written.push(args);
        return "done";
      },
    });
    const settings = {
      model: modelOf(on),
      prompt: QUESTION,
      maxOutputTokens: CAP,
      tools: { write },
      stopWhen: stepCountIs(3),
    };
    expect(await streamText(settings).text).toBe("It is noted.");
    expect((await generateText(settings)).text).toBe("It is noted.");
    expect(written).toEqual([CALL, CALL]);
    expect(on.outcomes()).toEqual(["healed", "complete", "healed", "complete"]);
  });

  it("parses a cut value, streamed and plain", async () => {
    await using on = await stage(JSON.stringify(REPORT));
    const settings = {
      model: modelOf(on),
      prompt: QUESTION,
      maxOutputTokens: CAP,
      output: Output.object({ schema: Report }),
    };
    expect((await generateText(settings)).output).toEqual(REPORT);
    expect(await streamText(settings).output).toEqual(REPORT);
    expect(on.outcomes()).toEqual(["healed", "healed"]);
  });

  it("aborts, and the server stops", async () => {
    await using on = await stage(TEXT);
    on.up.next(say("The lamp"), stall());
    const aborting = new AbortController();
    const result = streamText({ model: modelOf(on), prompt: QUESTION, abortSignal: aborting.signal, ...silent });
    for await (const piece of result.fullStream) if (piece.type === "text-delta") aborting.abort();
    expect(await (await on.up.call()).ended).toBe("aborted");
    expect(await on.proxy.finished()).toMatchObject({ outcome: "canceled" });
  });

  it("is told an overflow by its type, and does not repeat it", async () => {
    await using on = await stage(TEXT);
    const failed = generateText({ model: modelOf(on), prompt: "word ".repeat(20_000) });
    const error = await failed.then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(APICallError.isInstance(error) && error).toMatchObject({
      statusCode: 400,
      isRetryable: false,
      data: { error: { code: "context_length_exceeded", type: "invalid_request_error" } },
    });
    expect(on.outcomes()).toEqual(["rejected"]);
  });

  it("is told a failure in the stream", async () => {
    await using on = await stage(TEXT);
    on.up.handle(() => [say("The lamp stands on the "), reset()]);
    const result = streamText({ model: modelOf(on, { "x-lastword-heal": "off" }), prompt: QUESTION, ...silent });
    const errors: unknown[] = [];
    let heard = "";
    for await (const piece of result.fullStream) {
      if (piece.type === "text-delta") heard += piece.text;
      if (piece.type === "error") errors.push(piece.error);
    }
    expect(heard).toBe("The lamp stands on the ");
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(errors[0])).toContain("closed the connection before its reply was whole");
  });
});
