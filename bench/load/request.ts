import type { Group, Job } from "./job.ts";
import { conversation, HOSTILE, LARGE_KB, large, type Message, NUMBER_WIDTH, SMALL } from "./prompts.ts";

/** Requests of one group, as bytes. */
export type NextRequest = () => Buffer;

/** Prompts that no contender has seen: their number differs from process to process, and from one to the next. */
let unseen = process.pid * 100_000;

export function requestsOf(job: Job, group: Group): NextRequest {
  const { prompt } = group;
  if (prompt === "small") return same(bytesOf(job, group, SMALL));
  if (prompt === "seen") return same(bytesOf(job, group, large(0)));
  if (prompt === "unseen") return renumbered(job, group, LARGE_KB);
  if ("kilobytes" in prompt) return renumbered(job, group, prompt.kilobytes);
  if ("turns" in prompt) return growing(job, group, prompt.turns);
  // With a head of its own, so that nothing is remembered of it.
  const hostile = HOSTILE[prompt.hostile]();
  return () => bytesOf(job, group, [{ role: "user", content: `${unseen++}:${hostile}` }]);
}

function same(bytes: Buffer): NextRequest {
  return () => bytes;
}

/** Writing 400 KB of JSON for each would keep the generator from listening: one is written, and its numbers are changed in a copy. */
function renumbered(job: Job, group: Group, kilobytes: number): NextRequest {
  const place = "9".repeat(NUMBER_WIDTH);
  const pattern = bytesOf(job, group, large(Number(place), kilobytes));
  const places: number[] = [];
  for (let at = pattern.indexOf(place); at >= 0; at = pattern.indexOf(place, at + 1)) places.push(at);
  return () => {
    const bytes = Buffer.from(pattern);
    const number = String(unseen++).padStart(NUMBER_WIDTH, "0");
    for (const at of places) bytes.write(number, at, "latin1");
    return bytes;
  };
}

function growing(job: Job, group: Group, turns: number): NextRequest {
  let turn = 0;
  return () => {
    turn = (turn % turns) + 1;
    if (turn === 1) unseen++;
    return bytesOf(job, group, conversation(unseen, turn));
  };
}

function bytesOf(job: Job, { model, stream, cap }: Group, messages: readonly Message[]): Buffer {
  const body = Buffer.from(JSON.stringify({ model, stream, ...(cap === null ? {} : { max_tokens: cap }), messages }));
  const headers = Object.entries({
    host: `127.0.0.1:${job.port}`,
    "content-type": "application/json",
    authorization: "Bearer bench",
    ...job.headers,
    "content-length": String(body.length),
  });
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.concat([Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n`), body]);
}
