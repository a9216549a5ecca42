import type { Group, Job } from "./job.ts";
import { HOSTILE, large, type Message, NUMBER_WIDTH, SMALL } from "./prompts.ts";

/** Requests of one group, as bytes. */
export type NextRequest = () => Buffer;

/** Prompts that no contender has seen: their number differs from process to process, and from one to the next. */
let unseen = process.pid * 100_000;

export function requestsOf(job: Job, group: Group): NextRequest {
  if (group.prompt === "unseen") return unseenRequests(job, group);
  const same = bytesOf(job, group, messagesOf(group.prompt));
  return () => same;
}

/** Writing 400 KB of JSON for each would keep the generator from listening: one is written, and its numbers are changed in a copy. */
function unseenRequests(job: Job, group: Group): NextRequest {
  const place = "9".repeat(NUMBER_WIDTH);
  const pattern = bytesOf(job, group, large(Number(place)));
  const places: number[] = [];
  for (let at = pattern.indexOf(place); at >= 0; at = pattern.indexOf(place, at + 1)) places.push(at);
  return () => {
    const bytes = Buffer.from(pattern);
    const number = String(unseen++).padStart(NUMBER_WIDTH, "0");
    for (const at of places) bytes.write(number, at, "latin1");
    return bytes;
  };
}

function messagesOf(prompt: Exclude<Group["prompt"], "unseen">): readonly Message[] {
  if (prompt === "small") return SMALL;
  if (prompt === "seen") return large(0);
  // Each with a head of its own, so that nothing is remembered of it.
  return [{ role: "user", content: `${unseen++}:${HOSTILE[prompt.hostile]()}` }];
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
