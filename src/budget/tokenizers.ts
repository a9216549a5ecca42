import { hash } from "node:crypto";
import { setImmediate as loopTurn } from "node:timers/promises";
import type { Measured, Measurer } from "./count.ts";
import { mix } from "./identity.ts";
import type { Encoding } from "./tokenizer/encoding.ts";
import { MEASURE_LENGTH, type Measure } from "./tokenizer/measure.ts";
import { slicesOf } from "./tokenizer/slices.ts";

/** Measures texts where that stops nobody. @returns the measures one behind the other */
export type Backend = (encoding: Encoding, texts: readonly string[]) => Promise<Uint32Array>;

/** Slices remembered: about 8 MB, the whole of some hundred long conversations. */
const REMEMBERED = 16_384;
/** UTF-16 units that are hashed in one turn of the loop: less than 2 ms. */
const TURN = 1 << 20;
/** What a slice costs beside its length, in the same units. */
const EACH = 1 << 9;
/** UTF-16 units sent at once: a long prompt waits for each batch, and shorter ones get between. */
const BATCH = 1 << 18;

/** For who works on large prompts in several turns of the event loop. */
export const nextTurn = (): Promise<unknown> => loopTurn();

/** A slice that nobody has measured yet, and which of the texts it is part of. */
interface Unseen {
  readonly key: string;
  readonly slice: string;
  readonly of: Measure[];
}

/**
 * Measures texts by slices, and remembers each slice's measure by its hash, never its text: in a conversation only what is new in a turn
 * is tokenised. What is remembered is bounded, the least recently used goes first.
 */
export function createMeasurer(backend: Backend): Measurer {
  const remembered = new Map<string, Measure>();

  return (encoding, texts) => {
    const measured = blank(texts);
    const unseen = new Map<string, Unseen>();
    const looking = look(encoding, texts, measured, unseen);
    const length = texts.reduce((sum, text) => sum + text.length + EACH, 0);
    if (length > TURN) return lookInTurns(looking).then(() => fill(encoding, measured, [...unseen.values()]));
    looking.next();
    return unseen.size === 0 ? measured : fill(encoding, measured, [...unseen.values()]);
  };

  /** Looks every slice up. Yields whenever the loop should have a turn; short texts never get there. */
  function* look(
    encoding: Encoding,
    texts: readonly string[],
    measured: readonly Measured[],
    unseen: Map<string, Unseen>,
  ): Generator<void> {
    let since = 0;
    for (const [i, text] of texts.entries()) {
      const into = measured[i];
      if (into === undefined || text === "") continue;
      for (const slice of slicesOf(text)) {
        const key = `${encoding}${hash("sha1", slice, "base64")}`;
        into.id = mix(into.id, key);
        const known = recall(key);
        if (known !== undefined) addTo(into.measure, known);
        else if (unseen.get(key)?.of.push(into.measure) === undefined)
          unseen.set(key, { key, slice, of: [into.measure] });
        since += slice.length + EACH;
        if (since > TURN) {
          since = 0;
          yield;
        }
      }
    }
  }

  async function fill(encoding: Encoding, measured: Measured[], unseen: readonly Unseen[]): Promise<Measured[]> {
    for (const batch of batchesOf(unseen)) {
      const texts = batch.map(({ slice }) => slice);
      const measures = await backend(encoding, texts);
      for (const [i, { key, of }] of batch.entries()) {
        const measure = measures.slice(i * MEASURE_LENGTH, (i + 1) * MEASURE_LENGTH);
        remember(key, measure);
        for (const into of of) addTo(into, measure);
      }
    }
    return measured;
  }

  function recall(key: string): Measure | undefined {
    const measure = remembered.get(key);
    if (measure === undefined) return undefined;
    remembered.delete(key);
    remembered.set(key, measure);
    return measure;
  }

  function remember(key: string, measure: Measure): void {
    if (remembered.size >= REMEMBERED) {
      const oldest = remembered.keys().next();
      if (!oldest.done) remembered.delete(oldest.value);
    }
    remembered.set(key, measure);
  }
}

/** Room for the measure of each text: of all in one piece, since a hundred thousand small ones would cost more than measuring. */
function blank(texts: readonly string[]): Measured[] {
  const all = new Uint32Array(texts.length * MEASURE_LENGTH);
  return texts.map((text, i) =>
    text === "" ? NOTHING : { measure: all.subarray(i * MEASURE_LENGTH, (i + 1) * MEASURE_LENGTH), id: 0 },
  );
}
const NOTHING: Measured = { measure: new Uint32Array(MEASURE_LENGTH), id: 0 };

async function lookInTurns(looking: Generator<void>): Promise<void> {
  while (looking.next().done !== true) await loopTurn();
}

function* batchesOf(unseen: readonly Unseen[]): Generator<readonly Unseen[]> {
  let batch: Unseen[] = [];
  let length = 0;
  for (const one of unseen) {
    batch.push(one);
    length += one.slice.length;
    if (length < BATCH) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}

function addTo(sum: Measure, measure: Measure): void {
  for (let i = 0; i < MEASURE_LENGTH; i++) sum[i] = (sum[i] ?? 0) + (measure[i] ?? 0);
}
