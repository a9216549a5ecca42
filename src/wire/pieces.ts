import type { Piece } from "../core/ask.ts";

export function text(role: string, said: string): Piece {
  return { kind: "text", role, text: said, opens: false };
}

/** Opens a message, so that each message's own cost is counted once. */
export function opens(role: string): Piece {
  return { kind: "text", role, text: "", opens: true };
}

/** `data:application/pdf;base64,...`, or base64 alone. A file that is only named by its id costs what nobody here can know. */
export function file(data: string): Piece {
  const comma = data.indexOf(",");
  if (!data.startsWith("data:") || comma < 0) return { kind: "file", base64: data, mime: "" };
  const mime = data.slice("data:".length, comma).split(";")[0] ?? "";
  return { kind: "file", base64: data.slice(comma + 1), mime };
}
