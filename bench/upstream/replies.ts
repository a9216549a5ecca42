import { micros } from "../clock.ts";
import { type ModelName, SCENARIOS, stampText } from "../scenarios.ts";

/** Bytes of whole HTTP answers and of single events, in the shape that vLLM gives them. */

function answer(status: string, body: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

export const MODEL_LIST = answer(
  "200 OK",
  JSON.stringify({
    object: "list",
    data: Object.entries(SCENARIOS).map(([id, { window }]) => ({
      id,
      object: "model",
      created: 1_750_000_000,
      owned_by: "vllm",
      root: id,
      parent: null,
      max_model_len: window,
      permission: [],
    })),
  }),
);
export const VERSION = answer("200 OK", JSON.stringify({ version: "0.11.0" }));
export const NOT_FOUND = answer("404 Not Found", JSON.stringify({ detail: "Not Found" }));

/** Bytes of English per token, about; for usage. */
const BYTES_PER_TOKEN = 4.64;

function usage(promptBytes: number, completion: number) {
  const prompt = Math.max(1, Math.round(promptBytes / BYTES_PER_TOKEN));
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

export function plainReply(model: ModelName, promptBytes: number): Buffer {
  const message = { role: "assistant", content: "Paris is the capital of France.", tool_calls: [] };
  const choice = { index: 0, message, logprobs: null, finish_reason: "stop", stop_reason: null };
  return answer(
    "200 OK",
    JSON.stringify({ ...envelope(model, "chat.completion"), choices: [choice], usage: usage(promptBytes, 7) }),
  );
}

export const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
const STREAM_END = "0\r\n\r\n";

/** One SSE event in a chunk of its own, as uvicorn writes it. */
function event(data: string): string {
  return `${(data.length + 8).toString(16)}\r\ndata: ${data}\n\n\r\n`;
}

function envelope(model: ModelName, object: string) {
  return { id: "chatcmpl-0f3c1d7c5b1e4a9d", object, created: 1_750_000_000, model };
}

function delta(model: ModelName, what: object, reason: string | null): string {
  const choice = { index: 0, delta: what, logprobs: null, finish_reason: reason };
  return event(JSON.stringify({ ...envelope(model, "chat.completion.chunk"), choices: [choice] }));
}

export function roleEvent(model: ModelName): string {
  return delta(model, { role: "assistant", content: "" }, null);
}

/** The event around a stamp, made once for each model: all stamps are equally long. */
const FRAMES = new Map<ModelName, readonly [string, string]>();

/** An event with one token that is written just now. */
export function stampEvent(model: ModelName, index: number): string {
  const stamp = stampText(index, micros());
  let frame = FRAMES.get(model);
  if (frame === undefined) {
    const place = "#".repeat(stamp.length);
    const [before = "", after = ""] = textEvent(model, place).split(place);
    frame = [before, after];
    FRAMES.set(model, frame);
  }
  return frame[0] + stamp + frame[1];
}

export function textEvent(model: ModelName, text: string): string {
  return delta(model, { content: text }, null);
}

/** The end of a stream, from the finish on. */
export function closing(
  model: ModelName,
  reason: string,
  spent: { prompt: number; completion: number } | null,
): string {
  const told =
    spent === null
      ? ""
      : event(
          JSON.stringify({
            ...envelope(model, "chat.completion.chunk"),
            choices: [],
            usage: usage(spent.prompt, spent.completion),
          }),
        );
  return delta(model, {}, reason) + told + event("[DONE]") + STREAM_END;
}
