import type { JsonObject } from "../../core/json.ts";
import { dataEvent } from "../sse.ts";

/**
 * Keeps a silent stream open. The comment has no empty line after it: some decoders make an empty event of that.
 * The empty delta is for clients that count events only; it names no reply, as none may have begun.
 */
export function heartbeat(form: "comment" | "empty-delta", object: string, silence: JsonObject): string {
  if (form === "comment") return ": keep-alive\n";
  const choices = [{ index: 0, ...silence, finish_reason: null }];
  return dataEvent({ id: "", object, created: 0, model: "", choices });
}
