import type { Family, Nearness } from "./families.ts";
import { at, EXTRAS, type Extra, type Features } from "./features.ts";
import { type Belief, belief, observe, predict } from "./regression.ts";
import { CLASSES, type TextClass } from "./tokenizer/characters.ts";

/**
 * What has been learned of how one model on one upstream counts: from its family at first, then from the usage of every reply.
 * Plain data, so that it can be saved and shared.
 */
export interface Calibration {
  /** Of the vocabulary that its features were measured with. */
  readonly nearness: Nearness;
  readonly belief: Belief;
  /** Squared surprises, each in units of what was expected, and their number; both fade slowly. */
  readonly surprise: number;
  readonly weight: number;
  /** Replies learned from. */
  readonly replies: number;
  /** Replies in a row that were outside the bound. */
  readonly strikes: number;
}

/** An estimate in tokens: the truth is within `bound`. Infinite where nothing is known yet. */
export interface Estimate {
  readonly tokens: number;
  readonly bound: number;
}

/**
 * Standard deviations within which the truth always lay: 14,000 predictions, seven vocabularies, 1,000 generated conversations.
 * With few replies the deviation is itself uncertain, hence `FEW`.
 */
const SURE = 4.5;
const FEW = 6;
/** Tokens that no amount of evidence removes: text that meets the template's own. */
const LEAST = 2;
/** A vocabulary spends at least this share of what its nearest published one does: less is not a count of this prompt. */
const LOWEST = 0.3;
/** Replies in a row outside the bound after which the model is taken for another one. */
const STRIKES = 3;
/** How much of the evidence on surprises one more reply leaves. */
const FADE = 0.995;
const CALMEST = 0.1;
/** The most that one reply may weigh. */
const MOST_SURPRISE = SURE ** 2;

/**
 * What texts of one class differ by even when the class's cost is known: as a share of the cost (a topic, a language), and per token.
 * From the residuals of the measurement behind the families' ratios.
 */
const NOISE: Readonly<Record<TextClass, readonly [share: number, each: number]>> = {
  latin: [0.015, 0.1],
  digit: [0.01, 0.2],
  space: [0.01, 0.3],
  mark: [0.02, 0.2],
  accented: [0.15, 3],
  greek: [0.04, 0.3],
  cyrillic: [0.1, 1],
  hebrew: [0.05, 0.3],
  arabic: [0.1, 2],
  devanagari: [0.06, 0.3],
  indic: [0.15, 3],
  thai: [0.06, 0.4],
  han: [0.05, 0.4],
  kana: [0.04, 0.3],
  hangul: [0.04, 0.3],
  typographic: [0.4, 3],
  symbol: [0.3, 2],
  other: [0.25, 5],
};

/** Letters per token below which text is no language: base64, hashes. Vocabularies differ more on these. */
const USUAL_LATIN = 3.5;
const DENSE_SHARE = 0.15;

/** What is believed of a model before its first reply. */
export function startOf(family: Family): Calibration {
  const mean: Features = [];
  const spread: Features = [];
  for (const name of CLASSES) {
    const digits = family.singleDigits && name === "digit";
    const wide = family.spread[name];
    mean[at.tokens(name)] = digits ? 0 : family.ratio[name];
    spread[at.tokens(name)] = wide * family.ratio[name];
    // Vocabularies that are far from the published one cost by the character rather than by its tokens.
    mean[at.characters(name)] = digits ? 1 : 0;
    spread[at.characters(name)] = wide * CHARACTER_SPREAD[name];
  }
  for (const name of EXTRAS) [mean[at.extra(name)], spread[at.extra(name)]] = extraOf(family, name);
  const known = family.nearness !== "unknown";
  const weight = known ? 16 : 4;
  return {
    nearness: family.nearness,
    belief: belief(mean, spread),
    surprise: known ? weight : 2 * weight,
    weight,
    replies: 0,
    strikes: 0,
  };
}

/** Tokens per character by which a class may cost more than its tokens say, for a vocabulary of which nothing is known. */
const CHARACTER_SPREAD: Readonly<Record<TextClass, number>> = {
  latin: 0.4,
  digit: 0.7,
  space: 0.25,
  mark: 0.6,
  accented: 0.8,
  greek: 0.7,
  cyrillic: 0.7,
  hebrew: 0.8,
  arabic: 0.7,
  devanagari: 0.9,
  indic: 0.9,
  thai: 1,
  han: 1.3,
  kana: 1.2,
  hangul: 1.3,
  typographic: 0.8,
  symbol: 1.2,
  other: 0.8,
};

function extraOf({ template }: Family, name: Extra): readonly [mean: number, spread: number] {
  switch (name) {
    case "messages":
      return template.message;
    case "calls":
      return template.call;
    case "tools":
      return template.tool;
    case "anyTools":
      return template.introduction;
    case "toolText":
      return template.rendering;
    case "schemaText":
      return template.schema;
    case "request":
      return template.request;
    default:
      return name satisfies never;
  }
}

/** The cost of `features`. With nothing known of the vocabulary and no reply yet, only the caller's upper limit bounds it. */
export function estimate(calibration: Calibration, features: Features): Estimate {
  const { mean, variance } = predict(calibration.belief, features);
  const { weight, replies, nearness } = calibration;
  if (nearness === "unknown" && replies === 0) return { tokens: mean, bound: Number.POSITIVE_INFINITY };
  const deviation = Math.sqrt(variance + scaleOf(calibration) * noiseOf(calibration, features));
  return { tokens: mean, bound: SURE * (1 + FEW / weight) * deviation + LEAST };
}

/** Numbers about a prompt that was counted. */
export interface Counted {
  /** Tokens of its beginning, where that is known from earlier replies; else 0. */
  readonly base: number;
  /** Of the whole prompt, and of what is beyond that beginning. */
  readonly features: Features;
  readonly beyond: Features;
  /** Upper limit of the whole prompt's tokens. */
  readonly most: number;
}

/**
 * Learns from what a reply reported. Counts that cannot be of this prompt (none, zero, cached tokens left out, a prompt cut short) teach nothing;
 * one that is merely surprising moves the belief a little; several of these in a row, and the model is another one than before.
 */
export function learn(calibration: Calibration, counted: Counted, reported: number): Calibration {
  const { base, features, beyond, most } = counted;
  if (!Number.isFinite(reported) || reported < 1 || reported > most || reported < LOWEST * textTokens(features))
    return calibration;
  const { tokens, bound } = estimate(calibration, beyond);
  const error = reported - base - tokens;
  const outside = Math.abs(error) > bound;
  const noise = scaleOf(calibration) * noiseOf(calibration, features);
  const expected = predict(calibration.belief, beyond).variance + noiseOf(calibration, beyond);
  return {
    ...calibration,
    belief: observe(calibration.belief, features, reported, outside ? Math.max(noise, error ** 2 / 4) : noise),
    surprise: FADE * calibration.surprise + Math.min(error ** 2 / expected, MOST_SURPRISE),
    weight: FADE * calibration.weight + 1,
    replies: calibration.replies + 1,
    strikes: outside ? calibration.strikes + 1 : 0,
  };
}

/** The last replies were all outside the bound: what was learned is not true of this model any more. */
export function isOverthrown(calibration: Calibration): boolean {
  return calibration.strikes >= STRIKES;
}

/** How surprising the model's replies were, against what was expected. Calm ones say little of the text that has not come yet. */
function scaleOf({ surprise, weight }: Calibration): number {
  return Math.max(CALMEST, surprise / weight);
}

/** Variance that is left when all costs are known, before it is scaled by how surprising the model has been. */
function noiseOf({ belief, nearness }: Calibration, features: Features): number {
  let variance = 1;
  if (nearness === "own") return variance;
  for (const name of CLASSES) {
    const tokens = features[at.tokens(name)] ?? 0;
    const characters = features[at.characters(name)] ?? 0;
    const believed =
      (belief.mean[at.tokens(name)] ?? 0) * tokens + (belief.mean[at.characters(name)] ?? 0) * characters;
    const cost = Math.max(tokens, believed);
    const [share, each] = NOISE[name];
    variance += (share * cost) ** 2 + each * cost;
  }
  const dense = (features[at.tokens("latin")] ?? 0) - (features[at.characters("latin")] ?? 0) / USUAL_LATIN;
  if (dense > 0) variance += (DENSE_SHARE * dense) ** 2;
  return variance;
}

function textTokens(features: Features): number {
  let sum = 0;
  for (const name of CLASSES) sum += features[at.tokens(name)] ?? 0;
  return sum;
}
