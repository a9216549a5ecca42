import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { micros } from "../clock.ts";

/**
 * A server that misbehaves on demand: the model's name says how. It runs in a process of its own and tells by messages when its
 * connections were closed under it, and how many bytes it got rid of.
 */
const CHUNK = (content: string) => data({ delta: { content } });
const data = (choice: object) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`;
const finish = (reason: string, completion: number) =>
  `${data({ delta: {}, finish_reason: reason })}data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: { prompt_tokens: 10, completion_tokens: completion, total_tokens: 10 + completion } })}\n\ndata: [DONE]\n\n`;
const END = finish("stop", 2);
const MODELS = JSON.stringify({
  object: "list",
  data: [
    { id: "m", object: "model", owned_by: "vllm", max_model_len: 2_000_000 },
    { id: "counted", object: "model", owned_by: "vllm", max_model_len: 100_000 },
  ],
});
const PLAIN = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
});

type Script = (response: ServerResponse, request: Asked) => void | Promise<void>;

interface Asked {
  readonly model: string;
  readonly stream: boolean;
  /** What the client calls this request, in the last user message. */
  readonly id: string;
  /** It is gone on with. */
  readonly again: boolean;
}

let flooded = 0;

const SCRIPTS: Record<string, Script> = {
  whole: (response, { stream }) =>
    (stream ? response.end(CHUNK("hel") + CHUNK("lo") + END) : response.end(PLAIN)) as never,
  silent: () => undefined,
  talking: (response) => void response.write(CHUNK("hel")),
  busy: (response) => {
    response.writeHead(503, { "content-type": "application/json" }).end('{"error":{"message":"busy"}}');
  },
  cut: (response, { again }) => {
    if (!again) response.end(CHUNK("one two three ") + finish("length", 4));
    else response.write(CHUNK(""));
  },
  flood: async (response) => {
    const chunk = CHUNK("x".repeat(60_000));
    while (!response.destroyed && flooded < 512 * 1024 * 1024) {
      flooded += chunk.length;
      if (!response.write(chunk))
        await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
    }
    response.end(END);
  },
  "giant-event": (response) => void response.end(CHUNK("x".repeat(31 * 1024 * 1024)) + END),
  "giant-event-escapes": (response) => void response.end(CHUNK('"\n'.repeat(4 * 1024 * 1024)) + END),
  "giant-plain": (response) => void response.end(PLAIN.replace("hello", "x".repeat(60 * 1024 * 1024))),
  bytes: async (response) => {
    const all = CHUNK("x".repeat(200)).repeat(4_000) + END;
    for (let at = 0; at < all.length && !response.destroyed; at += 4_096) {
      for (const byte of all.slice(at, at + 4_096)) response.write(byte);
      await new Promise(setImmediate);
    }
    response.end();
  },
  "many-lines": (response) => void response.end(`${"data: x\n".repeat(3_000_000)}\n${END}`),
  "many-events": (response) => void response.end(CHUNK("x").repeat(150_000) + END),
  "many-tools": (response) => {
    let all = "";
    for (let i = 0; i < 20_000; i++)
      all += data({ delta: { tool_calls: [{ index: i, id: `t${i}`, function: { name: "f", arguments: "{}" } }] } });
    response.end(all + finish("tool_calls", 9));
  },
  "long-call": (response) => {
    let all = data({ delta: { tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: "" } }] } });
    for (let i = 0; i < 60_000; i++)
      all += data({
        delta: {
          tool_calls: [{ index: 0, function: { arguments: i === 0 ? '{"a":"' : "xxxxxxxxxxxxxxxxxxxxxxxxxxxx" } }],
        },
      });
    response.end(all + finish("length", 60_000));
  },
  deep: (response) =>
    void response.end(CHUNK("hello").replace('"m"', `"m","deep":${"[".repeat(100_000)}${"]".repeat(100_000)}`) + END),
  think: (response) =>
    void response.end(CHUNK("<think>".repeat(20_000)) + CHUNK("</think".repeat(20_000)) + finish("length", 10)),
  loop: (response) => void response.end(CHUNK("ab".repeat(400_000)) + finish("length", 10)),
  garbage: (response) => void response.end(`${"data: {\n\n".repeat(400_000)}${END}`),
};

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const bytes: Buffer[] = [];
  for await (const chunk of request) bytes.push(chunk as Buffer);
  if (request.method === "GET") {
    response.writeHead(request.url === "/v1/models" ? 200 : 404, { "content-type": "application/json" }).end(MODELS);
    return;
  }
  const text = Buffer.concat(bytes).toString();
  if (request.url === "/tokenize") {
    // A count that never comes.
    tellEnd(response, /id-(\w+)/.exec(text)?.[1] ?? "");
    return;
  }
  const asked = askedIn(text);
  tellEnd(response, asked.id);
  const script = SCRIPTS[asked.model];
  response.setHeader("content-type", asked.stream ? "text/event-stream" : "application/json");
  if (script !== undefined) await script(response, asked);
  else if (asked.model.startsWith("paced")) pace(response, asked);
  else await SCRIPTS.whole?.(response, asked);
}

/** By hand: bodies of megabytes are none of this process's business. */
function askedIn(text: string): Asked {
  const model =
    /"model": ?"([\w-]+)"/.exec(text.slice(0, 200))?.[1] ?? /"model": ?"([\w-]+)"/.exec(text.slice(-200))?.[1] ?? "";
  return {
    model,
    stream: text.slice(0, 200).includes('"stream":true'),
    id: /id-(\w+)/.exec(text.slice(0, 400))?.[1] ?? "",
    again: text.length < 10_000 && text.includes('"assistant"'),
  };
}

/** `paced-COUNT-MS`: so many chunks, one every so many milliseconds, each with the client's name and the time at which it left. */
function pace(response: ServerResponse, { model, id }: Asked): void {
  const [, count = "100", everyMs = "10"] = model.split("-");
  let n = 0;
  const timer = setInterval(() => {
    if (response.destroyed) return void clearInterval(timer);
    response.write(CHUNK(`${id}:${n++}:${Math.round(micros())};`));
    if (n < Number(count)) return;
    clearInterval(timer);
    response.end(END);
  }, Number(everyMs));
}

const closedAt = new Map<string, number>();
const open = new Set<Socket>();

/** Remembers when an answer's connection was closed under it. */
function tellEnd(response: ServerResponse, id: string): void {
  response.on("close", () => {
    if (!response.writableFinished) closedAt.set(id, micros());
  });
}

const server = createServer((request, response) => void answer(request, response).catch(() => undefined));
server.on("connection", (socket: Socket) => {
  open.add(socket);
  socket.setNoDelay(true);
  socket.on("error", () => undefined);
  socket.on("close", () => open.delete(socket));
});
server.keepAliveTimeout = 60_000;
process.on("message", (what) => {
  if (what === "closed") process.send?.({ closed: [...closedAt], open: open.size });
  else if (what === "flooded") process.send?.({ flooded });
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", 4096, () => process.send?.({ port: (server.address() as { port: number }).port }));
