import { expect } from "vitest";
import { asArray, asObject, type JsonObject } from "../../../src/core/json.ts";

/** Fields that hold what came piece by piece. */
const PIECES: Readonly<Record<string, string>> = {
  "response.output_text": "text",
  "response.refusal": "refusal",
  "response.reasoning_text": "text",
  "response.reasoning_summary_text": "text",
  "response.function_call_arguments": "arguments",
  "response.custom_tool_call_input": "input",
};

const TERMINAL = ["response.completed", "response.incomplete", "response.failed"];

/** The response that a client's accumulator makes of a stream with numbers. Fails where one would trip over it. */
export function hear(events: readonly JsonObject[]): JsonObject {
  const output: JsonObject[] = [];
  events.forEach((event, i) => {
    expect(event.sequence_number, "numbers in order").toBe(i);
    if (i === 0) expect(event.type).toBe("response.created");
    expect(TERMINAL.includes(String(event.type)), "one terminal event, the last").toBe(i === events.length - 1);
    const item = output[Number(event.output_index)];
    const type = String(event.type);
    if (type === "response.output_item.added") {
      expect(event.output_index, "items in order").toBe(output.length);
      output.push(structuredClone(asObject(event.item) ?? {}));
      return;
    }
    if (event.output_index === undefined) return;
    expect(item, `${type} has an item`).toBeDefined();
    if (event.item_id !== undefined) expect(event.item_id).toBe(item?.id);
    const list = type.includes("summary") ? "summary" : "content";
    const at = Number(event.content_index ?? event.summary_index ?? 0);
    if (type.endsWith("_part.added")) {
      expect(at, "parts in order").toBe(asArray(item?.[list]).length);
      asArray(item?.[list]).push(structuredClone(event.part ?? null));
      return;
    }
    if (type === "response.output_item.done") {
      expect(whole(event.item), "the whole item is what was told").toEqual(whole(item));
      output[Number(event.output_index)] = asObject(event.item) ?? {};
      return;
    }
    const part = asObject(asArray(item?.[list])[at]);
    if (type.endsWith("_part.done")) {
      expect(whole(event.part), "the whole part is what was told").toEqual(whole(part));
      return;
    }
    const [stem, verb] = [type.replace(/\.(delta|done)$/, ""), type.split(".").at(-1)];
    const field = PIECES[stem] ?? "";
    const holder = stem.includes("tool_call") || stem.includes("function_call") ? item : part;
    expect(holder, `${type} has a place`).toBeDefined();
    if (holder === undefined) return;
    if (verb === "delta") holder[field] = `${holder[field] ?? ""}${event.delta}`;
    else expect(event[field], "the whole text is what was told").toBe(holder[field]);
  });
  const response = asObject(events.at(-1)?.response) ?? {};
  if (response.status !== "failed") expect(response.output, "the final output is what was told").toEqual(output);
  return response;
}

/** What a whole adds beside what was told piece by piece. */
function whole(value: unknown): unknown {
  const { status, annotations, logprobs, encrypted_content, content, summary, ...rest } = asObject(value) ?? {};
  return { ...rest, content: asArray(content).map(whole), summary: asArray(summary).map(whole) };
}
