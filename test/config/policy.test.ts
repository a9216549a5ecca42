import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { capsFor, policyFor } from "../../src/config/policy.ts";

function config(file: string) {
  const loaded = loadConfig({ flags: {}, env: {}, file });
  if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
  return loaded.config;
}

const house = config(`
upstreams: [{ name: local, url: http://a }, { name: router, url: http://b }]
budget: { minReplyTokens: 100 }
recovery: { maxAttempts: 3 }
models:
  - { match: "qwen/*", upstream: router, window: 65536, maxOutput: 16384, reasoning: true, continue: prefill, maxAttempts: 7 }
  - { match: "fast", alias: "qwen/qwen3-8b", caps: strict }
  - { match: "a*b*c" }
`);

describe("the policy of a model", () => {
  test("its rule stands over budget and recovery", () => {
    expect(policyFor(house, "qwen/qwen3-8b")).toMatchObject({
      upstream: { name: "router" },
      alias: null,
      window: 65536,
      maxOutput: 16384,
      reasoning: true,
      continue: "prefill",
      maxAttempts: 7,
      minReplyTokens: 100,
      heal: true,
      caps: null,
    });
  });

  test("an alias names what is sent; the alias target's own rule does not apply", () => {
    expect(policyFor(house, "fast")).toMatchObject({
      alias: "qwen/qwen3-8b",
      upstream: { name: "local" },
      window: null,
      maxAttempts: 3,
      caps: "strict",
    });
  });

  test("what no rule matches, and a request without a model, go to the first upstream", () => {
    for (const model of ["other", "", "FAST", "fast2"]) {
      expect(policyFor(house, model)).toMatchObject({ upstream: { name: "local" }, alias: null, window: null });
    }
  });

  test("the first match wins", () => {
    const both = config('models: [{ match: "a*", window: 1 }, { match: "*", window: 2 }]');
    expect(policyFor(both, "ab").window).toBe(1);
    expect(policyFor(both, "b").window).toBe(2);
  });

  test("the same rule gives the same object, also after many names that never repeat", () => {
    const first = policyFor(house, "qwen/x");
    for (let i = 0; i < 3000; i++) expect(policyFor(house, `qwen/${i}`)).toBe(first);
    expect(policyFor(house, `qwen/${"x".repeat(10_000)}`)).toBe(first);
  });

  test("caps not set: advisory, but strict on completions; set anywhere, they hold on every wire", () => {
    expect(capsFor(policyFor(house, "other"), "chat")).toBe("advisory");
    expect(capsFor(policyFor(house, "other"), "completions")).toBe("strict");
    expect(capsFor(policyFor(house, "fast"), "chat")).toBe("strict");
    expect(capsFor(policyFor(config("recovery: { caps: advisory }"), "x"), "completions")).toBe("advisory");
  });
});

test("the wildcard matches what a regular expression would", () => {
  const text = fc.array(fc.constantFrom("a", "b", "/", "."), { maxLength: 8 }).map((parts) => parts.join(""));
  const glob = fc
    .array(fc.constantFrom("a", "b", "/", ".", "*"), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(glob, text, (match, name) => {
      const rules = config(`models: [{ match: "${match}", window: 7 }]`);
      const pattern = new RegExp(
        `^${match
          .split("*")
          .map((piece) => piece.replaceAll(".", "\\."))
          .join(".*")}$`,
        "s",
      );
      expect(policyFor(rules, name).window === 7).toBe(pattern.test(name));
    }),
    { numRuns: 200 },
  );
});

describe("several upstreams", () => {
  const upstreams = ["a", "b", "c"].map((name) => ({ name, url: `http://${name}` }));
  const load = (models: unknown) => loadConfig({ flags: {}, env: {}, file: JSON.stringify({ upstreams, models }) });

  test("a list names all that serve a model, in its order; one name is a list of one; none is the first upstream", () => {
    const loaded = load([
      { match: "x", upstream: ["c", "b"] },
      { match: "y", upstream: "b" },
    ]);
    if ("problems" in loaded) throw new Error("not loaded");
    const names = (model: string) => policyFor(loaded.config, model).upstreams.map(({ name }) => name);
    expect(["x", "y", "z"].map(names)).toEqual([["c", "b"], ["b"], ["a"]]);
    expect(policyFor(loaded.config, "x").upstream.name).toBe("c");
  });

  test("an unknown name, a name twice, no name and no list are told where they stand", () => {
    const loaded = load([
      { match: "x", upstream: ["a", "d"] },
      { match: "y", upstream: ["b", "b"] },
      { match: "z", upstream: [] },
      { match: "w", upstream: 3 },
    ]);
    expect("problems" in loaded ? loaded.problems.map(({ at, expected }) => `${at}: ${expected}`) : []).toEqual([
      "models[2].upstream: a list with a length of at least 1",
      "models[3].upstream: the name of an upstream, or a list of such names",
      "models[0].upstream[1]: the name of one of the upstreams",
      "models[1].upstream[1]: a name that does not stand in the list already",
    ]);
  });
});
