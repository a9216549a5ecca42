import { describe, expect, test } from "vitest";
import { solidEnd } from "../../src/stitch/characters.ts";
import { openFence } from "../../src/stitch/fence.ts";
import { lessonOf } from "../../src/stitch/seam.ts";
import { believe, goesOn, nudge, nudgeTwice, resume } from "./joining.ts";

describe("class 7: stitching", () => {
  test.each([
    ["you", "'re here", "you're here"],
    ["that", " was", "that was"],
    ["line\n", "  indented", "line\n  indented"],
    ["end.\n\n", "Next", "end.\n\nNext"],
    ["foo ", " bar", "foo  bar"],
  ])("B45: %j and %j are concatenated, to the byte", (sent, pass, whole) => {
    expect(resume(sent, pass).text).toBe(whole);
    expect(believe(sent, pass).text).toBe(whole);
  });

  const OPEN = "```python\nprint(1)\n";
  test.each([
    ["a: the block is opened again", OPEN, "```python\nprint(2)\n```\n", "```python\nprint(1)\nprint(2)\n```\n"],
    ["b: it is closed", OPEN, "```\nDone, as you see.", "```python\nprint(1)\n```\nDone, as you see."],
    ["c: it goes on", OPEN, "print(2)\n```", "```python\nprint(1)\nprint(2)\n```"],
    ["d: a first one is opened", "Look:\n\n", "```python\nprint(2)\n```\n", "Look:\n\n```python\nprint(2)\n```\n"],
    ["tildes", "~~~ts\nrun(1);\n", "~~~ts\nrun(2);\n~~~\n", "~~~ts\nrun(1);\nrun(2);\n~~~\n"],
    [
      "indented",
      "1. See:\n   ```js\n   run(1);\n",
      "   ```js\n   run(2);\n   ```\n",
      "1. See:\n   ```js\n   run(1);\n   run(2);\n   ```\n",
    ],
  ])("B46: fences, %s", (_, sent, pass, whole) => {
    expect(resume(sent, pass).text).toBe(whole);
    expect(openFence(`${whole}\n`)).toBeNull();
  });

  test("B46: nor is the block there twice where the server is only believed to resume", () => {
    expect(believe(OPEN, "```python\nprint(2)\n```\n").text).toBe("```python\nprint(1)\nprint(2)\n```\n");
  });

  const ITEMS = "Item 1\nItem 2\nItem 3\n";
  test("B47: the answer printed again is there once", () => {
    const pass = "Item 1\nItem 2\nItem 3\nItem 4\nItem 5";
    expect(nudge(ITEMS, pass).text).toBe(pass);
    expect(believe(ITEMS, pass).text).toBe(pass);
  });

  test("B47: printed again and told differently, it is not appended", () => {
    const pass = "Item one\nItem two\nItem three\nItem four";
    expect(nudge(ITEMS, pass).text).toBe(ITEMS);
    expect(nudgeTwice(ITEMS, () => pass).text).toBe(ITEMS);
    expect(believe(ITEMS, pass).text).toBe(ITEMS);
  });

  test("B49: whatever comes, the text so far stays in front", () => {
    const sent = "The pump was repaired in the year of the storm, and the ledger was kept by my brother";
    for (const pass of ["I'm sorry, I can't help with that.", "", " ", "\n\n", sent, "The"])
      for (const joined of [nudge(sent, pass), resume(sent, pass), believe(sent, pass)])
        expect(joined.text.startsWith(sent)).toBe(true);
  });

  const PUMP = "It was late in the year, the storm had come, and then the pump was";
  test("B50: no overlap is no error: a model that simply goes on is joined", () => {
    expect(nudgeTwice(PUMP, goesOn(`${PUMP} switched off.`)).text).toBe(`${PUMP} switched off.`);
    // The same answer whatever the model is shown: it is shown everything the second time.
    const joined = nudgeTwice(PUMP, () => " switched off.");
    expect(joined.text).toBe(`${PUMP} switched off.`);
    expect(joined.tries).toBe(2);
  });

  test("B50: nothing is ever inserted: without its space it is not joined at all", () => {
    expect(nudgeTwice(PUMP, () => "switched off.").text).toBe(PUMP);
    expect(believe(PUMP, "switched off.").text).toBe(PUMP);
  });

  test("B54: a cap inside an emoji", () => {
    const cut = "today? \ufffd";
    const sent = cut.slice(0, solidEnd(cut));
    expect(sent).toBe("today? ");
    expect(resume(sent, "😊 Bye.").text).toBe("today? 😊 Bye.");
    expect(believe(sent, "😊 Bye.").text).toBe("today? 😊 Bye.");
  });
});

describe("class 8: prefill", () => {
  test("B55: a second way goes on where the refused one would have", () => {
    expect(nudgeTwice("Part one of the report says so", goesOn("Part one of the report says so and two.")).text).toBe(
      "Part one of the report says so and two.",
    );
  });

  test("B56: a new turn that restates the opening is found out and aligned", () => {
    const joined = believe("The capital of France is", "The capital of France is **Paris**.");
    expect(joined.text).toBe("The capital of France is **Paris**.");
    expect(lessonOf(joined.verdict)).toBe("ignored");
    expect(nudge("The capital of France is", "The capital of France is **Paris**.").text).toBe(joined.text);
  });

  test("B56: what a joint shows of the server", () => {
    const of = (sent: string, pass: string) => lessonOf(believe(sent, pass).verdict);
    expect(of("The capital of France is", " the city of Paris.")).toBe("works");
    expect(of("The capital of France", ", then as now, is Paris.")).toBe("works");
    expect(of("The capital of France is", "Sure, here is the answer: Paris.")).not.toBe("works");
    expect(of("The capital of France is", "Paris is the capital.")).not.toBe("works");
    expect(of("It is so.\n\n", "I apologize, my last message was cut off.")).toBe("ignored");
    expect(
      of("It is so.\n\n", "The rest of the story is a long one, and it is told in the ledger of the harbour."),
    ).toBeNull();
    expect(lessonOf({ do: "hold" })).toBeNull();
  });
});
