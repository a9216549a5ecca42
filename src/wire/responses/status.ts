import { asArray, asObject, asString, type JsonObject } from "../../core/json.ts";
import type { Finish, FinishKind } from "../../core/part.ts";
import { isCall } from "./channels.ts";

/**
 * Reasons for `incomplete`, in lower case. To add one: the word, its kind, and who says it.
 * A reason that is not here is `other`: an end.
 */
const REASONS: Readonly<Record<string, FinishKind>> = {
  max_output_tokens: "cap",
  max_tokens: "cap", // an example of OpenAI's own specification
  length: "cap", // chat's word, behind adapters
  model_length: "window", // Mistral, behind adapters
  model_context_window_exceeded: "window", // Anthropic, behind adapters
  content_filter: "filter",
};

/** How a response ended. The inner status and reason count, not the name of the event. */
export function finishOf(response: JsonObject): Finish | null {
  const status = asString(response.status);
  const reason = asString(asObject(response.incomplete_details)?.reason);
  if (reason !== undefined || status === "incomplete") {
    const raw = reason ?? "incomplete";
    const key = raw.toLowerCase();
    return { kind: Object.hasOwn(REASONS, key) ? (REASONS[key] ?? "other") : "other", raw };
  }
  if (status === "in_progress" || status === "queued") return null;
  if (status !== undefined && status !== "completed") return { kind: "other", raw: status };
  return {
    kind: asArray(response.output).some((item) => isCall(asObject(item)?.type)) ? "tools" : "done",
    raw: "completed",
  };
}

/** The status that tells this finish, and its reason where it is not whole. */
export function statusOf(finish: Finish): { readonly status: string; readonly reason: string | null } {
  const { kind, raw } = finish;
  switch (kind) {
    case "done":
    case "tools":
    case "pause":
      return { status: "completed", reason: null };
    case "cap":
    case "window":
      return { status: "incomplete", reason: raw === "max_tokens" ? raw : "max_output_tokens" };
    case "filter":
      return { status: "incomplete", reason: "content_filter" };
    case "error":
    case "other":
      if (raw === "cancelled") return { status: raw, reason: null };
      return { status: "incomplete", reason: raw === "incomplete" ? null : raw };
    default:
      return kind satisfies never;
  }
}
