import { LANGUAGES, type LanguageName, paragraph, sentences } from "./prose.ts";
import type { Random } from "./random.ts";

/** A reply as a model would write it if nothing cut it. */
export interface Sample {
  readonly name: string;
  readonly text: string;
  /** The language that its model speaks in. */
  readonly language: LanguageName;
  /** Identical units stand next to each other: nobody can tell a repeat from the text. */
  readonly repeats: boolean;
}

type Maker = (random: Random) => string;

/** Classes of text. `repeats` marks the traps: text that really repeats. */
const MAKERS: readonly { readonly name: string; readonly repeats?: true; readonly make: Maker }[] = [
  { name: "python", make: python },
  { name: "typescript", make: typescript },
  { name: "nested fences", make: nestedFences },
  { name: "ordered list", make: orderedList },
  { name: "nested list", make: nestedList },
  { name: "table", make: table },
  { name: "json", make: json },
  { name: "latex", make: latex },
  { name: "diff", make: diff },
  { name: "base64", make: base64 },
  { name: "html", make: html },
  { name: "emoji", make: emoji },
  { name: "crlf", make: (random) => prose(random, "en").replaceAll("\n", "\r\n") },
  { name: "odd spaces", make: oddSpaces },
  { name: "counter", make: counter },
  { name: "song", make: song },
  { name: "refrain twice", repeats: true, make: refrainTwice },
  { name: "identical rows", repeats: true, make: identicalRows },
  {
    name: "one letter",
    repeats: true,
    make: (random) => `${paragraph(random, "en", 1)}\n\n${"a".repeat(random.between(80, 300))}\n`,
  },
];

export function sample(random: Random): Sample {
  const language = random.pick(LANGUAGES);
  if (random.chance(0.4)) return { name: `prose ${language}`, text: prose(random, language), language, repeats: false };
  const { name, make, repeats = false } = random.pick(MAKERS);
  return { name, text: make(random), language: "en", repeats };
}

export function prose(random: Random, language: LanguageName): string {
  const count = random.between(2, 4);
  const all = sentences(random, language, count * 3);
  const gap = ["zh", "ja"].includes(language) ? "" : " ";
  return Array.from({ length: count }, (_, i) => all.slice(i * 3, i * 3 + 3).join(gap)).join("\n\n");
}

const NAMES = ["pressure", "valve", "harbour", "ledger", "engine", "ferry", "signal", "record", "storm", "lantern"];

function python(random: Random): string {
  const body = Array.from({ length: random.between(3, 6) }, (_, i) => {
    const [a, b] = [random.pick(NAMES), random.pick(NAMES)];
    return [
      `def read_${a}_${i}(path, limit=${random.between(2, 99)}):`,
      `    """Reads the ${a} and the ${b}."""`,
      "    total = 0",
      "    with open(path) as file:",
      "        for line in file:",
      `            if "${b}" in line:`,
      `                total += int(line.split(",")[${random.between(0, 9)}])`,
      "    return min(total, limit)",
      "",
    ].join("\n");
  });
  return `Here is the module:\n\n\`\`\`python\n${body.join("\n")}\`\`\`\n\n${paragraph(random, "en", 2)}`;
}

function typescript(random: Random): string {
  const cases = Array.from({ length: random.between(4, 8) }, (_, i) => {
    const name = random.pick(NAMES);
    return `    case "${name}${i}":\n\t\treturn { kind: "${random.pick(NAMES)}", level: ${random.between(1, 500)} };`;
  });
  return `~~~ts\nexport function levelOf(name: string): Level | null {\n  switch (name) {\n${cases.join("\n")}\n    default:\n      return null;\n  }\n}\n~~~\n`;
}

function nestedFences(random: Random): string {
  const inner = random.pick(["sh", "yaml", "js"]);
  return [
    paragraph(random, "en", 1),
    "",
    "````markdown",
    `# ${random.pick(NAMES)} ${random.between(1, 999)}`,
    "",
    `\`\`\`${inner}`,
    `run --${random.pick(NAMES)} ${random.between(1, 9999)}`,
    "```",
    "",
    paragraph(random, "en", 2),
    "````",
    "",
    `1. ${random.pick(NAMES)}:`,
    "",
    "   ```text",
    `   ${random.pick(NAMES)} = ${random.between(100, 999)}`,
    "   ```",
    `2. ${paragraph(random, "en", 1)}`,
    "",
  ].join("\n");
}

function orderedList(random: Random): string {
  const items = sentences(random, "en", random.between(8, 14)).map((text, i) => `${i + 1}. ${text}`);
  return `${paragraph(random, "en", 1)}\n\n${items.join("\n")}\n`;
}

function nestedList(random: Random): string {
  const items = sentences(random, "en", random.between(6, 12)).map(
    (text, i) => `${i % 3 === 0 ? "- " : "  * "}${text}`,
  );
  return `## ${random.pick(NAMES)}\n\n${items.join("\n")}\n\n${paragraph(random, "en", 1)}`;
}

function table(random: Random): string {
  const rows = Array.from(
    { length: random.between(6, 14) },
    (_, i) =>
      `| ${i + 1} | ${random.pick(NAMES)} ${random.between(10, 9999)} | ${random.pick(["open", "shut", "lost"])} |`,
  );
  return `${paragraph(random, "en", 1)}\n\n| No | Name of the part | State |\n|---:|------------------|-------|\n${rows.join("\n")}\n`;
}

function json(random: Random): string {
  const parts = Array.from({ length: random.between(4, 9) }, (_, i) => ({
    id: i + random.between(1, 999) * 10,
    name: `${random.pick(NAMES)} "${random.pick(NAMES)}"`,
    tags: [random.pick(NAMES), random.pick(NAMES)],
    price: random.between(1, 99_999) / 100,
  }));
  return JSON.stringify({ title: random.pick(NAMES), parts }, null, random.pick([0, 2]));
}

function latex(random: Random): string {
  const lines = Array.from({ length: random.between(4, 8) }, () => {
    const [a, b, c] = [random.between(2, 99), random.between(2, 99), random.between(2, 9)];
    return `  x_{${a}} &= \\frac{${b}}{${c}} + \\sqrt[${c}]{${a * b}} \\\\`;
  });
  return `${paragraph(random, "en", 1)}\n\n$$\n\\begin{aligned}\n${lines.join("\n")}\n\\end{aligned}\n$$\n\n${paragraph(random, "en", 1)}`;
}

function diff(random: Random): string {
  const hunks = Array.from({ length: random.between(3, 6) }, (_, i) => {
    const [a, b] = [random.pick(NAMES), random.pick(NAMES)];
    return `@@ -${i * 20 + 3},4 +${i * 20 + 3},4 @@\n   const ${a} = ${random.between(1, 999)};\n-  return ${a}.${b}(${i});\n+  return ${a}.${b}At(${i + 1});\n }\n`;
  });
  return `\`\`\`diff\n--- a/src/${random.pick(NAMES)}.ts\n+++ b/src/${random.pick(NAMES)}.ts\n${hunks.join("")}\`\`\`\n`;
}

function base64(random: Random): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const digits = Array.from({ length: random.between(300, 600) }, () => alphabet.charAt(random.between(0, 63))).join(
    "",
  );
  return `${paragraph(random, "en", 1)}\n\n${digits}==\n`;
}

function html(random: Random): string {
  const items = sentences(random, "en", random.between(5, 9)).map(
    (text, i) => `  <li class="${random.pick(NAMES)} item-${i}" data-level="${random.between(1, 99)}">${text}</li>`,
  );
  return `<section id="${random.pick(NAMES)}">\n<ul>\n${items.join("\n")}\n</ul>\n</section>\n`;
}

const FACES = ["👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪", "😀", "é", "क्षि", "❤️"];

function emoji(random: Random): string {
  return sentences(random, "en", random.between(5, 9))
    .map((text) => `${random.pick(FACES)} ${text} ${random.pick(FACES)}${random.pick(FACES)}`)
    .join("\n");
}

function oddSpaces(random: Random): string {
  return sentences(random, "fr", random.between(5, 8))
    .map((text, i) => `«\u00a0${text.replace(" ", "\u202f")}\u00a0»${i % 2 === 0 ? "\u200b" : "\u00a0"}`)
    .join(" \n");
}

function counter(random: Random): string {
  const first = random.between(1, 500);
  return Array.from({ length: random.between(40, 90) }, (_, i) => String(first + i)).join(", ");
}

/** Verses with a refrain after each. */
function song(random: Random): string {
  const refrain = sentences(random, "en", 2).join("\n");
  return Array.from({ length: 3 }, () => `${sentences(random, "en", 2).join("\n")}\n${refrain}`).join("\n\n");
}

function refrainTwice(random: Random): string {
  const lines = sentences(random, "en", 4);
  return [lines[0], lines[0], lines[1], lines[1], lines[2], lines[2], lines[3], lines[3]].join("\n");
}

function identicalRows(random: Random): string {
  const row = random.pick(["0, 0, 0, 0, 0, 0", "| - | - | - | - |", "    pass  # not used in this version"]);
  return `${paragraph(random, "en", 1)}\n\n${`${row}\n`.repeat(random.between(10, 30))}`;
}
