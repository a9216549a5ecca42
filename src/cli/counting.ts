import { createCounter } from "../budget/count.ts";
import { familyOf } from "../budget/families.ts";
import { TokenizerThread } from "../budget/tokenizer/thread.ts";
import { createMeasurer } from "../budget/tokenizers.ts";
import type { CountingReport } from "../check/report.ts";
import { chat } from "../wire/chat/chat.ts";

/** About a thousand tokens of what people send: words, a question, some code. */
const SAMPLE = sample();

export interface Counting {
  /** How prompts of a model are counted, before any of its replies was seen. */
  of(model: string, serverCounts: boolean): Promise<CountingReport>;
  close(): Promise<void>;
}

export function createCounting(): Counting {
  const thread = new TokenizerThread();
  const counter = createCounter(createMeasurer(thread.measure));
  const pieces = chat.pieces(SAMPLE);
  const bodyBytes = Buffer.byteLength(JSON.stringify(SAMPLE));
  return {
    async of(model, serverCounts) {
      const { name, encoding } = familyOf(model);
      const { tokens, bound } = await counter.count(pieces, { upstream: "", model, bodyBytes });
      return {
        family: name,
        encoding,
        bound_percent: Math.ceil((100 * bound) / tokens),
        server_counts: serverCounts,
      };
    },
    close: () => thread.close(),
  };
}

function sample() {
  const words =
    "A reply that ends in the middle of a sentence looks much like one that is whole, until somebody tries to use it. " +
    "The file that was to be written is half a file; the list that was to have twelve entries has nine. " +
    "Please read the function below, say what it does when its list is empty, and write a test for each case that you find.";
  const code =
    "export function median(values: readonly number[]): number | null {\n" +
    "  const sorted = [...values].sort((a, b) => a - b);\n" +
    "  const middle = Math.floor(sorted.length / 2);\n" +
    "  if (sorted.length === 0) return null;\n" +
    "  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;\n}\n";
  const turn = (role: string) => ({ role, content: `${words}\n\n${code}` });
  return { messages: [turn("system"), turn("user"), turn("assistant"), turn("user")] };
}
