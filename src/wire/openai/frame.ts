import { asArray, asObject, asString, isObject, type JsonObject, parseJson } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import type { Frame } from "../wire.ts";
import { faultOf } from "./fault.ts";
import { finishOf, stillOpen } from "./finish.ts";
import { usageOf } from "./usage.ts";

/** What chat and completions do differently within a choice. */
export interface Choice {
  /** What a choice of a chunk, or of a plain body, says. */
  said(choice: JsonObject): Part[];
  /** It holds output, be it of a kind that no part has (audio, pictures). */
  speaks(choice: JsonObject): boolean;
  /** What a choice of a chunk holds that says nothing. */
  readonly silence: JsonObject;
}

/** Reads one event. Output is taken from the first choice only: several choices are never healed, but each one's finish counts. */
export function readFrame(event: string, data: string, of: Choice): Frame {
  if (data.trim() === "[DONE]") return frame("tail", event, data, null, [{ kind: "end" }]);
  const parsed = parseJson(data);
  const fault = faultOf(event, parsed ?? data);
  const json = asObject(parsed) ?? asObject(asArray(parsed)[0]) ?? null;
  if (json === null) {
    if (fault !== null) return frame("tail", event, data, null, [{ kind: "fault", fault }]);
    return { ...frame("quiet", event, data, null, []), garbage: true };
  }
  const choices = asArray(json.choices).filter(isObject);
  const parts = partsOf(json, of);
  if (fault !== null) parts.push({ kind: "fault", fault });
  if (choices.some((choice) => of.speaks(choice))) return frame("output", event, data, json, parts);
  if (parts.length === 0) return frame("quiet", event, data, json, parts);
  const usageOnly = choices.every((choice) => asString(choice.finish_reason) === undefined);
  return { ...frame("tail", event, data, json, parts), usageOnly: usageOnly && parts.every(isUsage) };
}

/** What a plain body says. A body that holds no choice has not ended. */
export function readBody(body: JsonObject, of: Choice): Part[] {
  const parts = partsOf(body, of);
  const fault = faultOf("", body);
  if (fault !== null) return [...parts, { kind: "fault", fault }];
  return asArray(body.choices).length === 0 ? parts : [...parts, { kind: "end" }];
}

/** An output frame that also ends the reply, as its output and its end. */
export function splitFrame(whole: Frame, of: Choice): readonly Frame[] {
  const { kind, json, parts } = whole;
  if (kind !== "output" || json === null || !parts.some((part) => part.kind === "finish" || part.kind === "fault")) {
    return [whole];
  }
  const { usage, error, ...flowing } = json;
  const choices = asArray(json.choices).filter(isObject);
  const output = { ...flowing, choices: choices.map(stillOpen) };
  const tail = { ...json, choices: choices.map((choice) => ({ ...withoutLogprobs(choice), ...of.silence })) };
  return [output, tail].map((half) => readFrame(whole.event, JSON.stringify(half), of));
}

function withoutLogprobs(choice: JsonObject): JsonObject {
  return choice.logprobs === undefined ? choice : { ...choice, logprobs: null };
}

function partsOf(json: JsonObject, of: Choice): Part[] {
  const parts: Part[] = [];
  const choices = asArray(json.choices).filter(isObject);
  choices.forEach((choice, position) => {
    if (indexOf(choice, position) === 0) parts.push(...of.said(choice));
  });
  choices.forEach((choice, position) => {
    const finish = finishOf(choice, json);
    if (finish !== null) parts.push({ kind: "finish", choice: indexOf(choice, position), finish });
  });
  const usage = usageOf(json);
  if (usage !== null) parts.push({ kind: "usage", usage });
  return parts;
}

function indexOf(choice: JsonObject, position: number): number {
  return typeof choice.index === "number" ? choice.index : position;
}

function isUsage(part: Part): boolean {
  return part.kind === "usage";
}

function frame(
  kind: Frame["kind"],
  event: string,
  data: string,
  json: JsonObject | null,
  parts: readonly Part[],
): Frame {
  return { kind, event, data, json, parts, usageOnly: false, garbage: false };
}
