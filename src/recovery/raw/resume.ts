import type { Ask } from "../../core/ask.ts";
import { asArray, asObject, asString, type Json, type JsonObject } from "../../core/json.ts";
import { type Block, type Reply, textOf } from "../../core/reply.ts";
import { openSeam } from "../../stitch/seam.ts";
import type { Job } from "../job.ts";
import { AS_ASKED, type Join } from "../strategies/join.ts";
import { openThought } from "../think.ts";
import { RawEars } from "./ears.ts";
import { type Markup, readMarkup, type Shown, STAND_IN } from "./markup.ts";

/** The server renders its own template, and this request has nothing that a rendered prompt lacks. */
export function rendersRaw({ dialect, wire, ask }: Pick<Job, "dialect" | "wire" | "ask">): boolean {
  if (dialect.render === undefined || wire.name !== "chat" || ask.logprobs) return false;
  return wire.pieces(ask.body).every(({ kind }) => kind !== "image" && kind !== "audio" && kind !== "file");
}

/** What of a turn is there already. */
interface Turn {
  /** The client's messages, without a beginning of the assistant's that stands last among them. */
  readonly messages: readonly Json[];
  readonly thought: string;
  readonly text: string;
}

/** How a turn that holds these pieces is rendered. */
interface Pieces {
  readonly thought: boolean;
  readonly text: boolean;
  /** Its calls; the arguments of the last are stood in for. */
  readonly calls: readonly Pick<Block, "id" | "name" | "text">[];
}

type Rendering = Shown & { readonly rendered: string };

/**
 * The prompt as the server renders it, up to where the reply was cut: inside of a thought, its text or a call's arguments. What the
 * template writes there is seen from a rendering, so any template will do that shows it. null: this one does not.
 *
 * @param calls of the turn so far, the last one open, which is gone on with; none: the thought or the text is
 * @param pass its number
 */
export async function resumeRaw(job: Job, known: Reply, calls: readonly Block[], pass: number): Promise<Join | null> {
  if (!rendersRaw(job)) return null;
  const turn = turnOf(job.ask, known);
  if (turn === null) return null;
  const call = calls.at(-1);
  return call === undefined ? resumeText(job, turn, known, pass) : resumeCall(job, turn, calls, call, pass);
}

async function resumeCall(
  job: Job,
  turn: Turn,
  calls: readonly Block[],
  call: Block,
  pass: number,
): Promise<Join | null> {
  const pieces = { thought: turn.thought !== "", text: turn.text !== "", calls };
  const shown = await renderTurn(job, turn, pieces);
  if (shown === null || shown.argsAt === null) return null;
  // Only a rendering with text shows what stands between text and call.
  const whole = pieces.text ? shown : await renderTurn(job, turn, { ...pieces, text: true });
  const markup = whole?.markup ?? shown.markup;
  return {
    ...AS_ASKED,
    channel: "call",
    ears: new RawEars({ markup, call, at: "text", block: 0, fresh: fresh(job, pass) }),
    calls,
    raw: { prompt: filled(shown.rendered.slice(0, shown.argsAt), turn) + call.text, signs: signsOf(markup) },
  };
}

async function resumeText(job: Job, turn: Turn, known: Reply, pass: number): Promise<Join | null> {
  const inThought = textOf(known) === "";
  if (inThought && turn.thought === "") return null;
  const begun = inThought ? await thoughtBegun(job, turn) : await textBegun(job, turn);
  if (begun === null) return null;
  const sent = inThought ? turn.thought : textOf(known);
  const channel = inThought ? "reasoning" : "text";
  const block = known.blocks.findLast(({ kind }) => kind === channel)?.block ?? 0;
  return {
    ...AS_ASKED,
    seam: openSeam({ strategy: "raw", sent, trimmed: "", echo: "never", sure: true }),
    channel,
    ears: new RawEars({
      markup: begun.markup,
      call: null,
      at: inThought ? "thought" : "text",
      block,
      fresh: fresh(job, pass),
    }),
    raw: { prompt: begun.prompt, signs: signsOf(begun.markup) },
  };
}

interface Begun {
  readonly prompt: string;
  readonly markup: Markup;
}

async function thoughtBegun(job: Job, turn: Turn): Promise<Begun | null> {
  for (const calls of shapesOf(job.ask)) {
    const shown = await renderTurn(job, turn, { thought: true, text: true, calls });
    if (shown?.thoughtAt == null || shown.markup.thoughtEnd === null || hidesCalls(job.ask, shown)) continue;
    return { prompt: shown.rendered.slice(0, shown.thoughtAt) + turn.thought, markup: shown.markup };
  }
  return null;
}

async function textBegun(job: Job, turn: Turn): Promise<Begun | null> {
  for (const calls of shapesOf(job.ask)) {
    const shown = await renderTurn(job, turn, { thought: turn.thought !== "", text: true, calls });
    if (shown?.textAt == null || hidesCalls(job.ask, shown)) continue;
    if (turn.thought !== "" && shown.thoughtAt === null) continue;
    return { prompt: filled(shown.rendered.slice(0, shown.textAt), turn) + turn.text, markup: shown.markup };
  }
  if (hasTools(job.ask)) return null;
  // The template does not show a thought that is past: the text goes on without it.
  const prompt = await render(job, turn.messages);
  return prompt === null ? null : { prompt: prompt + turn.text, markup: { thoughtEnd: null, call: null } };
}

/** A call that nobody asked for shows a turn in which thoughts are kept, where a template drops those of turns that are past. */
const NO_CALL = { id: "call00000", name: "noop", text: "" };

/** Turns to render, the likeliest first: where tools can be called, only one with a call shows by what a call is known. */
function shapesOf(ask: Ask): Pieces["calls"][] {
  const tool = ask.tools.find(({ freeform }) => freeform !== true);
  return tool === undefined ? [[], [NO_CALL]] : [[{ ...NO_CALL, name: tool.name }]];
}

/** A call in the text could not be told from it. */
function hidesCalls(ask: Ask, shown: Shown): boolean {
  return hasTools(ask) && shown.markup.call === null;
}

function hasTools({ body }: Ask): boolean {
  return asArray(body.tools).length > 0 || asArray(body.functions).length > 0;
}

async function renderTurn(job: Job, turn: Turn, pieces: Pieces): Promise<Rendering | null> {
  const rendered = await render(job, [...turn.messages, ...assistantTurn(pieces)]);
  if (rendered === null) return null;
  return { rendered, ...readMarkup(rendered, pieces.calls.at(-1)?.name ?? null) };
}

/** The turn, and what answers it, so that it is rendered as one that is over. */
function assistantTurn({ thought, text, calls }: Pieces): JsonObject[] {
  const message: JsonObject = { role: "assistant", content: text ? STAND_IN.text : "" };
  if (thought) message.reasoning_content = STAND_IN.thought;
  if (calls.length === 0) return [message, { role: "user", content: "ok" }];
  const ids = calls.map(({ id }, index) => (id === "" ? `call0000${index}` : id));
  message.tool_calls = calls.map(({ name, text: args }, index) => ({
    id: ids[index],
    type: "function",
    function: { name, arguments: index === calls.length - 1 ? STAND_IN.args : args },
  }));
  return [message, ...ids.map((id): JsonObject => ({ role: "tool", tool_call_id: id, content: "ok" }))];
}

/** Fields that would have the server render something else than the conversation. */
const NOT_RENDERED = [
  "response_format",
  "tool_choice",
  "continue_final_message",
  "add_generation_prompt",
  "stream",
  "stream_options",
] as const;

async function render({ ask, dialect, server, authorization }: Job, messages: readonly Json[]): Promise<string | null> {
  const body: JsonObject = { ...ask.body, messages: [...messages] };
  for (const field of NOT_RENDERED) delete body[field];
  return (await dialect.render?.(server.query(authorization), body)) ?? null;
}

/** null: the client's own beginning of the reply is not plain text. */
function turnOf({ body }: Ask, known: Reply): Turn | null {
  const messages = asArray(body.messages);
  const last = asObject(messages.at(-1));
  const own = last?.role === "assistant" ? asString(last.content) : "";
  if (own === undefined) return null;
  return {
    messages: last?.role === "assistant" ? messages.slice(0, -1) : messages,
    thought: openThought(known),
    text: own + textOf(known),
  };
}

function filled(rendered: string, { thought, text }: Turn): string {
  return rendered.replaceAll(STAND_IN.thought, () => thought).replaceAll(STAND_IN.text, () => text);
}

function signsOf({ thoughtEnd, call }: Markup): string[] {
  return [thoughtEnd?.trim(), call?.sign].filter((sign) => sign !== undefined);
}

function fresh(job: Job, pass: number): (n: number) => { readonly block: number; readonly id: string } {
  return (n) => ({ block: pass * 10_000 + n, id: `call_${job.id}_${pass}_${n}` });
}

/** What a turn's request has that a completion's has not. */
const TURN_FIELDS = [
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
  "response_format",
  "chat_template_kwargs",
  "reasoning",
  "reasoning_effort",
  "reasoning_format",
  "reasoning_budget_tokens",
  "continue_final_message",
  "add_generation_prompt",
  "modalities",
  "logprobs",
  "top_logprobs",
  "max_completion_tokens",
  "max_tokens",
  "n_predict",
] as const;

/** The request for the completion endpoint, with the client's sampling settings. */
export function rawBody(ask: Ask, raw: NonNullable<Join["raw"]>, cap: number | null, usage: boolean): JsonObject {
  const body: JsonObject = { ...ask.body };
  for (const field of TURN_FIELDS) delete body[field];
  body.prompt = raw.prompt;
  if (cap !== null) body.max_tokens = cap;
  if (raw.signs.length > 0) body.preserved_tokens = [...raw.signs];
  if (usage) body.stream_options = { ...asObject(body.stream_options), include_usage: true };
  return body;
}
