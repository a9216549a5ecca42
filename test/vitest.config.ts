import { defineConfig } from "vitest/config";

// A machine that is busy for a moment is no defect: there, a test that fails must fail twice.
export default defineConfig({
  root: new URL("..", import.meta.url).pathname,
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    pool: "forks",
    retry: process.env.CI === undefined ? 0 : 1,
  },
});
