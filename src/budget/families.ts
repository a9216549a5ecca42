import { CLASSES, type TextClass } from "./tokenizer/characters.ts";
import type { Encoding } from "./tokenizer/encoding.ts";

/** A number that is known to lie about here: a mean and a standard deviation. */
type About = readonly [mean: number, spread: number];

/** What templates add, in tokens. */
interface Template {
  /** Once: what begins the prompt, the default system text, the opening of the reply. */
  readonly request: About;
  /** Per message: role, separators. */
  readonly message: About;
  /** Per tool call in the history, beside its name and arguments. */
  readonly call: About;
  /** Once, where there are tools: their introduction. */
  readonly introduction: About;
  /** Per tool definition. */
  readonly tool: About;
  /** Share by which a tool definition costs more than its JSON. */
  readonly rendering: About;
  /** Share of an output schema's JSON that is rendered into the prompt. */
  readonly schema: About;
}

/** How near `encoding` is to a model's own vocabulary. */
export type Nearness = "own" | "near" | "far" | "unknown";

/** A kind of vocabulary and template that many models share. */
export interface Family {
  readonly name: string;
  /** The published vocabulary that comes nearest. */
  readonly encoding: Encoding;
  readonly nearness: Nearness;
  /** The vocabulary is the model's own and its template is known: messages of plain text are counted exactly. */
  readonly exact: boolean;
  /** Tokens of the model per token of `encoding`, by class. */
  readonly ratio: Readonly<Record<TextClass, number>>;
  /** How far texts of one class differ in that, as a share of it. */
  readonly spread: Readonly<Record<TextClass, number>>;
  /** Every digit is a token of its own: digits cost their number, whatever `encoding` says. */
  readonly singleDigits: boolean;
  readonly template: Template;
}

/**
 * Measured with the published vocabularies over 2,300 texts in 52 languages (Universal Declaration of Human Rights), code, documentation,
 * logs, JSON, hex and base64: least squares per class. `bench/count` measures them again where the vocabularies are installed.
 * Order as in `CLASSES`: latin digit space mark | accented greek cyrillic hebrew arabic | devanagari indic thai | han kana hangul | typographic symbol other
 */
const RATIOS = {
  same: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
  llama3: [1, 1, 1, 1, 0.7, 0.4, 0.63, 1, 0.53, 0.51, 1, 0.47, 0.67, 0.62, 0.58, 0.9, 1, 1],
  qwen: [0.98, 1, 1, 1.05, 0.8, 0.9, 0.73, 0.4, 0.58, 0.94, 0.82, 0.57, 0.51, 0.6, 0.61, 0.9, 0.7, 0.6],
  deepseek: [1.05, 1.02, 1.08, 1, 1.46, 1.3, 1.14, 1.2, 1.23, 1.86, 1.7, 0.84, 0.7, 0.76, 1.13, 1.6, 1.05, 1.37],
  gemma: [1, 1, 1.6, 1.17, 0.95, 1.03, 0.94, 1.2, 1, 0.8, 0.84, 0.78, 0.83, 0.64, 0.94, 1, 0.8, 0.6],
  mistral: [1.2, 1, 1.6, 1.05, 2, 3, 1.42, 2.7, 3.1, 3.6, 4, 2.4, 1.42, 1.37, 1.95, 2, 1.3, 2],
  tekken: [1.05, 1, 1.14, 0.97, 0.9, 1.08, 1.03, 1.11, 0.97, 1.19, 1.25, 1.2, 1.11, 0.89, 0.88, 1.3, 1.8, 1.46],
  // The middle between large vocabularies and a thousand tokens.
  unknown: [1.15, 1.1, 1.1, 1.2, 1.5, 1.6, 1.3, 1.5, 1.5, 1.7, 1.9, 1.5, 1.3, 1.2, 1.3, 1.5, 1.4, 1.8],
} as const;

/** Order as in `CLASSES`. From the same measurement: what separates languages that share a script, and kinds of code. */
const SPREADS = {
  own: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  near: [0.02, 0.03, 0.04, 0.04, 0.25, 0.2, 0.15, 0.2, 0.2, 0.15, 0.25, 0.15, 0.15, 0.15, 0.15, 0.4, 0.3, 0.3],
  far: [0.05, 0.04, 0.1, 0.1, 0.5, 0.2, 0.2, 0.2, 0.2, 0.2, 0.3, 0.2, 0.15, 0.15, 0.2, 0.5, 0.4, 0.4],
  unknown: [0.35, 0.6, 0.4, 0.5, 0.8, 1, 0.8, 0.8, 0.8, 0.8, 1, 0.8, 0.6, 0.6, 0.6, 1.5, 1, 1],
} as const satisfies Record<Nearness, readonly number[]>;

/** Chat completions: 3 per message, a token for the role, 3 to begin the reply; tools as a TypeScript namespace (OpenAI cookbook). */
const OPENAI: Template = {
  request: [3, 0.5],
  message: [4, 0.1],
  call: [10, 4],
  introduction: [10, 6],
  tool: [2, 3],
  rendering: [-0.3, 0.15],
  schema: [1, 0.3],
};

/** Means measured by rendering the published templates; tools are JSON in all of them, indented in some. */
const OPEN: Template = {
  request: [4, 12],
  message: [5, 1.5],
  call: [12, 6],
  introduction: [90, 50],
  tool: [3, 5],
  rendering: [0.25, 0.3],
  schema: [0.3, 0.3],
};

const UNKNOWN: Template = {
  request: [10, 25],
  message: [6, 4],
  call: [10, 8],
  introduction: [30, 60],
  tool: [3, 6],
  rendering: [0.1, 0.3],
  schema: [0.5, 0.5],
};

interface Row {
  readonly match: RegExp;
  readonly encoding: Encoding;
  readonly exact?: boolean;
  readonly ratio: keyof typeof RATIOS;
  readonly nearness: Nearness;
  readonly singleDigits?: boolean;
  readonly template: Template;
}

/**
 * First match wins, on the model's name in lower case without its publisher. To add a family: its row here, its ratios above, measured by `bench/count`.
 * Sources: the vocabularies' own model lists (OpenAI), tokenizer.json and chat_template of the published models.
 */
const ROWS: Readonly<Record<string, Row>> = {
  // Instructions that precede every prompt: about 70 tokens, with a date.
  harmony: {
    match: /^gpt-oss/,
    encoding: "o200k",
    ratio: "same",
    nearness: "own",
    template: { ...OPENAI, request: [75, 15], message: [4.5, 0.7], rendering: [-0.2, 0.2], schema: [0.5, 0.5] },
  },
  gpt4o: {
    match: /^(ft:)?(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5)/,
    encoding: "o200k",
    exact: true,
    ratio: "same",
    nearness: "own",
    template: OPENAI,
  },
  gpt4: {
    match: /^(ft:)?gpt-(4|3\.5)(-|$)/,
    encoding: "cl100k",
    exact: true,
    ratio: "same",
    nearness: "own",
    template: OPENAI,
  },
  // Reasoning models may be given instructions that nobody sees.
  gpt5: {
    match: /^(ft:)?(gpt-[5-9]|o[1-9](-|$)|codex)/,
    encoding: "o200k",
    ratio: "same",
    nearness: "own",
    template: { ...OPENAI, request: [4, 3] },
  },
  llama3: {
    match: /llama-?3|llama3|^hermes-[34]|deepseek-r1-distill-llama|nemotron/,
    encoding: "cl100k",
    ratio: "llama3",
    nearness: "near",
    template: { ...OPEN, request: [20, 14] },
  },
  qwen: {
    match: /qwen|qwq|deepseek-r1-distill-qwen|devstral-qwen/,
    encoding: "cl100k",
    ratio: "qwen",
    nearness: "near",
    singleDigits: true,
    template: { ...OPEN, request: [8, 8] },
  },
  deepseek: {
    match: /deepseek/,
    encoding: "o200k",
    ratio: "deepseek",
    nearness: "far",
    template: { ...OPEN, request: [3, 5], message: [2, 1] },
  },
  gemma: {
    match: /gemma|gemini/,
    encoding: "o200k",
    ratio: "gemma",
    nearness: "far",
    singleDigits: true,
    template: { ...OPEN, request: [5, 5] },
  },
  tekken: {
    match: /nemo|mistral-small|ministral|pixtral|magistral|devstral|codestral-25|mistral-medium/,
    encoding: "o200k",
    ratio: "tekken",
    nearness: "far",
    singleDigits: true,
    // Some begin with a default system text of several hundred tokens.
    template: { ...OPEN, request: [60, 120], message: [2, 1.5] },
  },
  mistral: {
    match: /mistral|mixtral|codestral/,
    encoding: "o200k",
    ratio: "mistral",
    nearness: "far",
    singleDigits: true,
    template: { ...OPEN, request: [4, 8], message: [3, 1.5] },
  },
};

export const UNKNOWN_FAMILY: Family = {
  name: "unknown",
  encoding: "o200k",
  nearness: "unknown",
  exact: false,
  ratio: byClass(RATIOS.unknown),
  spread: byClass(SPREADS.unknown),
  singleDigits: false,
  template: UNKNOWN,
};

const FAMILIES: readonly { readonly match: RegExp; readonly family: Family }[] = Object.entries(ROWS).map(
  ([name, row]) => ({
    match: row.match,
    family: {
      name,
      encoding: row.encoding,
      nearness: row.nearness,
      exact: row.exact ?? false,
      ratio: byClass(RATIOS[row.ratio]),
      spread: byClass(SPREADS[row.nearness]),
      singleDigits: row.singleDigits ?? false,
      template: row.template,
    },
  }),
);

/** The family of a model by its name, which may carry a publisher (`qwen/qwen3-8b`) or a file's path and ending. */
export function familyOf(model: string): Family {
  // Names come from clients: a longer one is no name.
  const name = model.slice(-200).toLowerCase();
  const own = name.slice(name.lastIndexOf("/") + 1);
  return FAMILIES.find(({ match }) => match.test(own))?.family ?? UNKNOWN_FAMILY;
}

function byClass(values: readonly number[]): Record<TextClass, number> {
  return Object.fromEntries(CLASSES.map((name, i) => [name, values[i] ?? 1])) as Record<TextClass, number>;
}
