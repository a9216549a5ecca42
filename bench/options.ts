import { parseArgs } from "node:util";
import type { Case } from "./cases/case.ts";
import { CASES } from "./cases/index.ts";
import { CONTENDERS, type ContenderName } from "./contenders/contender.ts";

export interface Options {
  readonly quick: boolean;
  readonly rounds: number;
  readonly cases: readonly Case[];
  readonly contenders: readonly ContenderName[];
  /** File for all figures; null: none. */
  readonly json: string | null;
}

export const USAGE = `npm run bench -- [--quick] [--rounds N] [--case NAME,...] [--only CONTENDER,...] [--json FILE]
cases: ${CASES.map(({ name }) => name).join(", ")}
contenders: ${CONTENDERS.join(", ")}`;

/** @throws Error that says what is wrong */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      case: { type: "string" },
      only: { type: "string" },
      json: { type: "string" },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds takes a whole number above 0");
  const cases = chosen("case", values.case, CASES, ({ name }) => name);
  return {
    quick: values.quick,
    rounds,
    cases: values.case === undefined && values.quick ? CASES.filter((one) => one.long !== true) : cases,
    contenders: chosen("only", values.only, CONTENDERS, (name) => name),
    json: values.json ?? null,
  };
}

/** A name also stands for all that begin with it: `paced` for `paced-64` and `paced-256`. */
function chosen<T>(
  flag: string,
  list: string | undefined,
  all: readonly T[],
  nameOf: (one: T) => string,
): readonly T[] {
  if (list === undefined) return all;
  const names = list.split(",");
  for (const name of names) {
    if (!all.some((one) => fits(nameOf(one), name))) throw new Error(`--${flag} does not know ${name}`);
  }
  return all.filter((one) => names.some((name) => fits(nameOf(one), name)));
}

const fits = (name: string, asked: string) => name === asked || name.startsWith(`${asked}-`);
