import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, type JsonObject, parseJson } from "../core/json.ts";
import { type ModelTraits, type Recitation, recite } from "./model.ts";

/** The name under which the demo's model is asked for. */
export const DEMO_MODEL = "demo";

export interface DemoUpstreamOptions extends ModelTraits {
  /** Pause before each token, in milliseconds. */
  readonly tokenMs: number;
}

export interface DemoUpstream {
  /** Base with the version segment. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A small chat server on a free loopback port. One that resumes looks like llama-server, and tells its window as that does; one
 * that does not is a plain OpenAI-compatible server whose list names the window.
 */
export async function startDemoUpstream(options: DemoUpstreamOptions): Promise<DemoUpstream> {
  const server = createServer((request, response) => {
    // A client that leaves is no one to tell.
    answer(request, response, options).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, options: DemoUpstreamOptions): Promise<void> {
  const path = (request.url ?? "").replace(/\?.*$/, "");
  const route = `${request.method} ${path}`;
  if (route === "GET /v1/models") return sendJson(response, 200, modelList(options));
  if (route === "GET /props" && options.resumes) return sendJson(response, 200, props(options));
  if (route !== "POST /v1/chat/completions") return sendError(response, 404, "File Not Found", "not_found_error");

  const body = await bodyOf(request);
  if (!isObject(body)) return sendError(response, 400, "The body is not a JSON object", "invalid_request_error");
  const recitation = recite(body, options);
  if (recitation.promptTokens >= options.window) {
    const facts = { n_prompt_tokens: recitation.promptTokens, n_ctx: options.window };
    const message = "the request exceeds the available context size, try increasing it";
    return sendError(response, 400, message, "exceed_context_size_error", facts);
  }
  return body.stream === true
    ? sendStream(response, body, recitation, options)
    : sendPlain(response, recitation, options);
}

function modelList({ window, resumes }: ModelTraits): JsonObject {
  const told = resumes
    ? { owned_by: "llamacpp", meta: { n_ctx: window, n_ctx_train: window } }
    : { context_length: window };
  return { object: "list", data: [{ id: DEMO_MODEL, object: "model", created: 0, ...told }] };
}

function props({ window }: ModelTraits): JsonObject {
  return {
    default_generation_settings: { id: 0, n_ctx: window, is_processing: false, params: { n_predict: -1 } },
    total_slots: 1,
    model_alias: DEMO_MODEL,
    model_path: `${DEMO_MODEL}.gguf`,
    chat_template: "{{ messages }}",
    modalities: { vision: false, audio: false },
    build_info: "demo",
  };
}

async function sendStream(
  response: ServerResponse,
  body: JsonObject,
  { tokens, finish, promptTokens }: Recitation,
  { tokenMs }: DemoUpstreamOptions,
): Promise<void> {
  const same = envelope("chat.completion.chunk");
  const send = (event: JsonObject) => response.write(`data: ${JSON.stringify({ ...same, ...event })}\n\n`);
  const delta = (what: JsonObject, reason: string | null = null) =>
    send({ choices: [{ index: 0, delta: what, finish_reason: reason }] });

  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  delta({ role: "assistant", content: null });
  for (const token of tokens) {
    await sleep(tokenMs);
    if (response.destroyed) return;
    delta({ content: token });
  }
  delta({}, finish);
  if (isObject(body.stream_options) && body.stream_options.include_usage === true) {
    send({ choices: [], usage: usage(promptTokens, tokens.length) });
  }
  response.end("data: [DONE]\n\n");
}

async function sendPlain(
  response: ServerResponse,
  { tokens, finish, promptTokens }: Recitation,
  { tokenMs }: DemoUpstreamOptions,
): Promise<void> {
  await sleep(tokenMs * tokens.length);
  const message = { role: "assistant", content: tokens.join("") };
  sendJson(response, 200, {
    ...envelope("chat.completion"),
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: usage(promptTokens, tokens.length),
  });
}

/** The fields that every object of one reply has in common. */
function envelope(object: string): JsonObject {
  return { id: `chatcmpl-${randomUUID()}`, object, created: Math.floor(Date.now() / 1000), model: DEMO_MODEL };
}

function usage(prompt: number, completion: number): JsonObject {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return parseJson(Buffer.concat(chunks).toString("utf8"));
}

function sendJson(response: ServerResponse, status: number, json: JsonObject): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(json));
}

function sendError(
  response: ServerResponse,
  status: number,
  message: string,
  type: string,
  facts: JsonObject = {},
): void {
  sendJson(response, status, { error: { code: status, message, type, ...facts } });
}
