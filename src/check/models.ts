import { nearest } from "../config/nearest.ts";
import { shown } from "../events/names.ts";
import type { Dialect, ModelFacts } from "../upstream/dialect.ts";
import { pasteable, routeElsewhere } from "../upstream/widen.ts";
import { type Finding, finding } from "./finding.ts";
import type { ModelReport } from "./report.ts";
import { localServer, SERVER_NAMES } from "./servers.ts";
import { rule, type Settings } from "./settings.ts";

/** Tokens: below this an agent's tools and history alone overflow. */
const SMALL_WINDOW = 8192;
/** Names in one sentence. */
const MOST_NAMES = 3;
/** Models that write no replies: their windows are nobody's concern. */
const NO_CHAT = /embed|rerank|whisper|\btts\b|transcribe|dall-e|image/i;

/** One model as clients may call it, with what its server says of it. */
export interface SeenModel {
  readonly report: ModelReport;
  /** null: the server does not list it. */
  readonly facts: ModelFacts | null;
  /** A rule names it in full. */
  readonly ruled: boolean;
  /** The prompt that the server would make of a partial reply ends in it; null: not shown. */
  readonly template: boolean | null;
}

/** An upstream whose list came. */
export interface Listed {
  readonly name: string;
  readonly dialect: Dialect;
  /** Known by its host name, so that its models are its own business. */
  readonly hosted: boolean;
  /** The names that it lists. */
  readonly names: readonly string[];
  /** Those that requests can reach here. */
  readonly models: readonly SeenModel[];
  /** It is the first one, or some rule sends to it. */
  readonly used: boolean;
  readonly settings: Settings;
}

/** What is wrong with the models of an upstream, and with what the configuration says of them. */
export function modelFindings(upstream: Listed): Finding[] {
  const { models } = upstream;
  if (!upstream.used) return [unused(upstream)];
  if (upstream.names.length === 0) return [none(upstream)];
  return [
    ...models.flatMap((model) => notListed(model, upstream)),
    ...noneLoaded(upstream),
    ...models.flatMap((model) => windowOf(model, upstream)),
    ...unknownWindows(upstream),
    ...models.flatMap(closed),
  ];
}

function unused({ name }: Listed): Finding {
  return finding(
    "upstream_unused",
    name,
    `No rule sends any model to ${name}, and what no rule matches goes to the first upstream.`,
    `models: [{ match: "*", upstream: ${name} }]`,
  );
}

function none({ name, dialect }: Listed): Finding {
  const get = localServer(dialect.name)?.get ?? "lastword check";
  return finding("no_models", name, `${name} has no model at all.`, get);
}

function notListed({ report, facts, ruled }: SeenModel, { name, names }: Listed): Finding[] {
  if (facts !== null || !ruled) return [];
  const { name: asked, sent_as: sent } = report;
  const close = pasteable(nearest(sent, names) ?? "");
  const says = `A rule sends ${sent} to ${name}, which does not list it.`;
  const fix = sent === asked ? `match: "${close}"` : `alias: "${close}"`;
  return [finding("model_not_listed", asked, says, fix)];
}

/** Windows are told of loaded models only. */
function noneLoaded({ name, dialect, models }: Listed): Finding[] {
  const load = localServer(dialect.name)?.load ?? null;
  const chat = models.filter(writes);
  const [first] = chat;
  if (load === null || first === undefined) return [];
  if (chat.some(({ report }) => report.loaded || report.window !== null)) return [];
  const says = `No model is loaded in ${SERVER_NAMES[dialect.name]}: the first request waits for it, and its window is known only then.`;
  return [finding("none_loaded", name, says, load(first.report.sent_as))];
}

function windowOf(model: SeenModel, { dialect, hosted, settings }: Listed): Finding[] {
  const { name, sent_as, window, window_source, trained } = model.report;
  const loaded = model.facts?.window ?? null;
  if (window === null || !writes(model)) return [];
  if (window_source === "config" && loaded !== null && window > loaded) {
    const says = `The configuration says ${window} tokens, but the server has ${loaded}: longer prompts are let through and fail there.`;
    return [finding("window_not_loaded", name, says, settings.window(name, loaded))];
  }
  const widens = trained === null || trained > window;
  if (hosted || !widens || window >= SMALL_WINDOW || window_source === "config") return [];
  const term = localServer(dialect.name)?.windowTerm ?? "context length";
  const says = `The window (${term}) is ${window} tokens: an agent's tools and history alone can fill it, and no reply can be longer than what is left.`;
  const fix = dialect.name === "generic" ? routeElsewhere(sent_as) : dialect.widen(sent_as);
  return [finding("window_small", name, says, fix)];
}

/** Told once: a gateway may list hundreds. */
function unknownWindows({ name, dialect, hosted, models, settings }: Listed): Finding[] {
  const [first, ...more] = models.filter((model) => {
    const { report, facts, ruled } = model;
    // A model that is not loaded has no window yet; one that others host is anybody's guess until it is named.
    const pending = !report.loaded && (report.trained !== null || facts === null);
    return report.window === null && writes(model) && !pending && (ruled || !(hosted || dialect.name === "openai"));
  });
  if (first === undefined) return [];
  const names = [first, ...more].map(({ report }) => shown(report.name));
  const rest = names.length - MOST_NAMES;
  const told = names.slice(0, MOST_NAMES).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  const says = `${name} does not tell the window of ${told}: nothing is clamped or rejected there, and overflows are told by its own errors alone.`;
  return [finding("window_unknown", name, says, settings.window(more.length === 0 ? first.report.name : "*", "N"))];
}

function closed({ report, template }: SeenModel): Finding[] {
  if (template !== false || report.continuation.known_by === "config") return [];
  const says = "Its chat template closes the assistant's message, so that it cannot be gone on with.";
  return [finding("template_closes", report.name, says, rule(report.name, "continue: nudge"))];
}

/** Whether it is a model that replies are had from, as far as its name tells. */
export function writes({ report }: SeenModel): boolean {
  return !NO_CHAT.test(report.sent_as);
}
