import { describe, expect, test } from "vitest";
import { RECITAL } from "../../src/demo/model.ts";
import { type Canvas, picture, type Scene } from "../../src/demo/picture.ts";

const attempt = { cap: 80, promptTokens: 18, completionTokens: 80, overlap: null };
const CUT_AT = RECITAL.indexOf("Promise") + 5;
const scene: Scene = {
  cap: 80,
  straight: { text: RECITAL.slice(0, CUT_AT), finishReason: "length", attempts: [] },
  healed: {
    text: RECITAL,
    finishReason: "stop",
    attempts: [
      { ...attempt, strategy: "first", finishReason: "length" },
      { strategy: "prefill", cap: 4000, finishReason: "stop", promptTokens: 98, completionTokens: 35, overlap: 0 },
    ],
  },
  whole: true,
};
const ESC = "\u001b";
const lines = (canvas: Canvas, of = scene) => picture(of, canvas).split("\n");
const unpainted = (line: string) => line.replaceAll(new RegExp(`${ESC}\\[\\d+m`, "g"), "");

describe("the picture", () => {
  test("wide: both replies beside each other, nothing wrapped", () => {
    const drawn = lines({ columns: 100, colour: false });
    expect(drawn.some((line) => /^ {2}STRAIGHT FROM THE SERVER +│ THROUGH LASTWORD$/.test(line))).toBe(true);
    expect(drawn.some((line) => /^ {4}new Promi +│ {3}new Promise\(\(wake\) => \{$/.test(line))).toBe(true);
    expect(drawn.some((line) => /✂ CUT OFF: finish_reason length +│/.test(line))).toBe(true);
    expect(drawn.some((line) => /│ ✔ WHOLE: finish_reason stop$/.test(line))).toBe(true);
  });

  test.each([70, 80, 81, 120, 250])(
    "no line is wider than a terminal of %i columns, and the bar stands still",
    (columns) => {
      const drawn = lines({ columns, colour: false });
      const table = drawn.slice(3, drawn.indexOf("What happened") - 1);
      expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(new Set(table.map((line) => line.indexOf("│"))).size).toBe(1);
    },
  );

  test.each([70, 76, 100])("all text of the whole reply is there at %i columns", (columns) => {
    const drawn = lines({ columns, colour: false });
    const right = drawn.flatMap((line) => (line.includes("│") ? [line.slice(line.indexOf("│") + 2)] : []));
    const blanks = /\s+/g;
    expect(right.join("").replaceAll(blanks, "")).toContain(RECITAL.replaceAll(blanks, ""));
  });

  test("colour marks what the cut would have cost, and changes nothing else", () => {
    const drawn = lines({ columns: 100, colour: true });
    expect(drawn.some((line) => line.endsWith(`  new Promi${ESC}[32mse((wake) => {${ESC}[39m`))).toBe(true);
    const legend = "  Green is what the cut would have cost.";
    expect(drawn.map(unpainted).filter((line) => line !== legend)).toEqual(lines({ columns: 100, colour: false }));
  });

  test("narrow: one column, wrapped to the terminal", () => {
    const drawn = lines({ columns: 40, colour: false });
    const replies = drawn.slice(0, drawn.indexOf("What happened"));
    expect(replies.join("\n")).not.toContain("│");
    expect(Math.max(...replies.slice(3).map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(drawn.indexOf("== STRAIGHT FROM THE SERVER ==")).toBeLessThan(drawn.indexOf("== THROUGH LASTWORD =="));
  });

  test("piped: plain labelled sections, the replies as they came", () => {
    const drawn = picture(scene, { columns: null, colour: false });
    expect(drawn).toContain(
      `== STRAIGHT FROM THE SERVER ==\n${scene.straight.text}\n-- CUT OFF: finish_reason length --`,
    );
    expect(drawn).toContain(`== THROUGH LASTWORD ==\n${RECITAL}-- WHOLE: finish_reason stop --`);
    expect(drawn).not.toContain(ESC);
  });

  test("tells attempts, seam and cost", () => {
    const drawn = picture(scene, { columns: null, colour: false });
    expect(drawn).toContain("1. first (the request as it came): 80 tokens of at most 80, cut off");
    expect(drawn).toContain(
      "2. prefill (the server goes on with its own message): 35 tokens of at most 4000, ended by itself",
    );
    expect(drawn).toContain("At the seam nothing was repeated.");
    expect(drawn).toContain("116 prompt and 115 reply tokens in all");
  });

  test("tells a repeat that was taken out", () => {
    const nudged = { ...attempt, strategy: "nudge", finishReason: "stop", overlap: 24 };
    const drawn = picture(
      { ...scene, healed: { ...scene.healed, attempts: [nudged] } },
      { columns: null, colour: false },
    );
    expect(drawn).toContain("At the seam 24 repeated characters were taken out.");
  });

  test("a reply that is not whole is not called so", () => {
    const healed = { ...scene.straight, attempts: [{ ...attempt, strategy: "first", finishReason: "length" }] };
    const drawn = picture({ ...scene, healed, whole: false }, { columns: 100, colour: false });
    expect(drawn).toContain("✂ NOT WHOLE: finish_reason length");
    expect(drawn).not.toContain("✔");
  });
});
