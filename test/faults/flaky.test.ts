import { describe, expect, it } from "vitest";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import {
  type Act,
  type Call,
  drop,
  errorData,
  type Handler,
  recite,
  reset,
  type Script,
  stall,
  startUpstream,
  status,
} from "../support/upstream.ts";

const SENTENCES = [
  "The kettle boils while the rain counts the tiles on the roof of the old station.",
  "Nobody had told the clock, and so it went on as if the trains still came at nine.",
  "“Tea?” she asked — 茶, Чай, شاي — and the whole room nodded 🍵 without looking up.",
  "```js\nfor (const cup of cups) pour(cup);\n```",
  "1. Wash the cups.\n2. Dry them, one by one.\n3. Leave the last one for whoever is late.",
];
const textFor = (user: string) =>
  `${user}:\n${[0, 1, 2, 3, 4, 5].map((i) => SENTENCES[(i + user.length * 3 + Number(user.slice(1))) % SENTENCES.length]).join("\n\n")}\n${user}.`;

/** Numbers in [0, 1) that are the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Three calls of ten fail, in one of five ways; the rest, and what comes before a failure, is recited truly. */
function flaky(reciter: Handler, chance: () => number): { handler: Handler; failures: Record<string, number> } {
  const failures = { refused: 0, reset: 0, closed: 0, silent: 0, error: 0 };
  const ends: readonly [keyof typeof failures, Act][] = [
    ["refused", status(503, { error: { message: "busy", code: "busy" } })],
    ["reset", reset()],
    ["closed", drop()],
    ["silent", stall()],
    ["error", errorData({ error: { message: "the worker died", code: 500 } })],
  ];
  const handler = async (call: Call, n: number): Promise<Script> => {
    const script = await reciter(call, n);
    if (chance() >= 0.3) return script;
    const [name, end] = ends[Math.floor(chance() * ends.length)] ?? ends[0] ?? ["reset", reset()];
    failures[name]++;
    if (name === "refused") return [end];
    const at = Math.floor(chance() * script.length);
    return [...script.slice(0, at), end];
  };
  return { handler, failures };
}

describe("a server that fails three times in ten, in five ways", () => {
  // The second resumes nothing, and is only believed to.
  it.each([
    ["vllm", 300],
    ["lmstudio", 150],
  ] as const)(
    "%s, %i requests: every reply is whole and exact, or typed; the tallies add up",
    async (dialect, count) => {
      await using up = await startUpstream({ dialect, window: 32_768 });
      await using proxy = await startProxy(up, {
        // Silence takes the place of time here: it is told as soon as it is there.
        limits: { firstByteSeconds: 1.5, idleSeconds: 1.5 },
        recovery: { maxAttempts: 6, honourCapsUpTo: 0 },
      });
      const users = Array.from({ length: count }, (_, i) => `n${i}`);
      const reciter = recite({ byUser: Object.fromEntries(users.map((user) => [user, textFor(user)])) });
      const { handler, failures } = flaky(reciter, random(7));
      up.handle(handler);

      const told = { whole: 0, cut: 0, typed: 0 };
      const one = async (user: string, i: number): Promise<void> => {
        const body = { model: "m", messages: [{ role: "user", content: user }], max_tokens: 60 + (i % 5) * 40 };
        const url = `${proxy.url}/chat/completions`;
        const expected = textFor(user);
        const [text, finish, code] =
          i % 3 === 0 ? plainly(await postPlain(url, body)) : streamed(await postStream(url, body));
        if (finish === "stop") {
          expect(text).toBe(expected);
          told.whole++;
        } else if (finish === "length") {
          expect(expected.startsWith(text)).toBe(true);
          told.cut++;
        } else {
          // The last two are the upstream's own words, which say more than ours would.
          expect(["upstream_error", "upstream_stalled", "upstream_protocol_error", "busy", 500]).toContain(code);
          told.typed++;
        }
      };
      // Thirty clients, each with one request at a time.
      const queue = users.map((user, i) => [user, i] as const);
      const client = async () => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) await one(...next);
      };
      await Promise.all(Array.from({ length: 30 }, client));

      expect(told.whole + told.cut + told.typed).toBe(count);
      // Silence before the first byte is not tried again, and is the only thing that is not: nearly all come out whole.
      expect(told.whole).toBeGreaterThan(0.85 * count);
      expect(Math.min(...Object.values(failures))).toBeGreaterThan(0);
      const [tally] = proxy.services.tallies.list();
      expect(tally?.requests).toBe(count);
      const { complete = 0, healed = 0, cut_off = 0, failed = 0 } = tally?.outcomes ?? {};
      expect({ whole: complete + healed, cut: cut_off, typed: failed }).toEqual(told);
      expect(proxy.services.running.size).toBe(0);
    },
    60_000,
  );
});

type Told = [text: string, finish: string | null, code: unknown];

function plainly({ json }: Awaited<ReturnType<typeof postPlain>>): Told {
  const { choices, error } = (json ?? {}) as { choices?: Choice[]; error?: { code: unknown } };
  return [choices?.[0]?.message.content ?? "", choices?.[0]?.finish_reason ?? null, error?.code];
}

interface Choice {
  readonly message: { readonly content: string };
  readonly finish_reason: string | null;
}

function streamed(got: Awaited<ReturnType<typeof postStream>>): Told {
  expect(got.broken).toBe(false);
  if (got.status !== 200) return plainly({ ...got, json: JSON.parse(got.bytes.toString()) });
  expect(got.ended).toBe(true);
  const error = got.chunks.find((chunk) => chunk.error !== undefined)?.error as { code: unknown } | undefined;
  return [got.text(), got.finish(), error?.code];
}
