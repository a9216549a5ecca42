import type { ServerResponse } from "node:http";
import type { WireName } from "../../src/core/ask.ts";
import { asNumber, asObject, type JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { sse } from "./sse.ts";
import { chatWriter, joinTools } from "./upstream-chat.ts";
import { completionsWriter } from "./upstream-completions.ts";
import { messagesWriter } from "./upstream-messages.ts";
import { type Outlet, outlet } from "./upstream-outlet.ts";
import { responsesWriter } from "./upstream-responses.ts";
import type { Act, Script, Transport } from "./upstream-script.ts";
import type { Scene, Writer } from "./upstream-writer.ts";

/** Where a script is played. */
export interface Stage {
  readonly dialect: DialectName;
  readonly wire: WireName | null;
  readonly n: number;
  readonly body: JsonObject;
  readonly model: string;
  readonly res: ServerResponse;
  /** Aborted once the response is over, in whatever way. */
  readonly gone: AbortSignal;
  reset(how: "reset" | "close"): void;
  pause(gate: string): Promise<void>;
}

const WRITERS: Record<WireName, (scene: Scene) => Writer> = {
  chat: chatWriter,
  completions: completionsWriter,
  responses: responsesWriter,
  messages: messagesWriter,
};

/** Plays a script to its end, or to the client's. */
export async function perform(given: Script, stage: Stage): Promise<void> {
  const script = joinTools(given, stage.dialect);
  const transport: Transport = Object.assign({}, ...script.map((act) => (act.act === "over" ? act.transport : {})));
  const scene: Scene = {
    dialect: stage.dialect,
    wire: stage.wire ?? "chat",
    model: stage.model,
    n: stage.n,
    includeUsage: asObject(stage.body.stream_options)?.include_usage === true,
    script,
  };
  const writer = WRITERS[scene.wire](scene);
  const out = outlet(stage.res, transport, ownHeaders(stage), (ms) => sleep(ms, stage.gone));
  const streams =
    transport.mode === undefined ? stage.body.stream === true || stage.wire === null : transport.mode === "stream";
  if (streams) await playStream(script, stage, writer, out);
  else await playPlain(script, stage, writer, out);
}

const STREAM = "text/event-stream; charset=utf-8";
const PLAIN = "application/json; charset=utf-8";

async function playStream(script: Script, stage: Stage, writer: Writer, out: Outlet): Promise<void> {
  for (const act of script) {
    if (stage.gone.aborted) return;
    switch (act.act) {
      case "over":
        break;
      case "headers":
        out.head(STREAM);
        break;
      case "status":
        return answer(act, stage);
      case "event":
        out.head(STREAM);
        await out.event(sse(act.data, act.name));
        break;
      case "fault":
        out.head(STREAM);
        await out.event(sse(act.json, act.name));
        break;
      case "raw":
        out.head(STREAM);
        await out.bytes(act.bytes);
        break;
      case "wait":
      case "pause":
      case "stall":
      case "reset":
        await out.flush();
        if (await control(act, stage)) return;
        break;
      case "eof":
        out.head(STREAM);
        return out.end();
      default:
        for (const event of writer.write(act)) {
          out.head(STREAM);
          await out.event(event);
        }
    }
  }
  out.head(STREAM);
  await out.end();
}

/** The waits come before the body, a reset in the middle of it; the rest is one body. */
async function playPlain(script: Script, stage: Stage, writer: Writer, out: Outlet): Promise<void> {
  let said = false;
  for (const act of script) {
    if (stage.gone.aborted) return;
    switch (act.act) {
      case "status":
        return answer(act, stage);
      case "fault":
        return answer({ act: "status", status: faultStatus(act), body: act.json, headers: {} }, stage);
      case "headers":
        out.head(PLAIN);
        break;
      case "raw":
        out.head(PLAIN);
        await out.bytes(act.bytes);
        break;
      case "reset":
        if (said) {
          out.head(PLAIN);
          const bytes = Buffer.from(JSON.stringify(writer.plain()));
          await out.bytes(bytes.subarray(0, bytes.length / 2));
          await settled();
        }
        stage.reset(act.how);
        return;
      case "wait":
      case "pause":
      case "stall":
        if (await control(act, stage)) return;
        break;
      case "say":
      case "think":
      case "tool":
        said = true;
        break;
      case "eof":
      case "over":
      case "event":
      case "role":
      case "finish":
      case "usage":
      case "done":
        break;
      default:
        act satisfies never;
    }
  }
  out.head(PLAIN);
  await out.bytes(Buffer.from(JSON.stringify(writer.plain())));
  await out.end();
}

/** @returns true where the script is over */
async function control(
  act: Extract<Act, { act: "wait" | "pause" | "stall" | "reset" }>,
  stage: Stage,
): Promise<boolean> {
  switch (act.act) {
    case "wait":
      await sleep(act.ms, stage.gone);
      return false;
    case "pause":
      await stage.pause(act.gate);
      return false;
    case "stall":
      await new Promise<void>((resolve) => stage.gone.addEventListener("abort", () => resolve()));
      return true;
    case "reset":
      await settled();
      stage.reset(act.how);
      return true;
    default:
      return act satisfies never;
  }
}

/** Lets what was written reach the client before the socket is destroyed. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function answer(act: Extract<Act, { act: "status" }>, stage: Stage): void {
  const text = typeof act.body === "string" ? act.body : JSON.stringify(act.body);
  const type = typeof act.body === "string" ? "text/plain; charset=utf-8" : PLAIN;
  stage.res.writeHead(act.status, { "content-type": type, ...ownHeaders(stage), ...act.headers });
  stage.res.end(text);
}

function faultStatus(act: Extract<Act, { act: "fault" }>): number {
  const code = asNumber(asObject(act.json.error)?.code);
  if (code !== undefined && code >= 400 && code < 600) return code;
  return act.name === "error" ? 400 : 500;
}

function ownHeaders(stage: Stage): Record<string, string> {
  switch (stage.dialect) {
    case "lmstudio":
      return { "x-powered-by": "Express" };
    case "llamacpp":
      return { server: "llama.cpp" };
    case "openrouter":
      return { "x-generation-id": `gen-${stage.n}` };
    case "openai":
      return { "x-request-id": `req_${stage.n}`, "openai-processing-ms": "12" };
    case "vllm":
      return { server: "uvicorn" };
    case "ollama":
    case "generic":
      return {};
    default:
      return stage.dialect satisfies never;
  }
}

function sleep(ms: number, gone: AbortSignal): Promise<void> {
  if (gone.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      gone.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    gone.addEventListener("abort", over);
  });
}
