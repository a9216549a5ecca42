import type { Case } from "./case.ts";

export const STARTUP_CASES: readonly Case[] = [
  {
    name: "startup",
    says: "from the start of the process to the first sign that it listens",
    only: ["hono", "lastword"],
    async run(stage) {
      const startedAt = performance.now();
      return stage.withFresh(async () => ({ ms: performance.now() - startedAt }));
    },
  },
];
