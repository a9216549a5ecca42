import * as z from "zod";
import { DIALECTS } from "../upstream/dialect.ts";

/**
 * The config file. Every key says its unit in its name, its default and, in one sentence, what it does.
 * `config/lastword.schema.json` is made from this; `config/lastword.yaml` shows it with comments.
 */

// Schemas are used once, at start: compiling them costs more (5 of 10 ms) than it saves.
z.config({ jitless: true });

/** A day: longer waits than that are mistakes, and a timer must stay below 2^31 ms. */
const DAY_SECONDS = 86_400;

const tokens = (least: number) => z.int().min(least).max(100_000_000);
const count = (least: number) => z.int().min(least).max(1_000_000);
const seconds = (most: number = DAY_SECONDS) => z.number().min(0).max(most);
const limitSeconds = (most: number = DAY_SECONDS) => z.number().min(0.001).max(most);
const bytes = () =>
  z
    .int()
    .min(1)
    .max(2 ** 40);

/** Keys go into an HTTP header as they are. */
const HEADER_SAFE = /^[\x21-\x7e]*$/;
const key = () => z.string().regex(HEADER_SAFE, { error: "printable ASCII characters without spaces or line ends" });

const listen = {
  host: z.string().min(1).default("127.0.0.1").describe("Address to bind; loopback keeps other machines out."),
  port: z.int().min(0).max(65_535).default(4747).describe("Port to bind; 0 takes any free one."),
  keys: z
    .array(key().min(1))
    .default([])
    .describe("Keys that clients must send, any one of them; none means that no key is needed."),
  allowedHosts: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "Host names under which the proxy may be called besides local ones (*.example.org for all below); empty means no others when bound to loopback, any name elsewhere.",
    ),
  allowedOrigins: z
    .array(z.string().min(1))
    .default([])
    .describe('Web origins whose pages may call the proxy, such as https://app.example.org; "*" allows every page.'),
};

const upstream = {
  name: z
    .string()
    .regex(/^[\w.-]{1,64}$/, { error: "a name of 1 to 64 letters, digits, dots, dashes or underscores" })
    .describe("Name that models refer to, and that headers and metrics show."),
  url: z
    .string()
    .min(1)
    .describe("Base URL of the server; /v1 is added only where no path segment starts with v and a digit."),
  dialect: z
    .enum(["auto", ...DIALECTS])
    .default("auto")
    .describe("Kind of server; auto finds out by asking it things that generate nothing."),
  key: key()
    .default("")
    .describe("Key sent to this upstream; empty means that the client's own Authorization is passed on."),
};

const budget = {
  minReplyTokens: tokens(1)
    .default(256)
    .describe("Least room for a reply, in tokens; a cap is never lowered below it, the request is rejected instead."),
  overflow: z
    .enum(["reject", "compact", "route"])
    .default("reject")
    .describe("What happens to a prompt over the window: reject it, compact its history, or route to overflowModel."),
  overflowModel: z.string().default("").describe("Model with a larger window that overflow: route sends to."),
  reasoningAllowanceTokens: tokens(0)
    .default(4096)
    .describe("Tokens added to the asked cap of a model that is known to reason, within the room."),
  windowTtlSeconds: limitSeconds().default(300).describe("How long a learned window is believed, in seconds."),
};

const recovery = {
  heal: z.boolean().default(true).describe("Whether cut replies are made whole; false passes them on as they came."),
  honourCapsUpTo: tokens(0)
    .default(64)
    .describe("Caps of at most this many tokens are always meant: a reply cut by one is left as it is."),
  maxAttempts: count(1).default(4).describe("Most calls per request that began a reply, the first one included."),
  maxParts: count(1).default(8).describe("Most passes over which one oversized tool call is carried on."),
  maxReplyTokens: tokens(0)
    .default(0)
    .describe("Most tokens generated over all passes of a request; 0 means the larger of 4 x asked and 32768."),
  deadlineSeconds: limitSeconds(7200)
    .default(1800)
    .describe("One absolute deadline over all attempts, waits and reads of a request, in seconds, at most 7200."),
  deadlineHard: z
    .boolean()
    .default(false)
    .describe("Whether the deadline also cuts a pass that is flowing, rather than only forbidding new ones."),
  minAttemptSeconds: seconds().default(10).describe("No further attempt is begun with less time left than this."),
  retryBackoffSeconds: z
    .array(seconds(3600))
    .max(10)
    .default([2, 4])
    .describe("Waits before each retry of a call that did not begin a reply, in seconds; its length is their number."),
  maxRetryAfterSeconds: seconds(3600)
    .default(60)
    .describe("Longest Retry-After of an upstream that is waited for, in seconds; a longer one is relayed at once."),
  secondAttempt: z
    .enum(["raise", "lower", "both"])
    .default("raise")
    .describe("How a reply that was all reasoning is asked again: with a raised cap, lowered effort, or both."),
  toolCalls: z
    .enum(["whole", "stream"])
    .default("whole")
    .describe("Whether tool calls are held until they are whole, or streamed as they come."),
  structured: z
    .enum(["stream", "whole"])
    .default("stream")
    .describe("Whether structured output streams as it comes, or is held until it validates."),
  repairMalformed: z
    .boolean()
    .default(false)
    .describe("Whether output that ended by itself but does not validate is asked for once more, if none was shown."),
  onExhausted: z
    .enum(["partial", "error"])
    .default("partial")
    .describe("What a client gets when attempts run out: the partial reply with its honest finish, or an error."),
  holdBack: z
    .enum(["off", "word"])
    .default("off")
    .describe("Whether the unfinished last word is kept back where a server can only be nudged."),
  heartbeat: z
    .enum(["comment", "empty-delta", "off"])
    .default("comment")
    .describe("What is sent to a streaming client while nothing flows, only between events."),
  heartbeatSeconds: limitSeconds(3600).default(10).describe("How often it is sent, in seconds."),
};

/** No schema default: unset means advisory, but strict on `/v1/completions`. */
const caps = z
  .enum(["advisory", "strict"])
  .optional()
  .describe(
    "Whether a client's cap may be exceeded to make a reply whole; unset means advisory, but strict on /v1/completions.",
  );

type Defaulted = Readonly<Record<string, z.ZodDefault<z.ZodType>>>;
type Overrides<S extends Defaulted> = { [K in keyof S]: z.ZodOptional<S[K]["def"]["innerType"]> };

/** The same keys, each optional and without its default, for a model's own settings. */
function overrides<S extends Defaulted>(shape: S): Overrides<S> {
  const optional = Object.entries(shape).map(([name, setting]) => {
    const bare = setting.unwrap().optional();
    return [name, setting.description === undefined ? bare : bare.describe(setting.description)] as const;
  });
  return Object.fromEntries(optional) as Overrides<S>;
}

const model = {
  match: z.string().min(1).describe("Model name that this rule is for; * stands for anything, the first match wins."),
  upstream: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)], {
      error: "the name of an upstream, or a list of such names",
    })
    .optional()
    .describe(
      "Name of the upstream that serves it, or a list of several that do; a conversation stays at one of them while that is well. Unset means the first upstream.",
    ),
  alias: z.string().min(1).optional().describe("Model name that is sent upstream instead of the one asked for."),
  window: tokens(1).optional().describe("Context window in tokens, where it should not be discovered."),
  maxOutput: tokens(1).optional().describe("Most tokens that one pass of this model may generate."),
  reasoning: z.boolean().optional().describe("Whether the model reasons before it answers; unset is found out."),
  continue: z
    .enum(["auto", "prefill", "raw", "nudge", "never"])
    .default("auto")
    .describe("How a cut reply is continued; auto uses what the server is known to do."),
  ...overrides(budget),
  ...overrides(recovery),
  caps,
};

const limits = {
  maxBodyBytes: bytes().default(16_777_216).describe("Largest request body on a healed path, in bytes."),
  connectSeconds: limitSeconds().default(10).describe("Longest wait for a connection to an upstream, in seconds."),
  firstByteSeconds: limitSeconds()
    .default(600)
    .describe("Longest wait from sending a request to the first output of its reply, in seconds."),
  idleSeconds: limitSeconds().default(600).describe("Longest silence within a reply, in seconds."),
  drainSeconds: seconds().default(30).describe("How long running replies may go on after SIGTERM, in seconds."),
  maxModelLabels: count(1).default(100).describe("Model names told apart in metrics; further ones count as other."),
  maxInflight: count(0).default(0).describe("Most requests at once per upstream; 0 means no limit."),
  maxQueued: count(0).default(100).describe("Most requests that wait for an upstream at its maxInflight."),
  replaySeconds: seconds().default(600).describe("How long a finished reply answers its Idempotency-Key, in seconds."),
  replayGraceSeconds: seconds()
    .default(30)
    .describe("How long a run with an Idempotency-Key goes on after its last reader left, in seconds."),
  maxReplayBytes: bytes().default(67_108_864).describe("Most bytes kept for replays, over all of them."),
};

const state = {
  redis: z.string().default("").describe("URL of a Redis that replicas share; empty means this process's own memory."),
  replays: z.boolean().default(false).describe("Whether replays are shared too, encrypted with replayKey."),
  replayKey: z.string().default("").describe("Secret that shared replays are encrypted with."),
};

/** A section that may be left out altogether. */
function section<S extends z.core.$ZodLooseShape>(shape: S) {
  return z.strictObject(shape).prefault({} as z.input<z.ZodObject<S>>);
}

export const DEFAULT_UPSTREAM = { name: "default", url: "http://localhost:1234/v1", dialect: "auto", key: "" } as const;

export const fileSchema = z.strictObject({
  listen: section(listen).describe("Where lastword listens, and who may call it."),
  upstreams: z
    .array(z.strictObject(upstream))
    .min(1)
    .default([DEFAULT_UPSTREAM])
    .describe("Servers that requests go to; a model that no rule matches goes to the first."),
  models: z
    .array(z.strictObject(model))
    .default([])
    .describe("Rules per model; the first match wins; budget and recovery keys may stand here too."),
  budget: section(budget).describe("What is decided before a request is sent."),
  recovery: section({ ...recovery, caps }).describe("What happens when a reply is cut."),
  limits: section(limits).describe("Bounds of time, size and number."),
  state: section(state).describe("What many replicas share; optional."),
});

const LOG_LEVELS = ["silent", "error", "warn", "info", "debug"] as const;

/** Settings of one process, from flags and environment only. */
const runtimeSchema = z.strictObject({
  logLevel: z.enum(LOG_LEVELS).default("info").describe("How much is logged."),
  workers: z.int().min(1).max(256).default(1).describe("Processes that share the port."),
  allowOpen: z.boolean().default(false).describe("Allow binding beyond loopback with an upstream key and no own key."),
});

/** The file and the process together. The file alone is judged by `fileSchema`, to which `runtime` is unknown. */
export const wholeSchema = fileSchema.extend({ runtime: runtimeSchema.prefault({}) });

export type FileConfig = z.output<typeof fileSchema>;
export type Runtime = Readonly<z.output<typeof runtimeSchema>>;
