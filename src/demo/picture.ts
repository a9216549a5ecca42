import { styleText } from "node:util";
import { STRATEGIES, type Strategy } from "../core/cut.ts";
import type { Heard, HeardAttempt } from "./hear.ts";

/** The same request, heard twice. */
export interface Scene {
  /** Tokens asked for at most. */
  readonly cap: number;
  /** The reply straight from the server. */
  readonly straight: Heard;
  /** The reply through lastword. */
  readonly healed: Heard;
  /** The healed reply is all that the model had to say. */
  readonly whole: boolean;
}

export interface Canvas {
  /** Width of the terminal; null: not a terminal. */
  readonly columns: number | null;
  readonly colour: boolean;
}

/** Narrower terminals get one column. */
const TWO_COLUMNS_FROM = 70;
/** Wider columns than the text needs would only tear the picture apart. */
const WIDEST_COLUMN = 56;
const INDENT = "  ";

/** The two replies beside each other (below each other where there is no room), what it took, and how to have it for real. */
export function picture(scene: Scene, { columns, colour }: Canvas): string {
  const paint: Paint = colour ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
  const replies = columns === null || columns < TWO_COLUMNS_FROM ? belowEachOther : besideEachOther;
  return [
    "",
    paint("bold", `One request with max_tokens ${scene.cap}, asked twice.`),
    "",
    ...replies(scene, columns, paint),
    "",
    paint("bold", "What happened"),
    ...(colour ? [`${INDENT}${paint("green", "Green")} is what the cut would have cost.`] : []),
    ...scene.healed.attempts.map((attempt, index) => INDENT + attemptLine(attempt, index)),
    ...costLines(scene).map((line) => INDENT + line),
    "",
    paint("bold", "For real"),
    `${INDENT}npx lastword --upstream http://localhost:1234/v1`,
    `${INDENT}and give your client the base URL http://127.0.0.1:4747/v1`,
    "",
  ].join("\n");
}

type Style = "bold" | "dim" | "red" | "green";
type Paint = (style: Style, text: string) => string;

/** One reply: its heading, its text, and how it ended. What begins at `newFrom` (characters) would have been lost. */
interface Column {
  readonly heading: string;
  readonly text: string;
  readonly newFrom: number;
  readonly ending: string;
  readonly good: boolean;
}

function columnsOf({ straight, healed, whole }: Scene): [Column, Column] {
  const told = (heard: Heard) => (heard.finishReason === null ? "no finish" : `finish_reason ${heard.finishReason}`);
  const left = { heading: "STRAIGHT FROM THE SERVER", text: straight.text, newFrom: Number.POSITIVE_INFINITY };
  const newFrom = healed.text.startsWith(straight.text) ? straight.text.length : Number.POSITIVE_INFINITY;
  return [
    straight.finishReason === "stop"
      ? { ...left, ending: `WHOLE: ${told(straight)}`, good: true }
      : { ...left, ending: `CUT OFF: ${told(straight)}`, good: false },
    {
      heading: "THROUGH LASTWORD",
      text: healed.text,
      newFrom,
      ending: `${whole ? "WHOLE" : "NOT WHOLE"}: ${told(healed)}`,
      good: whole,
    },
  ];
}

function belowEachOther(scene: Scene, columns: number | null, paint: Paint): string[] {
  return columnsOf(scene).flatMap((column, index) => [
    ...(index === 0 ? [] : [""]),
    paint("bold", `== ${column.heading} ==`),
    ...wrap(column.text, columns ?? Number.POSITIVE_INFINITY).map((line) => painted(line, column, paint)),
    paint(column.good ? "green" : "red", `-- ${column.ending} --`),
  ]);
}

function besideEachOther(scene: Scene, columns: number | null, paint: Paint): string[] {
  const bar = paint("dim", " │ ");
  const width = Math.min(WIDEST_COLUMN, Math.floor(((columns ?? 0) - INDENT.length - 3) / 2));
  const cells = columnsOf(scene).map((column) => {
    const ending = (column.good ? "✔ " : "✂ ") + column.ending;
    return [
      { shown: paint("bold", column.heading), length: column.heading.length },
      { shown: paint("dim", "─".repeat(width)), length: width },
      ...wrap(column.text, width).map((line) => ({
        shown: painted(line, column, paint),
        length: line.text.length,
      })),
      { shown: paint(column.good ? "green" : "red", ending), length: ending.length },
    ];
  });
  const [left = [], right = []] = cells;
  return Array.from({ length: Math.max(left.length, right.length) }, (_, row) => {
    const { shown, length } = left[row] ?? { shown: "", length: 0 };
    return INDENT + shown + " ".repeat(Math.max(0, width - length)) + bar + (right[row]?.shown ?? "");
  });
}

/** A line of a wrapped text and where in the text it begins, in characters. */
interface Line {
  readonly text: string;
  readonly at: number;
}

function painted({ text, at }: Line, { newFrom }: Column, paint: Paint): string {
  const old = text.slice(0, Math.max(0, newFrom - at));
  const added = text.slice(old.length);
  return added === "" ? old : old + paint("green", added);
}

/** Breaks at the last blank that leaves something before it, else within a word. */
function wrap(text: string, width: number): Line[] {
  const lines: Line[] = [];
  let at = 0;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    let rest = line;
    while (rest.length > width) {
      const blank = rest.lastIndexOf(" ", width);
      const end = rest.slice(0, Math.max(0, blank)).trim() === "" ? width : blank + 1;
      lines.push({ text: rest.slice(0, Math.min(end, width)), at });
      at += end;
      rest = rest.slice(end);
    }
    lines.push({ text: rest, at });
    at += rest.length + 1;
  }
  return lines;
}

/** What each strategy does, for someone who has never heard of it. */
const MEANING: Record<Strategy, string> = {
  first: "the request as it came",
  retry: "the same request again",
  prefill: "the server goes on with its own message",
  raw: "the server goes on with its own rendered text",
  nudge: "asked to go on from its last words",
  reask: "asked again with more room",
  parts: "a long tool call, carried on as text",
  compact: "asked again with a shorter history",
};

const ENDED = new Map<string | null, string>([
  ["length", "cut off"],
  ["stop", "ended by itself"],
  [null, "broke off"],
]);

function attemptLine(attempt: HeardAttempt, index: number): string {
  const meaning = STRATEGIES.find((one) => one === attempt.strategy);
  const cap = attempt.cap === null ? "" : ` of at most ${attempt.cap}`;
  const ended = ENDED.get(attempt.finishReason) ?? `ended with ${attempt.finishReason}`;
  const did = meaning === undefined ? "" : ` (${MEANING[meaning]})`;
  return `${index + 1}. ${attempt.strategy}${did}: ${attempt.completionTokens ?? "?"} tokens${cap}, ${ended}`;
}

function costLines({ healed }: Scene): string[] {
  const sum = (of: (attempt: HeardAttempt) => number | null) =>
    healed.attempts.reduce((total, attempt) => total + (of(attempt) ?? 0), 0);
  const seams = healed.attempts.flatMap(({ overlap }) => (overlap === null ? [] : [overlap]));
  const repeated = seams.reduce((total, overlap) => total + overlap, 0);
  const joined = repeated === 0 ? "nothing was repeated" : `${repeated} repeated characters were taken out`;
  return [
    ...(seams.length === 0 ? [] : [`At the seam ${joined}.`]),
    `The server worked through ${sum((one) => one.promptTokens)} prompt and ${sum((one) => one.completionTokens)} reply tokens in all.`,
  ];
}
