import type { OutgoingHttpHeaders } from "node:http";
import { ERRORS, type Failure } from "../core/error.ts";
import { byName, type HeaderList, responseHeaders } from "../http/headers.ts";
import { withoutSecrets } from "../upstream/quoted.ts";
import type { Voice } from "../wire/wire.ts";
import type { Job } from "./job.ts";
import type { Relay } from "./learn.ts";
import type { Headers } from "./transport.ts";

const STREAM_HEADERS: HeaderList = [
  "content-type",
  "text/event-stream; charset=utf-8",
  "cache-control",
  "no-cache, no-transform",
  "x-accel-buffering",
  "no",
];

/** Headers of an upstream's error that tell a client when to come again. */
const RELAYED =
  /^(?:retry-after(?:-ms)?|x-ratelimit-.*|anthropic-ratelimit-.*|x-request-id|request-id|x-should-retry)$/;

/** A client that has taken nothing for so long is gone, whatever its connection says: it holds an upstream's place. */
const MOST_UNREAD_SECONDS = 600;

/** What the client is told over HTTP: when the status goes out, heartbeats, back-pressure, and how it ends. */
export class Teller {
  #job: Job;
  readonly #voice: Voice;
  readonly #flow: { pause(): void; resume(): void };
  #upstreamHeaders: Headers = {};
  #beat: NodeJS.Timeout | null = null;
  /** The client reads slowly: until when it may. */
  #blocked: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(job: Job, voice: Voice, flow: { pause(): void; resume(): void }) {
    this.#job = job;
    this.#voice = voice;
    this.#flow = flow;
    const { heartbeat, heartbeatSeconds } = job.policy;
    // Without healing nothing is added, not even a comment.
    if (job.ask.stream && job.heal && heartbeat !== "off") {
      const form = heartbeat;
      this.#beat = setTimeout(() => this.#heartbeat(form), heartbeatSeconds * 1000);
    }
  }

  /** The next pass is made elsewhere. */
  moved(job: Job): void {
    this.#job = job;
    this.#upstreamHeaders = {};
  }

  /** The status is out. */
  get committed(): boolean {
    return this.#job.outlet.committed;
  }

  /** Headers of the upstream's reply, for the client's. */
  heard(headers: Headers): void {
    if (!this.committed) this.#upstreamHeaders = headers;
  }

  /** Whole events for the client; the first decide the status. */
  say(events: Buffer | string): void {
    if (events.length === 0 || this.#closed) return;
    this.#commit();
    this.#beat?.refresh();
    if (this.#job.outlet.write(events)) return;
    // Also where it was blocked before: this may be another pass.
    this.#flow.pause();
    if (this.#blocked !== null) return;
    this.#blocked = setTimeout(() => this.#job.outlet.drop(), MOST_UNREAD_SECONDS * 1000);
    this.#job.outlet.onDrain(() => {
      this.#unblock();
      this.#flow.resume();
    });
  }

  #unblock(): void {
    if (this.#blocked !== null) clearTimeout(this.#blocked);
    this.#blocked = null;
  }

  endStream(events: Buffer | string): void {
    this.#commit();
    this.close();
    if (events.length === 0) this.#job.outlet.end();
    else this.#job.outlet.end(events);
  }

  endPlain(
    body: string | Buffer,
    headers: Headers,
    facts: { outcome: string; attempts: number; cause: string | null },
  ): void {
    this.close();
    const { outlet, replyHeaders } = this.#job;
    const length = String(Buffer.byteLength(body));
    const own = [...replyHeaders, ...told(facts), "content-length", length];
    if (!Buffer.isBuffer(body) || headers["content-type"] === undefined) own.push("content-type", "application/json");
    outlet.head(200, responseHeaders(headers, own, true));
    outlet.end(body);
  }

  /** A failure, as an HTTP error while that is possible, else as the stream's one error. `relay`: the upstream's own answer instead. */
  fail(
    failure: Failure,
    relay: Relay | null,
    facts: { outcome: string; attempts: number; cause: string | null; healed: boolean },
  ): void {
    if (this.committed) {
      this.endStream(this.#voice.fail(failure));
      return;
    }
    this.close();
    const own = ["content-type", "application/json", ...this.#job.replyHeaders, ...told(facts)];
    const headers: OutgoingHttpHeaders = byName(own);
    if (facts.healed) headers["x-should-retry"] = "false";
    if (failure.retryAfter !== undefined) headers["retry-after"] = String(failure.retryAfter);
    let status: number = failure.status ?? ERRORS[failure.code].status;
    let body = JSON.stringify(this.#job.wire.error(failure));
    // An error inside of a 200 has no status to relay: it is told in our shape.
    if (relay !== null && relay.fault.status >= 400) {
      status = relay.fault.status;
      for (const name in relay.headers) if (RELAYED.test(name)) headers[name] = relay.headers[name];
      const own = relay.fault.body;
      if (typeof own === "object" && own !== null) body = withoutSecrets(JSON.stringify(own), this.#job.server.secrets);
    }
    headers["content-length"] = Buffer.byteLength(body);
    this.#job.outlet.head(status, headers);
    this.#job.outlet.end(body);
  }

  close(): void {
    this.#closed = true;
    this.#unblock();
    if (this.#beat !== null) clearTimeout(this.#beat);
    this.#beat = null;
  }

  #commit(): void {
    if (this.committed) return;
    const { outlet, replyHeaders } = this.#job;
    outlet.head(200, responseHeaders(this.#upstreamHeaders, [...STREAM_HEADERS, ...replyHeaders], true));
  }

  #heartbeat(form: "comment" | "empty-delta"): void {
    if (this.#closed) return;
    if (this.#blocked !== null) this.#beat?.refresh();
    else this.say(this.#job.wire.heartbeat(form));
  }
}

function told(facts: { outcome: string; attempts: number; cause: string | null }): HeaderList {
  const cause = facts.cause === null ? [] : ["x-lastword-cause", facts.cause];
  return ["x-lastword-outcome", facts.outcome, "x-lastword-attempts", String(facts.attempts), ...cause];
}
