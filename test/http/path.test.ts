import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanPath } from "../../src/http/path.ts";

describe("cleanPath", () => {
  test.each([
    ["/", "/"],
    ["/v1/chat/completions", "/v1/chat/completions"],
    ["/v1/chat/completions?a=/../b", "/v1/chat/completions"],
    ["/v1/models/qwen%2Fqwen3-8b", "/v1/models/qwen%2Fqwen3-8b"],
    ["/v1/models/a.b..c", "/v1/models/a.b..c"],
    ["/v1/models/", "/v1/models/"],
    ["/v1/models/gemma%3A2b", "/v1/models/gemma%3A2b"],
  ])("%s is %s", (target, path) => {
    expect(cleanPath(target)).toBe(path);
  });

  test.each([
    "/v1/../admin",
    "/v1/%2e%2e/admin",
    "/v1/.%2E/admin",
    "/v1/%252e%252e/admin",
    "/v1/models/..%2f..%2fadmin",
    "/v1/models/..%5cadmin",
    "/v1/./x",
    "/v1//evil",
    "//evil.example/v1",
    "/v1/models/%2Fevil",
    "/\\evil",
    "/v1/%00",
    "/v1/%zz",
    "/v1/a#b",
    "http://169.254.169.254/latest/meta-data",
    "http://localhost:4747/v1/models",
    "169.254.169.254:80",
    "*",
    "",
  ])("B97: %s is none", (target) => {
    expect(cleanPath(target)).toBeNull();
  });

  test("law: what is clean stays where it is, however a server decodes and resolves it", () => {
    const piece = fc.constantFrom("a", ".", "..", "/", "%2f", "%2e", "%25", "%5c", "\\", "v1", "?");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const path = cleanPath(`/v1/${pieces.join("")}`);
        if (path === null) return;
        let resolved = path;
        for (let round = 0; round < 2; round++) {
          const { pathname } = new URL(resolved, "http://here");
          expect(`${pathname}/`.startsWith("/v1/")).toBe(true);
          try {
            resolved = decodeURIComponent(pathname);
          } catch {
            return;
          }
        }
      }),
      { numRuns: 1000 },
    );
  });
});
