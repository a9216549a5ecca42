import { parseArgs } from "node:util";
import { crowd } from "./crowd.ts";
import { hostile } from "./hostile.ts";
import { leaks } from "./leaks.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string" }, kind: { type: "string" } },
});
const PARTS: Record<string, (quick: boolean) => Promise<boolean>> = {
  leaks: (quick) => leaks(quick ? 1_000 : 5_000),
  crowd: (quick) => crowd(quick ? 200 : 1_000),
  hostile: () => hostile(values.kind),
};

let good = true;
for (const [name, run] of Object.entries(PARTS)) {
  if (values.only !== undefined && values.only !== name) continue;
  const holds = await run(values.quick);
  console.log(`  ${holds ? "ok" : "MISSED"}`);
  good &&= holds;
}
process.exitCode = good ? 0 : 1;
