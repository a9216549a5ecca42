/** Input that is made to hurt, each kind by its worst. */
export interface Kind {
  readonly name: string;
  readonly path?: string;
  /** The model's name is what the server does. */
  readonly body: () => string;
  readonly headers?: Record<string, string>;
  /** MiB that come from the server, where those are the hostile ones. */
  readonly answerMiB?: number;
}

const KIB = 1024;
const MIB = KIB * KIB;

const chat = (model: string, more: Record<string, unknown>) => JSON.stringify({ model, stream: true, ...more });
const said = (content: unknown, more: Record<string, unknown> = {}) =>
  chat("whole", { messages: [{ role: "user", content }], ...more });
/** To a model whose window is so small that the text must be counted. */
const counted = (content: string) => chat("counted", { messages: [{ role: "user", content }] });
const from = (model: string, more: Record<string, unknown> = {}) =>
  chat(model, { messages: [{ role: "user", content: "hello" }], max_tokens: 1_000_000, ...more });
/** As it stands, since no stringify writes it. */
const raw = (field: string) =>
  `{"model":"whole","stream":true,${field},"messages":[{"role":"user","content":"hello"}]}`;
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

export const KINDS: readonly Kind[] = [
  { name: "100,000 equal letters", body: () => said("a".repeat(100_000)) },
  { name: "4 MiB of spaces", body: () => said(" ".repeat(4 * MIB)) },
  { name: "1 MiB of CJK without a break", body: () => said("的一是不了人我在有他这为之大来以个中上们".repeat(17_000)) },
  { name: "4 MiB of emoji", body: () => said("👨‍👩‍👧‍👦".repeat(170_000)) },
  { name: "100,000 equal letters, counted", body: () => counted("a".repeat(100_000)) },
  { name: "4 MiB of spaces, counted", body: () => counted(" ".repeat(4 * MIB)) },
  { name: "1 MiB of CJK, counted", body: () => counted("的一是不了人我在有他这为之大来以个中上们".repeat(17_000)) },
  { name: "4 MiB of emoji, counted", body: () => counted("👨‍👩‍👧‍👦".repeat(170_000)) },
  { name: "15 MiB of words, counted", body: () => counted("lorem ipsum dolor ".repeat((15 * MIB) / 18)) },
  { name: "4 MiB of base64, counted", body: () => counted(Buffer.alloc(3 * MIB, "lastword").toString("base64")) },
  {
    name: "60,000 messages, counted",
    body: () => chat("counted", { messages: Array(60_000).fill({ role: "user", content: "a" }) }),
  },
  { name: "15 MiB of words", body: () => said("lorem ipsum dolor ".repeat((15 * MIB) / 18)) },
  { name: "15 MiB in one string of escapes", body: () => said('"\n'.repeat((15 * MIB) / 4)) },
  { name: "15 MiB of empty objects", body: () => raw(`"x":[${"{},".repeat((15 * MIB) / 3)}0]`) },
  { name: "15 MiB of numbers", body: () => raw(`"x":[${"1,".repeat((15 * MIB) / 2)}0]`) },
  {
    name: "4 MiB of keys that differ",
    body: () => raw(`"x":{${Array.from({ length: (4 * MIB) / 12 }, (_, i) => `"k${i}":0`).join()}}`),
  },
  { name: "JSON 100,000 deep", body: () => raw(`"x":${nested(100_000)}`) },
  { name: "JSON 7 million deep", body: () => raw(`"x":${nested(7_000_000)}`) },
  {
    name: "content 100,000 deep",
    body: () => `{"model":"whole","messages":[{"role":"user","content":${nested(100_000)}}]}`,
  },
  { name: "15 MiB that are not JSON", body: () => `{"model":"whole"${" ".repeat(15 * MIB)}` },
  {
    name: "60,000 messages",
    body: () => chat("whole", { messages: Array(60_000).fill({ role: "user", content: "a" }) }),
  },
  {
    name: "100,000 messages",
    body: () => chat("whole", { messages: Array(100_000).fill({ role: "user", content: "a" }) }),
  },
  {
    name: "10,000 tools",
    body: () =>
      said("hello", {
        tools: Array.from({ length: 10_000 }, (_, i) => ({
          type: "function",
          function: {
            name: `f${i}`,
            description: "does it",
            parameters: { type: "object", properties: { a: { type: "string" } } },
          },
        })),
      }),
  },
  {
    name: "a schema of 10,000 properties",
    body: () =>
      said("hello", {
        response_format: {
          type: "json_schema",
          json_schema: {
            name: "s",
            schema: {
              type: "object",
              properties: Object.fromEntries(
                Array.from({ length: 10_000 }, (_, i) => [`p${i}`, { type: "string", pattern: "(a+)+$" }]),
              ),
            },
          },
        },
      }),
  },
  {
    name: "10,000 stop strings",
    body: () => from("cut", { stop: Array.from({ length: 10_000 }, (_, i) => `${i}`.padStart(200, "one ")) }),
  },
  {
    name: "stop strings that nearly match",
    body: () => from("loop", { stop: [`${"ab".repeat(50_000)}c`, `${"ba".repeat(50_000)}c`] }),
  },
  {
    name: "60 KiB of header values",
    body: () => said("hello"),
    headers: { "x-long": "a,".repeat(30_000), connection: "keep-alive" },
  },
  {
    name: "a model's name of 4 MiB",
    body: () => chat("x".repeat(4 * MIB), { messages: [{ role: "user", content: "hello" }] }),
  },
  {
    name: "messages wire, 50,000 blocks",
    path: "/v1/messages",
    body: () =>
      JSON.stringify({
        model: "whole",
        max_tokens: 9_999,
        messages: [{ role: "user", content: Array(50_000).fill({ type: "text", text: "a" }) }],
      }),
  },
  {
    name: "responses wire, 50,000 items",
    path: "/v1/responses",
    body: () => JSON.stringify({ model: "whole", input: Array(50_000).fill({ role: "user", content: "a" }) }),
  },
  { name: "an event of 31 MiB", body: () => from("giant-event"), answerMiB: 31 },
  { name: "an event of 16 MiB of escapes", body: () => from("giant-event-escapes"), answerMiB: 16 },
  { name: "a plain body of 60 MiB", body: () => from("giant-plain", { stream: false }), answerMiB: 60 },
  { name: "a reply in chunks of one byte", body: () => from("bytes") },
  { name: "an event of 3 million lines", body: () => from("many-lines"), answerMiB: 24 },
  { name: "150,000 events at once", body: () => from("many-events"), answerMiB: 21 },
  { name: "the same for a plain request", body: () => from("many-events", { stream: false }), answerMiB: 21 },
  { name: "20,000 tool calls", body: () => from("many-tools"), answerMiB: 4 },
  { name: "one call of 1.7 MiB in pieces, cut", body: () => from("long-call"), answerMiB: 10 },
  { name: "an event 100,000 deep", body: () => from("deep") },
  { name: "20,000 opened thoughts, cut", body: () => from("think") },
  { name: "800,000 letters of a loop, cut", body: () => from("loop") },
  { name: "400,000 events that are no JSON", body: () => from("garbage"), answerMiB: 4 },
];
