import type { Calibration } from "../budget/calibrate.ts";
import { asArray, asNumber, asObject, asString, isObject, type Json, type JsonObject } from "../core/json.ts";
import type { Lessons } from "../upstream/knowledge.ts";

/** What a way of continuing has come to, in the order in which that happens: it is never tried again once it was refused. */
const RESUMES = ["works", "ignored", "refused"] as const;

/**
 * Adds to one replica's lessons what another has learned. In whatever order replicas hear of each other they end with the same, but for
 * hints of which each keeps its own (`mendedBy`, `capField`). @returns whether anything was new
 */
export function merge(own: Lessons, other: Lessons): boolean {
  const before = JSON.stringify(own);
  if (isNewer(other.window, other.windowUntil, own.window, own.windowUntil)) {
    own.window = other.window;
    own.windowUntil = other.windowUntil;
  }
  if (isNewer(other.maxOutput, other.maxOutputUntil, own.maxOutput, own.maxOutputUntil)) {
    own.maxOutput = other.maxOutput;
    own.maxOutputUntil = other.maxOutputUntil;
  }
  own.served = Math.max(own.served, other.served);
  own.reasons ||= other.reasons;
  own.effortRefused ||= other.effortRefused;
  own.mendedBy ??= other.mendedBy;
  own.capField ??= other.capField;
  for (const [way, state] of Object.entries(other.resumes)) {
    const known = own.resumes[way];
    if (known === undefined || RESUMES.indexOf(state) > RESUMES.indexOf(known)) own.resumes[way] = state;
  }
  for (const field of other.optionsRefused) if (!own.optionsRefused.includes(field)) own.optionsRefused.push(field);
  return JSON.stringify(own) !== before;
}

/** The later fact stands; of two of the same moment, the smaller, which is the safer. */
function isNewer(value: number | null, until: number, known: number | null, knownUntil: number): boolean {
  if (value === null) return false;
  return until > knownUntil || (until === knownUntil && (known === null || value < known));
}

/** Lessons as they were shared; what is not of their shape, of another version perhaps, is left out. */
export function readLessons(json: Json | undefined): Lessons | null {
  const given = asObject(json);
  if (given === undefined) return null;
  const { mendedBy } = given;
  return {
    window: asNumber(given.window) ?? null,
    windowUntil: asNumber(given.windowUntil) ?? 0,
    maxOutput: asNumber(given.maxOutput) ?? null,
    maxOutputUntil: asNumber(given.maxOutputUntil) ?? 0,
    served: asNumber(given.served) ?? 0,
    reasons: given.reasons === true,
    resumes: readResumes(asObject(given.resumes) ?? {}),
    mendedBy: mendedBy === "raise" || mendedBy === "lower" || mendedBy === "off" ? mendedBy : null,
    effortRefused: given.effortRefused === true,
    capField: asString(given.capField) ?? null,
    optionsRefused: asArray(given.optionsRefused).filter((field) => typeof field === "string"),
  };
}

function readResumes(given: JsonObject): Lessons["resumes"] {
  const resumes: Lessons["resumes"] = {};
  for (const [way, state] of Object.entries(given)) {
    const known = RESUMES.find((one) => one === state);
    if (known !== undefined) resumes[way] = known;
  }
  return resumes;
}

/** A calibration as it was shared, if it is of the same vocabulary and size as `like`, and null otherwise. */
export function readCalibration(json: Json | undefined, like: Calibration): Calibration | null {
  if (!isObject(json) || json.nearness !== like.nearness) return null;
  const given = asObject(json.belief) ?? {};
  const mean = numbers(given.mean, like.belief.mean.length);
  const covariance = numbers(given.covariance, like.belief.covariance.length);
  const [surprise, weight, replies, strikes] = [json.surprise, json.weight, json.replies, json.strikes].map(asNumber);
  if (mean === null || covariance === null || surprise === undefined || weight === undefined) return null;
  if (replies === undefined || strikes === undefined || weight <= 0) return null;
  return { nearness: like.nearness, belief: { mean, covariance }, surprise, weight, replies, strikes };
}

function numbers(given: Json | undefined, length: number): number[] | null {
  const all = asArray(given).filter((one) => typeof one === "number" && Number.isFinite(one)) as number[];
  return all.length === length && asArray(given).length === length ? all : null;
}
