import { asArray, asObject, asString, type Json, parseJson } from "../core/json.ts";
import type { Fault } from "../core/part.ts";

/** All that an upstream's error says, wherever in its body it stands. */
export interface Evidence {
  /** Sentences, the outermost first. */
  readonly texts: readonly string[];
  /** Types and codes as the upstream names them. */
  readonly codes: readonly string[];
  /** The request field that is blamed. */
  readonly param: string | null;
  /** llama-server's own numbers, in tokens. */
  readonly prompt: number | null;
  readonly window: number | null;
}

/** Bounds on what a hostile or endless body may cost. */
const MOST_DEPTH = 8;
const MOST_TEXTS = 16;
/** Characters of one text that are looked at; every known wording is in the first few hundred. */
const MOST_CHARACTERS = 4_000;
/** Characters of a body that is still taken for an error and parsed. */
const MOST_BODY = 16_777_216;
/** The same for a body that is wrapped in another as a string. */
const MOST_WRAPPED = 65_536;

/**
 * A refusal as it came over HTTP. `body`: text, of which JSON is parsed; HTML and other text become the message, in short.
 * LM Studio sends errors with status 200: a status that the body names then counts instead.
 */
export function faultOf(status: number, body: string): Fault {
  const parsed = body.length > MOST_BODY ? undefined : parseJson(body.trim());
  if (parsed === undefined) return { status, message: plain(body), type: null, code: null, body };
  const said = evidenceIn(parsed);
  const error = innermost(parsed);
  return {
    status: status < 400 ? (httpStatus(error?.code) ?? status) : status,
    message: said.texts[0] ?? "",
    type: asString(error?.type) ?? null,
    code: typeof error?.code === "number" ? String(error.code) : (asString(error?.code) ?? null),
    body: parsed,
  };
}

/** What a fault says, read from its body, or from its message where the body is none of ours. */
export function evidenceOf(fault: Fault): Evidence {
  const said = evidenceIn(fault.body);
  const own = [fault.type, fault.code].filter((code) => code !== null);
  return { ...said, texts: [fault.message.slice(0, MOST_CHARACTERS), ...said.texts], codes: [...own, ...said.codes] };
}

function evidenceIn(body: unknown): Evidence {
  const said: { -readonly [K in keyof Evidence]: Evidence[K] } & { texts: string[]; codes: string[] } = {
    texts: [],
    codes: [],
    param: null,
    prompt: null,
    window: null,
  };
  const text = (value: string) => {
    if (said.texts.length < MOST_TEXTS) said.texts.push(value.slice(0, MOST_CHARACTERS));
  };
  const read = (value: unknown, depth: number): void => {
    if (depth > MOST_DEPTH) return;
    if (typeof value === "string") {
      // OpenRouter wraps the provider's own body as a string.
      const inner = value.length <= MOST_WRAPPED && /^\s*[{[]/.test(value) ? parseJson(value) : undefined;
      if (inner === undefined) text(value);
      else read(inner, depth + 1);
      return;
    }
    if (Array.isArray(value)) {
      // Gemini puts its error into an array; pydantic lists one problem after the other.
      for (const item of value.slice(0, MOST_TEXTS)) read(item, depth + 1);
      return;
    }
    const object = asObject(value);
    if (object === undefined) return;
    for (const code of [object.code, object.type, object.error_type])
      if (typeof code === "string") said.codes.push(code);
    said.param ??= asString(object.param) ?? null;
    if (typeof object.n_prompt_tokens === "number") said.prompt = object.n_prompt_tokens;
    if (typeof object.n_ctx === "number") said.window = object.n_ctx;
    // Pydantic: the field stands beside the sentence.
    const where = asArray(object.loc).filter((part) => typeof part === "string");
    if (typeof object.msg === "string") text(where.length === 0 ? object.msg : `${where.join(".")}: ${object.msg}`);
    read(object.error, depth + 1);
    read(object.message, depth + 1);
    read(object.detail, depth + 1);
    const metadata = asObject(object.metadata);
    if (typeof metadata?.error_type === "string") said.codes.push(metadata.error_type);
    read(metadata?.raw, depth + 1);
    read(object.availability, depth + 1);
    read(asObject(object.response)?.error, depth + 1);
    read(asObject(asArray(object.choices)[0])?.error, depth + 1);
  };
  read(body, 0);
  return said;
}

/** The object that holds message, type and code. */
function innermost(body: Json) {
  const outer = asObject(Array.isArray(body) ? body[0] : body);
  return asObject(outer?.error) ?? outer;
}

function httpStatus(code: unknown): number | undefined {
  return typeof code === "number" && code >= 400 && code <= 599 ? code : undefined;
}

/** The title of a page, or the first words of a text. */
function plain(body: string): string {
  const start = body.slice(0, MOST_CHARACTERS);
  const title = /<title[^>]*>([^<]*)/i.exec(start)?.[1];
  return (title ?? start.replace(/<[^>]*>?/g, " ")).replace(/\s+/g, " ").trim().slice(0, 300);
}
