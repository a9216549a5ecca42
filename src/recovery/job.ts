import type { Count, Counter, Target } from "../budget/count.ts";
import type { Known, Windows } from "../budget/window.ts";
import type { Policy } from "../config/policy.ts";
import type { Ask } from "../core/ask.ts";
import type { Failure } from "../core/error.ts";
import type { Bus } from "../events/bus.ts";
import type { Live } from "../events/event.ts";
import type { HeaderList } from "../http/headers.ts";
import type { Outlet } from "../http/outlet.ts";
import type { Dialect } from "../upstream/dialect.ts";
import type { Knowledge } from "../upstream/knowledge.ts";
import type { Server } from "../upstream/server.ts";
import type { Wire } from "../wire/wire.ts";
import type { Validate } from "./evidence.ts";
import type { Limits } from "./transport.ts";

/** What the budget allows the first pass to be. Tokens. */
export interface Plan {
  /** The cap to send, where it differs from the client's own; null: the client's fields as they are. */
  readonly cap: { readonly field: string; readonly tokens: number } | null;
  /** Why the cap differs from what was asked. */
  readonly reason: "room" | "model_limit" | "allowance" | "none";
  readonly thinkingBudget: number | null;
  /** The prompt's tokens: a count with its bound, or an upper limit (`ceiling`); null: not counted. */
  readonly prompt: Count | null;
  /** What was left out of the history to make it fit; null: nothing. */
  readonly compacted: { readonly dropped: number; readonly shortened: number } | null;
  /** What was counted it for. */
  readonly target: Target;
}

/** One request of a full wire, read, counted and planned: all that its run needs. */
export interface Job {
  readonly id: string;
  /** The model that the client asked for, as metrics name it. */
  readonly model: string;
  readonly ask: Ask;
  /** The request as it came, sent on untouched where nothing has to change. */
  readonly bytes: Buffer;
  readonly wire: Wire;
  /** The client's query (`?beta=true`), sent on with every pass; "": none. */
  readonly search: string;
  readonly server: Server;
  readonly dialect: Dialect;
  readonly policy: Policy;
  /** The client's cap is meant: never more than it. */
  readonly strict: boolean;
  readonly heal: boolean;
  readonly explain: boolean;
  /** Milliseconds of `performance.now()`. */
  readonly deadlineAt: number;
  readonly deadlineSeconds: number;
  readonly deadlineHard: boolean;
  readonly maxAttempts: number;
  readonly known: Known;
  readonly plan: Plan;
  readonly limits: Limits;
  /** For the upstream, without length; `firstOnly` goes with the first attempt alone. */
  readonly headers: HeaderList;
  readonly firstOnly: HeaderList;
  /** `x-lastword-*` of the response. */
  readonly replyHeaders: HeaderList;
  readonly authorization: string | null;
  readonly outlet: Outlet;
  readonly live: Live;
  /** The same request at another of the model's upstreams, one after the other; null: there is none (left). */
  readonly elsewhere: (() => Promise<Job | null>) | null;
}

/** What all runs share. */
export interface Shared {
  readonly bus: Bus;
  readonly knowledge: Knowledge;
  readonly windows: Windows;
  readonly counter: Counter;
  readonly validate: Validate;
  /** Tells other replicas that an upstream asked for less, and for how long. */
  readonly limited: (server: Server, seconds: number) => void;
  /** What a fault of lastword's own is to a client. */
  readonly fault: (error: unknown) => Failure;
}
