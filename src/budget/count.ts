import type { Piece } from "../core/ask.ts";
import { Anchors } from "./anchors.ts";
import { type Calibration, estimate, isOverthrown, learn, startOf } from "./calibrate.ts";
import { ceiling, textCeiling } from "./ceiling.ts";
import { type Family, familyOf, UNKNOWN_FAMILY } from "./families.ts";
import { addPiece, at, type Features, noFeatures, textOf } from "./features.ts";
import { mix } from "./identity.ts";
import { mediaCost } from "./media.ts";
import { expected } from "./regression.ts";
import type { Encoding } from "./tokenizer/encoding.ts";
import type { Measure } from "./tokenizer/measure.ts";

/** Tokens of a prompt, all in tokens. */
export interface Count {
  readonly tokens: number;
  /** The truth is within `tokens` +- `bound`; 0: exact. */
  readonly bound: number;
  /** `ceiling`: not counted, `tokens` is an upper limit. */
  readonly method: "exact" | "estimate" | "ceiling";
  /** What `tokens` is made of; `other` is the template, sounds and files. */
  readonly parts: {
    readonly messages: number;
    readonly tools: number;
    readonly schema: number;
    readonly images: number;
    readonly other: number;
  };
  /** What a reply's usage is learned from; null: nothing can be. */
  readonly evidence: Evidence | null;
}

/** Numbers about a counted prompt, none of its content. */
interface Evidence {
  /** Identity of the whole prompt. */
  readonly id: number;
  /** Tokens of its beginning, where that was once a whole prompt; else 0. */
  readonly base: number;
  /** Of the whole prompt, and of what is beyond its known beginning. */
  readonly features: Features;
  readonly beyond: Features;
  /** Upper limit of the whole prompt's tokens. */
  readonly most: number;
}

/** A text's measure, and a number that tells it from other texts. */
export interface Measured {
  readonly measure: Measure;
  id: number;
}

/** Measures texts in the vocabulary `encoding`; at once where all was measured before. */
export type Measurer = (
  encoding: Encoding,
  texts: readonly string[],
) => readonly Measured[] | Promise<readonly Measured[]>;

/** Whose prompt is counted. */
export interface Target {
  /** Upstreams may serve different models under one name. */
  readonly upstream: string;
  readonly model: string;
  /** Length of the request's JSON in UTF-8. */
  readonly bodyBytes: number;
}

export interface Counter {
  /** An estimate with its bound, exact where vocabulary and template are the model's own. At once where nothing in it is new. */
  count(pieces: readonly Piece[], target: Target): Count | Promise<Count>;
  /** An upstream has reported (or counted) the tokens of a counted prompt, cached ones included. */
  learn(count: Count, target: Target, reported: number): void;
  /**
   * The same of a prompt that was not counted, since its length had proved that it fits. The first ones of a model teach; all later ones
   * and large ones are not even looked at, nor is any before a count was needed: a tokenizer that nobody else wants would cost more memory
   * than all the rest.
   */
  study(pieces: () => readonly Piece[], target: Target, reported: number): Promise<void>;
  /** What was learned, for `/status`, saving and sharing. */
  calibration(upstream: string, model: string): Calibration | null;
  restore(upstream: string, model: string, calibration: Calibration): void;
}

/** Models remembered; names come from clients. */
const MOST_MODELS = 256;
/** Tokens by which the joint between a known prompt and what is new may be off. */
const JOINT = 2;
/** Misses of anchored counts after which a model's prompts are taken to change in the middle (thoughts of earlier turns left out). */
const MOST_MISSES = 2;

/** Replies after which prompts that need no count are not read for the sake of learning. */
const ENOUGH = 64;
/** Bytes of the largest that is. */
const MOST_STUDIED = 65_536;

/** The first `piece` pieces are a prompt that is known to cost `tokens`. */
interface Anchor {
  readonly piece: number;
  readonly tokens: number;
}
const NO_ANCHOR: Anchor = { piece: 0, tokens: 0 };

interface Known {
  calibration: Calibration;
  misses: number;
  /** Prompts read for the sake of learning. */
  studied: number;
}

/** An upper limit in the shape of a count. */
export function ceilingCount(pieces: readonly Piece[], target: Target): Count {
  const tokens = ceiling(pieces, target.bodyBytes, target.model);
  return {
    tokens,
    bound: 0,
    method: "ceiling",
    parts: { messages: tokens, tools: 0, schema: 0, images: 0, other: 0 },
    evidence: null,
  };
}

/** @param turn lets others have their turn of the event loop: a prompt of very many pieces is counted in several */
export function createCounter(measure: Measurer, turn: () => Promise<unknown> = () => Promise.resolve()): Counter {
  const models = new Map<string, Known>();
  const anchors = new Anchors();
  let needed = false;

  const counter: Counter = {
    count(pieces, target) {
      needed = true;
      // What has made so many pieces has had its turn.
      return pieces.length > TURN_PIECES ? turn().then(() => counted(pieces, target)) : counted(pieces, target);
    },

    learn(count, target, reported) {
      const { evidence } = count;
      if (evidence === null) return;
      const known = knownOf(target.upstream, target.model);
      const before = known.calibration;
      known.calibration = learn(before, evidence, reported);
      if (evidence.base > 0 && Math.abs(reported - count.tokens) > count.bound) known.misses++;
      if (known.calibration === before) return;
      // A report that surprises may be wrong: nothing is built on it.
      if (known.calibration.strikes === 0) anchors.set(evidence.id, reported);
      if (isOverthrown(known.calibration)) {
        // Whatever its name says, it is not of that family; nor is it what it was.
        known.calibration = startOf({ ...UNKNOWN_FAMILY, encoding: familyOf(target.model).encoding });
        known.misses = 0;
      }
    },

    async study(pieces, target, reported) {
      if (!needed) return;
      const known = knownOf(target.upstream, target.model);
      if (Math.max(known.studied, known.calibration.replies) >= ENOUGH || target.bodyBytes > MOST_STUDIED) return;
      known.studied++;
      counter.learn(await counter.count(pieces(), target), target, reported);
    },

    calibration: (upstream, model) => models.get(keyOf(upstream, model))?.calibration ?? null,
    restore(upstream, model, calibration) {
      knownOf(upstream, model).calibration = calibration;
    },
  };
  return counter;

  function counted(pieces: readonly Piece[], target: Target): Count | Promise<Count> {
    const family = familyOf(target.model);
    const measured = measure(family.encoding, pieces.map(textOf));
    const counting = (all: readonly Measured[]) => countOf(pieces, all, family, target);
    if (measured instanceof Promise)
      return measured.then(
        (all) => inTurns(counting(all), turn),
        // The tokenizer's thread is gone: the length still bounds the count.
        () => ceilingCount(pieces, target),
      );
    return pieces.length > TURN_PIECES ? inTurns(counting(measured), turn) : atOnce(counting(measured));
  }

  function knownOf(upstream: string, model: string): Known {
    const key = keyOf(upstream, model);
    const known = models.get(key) ?? { calibration: startOf(familyOf(model)), misses: 0, studied: 0 };
    models.delete(key);
    if (models.size >= MOST_MODELS) {
      const oldest = models.keys().next();
      if (!oldest.done) models.delete(oldest.value);
    }
    models.set(key, known);
    return known;
  }

  /** Yields whenever the loop should have a turn. */
  function* countOf(
    pieces: readonly Piece[],
    measured: readonly Measured[],
    family: Family,
    target: Target,
  ): Generator<void, Count> {
    const known = knownOf(target.upstream, target.model);
    const { calibration } = known;
    const whole = yield* featuresOf(pieces, measured);
    const media = mediaOf(pieces, target.model);
    const most = textCeiling(pieces, target.bodyBytes, target.model);
    const ids = yield* identities(pieces, measured, mix(0, keyOf(target.upstream, target.model)));

    const anyMedia = media.images + media.other > 0;
    const anchor = known.misses < MOST_MISSES && !anyMedia ? anchorOf(pieces, ids) : NO_ANCHOR;
    const features =
      anchor.piece === 0 ? whole : yield* featuresOf(pieces.slice(anchor.piece), measured.slice(anchor.piece));
    if (anchor.piece > 0) features[at.extra("request")] = 0;
    const again = anchor.piece > 0 && anchor.piece === pieces.length;
    const exact = again || (family.exact && calibration.nearness === "own" && isPlain(pieces));

    const beyond = estimate(calibration, features);
    const text = Math.max(0, Math.min(most, Math.round(anchor.tokens + beyond.tokens)));
    const tokens = text + media.images + media.other;
    const widest = Math.max(most - text, text - anchor.tokens);
    const joint = anchor.piece > 0 ? JOINT : 0;
    const bound = exact ? 0 : Math.ceil(Math.min(beyond.bound + joint, widest) + media.bound);

    return {
      tokens,
      bound,
      method: exact ? "exact" : "estimate",
      parts: partsOf(pieces, measured, calibration, text, media),
      evidence:
        !anyMedia && !again
          ? { id: ids[pieces.length] ?? 0, base: anchor.tokens, features: whole, beyond: features, most }
          : null,
    };
  }

  /** The longest beginning of the prompt that was once a whole prompt. */
  function anchorOf(pieces: readonly Piece[], ids: readonly number[]): Anchor {
    for (let piece = pieces.length; piece > 0; piece--) {
      const next = pieces[piece];
      if (next !== undefined && !(next.kind === "text" && next.opens)) continue;
      const tokens = anchors.get(ids[piece] ?? 0);
      if (tokens !== null) return { tokens, piece };
    }
    return NO_ANCHOR;
  }
}

function keyOf(upstream: string, model: string): string {
  return `${upstream}\n${model}`;
}

/** Pieces that are worked on in one turn of the loop: some milliseconds. */
const TURN_PIECES = 16_384;

function atOnce<T>(work: Generator<void, T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

async function inTurns<T>(work: Generator<void, T>, turn: () => Promise<unknown>): Promise<T> {
  let step = work.next();
  while (step.done !== true) {
    await turn();
    step = work.next();
  }
  return step.value;
}

function* featuresOf(pieces: readonly Piece[], measured: readonly Measured[]): Generator<void, Features> {
  const features = noFeatures();
  for (const [i, piece] of pieces.entries()) {
    const text = measured[i];
    if (text !== undefined) addPiece(features, piece, text.measure);
    if (i % TURN_PIECES === TURN_PIECES - 1) yield;
  }
  return features;
}

/** The identity of the first n pieces, for every n. */
function* identities(
  pieces: readonly Piece[],
  measured: readonly Measured[],
  start: number,
): Generator<void, number[]> {
  const ids = [start];
  for (const [i, piece] of pieces.entries()) {
    const opens = piece.kind === "text" && piece.opens;
    const role = piece.kind === "text" ? piece.role : "";
    ids.push(mix(ids[i] ?? 0, `${piece.kind}${opens}${role}\n${measured[i]?.id}`));
    if (i % TURN_PIECES === TURN_PIECES - 1) yield;
  }
  return ids;
}

interface MediaCosts {
  images: number;
  other: number;
  bound: number;
}

function mediaOf(pieces: readonly Piece[], model: string): MediaCosts {
  const sum: MediaCosts = { images: 0, other: 0, bound: 0 };
  for (const piece of pieces) {
    if (piece.kind === "tokens") sum.other += piece.count;
    if (piece.kind !== "image" && piece.kind !== "audio" && piece.kind !== "file") continue;
    const cost = mediaCost(piece, model);
    sum[piece.kind === "image" ? "images" : "other"] += cost.tokens;
    sum.bound += cost.bound;
  }
  return sum;
}

/** Each message is one text of one known role, and there is nothing else: what published formulas are about. */
function isPlain(pieces: readonly Piece[]): boolean {
  let texts = 0;
  for (const piece of pieces) {
    if (piece.kind !== "text") return false;
    texts = piece.opens ? 0 : texts;
    if (piece.text !== "" && ++texts > 1) return false;
  }
  return true;
}

/** What of the text is tools, schema and template by what is believed; messages are the rest. */
function partsOf(
  pieces: readonly Piece[],
  measured: readonly Measured[],
  { belief }: Calibration,
  text: number,
  media: MediaCosts,
): Count["parts"] {
  const costOf = (some: (piece: Piece) => boolean) => {
    const features = noFeatures();
    for (const [i, piece] of pieces.entries()) {
      const own = measured[i];
      if (own !== undefined && some(piece)) addPiece(features, piece, own.measure);
    }
    features[at.extra("request")] = 0;
    return expected(belief, features);
  };
  const clip = (cost: number, most: number) => Math.max(0, Math.min(Math.round(cost), most));
  const tools = clip(
    costOf(({ kind }) => kind === "tool_definition"),
    text,
  );
  const schema = clip(
    costOf(({ kind }) => kind === "schema"),
    text - tools,
  );
  const opened = pieces.filter((piece) => piece.kind === "text" && piece.opens).length;
  const perMessage = belief.mean[at.extra("messages")] ?? 0;
  const template = clip(
    opened * perMessage + (opened > 0 ? (belief.mean[at.extra("request")] ?? 0) : 0),
    text - tools - schema,
  );
  return {
    messages: text - tools - schema - template,
    tools,
    schema,
    images: media.images,
    other: template + media.other,
  };
}
