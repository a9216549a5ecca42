import Anthropic, { APIConnectionError, APIError, APIUserAbortError, BadRequestError } from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { describe, expect, it } from "vitest";
import { event, finish, reset, say, stall, think, usage } from "../../support/upstream.ts";
import { CALL, CAP, QUESTION, REPORT, Report, type Stage, stage, TEXT } from "./stage.ts";

const messages = [{ role: "user" as const, content: QUESTION }];
const ask = { model: "m", messages, max_tokens: CAP };
const clientOf = ({ proxy }: Stage) => new Anthropic({ baseURL: proxy.root, apiKey: "none", maxRetries: 2 });

describe("@anthropic-ai/sdk", () => {
  it("streams a cut message whole, and its thought before it", async () => {
    await using on = await stage({ reasoning: "They mean the brass lamp.", text: TEXT });
    const stream = clientOf(on).messages.stream({ ...ask, thinking: { type: "enabled", budget_tokens: 40 } });
    let heard = "";
    stream.on("text", (piece) => {
      heard += piece;
    });
    const message = await stream.finalMessage();
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: "They mean the brass lamp." },
      { type: "text", text: TEXT },
    ]);
    expect(heard).toBe(TEXT);
    expect(message.stop_reason).toBe("end_turn");
    expect(message.usage.output_tokens).toBeGreaterThan(CAP);
    expect(on.outcomes()).toEqual(["healed"]);
  });

  it("runs a tool whose call was cut, streamed and plain", async () => {
    await using on = await stage((call) =>
      JSON.stringify(call.body.messages).includes("tool_result")
        ? "It is noted."
        : { tools: [{ name: "write", args: CALL }] },
    );
    for (const stream of [true, false]) {
      const written: unknown[] = [];
      const runner = clientOf(on).beta.messages.toolRunner({
        ...ask,
        stream,
        tools: [
          {
            name: "write",
            input_schema: { type: "object" },
            parse: (input: unknown) => input,
            run: (input: unknown) => {
              written.push(input);
              return "done";
            },
          },
        ],
      });
      const message = await runner.runUntilDone();
      expect(message.content).toMatchObject([{ type: "text", text: "It is noted." }]);
      expect(written).toEqual([CALL]);
    }
    expect(on.outcomes()).toEqual(["healed", "complete", "healed", "complete"]);
  });

  it("parses a cut value, streamed and plain", async () => {
    await using on = await stage(JSON.stringify(REPORT));
    const body = { ...ask, output_config: { format: zodOutputFormat(Report) } };
    expect((await clientOf(on).messages.parse(body)).parsed_output).toEqual(REPORT);
    expect((await clientOf(on).messages.stream(body).finalMessage()).parsed_output).toEqual(REPORT);
    expect(on.outcomes()).toEqual(["healed", "healed"]);
  });

  it("aborts, and the server stops", async () => {
    await using on = await stage(TEXT);
    on.up.next(say("The lamp"), stall());
    const stream = clientOf(on).messages.stream(ask);
    stream.once("text", () => stream.abort());
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(APIUserAbortError);
    expect(await (await on.up.call()).ended).toBe("aborted");
    expect(await on.proxy.finished()).toMatchObject({ outcome: "canceled" });
  });

  it("is told an overflow by its type, in words that clients look for", async () => {
    await using on = await stage(TEXT);
    const long = [{ role: "user" as const, content: "word ".repeat(20_000) }];
    const error = await clientOf(on)
      .messages.create({ ...ask, messages: long })
      .then(
        () => null,
        (caught: unknown) => caught,
      );
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({
      status: 400,
      error: { type: "error", error: { type: "invalid_request_error", code: "context_length_exceeded" } },
    });
    expect(String(error)).toContain("prompt is too long: ");
    expect(on.up.calls).toHaveLength(0);
  });

  it("is told a failure in the stream by its type", async () => {
    await using on = await stage(TEXT);
    on.up.handle(() => [say("The lamp stands on the "), reset()]);
    const stream = clientOf(on).messages.stream(ask, { headers: { "x-lastword-heal": "off" } });
    const error = await stream.finalMessage().then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(APIError);
    expect(error).not.toBeInstanceOf(APIConnectionError);
    expect(error).toMatchObject({ error: { error: { type: "upstream_error", code: "upstream_error" } } });
  });

  it("B101: hears every other reason to stop as it was said, and nothing is asked again", async () => {
    await using on = await stage(TEXT);
    for (const reason of ["model_context_window_exceeded", "pause_turn", "refusal", "stop_sequence", "future_reason"]) {
      const before = on.up.calls.length;
      on.up.next(
        think("Hm."),
        say("The lamp"),
        finish(reason),
        usage(9, 5),
        event({ type: "message_stop" }, "message_stop"),
      );
      const message = await clientOf(on).messages.stream(ask).finalMessage();
      expect(message.stop_reason).toBe(reason);
      expect(message.content).toMatchObject([{ thinking: "Hm." }, { text: "The lamp" }]);
      expect(on.up.calls.length - before).toBe(1);
    }
    expect(on.outcomes()).toEqual(["cut_off", "complete", "complete", "complete", "complete"]);
  });
});
