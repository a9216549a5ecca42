import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { count } from "../../src/cli/count.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lastword-count-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(file: string, input = "", isTTY = false) {
  const said = { out: "", err: "" };
  const stream = (to: keyof typeof said) => ({
    write: (text: string) => {
      said[to] += text;
    },
  });
  const stdin = Object.assign(Readable.from([Buffer.from(input)]), { isTTY });
  const code = await count({ file }, { stdin, stdout: stream("out"), stderr: stream("err") });
  return { code, ...said };
}

/** The figures of a table, by the label in front of them. */
function rows(out: string): Record<string, string> {
  return Object.fromEntries(
    out
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/) as [string, string]),
  );
}

const user = (content: unknown) => ({ role: "user", content });

describe("lastword count", () => {
  test("plain text in the model's own vocabulary is exact", async () => {
    const body = { model: "gpt-4o", messages: [{ role: "system", content: "You are helpful" }, user("Hello")] };
    const { code, out, err } = await run("-", JSON.stringify(body));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(rows(out)).toMatchObject({
      wire: "chat",
      model: "gpt-4o",
      "counted as": "gpt4o, by o200k",
      method: "exact",
    });
    // 3 per message, a token for each role, 3 for the reply to come, and the words.
    expect(rows(out).total).toBe("15 tokens");
  });

  test("what is there is told apart, and the bound is told", async () => {
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const body = {
      model: "qwen/qwen3-8b",
      messages: [
        user([
          { type: "text", text: "Where is this?" },
          { type: "image_url", image_url: { url: "https://a.example/b.png" } },
        ]),
      ],
      tools: [{ type: "function", function: { name: "look_up", parameters } }],
      response_format: { type: "json_schema", json_schema: { name: "place", schema: parameters } },
    };
    const path = join(folder, "body.json");
    writeFileSync(path, `\uFEFF${JSON.stringify(body, null, 2)}`);
    const { code, out } = await run(path);
    expect(code).toBe(0);
    const told = rows(out);
    expect(Object.keys(told)).toEqual([
      "wire",
      "model",
      "counted as",
      "messages",
      "tools",
      "schema",
      "images",
      "template, sounds, files",
      "total",
      "method",
    ]);
    const parts = ["messages", "tools", "schema", "images", "template, sounds, files"];
    const sum = parts.reduce((total, part) => total + Number(told[part]), 0);
    expect(told.total).toBe(`${sum} tokens`);
    expect(told.method).toMatch(/^estimate, off by at most \d+ \(\d+ to \d+\)$/);
  });

  test.each([
    ["chat", { messages: [user("Hi")] }],
    ["messages", { system: "Be brief.", messages: [user("Hi")], max_tokens: 9 }],
    ["messages", { messages: [user([{ type: "tool_result", tool_use_id: "a", content: "b" }])], max_tokens: 9 }],
    ["messages", { messages: [user("Hi")], tools: [{ name: "t", input_schema: {} }], max_tokens: 9 }],
    ["responses", { input: "Hi" }],
    ["completions", { prompt: "Once upon a time" }],
  ])("the wire is %s", async (wire, body) => {
    const { code, out, err } = await run("-", JSON.stringify({ model: "gpt-4o", ...body }));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(rows(out).wire).toBe(wire);
  });

  test("what cannot be counted is told without quoting it", async () => {
    const canary = "canary";
    expect(await run("-", canary)).toMatchObject({
      code: 1,
      err: expect.stringContaining("standard input is not JSON"),
    });
    expect(await run("-", `["${canary}"]`)).toMatchObject({ code: 1, err: expect.stringContaining("not an object") });
    expect(await run("-", `{"${canary}": 1}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining("no messages, input or prompt"),
    });
    expect(await run("-", '{"messages": 5}')).toMatchObject({ code: 1, err: expect.stringContaining("messages") });
    expect(await run(join(folder, "none.json"))).toMatchObject({
      code: 1,
      err: expect.stringContaining("cannot be read (ENOENT)"),
    });
    for (const input of [canary, `["${canary}"]`, `{"${canary}": 1}`]) {
      const { out, err } = await run("-", input);
      expect(out + err).not.toContain(canary);
    }
  });

  test("on a terminal it says what it waits for", async () => {
    const { err } = await run("-", '{"prompt": "a"}', true);
    expect(err).toContain("Ctrl-D");
  });
});
