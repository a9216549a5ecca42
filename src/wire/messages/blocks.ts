import { asArray, asString, type Json, type JsonObject, parseJson } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import { type Block, emptyReply, take } from "../../core/reply.ts";

/** A thought that must go back as it came. An empty signature signs nothing (llama-server). */
function isSealed(block: JsonObject): boolean {
  return block.type === "redacted_thinking" || (typeof block.signature === "string" && block.signature !== "");
}

/** What a content block of a plain body says. Blocks that are no output of the model's own (server tools) say nothing. */
export function partsOf(content: JsonObject, block: number): Part[] {
  switch (content.type) {
    case "text":
      return [{ kind: "text", block, text: asString(content.text) ?? "" }];
    case "thinking":
    case "redacted_thinking": {
      const said: Part[] = [{ kind: "reasoning", block, text: asString(content.thinking) ?? "" }];
      if (!isSealed(content)) return said;
      const whole = content.type === "redacted_thinking";
      return [...said, whole ? { kind: "sealed_reasoning", block, whole } : { kind: "sealed_reasoning", block }];
    }
    case "tool_use": {
      const { id, name, input } = content;
      return [
        { kind: "tool", block, id: asString(id) ?? "", name: asString(name) ?? "", args: argsOf(input) },
        { kind: "tool_end", block },
      ];
    }
    default:
      return [];
  }
}

/** The same as a block of a reply; null where it says nothing. */
export function blockOf(content: JsonObject, number: number): Block | null {
  const reply = emptyReply();
  for (const part of partsOf(content, number)) take(reply, part);
  return reply.blocks[0] ?? null;
}

/** A block of a joined reply as a content block; `own` is what it was in the body it came from. */
export function contentOf(block: Block, own: JsonObject | null): JsonObject | null {
  switch (block.kind) {
    case "text":
      return block.text === "" ? null : { type: "text", ...own, text: block.text };
    case "reasoning":
      if (own !== null && (asString(own.thinking) ?? "") === block.text) return own;
      // What was signed is no longer what it was.
      return block.text === "" ? null : { type: "thinking", ...own, thinking: block.text, signature: "" };
    case "tool":
      return own ?? { type: "tool_use", id: block.id, name: block.name, input: inputOf(block.text) };
    default:
      return block.kind satisfies never;
  }
}

/** Arguments as they are streamed. */
function argsOf(input: Json | undefined): string {
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}

/** Arguments that are no JSON are handed on as they are: never emptied, never mended. */
function inputOf(args: string): Json {
  return args.trim() === "" ? {} : (parseJson(args) ?? args);
}

/** A content block as a stream tells it: how it starts, and what is added to it. */
export function streamed(content: JsonObject): { readonly start: JsonObject; readonly deltas: readonly JsonObject[] } {
  switch (content.type) {
    case "text": {
      const { citations, ...start } = content;
      const cited = asArray(citations).map((citation) => ({ type: "citations_delta", citation }));
      return { start: { ...start, text: "" }, deltas: [{ type: "text_delta", text: content.text }, ...cited] };
    }
    case "thinking": {
      const thought = { type: "thinking_delta", thinking: content.thinking };
      const signed = isSealed(content) ? [{ type: "signature_delta", signature: content.signature }] : [];
      return { start: { ...content, thinking: "", signature: "" }, deltas: [thought, ...signed] };
    }
    case "tool_use":
      return {
        start: { ...content, input: {} },
        deltas: [{ type: "input_json_delta", partial_json: argsOf(content.input) }],
      };
    default:
      return { start: content, deltas: [] };
  }
}
