import { readFileSync } from "node:fs";
import type { Ask } from "../../src/core/ask.ts";
import type { Failure } from "../../src/core/error.ts";
import { asObject, type JsonObject, parseJson } from "../../src/core/json.ts";
import type { Finish, Part, Usage } from "../../src/core/part.ts";
import { emptyReply, take } from "../../src/core/reply.ts";
import type { Ending, Frame, Report, Voice, Wire } from "../../src/wire/wire.ts";
import { readSse, sse } from "../support/sse.ts";

/** A recorded stream or body of llama-server. */
export function recorded(name: string): string {
  return readFileSync(new URL(`../fixtures/llamacpp/${name}`, import.meta.url), "utf8");
}

export function recordedBody(name: string): JsonObject {
  return asObject(parseJson(recorded(name))) ?? {};
}

/** Every frame of a stream. */
export function framesOf(wire: Wire, stream: string): Frame[] {
  const read = wire.frames?.() ?? wire.frame;
  return readSse(stream).map(({ event, data }) => read(event, data));
}

export function partsOf(wire: Wire, stream: string): Part[] {
  return framesOf(wire, stream).flatMap((frame) => frame.parts);
}

/** Events as a server writes them. */
export function events(...all: JsonObject[]): string {
  return all.map((json) => sse(json, String(json.type))).join("");
}

/** One client that hears the passes of one reply, as recovery plays them to its voice. */
export class Client {
  heard = "";
  readonly reply = emptyReply();
  readonly #wire: Wire;
  readonly #voice: Voice;
  #tail: Frame[] = [];
  #passes = 1;

  constructor(wire: Wire, body: JsonObject, id?: string) {
    this.#wire = wire;
    const ask: Ask = wire.read({ model: "reciter", ...body });
    this.#voice = wire.voice(ask, id);
  }

  /** Pass 1: forwarded as it came; tails wait for more output, and all behind them. `calls: false`: a call that was cut is let go. */
  first(stream: string, { calls = true } = {}): this {
    for (const frame of framesOf(this.#wire, stream)) {
      if (!calls && frame.parts.some((part) => part.kind === "tool")) {
        this.#tail = [];
        return this;
      }
      if (frame.kind === "tail" || (frame.kind === "quiet" && this.#tail.length > 0)) this.#tail.push(frame);
      else {
        for (const passed of [...this.#tail, frame]) this.#pass(passed);
        this.#tail = [];
      }
    }
    return this;
  }

  /** A later pass: its text goes on in the last text; its thoughts in the last thought, if it resumed that. */
  later(stream: string, { resumes = "text" }: { resumes?: "text" | "reasoning" } = {}): this {
    const pass = this.#passes++ * 10_000;
    this.#tail = [];
    for (const frame of framesOf(this.#wire, stream)) {
      const parts = frame.parts.flatMap((part): Part[] => {
        if (part.kind === "text") return [{ ...part, block: this.#last("text") ?? pass + part.block }];
        if (part.kind === "reasoning") {
          return resumes === "reasoning" ? [{ ...part, block: this.#last("reasoning") ?? pass + part.block }] : [part];
        }
        return part.kind === "sealed_reasoning" || "block" in part ? [{ ...part, block: pass + part.block }] : [];
      });
      if (frame.kind === "tail") this.#tail.push(frame);
      if (frame.kind === "output") this.say(parts, frame);
    }
    return this;
  }

  say(parts: readonly Part[], frame: Frame | null = null): this {
    for (const part of parts) take(this.reply, part);
    this.heard += this.#voice.say(parts, frame);
    return this;
  }

  finish(finish: Finish, usage: Usage | null = null, report: Report | null = null): this {
    this.heard += this.#voice.finish(this.ending(finish, usage, report));
    return this;
  }

  /** The untouched tail with a report. */
  annotate(report: Report): this {
    this.heard += this.#voice.annotate(this.#tail, report);
    return this;
  }

  fail(failure: Failure): this {
    this.heard += this.#voice.fail(failure);
    return this;
  }

  stream(body: JsonObject): this {
    this.heard += this.#voice.stream(body);
    return this;
  }

  body(first: JsonObject | null, ending: Partial<Ending> & { readonly finish: Finish }): JsonObject {
    return this.#voice.body(first, { ...this.ending(ending.finish, null, null), ...ending });
  }

  ending(finish: Finish, usage: Usage | null, report: Report | null): Ending {
    return { finish, reply: this.reply, usage, tail: this.#tail, report };
  }

  /** What was heard, parsed. */
  get events(): JsonObject[] {
    return readSse(this.heard).map(({ data }) => asObject(parseJson(data)) ?? { type: data });
  }

  get types(): unknown[] {
    return this.events.map((event) => event.type);
  }

  #pass(frame: Frame): void {
    for (const part of frame.parts) take(this.reply, part);
    this.#voice.passed(frame);
    this.heard += sse(frame.data, frame.event);
  }

  #last(kind: "text" | "reasoning"): number | undefined {
    return this.reply.blocks.findLast((block) => block.kind === kind)?.block;
  }
}

export const CUT: Report = {
  outcome: "cut_off",
  cause: "context_full",
  code: null,
  warnings: [],
  full: null,
};

export const DONE: Finish = { kind: "done", raw: "stop" };

export function usage(prompt: number, completion: number, raw: JsonObject = {}): Usage {
  return { prompt, completion, reasoning: null, raw };
}
