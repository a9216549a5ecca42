import type { Ask, WireName } from "../core/ask.ts";
import type { JsonObject } from "../core/json.ts";

export const DIALECTS = ["lmstudio", "llamacpp", "vllm", "ollama", "openrouter", "openai", "generic"] as const;
export type DialectName = (typeof DIALECTS)[number];

/**
 * Where a window was learned, most trusted first.
 * - `loaded`: the server says it of the running instance; `served`: it lists it for the model, not for an instance
 * - `error`: its own overflow error; `catalog`: a table of hosted models; `trained`: only the model's maximum is known
 */
export type WindowSource = "config" | "loaded" | "served" | "error" | "catalog" | "trained" | "unknown";

/**
 * Asks the server something that generates nothing. `v1` is the configured base, `root` is the base without its version segment.
 * Null: no answer in time, or not JSON. An HTTP error is an answer.
 */
export type Query = (
  method: "GET" | "POST",
  where: "v1" | "root",
  path: string,
  body?: JsonObject,
) => Promise<{ readonly status: number; readonly json: unknown } | null>;

/** What a server says of one of its models. Tokens throughout; null: not told. */
export interface ModelFacts {
  /** Every name under which a request may call it; the first is the one that the list shows. */
  readonly names: readonly string[];
  /** The window in force, for the loaded instance where there is one. 0 is never a window. */
  readonly window: number | null;
  readonly source: WindowSource;
  /** The trained maximum: only good for rejecting prompts above it. */
  readonly trained: number | null;
  readonly maxOutput: number | null;
  /** A separate limit on prompts, where there is one. */
  readonly maxInput: number | null;
  /** Known to reason; null: not told. */
  readonly reasoning: boolean | null;
  /** The facts may change with the next request (model not loaded yet): ask again soon. */
  readonly provisional: boolean;
  /** The server answers for this model whatever name a request gives (a llama-server with one model). */
  readonly anyName: boolean;
  /** The server is known to list a loaded size that is no longer true: an overflow error's own numbers beat it. */
  readonly doubtful?: true;
}

/** How a server is made to go on with its own message. */
export interface Resume {
  /** Top-level fields. */
  readonly set: JsonObject;
  /** Fields on the resumed message. */
  readonly mark: JsonObject;
  /** Where such a request goes, below the server's root (`/beta/chat/completions`); absent: the wire's own path. */
  readonly path?: string;
  /** Trailing whitespace is refused or lost: send the text without it. */
  readonly trimsTail: boolean;
  /** The reply repeats the given text (and thought) in front: in plain replies, in both, or never. */
  readonly echo: "never" | "plain" | "always";
  /** Resumes inside a thought; false: text only. */
  readonly thoughts: boolean;
  /** Top-level fields for resuming inside a thought, where they differ. */
  readonly setThought: JsonObject;
  /** Documented or known to resume; false: tried, and found out from the head of the pass. */
  readonly sure: boolean;
}

/** What servers speak. A dialect knows nothing of wires beyond their names and field names. */
export interface Dialect {
  readonly name: DialectName;
  /** Wires that this server speaks. */
  readonly wires: readonly WireName[];
  /** True where the answers to shape probes say that the server is of this kind. Generates nothing. */
  detect(query: Query, base: URL): Promise<boolean>;
  /** Facts of every model that can be listed, or null where the list did not come; `status` of the refusal where a key is needed. */
  discover(query: Query): Promise<{ readonly models: readonly ModelFacts[] } | { readonly refused: number } | null>;
  /** Facts of one model where the list does not tell them (Ollama's show, a llama-server router's props). */
  inspect?(query: Query, model: string, listed: ModelFacts | null): Promise<ModelFacts | null>;
  /** Counts the prompt of this very request without generating; null: cannot. */
  count?(query: Query, ask: Ask, body: JsonObject): Promise<number | null>;
  /** Renders the prompt, ending where the assistant's message begins; null: cannot. For raw resumption on `/completions`. */
  render?(query: Query, body: JsonObject): Promise<string | null>;
  /** The field in which the cap is sent, given the client's own. Differs only where the server is known not to read that one. */
  capField(wire: WireName, field: string, model: string): string;
  /** A cap of -1 means none. */
  readonly unlimitedCap: boolean;
  /** A cap counts reasoning tokens, as far as is known. */
  readonly capCountsReasoning: boolean;
  /** Puts the prompt of `/completions` into a user turn, so that a model may think there, out of sight. @default false */
  readonly completesTurns?: boolean;
  /** Takes `stream_options.include_usage`. */
  readonly usageOption: boolean;
  /** Sends usage in every stream, asked or not. */
  readonly usageAlways: boolean;
  /** Leaves out what opens a streamed reply (role, `message_start`) where its first token is half a character. @default false */
  readonly losesOpening?: boolean;
  /** Keeps replies of the Responses wire under their ids, unless `store` is false; absent: not known. */
  readonly keepsReplies?: boolean;
  /** Calls cut replies finished on these wires: usage at the cap is then enough. */
  readonly hidesCuts: readonly WireName[];
  /** Drops the oldest messages without a word when the prompt is over the window. */
  readonly truncatesSilently: boolean;
  /** How this model is made to resume its own message on this wire, or null where it can only be nudged. */
  resume(wire: WireName, model: string, ask: Ask): Resume | null;
  /** Fields that lower reasoning for one pass, by one step or off; null: not known how. */
  effort(wire: WireName, model: string, body: JsonObject, step: "lower" | "off"): JsonObject | null;
  /** One pasteable fix for a window that is too small, for people. */
  widen(model: string): string;
}
