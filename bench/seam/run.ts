import { type Case, makeCase, WAYS, type Way } from "./case.ts";
import { drive, driveNaive } from "./drive.ts";
import { NAIVE } from "./naive.ts";
import { add, emptyScore, type Score } from "./score.ts";

/** One row of the table: a way of continuing (or a join of others), and one behaviour of the server or all of them. */
export interface Row {
  readonly group: string;
  readonly name: string;
  readonly score: Score;
}

/** How often each way is tried, out of 20. Nudges are where joins go wrong. */
const SHARES: Readonly<Record<Way, number>> = {
  prefill: 3,
  raw: 1,
  "prefill, unproven": 2,
  "prefill, ignored": 4,
  nudge: 10,
};

/** Ways in which the joins of others are compared, where the server writes nothing but the reply. */
const COMPARED: readonly Way[] = ["prefill", "nudge"];

/** Plays seeded cases through the engine and through the joins of others. The same seed gives the same table. */
export function runBench(count: number, seed: number): Row[] {
  const rows = new Map<string, Row>();
  const at = (group: string, name: string): Score => {
    const key = `${group}\n${name}`;
    const row = rows.get(key) ?? { group, name, score: emptyScore() };
    rows.set(key, row);
    return row.score;
  };
  for (const one of cases(count, seed)) {
    const [plain, streamed] = [drive(one, "plain"), drive(one, "streamed")];
    for (const name of ["all", one.server.name]) add(at(one.way, name), one, streamed, plain);
    if (one.way === "nudge") add(at("nudge, holdBack: word", "all"), one, drive(one, "streamed", true), null);
    if (!one.server.true || !COMPARED.includes(one.way)) continue;
    add(at("lastword", one.way), one, streamed, plain);
    for (const naive of NAIVE) add(at(naive.name, one.way), one, driveNaive(one, naive), null);
  }
  return [...rows.values()];
}

function* cases(count: number, seed: number): Generator<Case> {
  const order = WAYS.flatMap((way) => Array.from({ length: SHARES[way] }, () => way));
  for (let i = 0; i < count; i++) yield makeCase(seed + i * 7919, order[i % order.length] ?? "nudge");
}
