import { describe, expect, test } from "vitest";
import { openFence } from "../../src/stitch/fence.ts";
import { languageOf, Tongue } from "../../src/stitch/language.ts";
import { believe, goesOn, nudge, nudgeTwice, obeys, repeatsFrom, resume } from "./joining.ts";

const CODE =
  "Here it is:\n\n```python\ndef read_one(path):\n    return open(path).read()\n\nprint(read_one('a'))\n```\nDone.";

describe("structure", () => {
  test("edge 45: a block opened again is one block", () => {
    const sent = CODE.slice(0, CODE.indexOf("print"));
    const reopened = `\`\`\`python\n${CODE.slice(sent.length)}`;
    expect(resume(sent, reopened).text).toBe(CODE);
    expect(resume(sent, reopened.slice(0, 6)).text).toBe(`${sent}\`\`\`pyt`);
    expect(nudge(sent, (asked) => `\`\`\`python\n${obeys(CODE)(asked)}`).text).toBe(CODE);
    expect(nudge(sent, (asked) => `Sure, continuing:\n\n\`\`\`python\n${obeys(CODE)(asked)}`).text).toBe(CODE);
  });

  test("edge 46: a bare fence closes the block and stays", () => {
    const sent = CODE.slice(0, CODE.lastIndexOf("```"));
    expect(resume(sent, "```\nDone.").text).toBe(CODE);
    expect(nudge(sent, obeys(CODE)).text).toBe(CODE);
  });

  test("edge 46: a nudged model that wraps its answer in a bare fence is not believed", () => {
    const sent = CODE.slice(0, CODE.indexOf("one('a')"));
    const wraps = nudgeTwice(sent, (asked) => `\`\`\`\n${obeys(CODE)(asked)}\n\`\`\``);
    expect(wraps.discarded).not.toBeNull();
  });

  test("edge 47: nothing is glued to a fence line that is not ended", () => {
    const sent = CODE.slice(0, CODE.indexOf("thon\n"));
    expect(resume(sent, "thon\ndef read").text).toBe(CODE.slice(0, CODE.indexOf("_one")));
    expect(nudge(sent, obeys(CODE)).text).toBe(CODE);
    expect(believe(sent, "import os").discarded).toBe("glued");
    expect(nudge(sent, ({ anchor }) => `${anchor}\n\nimport os\n`).discarded).toBe("diverged");
    expect(nudge(sent, ({ anchor }) => `${anchor} import os\n`, "diverged").discarded).not.toBeNull();
  });

  test("edge 48: a closing fence cut inside has three back-ticks", () => {
    const sent = CODE.slice(0, CODE.lastIndexOf("```") + 2);
    expect(resume(sent, "`\nDone.").text).toBe(CODE);
    expect(nudge(sent, obeys(CODE)).text).toBe(CODE);
    expect(nudgeTwice(sent, goesOn(CODE)).text).toBe(CODE);
  });

  test.each([
    [
      "four back-ticks around three",
      "````markdown\n# A\n```sh\nrun\n```\nmore",
      { mark: "`", length: 4, info: "markdown" },
    ],
    ["the four are closed", "````markdown\n```sh\nrun\n```\n````\n", null],
    ["tildes", "~~~ts\nconst a = `x`;\n```\n", { mark: "~", length: 3, info: "ts" }],
    ["in a list item", "1. See:\n\n   ```text\n   a\n", { mark: "`", length: 3, info: "text" }],
    ["its list item has ended", "1. See:\n\n   ```text\n   a\nNext.\n", null],
    ["on a list marker's line", "- ```js\n  run()\n", { mark: "`", length: 3, info: "js" }],
    ["in a quote", "> ```js\n> run()\n", { mark: "`", length: 3, info: "js" }],
    ["its quote has ended", "> ```js\n> run()\nNext.\n", null],
    ["indented too far to be one", "text\n\n     ```js\n", null],
    ["inside a JSON string", '{"text": "```js\\nrun()"', null],
    ["back-ticks in the info string", "``` `js`\n", null],
    ["a line that is not ended", "text\n```js", null],
    ["closed by a longer one", "```js\nrun()\n`````\n", null],
    ["CRLF", "```js\r\nrun()\r\n```\r\n", null],
  ])("edge 49: fences, %s", (_, text, open) => {
    expect(openFence(text)).toEqual(open === null ? null : expect.objectContaining(open));
  });

  test("edge 49: an inner fence is no reopened outer one", () => {
    const sent = "````markdown\n# Title\n";
    expect(resume(sent, "```markdown\ninner\n```\n").text).toBe(`${sent}\`\`\`markdown\ninner\n\`\`\`\n`);
  });

  const LIST =
    "The pump had seven faults:\n\n5. The valve was leaking.\n6. The ledger was kept open.\n7. Nobody had repaired it.\n8. The storm came.\n";
  test.each(["\n7", "\n7.", "\n7. ", "\n7. N"])("edge 50: a list cut at %j is numbered once", (at) => {
    const sent = LIST.slice(0, LIST.indexOf(at) + at.length);
    expect(resume(sent, LIST.slice(sent.length)).text).toBe(LIST);
    expect(nudge(sent, obeys(LIST)).text).toBe(LIST);
    expect(nudgeTwice(sent, goesOn(LIST)).text).toBe(LIST);
    expect(nudge(sent, ({ anchor }) => `${anchor}\n1. Nobody had repaired it.\n`).discarded).toBe("diverged");
  });

  const TABLE =
    "| No | Part of it | State |\n|---:|------------|-------|\n| 1 | the valve | leaking |\n| 2 | the ledger | kept open |\n";
  test("edge 51: a table's header that comes again is dropped, and the row is completed", () => {
    const sent = TABLE.slice(0, TABLE.indexOf("dger"));
    const header = TABLE.slice(0, TABLE.indexOf("| 1"));
    expect(nudge(sent, (asked) => header + obeys(TABLE)(asked)).text).toBe(TABLE);
    expect(nudge(sent, header + TABLE.slice(TABLE.indexOf("| 2"))).text).toBe(TABLE);
    expect(nudge(sent, TABLE).text).toBe(TABLE);
  });

  test("edge 52: a tag cut inside is there once", () => {
    const whole = '<ul>\n  <li class="first item" data-level="7">The old pump</li>\n</ul>\n';
    const sent = whole.slice(0, whole.indexOf('vel="7'));
    expect(resume(sent, whole.slice(sent.length)).text).toBe(whole);
    expect(nudge(sent, obeys(whole)).text).toBe(whole);
    expect(nudge(sent, repeatsFrom(whole, "<li")).text).toBe(whole);
  });

  test("edge 53: a formula that is open is not opened again", () => {
    const whole =
      "So we have:\n\n$$\n\\begin{aligned}\n  x_{17} &= \\frac{81}{3} \\\\\n  x_{18} &= 12\n\\end{aligned}\n$$\n";
    const sent = whole.slice(0, whole.indexOf("= 12"));
    const opener = "$$\n\\begin{aligned}\n";
    expect(nudge(sent, (asked) => opener + obeys(whole)(asked)).text).toBe(whole);
    expect(nudge(sent, opener + whole.slice(whole.indexOf("  x_{17}"))).text).toBe(whole);
    expect(nudgeTwice(sent, () => `${opener}  y &= 3 \\\\\n\\end{aligned}\n$$\n`).discarded).not.toBeNull();
  });

  const ENGLISH =
    "The old pump was switched off before the storm reached the coast, because nobody in the village had understood the report.";
  test.each([
    [
      "German",
      "Die alte Pumpe wurde abgeschaltet, bevor der Sturm die Küste erreichte, weil niemand im Dorf den Bericht verstand.",
    ],
    [
      "French",
      "La vieille pompe a été arrêtée avant que la tempête n'atteigne la côte, parce que personne dans le village ne comprenait.",
    ],
    [
      "Russian",
      "Старый насос был выключен до того, как шторм достиг берега, потому что никто в деревне не понимал отчёта.",
    ],
    ["Chinese", "旧水泵在暴风雨到达海岸之前就被关掉了,因为村里没有人看懂报告里写的是什么意思。".repeat(2)],
  ])("edge 54: an answer in %s is told from one in the text's own language", (_, other) => {
    const sent = ENGLISH.slice(0, ENGLISH.indexOf("had understood"));
    expect(nudge(sent, other).discarded).toBe("language");
    expect(nudge(sent, ({ anchor }) => `${anchor} ${other}`).discarded).toBe("language");
    expect(nudge(sent, obeys(ENGLISH), "language").text).toBe(ENGLISH);
  });

  test("edge 54: code, names and quoted words are no other language", () => {
    const tongue = new Tongue(ENGLISH);
    expect(
      tongue.reads(
        ' "Die Pumpe" (German for the pump) was written on the door, and nobody in the village could read it.',
      ),
    ).toBe("same");
    expect(languageOf("const pressure = valve.read(7); return { kind: record, level: 77 };")).toBeNull();
    expect(
      new Tongue(CODE).reads(
        "(path):\n    for line in open(path):\n        yield line.strip()\n\nprint(list(read_two('b')))",
      ),
    ).not.toBe("other");
  });
});
