import OpenAI, { APIConnectionError, APIError, APIUserAbortError, BadRequestError } from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { eof, event, reset, say, stall, status } from "../../support/upstream.ts";
import { CALL, CAP, QUESTION, REPORT, Report, type Stage, stage, TEXT } from "./stage.ts";

const messages = [{ role: "user" as const, content: QUESTION }];
const clientOf = ({ proxy }: Stage) => new OpenAI({ baseURL: proxy.url, apiKey: "none", maxRetries: 2 });

describe("openai, chat", () => {
  it("streams a cut reply whole, with one usage", async () => {
    await using on = await stage(TEXT);
    const stream = clientOf(on).chat.completions.stream({
      model: "m",
      messages,
      max_tokens: CAP,
      stream_options: { include_usage: true },
    });
    let heard = "";
    stream.on("content", (piece) => {
      heard += piece;
    });
    expect(await stream.finalContent()).toBe(TEXT);
    expect(heard).toBe(TEXT);
    const { usage } = await stream.finalChatCompletion();
    expect(usage?.completion_tokens).toBeGreaterThan(CAP);
    expect(on.outcomes()).toEqual(["healed"]);
  });

  it("runs a tool whose call was cut", async () => {
    await using on = await stage((call) =>
      JSON.stringify(call.body.messages).includes("tool_call_id")
        ? "It is noted."
        : { tools: [{ name: "write", args: CALL }] },
    );
    const written: unknown[] = [];
    const runner = clientOf(on).chat.completions.runTools({
      model: "m",
      messages,
      max_tokens: CAP,
      stream: true,
      tools: [
        {
          type: "function",
          function: {
            name: "write",
            description: "Writes a file.",
            parameters: { type: "object" },
            parse: JSON.parse,
            function: (args: object) => {
              written.push(args);
              return "done";
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe("It is noted.");
    expect(written).toEqual([CALL]);
    expect(on.outcomes()).toEqual(["healed", "complete"]);
  });

  it("parses a cut value, streamed and plain", async () => {
    await using on = await stage(JSON.stringify(REPORT));
    const body = { model: "m", messages, max_tokens: CAP, response_format: zodResponseFormat(Report, "report") };
    const plain = await clientOf(on).chat.completions.parse(body);
    expect(plain.choices[0]?.message.parsed).toEqual(REPORT);
    const streamed = await clientOf(on).chat.completions.stream(body).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual(REPORT);
    expect(on.outcomes()).toEqual(["healed", "healed"]);
  });

  it("aborts, and the server stops", async () => {
    await using on = await stage(TEXT);
    on.up.next(say("The lamp"), stall());
    const stream = clientOf(on).chat.completions.stream({ model: "m", messages });
    stream.once("content", () => stream.abort());
    await expect(stream.finalContent()).rejects.toBeInstanceOf(APIUserAbortError);
    expect(await (await on.up.call()).ended).toBe("aborted");
    expect(await on.proxy.finished()).toMatchObject({ outcome: "canceled" });
  });

  it("is told an overflow by its type, once", async () => {
    await using on = await stage(TEXT);
    const failed = clientOf(on).chat.completions.create({
      model: "m",
      messages: [{ role: "user", content: "word ".repeat(20_000) }],
    });
    const error = await failed.then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ status: 400, code: "context_length_exceeded", type: "invalid_request_error" });
    expect(on.outcomes()).toEqual(["rejected"]);
    expect(on.up.calls).toHaveLength(0);
  });

  it("is told a failure in the stream by its type", async () => {
    await using on = await stage(TEXT, { idleSeconds: 1 });
    on.up.handle((_call, n) => (n === 1 ? [say("The lamp stands on the "), reset()] : [reset()]));
    const client = clientOf(on);
    const stream = client.chat.completions.stream({ model: "m", messages }, { headers: { "x-lastword-heal": "off" } });
    const error = await stream.finalContent().then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(APIError);
    expect(error).not.toBeInstanceOf(APIConnectionError);
    expect(error).toMatchObject({ code: "upstream_error", type: "upstream_error" });
  });

  it("is told an upstream's own refusal by its type", async () => {
    await using on = await stage(TEXT);
    on.up.handle(() => [
      status(401, { error: { message: "no", type: "invalid_request_error", code: "invalid_api_key" } }),
    ]);
    await expect(clientOf(on).chat.completions.create({ model: "m", messages })).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
  });
});

describe("openai, completions", () => {
  it("streams a cut completion whole", async () => {
    await using on = await stage(TEXT);
    const stream = await clientOf(on).completions.create(
      { model: "m", prompt: QUESTION, max_tokens: CAP, stream: true },
      { headers: { "x-lastword-caps": "advisory" } },
    );
    let heard = "";
    for await (const chunk of stream) heard += chunk.choices[0]?.text ?? "";
    expect(heard).toBe(TEXT);
    expect(on.outcomes()).toEqual(["healed"]);
  });
});

describe("openai, responses", () => {
  it("streams a cut response whole", async () => {
    await using on = await stage(TEXT);
    const stream = clientOf(on).responses.stream({ model: "m", input: QUESTION, max_output_tokens: CAP });
    let heard = "";
    stream.on("response.output_text.delta", (piece) => {
      heard += piece.delta;
    });
    const response = await stream.finalResponse();
    expect([heard, response.output_text, response.status]).toEqual([TEXT, TEXT, "completed"]);
    expect(response.incomplete_details).toBeNull();
    expect(on.outcomes()).toEqual(["healed"]);
  });

  it("gets a cut call whole, and parses a cut value", async () => {
    await using on = await stage((call) =>
      call.body.tools === undefined ? JSON.stringify(REPORT) : { tools: [{ name: "write", args: CALL }] },
    );
    const client = clientOf(on);
    const called = await client.responses
      .stream({
        model: "m",
        input: QUESTION,
        max_output_tokens: CAP,
        tools: [{ type: "function", name: "write", strict: false, parameters: { type: "object" } }],
      })
      .finalResponse();
    expect(called.output).toMatchObject([{ type: "function_call", name: "write", arguments: JSON.stringify(CALL) }]);
    const format = { format: zodTextFormat(Report, "report") };
    const body = { model: "m", input: QUESTION, max_output_tokens: CAP, text: format };
    expect((await client.responses.parse(body)).output_parsed).toEqual(REPORT);
    expect((await client.responses.stream(body).finalResponse()).output_parsed).toEqual(REPORT);
    expect(on.outcomes()).toEqual(["healed", "healed", "healed"]);
  });

  it("is told a failed response by its type", async () => {
    await using on = await stage(TEXT);
    const failed = {
      id: "resp_1",
      object: "response",
      status: "failed",
      output: [],
      error: { code: "server_error", message: "no" },
    };
    on.up.handle(() => [
      event({ type: "response.failed", sequence_number: 0, response: failed }, "response.failed"),
      eof(),
    ]);
    const error = await clientOf(on)
      .responses.stream({ model: "m", input: QUESTION }, { maxRetries: 0 })
      .finalResponse()
      .then(
        () => null,
        (caught: unknown) => caught,
      );
    expect(error).toBeInstanceOf(APIError);
    expect(z.object({ status: z.number() }).parse(error).status).toBeGreaterThanOrEqual(500);
  });
});
