import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { Refused } from "../../src/core/error.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { EventSplitter, parseEvents } from "../../src/upstream/frames.ts";
import { wires } from "../../src/wire/index.ts";

/** `npm run fuzz` gives each half a minute; the suite a glance. */
const MS = process.env.FUZZ === "1" ? 30_000 : 500;
const bounded = { numRuns: 1_000_000, interruptAfterTimeLimit: MS, markInterruptAsFailure: false };

/** What the SSE standard says of one stream, the slow and plain way. */
function bySpecification(text: string): string[] {
  const found: string[] = [];
  let data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === "") {
      if (data.length > 0) found.push(data.join("\n"));
      data = [];
    } else if (line === "data") data.push("");
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return found.filter((one) => one !== "");
}

describe("readers of what comes from outside", () => {
  it(
    "the SSE reader gives what the standard gives, however the bytes are split",
    () => {
      const piece = fc.constantFrom(
        "data: {}",
        'data:{"a":1}',
        "data",
        "data: ",
        ": hi",
        "event: x",
        "id: 1",
        "é🍵",
        "retry: 3",
        "data: [DONE]",
        "error: x",
      );
      const end = fc.constantFrom("\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r", "\n\r\n");
      const stream = fc.array(fc.tuple(piece, end), { maxLength: 12 });
      fc.assert(
        fc.property(stream, fc.array(fc.nat(80), { maxLength: 8 }), (lines, cuts) => {
          const text = `${lines.map(([line, eol]) => line + eol).join("")}\n\n`;
          // A field named error is an event of its own by lastword's reading, for old llama-servers.
          fc.pre(!text.includes("error:"));
          const bytes = Buffer.from(text);
          const splitter = new EventSplitter(1 << 20);
          const heard: string[] = [];
          const hear = (run: Buffer | null) => {
            if (run !== null) for (const { data } of parseEvents(run, false)) if (data !== "") heard.push(data);
          };
          let at = 0;
          for (const cut of [...cuts.map((n) => n % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
            if (cut > at) hear(splitter.push(bytes.subarray(at, cut)));
            at = Math.max(at, cut);
          }
          hear(splitter.rest());
          expect(heard).toEqual(bySpecification(text));
        }),
        bounded,
      );
    },
    MS + 60_000,
  );

  it(
    "request readers take any JSON: an ask, or a refusal that names a field",
    () => {
      const names = [
        "model",
        "messages",
        "input",
        "prompt",
        "max_tokens",
        "max_output_tokens",
        "tools",
        "stop",
        "n",
        "stream",
        "system",
        "content",
        "role",
        "text",
        "type",
      ];
      const value = fc.letrec((tie) => ({
        any: fc.oneof(
          { maxDepth: 4 },
          fc.string({ maxLength: 5 }),
          fc.integer(),
          fc.double(),
          fc.boolean(),
          fc.constant(null),
          tie("list"),
          tie("object"),
        ),
        list: fc.array(tie("any"), { maxLength: 4 }),
        object: fc.dictionary(fc.constantFrom(...names), tie("any"), { maxKeys: 6 }),
      })).object;
      fc.assert(
        fc.property(value, fc.constantFrom(...wires), (body, wire) => {
          try {
            wire.read(body as JsonObject);
            wire.pieces(body as JsonObject);
          } catch (error) {
            expect(error).toBeInstanceOf(Refused);
          }
        }),
        bounded,
      );
    },
    MS + 60_000,
  );

  it(
    "the config loader takes any text: a config, or problems with a place each",
    () => {
      const word = fc.constantFrom(
        "listen:",
        " port: 1",
        "upstreams:",
        "  - { name: a, url: http://x }",
        "models:",
        "- x",
        "{",
        "}",
        "[",
        "${A}",
        "${B:-}",
        "limits: { idleSeconds: -1 }",
        "\t",
        ": :",
        "&a *a",
        "recovery: { heal: maybe }",
      );
      fc.assert(
        fc.property(fc.array(word, { maxLength: 12 }), (lines) => {
          const loaded = loadConfig({ flags: {}, env: {}, file: lines.join("\n") });
          if ("problems" in loaded) expect(loaded.problems.length).toBeGreaterThan(0);
          else expect(loaded.config.upstreams.length).toBeGreaterThan(0);
        }),
        bounded,
      );
    },
    MS + 60_000,
  );
});
