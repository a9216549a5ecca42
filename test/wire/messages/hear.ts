import { expect } from "vitest";
import { asArray, asObject, type JsonObject } from "../../../src/core/json.ts";

/** The message that a client's accumulator makes of a stream. Fails where one would trip over it. */
export function hear(events: readonly JsonObject[]): JsonObject {
  let message: JsonObject | null = null;
  const content: JsonObject[] = [];
  const open = new Set<number>();
  let stopped = false;
  for (const event of events) {
    expect(stopped, "nothing behind message_stop").toBe(false);
    if (event.type === "message_start") {
      expect(message, "one message_start").toBeNull();
      message = { ...asObject(event.message) };
      continue;
    }
    expect(message, `message_start before ${event.type}`).not.toBeNull();
    const index = Number(event.index);
    const block = content[index] ?? {};
    const delta = asObject(event.delta) ?? {};
    switch (event.type) {
      case "content_block_start":
        expect(index, "blocks in order").toBe(content.length);
        content.push({ ...asObject(event.content_block) });
        open.add(index);
        break;
      case "content_block_delta":
        expect(open.has(index), `block ${index} is open`).toBe(true);
        if (delta.type === "text_delta") block.text = `${block.text}${delta.text}`;
        if (delta.type === "thinking_delta") block.thinking = `${block.thinking}${delta.thinking}`;
        if (delta.type === "signature_delta") block.signature = delta.signature;
        if (delta.type === "input_json_delta") block.json = `${block.json ?? ""}${delta.partial_json}`;
        if (delta.type === "citations_delta") block.citations = [...asArray(block.citations), delta.citation ?? null];
        break;
      case "content_block_stop":
        expect(open.delete(index), `block ${index} is stopped once`).toBe(true);
        if (typeof block.json === "string") {
          block.input = JSON.parse(block.json);
          delete block.json;
        }
        break;
      case "message_delta":
        expect(open.size, "all blocks are stopped").toBe(0);
        message = { ...message, ...delta, usage: { ...asObject(message?.usage), ...asObject(event.usage) } };
        if (event.lastword !== undefined) message.lastword = event.lastword;
        break;
      case "message_stop":
        stopped = true;
        break;
      default:
        expect.unreachable(`unknown event ${event.type}`);
    }
  }
  expect(stopped, "message_stop").toBe(true);
  return { ...message, content };
}
