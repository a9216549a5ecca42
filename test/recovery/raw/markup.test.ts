import { describe, expect, it } from "vitest";
import { readMarkup, STAND_IN } from "../../../src/recovery/raw/markup.ts";

const { thought, text, args } = STAND_IN;
const spaced = args.replace(":", ": ");
const head = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n";
const tail = "<|im_end|>\n<|im_start|>tool\nok<|im_end|>\n<|im_start|>assistant\n";

describe("what a rendering shows of its template", () => {
  it("a thought, its text and a call, each behind a sign", () => {
    const rendered = `${head}<think>\n${thought}\n</think>\n\n${text}\n<tool_call>\n{"name": "look", "arguments": ${spaced}}\n</tool_call>${tail}`;
    const shown = readMarkup(rendered, "look");
    expect(rendered.slice(0, shown.thoughtAt ?? -1)).toBe(`${head}<think>\n`);
    expect(rendered.slice(shown.textAt ?? -1)).toMatch(new RegExp(`^${text}`));
    expect(rendered.slice(shown.argsAt ?? -1)).toMatch(/^\{"lwkey/);
    expect(shown.markup).toEqual({
      thoughtEnd: "\n</think>\n\n",
      call: { sign: "<tool_call>", json: { beforeName: '\n{"name": "', beforeArgs: '", "arguments": ' } },
    });
  });

  it("a name that stands in the sign too", () => {
    const rendered = `${head}${text}<tool_call>{"name": "tool", "arguments": ${args}}</tool_call>${tail}`;
    expect(readMarkup(rendered, "tool").markup.call).toEqual({
      sign: "<tool_call>",
      json: { beforeName: '{"name": "', beforeArgs: '", "arguments": ' },
    });
  });

  it("signs in square brackets, nothing between sign and name", () => {
    const rendered = `<s>[INST]hi[/INST]${text}[TOOL_CALLS]look[ARGS]${spaced}</s>[TOOL_RESULTS]ok[/TOOL_RESULTS]`;
    expect(readMarkup(rendered, "look").markup).toEqual({
      thoughtEnd: null,
      call: { sign: "[TOOL_CALLS]", json: { beforeName: "", beforeArgs: "[ARGS]" } },
    });
  });

  it("the last of several calls", () => {
    const rendered = `${head}${text}<tool_call>\n{"name": "look", "arguments": {"a": 1}}\n</tool_call><tool_call>\n{"name": "look", "arguments": ${args}}\n</tool_call>${tail}`;
    expect(rendered.slice(readMarkup(rendered, "look").argsAt ?? -1)).toMatch(/^\{"lwkey/);
  });

  it.each([
    ["no sign: calls that are nothing but JSON", `${text}{"name": "look", "parameters": ${spaced}}`],
    [
      "special tokens, which no completion writes out",
      `${text}<|end|><|start|>assistant to=functions.look<|message|>${args}`,
    ],
    ["no text in a turn that calls", `<tool_call>\n{"name": "look", "arguments": ${args}}\n</tool_call>`],
    ["no calls at all", text],
  ])("cannot tell a call from text: %s", (_name, turn) => {
    const { markup } = readMarkup(`${head}${turn}${tail}`, "look");
    expect(markup.call).toBeNull();
  });

  it("arguments that are not JSON: a call is known, but cannot be read", () => {
    const turn = `${text}\n<tool_call>\n<function=look>\n<parameter=lwkey0q7>\nlwvalue0q7\n</parameter>\n</function>\n</tool_call>`;
    const shown = readMarkup(`${head}${turn}${tail}`, "look");
    expect(shown.argsAt).toBeNull();
    expect(shown.markup.call).toEqual({ sign: "<tool_call>", json: null });
  });

  it.each([
    ["several signs between thought and text", `${thought}<|end|><|start|>assistant<|channel|>final<|message|>${text}`],
    ["no sign between them", `${thought}\n\n${text}`],
    ["the thought is left out", text],
    ["the text comes first", `${text}<think>${thought}</think>`],
  ])("cannot tell where a thought ends: %s", (_name, turn) => {
    expect(readMarkup(`${head}${turn}${tail}`, null).markup.thoughtEnd).toBeNull();
  });
});
