import type { WireName } from "../../src/core/ask.ts";
import { asArray, asNumber, asObject, asString, type JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import type { Call, Handler } from "./upstream.ts";
import { type Nudge, nudges } from "./upstream-nudges.ts";
import { overWindow, prefillRefused } from "./upstream-overflow.ts";
import {
  type Act,
  done,
  finish,
  over,
  type Script,
  say,
  status,
  type Transport,
  think,
  tool,
} from "./upstream-script.ts";
import { renderPrompt, type Turn, tokenize, turnsOf } from "./upstream-tokens.ts";

/** All that a model would say if nothing cut it: reasoning, then text, then tool calls. */
interface Recital {
  readonly reasoning?: string;
  readonly text?: string;
  readonly tools?: readonly { readonly name: string; readonly args: string | JsonObject; readonly id?: string }[];
}

/** The recital of a call: one for all, by the last user message that is a key, or computed. */
export type Recitals =
  | string
  | Recital
  | { readonly byUser: Readonly<Record<string, string | Recital>> }
  | ((call: Call) => string | Recital);

export interface ReciteOptions {
  /**
   * What a trailing assistant message does.
   * - `always`: it is gone on with; `flags`: only with `continue_final_message` and `add_generation_prompt: false`
   * - `ignore`: the reply starts over; `refuse`: 400 in the dialect's words; `refuse_thinking`: so unless thinking is switched off
   * - `{mark}`: gone on with where the message carries `mark: true`, else refused
   * @default by dialect, see RESUMES
   */
  readonly resume?: "always" | "flags" | "ignore" | "refuse" | "refuse_thinking" | { readonly mark: string };
  /** A resumed reply repeats the given text in front. @default false */
  readonly echo?: boolean;
  /** The template trims the end of the text to be resumed. @default false */
  readonly trimsTail?: boolean;
  /** What is said when a user turn asks to go on. @default nudges.exact */
  readonly nudge?: Nudge;
  /** Tokens; a limit of the provider's own, below what was asked. */
  readonly providerCap?: number;
  /** `short`: one less than generated where cut; `absent`: none. @default short for LM Studio, else exact */
  readonly usage?: "exact" | "short" | "absent";
  /** Tokens per event. @default 1 */
  readonly perEvent?: number;
  /** The finish reason to give in place of the true one. */
  readonly says?: (reason: string, call: Call) => string;
  /** Prompt tokens to report and to hold against the window. @default counted from the rendered prompt */
  readonly promptTokens?: (call: Call) => number;
  readonly transport?: Transport;
}

/** How servers usually take a trailing assistant message. LM Studio's depends on the template. */
const RESUMES: Record<DialectName, NonNullable<ReciteOptions["resume"]>> = {
  llamacpp: "always",
  ollama: "always",
  openrouter: "always",
  lmstudio: "ignore",
  openai: "ignore",
  generic: "ignore",
  vllm: "flags",
};

/** The cap fields that a server reads, first match wins. */
const CAP_FIELDS: Record<DialectName, Readonly<Record<WireName, readonly string[]>>> = (() => {
  const rest = { completions: ["max_tokens"], responses: ["max_output_tokens"], messages: ["max_tokens"] };
  const both = { ...rest, chat: ["max_completion_tokens", "max_tokens"] };
  const old = { ...rest, chat: ["max_tokens"] };
  const llamacpp = {
    ...rest,
    chat: ["n_predict", "max_completion_tokens", "max_tokens"],
    completions: ["n_predict", "max_tokens"],
  };
  return { generic: both, openai: both, openrouter: both, vllm: both, lmstudio: old, ollama: old, llamacpp };
})();

/** Refuses where prompt and cap together are over the window, not only the prompt. */
const COUNTS_CAP: ReadonlySet<DialectName> = new Set(["vllm", "openrouter", "openai"]);

interface Speech {
  readonly reasoning: string;
  readonly text: string;
  readonly tools: NonNullable<Recital["tools"]>;
  /** The request's last message is gone on with: its turn is left open in the prompt. */
  readonly resumed: boolean;
}

/**
 * A believable model that knows its text: it obeys caps and the window, is cut where they say, and goes on with a partial reply as
 * its server would.
 */
export function recite(what: Recitals, options: ReciteOptions = {}): Handler {
  return (call) => {
    const wire = call.wire ?? "chat";
    const recital = recitalOf(what, call);
    const turns = turnsOf(wire, call.body);
    const speech = speechOf(recital, turns, call, options);
    if (!("text" in speech)) return speech;

    const prompt = options.promptTokens?.(call) ?? tokenize(renderPrompt(wire, call.body, speech.resumed)).length;
    const asked = capOf(call, wire);
    const window = call.window ?? Number.POSITIVE_INFINITY;
    const full = prompt >= window || (COUNTS_CAP.has(call.dialect) && asked !== null && prompt + asked > window);
    const refusal = full ? overWindow(call.dialect, prompt, window, asked ?? 0) : null;
    if (refusal !== null) return refusal;

    const shown = full ? Math.floor(window / 2) : prompt; // dropped without a word
    const limit = Math.min(
      asked ?? Number.POSITIVE_INFINITY,
      options.providerCap ?? Number.POSITIVE_INFINITY,
      window - shown,
    );
    return spoken(speech, limit, shown, call, options);
  };
}

function recitalOf(what: Recitals, call: Call): Recital {
  const asRecital = (value: string | Recital): Recital => (typeof value === "string" ? { text: value } : value);
  if (typeof what === "function") return asRecital(what(call));
  if (typeof what === "string" || !("byUser" in what)) return asRecital(what);
  const turns = turnsOf(call.wire ?? "chat", call.body);
  const key = turns.findLast((turn) => Object.hasOwn(what.byUser, turn.text))?.text ?? "";
  const found = what.byUser[key];
  if (found === undefined) throw new Error("no recital for any user message of this call");
  return asRecital(found);
}

/** What is left to say, or a refusal. */
function speechOf(recital: Recital, turns: readonly Turn[], call: Call, options: ReciteOptions): Speech | Script {
  const { text = "", tools = [] } = recital;
  const whole: Speech = { reasoning: thoughtOf(recital, call.body), text, tools, resumed: false };
  const only = (said: string): Speech => ({ ...whole, reasoning: "", text: said, tools: [] });
  const last = turns.at(-1);
  if (last === undefined) return whole;
  if (call.wire === "completions") return only(completionOf(recital, last.text));

  if (last.role === "assistant" && (last.text !== "" || last.reasoning !== "")) {
    const decision = resumes(call, last, whole.reasoning !== "", options);
    if (decision === "ignore") return whole;
    return decision === "resume" ? resumedFrom(whole, recital, last, options) : decision;
  }

  const before = turns.at(-2);
  const nudge = options.nudge ?? nudges.exact;
  const rest = before?.role === "assistant" ? restOf(text, before.text) : null;
  if (before !== undefined && rest !== null && rest !== "")
    return { ...only(nudge(before.text, last.text, rest)), tools };
  const carried = carriedArgs(tools, [before, last], call.body);
  return carried === null ? whole : only(nudge(carried.partial, last.text, carried.rest));
}

/** `null` where the text does not begin with the partial. A trailing blank that was lost on the way is forgiven. */
function restOf(text: string, partial: string): string | null {
  if (partial.trim() === "") return null;
  if (text.startsWith(partial)) return text.slice(partial.length);
  const trimmed = partial.trimEnd();
  return text.startsWith(trimmed) ? text.slice(trimmed.length) : null;
}

function resumes(call: Call, last: Turn, thinks: boolean, options: ReciteOptions): "resume" | "ignore" | Script {
  const policy = options.resume ?? RESUMES[call.dialect];
  if (typeof policy === "object") return last.message[policy.mark] === true ? "resume" : prefillRefused(call.dialect);
  switch (policy) {
    case "always":
      return "resume";
    case "ignore":
      return "ignore";
    case "refuse":
      return prefillRefused(call.dialect);
    case "refuse_thinking":
      return thinks ? prefillRefused(call.dialect) : "resume";
    case "flags": {
      if (call.body.continue_final_message !== true) return "ignore";
      if (call.body.add_generation_prompt === false) return "resume";
      const message = "Cannot set both `continue_final_message` and `add_generation_prompt` to True.";
      return [status(400, { error: { message, type: "BadRequestError", param: null, code: 400 } })];
    }
    default:
      return policy satisfies never;
  }
}

function resumedFrom(whole: Speech, recital: Recital, last: Turn, options: ReciteOptions): Speech {
  const given = options.trimsTail === true ? last.text.trimEnd() : last.text;
  const echoed = options.echo === true ? given : "";
  const resumed = { ...whole, reasoning: "", resumed: true };
  if (given === "") {
    const rest = restOf(recital.reasoning ?? "", last.reasoning);
    return rest === null ? whole : { ...resumed, reasoning: rest };
  }
  const rest = restOf(whole.text, given);
  if (rest !== null) return { ...resumed, text: echoed + rest };
  for (const call of whole.tools) {
    const args = restOf(argsText(call.args), given);
    if (args !== null) return { ...resumed, text: echoed + args, tools: [] };
  }
  return whole;
}

/** A rendered prompt ends inside the reply; another may end in text that the reply begins with. */
function completionOf(recital: Recital, prompt: string): string {
  const text = recital.text ?? "";
  const rendered = recital.reasoning === undefined ? text : `<think>\n${recital.reasoning}\n</think>\n\n${text}`;
  const said = (full: string) => {
    for (let at = Math.max(0, prompt.length - full.length); at < prompt.length; at++)
      if (prompt[at] === full[0] && full.startsWith(prompt.slice(at))) return prompt.length - at;
    return 0;
  };
  return said(rendered) >= said(text) ? rendered.slice(said(rendered)) : text.slice(said(text));
}

/** Arguments that the conversation shows as text, to be carried on as text: their part shown, and the rest. */
function carriedArgs(
  tools: Speech["tools"],
  turns: readonly (Turn | undefined)[],
  body: JsonObject,
): { partial: string; rest: string } | null {
  const choice = asObject(body.tool_choice)?.type ?? body.tool_choice;
  if (asArray(body.tools).length > 0 && choice !== "none") return null;
  const shown = turns.map((turn) => turn?.text ?? "").join("\n");
  for (const call of tools) {
    const args = argsText(call.args);
    let length = 0;
    for (let over = args.length; over - length > 1; ) {
      const half = Math.floor((length + over) / 2);
      if (shown.includes(args.slice(0, half))) length = half;
      else over = half;
    }
    if (length >= MIN_CARRIED) return { partial: args.slice(0, length), rest: args.slice(length) };
  }
  return null;
}

/** Characters of shown arguments below which a match may be chance. */
const MIN_CARRIED = 6;

const argsText = (args: string | JsonObject) => (typeof args === "string" ? args : JSON.stringify(args));

/** The reasoning that this request leaves: none where it is switched off, a quarter at low effort. */
function thoughtOf(recital: Recital, body: JsonObject): string {
  const thought = recital.reasoning ?? "";
  const reasoning = asObject(body.reasoning);
  const effort = asString(body.reasoning_effort) ?? asString(reasoning?.effort);
  const off =
    asObject(body.chat_template_kwargs)?.enable_thinking === false ||
    asObject(body.thinking)?.type === "disabled" ||
    reasoning?.enabled === false ||
    effort === "none";
  if (off) return "";
  if (effort !== "low" && effort !== "minimal") return thought;
  const pieces = tokenize(thought);
  return pieces.slice(0, Math.ceil(pieces.length / 4)).join("");
}

/** Tokens; null: no cap. */
function capOf(call: Call, wire: WireName): number | null {
  for (const field of CAP_FIELDS[call.dialect][wire]) {
    const asked = asNumber(call.body[field]);
    if (asked !== undefined) return asked < 0 ? null : asked;
  }
  if (call.dialect === "openai" && wire === "completions") return 16;
  return call.dialect === "llamacpp" && wire === "messages" ? 4096 : null;
}

/** Plays a speech token by token up to the limit. */
function spoken(speech: Speech, limit: number, prompt: number, call: Call, options: ReciteOptions): Script {
  const script: Act[] = options.transport === undefined ? [] : [over(options.transport)];
  const perEvent = options.perEvent ?? 1;
  let used = 0;
  let cut = false;
  /** Says as much as the limit lets pass. */
  const play = (text: string, act: (piece: string) => Act) => {
    const pieces = tokenize(text);
    const fitting = pieces.slice(0, Math.max(0, limit - used));
    for (let at = 0; at < fitting.length; at += perEvent) script.push(act(fitting.slice(at, at + perEvent).join("")));
    used += fitting.length;
    cut ||= fitting.length < pieces.length;
  };

  play(speech.reasoning, think);
  const reasoning = used;
  if (!cut) play(upToStop(speech.text, call.body), (piece) => say(piece));
  speech.tools.forEach((each, index) => {
    if (cut) return;
    cut = used >= limit;
    if (cut) return;
    used += 1; // the name
    script.push(tool(index, { id: each.id ?? `call_${call.n}_${index}`, name: each.name }));
    play(argsText(each.args), (piece) => tool(index, {}, piece));
  });

  const ended = speech.tools.length > 0 ? "tool_calls" : "stop";
  const reason = cut ? "length" : ended;
  script.push(finish(options.says?.(reason, call) ?? reason));
  const usage = options.usage ?? (call.dialect === "lmstudio" ? "short" : "exact");
  if (usage !== "absent") {
    const completion = usage === "short" && cut ? Math.max(0, used - 1) : used;
    const tokens = { prompt, completion, ...(reasoning > 0 ? { reasoning: Math.min(reasoning, completion) } : {}) };
    script.push({ act: "usage", usage: tokens, force: false });
  }
  script.push(done());
  return script;
}

function upToStop(text: string, body: JsonObject): string {
  const stops = [body.stop, body.stop_sequences].flatMap((value) =>
    typeof value === "string" ? [value] : asArray(value),
  );
  let end = text.length;
  for (const stop of stops) {
    const at = typeof stop === "string" && stop !== "" ? text.indexOf(stop) : -1;
    if (at >= 0) end = Math.min(end, at);
  }
  return text.slice(0, end);
}
