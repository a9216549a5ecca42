import type { JsonObject } from "../../../src/core/json.ts";
import { events } from "../client.ts";

/** One item of a reply, and the pieces in which it comes. */
export type Item =
  | { readonly is: "message" | "reasoning"; readonly pieces: readonly string[] }
  | { readonly is: "call"; readonly name: string; readonly pieces: readonly string[] };

/** A stream as OpenAI writes it: every event numbered, every item opened, told and closed. */
export class OpenAi {
  #sequence = 0;
  #output = -1;
  #item: JsonObject = {};
  readonly #id: string;
  readonly #items: JsonObject[] = [];

  constructor(id: string) {
    this.#id = id;
  }

  created(): string {
    const response = { ...this.#response("in_progress"), output: [] };
    return (
      this.#event({ type: "response.created", response }) + this.#event({ type: "response.in_progress", response })
    );
  }

  open(item: Item): string {
    this.#output++;
    const id = `${item.is}_${this.#id}_${this.#output}`;
    switch (item.is) {
      case "message":
        this.#item = { id, type: "message", status: "in_progress", content: [], role: "assistant" };
        return (
          this.#added() +
          this.#part("response.content_part.added", { type: "output_text", annotations: [], logprobs: [], text: "" })
        );
      case "reasoning":
        this.#item = { id, type: "reasoning", summary: [], content: [] };
        return this.#added() + this.#part("response.content_part.added", { type: "reasoning_text", text: "" });
      case "call":
        this.#item = {
          id,
          type: "function_call",
          status: "in_progress",
          arguments: "",
          call_id: `call_${id}`,
          name: item.name,
        };
        return this.#added();
      default:
        return item satisfies never;
    }
  }

  piece(item: Item, delta: string): string {
    const at = { item_id: this.#item.id, output_index: this.#output };
    switch (item.is) {
      case "message":
        return this.#event({ type: "response.output_text.delta", ...at, content_index: 0, delta, logprobs: [] });
      case "reasoning":
        return this.#event({ type: "response.reasoning_text.delta", ...at, content_index: 0, delta });
      case "call":
        return this.#event({ type: "response.function_call_arguments.delta", ...at, delta });
      default:
        return item satisfies never;
    }
  }

  close(item: Item, told: string, status = "completed"): string {
    const at = { item_id: this.#item.id, output_index: this.#output };
    if (item.is === "call") {
      this.#item = { ...this.#item, status, arguments: told };
      return this.#event({ type: "response.function_call_arguments.done", ...at, arguments: told }) + this.#done();
    }
    const message = item.is === "message";
    const part = message
      ? { type: "output_text", annotations: [], logprobs: [], text: told }
      : { type: "reasoning_text", text: told };
    const type = message ? "response.output_text.done" : "response.reasoning_text.done";
    this.#item = { ...this.#item, ...(message ? { status } : {}), content: [part] };
    return (
      this.#event({ type, ...at, content_index: 0, text: told, ...(message ? { logprobs: [] } : {}) }) +
      this.#part("response.content_part.done", part) +
      this.#done()
    );
  }

  end(status: "completed" | "incomplete", reason: string | null, usage: JsonObject): string {
    const response = { ...this.#response(status), output: this.#items, usage };
    return this.#event({
      type: `response.${status}`,
      response: { ...response, incomplete_details: reason === null ? null : { reason } },
    });
  }

  /** A whole reply. */
  static whole(
    id: string,
    items: readonly Item[],
    status: "completed" | "incomplete" = "completed",
    reason: string | null = null,
  ): string {
    const server = new OpenAi(id);
    let all = server.created();
    for (const item of items) {
      all += server.open(item) + item.pieces.map((piece) => server.piece(item, piece)).join("");
      all += server.close(item, item.pieces.join(""), item === items.at(-1) ? status : "completed");
    }
    return all + server.end(status, reason, { input_tokens: 9, output_tokens: 5, total_tokens: 14 });
  }

  #added(): string {
    return this.#event({ type: "response.output_item.added", output_index: this.#output, item: this.#item });
  }

  #part(type: string, part: JsonObject): string {
    return this.#event({ type, item_id: this.#item.id, output_index: this.#output, content_index: 0, part });
  }

  #done(): string {
    this.#items.push(this.#item);
    return this.#event({ type: "response.output_item.done", output_index: this.#output, item: this.#item });
  }

  #response(status: string): JsonObject {
    return {
      id: `resp_${this.#id}`,
      object: "response",
      created_at: 1,
      status,
      error: null,
      incomplete_details: null,
      max_output_tokens: null,
      model: "m",
      usage: null,
    };
  }

  #event({ type, ...rest }: JsonObject): string {
    return events({ type, sequence_number: this.#sequence++, ...rest });
  }
}
